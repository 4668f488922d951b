//! What goes wrong with PostgreSQL, whether to try again, and what to say in the end.

use std::{error::Error as _, io};

use deadpool_postgres::{PoolError, TimeoutType};
use tokio_postgres::error::SqlState;
use tollgate_engine::ports::StoreError;

use crate::fault::Fault;

/// What to do about a fault.
#[derive(Debug)]
pub(super) struct Judgement {
    /// What to say if there is no further attempt.
    pub(super) error: StoreError,
    /// Whether another attempt may go better.
    pub(super) again: bool,
    /// Whether the unit may have been committed all the same.
    pub(super) in_doubt: bool,
    /// What is to blame.
    pub(super) blame: Blame,
}

/// What is to blame for a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    /// The unit of work, or it may be; those that share its attempt may go better without it.
    Unit,
    /// The connection, which is no good anymore.
    Connection,
    /// The server, which says nothing although it ends what takes too long.
    Server,
    /// None of these.
    Circumstances,
}

impl Judgement {
    /// Of no use to try again, for what is wrong is the unit.
    fn wrong(error: StoreError) -> Self {
        Self { blame: Blame::Unit, ..Self::passing(error) }
    }

    /// Undone, and may pass, but not soon.
    fn passing(error: StoreError) -> Self {
        Self { error, again: false, in_doubt: false, blame: Blame::Circumstances }
    }
}

pub(super) fn judge(fault: Fault) -> Judgement {
    match fault {
        Fault::Connection(error) => judge_connection(&error),
        Fault::Statement(error) => judge_statement(&error),
        Fault::Uncommitted(error) => Judgement { in_doubt: false, ..judge_statement(&error) },
        Fault::Raced(error) => Judgement { again: true, ..judge_statement(&error) },
        Fault::TimedOut => Judgement {
            error: StoreError::Unavailable("the database did not answer in time".to_owned()),
            again: false,
            in_doubt: true,
            blame: Blame::Server,
        },
        Fault::TooLate => Judgement::passing(StoreError::Unavailable("there was no time left".to_owned())),
        Fault::CorruptRow(damaged) => Judgement::wrong(damaged.into()),
        Fault::Misuse(reason) => Judgement::wrong(StoreError::Broken(reason.to_owned())),
        Fault::Sqlite(error) => Judgement::wrong(StoreError::Broken(error.to_string())),
    }
}

fn judge_connection(error: &PoolError) -> Judgement {
    let (reason, again) = match error {
        PoolError::Timeout(TimeoutType::Wait) => ("all connections are busy".to_owned(), false),
        PoolError::Timeout(_) => ("the server did not let us in in time".to_owned(), false),
        PoolError::Backend(error) => {
            // A wrong password or a missing database stays wrong.
            let refused = error.code().is_some_and(|code| matches!(class(code), "28" | "3D" | "42"));
            (describe(error), !refused)
        }
        other => (other.to_string(), false),
    };
    Judgement { again, ..Judgement::passing(StoreError::Unavailable(reason)) }
}

fn judge_statement(error: &tokio_postgres::Error) -> Judgement {
    let reason = describe(error);
    let Some(code) = error.code() else {
        let lost = error.is_closed() || matches!(error.source(), Some(source) if source.is::<io::Error>());
        if !lost {
            return Judgement::wrong(StoreError::Broken(reason));
        }
        return Judgement {
            error: StoreError::Unavailable(reason),
            again: true,
            in_doubt: true,
            blame: Blame::Connection,
        };
    };
    let lost = class(code) == "08"
        || [&SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN, &SqlState::CANNOT_CONNECT_NOW]
            .contains(&code);
    let lost_race = [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED].contains(&code);
    // The server has become a standby: another one takes writes now.
    let demoted = *code == SqlState::READ_ONLY_SQL_TRANSACTION;
    if lost || lost_race || demoted {
        return Judgement {
            error: StoreError::Unavailable(reason),
            again: true,
            in_doubt: lost,
            blame: if lost_race { Blame::Unit } else { Blame::Connection },
        };
    }
    // Canceled for taking too long, no locks, memory, disk or connections, failing disks: undone, and may pass.
    let passing = matches!(class(code), "53" | "58")
        || [
            &SqlState::QUERY_CANCELED,
            &SqlState::LOCK_NOT_AVAILABLE,
            &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(&code);
    if passing {
        Judgement::passing(StoreError::Unavailable(reason))
    } else {
        Judgement::wrong(StoreError::Broken(reason))
    }
}

fn class(code: &SqlState) -> &str {
    code.code().get(..2).unwrap_or_default()
}

/// The server's message without its details, which may repeat stored values.
pub(super) fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(answer) => format!("{} (SQLSTATE {})", answer.message(), answer.code().code()),
        None => error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")),
    }
}
