//! The log: readable on a terminal, JSON otherwise, on standard error. And traces, if there is a collector for them.

use std::io::{IsTerminal, stderr};

use tollgate_engine::ACTIVITY;
use tollgate_trace::{Exporting, SPANS};
use tracing::{Level, Metadata};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    Layer as _, Registry,
    filter::{LevelFilter, Targets, filter_fn},
    fmt::{self, format::Writer, time::FormatTime},
    layer::{Layered, SubscriberExt as _},
    util::SubscriberInitExt as _,
};

use crate::failure::Failure;

/// Lines waiting to be written. A log reader that hangs costs lines, never requests.
const WAITING_LINES: usize = 16_384;

/// The database driver logs the values it binds at `debug`; those are nobody's business, whatever the setting.
const DRIVER: &str = "tokio_postgres";
/// Where every call is logged.
const CALLS: &str = "tollgate_server::transport::edge";

/// Whether a line is shown for every call, webhook and change of status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    Shown,
    Hidden,
}

/// What every line and span has passed.
type Filtered = Layered<Targets, Registry>;

/// The log of this process. Dropping it writes what still waits.
#[must_use]
pub(crate) struct Log {
    _guard: WorkerGuard,
    exporting: Option<Exporting>,
}

impl Log {
    /// Sends the spans that still wait.
    pub(crate) async fn finish(self) {
        if let Some(exporting) = self.exporting {
            exporting.finish().await;
        }
    }
}

/// Starts the log, and traces where a collector is named.
pub(crate) fn start(filter: &str, activity: Activity, collector: Option<&str>) -> Result<Log, Failure> {
    let is_terminal = stderr().is_terminal();
    // Without a collector no span is ever made.
    let spans = if collector.is_some() { LevelFilter::INFO } else { LevelFilter::OFF };
    let targets = targets(filter, activity)?.with_target(SPANS, spans);
    let tracing = collector.map(tollgate_trace::start::<Filtered>).transpose();
    let tracing = tracing.map_err(|error| Failure::new(format!("cannot export traces: {error}")))?;
    let (spans, exporting) = tracing.unzip();
    let subscriber = tracing_subscriber::registry().with(targets).with(spans);
    let is_span = |metadata: &Metadata<'_>| metadata.target() == SPANS;
    let (writer, guard) =
        NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES).lossy(true).finish(stderr());
    let started = if is_terminal {
        let is_activity = |metadata: &Metadata<'_>| metadata.target() == ACTIVITY;
        // A call's own line says what its activity says, for programs.
        let is_doubled = move |metadata: &Metadata<'_>| {
            activity == Activity::Shown && metadata.target() == CALLS && *metadata.level() >= Level::INFO
        };
        let usual = fmt::layer().with_writer(writer.clone()).with_target(false);
        let usual =
            usual.with_filter(filter_fn(move |it| !is_activity(it) && !is_doubled(it) && !is_span(it)));
        let short = fmt::layer().with_writer(writer).with_target(false).with_level(false).with_timer(Clock);
        let short = short.with_filter(filter_fn(is_activity));
        subscriber.with(usual).with(short).try_init()
    } else {
        let lines = fmt::layer().with_writer(writer).with_target(false).json().flatten_event(true);
        let lines = lines.with_current_span(false).with_span_list(false);
        subscriber.with(lines.with_filter(filter_fn(move |it| !is_span(it)))).try_init()
    };
    started.map_err(|error| Failure::new(format!("cannot start the log: {error}")))?;
    Ok(Log { _guard: guard, exporting })
}

/// The time of day where the person sits.
struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, out: &mut Writer<'_>) -> std::fmt::Result {
        write!(out, "{}", jiff::Zoned::now().strftime("%H:%M:%S"))
    }
}

/// Reads `info,tollgate_store=debug`. A word that is no level would be taken for a target and leave the log empty, so that
/// it is refused instead.
fn targets(filter: &str, activity: Activity) -> Result<Targets, Failure> {
    let mut targets = Targets::new().with_target(DRIVER, LevelFilter::INFO);
    if activity == Activity::Hidden {
        targets = targets.with_target(ACTIVITY, LevelFilter::OFF);
    }
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
        let read = |filter: &str| targets(filter, Activity::Hidden).unwrap();
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
    fn activity_is_for_the_sandbox_and_for_those_who_ask() {
        let shows = |filter: &str, activity| {
            targets(filter, activity).unwrap().would_enable(ACTIVITY, &tracing::Level::INFO)
        };
        assert!(shows("info", Activity::Shown) && !shows("warn", Activity::Shown));
        assert!(!shows("trace", Activity::Hidden) && shows("warn,activity=info", Activity::Hidden));
    }

    #[test]
    fn what_would_silence_the_log_is_refused() {
        for filter in ["verbose", "info,tollgate_store", "info,a=loud", "=debug", "a[span]=debug", "7", "a="]
        {
            let refused = targets(filter, Activity::Hidden).map(drop).unwrap_err().to_string();
            assert!(refused.contains("TOLLGATE_LOG has `"), "{filter}: {refused}");
        }
    }
}
