//! Databases that earlier versions have left, kept as SQL: this version brings them up to date, and goes on where they stopped.
//!
//! `TOLLGATE_UPGRADE_FROM` names the versions that [`record`] records.

use std::{fs, path::PathBuf, process::Command, time::Duration};

use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use super::{Version, World, document};
use crate::support::{
    BankRail, BankSimulator, BankStore, COMPONENT, Database, Desk, On, Wallet, on_each_store, wait_until,
};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/upgrade/recorded");

fn file(name: &str, on: On, ending: &str) -> PathBuf {
    let on = format!("{on:?}").to_lowercase();
    PathBuf::from(format!("{FOLDER}/{name}-{on}.{ending}"))
}

/// The numbers of transactions are those of the server that was recorded: on another, postings have none, as from before they were
/// kept, and audits and statements begin anew.
const OF_NO_SERVER: &str = "UPDATE public.ledger_postings SET written_by = NULL;
UPDATE public.card_postings SET written_by = NULL;
DELETE FROM public.audit_checkpoint;
DELETE FROM public.audit_balances;
DELETE FROM public.statement_position;
DELETE FROM public.statement_sums;
";

/// Every version that was recorded on this store.
fn recorded(on: On) -> Vec<String> {
    let ending = format!("-{on:?}.sql").to_lowercase();
    let files = fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| Some(file.strip_suffix(&ending)?.to_owned())).collect()
}

fn is_taken_up(on: On) {
    let names = recorded(on);
    assert!(!names.is_empty(), "{FOLDER} has nothing of {on:?}");
    for name in &names {
        let sql = fs::read_to_string(file(name, on, "sql")).unwrap();
        let store = match on {
            On::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                fs::create_dir(folder.path().join("data")).unwrap();
                let path = folder.path().join("data/tollgate.db");
                rusqlite::Connection::open(path).unwrap().execute_batch(&sql).unwrap();
                BankStore::Sqlite(folder)
            }
            On::Postgres => {
                let database = Database::create_empty();
                database.on_database(&sql);
                BankStore::Postgres(database)
            }
        };
        let notes: Value = serde_json::from_slice(&fs::read(file(name, on, "json")).unwrap()).unwrap();
        goes_on(name, &Version::this(), &store, &notes);
    }
}

fn goes_on(name: &str, version: &Version, store: &BankStore, notes: &Value) {
    let text = |field: &str| notes[field].as_str().unwrap().to_owned();
    let simulator = BankSimulator::start();
    let server = version.run(store, None);
    let desk = Desk {
        environment: text("environment"),
        secret: text("secret"),
        publishable: String::new(),
        token: text("token"),
        server: server.address(),
        rail: BankRail::Increase,
    };
    // Everything is as it was left.
    for transaction in notes["transactions"].as_array().unwrap() {
        let now = desk.transaction(transaction["serviceReference"].as_str().unwrap());
        for (field, value) in transaction.as_object().unwrap() {
            assert_eq!(&now[field], value, "{name}: {field} of {now:#}");
        }
    }
    assert_eq!(desk.wallet(), Wallet::of(&notes["wallet"]), "{name}");
    desk.assert_books(Desk::FUNDS);
    // What was sent then is not sent again, and what comes now is.
    let again = desk.transfer(&desk.body("upgrade 000001", 101)).data(200);
    assert_eq!(again["replayed"], true, "{name}");
    desk.configure(&document(&desk, simulator.address()));
    let reference = desk.made(&desk.body("after the upgrade", 5_000));
    desk.wait_status(&reference, "processing");
    let order = json!({"amountMinor": "2500", "currency": "USD"});
    let prepared = desk.client().post(COMPONENT, &order).data(201);
    let reference = prepared["serviceReference"].as_str().unwrap();
    let confirm = json!({"sourceId": "cnon:card-nonce-ok"});
    let paid = desk.client().post(&format!("{COMPONENT}/{reference}/confirm"), &confirm).data(200);
    assert_eq!(paid["transaction"]["status"], "succeeded", "{name}");
    desk.assert_books(Desk::FUNDS);
}

