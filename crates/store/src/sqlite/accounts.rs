//! Tying a payment or transfer to another account at its provider, which only an operator does.

use rusqlite::{Connection, params};
use tollgate_domain::{ProviderAccount, ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use super::{fault::Fault, timeline, writer::Effect};
use crate::convert;

pub(super) fn set(
    connection: &Connection,
    environment: EnvironmentId,
    reference: ServiceReference,
    account: &ProviderAccount,
    entry: &Entry,
) -> Result<Effect<bool>, Fault> {
    let owner = match reference {
        ServiceReference::Card(_) => {
            "UPDATE card_payments SET account = ?3, due_at = ?4, tries = 0, revision = revision + 1, last_change = NULL
             WHERE environment_id = ?1 AND id = ?2"
        }
        ServiceReference::Ach(_) => {
            "UPDATE transfers SET account = ?3, due_at = ?4, tries = 0, revision = revision + 1, last_change = NULL
             WHERE environment_id = ?1 AND transaction_id = (
                 SELECT id FROM transactions WHERE environment_id = ?1 AND method = 'ach' AND reference = ?2)"
        }
    };
    let account = convert::account::write(account);
    let (scope, id) = (environment.to_bytes(), reference.to_bytes());
    let found =
        connection.prepare_cached(owner)?.execute(params![scope, id, account, entry.at.unix_millis()])?;
    if found == 0 {
        return Ok(Effect::Nothing(false));
    }
    connection
        .prepare_cached(
            "UPDATE card_attempts SET account = ?3 WHERE environment_id = ?1 AND payment_id = ?2",
        )?
        .execute(params![scope, id, account])?;
    timeline::add(connection, environment, reference, std::slice::from_ref(entry))?;
    Ok(Effect::Written(true))
}
