//! Capturing or voiding money that is held: recorded first, then asked of the provider, once per idempotency key. While the
//! outcome of one is not known no other begins, so that a capture and a void never meet at the provider.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep};
use tollgate_domain::{
    Minor, Principal, ServiceReference,
    card::{CardOrder, Preparation},
    hold::{HoldAction, HoldActionKind, HoldActionStatus},
    id::{EnvironmentId, HoldActionId, PaymentId},
    transaction::{Failure, Status},
};

use super::{
    CardProvider,
    at_provider::{open_hold_action, sent_to},
    refund::unless_elsewhere,
    update::PaymentUpdate,
};
use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    failpoint::failpoint,
    ports::{Call, CardPayment, OrderFault, Reading, StoreError},
    rate_limiter::RateLimitExceeded,
    snapshot::EnvironmentView,
};

/// More than anybody needs for one payment, and few enough to be read with it.
const MAX_ACTIONS: usize = 10;
/// How long a request waits for another one about the same payment, and how often it looks.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);
const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct HoldRequest {
    pub kind: HoldActionKind,
    /// The caller's name for this business action.
    pub idempotency_key: String,
    /// The principal to capture; `None` for all of it.
    pub amount: Option<Principal>,
    /// Who, where it was an operator.
    pub operator: Option<Origin>,
}

impl HoldRequest {
    /// What the audit log says of an operator's capture or void.
    fn audited(&self, environment: EnvironmentId, reference: ServiceReference) -> Audited {
        let action = match self.kind {
            HoldActionKind::Capture => "payment.capture",
            HoldActionKind::Void => "payment.void",
        };
        let amount = self.amount.map(|amount| Minor::from(amount).to_string());
        Audited::new(action, reference)
            .in_environment(environment)
            .after(json!({ "idempotencyKey": self.idempotency_key, "amountMinor": amount }))
    }
}

/// A payment that was captured or voided, or is about to be: its transaction says which.
#[derive(Debug)]
pub struct HoldChanged {
    pub payment: CardPayment,
    /// Whether this call only repeats an earlier one.
    pub replayed: bool,
}

