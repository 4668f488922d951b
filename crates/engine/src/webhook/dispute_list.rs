//! Finding disputes without a webhook, at providers whose payments do not say that they are disputed: the account's disputes
//! are listed once a day.
//!
//! A list that is to be made is kept like an event of the provider's, so that it is recorded once, one node at a time takes it,
//! and it is tried again until it is done; a long one leaves its rest behind as another. A dispute of a payment of ours becomes
//! an event of its own, which is applied like the webhook that did not come. Others are not kept.

use std::{
    collections::BTreeMap,
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

/// The kind of a list that is to be made, or what is left of one.
pub(super) const LIST_KIND: &str = "tollgate.dispute_list";
const LISTED_KIND: &str = "tollgate.dispute_listed";
/// What is recorded in place of the request an event came in.
const REQUEST: &str = "resolver";

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;
/// Pages that are listed in one go; the rest becomes another task.
const PAGES_AT_ONCE: usize = 16;
/// A day's list ends after so many of them, wherever it is.
const MAX_PARTS: u64 = 30;
/// Lists begun at once; the others are begun a minute later.
const BEGUN_AT_ONCE: usize = 100;

/// The day for which each list was last begun, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct DisputeLists(Mutex<BTreeMap<(EnvironmentId, String), i64>>);

impl Engine {
    /// Begins the day's list for every provider that has one. However many nodes begin it, it is one list.
    pub(crate) async fn begin_dispute_lists(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let mut due = self.lists_not_begun(now);
        due.truncate(BEGUN_AT_ONCE);
        for (environment, provider, day) in due {
            let list = list_event(&provider, day, 1, None, now);
            self.store.receive_provider_event(environment, &list, now).await?;
            let mut begun = self.dispute_lists.0.lock().unwrap_or_else(PoisonError::into_inner);
            begun.insert((environment, provider), day);
        }
        Ok(())
    }

    fn lists_not_begun(&self, now: Timestamp) -> Vec<(EnvironmentId, String, i64)> {
        let snapshot = self.directory.snapshot();
        let mut lists = BTreeMap::new();
        for view in snapshot.environments() {
            for provider in view.configuration.providers.iter() {
                if self.dispute_lists_of(view, &provider.name).is_some() {
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

    /// Lists disputes, from where it is to begin.
    pub(super) async fn apply_dispute_list(
        &self,
        stored: &StoredProviderEvent,
    ) -> Result<EventOutcome, StoreError> {
        let (environment, name) = (stored.environment, &stored.event.provider);
        let view = self.view(environment);
        let lists = view.as_deref().and_then(|view| self.dispute_lists_of(view, name));
        let (Some((provider, lists)), Some(list)) = (lists, List::read(&stored.event.notice)) else {
            let note = "the provider as it is configured does not list disputes";
            return self.finish_list(stored, ProviderEventState::Ignored, note).await;
        };
        let (mut from, mut count, mut news) = (list.from, 0, 0_usize);
        for page in 0..PAGES_AT_ONCE {
            let Call { outcome, logs } = lists.list_disputes(provider, from.as_deref()).await;
            self.note_calls(environment, name, None, &logs);
            let found = match outcome {
                Ok(found) => found,
                // Tomorrow's list may be another's.
                Err(CallError::Rejected(rejection)) => {
                    let note = format!("the provider does not list disputes: {}", rejection.failure.message);
                    return self.finish_list(stored, ProviderEventState::Ignored, &note).await;
                }
                Err(CallError::Unsent(transient) | CallError::Unknown(transient)) if page == 0 => {
                    let why = format!("waiting for the provider: {}", transient.reason);
                    return Ok(EventOutcome::Waiting(why));
                }
                // What is left begins here.
                Err(CallError::Unsent(_) | CallError::Unknown(_)) => break,
            };
            for listed in &found.disputes {
                news += usize::from(self.receive_listed(stored, listed).await?);
            }
            count += found.disputes.len();
            from = found.next;
            if from.is_none() {
                break;
            }
        }
        let mut note = format!("{count} disputes listed, {news} of payments made here are news");
        if from.is_some() && list.part < MAX_PARTS {
            let now = self.clock.now();
            let rest = list_event(name, list.day, list.part + 1, from.as_deref(), now);
            self.store.receive_provider_event(environment, &rest, now).await?;
        } else if from.is_some() {
            note.push_str("; there are more than are listed in a day");
        }
        self.finish_list(stored, ProviderEventState::Applied, &note).await
    }

    async fn finish_list(
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
        list: &StoredProviderEvent,
        listed: &ListedDispute,
    ) -> Result<bool, StoreError> {
        let (environment, provider) = (list.environment, &list.event.provider);
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
struct List {
    day: i64,
    part: u64,
    from: Option<String>,
}

impl List {
    fn read(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        Some(Self {
            day: value.get("day")?.as_i64()?,
            part: value.get("part")?.as_u64()?,
            from: value.get("from").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

fn list_event(provider: &str, day: i64, part: u64, from: Option<&str>, now: Timestamp) -> ProviderEvent {
    let notice = json!({ "day": day, "part": part, "from": from.map(|from| from.replace('\0', "")) });
    event(provider, &format!("{LIST_KIND}.{day}.{part}"), LIST_KIND, notice.to_string(), now)
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
