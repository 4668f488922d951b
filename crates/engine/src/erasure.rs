//! Forgetting people: on request, and after the time that an environment sets. The books stay as they are.

use std::{collections::HashSet, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tollgate_domain::{
    PaymentMethod, ServiceReference, Timestamp,
    audit_log::ActorKind,
    id::{EntryId, EnvironmentId},
};
use tollgate_vault::RandomnessUnavailable;
use tracing::{info, warn};

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{Entry, Erased, KeyedToken, ProviderEventState, StoreError, StoredCustomer},
    snapshot::EnvironmentView,
};

/// Payments or tokens that are read at once.
const SLICE: u32 = 500;
/// Webhooks that are forgotten at once.
const FORGOTTEN_AT_ONCE: u32 = 500;
/// Payments in progress that an answer names.
const MAX_NAMED: usize = 100;
/// Between two slices of what nobody waits for, so that payments come first.
const REST: Duration = Duration::from_millis(50);
const FIRST_PASS: Duration = Duration::from_mins(1);
const PASS_EVERY: Duration = Duration::from_hours(6);
const INDEXED_AT_ONCE: u32 = 200;
/// As in `2026-11-18`.
const DATE_LENGTH: usize = 10;
/// Who erases what has been kept for long enough.
const RETENTION: &str = "retention";

/// Whom to forget; at least one of the two.
#[derive(Debug, Clone, Default)]
pub struct CustomerName {
    /// The caller's name for the customer. Whatever has an e-mail address of theirs is meant, too.
    pub external_id: Option<String>,
    pub email: Option<String>,
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erasure {
    pub card_payments: u64,
    pub transfers: u64,
    pub customer_tokens: u64,
    /// Payments that have not ended: their data is erased by itself once they have. No more than a hundred are named.
    pub in_progress: Vec<InProgress>,
}

/// A payment whose personal data is still needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InProgress {
    pub reference: ServiceReference,
    /// The day it is expected to end, as `YYYY-MM-DD`; `None` where only the provider can tell.
    pub ends_on: Option<String>,
}

impl Erasure {
    fn is_nothing(&self) -> bool {
        self.card_payments == 0 && self.transfers == 0 && self.customer_tokens == 0
    }
}

/// Why nobody was forgotten.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    #[error("environment not found")]
    Missing,
    /// The store did not respond. What was erased so far stays erased.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// By what a customer's payments and tokens are recognized.
#[derive(Debug)]
struct Known {
    external_id: Option<String>,
    /// In lower case.
    emails: HashSet<String>,
}

impl Known {
    fn is(&self, external_id: Option<&str>, email: Option<&str>) -> bool {
        let has_id = external_id.is_some() && self.external_id.as_deref() == external_id;
        has_id || email.is_some_and(|email| self.emails.contains(&email.to_lowercase()))
    }
}

impl Engine {
    /// Erases a customer's personal data from an environment: from payments that have ended, and from customer tokens.
    /// May be repeated, and interrupted anywhere. Of everybody who was erased before, it takes out what an earlier version left.
    pub async fn erase_customer(
        &self,
        environment: EnvironmentId,
        customer: &CustomerName,
        origin: Origin,
    ) -> Result<Erasure, EraseError> {
        let view = self.directory.snapshot().environment(environment).cloned();
        let view = view.ok_or(EraseError::Missing)?;
        // What is indexed later would be found later.
        while self.store.index_events(INDEXED_AT_ONCE).await? > 0 {}
        let known = self.recognize(&view, customer).await?;
        let mut erasure = Erasure::default();
        for method in [PaymentMethod::WebCard, PaymentMethod::Ach] {
            let mut after = None;
            while let Some(slice) = self.payments_behind(environment, method, &mut after).await? {
                for payment in slice.iter().filter(|it| !it.is_erased()) {
                    // Whose it was is no longer known where it was partly erased.
                    let is_meant = payment.is_partly_erased
                        || known.is(payment.external_id.as_deref(), payment.email.as_deref());
                    if is_meant {
                        self.erase_payment(environment, payment.reference, &origin, &mut erasure).await?;
                    }
                }
            }
        }
        self.forget_tokens(&view, &mut erasure, |engine, token| {
            let customer = engine.customer_in(&view, &token.token);
            customer.is_some_and(|it| known.is(Some(&it.external_id), Some(&it.email)))
        })
        .await?;
        self.store.overwrite_erased().await?;
        let Erasure { card_payments, transfers, customer_tokens, in_progress } = &erasure;
        let (waiting, actor) = (in_progress.len(), &origin.actor);
        info!(%environment, actor, card_payments, transfers, customer_tokens, waiting, "customer erased");
        Ok(erasure)
    }

