//! Refunding a card payment: recorded with its share of the fee, then sent under its own key, once per idempotency key.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep};
use tollgate_domain::{
    Currency, Minor, ServiceReference,
    card::CardOrder,
    card_fee::check_refund,
    id::{EnvironmentId, KeyId, PaymentId, RefundId},
    refund::{
        FeeRefund, OffStep, Refund, RefundOrigin, RefundReason, RefundReport, RefundStatus, RefundTerms,
        Refundable,
    },
    transaction::{Failure, Status},
};

use super::{
    CardProvider, MAX_ROUNDS,
    at_provider::{sent_to, subject, unsent_refunds},
    awaiting::{cannot_be_asked, is_key_kept},
    reads::ReadError,
    update::PaymentUpdate,
};
use crate::{
    audit_log::Audited,
    canonical_json::canonical,
    configure::Origin,
    engine::Engine,
    failpoint::failpoint,
    ports::{Call, CallError, CardPayment, Refunds, RejectionKind, StoreError, TransientError},
    provider_account::AccountCheck,
    rate_limiter::RateLimitExceeded,
    snapshot::EnvironmentView,
    timeline,
};

/// More refunds than anybody needs for one payment, and few enough to be read with it.
const MAX_REFUNDS: usize = 100;
/// How long a request tries to record its refund while others change the payment, and how often.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(15);
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct RefundRequest {
    /// The caller's name for this business action.
    pub idempotency_key: String,
    pub terms: RefundTerms,
    /// Who, where it was an operator.
    pub operator: Option<Origin>,
    /// The key, where it was a caller.
    pub key: Option<KeyId>,
}

impl RefundRequest {
    /// What the audit log says of an operator's refund.
    fn audited(&self, environment: EnvironmentId, reference: ServiceReference) -> Audited {
        let amount = self.terms.amount.map(|amount| amount.to_string());
        Audited::new("payment.refund", reference).in_environment(environment).after(json!({
            "idempotencyKey": self.idempotency_key,
            "amountMinor": amount,
            "feeRefund": self.terms.fee_refund.map(FeeRefund::as_str),
            "reason": self.terms.reason.map(RefundReason::as_str),
        }))
    }
}

/// A refund that was asked for.
#[derive(Debug)]
pub struct RefundCreated {
    pub payment: CardPayment,
    pub refund: Refund,
    /// Whether this call only repeats an earlier one.
    pub replayed: bool,
}

