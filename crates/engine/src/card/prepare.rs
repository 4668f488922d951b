//! Preparing a payment: routed, priced and recorded before the provider is asked for anything.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, timeout};
use tollgate_domain::{
    Flow, PaymentMethod, ServiceReference,
    card::{CardOrder, Preparation},
    card_fee::{FeeDecision, Instrument, PaymentFee},
    event::EventKind,
    hold::CaptureMode,
    id::{EnvironmentId, PaymentId},
    limit::LimitUse,
    routing::Unroutable,
    tenant::KeyKind,
    transaction::Failure,
};
use tollgate_trace::span;
use tollgate_vault::RandomnessUnavailable;

use super::{
    CardProvider, MAX_ROUNDS,
    fallback::{Fallback, Ready},
    receipt::receipt_path,
    update::PaymentUpdate,
};
use crate::{
    activity,
    backoff::exponential_backoff,
    canonical_json::canonical,
    circuits::CircuitOpen,
    engine::Engine,
    failpoint::failpoint,
    limits::{ExceededLimit, LimitedPayment, exceeded},
    ports::{
        Call, CallError, CardPayment, Component, Embedded, Inserted, OrderFault, Prepared, Progress,
        Rejection, RejectionKind, StoreError, TransientError,
    },
    quote::{QuoteRequest, quote_payment},
    rate_limiter::RateLimitExceeded,
    record::RECORD_TIMEOUT,
    route::{FallbackRules, beginning, proven_nothing},
    snapshot::EnvironmentView,
    timeline,
};

/// How long a caller is told to wait before trying again, where the provider said nothing about it.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(2);

/// How long a call waits for another with the same key, and how soon it looks first; then less and less often.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(15);
const FIRST_CHECK: Duration = Duration::from_millis(40);
const MAX_CHECK: Duration = Duration::from_secs(2);

/// Where a hosted page sends a customer who gives up, unless the caller names another page.
const CANCELED_PATH: &str = "/checkout/canceled";

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct PrepareRequest {
    /// Amount, currency, flow and metadata, as routing sees them.
    pub quote: QuoteRequest,
    /// Hosted page or embedded component.
    pub flow: Flow,
    /// The caller's description.
    pub description: Option<String>,
    /// The customer's name.
    pub customer_name: Option<String>,
    /// The customer's address.
    pub customer_email: Option<String>,
    /// The metadata as JSON text.
    pub metadata: String,
    pub capture: CaptureMode,
    /// Where a hosted page sends the customer after paying.
    pub success_url: Option<String>,
    /// Where a hosted page sends a customer who gives up.
    pub cancel_url: Option<String>,
    /// The caller's name for this business action.
    pub idempotency_key: Option<String>,
    /// What the caller is: a page must not claim a name of the backend's, nor be given the payment it stands for.
    pub caller: KeyKind,
}

/// A payment the customer can pay.
#[derive(Debug)]
pub struct PreparedPayment {
    /// Whether this call only repeats an earlier one.
    pub replayed: bool,
    /// What was recorded.
    pub payment: CardPayment,
    /// What the browser needs, for embedded flows; not once it has expired.
    pub component: Option<Component>,
    /// Why the card fee is what it is; `None` where it has no kind.
    pub decision: Option<Box<FeeDecision>>,
}

