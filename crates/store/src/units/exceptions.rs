//! Discrepancies with providers that a person has to look at.

use sha2::{Digest as _, Sha256};
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, ExceptionId},
};
use tollgate_engine::ports::{NewException, Resolution, StoredException};

use crate::prelude::*;

record! {
    EXCEPTIONS, new_exception_columns = "reconciliation_exceptions" as x
        of (environment_id: Id, method: Text, reference: Id) "ON CONFLICT DO NOTHING";
    NewException {
        id: Id = id,
        kind: Text = kind,
        expected: Text = expected,
        found: Text = found,
        source: Text = source,
        at: Number = at,
    }
    + (found_digest: Bytes)
}

/// A discrepancy's own values. By the digest, the same words found are known again.
pub(crate) fn exception_row(exception: &NewException) -> Vec<Value<'_>> {
    let digest: [u8; 32] = Sha256::digest(exception.found.as_bytes()).into();
    row![..exception, digest]
}

macro_rules! exception_columns {
    () => {
        concat!(
            "x.method, x.reference, ",
            new_exception_columns!(),
            ", x.resolved_at, x.resolved_by, x.resolution"
        )
    };
}

stored! { StoredException { reference, exception, resolved } }

impl Stored for Resolution {
    const WIDTH: usize = 3;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.extend(row![self.at, &self.actor, &self.note]);
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        match (cells.get()?, cells.get()?, cells.get()?) {
            (Some(at), Some(actor), Some(note)) => Ok(Some(Self { at, actor, note })),
            (None, None, None) => Ok(None),
            _ => Err(CorruptRow("part of a resolution").into()),
        }
    }
}

macro_rules! list {
    ($open:literal) => {
        concat!(
            "SELECT ",
            exception_columns!(),
            " FROM reconciliation_exceptions x WHERE environment_id = $1 AND id <= $2",
            $open,
            " ORDER BY id DESC LIMIT $3"
        )
    };
}

pub(crate) const LIST: &str = list!("");
pub(crate) const LIST_OPEN: &str = list!(" AND resolved_at IS NULL");

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    open_only: bool,
    before: Option<ExceptionId>,
    limit: u32,
) -> Result<Vec<StoredException>, Fault> {
    let Some(last) = rows::up_to_before(before) else { return Ok(Vec::new()) };
    s.query(if open_only { LIST_OPEN } else { LIST }, values![environment, last, limit], |cells| cells.get())
        .await
}

macro_rules! of_reference {
    ($order:literal) => {
        concat!(
            "SELECT ",
            exception_columns!(),
            " FROM reconciliation_exceptions x
             WHERE environment_id = $1 AND method = $2 AND reference = $3 ORDER BY ",
            $order
        )
    };
}

/// The plus keeps SQLite from reading the whole environment for the sake of the order.
pub(crate) const OF_REFERENCE: &str = of_reference!("+id");

pub(crate) async fn of_reference<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
) -> Result<Vec<StoredException>, Fault> {
    let sql = S::DIALECT.pick(OF_REFERENCE, of_reference!("id"));
    s.query(sql, values![environment, reference.method().as_str(), reference], |cells| cells.get()).await
}

pub(crate) async fn resolve<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: ExceptionId,
    resolution: &Resolution,
) -> Result<Effect<bool>, Fault> {
    let sql = "UPDATE reconciliation_exceptions SET resolved_at = $3, resolved_by = $4, resolution = $5
         WHERE environment_id = $1 AND id = $2 AND resolved_at IS NULL";
    let values = values![environment, id, resolution.at, &resolution.actor, &resolution.note];
    if s.execute(sql, values).await? == 1 {
        return Ok(Effect::Written(true));
    }
    let sql = "SELECT 1 FROM reconciliation_exceptions WHERE environment_id = $1 AND id = $2";
    Ok(Effect::Nothing(s.exists(sql, values![environment, id]).await?))
}
