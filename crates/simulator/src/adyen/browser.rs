//! What a customer's browser sees: the page of a link, the issuer's question, and the Drop-in script with its calls.

use super::offers::{find as find_offer, pay_on, take_result};
use super::payments::{REDIRECT_RESULT, available, challenge, challenged, find, prove, resume};
use super::prelude::*;
use crate::call_handler::{POST, Route, form_page, router};
use crate::card::Card;
use crate::page::{
    Cards, Checkout, Field, Problem, amount_text, bank_page, cards, escape, form_field, message, page,
    redirect, script, typed_card, with_query,
};
use axum::routing::get;

const PROVIDER: &str = "card provider C (Adyen)";

const CARDS: Cards = cards("4111 1111 1111 1111", ("5454 5454 5454 5454", "Bank asks for a password"));

/// The component's calls, with the browser's key.
const CALLS: [Route<Adyen>; 4] = [
    (POST, "/checkoutshopper/v1/sessions/{id}/setup", "browser.setup", set_up),
    (POST, "/checkoutshopper/v1/sessions/{id}/payments", "browser.payments", pay_session),
    (POST, "/checkoutshopper/v1/sessions/{id}/paymentDetails", "browser.details", pay_session),
    (POST, "/checkoutshopper/challenge/{id}", "checkout.authenticate", answer),
];

pub(super) fn routes() -> Router<Api<Adyen>> {
    let style = async || ([(header::CONTENT_TYPE, "text/css")], include_str!("adyen.css"));
    router(&CALLS)
        .merge(form_page("/pay/{id}", "checkout.pay", |state, _, id| link_page(state, id, None), pay_link))
        .merge(form_page("/authenticate/{id}", "checkout.authenticate", show_challenge, answer_challenge))
        .route("/checkoutshopper/sdk/{version}/adyen.js", get(async || script(include_str!("adyen.js"))))
        .route("/checkoutshopper/sdk/{version}/adyen.css", get(style))
}

fn pay_link(state: &mut State, services: &Arc<Services>, id: &str, form: &[u8]) -> Response {
    let typed = typed_card(form);
    let method = json!({
        "number": typed.number, "expiryMonth": typed.exp_month, "expiryYear": typed.exp_year, "cvc": typed.cvc,
    });
    let field = Card::read(&typed).err().map(Field::of);
    let paid = find_offer(state, id).and_then(|link| pay_on(state, &Context::new(services), link, &method));
    let problem = match paid {
        Ok(payment) if payment.status == "ChallengeShopper" => {
            return redirect(&format!("../authenticate/{}", payment.id));
        }
        Ok(payment) => problem_of(&payment),
        Err(error) => Some(Problem { text: error.message, code: None, field }),
    };
    link_page(state, id, problem)
}

/// A refusal for the customer, who is never told the reason; the code is for the developer.
fn problem_of(payment: &Payment) -> Option<Problem> {
    let code = Some(format!("{}, {}", payment.refusal?, payment.refusal_text()?));
    Some(Problem { text: "The payment was refused. Try another card.".to_owned(), code, field: None })
}

