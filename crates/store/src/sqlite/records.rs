//! Payments as they are found and added up, and what waits for a person.

use rusqlite::{Connection, params};
use tollgate_domain::{PaymentMethod, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Activity, Attention, PastPayment, SearchCursor, SearchHit};

use super::{cells::RowCells, fault::Fault};
use crate::convert::{
    self,
    record::{
        activity_columns, merged, past_card_columns, past_transfer_columns, read_activity, read_found,
        read_past_card, read_past_transfer,
    },
};

pub(super) const FIND: &str = "SELECT place, method, reference FROM search_terms
     WHERE environment_id = ?1 AND term = ?2 AND place <= ?3 ORDER BY place DESC LIMIT ?4";

pub(super) fn find(
    connection: &Connection,
    environment: EnvironmentId,
    term: &str,
    before: Option<SearchCursor>,
    limit: u32,
) -> Result<Vec<SearchHit>, Fault> {
    let Some(last) = convert::up_to_before(before) else { return Ok(Vec::new()) };
    connection
        .prepare_cached(FIND)?
        .query_and_then(params![environment.to_bytes(), term, last, limit], |row| {
            read_found(&mut RowCells::new(row, 0))
        })?
        .collect()
}

pub(super) const ACTIVITY: &str = concat!(
    "SELECT ",
    activity_columns!(),
    " FROM activity WHERE environment_id = ?1 AND hour >= ?2 AND hour < ?3
     ORDER BY hour, currency, method, provider, kind"
);

pub(super) fn activity(
    connection: &Connection,
    environment: EnvironmentId,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Activity>, Fault> {
    connection
        .prepare_cached(ACTIVITY)?
        .query_and_then(params![environment.to_bytes(), from.unix_millis(), until.unix_millis()], |row| {
            read_activity(&mut RowCells::new(row, 0))
        })?
        .collect()
}

pub(super) const PAST_CARDS: &str = concat!(
    "SELECT ",
    past_card_columns!(),
    " FROM card_payments p WHERE p.environment_id = ?1 ORDER BY p.id DESC LIMIT ?2"
);

/// The two share the transaction's id.
pub(super) const PAST_TRANSFERS: &str = concat!(
    "SELECT ",
    past_transfer_columns!(),
    " FROM transfers f CROSS JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
     WHERE f.environment_id = ?1 ORDER BY f.transaction_id DESC LIMIT ?2"
);

pub(super) fn past_payments(
    connection: &Connection,
    environment: EnvironmentId,
    method: Option<PaymentMethod>,
    limit: u32,
) -> Result<Vec<PastPayment>, Fault> {
    let (mut cards, mut transfers) = (Vec::new(), Vec::new());
    if method != Some(PaymentMethod::Ach) {
        cards = connection
            .prepare_cached(PAST_CARDS)?
            .query_and_then(params![environment.to_bytes(), limit], |row| {
                read_past_card(&mut RowCells::new(row, 0))
            })?
            .collect::<Result<_, Fault>>()?;
    }
    if method != Some(PaymentMethod::WebCard) {
        transfers = connection
            .prepare_cached(PAST_TRANSFERS)?
            .query_and_then(params![environment.to_bytes(), limit], |row| {
                read_past_transfer(&mut RowCells::new(row, 0))
            })?
            .collect::<Result<_, Fault>>()?;
    }
    Ok(merged(cards, transfers, limit))
}

pub(super) const ATTENTION: &str = "SELECT
     (SELECT count(*) FROM (
         SELECT 1 FROM card_payments WHERE environment_id = ?1 AND waiting IS NOT NULL LIMIT ?2)),
     (SELECT count(*) FROM (
         SELECT 1 FROM transfers WHERE environment_id = ?1 AND waiting IS NOT NULL LIMIT ?2)),
     (SELECT count(*) FROM (
         SELECT 1 FROM reconciliation_exceptions WHERE environment_id = ?1 AND resolved_at IS NULL LIMIT ?2)),
     (SELECT count(*) FROM (
         SELECT 1 FROM event_endpoints p CROSS JOIN event_deliveries d
             ON d.environment_id = p.environment_id AND d.endpoint_id = p.id
         WHERE p.environment_id = ?1 AND d.state = 'parked' AND d.state <> 'delivered' LIMIT ?2)),
     (SELECT count(*) FROM (
         SELECT 1 FROM event_endpoints WHERE environment_id = ?1 AND disabled IS NOT NULL LIMIT ?2)),
     (SELECT count(*) FROM (
         SELECT 1 FROM provider_events WHERE environment_id = ?1 AND state = 'waiting' LIMIT ?2)),
     (SELECT count(*) FROM (
         SELECT 1 FROM provider_events WHERE environment_id = ?1 AND state = 'parked' LIMIT ?2))";

pub(super) fn attention(
    connection: &Connection,
    environment: EnvironmentId,
    most: u32,
) -> Result<Attention, Fault> {
    Ok(connection.prepare_cached(ATTENTION)?.query_row(params![environment.to_bytes(), most], |row| {
        Ok(Attention {
            waiting_payments: row.get(0)?,
            waiting_transfers: row.get(1)?,
            open_exceptions: row.get(2)?,
            parked_deliveries: row.get(3)?,
            disabled_endpoints: row.get(4)?,
            waiting_provider_events: row.get(5)?,
            parked_provider_events: row.get(6)?,
        })
    })?)
}
