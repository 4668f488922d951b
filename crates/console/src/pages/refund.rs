//! Refunding a card payment: how much, what goes back with it, and then for good.

use std::borrow::Cow;

use askama::Template;
use axum::response::Response;
use data_encoding::HEXLOWER;
use tollgate_domain::{
    Currency, Minor, ServiceReference,
    approval::ApprovalState,
    refund::{FeeRefund, Refund, RefundOrigin, RefundReason, RefundStatus, RefundTerms, Refundable},
    transaction::{DisputeStage, TransactionState},
};
use tollgate_engine::{RefundError, RefundRequest, ports::CardPayment};
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

/// A refund in a payment's list.
pub(crate) struct RefundRow {
    pub(crate) reference: String,
    pub(crate) at: String,
    pub(crate) principal: String,
    pub(crate) fee: String,
    pub(crate) total: String,
    pub(crate) status: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) note: String,
}

impl RefundRow {
    pub(crate) fn of(refund: &Refund, currency: Currency) -> Self {
        let by = match refund.origin {
            RefundOrigin::Api => "by the API",
            RefundOrigin::Operator => "by an operator",
            RefundOrigin::Provider => "at the provider",
            RefundOrigin::Service => "by itself: the fee may not be kept",
        };
        let failure = refund.failure.as_ref().map(|failure| format!(" {}", failure.message));
        Self {
            reference: refund.id.to_string(),
            at: moment(refund.created_at),
            principal: minor(refund.principal, currency),
            fee: minor(refund.fee, currency),
            total: minor(refund.total(), currency),
            status: refund.status.as_str(),
            tone: match refund.status {
                RefundStatus::Succeeded => "good",
                RefundStatus::Pending | RefundStatus::Processing => "warn",
                RefundStatus::Failed | RefundStatus::Canceled => "bad",
            },
            note: match refund.approval.as_ref().map(|approval| approval.state) {
                Some(ApprovalState::Required) => format!("Requested {by}; waits for approval."),
                Some(ApprovalState::Denied) => format!("Requested {by}; denied."),
                _ => format!("Refunded {by}.{}", failure.unwrap_or_default()),
            },
        }
    }
}

#[derive(Template)]
#[template(path = "refund.html")]
struct RefundPage {
    frame: Frame,
    reference: String,
    currency: String,
    /// What can still be refunded: principal, fee, both.
    left: [String; 3],
    amount: String,
    fee_refund: &'static str,
    reason: &'static str,
    fault: Option<String>,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let (reference, view) = place(&signed_in)?;
    let whole = signed_in.console.engine.preview_refund(&view, reference, None, Some(FeeRefund::Full)).await;
    let (payment, left) = whole.map_err(refused)?;
    check_dispute(&payment)?;
    let text = amount(left.principal.signed(), payment.order.currency);
    let fee_refund = view.configuration.settings.fee_refund;
    draw(&signed_in, &Wanted { amount: text, fee_refund, reason: None }, None).await
}

/// What the form says.
struct Wanted {
    amount: String,
    fee_refund: FeeRefund,
    reason: Option<RefundReason>,
}

