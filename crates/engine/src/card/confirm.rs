//! Confirming an embedded payment: the provider is asked its outcome, or told to charge the card.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tollgate_domain::{
    Flow, Minor, ServiceReference, Timestamp,
    card::{Preparation, Trigger},
    card_fee::Place,
    id::{EnvironmentId, PaymentId},
    transaction::{Failure, Status, TransactionState},
};
use tollgate_vault::{SealError, Secret};

use super::{
    CardProvider, MAX_ROUNDS,
    at_provider::{open_attempt, sent_to},
    card_fee::Agreed,
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{
        BrowserResults, Call, CallError, CardPayment, Confirmation, Reading, RejectionKind, StoreError,
        Subject,
    },
    snapshot::EnvironmentView,
};

/// A payment that may be confirmed, and how.
#[derive(Debug)]
pub struct Confirmable {
    pub(super) payment: CardPayment,
    /// What its provider needs to hear.
    pub confirmation: Confirmation,
}

/// What the caller sends, in the form its provider needs.
#[derive(Debug)]
pub enum ConfirmBody {
    /// The browser has paid.
    Look {
        /// The intent it paid.
        payment_intent: String,
        /// What the browser thinks became of it; recorded, never trusted.
        client_status: Option<String>,
    },
    /// The browser has a token.
    Charge {
        /// The token.
        source: Secret,
        /// Proof that the buyer was verified.
        verification: Option<Secret>,
        /// Where the provider sends its receipt.
        buyer_email: Option<String>,
    },
    /// The browser has a token, whose card was looked at, and the payer has agreed to a total.
    Agreed {
        token: Secret,
        total: Minor,
        /// Where the payer is, if the caller says so now.
        payer: Option<Place>,
    },
    /// The browser has paid, and got what the provider is asked with.
    Result(Secret),
}

/// A confirmed payment.
#[derive(Debug)]
pub struct Confirmed {
    /// The payment, which has a transaction.
    pub payment: CardPayment,
    /// Whether this call only repeats an earlier one.
    pub replayed: bool,
}

