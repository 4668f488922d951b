//! Endpoints that are told.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Timestamp,
    event::{EventFilter, EventKind},
    id::{EndpointId, EnvironmentId},
};
use tollgate_engine::ports::{Endpoint, SealedSecret};

use super::version;
use crate::prelude::*;

/// The columns that [`read`] takes, of event_endpoints as `p`.
macro_rules! endpoint_columns {
    () => {
        "p.id, p.revision, p.url, p.description, p.filter, p.disabled, p.secrets, p.created_at, p.updated_at,
         p.failures, p.rests_until"
    };
}

pub(crate) use endpoint_columns;

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Endpoint, Fault> {
    Ok(Endpoint {
        id: EndpointId::from_bytes(cells.id()?),
        revision: cells.count("revision")?,
        url: cells.text()?,
        description: cells.text_or_none()?,
        filter: cells.word("filter of an endpoint", read_filter)?,
        disabled: cells.text_or_none()?,
        secrets: cells.word("secret of an endpoint", read_secrets)?,
        created_at: cells.moment()?,
        updated_at: cells.moment()?,
        failures: cells.count("number of failures")?,
        rests_until: cells.moment_or_none()?,
    })
}

table! {
    ENDPOINTS = "event_endpoints" ("");
    fn row(environment: EnvironmentId, endpoint: &'a Endpoint) {
        environment_id: Id = environment,
        id: Id = endpoint.id,
        revision: Number = version(endpoint.revision),
        url: Text = &endpoint.url,
        description: Text = &endpoint.description,
        filter: Text = write_filter(&endpoint.filter),
        disabled: Text = &endpoint.disabled,
        secrets: Text = write_secrets(&endpoint.secrets),
        created_at: Number = endpoint.created_at,
        updated_at: Number = endpoint.updated_at,
        failures: Number = endpoint.failures,
        rests_until: Number = endpoint.rests_until,
    }
}

/// An asterisk, or the names with a space before and behind each, so that a statement finds one by its text.
pub(crate) fn write_filter(filter: &EventFilter) -> String {
    match filter {
        EventFilter::All => EventFilter::EVERYTHING.to_owned(),
        EventFilter::Only(_) => format!(" {} ", filter.names().join(" ")),
    }
}

pub(crate) fn read_filter(stored: &str) -> Option<EventFilter> {
    EventFilter::parse(stored.split_whitespace()).ok()
}

#[derive(Serialize, Deserialize)]
struct StoredSecret {
    sealed: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
}

pub(crate) fn write_secrets(secrets: &[SealedSecret]) -> String {
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

fn read_secrets(stored: &str) -> Option<Vec<SealedSecret>> {
    let stored: Vec<StoredSecret> = serde_json::from_str(stored).ok()?;
    Some(
        stored
            .into_iter()
            .map(|secret| SealedSecret {
                sealed: secret.sealed,
                until: secret.until.map(Timestamp::from_unix_millis),
            })
            .collect(),
    )
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

/// Reads the columns id and filter.
pub(crate) fn read_target(cells: &mut Cells<'_>) -> Result<Target, Fault> {
    Ok(Target { id: cells.id()?, filter: Some(cells.word("filter of an endpoint", read_filter)?) })
}

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
            assert_eq!(read_filter(&stored), Some(filter));
        }
        assert_eq!(read_filter(" transaction.gone "), None);
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