pub(crate) async fn post(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (reference, view) = place(signed_in)?;
    let wanted = Wanted {
        amount: form.field("amount").to_owned(),
        fee_refund: FeeRefund::parse(form.field("feeRefund")).unwrap_or_default(),
        reason: RefundReason::parse(form.field("reason")),
    };
    let engine = &signed_in.console.engine;
    let payment = payment(signed_in).await?;
    check_dispute(&payment)?;
    let currency = payment.order.currency;
    let left = Refundable::after(&payment.amounts(), &payment.refunds);
    // Where all of the principal is back already, what is left is the fee.
    let is_possible = |amount: &Minor| *amount > Minor::ZERO || left.principal == Minor::ZERO;
    let read = read_amount(&wanted.amount, currency).and_then(Minor::new).filter(is_possible);
    let Some(principal) = read else {
        let fault = "The amount must be above zero and must not have more decimals than the currency.";
        return draw(signed_in, &wanted, Some(fault.to_owned())).await;
    };
    let asked = Some(principal).filter(|principal| *principal > Minor::ZERO);
    let share = engine.preview_refund(&view, reference, asked, Some(wanted.fee_refund)).await;
    let share = match share {
        Ok((_, share)) => share,
        Err(error) => return draw(signed_in, &wanted, Some(explained(&error, currency))).await,
    };
    let key = form.field("key");
    if !form.is_confirmed() || key.is_empty() || key.len() > MAX_KEY_LENGTH {
        let review = review(&form, &payment, &share)?;
        return review.page(signed_in.frame(&format!("Refund {reference}"), "payments").await?);
    }
    let terms = RefundTerms {
        amount: asked,
        fee_refund: Some(wanted.fee_refund),
        reason: wanted.reason,
        description: None,
        metadata: "{}".to_owned(),
    };
    let origin = signed_in.origin();
    let request =
        RefundRequest { idempotency_key: key.to_owned(), terms, operator: Some(origin.clone()), key: None };
    let engine = std::sync::Arc::clone(engine);
    // A browser that goes away does not stop it half way.
    let refunding = {
        let engine = std::sync::Arc::clone(&engine);
        async move { Box::pin(engine.refund(&view, reference, request, &origin.request)).await }
    };
    let refunded =
        engine.host().run(refunding).await.map_err(|error| PageError::Broken(error.to_string()))?;
    match refunded {
        Ok(created) => {
            let to = format!("/console/{}/payments/{reference}", created.payment.order.environment);
            let refund = &created.refund;
            let waits = if refund.waits_for_approval() { ", waits for approval" } else { "" };
            let total = minor(refund.total(), currency);
            let said = format!("Refund of {total}: {}{waits}.", refund.status.as_str());
            Ok(signed_in.done(&to, &said).await)
        }
        Err(error) => draw(signed_in, &wanted, Some(explained(&error, currency))).await,
    }
}

fn place(
    signed_in: &SignedIn,
) -> Result<(ServiceReference, std::sync::Arc<tollgate_engine::EnvironmentView>), PageError> {
    Ok((signed_in.path("reference")?, signed_in.view(signed_in.environment()?)?))
}

async fn payment(signed_in: &SignedIn) -> Result<CardPayment, PageError> {
    let (environment, reference) = (signed_in.environment()?, signed_in.path("reference")?);
    signed_in.console.engine.refunds(environment, reference).await?.ok_or(PageError::Missing)
}

/// What the customer gets back, before anything is sent.
fn review(form: &Submitted, payment: &CardPayment, share: &Refundable) -> Result<Review, PageError> {
    let currency = payment.order.currency;
    let random: [u8; 16] = random_bytes().map_err(|error| PageError::Broken(error.to_string()))?;
    let key = format!("console-{}", HEXLOWER.encode(&random));
    let total = minor(share.total(), currency);
    let mut review = Review::of(form, format!("The customer will get {total} back"));
    review.fields.retain(|(name, _)| name != "key");
    review.fields.push(("key".to_owned(), key));
    review.facts = vec![
        ("Principal", minor(share.principal, currency)),
        ("Fee", minor(share.fee, currency)),
        ("Total", total.clone()),
    ];
    let customer = payment.order.customer_name.as_ref().or(payment.order.customer_email.as_ref());
    review.affected =
        customer.cloned().map_or_else(|| "Whoever paid, at the same card or account".into(), Cow::Owned);
    review.permanent = "A refund that was sent cannot be taken back.".into();
    review.choices = vec![Choice::danger(format!("Refund {total}"))];
    review.back = ("Change".to_owned(), String::new());
    Ok(review)
}

