//! What events add to the index by which payments are found, and to the sums of their hour.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::{batches, cells::RowCells, fault::Fault, sequence, uuid};
use crate::convert::digest::{
    Digest, IndexableEvent, add_sums, digestible_card_columns, digestible_transfer_columns, read_card,
    read_transfer,
};

/// All look-ups are by key, which plans that were made while the tables were small do not know.
const BEGIN: &str = "BEGIN; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = off; \
     SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

/// What another node is digesting in this very moment is passed over rather than waited for.
const TAKE: &str = "WITH t AS MATERIALIZED (
         SELECT event_id, environment_id FROM undigested_events
         ORDER BY event_id, environment_id LIMIT $1 FOR UPDATE SKIP LOCKED)
     DELETE FROM undigested_events u USING t
     WHERE u.event_id = t.event_id AND u.environment_id = t.environment_id
     RETURNING u.environment_id, u.event_id";

const CARDS: &str = concat!(
    "SELECT ",
    digestible_card_columns!(),
    " FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, event_id)
     JOIN out_events e ON e.environment_id = w.environment_id AND e.id = w.event_id AND e.method = 'web_card'
     JOIN card_payments p ON p.environment_id = e.environment_id AND p.id = e.reference
     LEFT JOIN transactions t
         ON t.environment_id = e.environment_id AND t.method = 'web_card' AND t.reference = e.reference"
);

const TRANSFERS: &str = concat!(
    "SELECT ",
    digestible_transfer_columns!(),
    " FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, event_id)
     JOIN out_events e ON e.environment_id = w.environment_id AND e.id = w.event_id AND e.method = 'ach'
     JOIN transactions t ON t.environment_id = e.environment_id AND t.method = 'ach' AND t.reference = e.reference
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id"
);

/// In the order they are given, which is the same for all, so that none waits for another in a circle.
const ADD_TERMS: &str = "INSERT INTO search_terms (environment_id, term, place, method, reference)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[])
     ON CONFLICT DO NOTHING";

const ADD_SUMS: &str = concat!(
    "INSERT INTO activity (environment_id, hour, currency, method, provider, kind, count, principal_minor,
         platform_fee_minor, organization_fee_minor)
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
         $8::bigint[], $9::bigint[], $10::bigint[]) ",
    add_sums!()
);

/// Asked first, so that looking for work writes nothing while there is none.
async fn is_any_undigested(client: &ClientWrapper) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM undigested_events)";
    let statement = client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    Ok(client.query_one(&statement, &[]).await.map_err(Fault::Uncommitted)?.try_get(0)?)
}

/// Events are numbered on the way, so that they never wait long for somebody to list them.
pub(super) async fn digest(client: &ClientWrapper, limit: u32) -> Result<u32, Fault> {
    sequence::number_events(client, None).await?;
    if !is_any_undigested(client).await? {
        return Ok(0);
    }
    let outcome = digest_some(client, limit).await;
    if outcome.is_err() {
        batches::give_up(client).await;
    }
    outcome
}

async fn digest_some(client: &ClientWrapper, limit: u32) -> Result<u32, Fault> {
    let take = client.prepare_cached(TAKE).await.map_err(Fault::Uncommitted)?;
    let limit = i64::from(limit);
    let take_values: [&(dyn ToSql + Sync); 1] = [&limit];
    // Sent together, and answered one after the other; as below.
    let (begun, taken) = tokio::join!(biased; client.batch_execute(BEGIN), client.query(&take, &take_values));
    begun.map_err(Fault::Uncommitted)?;
    let taken = taken.map_err(Fault::Uncommitted)?;
    if taken.is_empty() {
        client.batch_execute("ROLLBACK").await.map_err(Fault::Uncommitted)?;
        return Ok(0);
    }
    let (mut scopes, mut events) = (Vec::with_capacity(taken.len()), Vec::with_capacity(taken.len()));
    for row in &taken {
        scopes.push(row.try_get::<_, Uuid>(0)?);
        events.push(row.try_get::<_, Uuid>(1)?);
    }
    let digest = Digest::of(&load(client, &scopes, &events).await?);
    write(client, &digest).await?;
    Ok(u32::try_from(taken.len()).unwrap_or(u32::MAX))
}

