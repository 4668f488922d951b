//! What a customer's browser sees: the hosted page, the proof of identity, the script for embedded forms.

use super::attempt::authenticated;
use super::prelude::*;
use super::sessions::{PaidWith, find, pay};
use crate::call_handler::read_body;
use crate::page;
use crate::page::{Checkout, Field, MERCHANT, Problem, escape, message, redirect, typed_card, with_query};
use axum::extract::{Path, State};
use axum::routing::get;

const PROVIDER: &str = "card provider A (Stripe)";

const CARDS: [(&str, &str); 4] = [
    ("4242 4242 4242 4242", "Paid"),
    ("4000 0000 0000 0002", "Declined"),
    ("4000 0000 0000 9995", "No funds"),
    ("4000 0025 0000 3155", "Bank asks first"),
];

/// What the page loads from here to draw a card form.
const SCRIPT: &str = concat!(
    "(function () {\n\"use strict\";\n",
    include_str!("../card-form.js"),
    include_str!("v3.js"),
    "})();\n"
);

pub(super) fn routes() -> Router<Api<Stripe>> {
    Router::new()
        .route("/pay/{id}", get(show_checkout).post(pay_checkout))
        .route("/authenticate/{id}", get(show_authentication).post(authenticate))
        .route("/receipts/{id}", get(show_receipt))
        .route("/v3.js", get(async || page::script(SCRIPT)))
}

async fn show_checkout(State(api): State<Api<Stripe>>, Path(id): Path<String>) -> Response {
    let state = api.state();
    match find(&state, &id) {
        Ok(session) => {
            // Where the last try failed elsewhere, at the proof of identity, the customer learns it here.
            let intent = session.intent.as_ref().and_then(|id| state.intents.get(id));
            let problem = intent.as_ref().and_then(|intent| intent.last_payment_error.as_ref()?.as_object());
            checkout(&session, problem.map(problem_of))
        }
        Err(error) => not_there(&error),
    }
}

async fn pay_checkout(State(api): State<Api<Stripe>>, Path(id): Path<String>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    let typed = typed_card(&body);
    let other = form_urlencoded::parse(&body).find(|(name, value)| name == "method" && value != "card");
    let context = &Context::without_call(api.services());
    api.change_by_page("checkout.pay", |state| {
        let with = other.as_ref().map_or(PaidWith::Card(&typed), |(_, method)| PaidWith::Other(method));
        let paid = pay(state, context, &id, &with);
        let session = match find(state, &id) {
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
    })
    .await
}

async fn show_authentication(State(api): State<Api<Stripe>>, Path(id): Path<String>) -> Response {
    let state = api.state();
    let Some(intent) = state.intents.get(&id).filter(|intent| intent.status == "requires_action") else {
        return message(
            StatusCode::NOT_FOUND,
            PROVIDER,
            "Nothing to confirm",
            "This payment does not need confirmation.",
        );
    };
    let body = format!(
        r#"<h1>Is this you?</h1>
<p>Your bank asks you to confirm a payment to {MERCHANT}.</p>
<p class="amount">{}</p>
<form method="post" action="">
<button type="submit" name="outcome" value="approve">Confirm</button>
<button type="submit" name="outcome" value="refuse" class="quiet">Refuse</button>
</form>"#,
        escape(&amount_text(intent.amount, &intent.currency))
    );
    page::page(StatusCode::OK, PROVIDER, "Is this you?", &body)
}

async fn authenticate(State(api): State<Api<Stripe>>, Path(id): Path<String>, request: Request) -> Response {
    let body = read_body(request.into_body()).await;
    let proven = form_urlencoded::parse(&body).any(|(name, value)| name == "outcome" && value == "approve");
    let context = &Context::without_call(api.services());
    api.change_by_page("checkout.authenticate", |state| match authenticated(state, context, &id, proven) {
        Ok(intent) => leave(state, &intent),
        Err(error) => not_there(&error),
    })
    .await
}

async fn show_receipt(State(api): State<Api<Stripe>>, Path(id): Path<String>) -> Response {
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

fn leave(state: &super::state::State, intent: &Intent) -> Response {
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