/// Why there is no refund.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// No such transaction in this environment.
    #[error("transaction not found")]
    Missing,
    /// The transaction cannot be refunded, and why.
    #[error("{0}")]
    NotRefundable(&'static str),
    /// A surcharge goes back with its principal.
    #[error("a refund may not keep a surcharge")]
    KeepsSurcharge,
    /// More was asked for than is left.
    #[error("only {} is left to refund", left.total())]
    Exceeds {
        /// What is left.
        left: Refundable,
    },
    /// The provider would not take the refund's total.
    #[error("{currency} can only be refunded in multiples of {}", off.step)]
    OffStep {
        currency: Currency,
        /// What is off, and what would fit.
        off: Box<OffStep>,
    },
    /// The key was used for another request; these fields differ.
    #[error("the idempotency key was used for a different request")]
    KeyReused(Vec<&'static str>),
    /// The key was used for too many other requests.
    #[error("too many different requests used the idempotency key")]
    TooManyConflicts(#[from] RateLimitExceeded),
    /// The provider cannot be used.
    #[error("the provider {provider} cannot be used: {}", missing.join(", "))]
    NotConfigured {
        /// Its name in the configuration.
        provider: String,
        /// What is missing.
        missing: Vec<String>,
    },
    /// The configuration no longer leads to the account the payment was made at, and why that matters.
    #[error("{0}")]
    OtherAccount(String),
    /// The provider refused.
    #[error("the provider rejected the refund: {}", failure.message)]
    Rejected {
        /// The payment it was to be a refund of.
        payment: PaymentId,
        /// Why.
        failure: Failure,
        /// Whether this call only repeats an earlier one.
        replayed: bool,
    },
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Refunds a payment, or answers what became of the refund this key has made.
    pub async fn refund(
        self: &Arc<Self>,
        view: &EnvironmentView,
        reference: ServiceReference,
        request: RefundRequest,
        request_id: &str,
    ) -> Result<RefundCreated, RefundError> {
        let ServiceReference::Card(payment_id) = reference else {
            return Err(RefundError::NotRefundable(
                "Bank transfers cannot be refunded; ask the recipient to send the money back.",
            ));
        };
        let environment = view.environment.id;
        let id = self.refund_id(environment, &request.idempotency_key);
        let deadline = Instant::now() + QUEUE_TIMEOUT;
        loop {
            let payment = self.store.payment(environment, payment_id).await?.ok_or(RefundError::Missing)?;
            if let Some(known) = payment.refunds.iter().find(|refund| refund.id == id).cloned() {
                let replayed = replay(payment, known, &request.terms);
                if matches!(replayed, Err(RefundError::KeyReused(_))) {
                    self.count_key_conflict(environment, &id.to_bytes())?;
                }
                return replayed;
            }
            self.check_key_is_free(environment, id, payment_id).await?;
            let provider_reference = paid_as(&payment)?.to_owned();
            let provider = self.provider_of_order(view, &payment.order).map_err(|missing| {
                RefundError::NotConfigured { provider: payment.order.provider.clone(), missing }
            })?;
            let check = self.check_account(environment, sent_to(&payment), provider.provider);
            if check.is_unreachable() {
                return Err(RefundError::OtherAccount(check.transient_error().reason));
            }
            let refunds = provider.cards.refunds().ok_or(RefundError::NotRefundable(
                "This provider takes no refunds by API; refund the payment in the provider's dashboard.",
            ))?;
            let mut refund = self.planned(view, refunds, &payment, id, &request, request_id)?;
            refund.approval = self.refund_approval_needed(view, &payment, &refund, &request)?;
            let order = payment.order.clone();
            let mut update = PaymentUpdate::of(self, payment, Some(request_id));
            if let Some(origin) = &request.operator {
                let detail = json!({ "actor": origin.actor, "refundReference": id.to_string() });
                update.line("refund_requested", detail);
                update.audit(origin, request.audited(environment, reference));
            }
            update.refund(refund.clone());
            if let Some(approval) = &refund.approval {
                update.line("approval_required", timeline::approval_required(approval));
                update.schedule_next_check();
            } else {
                update.lease();
            }
            match update.commit().await {
                Ok(Some(payment)) if refund.approval.is_some() => return answer(payment, refund, false),
                Ok(Some(begun)) => {
                    failpoint!("refund.before_send");
                    let call = refunds.refund(provider.provider, &order, &provider_reference, &refund).await;
                    failpoint!("refund.after_send");
                    let call = unless_elsewhere(call, &check);
                    return Box::pin(self.answer_refund(begun, refund, call, request_id)).await;
                }
                // Somebody else changed the payment: what is left is decided afresh.
                Ok(None) if Instant::now() < deadline => sleep(RETRY_PAUSE).await,
                Ok(None) => {
                    let reason = "too many concurrent changes to this payment".to_owned();
                    return Err(StoreError::Unavailable(reason).into());
                }
                Err(error @ StoreError::Broken(_)) => {
                    // The same key may have been used for another payment in this very moment.
                    self.check_key_is_free(environment, id, payment_id).await?;
                    return Err(error.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The refunds of a transaction, in the order of their recording.
    pub async fn refunds(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Option<CardPayment>, ReadError> {
        let ServiceReference::Card(id) = reference else {
            let transaction = self.store.transaction(environment, reference).await?;
            return transaction.map(|_| None).ok_or(ReadError::Missing);
        };
        let payment = self.store.payment(environment, id).await?;
        payment.filter(|payment| payment.transaction.is_some()).map(Some).ok_or(ReadError::Missing)
    }

    /// A refund with the payment it belongs to.
    pub async fn find_refund(
        &self,
        environment: EnvironmentId,
        id: RefundId,
    ) -> Result<(CardPayment, Refund), ReadError> {
        let payment = self.store.payment_of_refund(environment, id).await?.ok_or(ReadError::Missing)?;
        let payment = self.store.payment(environment, payment).await?.ok_or(ReadError::Missing)?;
        let refund = payment.refunds.iter().find(|refund| refund.id == id).cloned();
        refund.map(|refund| (payment, refund)).ok_or(ReadError::Missing)
    }

    /// The same for the same environment and key, on every node and after every restart.
    fn refund_id(&self, environment: EnvironmentId, idempotency_key: &str) -> RefundId {
        self.digested_refund_id(&[b"refund", &environment.to_bytes(), idempotency_key.as_bytes()])
    }

    /// The ID of a refund that was made at the provider: the same on every node.
    pub(super) fn refund_made_at_provider(&self, order: &CardOrder, name: &str) -> RefundId {
        let parts: [&[u8]; 4] =
            [b"refund at provider", &order.environment.to_bytes(), &order.id.to_bytes(), name.as_bytes()];
        self.digested_refund_id(&parts)
    }

    /// The ID of the refund of a fee that may not be kept: one for each payment, the same on every node.
    pub(super) fn refund_of_unlawful_fee(&self, order: &CardOrder) -> RefundId {
        let parts: [&[u8]; 3] = [b"unlawful fee", &order.environment.to_bytes(), &order.id.to_bytes()];
        self.digested_refund_id(&parts)
    }

    /// An amount, raised to what the payment's provider takes as a refund.
    pub(super) fn whole_refund_steps(&self, order: &CardOrder, amount: Minor) -> Minor {
        let Some(view) = self.view(order.environment) else { return amount };
        let refunds = self.provider_of_order(&view, order).ok().and_then(|provider| provider.cards.refunds());
        let step = refunds.map_or(1, |refunds| refunds.amount_step(order.currency));
        amount.get().checked_next_multiple_of(step).and_then(Minor::new).unwrap_or(amount)
    }

    fn digested_refund_id(&self, parts: &[&[u8]]) -> RefundId {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(self.reference_digester.digest(parts)) {
            *to = from;
        }
        RefundId::from_bytes(bytes)
    }

    /// A key belongs to one request, whichever payment that was about.
    async fn check_key_is_free(
        &self,
        environment: EnvironmentId,
        id: RefundId,
        payment: PaymentId,
    ) -> Result<(), RefundError> {
        match self.store.payment_of_refund(environment, id).await? {
            Some(other) if other != payment => {
                self.count_key_conflict(environment, &id.to_bytes())?;
                Err(RefundError::KeyReused(vec!["serviceReference"]))
            }
            _ => Ok(()),
        }
    }

    /// The refund that the request makes of the payment as it is.
    fn planned(
        &self,
        view: &EnvironmentView,
        refunds: &dyn Refunds,
        payment: &CardPayment,
        id: RefundId,
        request: &RefundRequest,
        request_id: &str,
    ) -> Result<Refund, RefundError> {
        if payment.refunds.len() >= MAX_REFUNDS {
            return Err(RefundError::NotRefundable(
                "This transaction has as many refunds as one can have; refund the rest at the provider.",
            ));
        }
        let terms = request.terms.clone();
        let share = share(view, Some(refunds), payment, terms.amount, terms.fee_refund)?;
        let now = self.clock.now();
        Ok(Refund {
            id,
            terms,
            principal: share.principal,
            fee: share.fee,
            origin: if request.operator.is_some() { RefundOrigin::Operator } else { RefundOrigin::Api },
            status: RefundStatus::Pending,
            provider_reference: None,
            failure: None,
            request: Some(request_id.to_owned()),
            approval: None,
            created_at: now,
            updated_at: now,
        })
    }

    /// What goes back for a request, without refunding anything.
    pub async fn preview_refund(
        &self,
        view: &EnvironmentView,
        reference: ServiceReference,
        amount: Option<Minor>,
        fee_refund: Option<FeeRefund>,
    ) -> Result<(CardPayment, Refundable), RefundError> {
        let ServiceReference::Card(id) = reference else { return Err(RefundError::Missing) };
        let payment = self.store.payment(view.environment.id, id).await?.ok_or(RefundError::Missing)?;
        paid_as(&payment)?;
        let provider = self.provider_of_order(view, &payment.order).ok();
        let refunds = provider.and_then(|provider| provider.cards.refunds());
        let share = share(view, refunds, &payment, amount, fee_refund)?;
        Ok((payment, share))
    }

    /// The refund as it stands after the provider was asked. A store that fails now leaves the outcome in doubt, and what
    /// became of the refund is written down later.
    async fn answer_refund(
        self: &Arc<Self>,
        begun: CardPayment,
        refund: Refund,
        call: Call<RefundReport>,
        request_id: &str,
    ) -> Result<RefundCreated, RefundError> {
        let id = refund.id;
        let known = (begun.clone(), Arc::new(call), request_id.to_owned());
        let write = move |engine: Arc<Self>| {
            let (begun, call, request) = known.clone();
            async move { engine.record_refund(begun, id, &call, Some(&request), false).await }
        };
        let recorded = self.record(id.to_string(), write).await;
        let payment = recorded.unwrap_or(begun);
        let refund = payment.refunds.iter().find(|known| known.id == id).cloned().unwrap_or(refund);
        answer(payment, refund, false)
    }

    /// Writes down what became of a refund that was sent; one that a webhook has settled meanwhile is left alone.
    async fn record_refund(
        &self,
        payment: CardPayment,
        id: RefundId,
        call: &Call<RefundReport>,
        request: Option<&str>,
        is_blind: bool,
    ) -> Result<CardPayment, StoreError> {
        let (environment, payment_id) = (payment.order.environment, payment.order.id);
        let mut seen = payment;
        for _ in 0..MAX_ROUNDS {
            let mut update = PaymentUpdate::of(self, seen, request);
            update.record_calls(&call.logs);
            note_refund(&mut update, id, call, is_blind);
            if let Some(recorded) = update.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.payment(environment, payment_id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("payment not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()))
    }

    /// Refunds whose outcome is not known: the provider is asked which it has, and those it does not have are sent again
    /// under their own keys. One that cannot be asked gets them again until it has accepted them, as long as it surely remembers
    /// the keys. A refund at the provider carries our name for it, so that it is found however old its key is; and a payment's
    /// name is unique at an address, so that another account cannot refund it, whichever credentials we have now.
    pub(super) async fn resolve_refunds(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let Some(subject) = subject(&payment, provider.confirmation()) else { return Ok(()) };
        let reading = provider.cards.read(provider.provider, &payment.order, subject).await;
        let is_blind = cannot_be_asked(&reading);
        let mut update = PaymentUpdate::of(self, payment, None);
        let is_read = update.note_reading(reading, check);
        let now = update.now();
        let unsent = unsent_refunds(update.payment());
        let unsent = unsent.filter(|refund| !is_blind || is_key_kept(refund.updated_at, now));
        let unsent: Vec<Refund> = unsent.cloned().collect();
        let refunds = provider.cards.refunds().filter(|_| is_read && !unsent.is_empty());
        if refunds.is_some() {
            update.lease();
        } else if is_blind {
            update.await_word();
        }
        let (Some(mut payment), Some(refunds)) = (update.commit().await?, refunds) else { return Ok(()) };
        for refund in &unsent {
            let Ok(reference) = paid_as(&payment) else { break };
            failpoint!("refund.before_resend");
            let call = refunds.refund(provider.provider, &payment.order, reference, refund).await;
            failpoint!("refund.after_resend");
            let call = unless_elsewhere(call, check);
            payment = self.record_refund(payment.clone(), refund.id, &call, None, is_blind).await?;
        }
        Ok(())
    }
}

pub(super) fn is_missing(error: &CallError) -> bool {
    matches!(error, CallError::Rejected(rejection) if rejection.kind == RejectionKind::Missing)
}

/// An account that does not have the payment says nothing about what was asked, unless it is the one the payment was made at.
pub(super) fn unless_elsewhere<T>(call: Call<T>, check: &AccountCheck) -> Call<T> {
    match &call.outcome {
        Err(error) if is_missing(error) && !check.is_unchanged() => {
            Call { outcome: Err(CallError::Unsent(check.transient_error())), ..call }
        }
        _ => call,
    }
}

/// The provider's name for a payment that is paid.
fn paid_as(payment: &CardPayment) -> Result<&str, RefundError> {
    let Some(transaction) = &payment.transaction else {
        return Err(RefundError::NotRefundable(
            "The payment has not been paid, so there is nothing to refund.",
        ));
    };
    match transaction.state.status {
        Status::Succeeded | Status::Refunded => {}
        Status::Pending | Status::Processing => {
            return Err(RefundError::NotRefundable("The payment has not been paid yet; wait until it has."));
        }
        Status::Authorized => {
            return Err(RefundError::NotRefundable(
                "The payment is only authorized; void it to release the money, or capture it first.",
            ));
        }
        Status::Failed | Status::Canceled => {
            return Err(RefundError::NotRefundable(
                "The payment did not succeed: it has not been paid, so there is nothing to refund.",
            ));
        }
    }
    let reference = transaction.state.provider_reference.as_deref();
    reference.ok_or(RefundError::NotRefundable("The provider's reference of this payment is not known yet."))
}

/// How much of the fee goes back: as asked, or by the environment's own rule as far as the fee's kind allows that.
fn fee_refund_of(
    payment: &CardPayment,
    asked: Option<FeeRefund>,
    usual: FeeRefund,
) -> Result<FeeRefund, RefundError> {
    let kind = payment.progress.card_fee.as_ref().map(|card_fee| card_fee.kind());
    let allows = |fee_refund| kind.is_none_or(|kind| check_refund(kind, fee_refund).is_ok());
    match asked {
        Some(asked) if allows(asked) => Ok(asked),
        Some(_) => Err(RefundError::KeepsSurcharge),
        None if allows(usual) => Ok(usual),
        None => Ok(FeeRefund::Proportional),
    }
}

/// What goes back of a payment as it is.
fn share(
    view: &EnvironmentView,
    offered: Option<&dyn Refunds>,
    payment: &CardPayment,
    amount: Option<Minor>,
    fee_refund: Option<FeeRefund>,
) -> Result<Refundable, RefundError> {
    let (fee, refunds) = (&payment.amounts(), &payment.refunds);
    let given_back = payment.transaction.as_ref().map(|transaction| transaction.state.refunded);
    let left = Refundable::after(fee, refunds).less_unrecorded(fee, given_back.unwrap_or_default(), refunds);
    let fee_refund = fee_refund_of(payment, fee_refund, view.configuration.settings.fee_refund)?;
    let share = left.share(fee, amount, fee_refund).ok_or(RefundError::Exceeds { left })?;
    let currency = payment.order.currency;
    let step = offered.map_or(1, |offered| offered.amount_step(currency));
    let fits = left.check_step(fee, share, fee_refund, step);
    fits.map_err(|off| RefundError::OffStep { currency, off })?;
    Ok(share)
}

fn replay(payment: CardPayment, known: Refund, terms: &RefundTerms) -> Result<RefundCreated, RefundError> {
    let differing: Vec<&'static str> = [
        ("amountMinor", known.terms.amount != terms.amount),
        ("feeRefund", known.terms.fee_refund != terms.fee_refund),
        ("reason", known.terms.reason != terms.reason),
        ("description", known.terms.description != terms.description),
        ("metadata", canonical(&known.terms.metadata) != canonical(&terms.metadata)),
    ]
    .into_iter()
    .filter_map(|(field, differs)| differs.then_some(field))
    .collect();
    if !differing.is_empty() {
        return Err(RefundError::KeyReused(differing));
    }
    answer(payment, known, true)
}

/// A refund that the provider refused is answered as a refusal; one that failed after it was accepted is a refund that
/// failed.
fn answer(payment: CardPayment, refund: Refund, replayed: bool) -> Result<RefundCreated, RefundError> {
    match &refund.failure {
        Some(failure) if refund.status == RefundStatus::Failed && refund.provider_reference.is_none() => {
            Err(RefundError::Rejected { payment: payment.order.id, failure: failure.clone(), replayed })
        }
        _ => Ok(RefundCreated { payment, refund, replayed }),
    }
}

fn note_refund(update: &mut PaymentUpdate<'_>, id: RefundId, call: &Call<RefundReport>, is_blind: bool) {
    let known = update.payment().refunds.iter().find(|refund| refund.id == id).cloned();
    let Some(known) = known else { return };
    match &call.outcome {
        Ok(report) => {
            update.apply_refund_report(&known, report, "refund");
            update.schedule_next_check();
        }
        // Rejected credentials say nothing about the refund; it is sent again once they are corrected.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
            let reason =
                format!("the provider does not accept our credentials: {}", rejection.failure.message);
            update.send_again(&TransientError { reason, retry_after: None }, is_blind);
        }
        Err(CallError::Rejected(rejection))
            if known.provider_reference.is_none() && known.status.is_open() =>
        {
            let (status, failure) = (RefundStatus::Failed, Some(rejection.failure.clone()));
            update.refund(Refund { status, failure, updated_at: update.now(), ..known });
            update.schedule_next_check();
        }
        Err(CallError::Rejected(_)) => update.schedule_next_check(),
        Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
            update.send_again(transient, is_blind);
        }
    }
}
