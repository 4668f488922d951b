//! What events add to the index by which payments are found, and to the sums of their hour.

use rusqlite::{Connection, params};

use super::{cells::RowCells, fault::Fault, writer::Effect};
use crate::convert::digest::{
    Digest, IndexableEvent, add_sums, digestible_card_columns, digestible_transfer_columns, read_card,
    read_transfer,
};

/// Asked before digesting, so that looking for work writes nothing while there is none.
pub(super) fn is_any_undigested(connection: &Connection) -> Result<bool, Fault> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM undigested_events)")?
        .query_row([], |row| row.get(0))?)
}

pub(super) const UNDIGESTED: &str =
    "SELECT event_id, environment_id FROM undigested_events ORDER BY event_id LIMIT ?1";

pub(super) const CARD: &str = concat!(
    "SELECT ",
    digestible_card_columns!(),
    " FROM out_events e
     CROSS JOIN card_payments p ON p.environment_id = e.environment_id AND p.id = e.reference
     LEFT JOIN transactions t
         ON t.environment_id = e.environment_id AND t.method = 'web_card' AND t.reference = e.reference
     WHERE e.environment_id = ?1 AND e.id = ?2 AND e.method = 'web_card'"
);

pub(super) const TRANSFER: &str = concat!(
    "SELECT ",
    digestible_transfer_columns!(),
    " FROM out_events e
     CROSS JOIN transactions t ON t.environment_id = e.environment_id AND t.method = 'ach' AND t.reference = e.reference
     CROSS JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE e.environment_id = ?1 AND e.id = ?2 AND e.method = 'ach'"
);

pub(super) fn digest(connection: &Connection, limit: u32) -> Result<Effect<u32>, Fault> {
    let taken = connection
        .prepare_cached(UNDIGESTED)?
        .query_and_then(params![limit], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<([u8; 16], [u8; 16])>, Fault>>()?;
    if taken.is_empty() {
        return Ok(Effect::Nothing(0));
    }
    let events = load(connection, &taken)?;
    write(connection, &Digest::of(&events))?;
    let mut done = connection
        .prepare_cached("DELETE FROM undigested_events WHERE event_id = ?1 AND environment_id = ?2")?;
    for (event, environment) in &taken {
        done.execute(params![event, environment])?;
    }
    Ok(Effect::Written(u32::try_from(taken.len()).unwrap_or(u32::MAX)))
}

fn load(connection: &Connection, taken: &[([u8; 16], [u8; 16])]) -> Result<Vec<IndexableEvent>, Fault> {
    let mut card = connection.prepare_cached(CARD)?;
    let mut transfer = connection.prepare_cached(TRANSFER)?;
    let mut events = Vec::with_capacity(taken.len());
    for (event, environment) in taken {
        let found = card
            .query_and_then(params![environment, event], |row| read_card(&mut RowCells::new(row, 0)))?
            .next();
        let found = match found {
            Some(found) => Some(found?),
            None => transfer
                .query_and_then(params![environment, event], |row| read_transfer(&mut RowCells::new(row, 0)))?
                .next()
                .transpose()?,
        };
        events.extend(found);
    }
    Ok(events)
}

fn write(connection: &Connection, digest: &Digest) -> Result<(), Fault> {
    let mut term = connection.prepare_cached(
        "INSERT INTO search_terms (environment_id, term, place, method, reference) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    for one in &digest.terms {
        term.execute(params![one.environment, one.text, one.place, one.method, one.reference])?;
    }
    let mut sums = connection.prepare_cached(concat!(
        "INSERT INTO activity (environment_id, hour, currency, method, provider, kind, count, principal_minor,
             platform_fee_minor, organization_fee_minor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ",
        add_sums!()
    ))?;
    for (by, sum) in &digest.sums {
        sums.execute(params![
            by.environment,
            by.hour,
            by.currency,
            by.method,
            by.provider,
            by.kind,
            sum.count,
            sum.principal_minor,
            sum.platform_fee_minor,
            sum.organization_fee_minor
        ])?;
    }
    Ok(())
}
