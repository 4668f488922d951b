//! A simulator on a port of its own, a client for it, and a receiver for its webhooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tollgate_simulator::{Config, Simulator, WebhookTarget, Wire};

pub(crate) const STRIPE_SECRET: &str = "whsec_test_secret";
pub(crate) const SQUARE_SECRET: &str = "square_signature_key";
pub(crate) const INCREASE_SECRET: &str = "increase_shared_secret";
pub(crate) const ADYEN_SECRET: &str = "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF";
pub(crate) const MODERN_TREASURY_SECRET: &str = "modern_treasury_webhook_key";

/// A running simulator; dropping it stops its background work.
pub(crate) struct Running {
    pub(crate) simulator: Simulator,
    pub(crate) origin: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.simulator.stop();
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The answer's JSON, after checking its status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.json()
    }
}

pub(crate) async fn start() -> Running {
    start_with(Config::default()).await
}

pub(crate) async fn start_with(config: Config) -> Running {
    run(Simulator::new(config)).await
}

pub(crate) async fn run(simulator: Simulator) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    simulator.set_public_url(origin.as_str());
    let router = simulator.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Running { simulator, origin }
}

impl Running {
    pub(crate) async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<Reply, String> {
        let place = self.origin.trim_start_matches("http://");
        let stream = TcpStream::connect(place).await.map_err(|error| error.to_string())?;
        let io = TokioIo::new(stream);
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(io).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = http::Request::builder().method(method).uri(path).header("host", place);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let exchange = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
            let text = String::from_utf8_lossy(&body).into_owned();
            Ok(Reply { status: parts.status, headers: parts.headers, text })
        };
        tokio::time::timeout(Duration::from_mins(1), exchange).await.map_err(|_| "timed out".to_owned())?
    }

    /// A call on the Stripe API with the secret key. `form` is written as on the wire.
    pub(crate) async fn try_stripe(
        &self,
        method: &str,
        path: &str,
        form: &str,
        key: &str,
    ) -> Result<Reply, String> {
        let mut headers = vec![("authorization", "Bearer sk_test_simulator")];
        if !key.is_empty() {
            headers.push(("idempotency-key", key));
        }
        if method == "POST" {
            headers.push(("content-type", "application/x-www-form-urlencoded"));
        }
        self.try_send(method, &format!("/stripe/v1/{path}"), &headers, form.to_owned()).await
    }

    pub(crate) async fn stripe(&self, method: &str, path: &str, form: &str) -> Reply {
        self.try_stripe(method, path, form, "").await.unwrap()
    }

    /// A call on the Square API with the access token.
    pub(crate) async fn try_square(&self, method: &str, path: &str, body: &Value) -> Result<Reply, String> {
        let headers =
            [("authorization", "Bearer square_simulator_token"), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.try_send(method, &format!("/square/v2/{path}"), &headers, body).await
    }

    pub(crate) async fn square(&self, method: &str, path: &str, body: Value) -> Reply {
        self.try_square(method, path, &body).await.unwrap()
    }

    /// A call on the Increase API with the API key.
    pub(crate) async fn try_increase(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Result<Reply, String> {
        let mut headers =
            vec![("authorization", "Bearer increase_simulator_key"), ("content-type", "application/json")];
        if !key.is_empty() {
            headers.push(("idempotency-key", key));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.try_send(method, &format!("/increase/{path}"), &headers, body).await
    }

    pub(crate) async fn increase(&self, method: &str, path: &str, body: Value) -> Reply {
        self.try_increase(method, path, &body, "").await.unwrap()
    }

    /// An ACH transfer of 19.99 USD to somebody.
    pub(crate) async fn ach_transfer(&self, key: &str) -> Value {
        self.try_increase("POST", "ach_transfers", &ach_push(), key).await.unwrap().expect(200)
    }

    pub(crate) async fn control(&self, method: &str, path: &str, body: Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.try_send(method, &format!("/control/{path}"), &[], body).await.unwrap();
        assert!(reply.status.is_success(), "{}", reply.text);
        reply.json()
    }

    pub(crate) async fn fault(&self, fault: Value) {
        self.control("POST", "faults", fault).await;
    }

    pub(crate) async fn state(&self) -> Value {
        self.control("GET", "state", Value::Null).await
    }

    /// Waits until an operation was called once, whatever comes of it.
    pub(crate) async fn wait_call(&self, operation: &str) {
        for _ in 0..6_000 {
            if self.state().await["calls"][operation] == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{operation} was not called");
    }

    /// Posts a form to a page.
    pub(crate) async fn submit(&self, url: &str, form: &str) -> Reply {
        let path = url.strip_prefix(&self.origin).unwrap_or(url);
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.try_send("POST", path, &headers, form.to_owned()).await.unwrap()
    }

    pub(crate) async fn open(&self, url: &str) -> Reply {
        let path = url.strip_prefix(&self.origin).unwrap_or(url);
        self.try_send("GET", path, &[], String::new()).await.unwrap()
    }

    /// An intent over 19.99 USD.
    pub(crate) async fn intent(&self, more: &str) -> Value {
        self.stripe("POST", "payment_intents", &format!("amount=1999&currency=usd&{more}")).await.expect(200)
    }

    pub(crate) async fn square_payment(&self, key: &str, source: &str) -> Reply {
        let money = json!({ "amount": 1999, "currency": "USD" });
        let body = json!({ "idempotency_key": key, "source_id": source, "amount_money": money });
        self.square("POST", "payments", body).await
    }
}

/// The least that has to be said to push 19.99 USD by ACH, and who gets it.
pub(crate) fn ach_push() -> Value {
    json!({
        "account_id": "account_simulator",
        "amount": 1999,
        "statement_descriptor": "Payout",
        "account_number": "000123456789",
        "routing_number": "110000000",
        "individual_name": "Ada Example",
        "company_name": "Example Co",
    })
}

#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    pub(crate) json: Value,
}

#[derive(Debug, Default)]
struct Shelf {
    received: Vec<Received>,
    refuse: usize,
}

/// A webhook receiver that keeps what it is sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<Shelf>>);

impl Inbox {
    /// Starts receiving one wire's webhooks.
    pub(crate) async fn for_wire(running: &Running, wire: Wire) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks?of={}", listener.local_addr().unwrap(), wire.name());
        let inbox = Self::default();
        let router = Router::new().fallback(receive).with_state(inbox.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let secret = match wire {
            Wire::Stripe => STRIPE_SECRET,
            Wire::Square => SQUARE_SECRET,
            Wire::Increase => INCREASE_SECRET,
            Wire::ModernTreasury => MODERN_TREASURY_SECRET,
            Wire::Adyen => ADYEN_SECRET,
        };
        let target = WebhookTarget { wire, url: url.clone(), secret: secret.to_owned(), events: Vec::new() };
        assert!(running.simulator.add_webhook_target(target));
        (inbox, url)
    }

    /// Answers the next so many deliveries with 500.
    pub(crate) fn refuse(&self, count: usize) {
        self.0.lock().unwrap().refuse = count;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.0.lock().unwrap().received.clone()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        // On the Increase API the type is always "event", and the category says what happened.
        let of_adyen = |one: &Received| {
            one.json.pointer("/notificationItems/0/NotificationRequestItem/eventCode").cloned()
        };
        let kind = |one: &Received| {
            of_adyen(one).unwrap_or_else(|| one.json.get("category").unwrap_or(&one.json["type"]).clone())
        };
        self.received().iter().map(|one| kind(one).as_str().unwrap().to_owned()).collect()
    }

    /// Waits until so many have arrived.
    pub(crate) async fn wait(&self, count: usize) -> Vec<Received> {
        for _ in 0..6_000 {
            let received = self.received();
            if received.len() >= count {
                return received;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{count} webhooks expected, got {:?}", self.kinds());
    }
}

async fn receive(State(inbox): State<Inbox>, request: Request) -> StatusCode {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let json = serde_json::from_str(&body).unwrap();
    let mut shelf = inbox.0.lock().unwrap();
    shelf.received.push(Received { headers: parts.headers, body, json });
    if shelf.refuse > 0 {
        shelf.refuse -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    StatusCode::OK
}
