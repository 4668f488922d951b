//! The log: readable on a terminal, JSON otherwise, on standard error.

use std::io::{IsTerminal, stderr};

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, filter::Directive};

use crate::failure::Failure;

/// Lines waiting to be written. A log reader that hangs costs lines, never requests.
const WAITING_LINES: usize = 16_384;

/// The database driver logs the values it binds at `debug`; those are nobody's business, whatever the setting.
const DRIVER_FILTER: &str = "tokio_postgres=info";

/// Starts the log. Dropping the guard writes what still waits.
pub(crate) fn start(filter: &str) -> Result<WorkerGuard, Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|_| {
        Failure::new("TOLLGATE_LOG must be error, warn, info, debug or trace, or a list such as info,tollgate_store=debug")
    })?;
    let quiet_driver: Directive =
        DRIVER_FILTER.parse().map_err(|error| Failure::new(format!("the log: {error}")))?;
    let filter = filter.add_directive(quiet_driver);
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES).lossy(true).finish(stderr());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_target(false);
    let started = if stderr().is_terminal() {
        builder.with_ansi(true).try_init()
    } else {
        builder.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
    };
    started.map_err(|error| Failure::new(format!("cannot start the log: {error}")))?;
    Ok(guard)
}
