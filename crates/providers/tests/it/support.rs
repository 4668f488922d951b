//! A simulator on a port of its own, providers that lead to it, orders, and a plain HTTP client to play everybody else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tollgate_configuration::{Adapter, Configuration, Provider};
use tollgate_domain::card::{CardOrder, ProviderReport, ProviderStatus};
use tollgate_domain::fee::{FeeEntry, FeeLayer};
use tollgate_domain::hold::{CaptureMode, HoldAction, HoldActionKind, HoldActionStatus};
use tollgate_domain::id::{EnvironmentId, HoldActionId, PaymentId, RefundId};
use tollgate_domain::payment_card::{CardChecks, CheckResult, PaymentCard};
use tollgate_domain::refund::{Refund, RefundOrigin, RefundReason, RefundStatus, RefundTerms};
use tollgate_domain::{BasisPoints, Channel, Currency, Flow, Minor, Principal, Timestamp};
use tollgate_engine::ports::{Adapters as _, Call, CallError, Cards, Charge, RejectionKind, Webhooks};
use tollgate_providers::{ProviderSettings, Providers};
use tollgate_simulator::{Config, Simulator};
use tollgate_vault::Secret;

pub(crate) const STRIPE_SECRET: &str = "whsec_test_secret";
pub(crate) const SQUARE_KEY: &str = "square_signature_key";
pub(crate) const LOCATION: &str = "LSIMULATOR001";
pub(crate) const EMAIL: &str = "ada@example.com";

/// Short pauses, and times that a busy machine keeps as well.
pub(crate) fn quick() -> ProviderSettings {
    ProviderSettings {
        allow_other_hosts: true,
        attempt_timeout: Duration::from_secs(3),
        deadline: Duration::from_secs(10),
        connect_timeout: Duration::from_secs(1),
        backoff_first: Duration::from_millis(20),
        backoff_max: Duration::from_millis(80),
        ..ProviderSettings::default()
    }
}

/// For tests that wait for a time-out, which is still longer than an answer takes.
pub(crate) fn hasty() -> ProviderSettings {
    let (attempt_timeout, deadline) = (Duration::from_millis(1_400), Duration::from_secs(20));
    ProviderSettings { attempt_timeout, deadline, ..quick() }
}

/// The adapters, for tests that call nobody.
pub(crate) fn providers() -> Providers {
    Providers::new(ProviderSettings::default()).unwrap()
}

/// A running simulator and the adapters that lead to it.
pub(crate) struct World {
    pub(crate) simulator: Simulator,
    pub(crate) origin: String,
    pub(crate) providers: Providers,
    pub(crate) stripe: Provider,
    pub(crate) square: Provider,
}

impl Drop for World {
    fn drop(&mut self) {
        self.simulator.stop();
    }
}

pub(crate) async fn start() -> World {
    start_with(quick()).await
}

pub(crate) async fn start_with(settings: ProviderSettings) -> World {
    start_layered(settings, |router| router).await
}

/// The same with something around the simulator's routes.
pub(crate) async fn start_layered(
    settings: ProviderSettings,
    layered: impl FnOnce(axum::Router) -> axum::Router,
) -> World {
    start_configured(settings, Config::default(), layered).await
}

/// The same with a simulator of other settings.
pub(crate) async fn start_configured(
    settings: ProviderSettings,
    config: Config,
    layered: impl FnOnce(axum::Router) -> axum::Router,
) -> World {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let simulator = Simulator::new(config);
    simulator.set_public_url(origin.as_str());
    let router = layered(simulator.router());
    tokio::spawn(async move { axum::serve(listener, router).await });
    World {
        providers: Providers::new(settings).unwrap(),
        stripe: stripe_at(&format!("{origin}/stripe")),
        square: square_at(&format!("{origin}/square")),
        simulator,
        origin,
    }
}

pub(crate) fn stripe_at(base_url: &str) -> Provider {
    provider(&json!({
        "adapter": "stripe",
        "baseUrl": base_url,
        "credentials": {
            "secretKey": "sk_test_simulator",
            "publishableKey": "pk_test_simulator",
            "webhookSecret": STRIPE_SECRET,
        },
    }))
}

/// The same with options.
pub(crate) fn stripe_with(base_url: &str, options: &Value) -> Provider {
    provider(&json!({
        "adapter": "stripe",
        "baseUrl": base_url,
        "credentials": { "secretKey": "sk_test_simulator", "publishableKey": "pk_test_simulator" },
        "options": options,
    }))
}

