//! A component that was declined makes way for one at the next target of the route, under the same reference.
//!
//! A switch is three commits, and a repeated call or the resolver can go on after each of them: the payment is marked as leaving
//! its provider, so that nobody confirms it anymore; what that provider has is withdrawn, and with the proof the payment moves
//! on; then the next provider is asked.

use tollgate_domain::{
    Flow, ServiceReference, Timestamp,
    card::{CardOrder, Preparation, Trigger},
    card_fee::PaymentFacts,
    id::PaymentId,
    routing::{LeftTarget, RouteAttempt, RouteOutcome, RouteProgress, Target},
    transaction::Status,
};

use super::{
    CardProvider, MAX_ROUNDS,
    at_provider::{open_attempt, sent_to},
    fallback::{Fallback, Ready},
    prepare::{PrepareError, PreparedPayment, failure_of, note_preparation, unavailable_now, unusable},
    resolve::{end, shows_nothing},
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    metadata_text::metadata_pairs,
    ports::{CallError, CallLog, CardPayment, Clock, Progress, Reading, RejectionKind, StoreError},
    provider_account::AccountCheck,
    quote::{QuoteRequest, price},
    route::FallbackRules,
    snapshot::EnvironmentView,
};

/// Why there is no component at another provider.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// No such payment in this environment.
    #[error("payment not found")]
    Missing,
    /// It stays where it is, and why.
    #[error("{0}")]
    NotSwitchable(&'static str),
    /// The provider it leaves or the next one could not be used. The same request goes on from there.
    #[error(transparent)]
    Provider(PrepareError),
    /// A provider was asked, and its answer could not be recorded. The same request goes on from there.
    #[error("the switch of {0} is not finished")]
    Unfinished(PaymentId),
    /// The store did not respond, and no provider was asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is left to do.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// It was declined and is to leave its provider.
    Leave,
    /// It is leaving its provider.
    MoveOn,
    /// The next provider has been asked, or is about to be.
    Finish,
    /// Nothing: it is at the next provider.
    Done,
}

/// What became of the component at the provider that a payment leaves.
enum Left {
    /// Nobody can pay it anymore.
    Proven(Box<CardPayment>, Vec<CallLog>),
    /// It may still be paid, or was: the payment stays.
    Stays,
    /// The provider did not say.
    Unknown(PrepareError),
    /// Somebody else changed the payment.
    Changed,
}

impl Engine {
    /// Prepares a declined component again at the next target of its route. `from` is the provider to leave: a repeated call
    /// finds the payment elsewhere and answers with the component it has there.
    pub async fn switch_component(
        &self,
        view: &EnvironmentView,
        reference: ServiceReference,
        from: &str,
        request: &str,
    ) -> Result<PreparedPayment, SwitchError> {
        let environment = view.environment.id;
        let ServiceReference::Card(id) = reference else {
            return match self.store.transaction(environment, reference).await? {
                Some(_) => Err(SwitchError::NotSwitchable(
                    "This is a bank transfer; only a payment component can be switched.",
                )),
                None => Err(SwitchError::Missing),
            };
        };
        for _ in 0..MAX_ROUNDS {
            let payment = self.store.payment(environment, id).await?.ok_or(SwitchError::Missing)?;
            let step = step(&payment, from, self.clock.now())?;
            if let Some(switched) = Box::pin(self.switch_once(view, payment, &step, request)).await? {
                return Ok(switched);
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()).into())
    }

    /// One round: `None` if the payment changed meanwhile.
    async fn switch_once(
        &self,
        view: &EnvironmentView,
        payment: CardPayment,
        step: &Step,
        request: &str,
    ) -> Result<Option<PreparedPayment>, SwitchError> {
        let id = payment.order.id;
        match step {
            Step::Done => {
                self.prepared_again(view, payment).await.map(Some).map_err(|error| unfinished(id, error))
            }
            Step::Finish => Box::pin(self.finish_switch(view, payment, request)).await,
            Step::MoveOn => {
                Box::pin(self.move_on(&switching(view, &*self.clock, &payment)?, payment, None, request))
                    .await
            }
            Step::Leave if self.must_stay(view, &payment) => Err(SwitchError::NotSwitchable(
                "What the customer can pay on at this provider cannot be taken back before it expires; the customer can try \
                 another card there, or prepare a new payment once this one has expired.",
            )),
            Step::Leave => {
                let fallback = switching(view, &*self.clock, &payment)?;
                let order = leaving(&payment);
                // While nobody else can take it, the customer may try another card where it is.
                let next = self.next_ready(&fallback, &order).await.ok_or(SwitchError::NotSwitchable(
                    "No other provider of this payment's route can take it now; the customer can try another card.",
                ))?;
                let due = Some(self.clock.now().saturating_add(self.options.resolver.lease));
                let preparation = Preparation::Preparing;
                let progress = Progress { preparation, due, tries: 0, ..payment.progress.clone() };
                let marked = self.reroute(payment, order, progress, &[], Some(request)).await?;
                let Some(payment) = marked else { return Ok(None) };
                Box::pin(self.move_on(&fallback, payment, Some(next), request)).await
            }
        }
    }

