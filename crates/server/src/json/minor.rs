//! Amounts leave as strings of digits, so that no reader rounds them.

use serde::Serializer;
use tollgate_domain::Minor;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn digits<S: Serializer>(amount: &Minor, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(amount)
}
