//! Tools that change something: each is put to the person at the client, in the words of what will happen.

use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};

use super::{Arguments, confirmation, reads};
use crate::{
    cli::{
        fields::Fields, http::segment, money::major, payments::or_new_key, refund_question::RefundQuestion,
        session::Session,
    },
    failure::Failure,
};

pub(super) async fn call(
    session: &Session,
    tool: &str,
    arguments: &Arguments,
    person: &Peer<RoleServer>,
) -> Result<String, Failure> {
    let answer = match tool {
        "refund_payment" => refund(session, arguments, person).await?,
        "cancel_transfer" => {
            let reference = arguments.id("reference")?;
            let payment = reads::show_payment(session, &reference).await?;
            let question = format!("Cancel the transfer {reference} of {}?", total(&payment));
            confirmation::ask(person, question).await?;
            let path = session.path(&format!("/transactions/{}/cancel", segment(&reference))).await?;
            session.client.post(&path, &json!({})).await?
        }
        "resend_event" => {
            let event = arguments.id("event")?;
            let question = format!("Send the event {event} again to every subscribed endpoint?");
            confirmation::ask(person, question).await?;
            let path = session.path(&format!("/events/{}/resend", segment(&event))).await?;
            session.client.post(&path, &json!({})).await?
        }
        _ => return Err(Failure::new(format!("there is no tool {tool}"))),
    };
    Ok(answer.to_string())
}

async fn refund(
    session: &Session,
    arguments: &Arguments,
    person: &Peer<RoleServer>,
) -> Result<Value, Failure> {
    let reference = arguments.id("reference")?;
    let payment = reads::show_payment(session, &reference).await?;
    let amount = arguments.optional_amount("amountMinor")?;
    let question =
        RefundQuestion { payment: &payment, reference: &reference, amount: amount.as_deref(), fee: None };
    confirmation::ask(person, question.text()?).await?;
    let key = or_new_key(arguments.optional("idempotencyKey"))?;
    let body =
        json!({ "idempotencyKey": key, "amountMinor": amount, "reason": arguments.optional("reason") });
    let path = session.path(&format!("/transactions/{}/refunds", segment(&reference))).await?;
    session.client.post(&path, &body).await.map_err(|failure| match failure.code() {
        // No answer, or one that does not know: the refund may have been made.
        None | Some("internal" | "outcome_unknown") => {
            let said = format!(
                "{} To ask again about the same refund, pass idempotencyKey {key}.",
                failure.sentence()
            );
            failure.saying(said)
        }
        Some(_) => failure,
    })
}

/// What is charged, or taken from the wallet: a transfer has it in its transaction.
fn total(payment: &Value) -> String {
    let transaction = payment.field("transaction").filter(|transaction| !transaction.is_null());
    let amounts = transaction.unwrap_or(payment);
    major(amounts.text("totalDebitMinor"), amounts.text("currency"))
}
