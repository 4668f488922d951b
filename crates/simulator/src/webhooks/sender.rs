//! Sends deliveries: signed, over plain HTTP/1.1, with retries.

use super::Delivery;
use super::queue::Queue;
use crate::prelude::*;
use crate::signature::{increase_signature, modern_treasury_signature, square_signature, stripe_signature};
use http::{Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;

const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The same where the provider is less patient.
const SHORT_DELIVERY_TIMEOUT: Duration = Duration::from_secs(5);
const BACKOFF_MAX: Duration = Duration::from_mins(1);
/// How long a connection is kept that nothing is sent over.
const IDLE_CONNECTION_KEPT: Duration = Duration::from_secs(30);

/// Keeps its connections to the receivers from one delivery to the next.
#[derive(Debug)]
pub(crate) struct Sender {
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Default for Sender {
    fn default() -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_CONNECTION_KEPT)
            .build_http();
        Self { client }
    }
}

impl Sender {
    /// Tries a delivery once and leaves what follows from it to the queue.
    pub(crate) async fn deliver(&self, config: &Config, queue: &Queue, mut delivery: Delivery) {
        delivery.attempts += 1;
        delivery.first_tried.get_or_insert_with(calendar::rfc3339);
        let timeout = match delivery.target.wire {
            Wire::ModernTreasury => SHORT_DELIVERY_TIMEOUT,
            Wire::Stripe | Wire::Square | Wire::Increase => DELIVERY_TIMEOUT,
        };
        let answered = tokio::time::timeout(timeout, self.post(&delivery)).await;
        let (result, accepted) = match answered {
            Ok(Ok(status)) => (status.to_string(), (200..300).contains(&status)),
            Ok(Err(problem)) => (problem, false),
            Err(_) => ("timed out".to_owned(), false),
        };
        if !accepted {
            tracing::debug!(url = %delivery.target.url, %result, "webhook not accepted");
        }
        let again = (!accepted && delivery.attempts < config.webhook_attempts_max).then(|| {
            let doublings = delivery.attempts.saturating_sub(1).min(16);
            Duration::from_millis(config.webhook_backoff_ms).saturating_mul(1 << doublings).min(BACKOFF_MAX)
        });
        queue.record(delivery, result, accepted, again);
    }

    async fn post(&self, delivery: &Delivery) -> Result<u16, String> {
        let uri: Uri = delivery.target.url.parse().map_err(|_| "not a URL".to_owned())?;
        if uri.scheme_str() != Some("http") {
            return Err("only plain http targets are supported".to_owned());
        }
        let answer = self.client.request(request(delivery, uri)?).await.map_err(|error| innermost(&error))?;
        let status = answer.status().as_u16();
        // Read to the end, so that the connection can be used again.
        answer.into_body().collect().await.map_err(|error| error.to_string())?;
        Ok(status)
    }
}

/// The outer errors only say that something failed.
fn innermost(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

fn request(delivery: &Delivery, uri: Uri) -> Result<Request<Full<Bytes>>, String> {
    let (target, body) = (&delivery.target, &delivery.notice.body);
    let request = Request::builder()
        .method(Method::POST)
        .uri(uri)
        .header(header::CONTENT_TYPE, "application/json; charset=utf-8");
    let request = match target.wire {
        Wire::Stripe => request
            .header(header::USER_AGENT, "Stripe/1.0 (simulator)")
            // Signed again at each attempt, so that a late one is still inside the receiver's window.
            .header("Stripe-Signature", stripe_signature(&target.secret, calendar::unix_seconds(), body)),
        Wire::Square => {
            let first = delivery.first_tried.clone().unwrap_or_default();
            let request = request
                .header(header::USER_AGENT, "Square Connect v2 (simulator)")
                .header("x-square-hmacsha256-signature", square_signature(&target.secret, &target.url, body))
                .header("square-environment", "Sandbox")
                .header("square-initial-delivery-timestamp", first);
            if delivery.attempts > 1 {
                request
                    .header("square-retry-number", delivery.attempts - 1)
                    .header("square-retry-reason", "http_error")
            } else {
                request
            }
        }
        Wire::Increase => {
            let (id, now) = (&delivery.notice.event_id, calendar::unix_seconds());
            request
                .header(header::USER_AGENT, "Increase (simulator)")
                .header("webhook-id", id)
                .header("webhook-timestamp", now)
                .header("webhook-signature", increase_signature(&target.secret, id, now, body))
        }
        Wire::ModernTreasury => {
            let topic = delivery.notice.kind.split('.').next().unwrap_or_default();
            request
                .header(header::USER_AGENT, "Modern Treasury (simulator)")
                .header("X-Signature", modern_treasury_signature(&target.secret, body))
                .header("X-Webhook-ID", &delivery.notice.event_id)
                .header("X-Topic", topic)
        }
    };
    request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).map_err(|error| error.to_string())
}
