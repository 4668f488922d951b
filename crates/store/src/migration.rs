//! Which migrations there are, and what a database's own record of them allows.
//!
//! A migration is a file of SQL that is never edited once released: its checksum is kept in the database, and a
//! database whose record differs from this binary's files is refused rather than guessed at.

use std::{fmt::Write as _, time::SystemTime};

use sha2::{Digest as _, Sha256};

use crate::OpenError;

/// One step of the schema.
#[derive(Debug)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

/// The migrations in a folder: `migrations!("sqlite": 1 "0001" foundations, …)` takes `0001_foundations.sql` for number 1.
macro_rules! migrations {
    ($folder:literal: $($version:literal $number:literal $name:ident),+ $(,)?) => {
        &[$($crate::migration::Migration {
            version: $version,
            name: stringify!($name),
            sql: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/migrations/", $folder, "/", $number, "_", stringify!($name), ".sql"
            )),
        }),+]
    };
}

pub(crate) use migrations;

impl Migration {
    /// SHA-256 of the SQL, in hexadecimal.
    pub(crate) fn checksum(&self) -> String {
        Sha256::digest(self.sql.as_bytes()).iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    pub(crate) fn failed(&self, reason: &impl ToString) -> OpenError {
        OpenError::Migration { version: self.version, name: self.name.to_owned(), reason: reason.to_string() }
    }
}

/// The database's own line about a migration that was applied to it.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) checksum: String,
}

/// The next migration to apply, `None` if the schema is up to date. Both lists are in order of version.
pub(crate) fn next<'a>(
    known: &'a [Migration],
    applied: &[Applied],
) -> Result<Option<&'a Migration>, OpenError> {
    let newest = known.last().map_or(0, |migration| migration.version);
    for (place, line) in applied.iter().enumerate() {
        if line.version > newest {
            let database = applied.last().map_or(line.version, |last| last.version);
            return Err(OpenError::SchemaNewer { database, known: newest });
        }
        let same = known.get(place).is_some_and(|migration| {
            migration.version == line.version && migration.checksum() == line.checksum
        });
        if !same {
            return Err(OpenError::SchemaDiffers { version: line.version, name: line.name.clone() });
        }
    }
    Ok(known.get(applied.len()))
}

/// The moment to write beside an applied migration.
pub(crate) fn now_millis() -> i64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()
        .and_then(|elapsed| i64::try_from(elapsed.as_millis()).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Migration; 2] =
        [Migration { version: 1, name: "one", sql: "a" }, Migration { version: 2, name: "two", sql: "b" }];

    fn applied(lines: &[(i64, &str)]) -> Vec<Applied> {
        let line = |(version, sql): &(i64, &'static str)| Applied {
            version: *version,
            name: "n".to_owned(),
            checksum: Migration { version: 0, name: "", sql }.checksum(),
        };
        lines
            .iter()
            .map(|(version, sql)| line(&(*version, Box::leak((*sql).to_owned().into_boxed_str()))))
            .collect()
    }

    #[test]
    fn the_first_missing_one_is_next() {
        for (have, expected) in
            [(vec![], Some(1)), (vec![(1, "a")], Some(2)), (vec![(1, "a"), (2, "b")], None)]
        {
            let next = next(&KNOWN, &applied(&have)).unwrap();
            assert_eq!(next.map(|migration| migration.version), expected);
        }
    }

    #[test]
    fn another_history_is_refused() {
        assert!(matches!(
            next(&KNOWN, &applied(&[(1, "x")])),
            Err(OpenError::SchemaDiffers { version: 1, .. })
        ));
        assert!(matches!(
            next(&KNOWN, &applied(&[(2, "b")])),
            Err(OpenError::SchemaDiffers { version: 2, .. })
        ));
        assert!(matches!(
            next(&KNOWN, &applied(&[(1, "a"), (2, "b"), (3, "c"), (4, "d")])),
            Err(OpenError::SchemaNewer { database: 4, known: 2 })
        ));
    }
}
