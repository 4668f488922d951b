//! Tying a payment or transfer to another account at its provider: an operator does, or a transfer that was never sent follows a
//! correction.

use tollgate_domain::{ProviderAccount, ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use super::timeline;
use crate::prelude::*;

pub(crate) async fn set<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    reference: ServiceReference,
    account: &ProviderAccount,
    from_revision: Option<u64>,
    entry: &Entry,
) -> Result<Effect<bool>, Fault> {
    let owner = match reference {
        ServiceReference::Card(_) => {
            "UPDATE card_payments SET account = $3, due_at = $4, tries = 0, revision = revision + 1, last_change = NULL
             WHERE environment_id = $1 AND id = $2 AND revision = COALESCE($5, revision)"
        }
        ServiceReference::Ach(_) => {
            "UPDATE transfers SET account = $3, due_at = $4, tries = 0, revision = revision + 1, last_change = NULL
             WHERE environment_id = $1 AND revision = COALESCE($5, revision) AND transaction_id = (
                 SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)"
        }
    };
    let from_revision = from_revision.map(rows::version);
    if s.execute(owner, &row![environment, reference, ..account, entry.at, from_revision]).await? == 0 {
        return Ok(Effect::Nothing(false));
    }
    let sql = "UPDATE card_attempts SET account = $3 WHERE environment_id = $1 AND payment_id = $2";
    s.execute(sql, &row![environment, reference, ..account]).await?;
    timeline::add(s, environment, reference, std::slice::from_ref(entry)).await?;
    Ok(Effect::Written(true))
}
