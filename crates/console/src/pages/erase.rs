//! Erasing a customer's personal data.

use askama::Template;
use axum::response::Response;
use tollgate_domain::id::EnvironmentId;
use tollgate_engine::CustomerName;

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

#[derive(Template)]
#[template(path = "erase.html")]
struct ErasePage {
    frame: Frame,
    /// Whom the page was opened for.
    customer: String,
    email: String,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let frame = signed_in.frame("Erase a customer", "payments").await?;
    let (customer, email) = (signed_in.query_text("customer"), signed_in.query_text("email"));
    page::render(&ErasePage { frame, customer, email })
}

pub(crate) async fn post(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let given = |name: &str| Some(form.field(name).to_owned()).filter(|text| !text.is_empty());
    let customer = CustomerName { external_id: given("customer"), email: given("email") };
    if customer.external_id.is_none() && customer.email.is_none() {
        return Err(PageError::Refused("Give the customer's ID or email address.".to_owned()));
    }
    if !form.is_confirmed() {
        let review = review(&form, environment, &customer);
        return review.page(signed_in.frame("Erase a customer", "payments").await?);
    }
    let erasure = signed_in.console.engine.erase_customer(environment, &customer, signed_in.origin()).await?;
    let mut said = format!(
        "Erased the personal data of {} card payments and {} transfers, and {} customer tokens.",
        erasure.card_payments, erasure.transfers, erasure.customer_tokens
    );
    if !erasure.in_progress.is_empty() {
        let waiting: Vec<_> = erasure
            .in_progress
            .iter()
            .map(|it| match &it.ends_on {
                Some(day) => format!("{} (expected on {day})", it.reference),
                None => it.reference.to_string(),
            })
            .collect();
        let waiting = waiting.join(", ");
        said = format!("{said} Not ended yet, and erased by themselves once they have: {waiting}.");
    }
    Ok(signed_in.done(&format!("/console/{environment}/erase"), &said).await)
}

fn review(form: &Submitted, environment: EnvironmentId, customer: &CustomerName) -> Review {
    let mut review = Review::of(form, "The customer's personal data will be erased");
    let names = [&customer.external_id, &customer.email].into_iter().flatten().cloned();
    review.affected = names.collect::<Vec<_>>().join(", ").into();
    review.facts = vec![
        (
            "Erased",
            "name, email address, bank and card details, descriptions, metadata, notes and timelines of payments that \
             have ended, and customer tokens"
                .to_owned(),
        ),
        ("Kept", "amounts, statuses, references and the books".to_owned()),
        ("Not ended yet", "payments under way are erased by themselves once they have ended".to_owned()),
    ];
    review.permanent = "All of it: erased data cannot be restored.".into();
    review.choices = vec![Choice::danger("Erase for good")];
    review.back = ("Back".to_owned(), format!("/console/{environment}/erase"));
    review
}