/// Why nothing was prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// There is no route.
    #[error(transparent)]
    Unroutable(#[from] Unroutable),
    /// The provider picked is not configured completely, or does not accept our credentials.
    #[error("the provider {provider} cannot be used: {}", missing.join(", "))]
    NotConfigured {
        provider: String,
        /// The paths of what is missing; empty where the provider refuses what is there.
        missing: Vec<String>,
    },
    /// The provider picked would not take it, and was not asked.
    #[error("{}: {}", .0.field, .0.message)]
    Unacceptable(OrderFault),
    /// The provider's own validation refused it.
    #[error("the provider rejected it: {}", .0.message)]
    Rejected(Failure),
    /// The provider could not be reached, or did not say its outcome. Nothing can be paid.
    #[error("the provider did not respond")]
    Unavailable {
        /// When to try again.
        retry_after: Duration,
    },
    /// The provider picked has failed lately and gets no new work now. Nothing was recorded.
    #[error("{}", .0.reason)]
    CircuitOpen(CircuitOpen),
    /// The provider made what was asked for, and that could not be recorded. Nobody can pay it; the resolver takes it back.
    #[error("the provider's response could not be recorded")]
    Unrecorded,
    /// Why, and the payment that is recorded all the same.
    #[error("{error}; {reference} is recorded")]
    Recorded {
        reference: PaymentId,
        /// Why nothing can be paid.
        #[source]
        error: Box<PrepareError>,
    },
    /// The key was used for another request; these fields differ.
    #[error("the idempotency key was used for a different request")]
    KeyReused(Vec<&'static str>),
    /// The key was used for too many other requests.
    #[error("too many different requests used the idempotency key")]
    TooManyConflicts(#[from] RateLimitExceeded),
    /// A limit of the environment does not allow it.
    #[error(transparent)]
    LimitExceeded(#[from] ExceededLimit),
    /// The first request with this key ended like this.
    #[error(transparent)]
    Replayed(Box<PrepareError>),
    /// Another request with the key is still preparing the payment.
    #[error("a request with the same key is still under way")]
    UnderWay,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

impl Engine {
    /// Prepares a card payment. What is recorded before the provider is asked is brought to its end by the resolver,
    /// whatever happens to this call.
    ///
    /// The total is fixed here, so a fee that depends on the card is not in it: whatever card the caller names, another may pay.
    pub async fn prepare(
        &self,
        view: &EnvironmentView,
        mut request: PrepareRequest,
        request_id: &str,
    ) -> Result<PreparedPayment, PrepareError> {
        request.quote.card_fee.instrument = Instrument::Unknown;
        let facts = request.quote.card_fee;
        let mut prepared = self.prepare_once(view, request, request_id).await?;
        let decision = view.card_fee_decision(&prepared.payment.order, facts, self.clock());
        prepared.decision = decision.map(Box::new);
        Ok(prepared)
    }

    async fn prepare_once(
        &self,
        view: &EnvironmentView,
        request: PrepareRequest,
        request_id: &str,
    ) -> Result<PreparedPayment, PrepareError> {
        let key = request.idempotency_key.as_deref();
        let key = key.map(|key| self.preparation_key(view.environment.id, &request, key));
        let Some(key) = key else {
            return Box::pin(self.prepare_new(view, request, None, request_id)).await;
        };
        let deadline = Instant::now() + QUEUE_TIMEOUT;
        let mut checks = 0;
        loop {
            let mut reference = None;
            if let Some(owner) = self.payment_with_key(view.environment.id, &key).await? {
                let same = self.check_same(&owner.order, &request);
                if same.is_err() {
                    self.count_key_conflict(view.environment.id, &key)?;
                }
                same?;
                reference = Some(owner.order.id);
                match owner.progress.preparation {
                    Preparation::Prepared | Preparation::Expired => {
                        return self.prepared_again(view, owner).await;
                    }
                    Preparation::Refused => return Err(self.refused_again(owner).await?),
                    // Once it is withdrawn, its key is free.
                    Preparation::Preparing | Preparation::Withdrawn => {}
                }
            } else {
                match Box::pin(self.prepare_new(view, request.clone(), Some(key), request_id)).await {
                    Err(PrepareError::UnderWay) => {}
                    other => return other,
                }
            }
            if Instant::now() >= deadline {
                return Err(match reference {
                    Some(reference) => {
                        PrepareError::Recorded { reference, error: Box::new(PrepareError::UnderWay) }
                    }
                    None => PrepareError::UnderWay,
                });
            }
            sleep(exponential_backoff(FIRST_CHECK, 2, checks, MAX_CHECK)).await;
            checks = checks.saturating_add(1);
        }
    }

    /// The payment that has this key, if there is one.
    async fn payment_with_key(
        &self,
        environment: EnvironmentId,
        key: &[u8; 32],
    ) -> Result<Option<CardPayment>, StoreError> {
        match self.store.payment_of_key(environment, key).await? {
            Some(id) => self.store.payment(environment, id).await,
            None => Ok(None),
        }
    }

    async fn prepare_new(
        &self,
        view: &EnvironmentView,
        request: PrepareRequest,
        key: Option<[u8; 32]>,
        request_id: &str,
    ) -> Result<PreparedPayment, PrepareError> {
        let quote_request = request.quote.clone();
        let (order, rules) = self.order(view, request, request_id)?;
        let fallback = Fallback { view, request: quote_request, rules, is_mover: true };
        let ready = self.at_first_ready(&fallback, CardOrder { key, ..order }).await?;
        let customer = ready.order.customer_email.as_deref().map(str::to_lowercase);
        let limits = self.limit_uses(
            view,
            LimitedPayment {
                method: PaymentMethod::WebCard,
                currency: ready.order.currency,
                customer: customer.as_deref(),
                account: None,
            },
        );
        let card_fee = fallback.card_fee(&ready.order, self.clock());
        if ready.provider.preparing(ready.order.flow).is_some() {
            self.prepare_at_provider(&fallback, ready, card_fee, &limits).await
        } else {
            self.prepare_here(&ready.provider, ready.order, card_fee, &limits).await
        }
    }

    /// The same for the same environment, flow, kind of caller and key, on every node.
    fn preparation_key(&self, environment: EnvironmentId, request: &PrepareRequest, key: &str) -> [u8; 32] {
        let what: &[u8] = match request.caller {
            KeyKind::Secret => b"preparation",
            KeyKind::Publishable => b"preparation by a page",
        };
        let flow = request.flow.as_str().as_bytes();
        let parts: [&[u8]; 4] = [what, &environment.to_bytes(), flow, key.as_bytes()];
        self.reference_digester.digest(&parts)
    }

    /// The fields in which a request differs from the one its key was used for.
    fn check_same(&self, order: &CardOrder, request: &PrepareRequest) -> Result<(), PrepareError> {
        // What the caller left out is one of our pages, whichever address the node that filled it in has.
        let receipt =
            receipt_path(order.environment, order.id, &self.receipt_token(order.environment, order.id));
        let is_other = |stored: &Option<String>, asked: &Option<String>, own: &str| match asked {
            Some(_) => stored != asked,
            None => stored.as_ref().is_some_and(|stored| !stored.ends_with(own)),
        };
        let differing: Vec<&'static str> = [
            ("amountMinor", order.fee.principal != request.quote.principal),
            ("currency", order.currency != request.quote.currency),
            ("description", order.description != request.description),
            ("customer.name", order.customer_name != request.customer_name),
            ("customer.email", order.customer_email != request.customer_email),
            ("metadata", canonical(&order.metadata) != canonical(&request.metadata)),
            ("capture", order.capture != request.capture),
            ("payer", order.route.payer != request.quote.card_fee.payer),
            ("recurring", order.route.recurring != request.quote.card_fee.recurring),
            ("successUrl", is_other(&order.success_url, &request.success_url, &receipt)),
            ("cancelUrl", is_other(&order.cancel_url, &request.cancel_url, CANCELED_PATH)),
        ]
        .into_iter()
        .filter_map(|(field, differs)| differs.then_some(field))
        .collect();
        if differing.is_empty() { Ok(()) } else { Err(PrepareError::KeyReused(differing)) }
    }

    /// The answer to a key that has prepared a payment. What lets a browser pay is kept nowhere, so that it is asked for again.
    pub(super) async fn prepared_again(
        &self,
        view: &EnvironmentView,
        payment: CardPayment,
    ) -> Result<PreparedPayment, PrepareError> {
        let is_open = payment.progress.preparation == Preparation::Prepared;
        if payment.order.flow == Flow::HostedCheckout || !is_open {
            return Ok(PreparedPayment { replayed: true, payment, component: None, decision: None });
        }
        let order = &payment.order;
        let found = self.provider_of_order(view, order);
        let provider = found
            .map_err(|missing| PrepareError::NotConfigured { provider: order.provider.clone(), missing })?;
        let reopened = match (payment.progress.object.as_deref(), provider.cards.embedded()) {
            (Some(object), Some(Embedded::InBrowser(cards))) => {
                let check = self.check_account(order.environment, order.account.as_ref(), provider.provider);
                if check.is_unreachable() {
                    return Err(unusable(order));
                }
                let call = cards.reopen(provider.provider, order, object).await;
                self.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), &call.logs);
                Some(call.outcome.map_err(|error| match error {
                    CallError::Rejected(_) => unusable(order),
                    CallError::Unsent(transient) | CallError::Unknown(transient) => unavailable(&transient),
                })?)
            }
            _ => None,
        };
        let component = provider.component(order, reopened.as_ref());
        let component = Some(component.ok_or_else(|| unusable(order))?);
        Ok(PreparedPayment { replayed: true, payment, component, decision: None })
    }

    /// Why the provider refused the payment a key was used for.
    async fn refused_again(&self, payment: CardPayment) -> Result<PrepareError, StoreError> {
        let reference = ServiceReference::Card(payment.order.id);
        let lines = self.store.timeline(payment.order.environment, reference).await?;
        let refusal = timeline::latest_failure(&lines, "preparation");
        let unknown = || Failure {
            code: "provider_refused".to_owned(),
            message: "The provider rejected the request.".to_owned(),
        };
        let error = PrepareError::Rejected(refusal.unwrap_or_else(unknown));
        Ok(PrepareError::Replayed(Box::new(error)))
    }

    /// Routes, prices and fills in what the caller left out.
    fn order(
        &self,
        view: &EnvironmentView,
        request: PrepareRequest,
        request_id: &str,
    ) -> Result<(CardOrder, FallbackRules), PrepareError> {
        let created_at = self.clock.now();
        let (environment, id) = (view.environment.id, self.new_id(PaymentId::new)?);
        let quoted = span!("quote")
            .in_scope(|| quote_payment(&view.configuration, &*self.clock, &request.quote, &id.to_bytes()))?;
        let route = quoted.route;
        let is_hosted = request.flow == Flow::HostedCheckout;
        let receipt = Some(self.receipt_url(environment, id));
        let canceled = is_hosted.then(|| format!("{}{CANCELED_PATH}", self.options.public_url));
        let rules = FallbackRules::of(view, &quoted);
        let order = CardOrder {
            environment,
            id,
            flow: request.flow,
            provider: route.target.provider.to_string(),
            adapter: String::new(),
            account: None,
            channel: route.target.channel,
            matched: route.matched.cloned(),
            route: beginning(&quoted, request.quote.card_fee),
            config_version: view.config_version,
            currency: request.quote.currency,
            fee: quoted.fee,
            description: request.description,
            customer_name: request.customer_name,
            customer_email: request.customer_email,
            metadata: request.metadata,
            capture: request.capture,
            // A component needs one where the customer's bank takes over the page.
            success_url: request.success_url.or(receipt),
            cancel_url: request.cancel_url.or(canceled),
            key: None,
            request: request_id.to_owned(),
            created_at,
            expires_at: created_at.saturating_add(view.configuration.settings.preparation_lifetime()),
        };
        Ok((order, rules))
    }

    /// Where the provider hears of the payment only when a card is charged.
    async fn prepare_here(
        &self,
        provider: &CardProvider<'_>,
        order: CardOrder,
        card_fee: Option<Box<PaymentFee>>,
        limits: &[LimitUse],
    ) -> Result<PreparedPayment, PrepareError> {
        let component = provider.component(&order, None);
        let component = component.ok_or_else(|| unusable(&order))?;
        let progress = Progress {
            preparation: Preparation::Prepared,
            prepared_at: Some(order.created_at),
            due: Some(order.expires_at),
            card_fee,
            ..Progress::initial()
        };
        let payment = self.insert(order, progress, limits).await?;
        Ok(PreparedPayment { replayed: false, payment, component: Some(component), decision: None })
    }

    async fn prepare_at_provider<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        ready: Ready<'a>,
        card_fee: Option<Box<PaymentFee>>,
        limits: &[LimitUse],
    ) -> Result<PreparedPayment, PrepareError> {
        let due = Some(ready.order.created_at.saturating_add(self.options.resolver.lease));
        let progress = Progress { due, card_fee, ..Progress::initial() };
        let payment = self.insert(ready.order, progress, limits).await?;
        let reference = payment.order.id;
        let prepared = self.prepare_recorded(fallback, ready.provider, payment).await;
        prepared.map_err(|error| PrepareError::Recorded { reference, error: Box::new(error) })
    }

    /// Asks the provider for a payment that is recorded, and those it can fall back to.
    pub(super) async fn prepare_recorded<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        provider: CardProvider<'a>,
        payment: CardPayment,
    ) -> Result<PreparedPayment, PrepareError> {
        let (mut provider, mut payment) = (provider, payment);
        loop {
            let Some(preparing) = provider.preparing(payment.order.flow) else {
                return self.prepare_rerouted_here(&provider, payment).await;
            };
            failpoint!("payment.before_prepare");
            let mut call = preparing.prepare(provider.provider, &payment.order).await;
            failpoint!("payment.after_prepare");
            let may_go_on = fallback.is_mover && fallback.rules.is_in_time();
            if may_go_on && !payment.order.route.next.is_empty() && was_answered_with_errors(&call) {
                call = without_trace(
                    call,
                    preparing.withdraw_unanswered(provider.provider, &payment.order).await,
                );
            }
            let proof = call.outcome.as_ref().err();
            let proof = proof.and_then(|error| proven_nothing(&payment.order.provider, error));
            let next = match proof.filter(|_| may_go_on) {
                Some(attempt) => self.at_next_ready(fallback, &payment.order, attempt).await,
                None => None,
            };
            let Some(next) = next else { return self.record_and_answer(&provider, payment, call).await };
            let order = payment.order.clone();
            let progress = self.untouched_with_lease(fallback, &next.order);
            let rerouted = self.reroute(payment, next.order, progress, &call.logs, None).await;
            // Where that could not be recorded, the answer is what is known: the first provider has nothing.
            let rerouted = rerouted.map_err(|error| match call.outcome {
                Err(failed) => failure_of(&order, failed),
                Ok(_) => error.into(),
            })?;
            // Otherwise the resolver has taken it back meanwhile.
            payment = rerouted.ok_or_else(unavailable_now)?;
            provider = next.provider;
        }
    }

    /// Records what the provider said, and answers it.
    async fn record_and_answer(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        call: Call<Prepared>,
    ) -> Result<PreparedPayment, PrepareError> {
        let recording = timeout(RECORD_TIMEOUT, self.record_preparation(payment.clone(), &call)).await;
        let payment = match recording {
            Ok(Ok(recorded)) => recorded,
            // What the provider did not make is told as it is, recorded or not.
            Ok(Err(PrepareError::Store(_))) | Err(_) if call.outcome.is_err() => payment,
            Ok(Err(PrepareError::Store(_))) | Err(_) => return Err(PrepareError::Unrecorded),
            Ok(Err(error)) => return Err(error),
        };
        let prepared = call.outcome.map_err(|error| failure_of(&payment.order, error))?;
        let component = match payment.order.flow {
            Flow::HostedCheckout => None,
            Flow::PaymentComponent => {
                let component = provider.component(&payment.order, Some(&prepared));
                Some(component.ok_or_else(|| unusable(&payment.order))?)
            }
        };
        Ok(PreparedPayment { replayed: false, payment, component, decision: None })
    }

    async fn insert(
        &self,
        order: CardOrder,
        progress: Progress,
        limits: &[LimitUse],
    ) -> Result<CardPayment, PrepareError> {
        // Where no provider has to be asked, it can be paid at once.
        let is_prepared = progress.preparation == Preparation::Prepared;
        let new_events = is_prepared.then(|| self.new_event(EventKind::PaymentPrepared, 0)).transpose()?;
        let passed_over = timeline::route(&order.route.attempts, order.created_at).collect();
        let entries = self.entries(passed_over, Some(&order.request))?;
        let inserting = || {
            let (environment, new_events) = (order.environment, new_events.as_slice());
            if limits.is_empty() {
                return self.store.insert_payment(environment, &order, &progress, &entries, new_events);
            }
            self.store.insert_limited_payment(environment, &order, &progress, &entries, new_events, limits)
        };
        let deadline = Instant::now() + self.options.request_deadline;
        match self.retry_until_known(deadline, inserting).await? {
            Inserted::Done => {
                if let Some(event) = &new_events {
                    self.outbox_notify.notify_one();
                    let total = order.fee.total_debit;
                    activity::changed(order.id, event.kind, total, order.currency, &order.provider);
                }
                Ok(CardPayment {
                    revision: 0,
                    order,
                    progress,
                    transaction: None,
                    attempts: Vec::new(),
                    refunds: Vec::new(),
                    disputes: Vec::new(),
                    hold_actions: Vec::new(),
                })
            }
            Inserted::KeyTaken(_) => Err(PrepareError::UnderWay),
            Inserted::LimitExceeded(which) => Err(exceeded(limits, which)?.into()),
            Inserted::EnvironmentMissing => {
                Err(StoreError::Broken("the environment of a live key is not stored".to_owned()).into())
            }
        }
    }

    /// Writes down what the provider said. A payment that the resolver has taken back meanwhile stays taken back: the
    /// caller is told to try again.
    async fn record_preparation(
        &self,
        payment: CardPayment,
        call: &Call<Prepared>,
    ) -> Result<CardPayment, PrepareError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let (request, provider) = (payment.order.request.clone(), payment.order.provider.clone());
        let mut seen = payment;
        for _ in 0..MAX_ROUNDS {
            let is_preparing =
                seen.progress.preparation == Preparation::Preparing && seen.order.provider == provider;
            if !is_preparing || seen.progress.object.is_some() {
                break;
            }
            let mut update = PaymentUpdate::of(self, seen, Some(&request));
            update.record_calls(&call.logs);
            note_preparation(&mut update, call);
            if let Some(recorded) = update.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.payment(environment, id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("payment not found".to_owned()))?;
        }
        Err(unavailable_now())
    }
}