async fn load(
    client: &ClientWrapper,
    scopes: &[Uuid],
    events: &[Uuid],
) -> Result<Vec<IndexableEvent>, Fault> {
    let cards = client.prepare_cached(CARDS).await.map_err(Fault::Uncommitted)?;
    let transfers = client.prepare_cached(TRANSFERS).await.map_err(Fault::Uncommitted)?;
    let values: [&(dyn ToSql + Sync); 2] = [&scopes, &events];
    let (cards, transfers) =
        tokio::join!(biased; client.query(&cards, &values), client.query(&transfers, &values));
    let mut loaded = Vec::with_capacity(events.len());
    for row in &cards.map_err(Fault::Uncommitted)? {
        loaded.push(read_card(&mut RowCells::new(row, 0))?);
    }
    for row in &transfers.map_err(Fault::Uncommitted)? {
        loaded.push(read_transfer(&mut RowCells::new(row, 0))?);
    }
    Ok(loaded)
}

/// Writes what was digested, and commits.
async fn write(client: &ClientWrapper, digest: &Digest) -> Result<(), Fault> {
    let (terms, sums) = (Terms::new(digest), Sums::new(digest));
    let add_terms = client.prepare_cached(ADD_TERMS).await.map_err(Fault::Uncommitted)?;
    let add_sums = client.prepare_cached(ADD_SUMS).await.map_err(Fault::Uncommitted)?;
    let (term_values, sum_values) = (terms.values(), sums.values());
    let (added, summed, committed) = tokio::join!(
        biased;
        client.execute(&add_terms, &term_values),
        client.execute(&add_sums, &sum_values),
        client.batch_execute("COMMIT"),
    );
    // Where one of them failed, the commit undid everything.
    added?;
    summed?;
    committed?;
    Ok(())
}

/// Terms, a column each.
#[derive(Default)]
struct Terms<'a> {
    environments: Vec<Uuid>,
    texts: Vec<&'a str>,
    places: Vec<Uuid>,
    methods: Vec<&'a str>,
    references: Vec<Uuid>,
}

impl<'a> Terms<'a> {
    fn new(digest: &'a Digest) -> Self {
        let mut terms = Self::default();
        for term in &digest.terms {
            terms.environments.push(uuid(term.environment));
            terms.texts.push(&term.text);
            terms.places.push(uuid(term.place));
            terms.methods.push(term.method);
            terms.references.push(uuid(term.reference));
        }
        terms
    }

    /// The values in the statement's order.
    fn values(&self) -> [&(dyn ToSql + Sync); 5] {
        [&self.environments, &self.texts, &self.places, &self.methods, &self.references]
    }
}

/// Sums, a column each.
#[derive(Default)]
struct Sums<'a> {
    environments: Vec<Uuid>,
    hours: Vec<i64>,
    currencies: Vec<&'a str>,
    methods: Vec<&'a str>,
    providers: Vec<&'a str>,
    kinds: Vec<&'a str>,
    counts: Vec<i64>,
    principals: Vec<i64>,
    platform_fees: Vec<i64>,
    organization_fees: Vec<i64>,
}

impl<'a> Sums<'a> {
    fn new(digest: &'a Digest) -> Self {
        let mut sums = Self::default();
        for (by, sum) in &digest.sums {
            sums.environments.push(uuid(by.environment));
            sums.hours.push(by.hour);
            sums.currencies.push(&by.currency);
            sums.methods.push(by.method);
            sums.providers.push(&by.provider);
            sums.kinds.push(&by.kind);
            sums.counts.push(sum.count);
            sums.principals.push(sum.principal_minor);
            sums.platform_fees.push(sum.platform_fee_minor);
            sums.organization_fees.push(sum.organization_fee_minor);
        }
        sums
    }

    /// The values in the statement's order.
    fn values(&self) -> [&(dyn ToSql + Sync); 10] {
        [
            &self.environments,
            &self.hours,
            &self.currencies,
            &self.methods,
            &self.providers,
            &self.kinds,
            &self.counts,
            &self.principals,
            &self.platform_fees,
            &self.organization_fees,
        ]
    }
}
