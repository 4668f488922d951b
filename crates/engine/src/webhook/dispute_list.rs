//! Finding disputes without a webhook, at providers whose payments do not say that they are disputed: the account's disputes
//! are listed once a day.
//!
//! A page that is to be listed is kept like an event of the provider's, so that it is recorded once, one node at a time takes
//! it, and it is tried again until it is done; it leaves the next page behind. A dispute of a payment of ours becomes an event
//! of its own, which is applied like the webhook that did not come. Others are not kept.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};
use tollgate_domain::{Timestamp, id::EnvironmentId};

use super::{EventOutcome, notice_text, receive::storable, settled};
use crate::{
    engine::Engine,
    ports::{
        Call, CallError, ListedDispute, ProviderEvent, ProviderEventState, StoreError, StoredProviderEvent,
        WebhookNotice,
    },
};

/// The kind of a page that is to be listed.
pub(super) const PAGE_KIND: &str = "tollgate.dispute_page";
const LISTED_KIND: &str = "tollgate.dispute_listed";
/// What is recorded in place of the request an event came in.
const REQUEST: &str = "resolver";

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// A day's list ends here, wherever it is.
const MAX_PAGES: u64 = 500;
/// Lists begun at once; the others are begun a minute later.
const BEGUN_AT_ONCE: usize = 100;

/// The day for which each list was last begun, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct DisputeLists(Mutex<HashMap<(EnvironmentId, String), i64>>);

impl Engine {
    /// Begins the day's list for every provider that has one. However many nodes begin it, it is one list.
    pub(crate) async fn begin_dispute_lists(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let mut due = self.lists_not_begun(now);
        due.truncate(BEGUN_AT_ONCE);
        for (environment, provider, day) in due {
            let page = page_event(&provider, day, 1, None, now);
            self.store.receive_provider_event(environment, &page, now).await?;
            let mut begun = self.dispute_lists.0.lock().unwrap_or_else(PoisonError::into_inner);
            begun.insert((environment, provider), day);
        }
        Ok(())
    }

    fn lists_not_begun(&self, now: Timestamp) -> Vec<(EnvironmentId, String, i64)> {
        let snapshot = self.directory.snapshot();
        let mut lists = HashMap::new();
        for view in snapshot.environments() {
            for provider in view.configuration.providers.iter() {
                let cards = self.adapters.capabilities(provider.adapter).cards;
                let has_list = cards.is_some_and(|cards| cards.dispute_lists().is_some());
                if has_list && provider.missing_to_pay().is_empty() {
                    let id = view.environment.id;
                    lists.insert((id, provider.name.to_string()), day_of(id, now));
                }
            }
        }
        let mut begun = self.dispute_lists.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.retain(|list, _| lists.contains_key(list));
        let is_begun = |list: &(EnvironmentId, String), day: i64| begun.get(list) == Some(&day);
        let due = lists.into_iter().filter(|(list, day)| !is_begun(list, *day));
        due.map(|((environment, provider), day)| (environment, provider, day)).collect()
    }