/// Why nothing was captured or voided.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// No such transaction in this environment.
    #[error("transaction not found")]
    Missing,
    /// The payment's state does not allow it.
    #[error("{why}")]
    NotAllowed { kind: HoldActionKind, why: String, replayed: bool },
    /// More was asked for than was authorized.
    #[error("only {authorized} is authorized")]
    Exceeds { authorized: Principal },
    /// The provider would not take the amount, and was not asked.
    #[error("{}: {}", .0.field, .0.message)]
    Unacceptable(OrderFault),
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
    /// The provider refused; the money is still held.
    #[error("the provider rejected the {}: {}", kind.as_str(), failure.message)]
    Rejected { kind: HoldActionKind, payment: PaymentId, failure: Failure, replayed: bool },
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Captures or voids a payment, or answers what became of the request this key was used for.
    pub async fn change_hold(
        self: &Arc<Self>,
        view: &EnvironmentView,
        reference: ServiceReference,
        request: HoldRequest,
        request_id: &str,
    ) -> Result<HoldChanged, HoldError> {
        let kind = request.kind;
        let not_allowed = |why: &str| HoldError::NotAllowed { kind, why: why.to_owned(), replayed: false };
        let ServiceReference::Card(payment_id) = reference else {
            return Err(not_allowed("Bank transfers are sent at once; there is nothing to capture or void."));
        };
        let environment = view.environment.id;
        let id = self.hold_action_id(environment, kind, &request.idempotency_key);
        let deadline = Instant::now() + QUEUE_TIMEOUT;
        loop {
            let payment = self.store.payment(environment, payment_id).await?.ok_or(HoldError::Missing)?;
            if let Some(known) = payment.hold_actions.iter().find(|action| action.id == id).cloned() {
                let replayed = replay(payment, &known, &request);
                if matches!(replayed, Err(HoldError::KeyReused(_))) {
                    self.count_key_conflict(environment, &id.to_bytes())?;
                }
                return replayed;
            }
            self.check_hold_key_is_free(environment, id, payment_id).await?;
            if open_hold_action(&payment).is_some() {
                if Instant::now() >= deadline {
                    return Err(not_allowed(
                        "Another capture or void of this payment is in progress; read the transaction to see its \
                         outcome, then try again.",
                    ));
                }
                sleep(CHECK_INTERVAL).await;
                continue;
            }
            let provider_reference = self.held_as(&payment, kind)?.to_owned();
            let provider = self.provider_of_order(view, &payment.order).map_err(|missing| {
                HoldError::NotConfigured { provider: payment.order.provider.clone(), missing }
            })?;
            let captures = provider.cards.captures(payment.order.flow).ok_or_else(|| {
                not_allowed(
                    "This provider neither captures nor voids by API; do it in the provider's dashboard.",
                )
            })?;
            let check = self.check_account(environment, sent_to(&payment), provider.provider);
            if check.is_unreachable() {
                return Err(HoldError::OtherAccount(check.transient_error().reason));
            }
            let action = self.planned_action(&payment, id, &request, request_id)?;
            let order = payment.charged_order();
            self.check_amount(view, &provider, &order, &action).await?;
            let mut update = PaymentUpdate::of(self, payment, Some(request_id));
            if let Some(origin) = &request.operator {
                update.line("hold_requested", json!({ "actor": origin.actor, "action": kind.as_str() }));
                update.audit(origin, request.audited(environment, reference));
            }
            update.hold_action(&action);
            update.lease();
            match update.commit().await {
                Ok(Some(begun)) => {
                    failpoint!("hold.before_send");
                    let call =
                        captures.act_on_hold(provider.provider, &order, &provider_reference, &action).await;
                    failpoint!("hold.after_send");
                    let call = unless_elsewhere(call, &check);
                    return Box::pin(self.answer_hold(begun, &action, call, request_id)).await;
                }
                // Somebody else changed the payment: whether it can be done is decided afresh.
                Ok(None) if Instant::now() < deadline => sleep(CHECK_INTERVAL).await,
                Ok(None) => {
                    let reason = "too many concurrent changes to this payment".to_owned();
                    return Err(StoreError::Unavailable(reason).into());
                }
                Err(error @ StoreError::Broken(_)) => {
                    // The same key may have been used for another payment in this very moment.
                    self.check_hold_key_is_free(environment, id, payment_id).await?;
                    return Err(error.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What a capture or void would do to a payment, without doing it.
    pub async fn preview_hold(
        &self,
        view: &EnvironmentView,
        reference: ServiceReference,
        kind: HoldActionKind,
        amount: Option<Principal>,
    ) -> Result<(CardPayment, HoldAction), HoldError> {
        let ServiceReference::Card(id) = reference else { return Err(HoldError::Missing) };
        let payment = self.store.payment(view.environment.id, id).await?.ok_or(HoldError::Missing)?;
        self.held_as(&payment, kind)?;
        let request = HoldRequest { kind, idempotency_key: String::new(), amount, operator: None };
        let action = self.planned_action(&payment, HoldActionId::from_bytes([0; 16]), &request, "")?;
        Ok((payment, action))
    }

    /// The same for the same environment, action and key, on every node and after every restart.
    fn hold_action_id(&self, environment: EnvironmentId, kind: HoldActionKind, key: &str) -> HoldActionId {
        let parts: [&[u8]; 3] = [kind.as_str().as_bytes(), &environment.to_bytes(), key.as_bytes()];
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(self.reference_digester.digest(&parts)) {
            *to = from;
        }
        HoldActionId::from_bytes(bytes)
    }

    /// A key belongs to one request, whichever payment that was about.
    async fn check_hold_key_is_free(
        &self,
        environment: EnvironmentId,
        id: HoldActionId,
        payment: PaymentId,
    ) -> Result<(), HoldError> {
        match self.store.payment_of_hold_action(environment, id).await? {
            Some(other) if other != payment => {
                self.count_key_conflict(environment, &id.to_bytes())?;
                Err(HoldError::KeyReused(vec!["serviceReference"]))
            }
            _ => Ok(()),
        }
    }

    /// The provider's name for a payment whose money is held.
    fn held_as<'p>(&self, payment: &'p CardPayment, kind: HoldActionKind) -> Result<&'p str, HoldError> {
        let not_allowed =
            |why: &str| Err(HoldError::NotAllowed { kind, why: why.to_owned(), replayed: false });
        let Some(transaction) = &payment.transaction else {
            return not_allowed(match payment.progress.preparation {
                Preparation::Preparing | Preparation::Prepared => {
                    "The payment has not been paid yet; nothing is authorized."
                }
                Preparation::Refused | Preparation::Withdrawn | Preparation::Expired => {
                    "The payment has not been paid and cannot be anymore; prepare a new one."
                }
            });
        };
        let state = &transaction.state;
        match (state.status, kind) {
            (Status::Authorized, _) => {}
            (Status::Pending | Status::Processing, _) => {
                return not_allowed("The payment has not been paid yet; wait until it is authorized.");
            }
            (Status::Succeeded | Status::Refunded, HoldActionKind::Capture) => {
                return not_allowed("The payment has been captured already.");
            }
            (Status::Succeeded | Status::Refunded, HoldActionKind::Void) => {
                return not_allowed("The payment has been captured; refund it instead.");
            }
            (Status::Failed, _) => {
                return not_allowed("The payment failed and has not been paid; nothing is authorized.");
            }
            (Status::Canceled, _) => {
                let why = state.failure.as_ref().map(|failure| failure.message.as_str());
                return not_allowed(why.unwrap_or("The payment was canceled; prepare a new one."));
            }
        }
        let end = state.hold.and_then(|hold| hold.capture_before);
        if kind == HoldActionKind::Capture && end.is_some_and(|end| self.clock.now() >= end) {
            return not_allowed("The authorization has expired; prepare a new payment.");
        }
        if payment.hold_actions.len() >= MAX_ACTIONS {
            return not_allowed(
                "Too many captures and voids of this payment were rejected; capture or void it at the provider.",
            );
        }
        let name = state.provider_reference.as_deref();
        name.map_or_else(|| not_allowed("The provider's reference of this payment is not known yet."), Ok)
    }

    /// The action that the request makes of the payment as it is.
    fn planned_action(
        &self,
        payment: &CardPayment,
        id: HoldActionId,
        request: &HoldRequest,
        request_id: &str,
    ) -> Result<HoldAction, HoldError> {
        let authorized = payment.order.fee.principal;
        if request.amount.is_some_and(|amount| amount > authorized) {
            return Err(HoldError::Exceeds { authorized });
        }
        let now = self.clock.now();
        Ok(HoldAction {
            id,
            kind: request.kind,
            asked: request.amount,
            status: HoldActionStatus::Pending,
            failure: None,
            request: request_id.to_owned(),
            created_at: now,
            updated_at: now,
        })
    }

    /// Whether the provider takes the amount, as far as that is certain without asking it.
    async fn check_amount(
        &self,
        view: &EnvironmentView,
        provider: &CardProvider<'_>,
        order: &CardOrder,
        action: &HoldAction,
    ) -> Result<(), HoldError> {
        if action.asked.is_none() {
            return Ok(());
        }
        let as_prepared = self.provider_as_prepared(view, provider.provider, order).await?;
        let captured = CardOrder { fee: action.amounts(&order.fee), ..order.clone() };
        let call = provider.cards.check_order(&as_prepared, &captured).await;
        call.outcome.map_err(HoldError::Unacceptable)
    }

    /// The payment as it stands after the provider was asked. A store that fails now leaves the outcome in doubt, and what
    /// became of it is written down later.
    async fn answer_hold(
        self: &Arc<Self>,
        begun: CardPayment,
        action: &HoldAction,
        call: Call<Reading>,
        request_id: &str,
    ) -> Result<HoldChanged, HoldError> {
        let id = action.id;
        let known = (begun.clone(), Arc::new(call), request_id.to_owned());
        let write = move |engine: Arc<Self>| {
            let (begun, call, request) = known.clone();
            async move { engine.record_hold_action(begun, id, &call, Some(&request), false).await }
        };
        let payment = self.record(id.to_string(), write).await.unwrap_or(begun);
        let action = payment.hold_actions.iter().find(|known| known.id == id).cloned();
        match action {
            Some(action) => answer(payment, &action, false),
            None => Ok(HoldChanged { payment, replayed: false }),
        }
    }
}

fn replay(payment: CardPayment, known: &HoldAction, request: &HoldRequest) -> Result<HoldChanged, HoldError> {
    if known.asked != request.amount {
        return Err(HoldError::KeyReused(vec!["amountMinor"]));
    }
    answer(payment, known, true)
}

/// One that the provider refused is answered as a refusal; one that came too late, as any that comes too late.
fn answer(payment: CardPayment, action: &HoldAction, replayed: bool) -> Result<HoldChanged, HoldError> {
    let kind = action.kind;
    match &action.failure {
        None => Ok(HoldChanged { payment, replayed }),
        Some(failure) if failure.code == kind.not_allowed() => {
            Err(HoldError::NotAllowed { kind, why: failure.message.clone(), replayed })
        }
        Some(failure) => {
            Err(HoldError::Rejected { kind, payment: payment.order.id, failure: failure.clone(), replayed })
        }
    }
}
