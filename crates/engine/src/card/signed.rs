//! Applying what a provider's signature vouches for, where the provider cannot be asked. Its webhooks come late, again and out of
//! order: each tells of one step, and `domain` decides which steps lie behind the payment.

use tollgate_domain::{
    card::{
        Discrepancy, DiscrepancyKind, Preparation, ProviderReport, ProviderStatus, ReportSource, Trigger,
    },
    hold::{CaptureMode, HoldAction, HoldActionStatus},
    refund::RefundReport,
    transaction::{Failure, Status},
};

use super::{
    at_provider::open_hold_action,
    awaiting::unread_since,
    provider_report::{has_no_room, recorded_refund},
    resolve::end,
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{CardPayment, SignedReport, SignedStep, StoreError, StoredProviderEvent, WebhookNotice},
    webhook::EventOutcome,
};

/// How often a refund is tried for which there is no room: for some hours. Then an operator is asked.
const NO_ROOM_TRIES: u32 = 40;

impl SignedStep {
    /// Whether it can be the first that is heard of a payment. Anything else waits until the payment is known by its name.
    const fn is_first(&self) -> bool {
        matches!(self, Self::Approved | Self::Declined(_) | Self::Captured | Self::Closed)
    }

    /// Whether no money is taken or held after it.
    pub(super) const fn is_end(&self) -> bool {
        matches!(
            self,
            Self::Declined(_) | Self::Released | Self::Expired | Self::Closed | Self::HoldActionFailed(..)
        )
    }
}

impl Engine {
    /// `None` if the payment changed meanwhile.
    pub(super) async fn apply_signed(
        &self,
        mut update: PaymentUpdate<'_>,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
        signed: &SignedReport,
    ) -> Result<Option<EventOutcome>, StoreError> {
        let order = update.payment().order.clone();
        let named = notice.payment.as_deref();
        let is_on_record = is_on_record(update.payment(), named);
        let known = match named {
            Some(name) => {
                self.store.payment_of_object(order.environment, &stored.event.provider, name).await?
            }
            None => None,
        };
        let is_known = known == Some(order.id);
        if !signed.step.is_first() && !is_on_record {
            if is_known {
                return self.finish(update, stored, notice, "about another attempt at this payment").await;
            }
            let why = "waiting for the webhook of the payment that this one is about";
            return Ok(Some(EventOutcome::Waiting(why.to_owned())));
        }
        let status = update.payment().transaction.as_ref().map(|transaction| transaction.state.status);
        let is_open = status.is_none_or(Status::is_open);
        if matches!(signed.step, SignedStep::Declined(_)) && is_known && !(is_on_record && is_open) {
            return self.finish(update, stored, notice, "known already").await;
        }
        let is_unpaid = matches!(status, Some(Status::Pending | Status::Processing | Status::Authorized));
        if let SignedStep::Refund(report) = &signed.step
            && stored.tries < NO_ROOM_TRIES
            && let Some(why) = refund_waits_for(update.payment(), report, is_unpaid)
        {
            return Ok(Some(EventOutcome::Waiting(why.to_owned())));
        }
        let note = apply(&mut update, notice, signed);
        if !update.has_discrepancies() {
            update.objects(notice.payment.clone());
        }
        update.await_webhook();
        self.finish(update, stored, notice, note).await
    }
}

/// Whether the payment's transaction is that of the payment named.
fn is_on_record(payment: &CardPayment, named: Option<&str>) -> bool {
    let recorded = payment.transaction.as_ref().and_then(|it| it.state.provider_reference.as_deref());
    recorded.is_some() && (named.is_none() || named == recorded)
}

/// Whether what is told is about another of the customer's attempts than the one on record.
fn is_of_another(payment: &CardPayment, notice: &WebhookNotice) -> bool {
    let recorded = payment.transaction.as_ref().and_then(|it| it.state.provider_reference.as_ref());
    recorded.is_some() && recorded != notice.payment.as_ref()
}

/// What must be heard before a refund can be recorded. One that came to nothing follows nothing.
fn refund_waits_for(payment: &CardPayment, report: &RefundReport, is_unpaid: bool) -> Option<&'static str> {
    if is_unpaid && report.status.counts() {
        Some("waiting for the webhook of the payment's capture, which comes before any refund")
    } else if has_no_room(payment, report) {
        Some("waiting for the webhook of another refund, which must have come to nothing")
    } else {
        None
    }
}

