//! Making a transfer: checked, set aside and recorded, sent, and its outcome recorded.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tollgate_domain::{
    Channel, Minor, PaymentMethod,
    ach::{AchProviderReport, TransferOrder},
    customer::Customer,
    id::{PostingId, TransactionId, TransferId},
    limit::LimitAction,
    routing::RouteAttempt,
    transaction::TransactionState,
};
use tollgate_trace::span;

use super::{
    AchProvider, MAX_ROUNDS,
    preview::ReadyTransfer,
    replay::ReplayRequest,
    request::{TransferCreated, TransferError, TransferRequest},
};
use crate::{
    engine::Engine,
    failpoint::failpoint,
    limits::{LimitedPayment, exceeded},
    ports::{Call, Changed, NewTransfer, Reserved, StoreError, Transfer, TransferProgress},
    quote::quote_payment,
    route::{FallbackRules, proven_nothing, skipped},
    snapshot::EnvironmentView,
};

/// How long a caller waits before the provider's funding account may hold more.
const FUNDS_RETRY: Duration = Duration::from_mins(1);

/// What a transfer is planned by, and how far that has come.
struct Plan<'a> {
    view: &'a EnvironmentView,
    id: TransferId,
    request: &'a TransferRequest,
    request_id: &'a str,
    /// Known once it is first planned.
    rules: Option<FallbackRules>,
    /// Targets that are proven to have nothing of it.
    tried: Vec<RouteAttempt>,
}

