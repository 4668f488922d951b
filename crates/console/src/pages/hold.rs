//! Capturing or voiding an authorized payment: how much, what the customer then pays, and then for good.

use std::{borrow::Cow, sync::Arc};

use askama::Template;
use axum::response::Response;
use data_encoding::HEXLOWER;
use tollgate_domain::{
    Currency, Minor, Principal, ServiceReference, hold::HoldActionKind, transaction::Status,
};
use tollgate_engine::{EnvironmentView, HoldError, HoldRequest, ports::CardPayment};
use tollgate_vault::random_bytes;

use crate::{
    layout::{
        format::{amount, minor, moment, read_amount},
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

const MAX_KEY_LENGTH: usize = 160;

#[derive(Template)]
#[template(path = "capture.html")]
struct CapturePage {
    frame: Frame,
    reference: String,
    currency: String,
    authorized: String,
    capture_before: Option<String>,
    amount: String,
    fault: Option<String>,
}

pub(crate) async fn show_capture(signed_in: SignedIn) -> Page {
    let payment = held(&signed_in, HoldActionKind::Capture).await?;
    let text = amount(Minor::from(payment.order.fee.principal).signed(), payment.order.currency);
    draw(&signed_in, &payment, text, None).await
}

pub(crate) async fn show_void(signed_in: SignedIn) -> Page {
    let payment = held(&signed_in, HoldActionKind::Void).await?;
    review(&payment, HoldActionKind::Void, None)?.page(frame(&signed_in, HoldActionKind::Void).await?)
}

pub(crate) async fn capture(form: Submitted) -> Result<Response, PageError> {
    post(form, HoldActionKind::Capture).await
}

pub(crate) async fn void(form: Submitted) -> Result<Response, PageError> {
    post(form, HoldActionKind::Void).await
}

async fn post(form: Submitted, kind: HoldActionKind) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (reference, view) = place(signed_in)?;
    let engine = &signed_in.console.engine;
    let payment = payment(signed_in).await?;
    let currency = payment.order.currency;
    let text = form.field("amount").to_owned();
    let asked = match kind {
        HoldActionKind::Void => None,
        HoldActionKind::Capture => {
            let Some(principal) = read_amount(&text, currency).and_then(Principal::new) else {
                let fault =
                    "The amount must be above zero and must not have more decimals than the currency.";
                return draw(signed_in, &payment, text, Some(fault.to_owned())).await;
            };
            Some(principal)
        }
    };
    let key = form.field("key");
    if !form.is_confirmed() || key.is_empty() || key.len() > MAX_KEY_LENGTH {
        if let Err(error) = engine.preview_hold(&view, reference, kind, asked).await {
            return refuse(signed_in, &payment, kind, text, &error).await;
        }
        return review(&payment, kind, asked)?.page(frame(signed_in, kind).await?);
    }
    let origin = signed_in.origin();
    let request =
        HoldRequest { kind, idempotency_key: key.to_owned(), amount: asked, operator: Some(origin.clone()) };
    // A browser that goes away does not stop it half way.
    let changing = {
        let engine = Arc::clone(engine);
        async move { Box::pin(engine.change_hold(&view, reference, request, &origin.request)).await }
    };
    let changed = engine.host().run(changing).await.map_err(|error| PageError::Broken(error.to_string()))?;
    match changed {
        Ok(changed) => {
            let to = format!("/console/{}/payments/{reference}", changed.payment.order.environment);
            Ok(signed_in.done(&to, &said(&changed.payment, kind)).await)
        }
        Err(error) => refuse(signed_in, &payment, kind, text, &error).await,
    }
}

fn said(payment: &CardPayment, kind: HoldActionKind) -> String {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    match (kind, status) {
        (HoldActionKind::Capture, Some(Status::Succeeded)) => {
            format!("Captured {}.", minor(payment.amounts().total_debit, payment.order.currency))
        }
        (HoldActionKind::Void, Some(Status::Canceled)) => "Voided; the money is released.".into(),
        (kind, _) => format!("The {} is in progress; its outcome shows here soon.", kind.as_str()),
    }
}

fn place(signed_in: &SignedIn) -> Result<(ServiceReference, Arc<EnvironmentView>), PageError> {
    Ok((signed_in.path("reference")?, signed_in.view(signed_in.environment()?)?))
}

async fn payment(signed_in: &SignedIn) -> Result<CardPayment, PageError> {
    let (environment, reference) = (signed_in.environment()?, signed_in.path("reference")?);
    signed_in.console.engine.refunds(environment, reference).await?.ok_or(PageError::Missing)
}

/// The payment, if it can be captured or voided.
async fn held(signed_in: &SignedIn, kind: HoldActionKind) -> Result<CardPayment, PageError> {
    let (reference, view) = place(signed_in)?;
    let previewed = signed_in.console.engine.preview_hold(&view, reference, kind, None).await;
    previewed.map(|(payment, _)| payment).map_err(|error| match error {
        HoldError::Missing => PageError::Missing,
        HoldError::Store(error) => error.into(),
        other => PageError::Refused(explained(&other, Currency::USD)),
    })
}

/// What the customer then pays, and what is released.
fn review(
    payment: &CardPayment,
    kind: HoldActionKind,
    asked: Option<Principal>,
) -> Result<Review, PageError> {
    let (order, zero) = (&payment.order, Minor::ZERO);
    let text = |amount| minor(amount, order.currency);
    let authorized = payment.charged();
    let captured = asked.map_or(authorized, |principal| authorized.on(principal));
    let total = if kind == HoldActionKind::Capture { captured.total_debit } else { zero };
    let released = authorized.total_debit.checked_sub(total).unwrap_or(zero);
    let random: [u8; 16] = random_bytes().map_err(|error| PageError::Broken(error.to_string()))?;
    let mut fields = vec![("key".to_owned(), format!("console-{}", HEXLOWER.encode(&random)))];
    let customer = order.customer_name.as_ref().or(order.customer_email.as_ref());
    let affected = customer.cloned().map_or_else(|| "Whoever the card belongs to".into(), Cow::Owned);
    let base = format!("/console/{}/payments/{}", order.environment, order.id);
    Ok(match kind {
        HoldActionKind::Capture => {
            fields.extend(
                asked.map(|asked| ("amount".to_owned(), amount(Minor::from(asked).signed(), order.currency))),
            );
            Review {
                effect: format!("The customer will pay {}", text(total)).into(),
                facts: vec![
                    ("Principal", text(captured.principal.into())),
                    ("Fee", text(captured.fee)),
                    ("Total", text(total)),
                    ("Released", text(released)),
                ],
                affected,
                permanent: "A payment is captured once: what is not captured now is released.".into(),
                fields,
                choices: vec![Choice::plain(format!("Capture {}", text(total)))],
                back: ("Change".to_owned(), format!("{base}/capture")),
                ..Review::default()
            }
        }
        HoldActionKind::Void => Review {
            effect: "The customer will pay nothing".into(),
            facts: vec![("Released", text(released))],
            affected,
            permanent: "A void cannot be taken back; the customer would have to pay again.".into(),
            fields,
            choices: vec![Choice::danger(format!("Void {}", text(released)))],
            back: ("Back".to_owned(), base),
            ..Review::default()
        },
    })
}

async fn frame(signed_in: &SignedIn, kind: HoldActionKind) -> Result<Frame, PageError> {
    let reference: ServiceReference = signed_in.path("reference")?;
    let verb = if kind == HoldActionKind::Capture { "Capture" } else { "Void" };
    signed_in.frame(&format!("{verb} {reference}"), "payments").await
}

/// Says why not: beside the amount, where there is one to change.
async fn refuse(
    signed_in: &SignedIn,
    payment: &CardPayment,
    kind: HoldActionKind,
    amount: String,
    error: &HoldError,
) -> Page {
    let fault = explained(error, payment.order.currency);
    match kind {
        HoldActionKind::Capture => draw(signed_in, payment, amount, Some(fault)).await,
        HoldActionKind::Void => Err(PageError::Refused(fault)),
    }
}

async fn draw(signed_in: &SignedIn, payment: &CardPayment, amount: String, fault: Option<String>) -> Page {
    let hold = payment.transaction.as_ref().and_then(|transaction| transaction.state.hold);
    let currency = payment.order.currency;
    page::render(&CapturePage {
        frame: frame(signed_in, HoldActionKind::Capture).await?,
        reference: payment.order.id.to_string(),
        currency: currency.to_string(),
        authorized: minor(payment.order.fee.total_debit, currency),
        capture_before: hold.and_then(|hold| hold.capture_before).map(moment),
        amount,
        fault,
    })
}

fn explained(error: &HoldError, currency: Currency) -> String {
    match error {
        HoldError::Exceeds { authorized } => {
            format!("Only {} was authorized; enter less.", minor((*authorized).into(), currency))
        }
        HoldError::KeyReused(_) => "This form was already sent with other values; start again.".to_owned(),
        HoldError::Store(_) => {
            "The database is not responding. The request may have been recorded: look at the payment before trying again."
                .to_owned()
        }
        HoldError::Rejected { failure, .. } => {
            format!("The provider rejected it: {} The payment is still authorized.", failure.message)
        }
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{}", letters.as_str())
        }
    }
}
