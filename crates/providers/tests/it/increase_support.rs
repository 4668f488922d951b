//! A simulator on a port of its own, a provider that leads to it, transfer orders, and a plain HTTP client to play the
//! provider's staff, the networks and the receiving banks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tollgate_configuration::{Adapter, Configuration, Provider};
use tollgate_domain::ach::{AchSighting, BankAccountType, TransferOrder};
use tollgate_domain::fee::FeeEntry;
use tollgate_domain::id::{EnvironmentId, TransferId};
use tollgate_domain::{Channel, Currency, Principal, Timestamp};
use tollgate_engine::ports::{AchTransfers, BankAccount, Call, CallError, RefusalKind, Wires as _};
use tollgate_providers::{Providers, Settings};
use tollgate_simulator::{Config, Simulator};
use tollgate_vault::Secret;

pub(crate) const API_KEY: &str = "increase_simulator_key";
pub(crate) const SECRET: &str = "increase_shared_secret";
pub(crate) const ROUTING: &str = "122105155";
pub(crate) const ACCOUNT: &str = "000847362951";
/// Takes part in nothing.
pub(crate) const NO_BANK: &str = "790000051";
/// Takes part in nothing instant.
pub(crate) const SLOW_BANK: &str = "790000064";

pub(crate) const CHANNELS: [Channel; 3] = [Channel::StandardAch, Channel::SameDayAch, Channel::Instant];

/// Short pauses, and times that a busy machine keeps as well.
pub(crate) fn quick() -> Settings {
    Settings {
        attempt_timeout: Duration::from_secs(3),
        deadline: Duration::from_secs(10),
        connect_timeout: Duration::from_secs(1),
        backoff_first: Duration::from_millis(20),
        backoff_max: Duration::from_millis(80),
        ..Settings::default()
    }
}

/// For tests that wait for a time-out, which is still longer than an answer takes.
pub(crate) fn hasty() -> Settings {
    Settings { attempt_timeout: Duration::from_millis(800), ..quick() }
}

/// A running simulator and the adapter that leads to it.
pub(crate) struct World {
    pub(crate) simulator: Simulator,
    pub(crate) origin: String,
    pub(crate) providers: Providers,
    pub(crate) provider: Provider,
}

impl Drop for World {
    fn drop(&mut self) {
        self.simulator.stop();
    }
}

pub(crate) async fn start(settings: Settings) -> World {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let simulator = Simulator::new(Config::default());
    let router = simulator.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let provider = provider_at(&format!("{origin}/increase"));
    World { providers: Providers::new(settings).unwrap(), provider, simulator, origin }
}

pub(crate) fn provider_at(base_url: &str) -> Provider {
    provider(&json!({
        "adapter": "increase",
        "baseUrl": base_url,
        "credentials": { "apiKey": API_KEY, "webhookSecret": SECRET },
        "funding": { "accountId": "account_simulator", "accountNumberId": "account_number_simulator" },
    }))
}

pub(crate) fn provider(entry: &Value) -> Provider {
    let document = json!({ "providers": { "one": entry } });
    let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
    configuration.providers.get("one").unwrap().clone()
}

/// An order over 20.00 USD, different from every other.
pub(crate) fn order(channel: Channel) -> TransferOrder {
    order_over(channel, 2_000)
}

pub(crate) fn order_over(channel: Channel, amount: u64) -> TransferOrder {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut random = [7; 10];
    random[..8].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let at = now();
    TransferOrder {
        environment: EnvironmentId::new(at, [1; 10]),
        id: TransferId::new(at, random),
        provider: "one".to_owned(),
        adapter: "increase".to_owned(),
        channel,
        matched: None,
        config_version: 1,
        currency: Currency::USD,
        fee: FeeEntry::default().assess(Principal::new(amount).unwrap()),
        external_customer_id: "cust_42".to_owned(),
        customer_name: "Zoë Example".to_owned(),
        customer_email: "zoe@example.com".to_owned(),
        bank_name: "Bank".to_owned(),
        account_name: "Zoë Nguyễn-Straße".to_owned(),
        account_type: BankAccountType::Savings,
        last_four: "2951".to_owned(),
        description: Some("Café – June".to_owned()),
        metadata: "{}".to_owned(),
        remittance: Some(r#"{"invoice":"A-7"}"#.to_owned()),
        request: "req_test".to_owned(),
        created_at: at,
    }
}

pub(crate) fn bank() -> BankAccount {
    bank_at(ROUTING)
}

pub(crate) fn bank_at(routing: &str) -> BankAccount {
    BankAccount { routing_number: Secret::new(routing), account_number: Secret::new(ACCOUNT) }
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
}

/// The code of a refusal, after checking its kind.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(call: Call<T>, kind: RefusalKind) -> String {
    match call.outcome {
        Err(CallError::Refused(refusal)) if refusal.kind == kind => refusal.failure.code,
        other => panic!("a refusal as {kind:?} was expected, not {other:?}"),
    }
}

