//! Sends deliveries: signed, over plain HTTP/1.1, with retries.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::Delivery;
use crate::calendar;
use crate::config::Wire;
use crate::signature::{increase_signature, square_signature, stripe_signature};
use crate::simulator::Simulator;

/// How long a receiver may take.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest pause between two attempts.
const BACKOFF_MAX: Duration = Duration::from_mins(1);
/// How many receivers a sender keeps a connection to.
const CONNECTIONS_MAX: usize = 64;

/// Sends one delivery after another until the simulator stops.
pub(crate) async fn deliver_forever(simulator: Simulator) {
    let mut sender = Sender::default();
    loop {
        tokio::select! {
            () = simulator.stopped() => return,
            delivery = simulator.queue().next() => sender.deliver(&simulator, delivery).await,
        }
    }
}

/// Connections to the receivers, kept open from one delivery to the next.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    connections: HashMap<String, SendRequest<Full<Bytes>>>,
}

impl Sender {
    /// Tries a delivery once and leaves what follows from it to the queue.
    pub(crate) async fn deliver(&mut self, simulator: &Simulator, mut delivery: Delivery) {
        delivery.attempts += 1;
        delivery.first_tried.get_or_insert_with(calendar::rfc3339);
        let answered = tokio::time::timeout(DELIVERY_TIMEOUT, self.post(&delivery)).await;
        let (result, accepted) = match answered {
            Ok(Ok(status)) => (status.to_string(), (200..300).contains(&status)),
            Ok(Err(problem)) => (problem, false),
            Err(_) => ("timed out".to_owned(), false),
        };
        if !accepted {
            tracing::debug!(url = %delivery.target.url, %result, "webhook not accepted");
        }
        let config = simulator.config();
        let again = (!accepted && delivery.attempts < config.webhook_attempts_max).then(|| {
            let doublings = delivery.attempts.saturating_sub(1).min(16);
            Duration::from_millis(config.webhook_backoff_ms).saturating_mul(1 << doublings).min(BACKOFF_MAX)
        });
        simulator.queue().record(delivery, result, accepted, again);
    }

    async fn post(&mut self, delivery: &Delivery) -> Result<u16, String> {
        let uri: Uri = delivery.target.url.parse().map_err(|_| "not a URL".to_owned())?;
        if uri.scheme_str() != Some("http") {
            return Err("only plain http targets are supported".to_owned());
        }
        let host = uri.host().ok_or("no host in the URL")?.to_owned();
        let place = format!("{host}:{}", uri.port_u16().unwrap_or(80));
        // A connection kept from before may have been closed meanwhile, which says nothing about the receiver.
        if let Some(mut kept) = self.connections.remove(&place)
            && kept.ready().await.is_ok()
            && let Ok(status) = exchange(&mut kept, request(delivery, &uri)?).await
        {
            self.connections.insert(place, kept);
            return Ok(status);
        }
        let stream = TcpStream::connect(&place).await.map_err(|error| format!("cannot connect: {error}"))?;
        let (mut fresh, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        let status = exchange(&mut fresh, request(delivery, &uri)?).await?;
        if self.connections.len() < CONNECTIONS_MAX {
            self.connections.insert(place, fresh);
        }
        Ok(status)
    }
}

async fn exchange(
    connection: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<u16, String> {
    let response = connection.send_request(request).await.map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    // Read to the end, so that the connection can be used again.
    response.into_body().collect().await.map_err(|error| error.to_string())?;
    Ok(status)
}

fn request(delivery: &Delivery, uri: &Uri) -> Result<Request<Full<Bytes>>, String> {
    let (target, body) = (&delivery.target, &delivery.notice.body);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::HOST, authority)
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
    };
    request.body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).map_err(|error| error.to_string())
}
