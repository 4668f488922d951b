//! What a customer's browser sees: the hosted page, and the script for embedded forms with its tokens.

use super::call::Square;
use super::links::{find, order_of, pay};
use super::payments::brand;
use super::prelude::*;
use crate::call_handler::{form_page, json_response, read_body, refuse};
use crate::page;
use crate::page::{
    Cards, Checkout, Field, Problem, amount_text, cards, escape, item_texts, message, redirect, typed_card,
    with_query,
};
use axum::extract::{Path, State as Shared};
use axum::routing::{get, post};

const PROVIDER: &str = "card provider B (Square)";

const CARDS: Cards = cards("4242 4242 4242 4242", ("4000 0000 0000 0127", "Wrong code"));

pub(super) fn routes() -> Router<Api<Square>> {
    Router::new()
        .merge(form_page("/pay/{id}", "checkout.pay", show_checkout, pay_checkout))
        .route("/pay/{id}/cancel", get(leave_checkout))
        .route("/web-payments.js", get(async || page::script(include_str!("web-payments.js"))))
        .route("/browser/tokens", post(tokenize))
}

fn show_checkout(state: &mut State, _: &Arc<Services>, id: &str) -> Response {
    checkout_of(state, id, None)
}

fn pay_checkout(state: &mut State, services: &Arc<Services>, id: &str, form: &[u8]) -> Response {
    let typed = typed_card(form);
    let paid = pay(state, &Context::new(services), id, &typed);
    checkout_of(state, id, paid.err().map(|error| problem_of(&error, &typed)))
}

fn checkout_of(state: &State, id: &str, problem: Option<Problem>) -> Response {
    match find(state, id).and_then(|link| Ok((order_of(state, &link)?, link))) {
        Ok((order, link)) => checkout(&link, &order, problem),
        Err(error) => message(error.status, PROVIDER, "Not possible", error.detail()),
    }
}

/// The provider's links have no address for those who change their mind, so they are told so here.
async fn leave_checkout(Path(id): Path<String>) -> Response {
    let body = format!(
        r#"<h1>Nothing was paid</h1>
<p>You can close this page, or go back and pay.</p>
<a class="button quiet" href="../{}">Back to the checkout</a>"#,
        escape(&id)
    );
    page::page(StatusCode::OK, PROVIDER, "Nothing was paid", &body)
}

fn checkout(link: &Link, order: &Order, problem: Option<Problem>) -> Response {
    let items = order.line_items.iter().filter_map(|item| {
        let amount = item.pointer("/total_money/amount").and_then(Value::as_i64).unwrap_or_default();
        Some((item.get("name")?.as_str()?.to_owned(), amount))
    });
    match (order.state, &link.redirect_url) {
        ("OPEN", _) if order.due() > 0 => Checkout {
            provider: PROVIDER,
            amount: amount_text(order.due(), &order.total.currency),
            items: &item_texts(items.collect(), &order.total.currency),
            problem,
            cancel: Some(&format!("{}/cancel", link.id)),
            cards: &CARDS,
            ..Checkout::default()
        }
        .response(),
        ("OPEN" | "COMPLETED", Some(url)) => {
            redirect(&with_query(url, &[("transactionId", &order.id), ("orderId", &order.id)]))
        }
        ("OPEN" | "COMPLETED", None) => {
            message(StatusCode::OK, PROVIDER, "Thank you", "Your payment was received.")
        }
        _ => message(StatusCode::GONE, PROVIDER, "This checkout is closed", "Nothing was paid."),
    }
}

/// An error of the provider, for the customer: the provider's own words are for developers.
fn problem_of(error: &Error, typed: &Typed) -> Problem {
    let entry = error.entry();
    let code = entry.get("code").and_then(Value::as_str).unwrap_or_default();
    let (text, field) = match code {
        "GENERIC_DECLINE" => ("Your card was declined. Try another card.", None),
        "INSUFFICIENT_FUNDS" => ("Your card has insufficient funds. Try another card.", None),
        "CARD_EXPIRED" | "INVALID_EXPIRATION" => ("Your card has expired.", Some(Field::Expiry)),
        "CVV_FAILURE" => ("Your card's security code is incorrect.", Some(Field::Cvc)),
        "TEMPORARY_ERROR" => ("Your card could not be charged. Try again later.", None),
        "INVALID_CARD" => ("Your card was declined. Only test cards are accepted.", None),
        _ => (error.detail(), Card::read(typed).err().map(Field::of)),
    };
    Problem { text: text.to_owned(), code: Some(code.to_owned()), field }
}

/// Turns a typed card into a one-time token, for the browser script.
async fn tokenize(Shared(api): Shared<Api<Square>>, request: Request) -> Response {
    let body: Value = serde_json::from_slice(&read_body(request.into_body()).await).unwrap_or_default();
    let field = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let keys = &api.services().config.square;
    if field("application_id") != keys.application_id || field("location_id") != keys.location_id {
        let detail = "The application or the location is not known.";
        let status = StatusCode::UNAUTHORIZED;
        return refuse(&Error::new(status, "AUTHENTICATION_ERROR", "UNAUTHORIZED", detail));
    }
    let typed = Typed::read(["number", "exp_month", "exp_year", "cvv"], field);
    let card = match Card::read(&typed) {
        Ok(card) => bent_by_details(card, &typed),
        Err(mistake) => {
            return refuse(&Error::invalid("INVALID_CARD_DATA", "card", mistake_text(mistake)));
        }
    };
    let token = format!("cnon:{}", api.services().ids.letters(28));
    let answer = json!({
        "token": token,
        "details": {
            "method": "Card",
            "card": {
                "brand": brand(&card), "last4": card.last4,
                "expMonth": card.exp_month,
                "expYear": card.exp_year,
            },
        },
    });
    api.state().tokens.put(&token, Token { card, used: false });
    json_response(StatusCode::OK, &answer)
}
