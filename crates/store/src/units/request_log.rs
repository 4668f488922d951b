//! Calls of the client API, and the quotes of each hour.

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, RequestId},
};
use tollgate_engine::ports::{ErrorGroup, KeyUse, LoggedRequest, QuoteCount, RequestFilter};

use super::keys;
use crate::prelude::*;

/// Groups that are shown.
const MAX_GROUPS: u32 = 100;

record! {
    REQUEST_LOG, request_columns = "request_log" as r of () "ON CONFLICT DO NOTHING";
    LoggedRequest {
        environment_id: Id = environment,
        id: Id = id,
        at: Number = at,
        key_id: Id = key,
        method: Text = method,
        path: Text = path,
        endpoint: Text = endpoint,
        status: Number = status,
        code: Text = code,
        fields: Text = fields,
        took_millis: Number = took_millis,
        reference: Text = reference,
    }
}

texts! { Vec<String>: write_fields, read_fields; }

fn write_fields(fields: &[String]) -> String {
    fields.join(",")
}

#[expect(clippy::unnecessary_wraps, reason = "other types of one text may be damaged")]
fn read_fields(stored: &str) -> Result<Vec<String>, CorruptRow> {
    Ok(stored.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

record! {
    QUOTE_COUNTS, quote_columns = "quote_counts" as q of ()
        "ON CONFLICT (environment_id, hour, key_id) DO UPDATE SET count = quote_counts.count + excluded.count";
    QuoteCount {
        environment_id: Id = environment,
        key_id: Id = key,
        hour: Number = hour,
        count: Number = count,
    }
}

pub(crate) async fn record<S: Session>(
    s: &mut S,
    requests: &[LoggedRequest],
    quotes: &[QuoteCount],
    uses: &[KeyUse],
) -> Result<Effect<()>, Fault> {
    if !requests.is_empty() {
        s.insert(&REQUEST_LOG, requests.iter().map(|it| row![..it]).collect()).await?;
    }
    if !quotes.is_empty() {
        // In the same order on every node, so that none waits for another in a circle.
        let mut quotes = quotes.to_vec();
        quotes.sort_unstable_by_key(|quote| (quote.environment, quote.hour, quote.key));
        s.insert(&QUOTE_COUNTS, quotes.iter().map(|it| row![..it]).collect()).await?;
    }
    if !uses.is_empty() {
        let mut uses = uses.to_vec();
        uses.sort_unstable_by_key(|used| (used.environment, used.key));
        keys::record_uses(s, &uses).await?;
    }
    Ok(Effect::Written(()))
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    filter: &RequestFilter,
    before: Option<RequestId>,
    limit: u32,
) -> Result<Vec<LoggedRequest>, Fault> {
    let (sql, values) = listing(environment, filter, before, limit);
    s.query_planned(&sql, &values, read).await
}

/// Only what is asked for stands in the statement, so that the index for it is used.
pub(crate) fn listing(
    environment: EnvironmentId,
    filter: &RequestFilter,
    before: Option<RequestId>,
    limit: u32,
) -> (String, Vec<Value<'_>>) {
    let mut values = row![environment, limit];
    let mut sql =
        concat!("SELECT ", request_columns!(), " FROM request_log r WHERE r.environment_id = $1").to_owned();
    let conditions = [
        ("id <", before.map(Value::from)),
        ("id =", filter.request.map(Value::from)),
        ("code =", filter.code.as_deref().map(Value::from)),
        ("endpoint =", filter.endpoint.as_deref().map(Value::from)),
        ("key_id =", filter.key.map(Value::from)),
        ("reference =", filter.reference.as_deref().map(Value::from)),
    ];
    for (column, value) in conditions {
        if let Some(value) = value {
            values.push(value);
            sql.extend([format!(" AND r.{column} ${}", values.len())]);
        }
    }
    if filter.failed {
        sql.push_str(" AND r.code IS NOT NULL");
    }
    sql.push_str(" ORDER BY r.id DESC LIMIT $2");
    (sql, values)
}

const GROUPS: &str = "SELECT code, endpoint, count(*), max(at) FROM (
         SELECT code, endpoint, at FROM request_log
         WHERE environment_id = $1 AND code IS NOT NULL AND id >= $2 ORDER BY id DESC LIMIT $3) r
     GROUP BY code, endpoint ORDER BY 3 DESC, 4 DESC LIMIT $4";

/// PostgreSQL has no maximum of ids, so that the latest is asked for by itself.
pub(crate) const LAST: &str = "SELECT id FROM request_log
     WHERE environment_id = $1 AND code = $2 AND endpoint = $3 AND id >= $4 ORDER BY id DESC LIMIT 1";

pub(crate) async fn errors<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    since: Timestamp,
    most: u32,
) -> Result<Vec<ErrorGroup>, Fault> {
    let since = RequestId::new(since, [0; 10]);
    let values = values![environment, since, most, MAX_GROUPS];
    let counted: Vec<(String, String, u64, Timestamp)> = s.query(GROUPS, values, read).await?;
    let mut groups = Vec::with_capacity(counted.len());
    for (code, endpoint, count, last_at) in counted {
        let values = values![environment, &code, &endpoint, since];
        if let Some(last) = s.query_opt(LAST, values, read).await? {
            groups.push(ErrorGroup { code, endpoint, count, last, last_at });
        }
    }
    Ok(groups)
}

pub(crate) async fn quotes<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    from: Timestamp,
) -> Result<Vec<QuoteCount>, Fault> {
    let sql = "SELECT environment_id, key_id, hour, count FROM quote_counts WHERE environment_id = $1 AND hour >= $2
         ORDER BY hour, key_id";
    s.query(sql, values![environment, from], read).await
}

pub(crate) async fn forget<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    before: Timestamp,
    limit: u32,
) -> Result<Effect<u64>, Fault> {
    let sql = "DELETE FROM request_log WHERE environment_id = $1 AND id IN (
         SELECT id FROM request_log WHERE environment_id = $1 AND id < $2 ORDER BY id LIMIT $3)";
    let forgotten = s.execute(sql, values![environment, RequestId::new(before, [0; 10]), limit]).await?;
    let sql = "DELETE FROM quote_counts WHERE environment_id = $1 AND hour < $2";
    let quotes = s.execute(sql, values![environment, before]).await?;
    Ok(Effect::written_if(forgotten > 0 || quotes > 0, forgotten))
}