/// The operations a call was made of, and how often each was sent.
pub(crate) fn asked<T>(call: &Call<T>) -> Vec<(&'static str, usize)> {
    call.logs.iter().map(|log| (log.operation, log.tries.len())).collect()
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) text: String,
}

/// One plain exchange, for whoever is not the adapter.
pub(crate) async fn exchange(method: &str, url: &str, headers: &[(&str, &str)], body: String) -> Reply {
    let (place, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let stream = TcpStream::connect(place).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = http::Request::builder().method(method).uri(format!("/{path}")).header("host", place);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Reply { status: parts.status.as_u16(), text: String::from_utf8_lossy(&body).into_owned() }
}

impl World {
    pub(crate) fn wire(&self) -> &dyn AchTransfers {
        self.providers.transfers(Adapter::Increase).unwrap()
    }

    pub(crate) async fn send(&self, order: &TransferOrder) -> Call<AchSighting> {
        self.wire().send(&self.provider, order, &bank()).await
    }

    pub(crate) async fn find(&self, order: &TransferOrder) -> Call<Option<AchSighting>> {
        self.wire().find(&self.provider, order).await
    }

    pub(crate) async fn read(&self, transfer: &str) -> Call<AchSighting> {
        self.wire().read(&self.provider, transfer).await
    }

    /// A call on the wire by somebody else: the sandbox's own steps, or another client of the account.
    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: Value) -> Value {
        let url = format!("{}/increase/{path}", self.origin);
        let bearer = format!("Bearer {API_KEY}");
        let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = exchange("POST", &url, &headers, body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        serde_json::from_str(&reply.text).unwrap()
    }

    pub(crate) async fn control(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}/control/{path}", self.origin);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = exchange(method, &url, &[], body).await;
        assert!((200..300).contains(&reply.status), "{}", reply.text);
        serde_json::from_str(&reply.text).unwrap()
    }

    pub(crate) async fn fault(&self, operation: &str, kind: &str, count: u32) {
        // Who asks too often is told to wait for this long, too.
        let delay_ms = match kind {
            "slow" => 1_200,
            "rate_limited" => 1_000,
            _ => 5_000,
        };
        let fault = json!({
            "wire": "increase", "operation": operation, "fault": kind, "count": count, "delay_ms": delay_ms,
        });
        self.control("POST", "faults", fault).await;
    }

    /// Everything the simulator took under a key, on either rail.
    pub(crate) async fn taken(&self, order: &TransferOrder) -> Vec<Value> {
        let state = self.control("GET", "state", Value::Null).await;
        let key = order.id.to_string();
        let rails = ["ach_transfers", "real_time_payments_transfers"];
        let rows = rails.iter().flat_map(|rail| state["increase"][rail].as_array().unwrap());
        rows.filter(|row| row["idempotency_key"] == key.as_str()).cloned().collect()
    }

    /// How many transfers the simulator took at all.
    pub(crate) async fn count(&self) -> u64 {
        let counts = self.control("GET", "state", Value::Null).await["increase"]["counts"].clone();
        let of = |name: &str| counts[name].as_u64().unwrap();
        of("ach_transfers") + of("real_time_payments_transfers")
    }

    /// How often an operation was called.
    pub(crate) async fn calls(&self, operation: &str) -> u64 {
        let calls = self.control("GET", "state", Value::Null).await["calls"].clone();
        calls[format!("increase {operation}")].as_u64().unwrap_or_default()
    }
}
