//! Sends deliveries: signed, over plain HTTP/1.1, with retries.

use super::Delivery;
use super::queue::Queue;
use crate::prelude::*;
use crate::signature::{
    adyen_signature, increase_signature, modern_treasury_signature, square_signature, stripe_signature,
};
use data_encoding::BASE64;
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
    /// Tries a delivery once and leaves what follows from it to the queue. `false`: it is tried again.
    pub(crate) async fn deliver(&self, config: &Config, queue: &Queue, mut delivery: Delivery) -> bool {
        delivery.attempts += 1;
        delivery.first_tried.get_or_insert_with(calendar::rfc3339);
        let timeout = match delivery.target.wire {
            Wire::ModernTreasury => SHORT_DELIVERY_TIMEOUT,
            Wire::Stripe | Wire::Square | Wire::Increase | Wire::Adyen => DELIVERY_TIMEOUT,
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
        let again = if accepted { None } else { pause_before_next(config, &delivery) };
        queue.record(delivery, result, accepted, again);
        again.is_none()
    }

    /// The status of the answer, or what went wrong.
    pub(crate) async fn post(&self, delivery: &Delivery) -> Result<u16, String> {
        let (url, credentials) = without_credentials(&delivery.target.url);
        let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
        if uri.scheme_str() != Some("http") {
            return Err("only plain http targets are supported".to_owned());
        }
        let mut request = request(delivery, uri)?;
        let basic = credentials.map(|pair| format!("Basic {}", BASE64.encode(pair.as_bytes())));
        if let Some(basic) = basic.and_then(|basic| basic.parse().ok()) {
            request.headers_mut().insert(header::AUTHORIZATION, basic);
        }
        let answer = self.client.request(request).await.map_err(|error| innermost(&error))?;
        let status = answer.status().as_u16();
        // Read to the end, so that the connection can be used again.
        answer.into_body().collect().await.map_err(|error| error.to_string())?;
        Ok(status)
    }
}

/// The pauses of Adyen's queue in seconds; the last one is repeated for thirty days.
const QUEUE_PAUSES: [u64; 12] =
    [9, 18, 27, 120, 300, 600, 900, 1_800, 3_600, 2 * 3_600, 4 * 3_600, 8 * 3_600];
const QUEUE_KEPT_SECONDS: u64 = 30 * 24 * 3_600;

/// `None`: the delivery is given up.
fn pause_before_next(config: &Config, delivery: &Delivery) -> Option<Duration> {
    let backoff = Duration::from_millis(config.webhook_backoff_ms);
    if delivery.target.wire == Wire::Adyen {
        let last = QUEUE_PAUSES.last().copied().unwrap_or_default();
        let pauses = QUEUE_PAUSES.into_iter().chain(std::iter::repeat(last));
        let attempts = usize::try_from(delivery.attempts).unwrap_or(usize::MAX);
        let mut waited = pauses.scan(0, |waited, pause| {
            *waited += pause;
            (*waited <= QUEUE_KEPT_SECONDS).then_some(pause)
        });
        let seconds = waited.nth(attempts.checked_sub(1)?)?;
        // The first pause stands for nine seconds, and all others are in proportion to it.
        return Some(backoff.saturating_mul(u32::try_from(seconds).unwrap_or(u32::MAX)) / 9);
    }
    let doublings = delivery.attempts.saturating_sub(1).min(16);
    let pause = backoff.saturating_mul(1 << doublings).min(BACKOFF_MAX);
    (delivery.attempts < config.webhook_attempts_max).then_some(pause)
}

/// An address, and `user:password` where it names them.
fn without_credentials(url: &str) -> (String, Option<String>) {
    let plain = || (url.to_owned(), None);
    let Some((scheme, rest)) = url.split_once("://") else { return plain() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let Some((pair, host)) = authority.rsplit_once('@') else { return plain() };
    let decode =
        |text: &str| form_urlencoded::parse(text.as_bytes()).map(|(name, _)| name).collect::<String>();
    let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
    (format!("{scheme}://{host}{path}"), Some(format!("{}:{}", decode(user), decode(password))))
}

/// The outer errors only say that something failed.
fn innermost(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

fn request(delivery: &Delivery, uri: Uri) -> Result<Request<Full<Bytes>>, String> {
    let (target, mut body) = (&delivery.target, Arc::clone(&delivery.notice.body));
    if target.wire == Wire::Adyen {
        body = signed(&body, &target.secret);
    }
    let body = &*body;
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
        Wire::Adyen => request.header(header::USER_AGENT, "Adyen HttpClient 1.0 (simulator)"),
    };
    request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).map_err(|error| error.to_string())
}

/// A notification with the signature of each of its items, which stands among the item's own data.
fn signed(body: &str, hmac_key: &str) -> Arc<str> {
    let mut notification: Value = serde_json::from_str(body).unwrap_or_default();
    let items = notification.get_mut("notificationItems").and_then(Value::as_array_mut);
    // An endpoint without a key is sent no signatures.
    for item in items.into_iter().flatten().filter(|_| !hmac_key.is_empty()) {
        let Some(item) = item.get_mut("NotificationRequestItem") else { continue };
        let signature = Value::from(adyen_signature(hmac_key, item));
        if let Some(data) = item.get_mut("additionalData").and_then(Value::as_object_mut) {
            data.insert("hmacSignature".to_owned(), signature);
        }
    }
    notification.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::WebhookEvent;

    #[test]
    fn a_queue_waits_longer_and_longer_and_ends_after_thirty_days() {
        let target = WebhookTarget {
            wire: Wire::Adyen,
            url: "http://user:p%40ss@127.0.0.1:9/hooks?a=b@c".to_owned(),
            secret: String::new(),
            events: Vec::new(),
        };
        let notice = WebhookEvent {
            kind: "CAPTURE".to_owned(),
            event_id: String::new(),
            body: "".into(),
            is_connected: false,
        };
        let config = Config { webhook_backoff_ms: 9, ..Config::default() };
        let pause = |attempts| {
            let (target, notice) = (target.clone(), notice.clone());
            let delivery = Delivery { target, notice, attempts, first_tried: None };
            pause_before_next(&config, &delivery).map(|pause| pause.as_millis())
        };
        let first: Vec<_> = (1..14).filter_map(pause).collect();
        let day: u128 = 24 * 3_600;
        assert_eq!(first, [9, 18, 27, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, day / 3, day / 3]);
        let waited: u128 = (1..).map_while(pause).sum();
        assert!((30 * day - day / 3..=30 * day).contains(&waited), "{waited}");
        let (url, pair) = without_credentials(&target.url);
        assert_eq!((url.as_str(), pair.as_deref()), ("http://127.0.0.1:9/hooks?a=b@c", Some("user:p@ss")));
    }
}