impl Engine {
    /// The reference of a transfer: the same for the same organization, environment and key, on every node and after
    /// every restart, and nothing of the key can be learned from it.
    pub fn transfer_reference(&self, view: &EnvironmentView, idempotency_key: &str) -> TransferId {
        let environment = &view.environment;
        let digest = self.reference_digester.digest(&[
            &environment.organization.to_bytes(),
            &environment.id.to_bytes(),
            idempotency_key.as_bytes(),
        ]);
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = from;
        }
        TransferId::from_bytes(bytes)
    }

    /// Makes a transfer, once per key.
    pub async fn create_transfer(
        self: &Arc<Self>,
        view: &EnvironmentView,
        request: TransferRequest,
        request_id: &str,
    ) -> Result<TransferCreated, TransferError> {
        let deadline = Instant::now() + self.options.request_deadline;
        let id = self.transfer_reference(view, &request.idempotency_key);
        let environment = view.environment.id;
        let repetition = ReplayRequest { environment, id, request: &request, request_id, deadline };
        let mut plan = Plan { view, id, request: &request, request_id, rules: None, tried: Vec::new() };
        let mut approval = self.approval_needed(view, &request).await?;
        // The limits beyond which a person decides, by their place.
        let mut reviewed: Vec<usize> = Vec::new();
        // Each limit may ask for another round.
        for _ in 0..MAX_ROUNDS.saturating_add(view.configuration.limits.len()) {
            let planned = self.plan(&mut plan).await;
            let (provider, order) = match planned {
                Ok(planned) => planned,
                // What was made before is answered, whatever has changed since.
                Err(error) => return self.replay_or(&repetition, error).await,
            };
            let sealed = self.seal_account(&order, &request.bank.account, deadline).await?;
            let progress = TransferProgress {
                sealed_account: Some(sealed),
                expected_on: expected_on(view, &order),
                corrections: "[]".to_owned(),
                due: Some(order.created_at.saturating_add(self.options.resolver.lease)),
                tries: 0,
                waiting: None,
                cancel_requested_at: None,
                approval: approval.clone(),
            };
            let mut limits = self.limit_uses(
                view,
                LimitedPayment {
                    method: PaymentMethod::Ach,
                    currency: order.currency,
                    customer: Some(&order.external_customer_id),
                    account: Some(&request.bank.account),
                },
            );
            for place in &reviewed {
                if let Some(used) = limits.get_mut(*place) {
                    used.is_reviewed = true;
                }
            }
            let new = NewTransfer {
                transaction: self.new_id(TransactionId::new)?,
                order,
                fingerprints: self.fingerprints(environment, &request),
                progress,
                posting: self.new_id(PostingId::new)?,
                limits,
            };
            failpoint!("transfer.before_reserve");
            let seen = Instant::now();
            let reserving = || self.store.reserve_transfer(environment, &new);
            let transfer = match self.retry_until_known(deadline, reserving).await? {
                Reserved::Created => begun(new),
                // Our own call, whose answer was lost on the way.
                Reserved::Existing(known) if known.transaction == new.transaction => *known,
                Reserved::Existing(known) => match self.replay(&repetition, *known).await? {
                    Some(made) => return Ok(made),
                    // It was never sent and is taken back: this request is the first one now.
                    None => continue,
                },
                Reserved::Insufficient { available } => {
                    return Err(TransferError::Insufficient { available });
                }
                Reserved::LimitExceeded(which) => {
                    let place = which.place;
                    let exceeded = exceeded(&new.limits, which)?;
                    if exceeded.limit.action == LimitAction::Refuse {
                        return Err(exceeded.into());
                    }
                    let reason = format!("limit {}", exceeded.limit.id);
                    match &mut approval {
                        Some(approval) => approval.reasons.push(reason),
                        None => approval = Some(self.new_approval(1, vec![reason], request.key)?),
                    }
                    reviewed.push(place);
                    continue;
                }
                Reserved::EnvironmentMissing => {
                    return Err(
                        StoreError::Broken("the environment of a live key is not stored".to_owned()).into()
                    );
                }
            };
            if transfer.progress.approval.is_some() {
                let announced = self.announce_approval(transfer.clone(), Some(request_id)).await;
                // It is recorded; what could not be announced now is announced by the resolver.
                return TransferCreated { transfer: announced.unwrap_or(transfer), replayed: false }
                    .unless_rejected();
            }
            let Ok(Some(transfer)) = self.may_send(transfer.clone(), Some(seen)).await else {
                // It is recorded, and the resolver sends it unless it is canceled meanwhile.
                let transfer = Box::pin(self.record_not_sent(transfer, request_id)).await;
                return TransferCreated { transfer, replayed: false }.unless_rejected();
            };
            failpoint!("transfer.before_send");
            let call = self.send_transfer(&provider, &transfer, &request.bank.account).await;
            failpoint!("transfer.after_send");
            if self.falls_back(&mut plan, &transfer, &call).await? {
                continue;
            }
            return Box::pin(self.answer_sending(transfer, call, request_id)).await;
        }
        Err(StoreError::Unavailable("too many concurrent requests with this key".to_owned()).into())
    }

    /// Takes a reservation back whose provider is proven to have nothing of it, if there is another that is ready: the transfer
    /// is reserved again there, with that provider's fee. Between the two, nothing is recorded against the caller's key.
    async fn falls_back(
        &self,
        plan: &mut Plan<'_>,
        transfer: &Transfer,
        call: &Call<AchProviderReport>,
    ) -> Result<bool, TransferError> {
        let proof = call.outcome.as_ref().err();
        let proof = proof.and_then(|error| proven_nothing(&transfer.order.provider, error));
        let Some((attempt, rules)) = proof.zip(plan.rules).filter(|(_, rules)| rules.is_in_time()) else {
            return Ok(false);
        };
        let mut tried = transfer.order.route.attempts.clone();
        tried.push(attempt);
        let (view, request) = (plan.view, &plan.request.quote);
        let quoted = quote_payment(&view.configuration, &*self.clock, request, &plan.id.to_bytes())?;
        if self.ready_transfer(view, request, &quoted, rules, &tried, Self::would_admit).is_err() {
            return Ok(false);
        }
        match self.cancel_reservation(transfer, call, plan.request_id).await {
            Ok(Changed::Done | Changed::Missing) => {
                plan.tried = tried;
                Ok(true)
            }
            // Whether the reservation still stands is not known; a repetition finds out.
            Err(error @ StoreError::Unknown(_)) => Err(error.into()),
            // It was shown to somebody, or cannot be taken back now: it stays where it is.
            Ok(Changed::Stale) | Err(_) => Ok(false),
        }
    }

    /// Routes, prices and checks readiness, before anything is reserved.
    async fn plan<'a>(
        &'a self,
        plan: &mut Plan<'a>,
    ) -> Result<(AchProvider<'a>, TransferOrder), TransferError> {
        let Plan { view, id, request, request_id, .. } = *plan;
        let customer: &Customer = request.token.customer()?;
        let quoted = span!("quote")
            .in_scope(|| quote_payment(&view.configuration, &*self.clock, &request.quote, &id.to_bytes()))?;
        let rules = *plan.rules.get_or_insert_with(|| FallbackRules::of(view, &quoted));
        let checks_funds = view.configuration.settings.check_provider_funds;
        let mut known = None;
        let mut first_error = None;
        let (ready, rail) = loop {
            let ready = self.ready_transfer(view, &request.quote, &quoted, rules, &plan.tried, Self::admit);
            let ready = ready.map_err(|error| first_error.take().unwrap_or(error))?;
            let channel = ready.target.channel;
            // A repeated request asks the provider nothing.
            if known.is_none() && (checks_funds || channel == Channel::Instant) {
                known = self.store.transfer(view.environment.id, id).await?;
            }
            if let Some(known) = &known {
                break (ready, known.order.rail);
            }
            let number = &request.bank.account.routing_number;
            match self.choose_rail(view.environment.id, &ready.provider, channel, number).await {
                Ok(rail) => break (ready, Some(rail)),
                // A provider that cannot reach the bank, or does not say how, has only been asked: another may.
                Err(error) if rules.is_in_time() => {
                    let provider = ready.target.provider;
                    plan.tried = ready.route.attempts;
                    plan.tried.push(skipped(&provider, error.to_string()));
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(first_error.unwrap_or(error)),
            }
        };
        let ReadyTransfer { provider, target, fee, route } = ready;
        let channel = target.channel;
        if checks_funds
            && known.is_none()
            && let Some(funds) = provider.adapter.funds(provider.provider).await
            && funds.outcome.is_ok_and(|funds| funds < Minor::from(request.quote.principal))
        {
            return Err(TransferError::ProviderFunds { retry_after: FUNDS_RETRY });
        }
        let bank = &request.bank;
        let number = bank.account.account_number.expose();
        let order = TransferOrder {
            environment: view.environment.id,
            id,
            adapter: provider.provider.adapter.as_str().to_owned(),
            account: Some(self.configured_account(view.environment.id, provider.provider)),
            provider: target.provider.to_string(),
            channel,
            rail,
            matched: quoted.route.matched.cloned(),
            route,
            config_version: view.config_version,
            currency: request.quote.currency,
            fee,
            external_customer_id: customer.external_id.clone(),
            customer_name: format!("{} {}", customer.first_name, customer.last_name),
            customer_email: customer.email.clone(),
            bank_name: bank.bank_name.clone(),
            account_name: bank.account_name.clone(),
            account_type: bank.account_type,
            last_four: number.get(number.len().saturating_sub(4)..).unwrap_or_default().to_owned(),
            description: request.description.clone(),
            metadata: request.metadata.clone(),
            remittance: request.remittance.clone(),
            recipient_kind: request.recipient_kind,
            purpose: request.purpose,
            statement_descriptor: request.statement_descriptor.clone(),
            request: request_id.to_owned(),
            created_at: self.clock.now(),
        };
        provider.adapter.check_order(&order).map_err(TransferError::Unacceptable)?;
        Ok((provider, order))
    }
}

fn expected_on(view: &EnvironmentView, order: &TransferOrder) -> Option<String> {
    let usual = tollgate_domain::ach::Calendar::default();
    let configured = view.configuration.settings.ach_calendar.as_ref();
    let calendar = configured.map_or(&usual, |configured| configured.calendar());
    let principal = Minor::from(order.fee.principal);
    calendar.expected_on(order.channel, principal, order.created_at).map(|day| day.to_string())
}

/// A transfer as it is right after its reservation.
fn begun(new: NewTransfer) -> Transfer {
    Transfer {
        revision: 0,
        transaction: new.transaction,
        updated_at: new.order.created_at,
        order: new.order,
        fingerprints: new.fingerprints,
        progress: new.progress,
        state: TransactionState::pending(),
    }
}
