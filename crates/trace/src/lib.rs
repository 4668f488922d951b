//! Traces: spans of what a request does, the W3C trace context, and their export with OTLP over HTTP.
//!
//! Spans are those of `tracing` with the target [`SPANS`]. Unless an exporter is started, the log's filter disables that target, and
//! then a span is neither made nor entered: what remains is one look at a number. A span holds names of ours, ids and statuses, and never
//! what a caller, a customer or a provider has written.

mod export;

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::{propagation::TextMapPropagator as _, trace::TraceContextExt as _};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Level;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

pub use export::{Exporting, StartError, start};
#[doc(hidden)]
pub use tracing::info_span;
pub use tracing::{Instrument, Span};

/// The target of every span.
pub const SPANS: &str = "spans";

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// A span: `span!("deliver", otel.kind = "client", outcome = Empty)`. It belongs to the current one.
#[macro_export]
macro_rules! span {
    ($($arguments:tt)+) => {
        $crate::info_span!(target: $crate::SPANS, $($arguments)+)
    };
}

/// Makes a span that was not entered yet part of the caller's trace, if the request names one.
pub fn continue_trace(span: &Span, headers: &HeaderMap) {
    if span.is_disabled() || !headers.contains_key(&TRACEPARENT) {
        return;
    }
    let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if context.span().span_context().is_valid() {
        // It fails where no exporter was started, and then there is no trace to continue.
        let _ = span.set_parent(context);
    }
}

/// Whether something is traced here. What many do all the time is no trace of its own.
pub fn is_within_span() -> bool {
    tracing::enabled!(target: SPANS, Level::INFO) && !Span::current().is_disabled()
}

/// The header by which a request that is made here names the current span.
pub fn header() -> Option<(HeaderName, HeaderValue)> {
    let span = Span::current();
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let current = context.span().span_context().clone();
    let text =
        format!("00-{}-{}-{:02x}", current.trace_id(), current.span_id(), current.trace_flags().to_u8());
    let value = HeaderValue::try_from(text).ok().filter(|_| current.is_valid())?;
    Some((TRACEPARENT, value))
}

/// Marks a span as failed.
pub fn failed(span: &Span) {
    span.record("otel.status_code", "error");
}