/// Brings one step into the decision, and says what is to be noted about it.
fn apply(update: &mut PaymentUpdate<'_>, notice: &WebhookNotice, signed: &SignedReport) -> &'static str {
    let order = &update.payment().order;
    let is_manual = order.capture == CaptureMode::Manual;
    let (provider_status, has_amount) = match &signed.step {
        SignedStep::Approved if is_manual && signed.amount != order.fee.total_debit => {
            let expected = order.fee.total_debit.to_string();
            let found = format!("{} approved", signed.amount);
            return note(update, notice, DiscrepancyKind::Amount, expected, found);
        }
        SignedStep::Approved if is_manual => (ProviderStatus::Authorized { capture_before: None }, true),
        SignedStep::Approved | SignedStep::Captured => (ProviderStatus::Succeeded, true),
        SignedStep::Declined(failure) => (ProviderStatus::Failed(failure.clone()), true),
        SignedStep::Released => (ProviderStatus::Canceled, false),
        SignedStep::Expired => (ProviderStatus::AuthorizationExpired, false),
        SignedStep::HoldActionFailed(action, failure) => {
            let open = open_hold_action(update.payment()).filter(|open| Some(open.id) == *action).cloned();
            return hold_action_failed(update, notice, open, failure);
        }
        SignedStep::Closed => {
            let status = update.payment().transaction.as_ref().map(|transaction| transaction.state.status);
            let is_unpaid = matches!(status, None | Some(Status::Pending | Status::Failed));
            let is_prepared = update.payment().progress.preparation == Preparation::Prepared;
            if is_of_another(update.payment(), notice) || unread_since(update.payment()).is_some() {
                return "about another attempt at this payment";
            }
            if is_unpaid && is_prepared && update.now() >= update.payment().order.expires_at {
                end(update, Preparation::Expired, None);
            }
            return "";
        }
        SignedStep::CaptureFailed => {
            let expected = "captured".to_owned();
            let found = format!("capture of {} failed", notice.payment.as_deref().unwrap_or_default());
            return note(update, notice, DiscrepancyKind::Status, expected, found);
        }
        SignedStep::Refund(report) => return refund(update, notice, signed, report),
        SignedStep::Disputed => {
            if let Some(news) = notice.dispute.clone() {
                update.dispute(news, "webhook");
            }
            return "";
        }
        SignedStep::Unclear => {
            let expected = "a webhook whose signed part says what happened".to_owned();
            let found = format!("{} about {}", notice.kind, notice.payment.as_deref().unwrap_or_default());
            return note(update, notice, DiscrepancyKind::Status, expected, found);
        }
    };
    let declined = matches!(provider_status, ProviderStatus::Failed(_));
    let is_attempt = declined || signed.step == SignedStep::Approved;
    let report = ProviderReport {
        payment: notice.payment.clone(),
        provider_status,
        amount: has_amount.then_some(signed.amount),
        currency: has_amount.then(|| signed.currency.clone()),
        // Later steps carry the name of what asked for them.
        reference: notice.reference.clone().filter(|_| is_attempt),
        refunds: Vec::new(),
        disputed: false,
        // What a webhook says of the card is not signed.
        card: None,
        is_not_card: false,
        source: ReportSource::SignedWebhook,
    };
    // A decline that was learned without a name, from the payer's page, is the one that a webhook names first.
    let is_another = update.before().is_some_and(|state| state.provider_reference.is_some());
    update.apply_report(&report, Trigger::Other, &notice.event);
    if declined && is_another && update.moves() {
        update.note_declined_again();
    }
    ""
}

fn note(
    update: &mut PaymentUpdate<'_>,
    notice: &WebhookNotice,
    kind: DiscrepancyKind,
    expected: String,
    found: String,
) -> &'static str {
    update.record_discrepancies(vec![Discrepancy { kind, expected, found }], &notice.event);
    "an operator is asked"
}

/// The money of a capture or void that did not happen is still held. What is captured at once cannot be asked for again.
fn hold_action_failed(
    update: &mut PaymentUpdate<'_>,
    notice: &WebhookNotice,
    open: Option<HoldAction>,
    failure: &Failure,
) -> &'static str {
    let status = update.payment().transaction.as_ref().map(|transaction| transaction.state.status);
    if let Some(open) = open {
        let (status, failure) = (HoldActionStatus::Failed, Some(failure.clone()));
        update.hold_action(&HoldAction { status, failure, updated_at: update.now(), ..open });
        return "";
    }
    if update.payment().order.capture == CaptureMode::Automatic && status == Some(Status::Succeeded) {
        let found = format!("{} {}", notice.kind, failure.code);
        return note(update, notice, DiscrepancyKind::Status, Status::Succeeded.as_str().to_owned(), found);
    }
    "no such capture or void is pending"
}

fn refund(
    update: &mut PaymentUpdate<'_>,
    notice: &WebhookNotice,
    signed: &SignedReport,
    report: &RefundReport,
) -> &'static str {
    let own = update.payment().order.currency;
    if signed.currency != own.code() {
        let found = format!("{} over {} {}", report.id, report.total, signed.currency);
        return note(update, notice, DiscrepancyKind::Currency, own.code().to_owned(), found);
    }
    if !report.status.counts() && recorded_refund(update.payment(), report).is_none() {
        update.refund_failed_at_provider(report);
    } else {
        update.apply_refund_reports(std::slice::from_ref(report), &notice.event, false);
    }
    ""
}
