//! Discrepancies with providers.

use sha2::{Digest as _, Sha256};
use tollgate_domain::{PaymentMethod, ServiceReference, card::DiscrepancyKind, id::ExceptionId};
use tollgate_engine::ports::{NewException, Resolution, StoredException};

use super::{CorruptRow, cells::Cells};

/// The columns that [`read`] takes.
macro_rules! exception_columns {
    () => {
        "method, reference, id, kind, expected, found, source, at, resolved_at, resolved_by, resolution"
    };
}

pub(crate) use exception_columns;

/// By this, the same words found are known again.
pub(crate) fn found_digest(exception: &NewException) -> [u8; 32] {
    Sha256::digest(exception.found.as_bytes()).into()
}

pub(crate) fn read<C: Cells>(cells: &mut C) -> Result<StoredException, C::Fault> {
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
