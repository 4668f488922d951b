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

/// The migrations in a folder: number 1 is in `0001_foundations.sql`. PostgreSQL has one more than SQLite.
macro_rules! migrations {
    (@each $folder:literal: $($version:literal $number:literal $name:ident),+ $(,)?) => {
        &[$($crate::migration::Migration {
            version: $version,
            name: stringify!($name),
            sql: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/migrations/", $folder, "/", $number, "_", stringify!($name), ".sql"
            )),
        }),+]
    };
    ($folder:literal $(, $version:literal $number:literal $name:ident)?) => {
        $crate::migration::migrations!(@each $folder:
            1 "0001" foundations,
            2 "0002" payments,
            3 "0003" transfers,
            $($version $number $name,)?
            5 "0005" events,
            6 "0006" lists,
            7 "0007" accounts,
            8 "0008" event_sequence,
            11 "0011" follow_ups,
            12 "0012" names_of_payments,
            16 "0016" provider_checks,
            18 "0018" refunds,
            19 "0019" preparation_keys,
            20 "0020" holds,
            21 "0021" card_books,
            22 "0022" customer_tokens,
            23 "0023" security,
            24 "0024" fingerprints,
            25 "0025" people,
            27 "0027" routes,
            29 "0029" limits,
            31 "0031" request_log,
            32 "0032" search,
            33 "0033" transfer_details,
            34 "0034" request_log_by_code,
            35 "0035" audit_log,
            36 "0036" key_scopes,
            37 "0037" erasure,
            38 "0038" approvals,
            39 "0039" audit_checkpoint,
            40 "0040" statement_sums,
            41 "0041" entries_of_postings,
            42 "0042" lines_of_payments,
            43 "0043" smaller_search_terms,
            44 "0044" withdrawn_for_disputes,
            45 "0045" erasure_wishes,
            46 "0046" credential_accounts,
            50 "0050" identity,
            51 "0051" more_approvals,
        )
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
