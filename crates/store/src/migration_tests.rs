//! That a release can be gone back from: what migrations leave behind still takes everything that the version before writes.

use std::collections::BTreeSet;

use crate::migration::{LAST_OF_FIRST_RECORD, Migration, migrations};

const POSTGRES: &[Migration] = migrations!("postgres", 4 "0004" entries);
const SQLITE: &[Migration] = migrations!("sqlite");

/// Why a statement is no expansion: the version before would miss something, or could not write as it does.
fn fault(statement: &str, created: &mut BTreeSet<String>) -> Option<&'static str> {
    let words: Vec<String> = statement.split_whitespace().map(str::to_uppercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["CREATE", "TABLE", name, ..] => {
            created.insert((*name).to_owned());
            None
        }
        ["CREATE", "VIEW", ..] | ["CREATE", "INDEX", _, "ON", ..] => None,
        ["CREATE", "UNIQUE", "INDEX", _, "ON", table, ..] if created.contains(*table) => None,
        ["INSERT", "INTO", table, ..] if created.contains(*table) => None,
        ["CREATE", "UNIQUE", ..] => Some("the version before may write what is not unique"),
        ["ALTER", "TABLE", _, "ADD", "COLUMN", column @ ..] => {
            let is_required = column.windows(2).any(|pair| pair == ["NOT", "NULL"]);
            let has_default = column.contains(&"DEFAULT");
            (is_required && !has_default).then_some("the version before leaves the column out")
        }
        _ => Some("only tables, columns and indexes may be added"),
    }
}

fn faults(migration: &Migration) -> Vec<String> {
    let lines: Vec<&str> = migration.sql.lines().map(|line| line.split("--").next().unwrap()).collect();
    let text = lines.join("\n");
    let mut created = BTreeSet::new();
    let statements = text.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    statements
        .filter_map(|statement| fault(statement, &mut created).map(|why| format!("{why}: {statement}")))
        .collect()
}

/// A later release may take away what no supported version uses anymore. Such a migration is named here, with the first
/// version of the schema whose binaries do without; the release before must have been one of them.
const CONTRACTIONS: &[(i64, i64)] = &[];

#[test]
fn migrations_expand_first() {
    for (name, migrations) in [("SQLite", SQLITE), ("PostgreSQL", POSTGRES)] {
        for migration in migrations.iter().filter(|migration| migration.version > LAST_OF_FIRST_RECORD) {
            let Migration { version, since, .. } = migration;
            let contraction = CONTRACTIONS.iter().find(|(contraction, _)| contraction == version);
            if let Some((_, without)) = contraction {
                assert_eq!(since, without, "{name}, migration {version}");
            } else {
                assert!(since < version, "{name}, migration {version}: the version before cannot run on it");
                assert_eq!(faults(migration), Vec::<String>::new(), "{name}, migration {version}");
            }
        }
    }
}

#[test]
fn both_databases_say_the_same_of_a_version() {
    let said = |migrations: &[Migration]| -> BTreeSet<(i64, i64)> {
        let later = migrations.iter().filter(|migration| migration.version > LAST_OF_FIRST_RECORD);
        later.map(|migration| (migration.version, migration.since)).collect()
    };
    assert_eq!(said(SQLITE), said(POSTGRES));
}

#[test]
fn what_the_version_before_would_stumble_over_is_found() {
    for (sql, expands) in [
        ("-- Why.\nALTER TABLE a ADD COLUMN b TEXT; -- More.\nCREATE INDEX c ON a (b);", true),
        ("ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT 'c';", true),
        (
            "CREATE TABLE a (b TEXT NOT NULL);\nCREATE UNIQUE INDEX c ON a (b);\nINSERT INTO a SELECT x FROM y;",
            true,
        ),
        ("ALTER TABLE a ADD COLUMN b TEXT NOT NULL;", false),
        ("ALTER TABLE a RENAME COLUMN b TO c;", false),
        ("ALTER TABLE a DROP COLUMN b;", false),
        ("ALTER TABLE a ADD CONSTRAINT b CHECK (c > 0);", false),
        ("DROP TABLE a;", false),
        ("CREATE UNIQUE INDEX c ON a (b);", false),
        ("UPDATE a SET b = 1;", false),
    ] {
        let migration = Migration { version: 1, name: "x", sql, since: 1 };
        assert_eq!(faults(&migration).is_empty(), expands, "{sql}");
    }
}
