//! Which migrations there are, and what a database's own record of them allows.
//!
//! A migration is a file of SQL that is never edited once released: its checksum is kept in the database, and a
//! database whose record differs from this binary's files is refused rather than guessed at.
//!
//! Migrations expand first and contract a release later, so that nodes of the version before run beside those that have
//! migrated, and can be started again: each says since which schema a node may run on what it leaves behind, and the database
//! keeps that, so that an older binary finds it there.

use std::{fmt::Write as _, time::SystemTime};

use sha2::{Digest as _, Sha256};

use crate::OpenError;

/// One step of the schema.
#[derive(Debug)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    /// The schema that a binary must know to run on this one; its own version where it must know this very step.
    pub(crate) since: i64,
}

/// The newest schema whose binaries read `schema_migrations` alone and refuse whatever they do not know there. Later steps are
/// kept in `schema_changes`, and in both where those binaries must not be started anymore.
pub(crate) const LAST_OF_FIRST_RECORD: i64 = 51;

/// What the database keeps of every migration, those of the first record first.
pub(crate) const APPLIED: &str = "SELECT version, name, checksum, version AS since FROM schema_migrations
     WHERE version NOT IN (SELECT version FROM schema_changes)
 UNION ALL SELECT version, name, checksum, since FROM schema_changes ORDER BY version";

/// The migrations in a folder: number 1 is in `0001_foundations.sql`. PostgreSQL has one more than SQLite.
macro_rules! migrations {
    (@since $version:literal) => { $version };
    (@since $version:literal $since:literal) => { $since };
    (@each $folder:literal: $($version:literal $number:literal $name:ident $(since $since:literal)?),+ $(,)?) => {
        &[$($crate::migration::Migration {
            version: $version,
            since: $crate::migration::migrations!(@since $version $($since)?),
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
            55 "0055" payment_card since 51,
            56 "0056" card_fee_decided since 51,
            57 "0057" dispute_currency since 51,
            64 "0064" particular_transactions since 51,
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

    /// The tables whose record it is written to, those that have the column `since` with it.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        let is_first = self.version <= LAST_OF_FIRST_RECORD || self.since > LAST_OF_FIRST_RECORD;
        let first = is_first.then_some(Record::First);
        first.into_iter().chain((self.version > LAST_OF_FIRST_RECORD).then_some(Record::Changes))
    }

    pub(crate) fn failed(&self, reason: &impl ToString) -> OpenError {
        OpenError::Migration { version: self.version, name: self.name.to_owned(), reason: reason.to_string() }
    }
}

/// A table that migrations are recorded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// `schema_migrations`.
    First,
    /// `schema_changes`.
    Changes,
}

/// The database's own line about a migration that was applied to it.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) checksum: String,
    pub(crate) since: i64,
}

/// The next migration to apply, `None` if the schema is up to date, or of a later release that this binary may run on. Both lists
/// are in order of version.
pub(crate) fn next<'a>(
    known: &'a [Migration],
    applied: &[Applied],
) -> Result<Option<&'a Migration>, OpenError> {
    let newest = known.last().map_or(0, |migration| migration.version);
    let own = applied.partition_point(|line| line.version <= newest);
    let (own, later) = applied.split_at_checked(own).unwrap_or_default();
    if let Some(needed) = later.iter().map(|line| line.since).max().filter(|since| *since > newest) {
        let database = later.last().map_or(needed, |last| last.version);
        return Err(OpenError::SchemaNewer { database, needed, known: newest });
    }
    for (place, line) in own.iter().enumerate() {
        let same = known.get(place).is_some_and(|migration| {
            migration.version == line.version && migration.checksum() == line.checksum
        });
        if !same {
            return Err(OpenError::SchemaDiffers { version: line.version, name: line.name.clone() });
        }
    }
    if let Some(last) = later.last() {
        tracing::warn!(
            schema = last.version,
            known = newest,
            "the database's schema is of a later version; this one may run on it"
        );
    }
    Ok(known.get(own.len()))
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

    const KNOWN: [Migration; 2] = [
        Migration { version: 1, name: "one", sql: "a", since: 1 },
        Migration { version: 2, name: "two", sql: "b", since: 1 },
    ];

    /// Lines of a record, each with its version, its SQL and since when a binary may run on it.
    fn applied(lines: &[(i64, &'static str, i64)]) -> Vec<Applied> {
        let line = |(version, sql, since): &(i64, &'static str, i64)| Applied {
            version: *version,
            name: "n".to_owned(),
            checksum: Migration { version: 0, name: "", sql, since: 0 }.checksum(),
            since: *since,
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn the_first_missing_one_is_next() {
        for (have, expected) in [
            (vec![], Some(1)),
            (vec![(1, "a", 1)], Some(2)),
            (vec![(1, "a", 1), (2, "b", 2)], None),
            // What a later release has added is no reason to stop.
            (vec![(1, "a", 1), (2, "b", 2), (3, "c", 1), (4, "d", 2)], None),
        ] {
            let next = next(&KNOWN, &applied(&have)).unwrap();
            assert_eq!(next.map(|migration| migration.version), expected);
        }
    }

    #[test]
    fn another_history_is_refused() {
        for have in [vec![(1, "x", 1)], vec![(1, "x", 1), (2, "b", 2), (3, "c", 1)]] {
            let refused = next(&KNOWN, &applied(&have));
            assert!(matches!(refused, Err(OpenError::SchemaDiffers { version: 1, .. })), "{refused:?}");
        }
        let refused = next(&KNOWN, &applied(&[(2, "b", 2)]));
        assert!(matches!(refused, Err(OpenError::SchemaDiffers { version: 2, .. })), "{refused:?}");
    }

    #[test]
    fn a_schema_that_has_left_this_binary_behind_is_refused() {
        for later in [vec![(3, "c", 3), (4, "d", 1)], vec![(3, "c", 1), (4, "d", 3)]] {
            let have = [vec![(1, "a", 1), (2, "b", 2)], later].concat();
            let refused = next(&KNOWN, &applied(&have));
            let is_right =
                matches!(refused, Err(OpenError::SchemaNewer { database: 4, needed: 3, known: 2 }));
            assert!(is_right, "{refused:?}");
        }
    }

    #[test]
    fn binaries_that_read_the_first_record_alone_find_there_what_they_must_know() {
        let records = |version, since| Migration { version, since, ..KNOWN[0] }.records().collect::<Vec<_>>();
        assert_eq!(records(LAST_OF_FIRST_RECORD, LAST_OF_FIRST_RECORD), [Record::First]);
        assert_eq!(records(LAST_OF_FIRST_RECORD + 1, LAST_OF_FIRST_RECORD), [Record::Changes]);
        assert_eq!(records(70, LAST_OF_FIRST_RECORD + 1), [Record::First, Record::Changes]);
    }
}