    /// The e-mail addresses that an environment has of a customer.
    async fn recognize(&self, view: &EnvironmentView, customer: &CustomerName) -> Result<Known, StoreError> {
        let mut emails: HashSet<_> = customer.email.iter().map(|email| email.to_lowercase()).collect();
        let Some(external_id) = customer.external_id.clone() else {
            return Ok(Known { external_id: None, emails });
        };
        let environment = view.environment.id;
        let mut after = None;
        while let Some(slice) = self.payments_behind(environment, PaymentMethod::Ach, &mut after).await? {
            let theirs = slice
                .into_iter()
                .filter(|it| it.erased_at.is_none() && it.external_id.as_deref() == Some(&external_id));
            emails.extend(theirs.filter_map(|it| it.email).map(|email| email.to_lowercase()));
        }
        let mut after = None;
        while let Some(slice) = self.tokens_behind(environment, &mut after).await? {
            let customers = slice.iter().filter_map(|token| self.customer_in(view, &token.token));
            let theirs = customers.filter(|it| it.external_id == external_id);
            emails.extend(theirs.map(|it| it.email.to_lowercase()));
        }
        Ok(Known { external_id: Some(external_id), emails })
    }

    /// The next slice of payments, until there is none.
    async fn payments_behind(
        &self,
        environment: EnvironmentId,
        method: PaymentMethod,
        after: &mut Option<[u8; 16]>,
    ) -> Result<Option<Vec<StoredCustomer>>, StoreError> {
        let slice = self.store.payment_customers(environment, method, *after, SLICE).await?;
        *after = slice.last().map(|last| last.place);
        Ok(Some(slice).filter(|slice| !slice.is_empty()))
    }

    async fn tokens_behind(
        &self,
        environment: EnvironmentId,
        after: &mut Option<[u8; 32]>,
    ) -> Result<Option<Vec<KeyedToken>>, StoreError> {
        let slice = self.store.customer_tokens(environment, *after, SLICE).await?;
        *after = slice.last().map(|last| last.key);
        Ok(Some(slice).filter(|slice| !slice.is_empty()))
    }

    async fn erase_payment(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        origin: &Origin,
        erasure: &mut Erasure,
    ) -> Result<(), EraseError> {
        let entry = Entry {
            id: self.new_id(EntryId::new)?,
            at: self.clock.now(),
            kind: "erased".to_owned(),
            request: Some(origin.request.clone()),
            detail: json!({ "by": origin.actor }).to_string(),
        };
        // What the configuration asks for is done to many; its own change is in the audit log.
        let store = if origin.kind == ActorKind::System {
            Arc::clone(&self.store)
        } else {
            self.audited(origin, Audited::new("payment.erase", reference).in_environment(environment))
        };
        match store.erase_payment(environment, reference, &entry).await? {
            Erased::Done => {
                let count = match reference.method() {
                    PaymentMethod::WebCard => &mut erasure.card_payments,
                    PaymentMethod::Ach => &mut erasure.transfers,
                };
                *count = count.saturating_add(1);
            }
            Erased::InProgress if erasure.in_progress.len() < MAX_NAMED => {
                let ends_on = self.expected_end(environment, reference).await?;
                erasure.in_progress.push(InProgress { reference, ends_on });
            }
            Erased::InProgress | Erased::Before | Erased::Missing => {}
        }
        Ok(())
    }

