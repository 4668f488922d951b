//! Filling a store with very many payments whose books are right.
//!
//! One card payment and one transfer are made through the API, up to their success; then the database itself writes their rows
//! again and again, with new ids and moments spread over the past thirty days, until there are as many as wanted.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Fault;
use crate::call::{Caller, text_at};
use crate::databases;
use crate::rows::{describe, open_sqlite};
use crate::service::{Place, Service};
use crate::simulator::Simulator;
use crate::tenants::{self, Tenant};
use crate::twin::Kind;

const MONTH_MILLIS: i64 = 30 * 86_400_000;
/// How long the transfer's success and the product's own index are waited for.
const DONE_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
pub(crate) const FILE: &str = "tollgate.db";

/// What was made through the API.
pub(crate) struct Sample {
    pub(crate) tenant: Tenant,
    pub(crate) card: String,
    pub(crate) transfer: String,
    pub(crate) customer_token: String,
}

impl Sample {
    /// The order of a card payment.
    pub(crate) fn order() -> Value {
        json!({"amountMinor": "125000", "currency": "USD", "description": "Order A-1001",
            "customer": {"name": "Ada Lovelace", "email": "ada@example.com"},
            "metadata": {"orderId": "A-1001", "tier": "gold"}})
    }

    pub(crate) fn confirmation() -> Value {
        json!({"sourceId": "cnon:card-nonce-ok"})
    }

    /// A transfer under this key.
    pub(crate) fn transfer(key: &str, customer_token: &str) -> Value {
        json!({"idempotencyKey": key, "amountMinor": "12500", "currency": "USD", "customerToken": customer_token,
            "routingNumber": "021000021", "accountNumber": "000123456789", "bankAccountType": "checking",
            "bankName": "First Bank", "accountName": "Ada Lovelace", "metadata": {"orderId": "A-1002"}})
    }
}

/// An environment with one card payment and one transfer, both paid and in the index.
pub(crate) async fn set_up(service: &Service, simulator: &Simulator) -> Result<Sample, Fault> {
    let wanted = vec![("test".to_owned(), std::sync::Arc::new(simulator.configuration("square")))];
    let tenants = tenants::set_up(service, wanted).await?;
    let tenant = tenants.into_iter().next().ok_or("there is no environment")?;
    let mut operator = service.operator();
    let environment = format!("/admin/v1/environments/{}", tenant.environment_id);
    // Enough for all that is written later.
    let funds = json!({"amountMinor": "1000000000000000", "reference": "benchmark"});
    operator.send("POST", &format!("{environment}/wallets/USD/fund"), &funds).await?;
    let mut client = Caller::new(service.address, &tenant.secret_key);
    let prepared = client.send("POST", "/client/v1/payments/component", &Sample::order()).await?;
    let card = text_at(&prepared, "/serviceReference")?;
    let path = format!("/client/v1/payments/component/{card}/confirm");
    client.send("POST", &path, &Sample::confirmation()).await?;
    let customer = json!({"externalCustomerId": "customer-1001", "email": "ada@example.com", "firstName": "Ada",
        "lastName": "Lovelace"});
    let token = client.send("POST", "/client/v1/ach/customer-tokens", &customer).await?;
    let customer_token = text_at(&token, "/customerToken")?;
    let transfer = Sample::transfer("benchmark-sample", &customer_token);
    let made = client.send("POST", "/client/v1/ach/transfers", &transfer).await?;
    let transfer = text_at(&made, "/transaction/serviceReference")?;
    let webhooks = format!("http://{}/webhooks/v1/{}/increase", service.address, tenant.environment_id);
    let path = format!("/client/v1/transactions/{transfer}");
    let read = client.call("GET", &path, None).await?.body;
    simulator.send_webhooks(&webhooks).await?;
    simulator.settle(&text_at(&read, "/data/providerReference")?).await?;
    wait("the transfer's success", async || {
        let read = client.call("GET", &path, None).await?.body;
        Ok(text_at(&read, "/data/status")? == "succeeded")
    })
    .await?;
    simulator.send_no_webhooks().await?;
    wait("the events", async || {
        let events = operator.call("GET", &format!("{environment}/events?limit=200"), None).await?.body;
        Ok(events.pointer("/data/items").and_then(Value::as_array).map_or(0, Vec::len) >= 5)
    })
    .await?;
    // The index follows within a second.
    tokio::time::sleep(Duration::from_secs(3)).await;
    Ok(Sample { tenant, card, transfer, customer_token })
}

