//! The log: readable on a terminal, JSON otherwise, on standard error.

use std::io::{IsTerminal, stderr};

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::failure::Failure;

/// Lines waiting to be written. A log reader that hangs costs lines, never requests.
const WAITING_LINES: usize = 16_384;

/// The database driver logs the values it binds at `debug`; those are nobody's business, whatever the setting.
const DRIVER: &str = "tokio_postgres";

/// Starts the log. Dropping the guard writes what still waits.
pub(crate) fn start(filter: &str) -> Result<WorkerGuard, Failure> {
    let targets = targets(filter)?;
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES).lossy(true).finish(stderr());
    let builder =
        tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(writer).with_target(false);
    let started = if stderr().is_terminal() {
        builder.with_ansi(true).finish().with(targets).try_init()
    } else {
        let builder = builder.json().flatten_event(true).with_current_span(false).with_span_list(false);
        builder.finish().with(targets).try_init()
    };
    started.map_err(|error| Failure::new(format!("cannot start the log: {error}")))?;
    Ok(guard)
}

/// Reads `info,tollgate_store=debug`. A word that is no level would be taken for a target and leave the log empty, so that
/// it is refused instead.
fn targets(filter: &str) -> Result<Targets, Failure> {
    let mut targets = Targets::new().with_target(DRIVER, LevelFilter::INFO);
    for part in filter.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (target, word) = part.split_once('=').map_or((None, part), |(target, word)| (Some(target), word));
        let level = level(word).filter(|_| target.is_none_or(is_module));
        let level = level.ok_or_else(|| {
            Failure::new(format!(
                "TOLLGATE_LOG has `{part}`: it must be error, warn, info, debug, trace or off, or a list such as info,tollgate_store=debug"
            ))
        })?;
        targets = match target {
            None => targets.with_default(level),
            Some(target) if target.starts_with(DRIVER) => {
                targets.with_target(target, level.min(LevelFilter::INFO))
            }
            Some(target) => targets.with_target(target, level),
        };
    }
    Ok(targets)
}

fn level(word: &str) -> Option<LevelFilter> {
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic()) && !word.is_empty();
    word.parse().ok().filter(|_| is_word)
}

fn is_module(target: &str) -> bool {
    !target.is_empty()
        && target.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::filter::LevelFilter;

    use super::*;

    #[test]
    fn levels_and_modules_are_read() {
        let read = |filter: &str| targets(filter).unwrap();
        let level = |filter: &str| read(filter).default_level();
        assert_eq!(level("warn"), Some(LevelFilter::WARN));
        assert_eq!(level("DEBUG, tollgate_engine=trace"), Some(LevelFilter::DEBUG));
        let mixed = read("info,tollgate_engine=debug,tokio_postgres::query=trace");
        for (target, level, expected) in [
            ("tollgate_engine::card", tracing::Level::DEBUG, true),
            ("tollgate_engine::card", tracing::Level::TRACE, false),
            ("tollgate_store", tracing::Level::DEBUG, false),
            ("tokio_postgres::query", tracing::Level::INFO, true),
            ("tokio_postgres::query", tracing::Level::DEBUG, false),
        ] {
            assert_eq!(mixed.would_enable(target, &level), expected, "{target} {level}");
        }
        assert!(!read("trace").would_enable("tokio_postgres::prepare", &tracing::Level::DEBUG));
    }

    #[test]
    fn what_would_silence_the_log_is_refused() {
        for filter in ["verbose", "info,tollgate_store", "info,a=loud", "=debug", "a[span]=debug", "7", "a="]
        {
            let refused = targets(filter).map(drop).unwrap_err().to_string();
            assert!(refused.contains("TOLLGATE_LOG has `"), "{filter}: {refused}");
        }
    }
}