    /// Lists one page of disputes.
    pub(super) async fn apply_dispute_page(
        &self,
        stored: &StoredProviderEvent,
    ) -> Result<EventOutcome, StoreError> {
        let name = &stored.event.provider;
        let view = self.view(stored.environment);
        let Some(Ok(provider)) = view.as_deref().map(|view| self.card_provider(view, name)) else {
            return Ok(EventOutcome::Waiting("waiting: the provider is not configured".to_owned()));
        };
        let (Some(lists), Some(page)) = (provider.cards.dispute_lists(), Page::read(&stored.event.notice))
        else {
            return Ok(EventOutcome::Foreign);
        };
        let Call { outcome, logs } = lists.list_disputes(provider.provider, page.from.as_deref()).await;
        self.note_calls(stored.environment, name, None, &logs);
        let found = match outcome {
            Ok(found) => found,
            // Tomorrow's list may be another's.
            Err(CallError::Rejected(rejection)) => {
                let note = format!("the provider does not list disputes: {}", rejection.failure.message);
                return self.finish_page(stored, ProviderEventState::Ignored, &note).await;
            }
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                return Ok(EventOutcome::Waiting(format!("waiting for the provider: {}", transient.reason)));
            }
        };
        let mut news = 0_usize;
        for listed in &found.disputes {
            news += usize::from(self.receive_listed(stored, listed).await?);
        }
        let count = found.disputes.len();
        let mut note = format!("{count} disputes listed, {news} of payments made here are news");
        match found.next {
            Some(next) if page.number < MAX_PAGES => {
                let now = self.clock.now();
                let next = page_event(name, page.day, page.number + 1, Some(&next), now);
                self.store.receive_provider_event(stored.environment, &next, now).await?;
            }
            Some(_) => note.push_str("; there are more than one day lists"),
            None => {}
        }
        self.finish_page(stored, ProviderEventState::Applied, &note).await
    }

    async fn finish_page(
        &self,
        stored: &StoredProviderEvent,
        state: ProviderEventState,
        note: &str,
    ) -> Result<EventOutcome, StoreError> {
        let settled = settled(stored, state, None, &note.replace('\0', "\u{fffd}"));
        self.store.settle_provider_event(stored.environment, &settled).await?;
        Ok(EventOutcome::Done)
    }

    /// Takes in a dispute that was listed; `false` if it is no news, or about a payment that was not made here.
    async fn receive_listed(
        &self,
        page: &StoredProviderEvent,
        listed: &ListedDispute,
    ) -> Result<bool, StoreError> {
        let (environment, provider) = (page.environment, &page.event.provider);
        let ListedDispute { payment, dispute } = listed;
        let id = self.store.payment_of_object(environment, provider, payment).await?;
        let Some(id) = id else { return Ok(false) };
        let is_same = |known: &tollgate_domain::transaction::Dispute| {
            (&known.id, &known.status) == (&dispute.id, &dispute.status)
        };
        let known = self.store.payment(environment, id).await?;
        if known.is_none_or(|known| known.disputes.iter().any(is_same)) {
            return Ok(false);
        }
        let now = self.clock.now();
        let notice = storable(WebhookNotice {
            event: format!("{LISTED_KIND}.{}.{}", dispute.id, dispute.status),
            kind: LISTED_KIND.to_owned(),
            relevant: true,
            objects: vec![payment.clone()],
            payment: Some(payment.clone()),
            dispute: Some(dispute.clone()),
            ..WebhookNotice::default()
        });
        let event = event(provider, &notice.event, LISTED_KIND, notice_text::write(&notice), now);
        self.store.receive_provider_event(environment, &event, now).await?;
        Ok(true)
    }
}

/// Days begin at another time in each environment, so that not all lists are made at once.
fn day_of(environment: EnvironmentId, now: Timestamp) -> i64 {
    let place = environment.to_bytes().last().copied().unwrap_or_default();
    now.unix_millis().saturating_add(i64::from(place) * (DAY_MILLIS / 256)).div_euclid(DAY_MILLIS)
}

/// What to list.
struct Page {
    day: i64,
    number: u64,
    from: Option<String>,
}

impl Page {
    fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(Self {
            day: value.get("day")?.as_i64()?,
            number: value.get("page")?.as_u64()?,
            from: value.get("from").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

fn page_event(provider: &str, day: i64, number: u64, from: Option<&str>, now: Timestamp) -> ProviderEvent {
    let notice = json!({ "day": day, "page": number, "from": from.map(|from| from.replace('\0', "")) });
    event(provider, &format!("{PAGE_KIND}.{day}.{number}"), PAGE_KIND, notice.to_string(), now)
}

fn event(provider: &str, id: &str, kind: &str, notice: String, received_at: Timestamp) -> ProviderEvent {
    ProviderEvent {
        provider: provider.to_owned(),
        id: id.to_owned(),
        kind: kind.to_owned(),
        notice,
        request: REQUEST.to_owned(),
        received_at,
    }
}