async fn wait(what: &str, mut is_there: impl AsyncFnMut() -> Result<bool, Fault>) -> Result<(), Fault> {
    let deadline = Instant::now() + DONE_WITHIN;
    while !is_there().await? {
        if Instant::now() > deadline {
            return Err(format!("{what} did not come").into());
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

/// The database of an instance in this directory.
pub(crate) fn sqlite_url(directory: &Path) -> String {
    format!("sqlite:{}", directory.join(FILE).display())
}

/// Fills the store of an instance that does not run.
pub(crate) async fn multiply(kind: Kind, place: &Place<'_>, count: u32) -> Result<(), Fault> {
    eprintln!("writing {count} transactions on {}", kind.name());
    let started = Instant::now();
    match kind {
        Kind::Sqlite => {
            let file: PathBuf = place.directory.join(FILE);
            tokio::task::spawn_blocking(move || multiply_sqlite(&file, count)).await??;
        }
        Kind::Postgres => multiply_postgres(&place.database_url, count).await?,
    }
    eprintln!("written in {} s", started.elapsed().as_secs());
    Ok(())
}

/// A table whose rows are written again, and what is new in each.
struct Table {
    name: &'static str,
    /// Which rows of it are the pattern.
    pattern: &'static str,
    /// Columns and what stands there, in terms of the numbers' columns.
    changes: &'static [(&'static str, &'static str)],
}

/// A few are due, in some days: for whoever asks then.
const DUE: &str = "CASE WHEN n.i <= 1000 THEN n.now_hour + 864000000 END";
/// Only SQLite has it here; PostgreSQL has a table of its own.
const SEQUENCE: &str = "n.i * 100 + s.sequence";

/// Of every number `n`: `i`, `at` (a moment), `id` to `id4` (ids of that moment), `reference` (any id), `name` (any text).
const TABLES: [Table; 11] = [
    Table {
        name: "card_payments",
        pattern: "i % 2 = 0",
        changes: &[("id", "n.id"), ("created_at", "n.at"), ("due_at", DUE)],
    },
    Table {
        name: "transactions",
        pattern: "method = 'web_card' AND i % 2 = 0",
        changes: &[
            ("id", "n.id2"),
            ("reference", "n.id"),
            ("created_at", "n.at"),
            ("updated_at", "n.at"),
            ("status", "CASE WHEN n.i % 10 = 0 THEN 'failed' ELSE 'succeeded' END"),
            ("failure_code", "CASE WHEN n.i % 10 = 0 THEN 'card_declined' END"),
            ("failure_message", "CASE WHEN n.i % 10 = 0 THEN 'The card was declined.' END"),
        ],
    },
    Table {
        name: "transactions",
        pattern: "method = 'ach' AND i % 2 = 1",
        changes: &[
            ("id", "n.id2"),
            ("reference", "n.reference"),
            ("created_at", "n.at"),
            ("updated_at", "n.at"),
            ("provider_reference", "n.name"),
        ],
    },
    Table {
        name: "transfers",
        pattern: "i % 2 = 1",
        changes: &[("transaction_id", "n.id2"), ("reference", "n.name"), ("due_at", DUE)],
    },
    Table {
        name: "out_events",
        pattern: "method = 'web_card' AND i % 2 = 0",
        changes: &[("reference", "n.id"), ("id", "{fresh}"), ("at", "n.at"), ("sequence", SEQUENCE)],
    },
    Table {
        name: "out_events",
        pattern: "method = 'ach' AND i % 2 = 1",
        changes: &[("reference", "n.reference"), ("id", "{fresh}"), ("at", "n.at"), ("sequence", SEQUENCE)],
    },
    Table {
        name: "search_terms",
        pattern: "place IN (SELECT id FROM pattern_card_payments) AND i % 2 = 0",
        changes: &[
            ("place", "n.id"),
            (
                "term",
                "CASE WHEN s.term LIKE 'amount:%' THEN 'amount:' || (n.amount + CAST(substr(s.term, 8) AS BIGINT) - 125000) WHEN s.term LIKE 'text:a-1001%' THEN replace(s.term, 'a-1001', 'a-1001-' || n.i) ELSE s.term END",
            ),
        ],
    },
    Table {
        name: "search_terms",
        pattern: "place IN (SELECT id FROM pattern_transactions) AND i % 2 = 1",
        changes: &[
            ("place", "n.id2"),
            (
                "term",
                "CASE WHEN s.term LIKE 'amount:%' THEN 'amount:' || (n.amount + CAST(substr(s.term, 8) AS BIGINT) - 12500) WHEN s.term LIKE 'text:a-1002%' THEN replace(s.term, 'a-1002', 'a-1002-' || n.i) ELSE s.term END",
            ),
        ],
    },
    Table {
        name: "ledger_postings",
        pattern: "cause IN ('reserve', 'settle') AND i % 2 = 1",
        changes: &[
            ("id", "CASE s.cause WHEN 'reserve' THEN n.id3 ELSE n.id4 END"),
            ("reference", "n.name"),
            ("at", "n.at"),
            ("written_by", "pg_current_xact_id()"),
        ],
    },
    Table {
        name: "card_postings",
        pattern: "i % 2 = 0 AND i % 10 <> 0",
        changes: &[
            ("id", "n.id3"),
            ("payment_id", "n.id"),
            ("at", "n.at"),
            ("written_by", "pg_current_xact_id()"),
        ],
    },
    Table {
        name: "activity",
        pattern: "i <= 720",
        changes: &[("hour", "n.now_hour - n.i * 3600000"), ("count", "1000 + n.i % 97")],
    },
];

/// One statement for each.
fn statements(
    columns: &dyn Fn(&str) -> Result<Vec<String>, Fault>,
    fresh: &str,
) -> Result<Vec<String>, Fault> {
    let mut all = Vec::new();
    for table in &TABLES {
        let columns = columns(table.name)?;
        let mut values = String::new();
        for column in &columns {
            let change = table.changes.iter().find(|(name, _)| name == column);
            let value =
                change.map_or_else(|| format!("s.{column}"), |(_, value)| value.replace("{fresh}", fresh));
            let _ = write!(values, "{}{value}", if values.is_empty() { "" } else { ", " });
        }
        let own = table.pattern.split(" AND ").filter(|part| !part.starts_with("i ")).collect::<Vec<_>>();
        let numbers = table.pattern.split(" AND ").filter(|part| part.starts_with("i ")).collect::<Vec<_>>();
        let own = if own.is_empty() { "true".to_owned() } else { own.join(" AND ") };
        all.push(format!(
            "INSERT INTO {name} ({}) SELECT {values} FROM (SELECT * FROM pattern_{name} WHERE {own}) s
             CROSS JOIN (SELECT * FROM numbers WHERE {}) n WHERE true ON CONFLICT DO NOTHING",
            columns.join(", "),
            numbers.join(" AND "),
            name = table.name,
        ));
    }
    Ok(all)
}

/// What the accounts hold with all of it.
const BALANCES: &str = "UPDATE ledger_accounts SET balance_minor = (
     SELECT CAST(sum(e.amount_minor) AS BIGINT) FROM posting_entries e
     WHERE e.environment_id = ledger_accounts.environment_id AND e.currency = ledger_accounts.currency
         AND e.account = ledger_accounts.account)";

/// The tables, each once.
fn tables() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLES.iter().map(|table| table.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn multiply_sqlite(file: &Path, count: u32) -> Result<(), Fault> {
    let connection = open_sqlite(file)?;
    connection
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -400000")?;
    let step = MONTH_MILLIS / i64::from(count);
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE numbers AS
         WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {count}),
             m AS (SELECT i, CAST(unixepoch('now') AS INTEGER) * 1000 - ({count} - i) * {step} AS at FROM c)
         SELECT i, at, 1000 + i * 7919 % 900000 AS amount,
             unixepoch('now') / 3600 * 3600000 AS now_hour,
             unhex(printf('%012x', at) || hex(randomblob(10))) AS id, unhex(printf('%012x', at) || hex(randomblob(10))) AS id2,
             unhex(printf('%012x', at) || hex(randomblob(10))) AS id3, unhex(printf('%012x', at) || hex(randomblob(10))) AS id4,
             randomblob(16) AS reference, 'ach_' || lower(hex(randomblob(13))) AS name FROM m"
    ))?;
    let mut indexes = Vec::new();
    for name in tables() {
        connection.execute_batch(&format!("CREATE TEMP TABLE pattern_{name} AS SELECT * FROM {name}"))?;
        let sql =
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL";
        let mut statement = connection.prepare(sql)?;
        let found = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        indexes.extend(found.collect::<Result<Vec<(String, String)>, _>>()?);
    }
    // Indexes are faster made than grown.
    for (name, _) in &indexes {
        connection.execute_batch(&format!("DROP INDEX {name}"))?;
    }
    let columns = |table: &str| {
        let statement = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
        Ok(statement.column_names().map(str::to_owned).collect())
    };
    for sql in statements(&columns, "unhex(printf('%012x', n.at) || hex(randomblob(10)))")? {
        connection.execute(&sql, []).map_err(|error| format!("{sql}: {error}"))?;
    }
    for (_, sql) in &indexes {
        connection.execute_batch(sql)?;
    }
    connection.execute_batch(BALANCES)?;
    connection.execute_batch("PRAGMA optimize = 0x10002; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// Indexes and keys of a table, but those that another table refers to: how each is taken away and made again.
const INDEXES: &str = "SELECT
     CASE WHEN c.oid IS NULL THEN format('DROP INDEX %s', i.indexrelid::regclass)
         ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', i.indrelid::regclass, c.conname) END,
     CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
         ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) END
     FROM pg_index i
     LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
     WHERE i.indrelid = $1::text::regclass
         AND NOT EXISTS (SELECT 1 FROM pg_constraint f WHERE f.conindid = i.indexrelid AND f.contype = 'f')";

/// The events have no numbers, because no trigger has run.
const SEQUENCE_EVENTS: &str = "INSERT INTO event_sequence (environment_id, sequence, event_id, kind)
     SELECT e.environment_id, (SELECT max(sequence) FROM event_sequence) + row_number() OVER (ORDER BY e.id), e.id, e.kind
     FROM out_events e LEFT JOIN event_sequence s ON s.environment_id = e.environment_id AND s.event_id = e.id
     WHERE s.event_id IS NULL";

async fn multiply_postgres(url: &str, count: u32) -> Result<(), Fault> {
    let client = databases::client(url).await?;
    let run = async |sql: &str| {
        client.batch_execute(sql).await.map_err(|error| Fault::from(format!("{sql}: {}", describe(&error))))
    };
    let step = MONTH_MILLIS / i64::from(count);
    let fresh =
        "(lpad(to_hex(at), 12, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 1, 20))::uuid";
    run("SET enable_seqscan = on; SET synchronous_commit = off; SET session_replication_role = replica;
         SET work_mem = '256MB'; SET maintenance_work_mem = '1GB'")
    .await?;
    run(&format!(
        "CREATE TEMP TABLE numbers AS
         SELECT i, at, 1000 + i * 7919 % 900000 AS amount,
             (extract(epoch FROM now())::bigint / 3600) * 3600000 AS now_hour,
             {fresh} AS id, {fresh} AS id2, {fresh} AS id3, {fresh} AS id4, gen_random_uuid() AS reference,
             'ach_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 26) AS name
         FROM (SELECT i::bigint AS i, extract(epoch FROM now())::bigint * 1000 - ({count} - i::bigint) * {step} AS at
               FROM generate_series(1, {count}) i) m"
    ))
    .await?;
    let (mut all, mut indexes) = (Vec::new(), Vec::new());
    for name in tables() {
        run(&format!("CREATE TEMP TABLE pattern_{name} AS SELECT * FROM {name}")).await?;
        let statement = client.prepare(&format!("SELECT * FROM {name} LIMIT 0")).await?;
        let columns: Vec<_> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
        all.push((name, columns));
    }
    // Indexes are faster made than grown. The hours are few, and some may be there already.
    for name in tables().into_iter().filter(|name| *name != "activity").chain(["event_sequence"]) {
        for row in client.query(INDEXES, &[&name]).await.map_err(|error| describe(&error))? {
            run(&row.try_get::<_, String>(0)?).await?;
            indexes.push(row.try_get::<_, String>(1)?);
        }
    }
    let columns = |table: &str| {
        let found = all.iter().find(|(name, _)| *name == table);
        found.map(|(_, columns)| columns.clone()).ok_or_else(|| Fault::from("an unknown table"))
    };
    for sql in statements(&columns, &fresh.replace("(at)", "(n.at)"))? {
        run(&sql).await?;
    }
    run(SEQUENCE_EVENTS).await?;
    for sql in &indexes {
        run(sql).await?;
    }
    run(BALANCES).await?;
    run("VACUUM ANALYZE").await
}
