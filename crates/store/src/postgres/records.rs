//! Payments as they are found and added up, and what waits for a person.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{PaymentMethod, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Activity, Attention, PastPayment, SearchCursor, SearchHit};

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    self,
    cells::Cells as _,
    record::{
        activity_columns, merged, past_card_columns, past_transfer_columns, read_activity, read_found,
        read_past_card, read_past_transfer,
    },
};

pub(super) async fn find(
    client: &ClientWrapper,
    environment: EnvironmentId,
    term: &str,
    before: Option<SearchCursor>,
    limit: u32,
) -> Result<Vec<SearchHit>, Fault> {
    let Some(last) = convert::up_to_before(before) else { return Ok(Vec::new()) };
    let statement = client
        .prepare_cached(
            "SELECT place, method, reference FROM search_terms
             WHERE environment_id = $1 AND term = $2 AND place <= $3 ORDER BY place DESC LIMIT $4",
        )
        .await?;
    let rows = client
        .query(&statement, &[&uuid(environment.to_bytes()), &term, &uuid(last), &i64::from(limit)])
        .await?;
    rows.iter().map(|row| read_found(&mut RowCells::new(row, 0))).collect()
}

pub(super) async fn activity(
    client: &ClientWrapper,
    environment: EnvironmentId,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Activity>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            activity_columns!(),
            " FROM activity WHERE environment_id = $1 AND hour >= $2 AND hour < $3
             ORDER BY hour, currency, method, provider, kind"
        ))
        .await?;
    let rows = client
        .query(&statement, &[&uuid(environment.to_bytes()), &from.unix_millis(), &until.unix_millis()])
        .await?;
    rows.iter().map(|row| read_activity(&mut RowCells::new(row, 0))).collect()
}

pub(super) async fn past_payments(
    client: &ClientWrapper,
    environment: EnvironmentId,
    method: Option<PaymentMethod>,
    limit: u32,
) -> Result<Vec<PastPayment>, Fault> {
    let (scope, most) = (uuid(environment.to_bytes()), i64::from(limit));
    let (mut cards, mut transfers) = (Vec::new(), Vec::new());
    if method != Some(PaymentMethod::Ach) {
        let statement = client
            .prepare_cached(concat!(
                "SELECT ",
                past_card_columns!(),
                " FROM card_payments p WHERE p.environment_id = $1 ORDER BY p.id DESC LIMIT $2"
            ))
            .await?;
        for row in &client.query(&statement, &[&scope, &most]).await? {
            cards.push(read_past_card(&mut RowCells::new(row, 0))?);
        }
    }
    if method != Some(PaymentMethod::WebCard) {
        // The two share the transaction's id. As an array: a server that plans for any limit believes that it is a tenth of
        // all, and would rather read all of them than look so many up.
        let statement = client
            .prepare_cached(concat!(
                "SELECT ",
                past_transfer_columns!(),
                " FROM transactions t WHERE t.environment_id = $1 AND t.id = ANY (ARRAY(
                     SELECT transaction_id FROM transfers WHERE environment_id = $1
                     ORDER BY transaction_id DESC LIMIT $2))"
            ))
            .await?;
        for row in &client.query(&statement, &[&scope, &most]).await? {
            transfers.push(read_past_transfer(&mut RowCells::new(row, 0))?);
        }
    }
    Ok(merged(cards, transfers, limit))
}

pub(super) async fn attention(
    client: &ClientWrapper,
    environment: EnvironmentId,
    most: u32,
) -> Result<Attention, Fault> {
    // The orders mean nothing but that the indexes are used, however many the server believes there are.
    let statement = client
        .prepare_cached(
            "SELECT
                 (SELECT count(*) FROM (
                     SELECT 1 FROM card_payments
                     WHERE environment_id = $1 AND waiting IS NOT NULL ORDER BY id LIMIT $2) c),
                 (SELECT count(*) FROM (
                     SELECT 1 FROM transfers
                     WHERE environment_id = $1 AND waiting IS NOT NULL ORDER BY transaction_id LIMIT $2) c),
                 (SELECT count(*) FROM (
                     SELECT 1 FROM reconciliation_exceptions
                     WHERE environment_id = $1 AND resolved_at IS NULL ORDER BY id LIMIT $2) c),
                 (SELECT count(*) FROM (
                     SELECT 1 FROM event_endpoints p CROSS JOIN LATERAL (
                         SELECT 1 FROM event_deliveries d
                         WHERE d.environment_id = p.environment_id AND d.endpoint_id = p.id AND d.state = 'parked'
                         ORDER BY d.event_id LIMIT $2) d
                     WHERE p.environment_id = $1 LIMIT $2) c),
                 (SELECT count(*) FROM (
                     SELECT 1 FROM event_endpoints
                     WHERE environment_id = $1 AND disabled IS NOT NULL LIMIT $2) c),
                 (SELECT count(*) FROM (
                     SELECT 1 FROM provider_events
                     WHERE environment_id = $1 AND state = 'waiting' ORDER BY received_at LIMIT $2) c),
                 (SELECT count(*) FROM (
                     SELECT 1 FROM provider_events
                     WHERE environment_id = $1 AND state = 'parked' ORDER BY received_at LIMIT $2) c)",
        )
        .await?;
    let row = client.query_one(&statement, &[&uuid(environment.to_bytes()), &i64::from(most)]).await?;
    let mut cells = RowCells::new(&row, 0);
    Ok(Attention {
        waiting_payments: cells.count("count")?,
        waiting_transfers: cells.count("count")?,
        open_exceptions: cells.count("count")?,
        parked_deliveries: cells.count("count")?,
        disabled_endpoints: cells.count("count")?,
        waiting_provider_events: cells.count("count")?,
        parked_provider_events: cells.count("count")?,
    })
}
