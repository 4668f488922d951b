//! Events about providers' circuits. They are about no payment: their method is [`PROVIDER`], and what stands for a reference is
//! made of the provider's name, so that the index of references finds them.

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tollgate_domain::id::{EnvironmentId, EventId};
use tollgate_engine::ports::{Event, NewCircuitEvent};

use super::out_events::{Notice, notify};
use crate::{
    prelude::*,
    rows::out_event::{PROVIDER, out_event_columns, read, write_circuit},
};

fn place_of(provider: &str) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(provider.as_bytes()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

macro_rules! last {
    ($order:literal) => {
        concat!(
            "SELECT ",
            out_event_columns!(),
            " FROM out_events e WHERE e.environment_id = $1 AND e.method = $2 AND e.reference = $3 ORDER BY e.",
            $order,
            " DESC LIMIT 1"
        )
    };
}

/// By the number, which SQLite has beside the event. On PostgreSQL by the id, which is above those before it.
pub(crate) const LAST: [&str; 2] = [last!("sequence"), last!("id")];

pub(crate) async fn last<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    provider: &str,
) -> Result<Option<Event>, Fault> {
    let [sqlite, postgres] = LAST;
    let values = values![environment, PROVIDER, place_of(provider)];
    s.query_opt(S::DIALECT.pick(sqlite, postgres), values, read).await
}

pub(crate) async fn append<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    event: &NewCircuitEvent,
    last_id: Option<EventId>,
) -> Result<Effect<bool>, Fault> {
    let last = lock(s, environment, &event.notice.provider).await?.map(|last| last.id);
    if last != last_id {
        return Ok(Effect::Nothing(last == Some(event.id)));
    }
    write(s, environment, event).await?;
    Ok(Effect::Written(true))
}

/// Writes those events that differ from the latest about their provider, in the unit of what they tell of.
pub(crate) async fn report<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    events: &[NewCircuitEvent],
) -> Result<(), Fault> {
    for event in events {
        let last = lock(s, environment, &event.notice.provider).await?;
        if !event.notice.is_news_after(last.as_ref().and_then(|last| last.circuit.as_deref())) {
            continue;
        }
        // Behind the last one also where another node's clock is ahead.
        let after = last.map(|last| last.at.saturating_add(Duration::from_millis(1)));
        let at = after.map_or(event.at, |after| after.max(event.at));
        let random = event.id.to_bytes().last_chunk().copied().unwrap_or_default();
        let event = NewCircuitEvent { id: EventId::new(at, random), at, notice: event.notice.clone() };
        write(s, environment, &event).await?;
    }
    Ok(())
}

/// The latest event about a provider; nodes that tell of it do so one after the other.
async fn lock<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    provider: &str,
) -> Result<Option<Event>, Fault> {
    if S::DIALECT == Dialect::Postgres {
        let lock = i64::from_be_bytes(place_of(provider).first_chunk().copied().unwrap_or_default());
        s.exists("SELECT 1 FROM pg_advisory_xact_lock($1)", values![lock]).await?;
    }
    last(s, environment, provider).await
}

async fn write<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    event: &NewCircuitEvent,
) -> Result<(), Fault> {
    let about = (PROVIDER, place_of(&event.notice.provider));
    let state = write_circuit(&event.notice);
    notify(s, Notice { environment, id: event.id, kind: event.kind(), about, at: event.at, state }).await
}
