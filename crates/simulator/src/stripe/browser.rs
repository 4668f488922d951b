//! What a customer's browser sees: the hosted page, the proof of identity, the script for embedded forms.

use super::attempt::authenticated;
use super::prelude::*;
use super::sessions::{PaidWith, find, pay};
use crate::call_handler::form_page;
use crate::page;
use crate::page::{
    Cards, Checkout, Field, Problem, bank_page, cards, form_field, message, redirect, typed_card, with_query,
};
use axum::extract::{Path, State as Shared};
use axum::routing::get;

const PROVIDER: &str = "card provider A (Stripe)";

const CARDS: Cards = cards("4242 4242 4242 4242", ("4000 0025 0000 3155", "Bank asks first"));

pub(super) fn routes() -> Router<Api<Stripe>> {
    Router::new()
        .merge(form_page("/pay/{id}", "checkout.pay", show_checkout, pay_checkout))
        .merge(form_page("/authenticate/{id}", "checkout.authenticate", show_authentication, authenticate))
        .route("/receipts/{id}", get(show_receipt))
        .route("/v3.js", get(async || page::script(include_str!("v3.js"))))
}

fn show_checkout(state: &mut State, _: &Arc<Services>, id: &str) -> Response {
    match find(state, id) {
        Ok(session) => {
            // Where the last try failed elsewhere, at the proof of identity, the customer learns it here.
            let intent = session.intent.as_ref().and_then(|id| state.intents.get(id));
            let problem = intent.as_ref().and_then(|intent| intent.last_payment_error.as_ref()?.as_object());
            checkout(&session, problem.map(problem_of))
        }
        Err(error) => not_there(&error),
    }
}

fn pay_checkout(state: &mut State, services: &Arc<Services>, id: &str, form: &[u8]) -> Response {
    let (typed, other) = (typed_card(form), form_field(form, "method").filter(|method| method != "card"));
    let with = other.as_ref().map_or(PaidWith::Card(&typed), |method| PaidWith::Other(method));
    let paid = pay(state, &Context::without_call(services), id, &with);
    let session = match find(state, id) {
        Ok(session) => session,
        Err(error) => return not_there(&error),
    };
    match paid {
        Ok(intent) if intent.status == "requires_action" && session.is_open() => {
            redirect(&format!("../authenticate/{}", intent.id))
        }
        Ok(_) => checkout(&session, None),
        Err(error) => checkout(&session, Some(problem_of(&error.fields))),
    }
}

fn show_authentication(state: &mut State, _: &Arc<Services>, id: &str) -> Response {
    let intent = state.intents.get(id).filter(|intent| intent.status == "requires_action");
    let amount = intent.map(|intent| amount_text(intent.amount, &intent.currency));
    bank_page(PROVIDER, amount, "")
}

fn authenticate(state: &mut State, services: &Arc<Services>, id: &str, form: &[u8]) -> Response {
    let proven = form_field(form, "outcome").as_deref() == Some("approve");
    match authenticated(state, &Context::without_call(services), id, proven) {
        Ok(intent) => leave(state, &intent),
        Err(error) => not_there(&error),
    }
}

async fn show_receipt(Shared(api): Shared<Api<Stripe>>, Path(id): Path<String>) -> Response {
    match api.state().charges.get(&id) {
        Some(charge) => {
            let text = format!("{}: {}", amount_text(charge.amount, &charge.currency), charge.status);
            message(StatusCode::OK, PROVIDER, "Receipt", &text)
        }
        None => message(StatusCode::NOT_FOUND, PROVIDER, "Receipt", "There is no such charge."),
    }
}

/// The page of a session: the form while it is open, onwards once it is paid.
fn checkout(session: &Session, problem: Option<Problem>) -> Response {
    match session.status {
        "complete" => redirect(&session.success_url.replace("{CHECKOUT_SESSION_ID}", &session.id)),
        "open" => Checkout {
            provider: PROVIDER,
            amount: amount_text(session.amount, &session.currency),
            items: &session.items,
            problem,
            others: &others(session),
            cancel: session.cancel_url.as_deref(),
            cards: &CARDS,
        }
        .response(),
        _ => message(StatusCode::GONE, PROVIDER, "This checkout has expired", "Nothing was paid."),
    }
}

/// The methods beside cards that a session can be paid with here: their names and what they are called.
fn others(session: &Session) -> Vec<(&'static str, &'static str)> {
    let offered = session.method_types.iter().filter_map(|name| method_types::played(name));
    offered.filter(|kind| kind.timing != Timing::Now).map(|kind| (kind.name, kind.label)).collect()
}

fn problem_of(error: &Map<String, Value>) -> Problem {
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let field = match text("param").or_else(|| text("code")) {
        Some("number") => Some(Field::Number),
        Some("exp_month" | "exp_year" | "expired_card") => Some(Field::Expiry),
        Some("cvc" | "incorrect_cvc") => Some(Field::Cvc),
        _ => None,
    };
    Problem {
        text: text("message").unwrap_or_default().to_owned(),
        code: text("decline_code").or_else(|| text("code")).map(str::to_owned),
        field,
    }
}

fn leave(state: &State, intent: &Intent) -> Response {
    if let Some(session) = intent.session.as_ref().and_then(|id| state.sessions.get(id)) {
        if session.status == "complete" {
            return checkout(session, None);
        }
        return redirect(&format!("../pay/{}", session.id));
    }
    let paid = matches!(intent.status, "succeeded" | "requires_capture");
    let status = if paid { "succeeded" } else { "failed" };
    match &intent.return_url {
        Some(url) => redirect(&with_query(
            url,
            &[
                ("payment_intent", &intent.id),
                ("payment_intent_client_secret", &intent.client_secret),
                ("redirect_status", status),
            ],
        )),
        None => message(StatusCode::OK, PROVIDER, "Thank you", &format!("The payment has {status}.")),
    }
}

fn not_there(error: &Error) -> Response {
    message(error.status, PROVIDER, "Not possible", error.message())
}
