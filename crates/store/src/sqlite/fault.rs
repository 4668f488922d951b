//! What goes wrong inside SQLite, and what that means for whoever asked.

use rusqlite::ErrorCode;
use tollgate_engine::ports::StoreError;

use crate::fault::Fault;

/// Whether the connection, rather than the work, is to blame: it is then given up and opened afresh.
pub(super) fn is_environmental(fault: &Fault) -> bool {
    matches!(fault, Fault::Sqlite(error) if environmental(error))
}

/// Whether the disk is full, failing or read-only.
pub(super) fn is_of_disk(fault: &Fault) -> bool {
    matches!(fault, Fault::Sqlite(error) if of_disk(error))
}

/// Whether the disk is full, failing or read-only.
pub(super) fn of_disk(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::ReadOnly | ErrorCode::CannotOpen)
    )
}

/// A fault before any commit was tried: nothing has happened.
impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sqlite(error) if environmental(&error) => Self::Unavailable(describe(&error)),
            Fault::Sqlite(error) => Self::Broken(error.to_string()),
            Fault::CorruptRow(damaged) => damaged.into(),
            Fault::Misuse(reason) => Self::Broken(reason.to_owned()),
            other => Self::Broken(format!("{other:?}")),
        }
    }
}

/// A failed COMMIT is undone. But where the disk is what failed, the finished record may stand in the log all the same,
/// and a restart would find it there.
pub(super) fn commit_failed(error: &rusqlite::Error) -> StoreError {
    let code = error.sqlite_error().map(|failure| (failure.code, failure.extended_code));
    match code {
        Some((ErrorCode::SystemIoFailure, _)) => StoreError::Unknown(describe(error)),
        _ if environmental(error) => StoreError::Unavailable(describe(error)),
        _ => StoreError::Broken(error.to_string()),
    }
}

/// Whether the disk, the file or another process is the reason, so that the same work may go through later.
fn environmental(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

fn describe(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("another process holds the database's lock ({error})")
        }
        Some(ErrorCode::DiskFull) => format!("the disk is full ({error})"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(extended_code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(extended_code), None)
    }

    #[test]
    fn a_disk_that_fails_at_the_commit_leaves_doubt() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, "unavailable"),
            (ffi::SQLITE_BUSY, "unavailable"),
            (ffi::SQLITE_IOERR_WRITE, "unknown"),
            (ffi::SQLITE_IOERR_FSYNC, "unknown"),
            (ffi::SQLITE_IOERR, "unknown"),
            (ffi::SQLITE_CORRUPT, "broken"),
            (ffi::SQLITE_CONSTRAINT_FOREIGNKEY, "broken"),
        ] {
            let found = match commit_failed(&failure(code)) {
                StoreError::Unavailable(_) => "unavailable",
                StoreError::Unknown(_) => "unknown",
                StoreError::Broken(_) => "broken",
            };
            assert_eq!(found, expected, "{code}");
        }
    }

    #[test]
    fn before_the_commit_there_is_no_doubt() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_FULL, ffi::SQLITE_BUSY, ffi::SQLITE_READONLY] {
            assert!(
                matches!(StoreError::from(Fault::from(failure(code))), StoreError::Unavailable(_)),
                "{code}"
            );
        }
    }
}
