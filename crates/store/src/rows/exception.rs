//! Discrepancies with providers.

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

pub(crate) use exception_columns;

table! {
    EXCEPTIONS = "reconciliation_exceptions" ("ON CONFLICT DO NOTHING");
    fn row(environment: EnvironmentId, reference: ServiceReference, exception: &'a NewException) {
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

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<StoredException, Fault> {
    let method = cells.word("payment method", PaymentMethod::parse)?;
    let reference = ServiceReference::from_bytes(method, cells.id()?);
    let exception = NewException {
        id: ExceptionId::from_bytes(cells.id()?),
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
