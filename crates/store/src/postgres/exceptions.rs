//! Discrepancies with providers that a person has to look at.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, ExceptionId},
};
use tollgate_engine::ports::{NewException, Resolution, StoredException};
use uuid::Uuid;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    self,
    exception::{exception_columns, found_digest, read},
};

/// Discrepancies to record, a column each, as a statement takes them.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) ids: Vec<Uuid>,
    pub(super) kinds: Vec<&'static str>,
    pub(super) expected: Vec<&'a str>,
    pub(super) words: Vec<&'a str>,
    pub(super) digests: Vec<Vec<u8>>,
    pub(super) sources: Vec<&'a str>,
    pub(super) moments: Vec<i64>,
}

impl<'a> Found<'a> {
    pub(super) fn new(exceptions: impl IntoIterator<Item = &'a NewException>) -> Self {
        let exceptions: Vec<&NewException> = exceptions.into_iter().collect();
        Self {
            ids: exceptions.iter().map(|exception| uuid(exception.id.to_bytes())).collect(),
            kinds: exceptions.iter().map(|exception| exception.kind.as_str()).collect(),
            expected: exceptions.iter().map(|exception| exception.expected.as_str()).collect(),
            words: exceptions.iter().map(|exception| exception.found.as_str()).collect(),
            digests: exceptions.iter().map(|exception| found_digest(exception).to_vec()).collect(),
            sources: exceptions.iter().map(|exception| exception.source.as_str()).collect(),
            moments: exceptions.iter().map(|exception| exception.at.unix_millis()).collect(),
        }
    }
}

macro_rules! list {
    ($open:literal) => {
        concat!(
            "SELECT ",
            exception_columns!(),
            " FROM reconciliation_exceptions WHERE environment_id = $1 AND id <= $2",
            $open,
            " ORDER BY id DESC LIMIT $3"
        )
    };
}

const LIST: &str = list!("");
const LIST_OPEN: &str = list!(" AND resolved_at IS NULL");

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    open_only: bool,
    before: Option<ExceptionId>,
    limit: u32,
) -> Result<Vec<StoredException>, Fault> {
    let Some(last) = convert::up_to_before(before.map(ExceptionId::to_bytes)) else { return Ok(Vec::new()) };
    let sql = if open_only { LIST_OPEN } else { LIST };
    let statement = client.prepare_cached(sql).await?;
    let rows =
        client.query(&statement, &[&uuid(environment.to_bytes()), &uuid(last), &i64::from(limit)]).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}

pub(super) async fn of_reference(
    client: &ClientWrapper,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<StoredException>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            exception_columns!(),
            " FROM reconciliation_exceptions
             WHERE environment_id = $1 AND method = $2 AND reference = $3 ORDER BY id"
        ))
        .await?;
    let rows = client
        .query(
            &statement,
            &[&uuid(environment.to_bytes()), &reference.method().as_str(), &uuid(reference.to_bytes())],
        )
        .await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}

pub(super) async fn resolve(
    client: &ClientWrapper,
    environment: EnvironmentId,
    id: ExceptionId,
    resolution: &Resolution,
) -> Result<bool, Fault> {
    let statement = client
        .prepare_cached(
            "WITH resolved AS (
                 UPDATE reconciliation_exceptions SET resolved_at = $3, resolved_by = $4, resolution = $5
                 WHERE environment_id = $1 AND id = $2 AND resolved_at IS NULL)
             SELECT EXISTS (SELECT 1 FROM reconciliation_exceptions WHERE environment_id = $1 AND id = $2)",
        )
        .await?;
    let row = client
        .query_one(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &uuid(id.to_bytes()),
                &resolution.at.unix_millis(),
                &resolution.actor,
                &resolution.note,
            ],
        )
        .await?;
    Ok(row.try_get(0)?)
}
