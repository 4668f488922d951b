//! Discrepancies with providers that a person has to look at.

use sha2::{Digest as _, Sha256};
use tollgate_domain::{
    PaymentMethod, ServiceReference,
    card::DiscrepancyKind,
    id::{EnvironmentId, ExceptionId},
};
use tollgate_engine::ports::{NewException, Resolution, StoredException};

use crate::prelude::*;

/// The columns that [`read`] takes.
macro_rules! exception_columns {
    () => {
        "method, reference, id, kind, expected, found, source, at, resolved_at, resolved_by, resolution"
    };
}

table! {
    EXCEPTIONS = "reconciliation_exceptions" ("ON CONFLICT DO NOTHING");
    fn exception_row(environment: EnvironmentId, reference: ServiceReference, exception: &'a NewException) {
        environment_id: Id = environment,
        method: Text = reference.method().as_str(),
        reference: Id = reference,
        id: Id = exception.id,
        kind: Text = exception.kind.as_str(),
        expected: Text = &exception.expected,
        found: Text = &exception.found,
        found_digest: Bytes = found_digest(exception),
        source: Text = &exception.source,
        at: Number = exception.at,
    }
}

/// By this, the same words found are known again.
fn found_digest(exception: &NewException) -> [u8; 32] {
    Sha256::digest(exception.found.as_bytes()).into()
}

fn read(cells: &mut Cells<'_>) -> Result<StoredException, Fault> {
    let method = cells.word("payment method", PaymentMethod::parse)?;
    let reference = ServiceReference::from_bytes(method, cells.id()?);
    let exception = NewException {
        id: cells.id()?,
        kind: cells.word("kind of disagreement", DiscrepancyKind::parse)?,
        expected: cells.text()?,
        found: cells.text()?,
        source: cells.text()?,
        at: cells.moment()?,
    };
    let resolved = match (cells.moment_or_none()?, cells.text_or_none()?, cells.text_or_none()?) {
        (Some(at), Some(actor), Some(note)) => Some(Resolution { at, actor, note }),
        (None, None, None) => None,
        _ => return Err(CorruptRow("part of a resolution").into()),
    };
    Ok(StoredException { reference, exception, resolved })
}

/// Records what is wrong with a payment; what is known of it already stays as it is.
pub(super) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    exceptions: &[NewException],
) -> Result<(), Fault> {
    let rows = exceptions.iter().map(|exception| exception_row(environment, reference, exception)).collect();
    s.insert(&EXCEPTIONS, rows).await
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
    s.query(if open_only { LIST_OPEN } else { LIST }, values![environment, last, limit], read).await
}

macro_rules! of_reference {
    ($order:literal) => {
        concat!(
            "SELECT ",
            exception_columns!(),
            " FROM reconciliation_exceptions
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
    s.query(sql, values![environment, reference.method().as_str(), reference], read).await
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
    let known = s.query_opt(sql, values![environment, id], |_| Ok(())).await?;
    Ok(Effect::Nothing(known.is_some()))
}