    /// Whether what the customer can pay on stays payable until it ends by itself.
    fn must_stay(&self, view: &EnvironmentView, payment: &CardPayment) -> bool {
        let provider = self.provider_of_order(view, &payment.order);
        let has_object = payment.progress.object.is_some();
        has_object && provider.is_ok_and(|provider| !provider.cards.can_withdraw(payment.order.flow))
    }

    /// Withdraws what the payment has at the provider it leaves, and asks the next one.
    async fn move_on<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        payment: CardPayment,
        next: Option<Ready<'a>>,
        request: &str,
    ) -> Result<Option<PreparedPayment>, SwitchError> {
        let id = payment.order.id;
        let provider = self.provider_of_order(fallback.view, &payment.order);
        let provider = provider.map_err(|missing| {
            let provider = payment.order.provider.clone();
            unfinished(id, PrepareError::NotConfigured { provider, missing })
        })?;
        let check = self.check_account(payment.order.environment, sent_to(&payment), provider.provider);
        let leaving = self.leave(&provider, payment, &check, Some(request)).await;
        let (payment, logs) = match leaving.map_err(|_| SwitchError::Unfinished(id))? {
            Left::Proven(payment, logs) => (*payment, logs),
            Left::Stays => {
                return Err(SwitchError::NotSwitchable(
                    "The payment was paid or is being paid; read it to see its status.",
                ));
            }
            Left::Unknown(error) => return Err(unfinished(id, error)),
            Left::Changed => return Ok(None),
        };
        let next = match next {
            Some(next) => Some(next),
            None => self.next_ready(fallback, &payment.order).await,
        };
        let next = next.filter(|_| fallback.rules.is_in_time());
        let mut next = next.ok_or_else(|| unfinished(id, unavailable_now()))?;
        // Events up to this moment show the provider it leaves, even if the clock of the server that wrote them is ahead.
        let changed_at = payment.transaction.as_ref().map(|transaction| transaction.updated_at);
        let last_event = changed_at.max(payment.progress.prepared_at).unwrap_or(payment.order.created_at);
        next.order.route.left.push(LeftTarget {
            provider: payment.order.provider.clone(),
            channel: payment.order.channel,
            fee: payment.order.fee,
            prepared_at: payment.progress.prepared_at,
            expires_at: payment.order.expires_at,
            until: self.clock.now().max(last_event),
        });
        let progress = self.untouched_with_lease(fallback, &next.order);
        let moved = self.reroute(payment, next.order, progress, &logs, Some(request)).await;
        let Some(payment) = moved.map_err(|_| SwitchError::Unfinished(id))? else { return Ok(None) };
        Box::pin(self.prepare_moved(fallback, next.provider, payment)).await.map(Some)
    }

    /// Goes on with a payment that has moved to its next provider. Whoever moved it may still be asking there: the payment is
    /// taken over first, so that it cannot be moved on because that one's call was not sent.
    async fn finish_switch(
        &self,
        view: &EnvironmentView,
        payment: CardPayment,
        request: &str,
    ) -> Result<Option<PreparedPayment>, SwitchError> {
        let (id, order) = (payment.order.id, payment.order.clone());
        let found = self.provider_of_order(view, &order).map_err(|missing| {
            unfinished(id, PrepareError::NotConfigured { provider: order.provider.clone(), missing })
        })?;
        let check = self.check_account(order.environment, sent_to(&payment), found.provider);
        if !check.is_same(|| found.can_access_account(self, &check)).await {
            return Err(unfinished(id, unusable(&order)));
        }
        let fallback = Fallback { is_mover: false, ..switching(view, &*self.clock, &payment)? };
        let mut update = PaymentUpdate::of(self, payment, Some(request));
        update.lease();
        let Some(payment) = update.commit().await? else { return Ok(None) };
        Box::pin(self.prepare_moved(&fallback, found, payment)).await.map(Some)
    }

    async fn prepare_moved<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        provider: CardProvider<'a>,
        payment: CardPayment,
    ) -> Result<PreparedPayment, SwitchError> {
        let id = payment.order.id;
        let prepared = if provider.preparing(payment.order.flow).is_some() {
            let order = &payment.order;
            let as_prepared = self.provider_as_prepared(fallback.view, provider.provider, order).await;
            let as_prepared = as_prepared.map_err(|_| SwitchError::Unfinished(id))?;
            let provider = CardProvider { provider: &as_prepared, cards: provider.cards };
            self.prepare_recorded(fallback, provider, payment).await
        } else {
            self.prepare_rerouted_here(&provider, payment).await
        };
        prepared.map_err(|error| unfinished(id, error))
    }

    /// Withdraws what the provider has of a payment that leaves it. Whatever does not prove that it is gone is recorded.
    async fn leave(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
        request: Option<&str>,
    ) -> Result<Left, StoreError> {
        if open_attempt(&payment).is_some() {
            return Ok(Left::Unknown(unavailable_now()));
        }
        let Some(object) = payment.progress.object.clone() else {
            return Ok(Left::Proven(Box::new(payment), Vec::new()));
        };
        if check.is_unreachable() {
            return Ok(Left::Unknown(unusable(&payment.order)));
        }
        let call = provider.cards.withdraw(provider.provider, &payment.order, &object).await;
        let call = self.or_by_other_names(provider, &payment, call).await?;
        if shows_nothing(&call) && !check.is_same(|| provider.can_access_account(self, check)).await {
            let unusable = unusable(&payment.order);
            self.hold_payment(payment, check, &call.logs).await?;
            return Ok(Left::Unknown(unusable));
        }
        let order = payment.order.clone();
        let mut update = PaymentUpdate::of(self, payment.clone(), request);
        let left = match call.outcome {
            Ok(Reading::Report(report)) if report.provider_status.is_canceled() => {
                return Ok(Left::Proven(Box::new(payment), call.logs));
            }
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Missing => {
                return Ok(Left::Proven(Box::new(payment), call.logs));
            }
            Ok(Reading::CannotBeAsked(known)) => {
                update.note_unasked(known.as_deref(), &[]);
                Left::Unknown(unavailable_now())
            }
            Ok(Reading::Report(report)) => {
                update.apply_report(&report, Trigger::Other, "switch");
                update.stay();
                update.schedule_next_check();
                Left::Stays
            }
            Err(error) => {
                update.try_again(&error.clone().into_transient());
                Left::Unknown(match error {
                    CallError::Rejected(rejection) if rejection.kind != RejectionKind::Credentials => {
                        unavailable_now()
                    }
                    other => failure_of(&order, other),
                })
            }
        };
        update.record_calls(&call.logs);
        Ok(if update.commit().await?.is_some() { left } else { Left::Changed })
    }

    /// Goes on with a switch whose caller is gone: what is to be withdrawn is, and the next provider's answer is learned. A
    /// payment that only waits for its caller to ask again does so until it expires.
    pub(super) async fn resume_switch(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let is_late = self.clock.now() >= payment.order.expires_at;
        let has_object = payment.progress.object.is_some();
        if payment.order.is_leaving() && has_object && !is_late {
            if let Left::Proven(payment, logs) = self.leave(provider, payment, check, None).await? {
                let mut update = PaymentUpdate::of(self, *payment, None);
                update.record_calls(&logs);
                update.progress().object = None;
                update.schedule_next_check();
                update.commit().await?;
            }
            return Ok(());
        }
        if is_late && (has_object || !payment.order.is_leaving()) {
            return self.take_back(provider, payment, check).await;
        }
        if payment.order.is_leaving() {
            let mut update = PaymentUpdate::of(self, payment, None);
            if is_late {
                end(&mut update, Preparation::Expired, None);
            }
            update.schedule_next_check();
            update.commit().await?;
            return Ok(());
        }
        let Some(preparing) = provider.preparing(payment.order.flow) else {
            let mut update = PaymentUpdate::of(self, payment, None);
            update.preparation(Preparation::Prepared, None);
            update.schedule_next_check();
            update.commit().await?;
            return Ok(());
        };
        if !check.is_same(|| provider.can_access_account(self, check)).await {
            return self.hold_payment(payment, check, &[]).await;
        }
        let call = preparing.prepare(provider.provider, &payment.order).await;
        let mut update = PaymentUpdate::of(self, payment, None);
        update.record_calls(&call.logs);
        note_preparation(&mut update, &call);
        update.commit().await?;
        Ok(())
    }
}