fn check_dispute(payment: &CardPayment) -> Result<(), PageError> {
    let obstacle = payment.transaction.as_ref().and_then(|paid| dispute_obstacle(&paid.state));
    obstacle.map_or(Ok(()), |obstacle| Err(PageError::Refused(obstacle.to_owned())))
}

/// Why a disputed payment cannot be refunded.
pub(crate) fn dispute_obstacle(state: &TransactionState) -> Option<&'static str> {
    match state.dispute.as_ref()?.stage() {
        DisputeStage::Open => Some(
            "The payment is disputed and cannot be refunded: the provider holds the money until the dispute is decided. \
             Submit evidence, or accept the dispute, at the provider.",
        ),
        DisputeStage::Lost => Some("The dispute was lost: the customer has the money back already."),
        DisputeStage::Inquiry | DisputeStage::Returned => None,
    }
}

async fn draw(signed_in: &SignedIn, wanted: &Wanted, fault: Option<String>) -> Page {
    let reference: ServiceReference = signed_in.path("reference")?;
    let payment = payment(signed_in).await?;
    let currency = payment.order.currency;
    let left = Refundable::after(&payment.amounts(), &payment.refunds);
    let frame = signed_in.frame(&format!("Refund {reference}"), "payments").await?;
    page::render(&RefundPage {
        reference: reference.to_string(),
        currency: currency.to_string(),
        left: [left.principal, left.fee, left.total()].map(|amount| minor(amount, currency)),
        amount: wanted.amount.clone(),
        fee_refund: wanted.fee_refund.as_str(),
        reason: wanted.reason.map_or("", RefundReason::as_str),
        fault,
        frame,
    })
}

fn refused(error: RefundError) -> PageError {
    match error {
        RefundError::Missing => PageError::Missing,
        RefundError::Store(error) => error.into(),
        other => PageError::Refused(explained(&other, Currency::USD)),
    }
}

fn explained(error: &RefundError, currency: Currency) -> String {
    match error {
        RefundError::Exceeds { left } if left.total() == Minor::ZERO => {
            "Everything has been refunded already, or is on its way back.".to_owned()
        }
        RefundError::Exceeds { left } => format!(
            "Only {} of the principal and {} of the fee are left to refund; enter less.",
            minor(left.principal, currency),
            minor(left.fee, currency)
        ),
        RefundError::OffStep { off, .. } => {
            let works: Vec<_> = off.nearest.iter().map(|near| minor(near.principal, currency)).collect();
            let step = Minor::new(off.step).unwrap_or_default();
            format!(
                "This would refund {} in total, but the provider takes only multiples of {}. Amounts that work: {}.",
                minor(off.share.total(), currency),
                minor(step, currency),
                if works.is_empty() { "none near it".to_owned() } else { works.join(" or ") },
            )
        }
        RefundError::KeyReused(_) => "This form was already sent with other values; start again.".to_owned(),
        RefundError::Store(_) => {
            "The database is not responding. The refund may have been recorded: look at the payment before trying again."
                .to_owned()
        }
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{}", letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use tollgate_domain::transaction::Dispute;

    use super::*;

    #[test]
    fn a_disputed_payment_says_why_it_is_not_refunded() {
        let obstacle = |status: &str| {
            let dispute = Dispute {
                id: "dp_1".to_owned(),
                status: status.to_owned(),
                reason: None,
                amount: None,
                currency: None,
                respond_by: None,
                withdrawn: None,
            };
            dispute_obstacle(&TransactionState { dispute: Some(dispute), ..TransactionState::pending() })
        };
        assert!(obstacle("needs_response").is_some_and(|why| why.contains("until the dispute is decided")));
        assert!(obstacle("lost").is_some_and(|why| why.contains("has the money back already")));
        assert_eq!((obstacle("won"), obstacle("warning_needs_response")), (None, None));
        assert_eq!(dispute_obstacle(&TransactionState::pending()), None);
    }
}