/// Why nothing was confirmed.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmError {
    /// No such payment in this environment.
    #[error("payment not found")]
    Missing,
    /// It cannot be confirmed, and why.
    #[error("{0}")]
    NotConfirmable(&'static str),
    /// The intent is not the one that was prepared.
    #[error("the payment intent is not the one that was prepared")]
    OtherIntent,
    /// The provider is not configured anymore, or does not accept our credentials.
    #[error("the provider {provider} cannot be used: {}", missing.join(", "))]
    NotConfigured {
        provider: String,
        /// The paths of what is missing; empty where the provider refuses what is there.
        missing: Vec<String>,
    },
    /// The provider could not be reached, or did not answer. Nothing was charged by this call; whether the payer has paid in the
    /// browser is not known.
    #[error("the provider did not respond")]
    Unavailable {
        /// When to try again, if the provider said.
        retry_after: Option<Duration>,
    },
    /// The provider refused to say anything about the payment.
    #[error("the provider rejected it: {}", .0.message)]
    Rejected(Failure),
    /// The token cannot be used, and why.
    #[error("{0}")]
    Token(&'static str),
    /// What was agreed to is not what was decided for the card; the payment has the new decision, and nothing was charged.
    #[error("the fee has changed")]
    FeeChanged(Box<CardPayment>),
    /// The card's token could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The provider's response to a confirm.
struct ProviderCheck {
    /// The payment as it was before the provider was asked.
    seen: CardPayment,
    call: Call<Reading>,
    /// Whether no other call tells what became of the payment.
    is_blind: bool,
    client_status: Option<String>,
    asked_at: Timestamp,
    /// Whether it was read after its end.
    is_late: bool,
    request: String,
}

impl ProviderCheck {
    /// Whether no answer says what became of the attempt.
    fn is_unread(&self) -> bool {
        self.is_blind && !matches!(self.call.outcome, Ok(Reading::Report(_)) | Err(CallError::Rejected(_)))
    }

    /// When to ask again, if the provider said.
    fn retry_after(&self) -> Option<Duration> {
        match &self.call.outcome {
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => transient.retry_after,
            Ok(_) | Err(CallError::Rejected(_)) => None,
        }
    }
}

/// A provider's response once it is recorded.
struct RecordedCheck {
    /// `None` if the payment changed meanwhile.
    payment: Option<CardPayment>,
    replayed: bool,
    is_news: bool,
}

impl Engine {
    /// The payment, if it can be confirmed, and what its provider needs to hear.
    pub async fn confirmable(
        &self,
        view: &EnvironmentView,
        reference: ServiceReference,
    ) -> Result<Confirmable, ConfirmError> {
        let ServiceReference::Card(id) = reference else {
            return match self.store.transaction(view.environment.id, reference).await? {
                Some(_) => Err(ConfirmError::NotConfirmable(
                    "This is a bank transfer; it is sent when created and cannot be confirmed.",
                )),
                None => Err(ConfirmError::Missing),
            };
        };
        let payment = self.stored_payment(view.environment.id, id).await?;
        // Callers never learned the reference of a payment that was not prepared.
        if matches!(
            payment.progress.preparation,
            Preparation::Preparing | Preparation::Refused | Preparation::Withdrawn
        ) {
            return Err(if payment.order.route.was_switched() { SWITCHING } else { ConfirmError::Missing });
        }
        if payment.order.flow != Flow::PaymentComponent {
            return Err(ConfirmError::NotConfirmable(
                "This payment is a hosted checkout; the customer pays on the provider's page, and it cannot be confirmed.",
            ));
        }
        check_ended(&payment)?;
        let provider = self.provider_of_order(view, &payment.order);
        let provider = provider.map_err(|missing| not_configured(&payment, missing))?;
        let confirmation = provider.confirmation();
        check_open(&payment, self.clock.now(), confirmation)?;
        Ok(Confirmable { payment, confirmation })
    }

    /// Confirms a payment.
    pub async fn confirm(
        self: &Arc<Self>,
        view: &EnvironmentView,
        confirmable: Confirmable,
        body: ConfirmBody,
        request: &str,
    ) -> Result<Confirmed, ConfirmError> {
        let payment = confirmable.payment;
        let provider = self.provider_of_order(view, &payment.order);
        let provider = provider.map_err(|missing| not_configured(&payment, missing))?;
        let order = payment.order.clone();
        let confirmed = match body {
            ConfirmBody::Look { payment_intent, client_status } => {
                if payment.progress.object.as_deref() != Some(payment_intent.as_str()) {
                    return Err(ConfirmError::OtherIntent);
                }
                self.check_reachable(&provider, &payment)?;
                self.confirm_by_look(&provider, payment, client_status, None, request).await?
            }
            ConfirmBody::Result(result) => {
                self.check_reachable(&provider, &payment)?;
                let results = provider.results();
                let asked = results
                    .map(|results| (results, &result))
                    .ok_or_else(|| not_configured(&payment, vec![format!("providers.{}", order.provider)]))?;
                self.confirm_by_look(&provider, payment, None, Some(asked), request).await?
            }
            ConfirmBody::Charge { source, verification, buyer_email } => {
                let charge =
                    crate::ports::Charge { number: 0, source, verification, buyer_email, terms: None };
                Box::pin(self.confirm_by_charge(&provider, &order, payment, charge, None, request)).await?
            }
            ConfirmBody::Agreed { token, total, payer } => {
                let agreed = Agreed { token, total, payer };
                Box::pin(self.confirm_agreed(view, &provider, payment, agreed, request)).await?
            }
        };
        if confirmed.payment.transaction.is_none() {
            check_open(&confirmed.payment, self.clock.now(), provider.confirmation())?;
        }
        Ok(confirmed)
    }

    fn check_reachable(
        &self,
        provider: &CardProvider<'_>,
        payment: &CardPayment,
    ) -> Result<(), ConfirmError> {
        let check = self.check_account(payment.order.environment, sent_to(payment), provider.provider);
        let missing = || vec![format!("providers.{}.baseUrl", payment.order.provider)];
        if check.is_unreachable() { Err(not_configured(payment, missing())) } else { Ok(()) }
    }

    async fn confirm_by_look(
        self: &Arc<Self>,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        client_status: Option<String>,
        result: Option<(&dyn BrowserResults, &Secret)>,
        request: &str,
    ) -> Result<Confirmed, ConfirmError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let asked_at = self.clock.now();
        let name = payment.order.provider.clone();
        let (mut seen, mut retry_after) = (payment, None);
        for _ in 0..MAX_ROUNDS {
            check_unmoved(&seen, &name)?;
            if seen.progress.confirmed && is_paid(&seen) {
                return Ok(Confirmed { payment: seen, replayed: true });
            }
            let object = seen.progress.object.clone().unwrap_or_default();
            let call = match result {
                Some((results, result)) => {
                    results.read_result(provider.provider, &seen.order, &object, result).await
                }
                None => provider.cards.read(provider.provider, &seen.order, Subject::Object(&object)).await,
            };
            // Too late to be paid, but it may have been paid in time.
            let is_late = call.outcome.is_ok() && self.clock.now() >= seen.order.expires_at;
            let check = Arc::new(ProviderCheck {
                is_late,
                seen: seen.clone(),
                call,
                is_blind: result.is_some(),
                client_status: client_status.clone(),
                asked_at,
                request: request.to_owned(),
            });
            let shared = Arc::clone(&check);
            let write = move |engine: Arc<Self>| {
                let check = Arc::clone(&shared);
                async move { engine.record_check(&check).await }
            };
            let recorded = self.record(id.to_string(), write).await;
            if let Err(CallError::Rejected(rejection)) = &check.call.outcome
                && recorded.as_ref().is_none_or(|recorded| recorded.payment.is_some())
            {
                // What other credentials do not see says nothing about the payment.
                let is_unseen = rejection.kind == RejectionKind::Missing
                    && !self.check_account(environment, sent_to(&seen), provider.provider).is_unchanged();
                return Err(match rejection.kind {
                    RejectionKind::Credentials => not_configured(&seen, Vec::new()),
                    _ if is_unseen => not_configured(&seen, Vec::new()),
                    _ => ConfirmError::Rejected(rejection.failure.clone()),
                });
            }
            retry_after = check.retry_after();
            // The store fails, and the provider was asked: the answer is about the payment.
            let Some(RecordedCheck { payment, replayed, is_news }) = recorded else { break };
            if let Some(payment) = payment {
                if check.is_unread() && has_failed(&payment) {
                    return Err(ConfirmError::Unavailable { retry_after });
                }
                if is_late && !is_under_way(&payment) {
                    return Err(EXPIRED);
                }
                return Ok(Confirmed { payment, replayed });
            }
            let Ok(again) = self.stored_payment(environment, id).await else { break };
            seen = again;
            // All there was to write down is that nothing was new: many who ask at once do not wait for that.
            if !is_news && seen.transaction.is_some() {
                return Ok(Confirmed { payment: seen, replayed: true });
            }
        }
        // What failed may be an earlier attempt than the one that was asked about.
        if result.is_some() && has_failed(&seen) {
            return Err(ConfirmError::Unavailable { retry_after });
        }
        let mut update = PaymentUpdate::of(self, seen, None);
        if update.payment().transaction.is_none() {
            update.transaction(TransactionState::pending());
        }
        Ok(Confirmed { payment: update.payment().clone(), replayed: false })
    }

    /// Records the provider's response, unless the payment changed meanwhile.
    async fn record_check(&self, check: &ProviderCheck) -> Result<RecordedCheck, StoreError> {
        let mut update = PaymentUpdate::of(self, check.seen.clone(), Some(&check.request));
        update.line_at(check.asked_at, "confirm", json!({ "clientStatus": check.client_status }));
        update.record_calls(&check.call.logs);
        let is_first = !std::mem::replace(&mut update.progress().confirmed, true);
        let mut is_refused = false;
        match &check.call.outcome {
            Ok(Reading::CannotBeAsked(_)) => {
                if update.payment().transaction.is_none() {
                    update.transaction(TransactionState::pending());
                }
                update.await_unread();
            }
            Ok(Reading::Report(report)) if check.is_late => {
                update.apply_report(report, Trigger::Other, "confirm");
                update.schedule_next_check();
            }
            Ok(Reading::Report(report)) => {
                update.apply_report(report, Trigger::Confirm, "confirm");
                if update.has_discrepancies() && update.payment().transaction.is_none() {
                    // The caller gets a transaction to refer to; a person decides what it is.
                    update.transaction(TransactionState::pending());
                }
                update.schedule_next_check();
            }
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                if update.payment().transaction.is_none() {
                    update.transaction(TransactionState::pending());
                }
                if check.is_blind && has_failed(update.payment()) {
                    update.await_unread();
                } else {
                    update.try_again(transient);
                }
            }
            Err(CallError::Rejected(_)) => {
                update.progress().confirmed = !is_first;
                is_refused = true;
            }
        }
        if check.is_blind && matches!(check.call.outcome, Ok(Reading::Report(_))) {
            update.await_webhook();
        }
        let replayed = !is_first && !update.moves();
        let is_news = !replayed || update.has_discrepancies() || is_refused || check.is_unread();
        Ok(RecordedCheck { payment: update.commit().await?, replayed, is_news })
    }

    pub(super) async fn stored_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<CardPayment, ConfirmError> {
        self.store.payment(environment, id).await?.ok_or(ConfirmError::Missing)
    }
}

