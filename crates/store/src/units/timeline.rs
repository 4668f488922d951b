//! Payments' timelines.

use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use crate::{
    prelude::*,
    rows::timeline::{TIMELINE, in_order, read_lines, timeline_rows},
};

/// Adds lines to a timeline; one that is there stays as it is.
pub(super) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Result<(), Fault> {
    s.insert(&TIMELINE, timeline_rows(environment, reference, entries)).await
}

pub(crate) const OF_REFERENCE: &str = "SELECT id, at, kind, request, detail FROM timeline WHERE environment_id = $1 AND method = $2 AND reference = $3 ORDER BY id";

pub(crate) async fn of_reference<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<Entry>, Fault> {
    let values = values![environment, reference.method().as_str(), reference];
    Ok(in_order(s.query(OF_REFERENCE, values, read_lines).await?))
}