pub(crate) fn square_at(base_url: &str) -> Provider {
    provider(&json!({
        "adapter": "square",
        "baseUrl": base_url,
        "credentials": {
            "accessToken": "square_simulator_token",
            "applicationId": "sandbox-sq0idb-simulator",
            "locationId": LOCATION,
            "webhookSignatureKey": SQUARE_KEY,
        },
    }))
}

pub(crate) fn provider(entry: &Value) -> Provider {
    let document = json!({ "providers": { "one": entry } });
    let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
    configuration.providers.get("one").unwrap().clone()
}

/// An order over 20.00 USD, different from every other.
pub(crate) fn order(flow: Flow) -> CardOrder {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut random = [7; 10];
    random[..8].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let at = now();
    CardOrder {
        environment: EnvironmentId::new(at, [1; 10]),
        id: PaymentId::new(at, random),
        flow,
        provider: "one".to_owned(),
        adapter: "any".to_owned(),
        account: None,
        channel: Channel::WebCard,
        matched: None,
        route: tollgate_domain::routing::RouteProgress::default(),
        config_version: 1,
        currency: Currency::USD,
        fee: FeeEntry::default().assess(Principal::new(2_000).unwrap()),
        description: Some("Tea & café, 2 × 10".to_owned()),
        customer_name: Some("Ada Example".to_owned()),
        customer_email: Some(EMAIL.to_owned()),
        metadata: "{}".to_owned(),
        capture: CaptureMode::Automatic,
        success_url: Some("https://shop.test/done?order=1".to_owned()),
        cancel_url: Some("https://shop.test/back".to_owned()),
        key: None,
        request: "req_test".to_owned(),
        created_at: at,
        expires_at: at.saturating_add(Duration::from_hours(24)),
    }
}

/// The same, to be captured by hand, with a fee of 3 % on top.
pub(crate) fn manual_order(flow: Flow) -> CardOrder {
    let layer = FeeLayer { enabled: true, percent: BasisPoints::new(300).unwrap(), ..FeeLayer::default() };
    let fee = FeeEntry { platform: layer, ..FeeEntry::default() }.assess(Principal::new(2_000).unwrap());
    CardOrder { capture: CaptureMode::Manual, fee, ..order(flow) }
}