/// What clients are told of a payment in every version.
const KEPT: [&str; 7] = [
    "serviceReference",
    "status",
    "paymentMethod",
    "principalMinor",
    "feeMinor",
    "totalDebitMinor",
    "currency",
];

/// Has an older version take some payments, and keeps its database.
fn record(on: On) {
    for version in Version::before() {
        let mut world = World::start(on, &version);
        let running = world.load.start();
        wait_until("some payments", Duration::from_mins(2), || {
            let paid = world.load.paid.lock().unwrap();
            paid.cards.len() + paid.transfers.len() > 8
        });
        assert_eq!(running.end().failures, Vec::<String>::new());
        world.compare();
        let desk = &world.desk;
        let kept = |transaction: &Value| {
            let fields = KEPT.iter().filter(|field| !transaction[**field].is_null());
            Value::Object(fields.map(|field| ((*field).to_owned(), transaction[*field].clone())).collect())
        };
        let transactions = desk.listed("transactions");
        let references = transactions.iter().map(|it| it["serviceReference"].as_str().unwrap());
        let transactions: Vec<Value> = references.map(|it| kept(&desk.transaction(it))).collect();
        let notes = json!({
            "environment": desk.environment, "secret": desk.secret, "token": desk.token,
            "transactions": transactions, "wallet": desk.admin().get(&desk.path("/wallets/USD")).data(200),
        });
        fs::write(file(&version.name, on, "json"), format!("{notes:#}\n")).unwrap();
        assert!(world.server.terminate().success());
        let sql = match &world.store {
            BankStore::Sqlite(folder) => dump(&folder.path().join("data/tollgate.db")),
            BankStore::Postgres(database) => {
                let dumped = Command::new("pg_dump")
                    .args(["--inserts", "--no-owner", "--no-privileges", &database.url])
                    .output()
                    .unwrap();
                assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
                let text = String::from_utf8(dumped.stdout).unwrap();
                let is_sql = |line: &&str| !line.starts_with(['\\', '-']) && !line.is_empty();
                let sql: String = text.lines().filter(is_sql).flat_map(|line| [line, "\n"]).collect();
                if sql.contains("written_by") { sql + OF_NO_SERVER } else { sql }
            }
        };
        fs::write(file(&version.name, on, "sql"), sql).unwrap();
    }
}

/// A file's tables, rows, indexes and triggers, as SQL.
fn dump(path: &std::path::Path) -> String {
    let connection = rusqlite::Connection::open(path).unwrap();
    let rows = |sql: &str| -> Vec<Vec<Cell>> {
        let mut statement = connection.prepare(sql).unwrap();
        let width = statement.column_count();
        let rows = statement.query_map([], |row| (0..width).map(|place| row.get(place)).collect()).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        other => panic!("no text: {other:?}"),
    };
    let of_kind = |kinds: &str| -> Vec<(String, String)> {
        let sql = format!(
            "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND type IN ({kinds})"
        );
        rows(&sql).iter().map(|row| (text(&row[0]), text(&row[1]))).collect()
    };
    let mut dumped = String::from("BEGIN;\n");
    let tables = of_kind("'table'");
    for (_, sql) in &tables {
        dumped.push_str(&format!("{sql};\n"));
    }
    for (table, _) in &tables {
        let columns = rows(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let quoted: Vec<String> = columns.iter().map(|row| format!("quote({})", text(&row[0]))).collect();
        for row in rows(&format!("SELECT {} FROM {table}", quoted.join(" || ', ' || "))) {
            dumped.push_str(&format!("INSERT INTO {table} VALUES ({});\n", text(&row[0])));
        }
    }
    for (_, sql) in of_kind("'index', 'trigger', 'view'") {
        dumped.push_str(&format!("{sql};\n"));
    }
    dumped.push_str("COMMIT;\n");
    dumped
}

on_each_store! {
    is_taken_up
}

#[test]
#[ignore = "writes the files that the others read, with the binaries that TOLLGATE_UPGRADE_FROM names"]
fn record_on_both() {
    record(On::Sqlite);
    record(On::Postgres);
}
