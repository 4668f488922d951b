//! Sending spans to a collector, beside everything else: what is waiting is bounded, and a collector that is away costs spans only.

use std::{
    env,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::{KeyValue, trace::TracerProvider as _};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::runtime::Handle;
use tollgate_http::TransportError;
use tracing::{Subscriber, info, warn};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use crate::SPANS;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// At the end, what is still waiting is sent within this time.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Why no spans can be exported.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    #[error(transparent)]
    Exporter(#[from] ExporterBuildError),
}

/// An exporter that was started.
#[derive(Debug)]
pub struct Exporting(SdkTracerProvider);

impl Exporting {
    /// Sends what is waiting, within bounds, and ends.
    pub async fn finish(self) {
        let finishing = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(FLUSH_TIMEOUT));
        if !matches!(finishing.await, Ok(Ok(()))) {
            warn!("the last spans were not sent");
        }
    }
}

/// Starts an exporter to the collector at this base URL, to which `/v1/traces` is added. Needs a runtime. The layer takes
/// the spans of [`SPANS`] and nothing else.
///
/// Service name, resource, sampler, queue and headers can be set by the environment variables of OpenTelemetry.
pub fn start<S>(endpoint: &str) -> Result<(impl Layer<S> + Send + Sync + use<S>, Exporting), StartError>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let client = tollgate_http::HttpClient::new(CONNECT_TIMEOUT, ANSWER_BYTES_MAX, None)
        .map_err(|error| StartError::Tls(error.to_string()))?;
    let client =
        Client { http: client.into(), runtime: Handle::current(), has_failed: AtomicBool::new(false) };
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .with_timeout(EXPORT_TIMEOUT)
        .build()?;
    let provider =
        SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource()).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("tollgate"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_context_activation(false)
        .with_filter(filter_fn(|metadata| metadata.target() == SPANS));
    Ok((layer, Exporting(provider)))
}

fn resource() -> Resource {
    let resource =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let is_named = env::var_os("OTEL_SERVICE_NAME").is_some()
        || env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|text| text.contains("service.name="));
    if is_named { resource.build() } else { resource.with_service_name("tollgate").build() }
}

/// Our HTTP client, asked from the exporter's own thread.
#[derive(Debug)]
struct Client {
    http: std::sync::Arc<tollgate_http::HttpClient>,
    runtime: Handle,
    has_failed: AtomicBool,
}

impl Client {
    /// A collector that is away is worth a line when it goes and one when it is back.
    fn note(&self, failure: Option<&str>) {
        let had_failed = self.has_failed.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(reason) if !had_failed => warn!(reason, "traces cannot be exported; spans are dropped"),
            None if had_failed => info!("traces are exported again"),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let request = tollgate_http::Request {
            method: head.method,
            url: head.uri.to_string(),
            headers: head.headers,
            body,
        };
        let http = std::sync::Arc::clone(&self.http);
        // Connections belong to the runtime, which this thread is no part of.
        let sending = self.runtime.spawn(async move { http.send(&request, EXPORT_TIMEOUT).await });
        let reason = match sending.await {
            Ok(Ok(answer)) => {
                let status = answer.status;
                let is_refused = !status.is_success();
                self.note(
                    is_refused.then(|| format!("the collector answered {}", status.as_u16())).as_deref(),
                );
                let mut response = Response::new(answer.body);
                (*response.status_mut(), *response.headers_mut()) = (status, answer.headers);
                return Ok(response);
            }
            Ok(Err(TransportError::Unsent(reason) | TransportError::Lost(reason))) => reason,
            Err(stopped) => stopped.to_string(),
        };
        self.note(Some(&reason));
        Err(reason.into())
    }
}
