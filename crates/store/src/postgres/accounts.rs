//! Tying a payment or transfer to another account at its provider, which only an operator does.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{ProviderAccount, ServiceReference, id::EnvironmentId};
use tollgate_engine::ports::Entry;

use super::{fault::Fault, timeline::Lines, uuid};
use crate::convert;

/// Takes the line of the timeline and says whether there was anything to change.
macro_rules! set {
    ($owner:literal) => {
        concat!(
            "WITH owner AS (",
            $owner,
            " RETURNING 1),
             charging AS (
                 UPDATE card_attempts SET account = $3
                 WHERE environment_id = $1 AND payment_id = $2 AND EXISTS (SELECT 1 FROM owner)),
             lines AS (
                 INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
                 SELECT $1, $5, $2, l.id, l.at, l.kind, l.request, l.detail
                 FROM owner CROSS JOIN unnest($6::uuid[], $7::bigint[], $8::text[], $9::text[], $10::text[])
                     AS l (id, at, kind, request, detail)
                 ON CONFLICT DO NOTHING)
             SELECT EXISTS (SELECT 1 FROM owner)"
        )
    };
}

const PAYMENT: &str = set!(
    "UPDATE card_payments SET account = $3, due_at = $4, tries = 0, revision = revision + 1, last_change = NULL
     WHERE environment_id = $1 AND id = $2"
);
const TRANSFER: &str = set!(
    "UPDATE transfers SET account = $3, due_at = $4, tries = 0, revision = revision + 1, last_change = NULL
     WHERE environment_id = $1 AND transaction_id = (
         SELECT id FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2)"
);

pub(super) async fn set(
    client: &ClientWrapper,
    environment: EnvironmentId,
    reference: ServiceReference,
    account: &ProviderAccount,
    entry: &Entry,
) -> Result<bool, Fault> {
    let sql = match reference {
        ServiceReference::Card(_) => PAYMENT,
        ServiceReference::Ach(_) => TRANSFER,
    };
    let statement = client.prepare_cached(sql).await?;
    let lines = Lines::new(std::slice::from_ref(entry));
    let row = client
        .query_one(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &uuid(reference.to_bytes()),
                &convert::account::write(account),
                &entry.at.unix_millis(),
                &reference.method().as_str(),
                &lines.ids,
                &lines.moments,
                &lines.kinds,
                &lines.requests,
                &lines.details,
            ],
        )
        .await?;
    Ok(row.try_get(0)?)
}
