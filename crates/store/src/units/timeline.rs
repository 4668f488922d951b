//! Payments' timelines.

use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use crate::{
    prelude::*,
    rows::payment::{TIMELINE, read_entry, timeline_row},
};

/// Adds lines to a timeline; one that is there stays as it is.
pub(super) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Result<(), Fault> {
    let rows = entries.iter().map(|entry| timeline_row(environment, reference, entry)).collect();
    s.insert(&TIMELINE, rows).await
}

pub(crate) const OF_REFERENCE: &str = "SELECT id, at, kind, request, detail FROM timeline WHERE environment_id = $1 AND method = $2 AND reference = $3 ORDER BY id";

pub(crate) async fn of_reference<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<Entry>, Fault> {
    s.query(OF_REFERENCE, values![environment, reference.method().as_str(), reference], read_entry).await
}