/// What a failed call means to the caller.
pub(super) fn failure_of(order: &CardOrder, error: CallError) -> PrepareError {
    match error {
        CallError::Rejected(rejection) if rejection.kind == RejectionKind::Credentials => {
            PrepareError::NotConfigured {
                provider: order.provider.clone(),
                missing: lacking(order, &rejection),
            }
        }
        CallError::Rejected(rejection) => PrepareError::Rejected(rejection.failure),
        CallError::Unsent(transient) | CallError::Unknown(transient) => unavailable(&transient),
    }
}

pub(super) fn note_preparation(update: &mut PaymentUpdate<'_>, call: &Call<Prepared>) {
    match &call.outcome {
        Ok(prepared) => {
            let now = update.now();
            let progress = update.progress();
            progress.object = Some(prepared.object.clone());
            progress.checkout_url.clone_from(&prepared.checkout_url);
            progress.prepared_at = Some(now);
            update.objects([prepared.object.clone()].into_iter().chain(prepared.also.iter().cloned()));
            update.preparation(Preparation::Prepared, None);
            update.schedule_next_check();
        }
        // A payment that its caller knows is not taken back: the caller, or the resolver, asks again.
        Err(error) if update.payment().order.route.was_switched() && !is_final(error) => {
            update.try_again(&error.clone().into_transient());
        }
        // Rejected credentials say nothing about the payment: the response is 503, and the key can be used again.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
            update.preparation(Preparation::Withdrawn, Some(&rejection.failure));
            update.schedule_next_check();
        }
        Err(CallError::Rejected(rejection)) => {
            update.preparation(Preparation::Refused, Some(&rejection.failure));
            update.schedule_next_check();
        }
        Err(CallError::Unsent(transient)) => {
            // The provider never saw it, so there is nothing to take back.
            update.line("trouble", json!({ "reason": transient.reason }));
            update.preparation(Preparation::Withdrawn, None);
            update.schedule_next_check();
        }
        Err(CallError::Unknown(transient)) => update.try_again(transient),
    }
}