/// The order, marked as leaving its provider.
fn leaving(payment: &CardPayment) -> CardOrder {
    let mut order = payment.order.clone();
    if !order.is_leaving() {
        let failure = payment.transaction.as_ref().and_then(|transaction| transaction.state.failure.as_ref());
        let reason = failure.map_or_else(|| "card declined".to_owned(), |failure| failure.code.clone());
        let (provider, outcome) = (order.provider.clone(), RouteOutcome::Declined);
        order.route.attempts.push(RouteAttempt { provider, outcome, reason });
    }
    order
}

/// What the next target of a switched payment is chosen by. It may cost as much as the first one.
fn switching<'a>(
    view: &'a EnvironmentView,
    clock: &dyn Clock,
    payment: &CardPayment,
) -> Result<Fallback<'a>, SwitchError> {
    let order = &payment.order;
    let RouteProgress { payer, recurring, .. } = order.route;
    let card_fee = PaymentFacts { payer, recurring, ..PaymentFacts::default() };
    let metadata = metadata_pairs(&order.metadata)
        .ok_or_else(|| StoreError::Broken("metadata of a payment".to_owned()))?;
    let request = QuoteRequest {
        principal: order.fee.principal,
        currency: order.currency,
        method: ServiceReference::Card(order.id).method(),
        flow: Some(order.flow),
        metadata,
        card_fee,
    };
    let first = order.route.attempts.first().map(|first| first.provider.as_str());
    let first = match first.filter(|first| *first != order.provider) {
        None => order.fee.total_debit,
        Some(provider) => {
            let target = Target { provider: provider.into(), channel: order.channel };
            price(&view.configuration, clock, &request, &target).fee.total_debit
        }
    };
    Ok(Fallback { view, request, rules: FallbackRules::up_to(view, first), is_mover: true })
}