/// The form while the link is active; then thanks, and the way on that the merchant gave.
fn link_page(state: &mut State, id: &str, problem: Option<Problem>) -> Response {
    let link = match find_offer(state, id) {
        Ok(link) => link,
        Err(error) => return message(error.status, PROVIDER, "Not possible", &error.message),
    };
    let amount = amount_text(link.terms.amount.value, &link.terms.amount.currency);
    let (provider, items) = (PROVIDER, &Vec::from_iter(link.text("description")));
    let thanks = match link.status {
        "active" => {
            let form = Checkout { provider, amount, items, problem, cards: &CARDS, ..Checkout::default() };
            return form.response();
        }
        "completed" => "Your payment was received.",
        "paymentPending" => "Your payment is being processed.",
        _ => return message(StatusCode::GONE, provider, "This link has expired", "Nothing was paid."),
    };
    let onward = |url: String| format!(r#"<a class="button" href="{}">Continue</a>"#, escape(&url));
    let onward = link.text("returnUrl").map(onward).unwrap_or_default();
    page(StatusCode::OK, PROVIDER, "Thank you", &format!("<h1>Thank you</h1>\n<p>{thanks}</p>\n{onward}"))
}

fn show_challenge(state: &mut State, _: &Arc<Services>, id: &str) -> Response {
    let payment = find(state, id).ok().filter(|payment| payment.status == "ChallengeShopper");
    let amount = payment.map(|payment| payment.terms.amount);
    let amount = amount.map(|amount| amount_text(amount.value, &amount.currency));
    bank_page(PROVIDER, amount, include_str!("password.html"))
}

/// The issuer's answer on a page of its own. The payment on a link goes on here; a server goes on with its own itself.
fn answer_challenge(state: &mut State, services: &Arc<Services>, id: &str, form: &[u8]) -> Response {
    let is_refused = form_field(form, "outcome").as_deref() == Some("refuse");
    let password = form_field(form, "password").filter(|_| !is_refused).unwrap_or_default();
    let answered = prove(state, id, &password).and_then(|payment| {
        if payment.of.starts_with("PL") {
            let payment = resume(state, &Context::new(services), id)?;
            return Ok(link_page(state, &payment.of, problem_of(&payment)));
        }
        Ok(redirect(&with_query(&payment.of, &[("redirectResult", &format!("{REDIRECT_RESULT}{id}"))])))
    });
    answered.unwrap_or_else(|error| message(error.status, PROVIDER, "Not possible", &error.message))
}

/// The same inside the component, which goes on with the payment.
fn answer(state: &mut State, call: &Call) -> Answer {
    let payment = prove(state, &call.id, &Fields::of(&call.body).text("password")?)?;
    Ok(json!({ "transStatus": if payment.refusal.is_none() { "Y" } else { "N" } }))
}

/// The session of a component, which names its data.
fn session_of(state: &mut State, call: &Call) -> Answer<Offer> {
    let session = find_offer(state, &call.id)?;
    let given = call.body.get("sessionData").and_then(Value::as_str).unwrap_or_default();
    let own = Some(session).filter(|session| session.text("sessionData").as_deref() == Some(given));
    own.ok_or_else(|| Error::invalid("The session data is not that of the session."))
}

fn set_up(state: &mut State, call: &Call) -> Answer {
    let session = session_of(state, call)?;
    // A session takes any country, and only the browser learns that there is no such one.
    if session.text("countryCode").as_deref() == Some("UK") {
        return Err(Error::plain(StatusCode::INTERNAL_SERVER_ERROR, "An error has occurred"));
    }
    if ["completed", "expired"].contains(&session.status) {
        return Err(Error::invalid(format!("This session is {}.", session.status)));
    }
    let amount = &session.terms.amount;
    Ok(json!({
        "id": session.id, "sessionData": session.text("sessionData"), "expiresAt": time(session.expires_at),
        "amount": amount, "amountText": amount_text(amount.value, &amount.currency),
        "countryCode": session.text("countryCode"), "returnUrl": session.text("returnUrl"),
        "paymentMethods": available(), "configuration": {},
    }))
}

/// Pays, or goes on after the issuer's answer.
fn pay_session(state: &mut State, call: &Call) -> Answer {
    let session = session_of(state, call)?;
    let payment = match call.body.get("paymentMethod") {
        Some(method) => pay_on(state, &call.context, session, method)?,
        None => challenged(state, call)?,
    };
    let session = session_of(state, call)?;
    let is_challenged = payment.status == "ChallengeShopper";
    let answer = json!({
        "resultCode": payment.status, "sessionData": session.text("sessionData"),
        "action": is_challenged.then(|| challenge(&payment)),
        "sessionResult": (!is_challenged).then(|| take_result(state, &call.context, &session)),
    });
    Ok(merged(json!({}), answer))
}