    /// When a payment that has not ended does so, as far as that is known.
    async fn expected_end(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Option<String>, StoreError> {
        let id = match reference {
            ServiceReference::Card(id) => id,
            ServiceReference::Ach(id) => {
                let transfer = self.store.transfer(environment, id).await?;
                return Ok(transfer.and_then(|transfer| transfer.progress.expected_on));
            }
        };
        let Some(payment) = self.store.payment(environment, id).await? else { return Ok(None) };
        let ends_at = match payment.transaction.map(|transaction| transaction.state) {
            None => Some(payment.order.expires_at),
            Some(state) => state.hold.and_then(|hold| hold.capture_before),
        };
        Ok(ends_at.map(|at| at.utc_minute().chars().take(DATE_LENGTH).collect()))
    }

    /// Erases what was asked for while it was still needed, and is not anymore.
    async fn fulfill_wishes(&self, environment: EnvironmentId) -> Result<Erasure, EraseError> {
        let mut erasure = Erasure::default();
        for method in [PaymentMethod::WebCard, PaymentMethod::Ach] {
            let mut after = None;
            loop {
                let slice = self.store.erasure_wishes(environment, method, after, SLICE).await?;
                let Some((last, _)) = slice.last() else { break };
                after = Some(last.to_bytes());
                for (reference, detail) in slice {
                    let detail: Value = serde_json::from_str(&detail).unwrap_or_default();
                    let by = detail.get("by").and_then(Value::as_str).unwrap_or(RETENTION);
                    let origin = Origin::system(by, RETENTION);
                    self.erase_payment(environment, reference, &origin, &mut erasure).await?;
                }
                sleep(REST).await;
            }
        }
        Ok(erasure)
    }

    async fn forget_tokens(
        &self,
        view: &EnvironmentView,
        erasure: &mut Erasure,
        is_meant: impl Fn(&Self, &KeyedToken) -> bool,
    ) -> Result<(), StoreError> {
        let environment = view.environment.id;
        let mut after = None;
        while let Some(slice) = self.tokens_behind(environment, &mut after).await? {
            for token in slice.iter().filter(|token| is_meant(self, token)) {
                self.store.forget_customer_token(environment, &token.key).await?;
                erasure.customer_tokens = erasure.customer_tokens.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Erases what environments keep for so many days only, now and then, until told to stop.
    pub async fn retain_until(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut pass_at = Instant::now() + FIRST_PASS;
        while !*stop.borrow() {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => return,
                () = sleep(pass_at.saturating_duration_since(Instant::now())) => {}
            }
            pass_at = Instant::now() + PASS_EVERY;
            let views: Vec<_> = self.directory.snapshot().environments().into_iter().cloned().collect();
            for view in views {
                let pass = self.forget_old(&view);
                let forgotten = tokio::select! {
                    biased;
                    _ = stop.wait_for(|stopped| *stopped) => return,
                    forgotten = pass => forgotten,
                };
                if let Err(error) = forgotten {
                    let environment = view.environment.id;
                    warn!(%environment, %error, "old data not erased; will retry");
                }
            }
        }
    }

    /// One pass over an environment. What is deleted is gone, so no age counts that a clock may have wrong.
    async fn forget_old(&self, view: &EnvironmentView) -> Result<(), EraseError> {
        if !self.may_conclude() {
            return Ok(());
        }
        let retention = &view.configuration.settings.retention;
        let (environment, now) = (view.environment.id, self.clock.now());
        let before = now.saturating_sub(retention.provider_events());
        for state in [ProviderEventState::Applied, ProviderEventState::Ignored] {
            self.forget_provider_events(environment, state, before).await?;
        }
        let mut erasure = self.fulfill_wishes(environment).await?;
        let Some(lifetime) = retention.customer_data() else {
            return self.forgotten(environment, erasure).await;
        };
        let before = now.saturating_sub(lifetime);
        let origin = Origin::system(RETENTION, RETENTION);
        for method in [PaymentMethod::WebCard, PaymentMethod::Ach] {
            let mut after = None;
            while let Some(slice) = self.payments_behind(environment, method, &mut after).await? {
                // Their order is that of their making.
                let has_reached_new = slice.last().is_some_and(|last| last.created_at >= before);
                for payment in slice.iter().filter(|it| !it.is_erased() && it.created_at < before) {
                    self.erase_payment(environment, payment.reference, &origin, &mut erasure).await?;
                }
                if has_reached_new {
                    break;
                }
                sleep(REST).await;
            }
        }
        self.forget_tokens(view, &mut erasure, |_, token| token.created_at < before).await?;
        self.forgotten(environment, erasure).await
    }

    async fn forgotten(&self, environment: EnvironmentId, erasure: Erasure) -> Result<(), EraseError> {
        if !erasure.is_nothing() {
            self.store.overwrite_erased().await?;
            let Erasure { card_payments, transfers, customer_tokens, .. } = erasure;
            info!(%environment, card_payments, transfers, customer_tokens, "old personal data erased");
        }
        Ok(())
    }

    async fn forget_provider_events(
        &self,
        environment: EnvironmentId,
        state: ProviderEventState,
        before: Timestamp,
    ) -> Result<(), StoreError> {
        let limit = FORGOTTEN_AT_ONCE;
        while self.store.forget_provider_events(environment, state, before, limit).await? >= u64::from(limit)
        {
            sleep(REST).await;
        }
        Ok(())
    }
}
