//! Endpoints that are told.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Timestamp,
    event::{EventFilter, EventKind},
};
use tollgate_engine::ports::{Endpoint, SealedSecret};

use crate::prelude::*;

record! {
    ENDPOINTS, endpoint_columns = "event_endpoints" as p of (environment_id: Id) "";
    Endpoint ?_ {
        id: Id = id,
        revision: Number = revision,
        url: Text = url,
        description: Text = description,
        filter: Text = filter,
        disabled: Text = disabled,
        secrets: Text = secrets,
        created_at: Number = created_at,
        updated_at: Number = updated_at,
        failures: Number = failures,
        rests_until: Number = rests_until,
    }
}

texts! {
    EventFilter: write_filter, read_filter;
    Vec<SealedSecret>: write_secrets, read_secrets;
}

/// An asterisk, or the names with a space before and behind each, so that a statement finds one by its text.
fn write_filter(filter: &EventFilter) -> String {
    match filter {
        EventFilter::All => EventFilter::EVERYTHING.to_owned(),
        EventFilter::Only(_) => format!(" {} ", filter.names().join(" ")),
    }
}

fn read_filter(stored: &str) -> Result<EventFilter, CorruptRow> {
    EventFilter::parse(stored.split_whitespace()).map_err(|_| CorruptRow("filter of an endpoint"))
}

#[derive(Serialize, Deserialize)]
struct StoredSecret {
    sealed: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
}

fn write_secrets(secrets: &[SealedSecret]) -> String {
    let stored: Vec<StoredSecret> = secrets
        .iter()
        .map(|secret| StoredSecret {
            sealed: secret.sealed.clone(),
            until: secret.until.map(Timestamp::unix_millis),
        })
        .collect();
    // Texts and numbers under fixed names always make JSON.
    serde_json::to_string(&stored).unwrap_or_default()
}

fn read_secrets(stored: &str) -> Result<Vec<SealedSecret>, CorruptRow> {
    let stored: Vec<StoredSecret> =
        serde_json::from_str(stored).map_err(|_| CorruptRow("secret of an endpoint"))?;
    Ok(stored
        .into_iter()
        .map(|secret| SealedSecret {
            sealed: secret.sealed,
            until: secret.until.map(Timestamp::from_unix_millis),
        })
        .collect())
}

/// Whether this is what `wanted` asked for: a change whose answer was lost is made once.
pub(crate) fn is_made(stored: &Endpoint, wanted: &Endpoint) -> bool {
    let Endpoint { created_at, failures, rests_until, .. } = *stored;
    let revision = wanted.revision.saturating_add(1);
    *stored == Endpoint { revision, created_at, failures, rests_until, ..wanted.clone() }
}

/// An endpoint that events may be sent to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) id: [u8; 16],
    /// What it wants, or `None` if it gets whatever is sent to it by name.
    pub(crate) filter: Option<EventFilter>,
}

impl Target {
    pub(crate) fn wants(&self, kind: EventKind) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.wants(kind))
    }
}

stored! { Target { id, filter } }

/// The kinds that at least one of them wants.
pub(crate) fn kinds_wanted(targets: &[Target]) -> Vec<EventKind> {
    EventKind::ALL.into_iter().filter(|kind| targets.iter().any(|target| target.wants(*kind))).collect()
}

#[cfg(test)]
mod tests {
    use tollgate_domain::transaction::Status;

    use super::{super::out_event::in_filter, *};

    #[test]
    fn a_filter_is_found_by_its_text() {
        let only = EventFilter::parse(["transaction.failed", "payment.prepared"]).unwrap();
        assert_eq!(write_filter(&only), " payment.prepared transaction.failed ");
        for filter in [EventFilter::All, only] {
            let stored = write_filter(&filter);
            for kind in EventKind::ALL {
                let found = (stored == "*" && kind.is_in_all()) || stored.contains(&in_filter(kind));
                assert_eq!(found, filter.wants(kind), "{kind} in {stored}");
            }
            assert_eq!(read_filter(&stored), Ok(filter));
        }
        assert!(read_filter(" transaction.gone ").is_err());
    }

    #[test]
    fn what_is_wanted_is_what_any_of_them_wants() {
        let only = |names: &[&str]| Some(EventFilter::parse(names.iter().copied()).unwrap());
        let targets = [
            Target { id: [1; 16], filter: only(&["transaction.failed"]) },
            Target { id: [2; 16], filter: only(&["transaction.failed", "payment.prepared"]) },
        ];
        let wanted = [EventKind::PaymentPrepared, EventKind::Transaction(Status::Failed)];
        assert_eq!(kinds_wanted(&targets), wanted);
        assert_eq!(kinds_wanted(&[Target { id: [1; 16], filter: None }]), EventKind::ALL);
        assert!(kinds_wanted(&[]).is_empty());
    }
}