fn unfinished(id: PaymentId, error: PrepareError) -> SwitchError {
    match error {
        PrepareError::Unrecorded | PrepareError::Store(_) => SwitchError::Unfinished(id),
        error => SwitchError::Provider(PrepareError::Recorded { reference: id, error: Box::new(error) }),
    }
}

/// What is left to do for a payment as it is.
fn step(payment: &CardPayment, from: &str, now: Timestamp) -> Result<Step, SwitchError> {
    let (order, progress) = (&payment.order, &payment.progress);
    let refuse = |why| Err(SwitchError::NotSwitchable(why));
    let is_unknown = matches!(
        progress.preparation,
        Preparation::Preparing | Preparation::Refused | Preparation::Withdrawn
    );
    // Callers never learned the reference of a payment that was not prepared.
    if is_unknown && !order.route.was_switched() {
        return Err(SwitchError::Missing);
    }
    if order.flow != Flow::PaymentComponent {
        return refuse("This payment is a hosted checkout; only a payment component can be switched.");
    }
    if order.provider != from && !order.route.was_declined_at(from) {
        return refuse(
            "This payment is not at the provider that `from` names; read it and use its `provider`.",
        );
    }
    let is_over = !matches!(progress.preparation, Preparation::Preparing | Preparation::Prepared);
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let is_declined = status == Some(Status::Failed) && open_attempt(payment).is_none();
    if progress.preparation == Preparation::Refused {
        return refuse("The next provider rejected this payment; prepare a new one.");
    }
    if is_over || (now >= order.expires_at && !is_paying(status)) {
        return refuse("This payment was not paid in time and has expired; prepare a new one.");
    }
    match progress.preparation {
        Preparation::Preparing if order.is_leaving() => Ok(Step::MoveOn),
        Preparation::Preparing => Ok(Step::Finish),
        _ if order.provider != from => Ok(Step::Done),
        _ if is_declined => Ok(Step::Leave),
        _ => refuse(
            "No card was declined for this payment, or a charge is still being decided; confirm it first.",
        ),
    }
}

fn is_paying(status: Option<Status>) -> bool {
    !matches!(status, None | Some(Status::Failed))
}