pub(super) fn too_busy() -> ConfirmError {
    StoreError::Unavailable("too many concurrent changes to this payment".to_owned()).into()
}

pub(super) fn not_configured(payment: &CardPayment, missing: Vec<String>) -> ConfirmError {
    ConfirmError::NotConfigured { provider: payment.order.provider.clone(), missing }
}

fn has_failed(payment: &CardPayment) -> bool {
    payment.transaction.as_ref().is_some_and(|transaction| transaction.state.status == Status::Failed)
}

/// Whether the money has moved.
pub(super) fn is_paid(payment: &CardPayment) -> bool {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    matches!(status, Some(Status::Succeeded | Status::Refunded))
}

/// Whether the money has moved, is held, or is about to move.
pub(super) fn is_under_way(payment: &CardPayment) -> bool {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    matches!(status, Some(Status::Processing | Status::Authorized | Status::Succeeded | Status::Refunded))
        || open_attempt(payment).is_some()
}

pub(super) const EXPIRED: ConfirmError =
    ConfirmError::NotConfirmable("This payment was not paid in time and has expired; prepare a new one.");

/// What is switched meanwhile is not confirmed at the provider it leaves.
pub(super) fn check_unmoved(payment: &CardPayment, provider: &str) -> Result<(), ConfirmError> {
    let is_leaving = payment.progress.preparation == Preparation::Preparing;
    if is_leaving || payment.order.provider != provider { Err(SWITCHING) } else { Ok(()) }
}

const SWITCHING: ConfirmError = ConfirmError::NotConfirmable(
    "This payment is being switched to another provider; repeat the switch and confirm the component it answers with.",
);

/// What has expired or was canceled is not confirmed anymore, unless it was paid after all.
fn check_ended(payment: &CardPayment) -> Result<(), ConfirmError> {
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    if status == Some(Status::Canceled) {
        return Err(ConfirmError::NotConfirmable("This payment was canceled; prepare a new one."));
    }
    if payment.progress.preparation == Preparation::Expired && !is_under_way(payment) {
        return Err(EXPIRED);
    }
    Ok(())
}

/// The clock decides, whether or not anything has been closed yet. What a browser may have paid in time is asked of the
/// provider first.
pub(super) fn check_open(
    payment: &CardPayment,
    now: Timestamp,
    confirmation: Confirmation,
) -> Result<(), ConfirmError> {
    check_ended(payment)?;
    let is_late = confirmation == Confirmation::Charge && now >= payment.order.expires_at;
    if is_late && !is_under_way(payment) { Err(EXPIRED) } else { Ok(()) }
}