/// A capture or void of ours that is about to be sent, different from every other.
pub(crate) fn hold_action(kind: HoldActionKind, asked: Option<u64>) -> HoldAction {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut random = [3; 10];
    random[..8].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    HoldAction {
        id: HoldActionId::new(now(), random),
        kind,
        asked: asked.map(|asked| Principal::new(asked).unwrap()),
        status: HoldActionStatus::Pending,
        failure: None,
        request: "req_test".to_owned(),
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn charge(number: u32, source: &str) -> Charge {
    Charge {
        number,
        source: Secret::new(source),
        verification: None,
        buyer_email: Some(EMAIL.to_owned()),
        terms: None,
    }
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
}

/// What refunds of a payment have given back.
pub(crate) fn given_back(report: &ProviderReport) -> u64 {
    let counted = report.refunds.iter().filter(|refund| refund.status.counts());
    counted.map(|refund| refund.total.get()).sum()
}

/// A refund of ours that is about to be sent.
pub(crate) fn refund(number: u8, principal: u64, fee: u64) -> Refund {
    Refund {
        id: RefundId::from_bytes([number; 16]),
        terms: RefundTerms {
            amount: Some(minor(principal)),
            fee_refund: None,
            reason: Some(RefundReason::RequestedByCustomer),
            description: None,
            metadata: "{}".to_owned(),
        },
        principal: minor(principal),
        fee: minor(fee),
        origin: RefundOrigin::Api,
        status: RefundStatus::Pending,
        provider_reference: None,
        failure: None,
        request: None,
        approval: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn minor(amount: u64) -> Minor {
    Minor::new(amount).unwrap()
}

/// The code of a refusal, after checking its kind.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(call: Call<T>, kind: RejectionKind) -> String {
    match call.outcome {
        Err(CallError::Rejected(rejection)) if rejection.kind == kind => rejection.failure.code,
        other => panic!("a refusal as {kind:?} was expected, not {other:?}"),
    }
}

/// The code of a failed standing.
#[track_caller]
pub(crate) fn failed_code(report: &ProviderReport) -> &str {
    match &report.provider_status {
        ProviderStatus::Failed(failure) => &failure.code,
        other => panic!("a failure was expected, not {other:?}"),
    }
}

/// A card of which this is known, as a report has it.
pub(crate) fn card_of(known: &Value) -> Box<PaymentCard> {
    let text = |name: &str| known[name].as_str().map(str::to_owned);
    let check = |name: &str| known[name].as_str().map(|word| CheckResult::parse(word).unwrap());
    Box::new(PaymentCard {
        brand: text("brand"),
        last_four: text("last4"),
        funding: text("funding"),
        country: text("country"),
        expiry_month: known["month"].as_u64().map(|month| u8::try_from(month).unwrap()),
        expiry_year: known["year"].as_u64().map(|year| u16::try_from(year).unwrap()),
        three_d_secure: None,
        checks: CardChecks { address: None, postal_code: check("postalCode"), cvc: check("cvc") },
    })
}

/// The operations a call was made of, and how often each was sent.
pub(crate) fn asked<T, E>(call: &Call<T, E>) -> Vec<(&'static str, usize)> {
    call.logs.iter().map(|log| (log.operation, log.tries.len())).collect()
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Reply {
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// One plain exchange, for whoever is not the adapter.
pub(crate) async fn send(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Result<Reply, String> {
    let (place, path) = url.trim_start_matches("http://").split_once('/').unwrap();
    let stream = TcpStream::connect(place).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    let mut request = http::Request::builder().method(method).uri(format!("/{path}")).header("host", place);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body))).unwrap();
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        Ok(Reply { status: parts.status.as_u16(), text: String::from_utf8_lossy(&body).into_owned() })
    };
    tokio::time::timeout(Duration::from_secs(10), exchange).await.map_err(|_| "timed out".to_owned())?
}

impl World {
    pub(crate) fn stripe_cards(&self) -> &dyn Cards {
        self.providers.capabilities(Adapter::Stripe).cards.unwrap()
    }

    pub(crate) fn square_cards(&self) -> &dyn Cards {
        self.providers.capabilities(Adapter::Square).cards.unwrap()
    }

    pub(crate) fn webhooks(&self, adapter: Adapter) -> &dyn Webhooks {
        self.providers.capabilities(adapter).webhooks.unwrap()
    }

    /// Plays the browser, with the customer's card.
    pub(crate) async fn confirm(&self, intent: &str, method: &str) -> Reply {
        let url = format!("{}/stripe/v1/payment_intents/{intent}/confirm", self.origin);
        let headers = [
            ("authorization", "Bearer sk_test_simulator"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        send("POST", &url, &headers, format!("payment_method={method}")).await.unwrap()
    }

    /// The same with a method that the browser describes rather than names.
    pub(crate) async fn confirm_with(&self, intent: &str, kind: &str) -> Reply {
        let url = format!("{}/stripe/v1/payment_intents/{intent}/confirm", self.origin);
        let headers = [
            ("authorization", "Bearer sk_test_simulator"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        send("POST", &url, &headers, format!("payment_method_data[type]={kind}")).await.unwrap()
    }

    /// Reads an object of the Stripe API as it stands.
    pub(crate) async fn stripe_object(&self, path: &str) -> Value {
        let url = format!("{}/stripe/v1/{path}", self.origin);
        let headers = [("authorization", "Bearer sk_test_simulator")];
        send("GET", &url, &headers, String::new()).await.unwrap().expect(200)
    }

    /// Plays a customer at a hosted page.
    pub(crate) async fn pay_page(&self, url: &str, number: &str) -> Reply {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        send("POST", url, &headers, format!("number={number}&expiry=12/34&cvc=123")).await.unwrap()
    }

    pub(crate) async fn control(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}/control/{path}", self.origin);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = send(method, &url, &[], body).await.unwrap();
        assert!((200..300).contains(&reply.status), "{}", reply.text);
        serde_json::from_str(&reply.text).unwrap()
    }

    pub(crate) async fn fault(&self, wire: &str, operation: &str, kind: &str, count: u32) {
        let mut fault = json!({ "wire": wire, "operation": operation, "fault": kind, "count": count });
        match kind {
            "slow" => fault["delay_ms"] = json!(1_900),
            "timeout_before" | "timeout_after" => fault["delay_ms"] = json!(5_000),
            "rate_limited" => fault["delay_ms"] = json!(0),
            _ => {}
        }
        self.control("POST", "faults", fault).await;
    }

    /// How many of something a wire has accepted.
    pub(crate) async fn count(&self, wire: &str, name: &str) -> u64 {
        self.control("GET", "state", Value::Null).await[wire]["counts"][name].as_u64().unwrap()
    }

    pub(crate) async fn state(&self, wire: &str, kind: &str) -> Value {
        self.control("GET", "state", Value::Null).await[wire][kind].clone()
    }
}
