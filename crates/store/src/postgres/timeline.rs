//! Payments' timelines.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;
use uuid::Uuid;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::payment::{entry_columns, read_entry};

/// Lines to add, a column each, as a statement takes them.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) ids: Vec<Uuid>,
    pub(super) moments: Vec<i64>,
    pub(super) kinds: Vec<&'a str>,
    pub(super) requests: Vec<Option<&'a str>>,
    pub(super) details: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(entries: &'a [Entry]) -> Self {
        Self {
            ids: entries.iter().map(|entry| uuid(entry.id.to_bytes())).collect(),
            moments: entries.iter().map(|entry| entry.at.unix_millis()).collect(),
            kinds: entries.iter().map(|entry| entry.kind.as_str()).collect(),
            requests: entries.iter().map(|entry| entry.request.as_deref()).collect(),
            details: entries.iter().map(|entry| entry.detail.as_str()).collect(),
        }
    }
}

pub(super) async fn of_reference(
    client: &ClientWrapper,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<Entry>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            entry_columns!(),
            " FROM timeline WHERE environment_id = $1 AND method = $2 AND reference = $3 ORDER BY id"
        ))
        .await?;
    let rows = client
        .query(
            &statement,
            &[&uuid(environment.to_bytes()), &reference.method().as_str(), &uuid(reference.to_bytes())],
        )
        .await?;
    rows.iter().map(|row| read_entry(&mut RowCells::new(row, 0))).collect()
}
