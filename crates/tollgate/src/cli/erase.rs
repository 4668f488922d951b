//! `tollgate erase`: removes a customer's personal data and keeps the books.

use clap::Args;
use serde_json::json;

use super::{confirm::Confirm, fields::Fields, session::Session};
use crate::failure::Failure;

#[derive(Debug, Args)]
#[group(required = true, multiple = true, args = ["customer", "email"])]
pub(crate) struct Erase {
    /// Your ID of the customer; payments with an email address of theirs are meant, too.
    #[arg(long, value_name = "EXTERNAL_CUSTOMER_ID")]
    customer: Option<String>,
    /// Payments with this email address.
    #[arg(long)]
    email: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

pub(crate) async fn run(session: Session, asked: Erase) -> Result<(), Failure> {
    let path = session.path("/erase").await?;
    asked.confirm.ask("Erase this customer's personal data for good? Amounts and the books stay.")?;
    let body = json!({ "externalCustomerId": asked.customer, "email": asked.email });
    let erased = session.client.post(&path, &body).await?;
    session.output.show(&erased, |_| {
        let mut said = format!(
            "Erased the personal data of {} card payments and {} transfers, and {} customer tokens.\n",
            erased.number("cardPayments"),
            erased.number("transfers"),
            erased.number("customerTokens")
        );
        for left in erased.list("remaining") {
            let expected = left.optional_text("endsOn").map(|day| format!(", expected on {day}"));
            said.extend([format!(
                "Not ended yet, and erased by itself once it has: {}{}.\n",
                left.text("serviceReference"),
                expected.unwrap_or_default()
            )]);
        }
        said
    })?;
    match erased.list("remaining").len() {
        0 => Ok(()),
        left => Err(Failure::new(format!("{left} payments keep their data until they have ended"))),
    }
}