/// Whether nothing but errors of the provider's own came back, so that it is done with the request whatever it made.
fn was_answered_with_errors(call: &Call<Prepared>) -> bool {
    let mut tries = call.logs.iter().flat_map(|log| &log.tries);
    matches!(call.outcome, Err(CallError::Unknown(_)))
        && tries.all(|one| one.status.is_some_and(|status| status >= 500))
}

/// The call with what was found out afterwards: where that proves that nothing is left of it, it is as if never sent.
fn without_trace(mut call: Call<Prepared>, withdrawn: Call<()>) -> Call<Prepared> {
    call.logs.extend(withdrawn.logs);
    let outcome = match (call.outcome, withdrawn.outcome) {
        (Err(CallError::Unknown(transient)), Ok(())) => Err(CallError::Unsent(transient)),
        (outcome, _) => outcome,
    };
    Call { outcome, ..call }
}

/// Whether the provider has decided.
fn is_final(error: &CallError) -> bool {
    matches!(error, CallError::Rejected(rejection) if rejection.kind != RejectionKind::Credentials)
}

/// What an operator has to add to the provider's key.
fn lacking(order: &CardOrder, rejection: &Rejection) -> Vec<String> {
    let permission = rejection.lacks.iter();
    permission.map(|name| format!("permission {name} of the key of providers.{}", order.provider)).collect()
}

pub(super) fn unusable(order: &CardOrder) -> PrepareError {
    PrepareError::NotConfigured { provider: order.provider.clone(), missing: Vec::new() }
}

fn unavailable(transient: &TransientError) -> PrepareError {
    PrepareError::Unavailable { retry_after: transient.retry_after.unwrap_or(DEFAULT_RETRY_AFTER) }
}

pub(super) fn unavailable_now() -> PrepareError {
    PrepareError::Unavailable { retry_after: DEFAULT_RETRY_AFTER }
}
