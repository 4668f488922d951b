//! Every request of the adapters against the providers' published OpenAPI documents, judged by validators this project
//! did not write: steady for Stripe's form bodies, Prism for the JSON of Square and (in `increase_validation`) Increase.
//!
//! The documents are the providers' and not part of this repository: `TOLLGATE_PROVIDER_SPECS` names the folder that has
//! `stripe.openapi.json`, `square.openapi.json`, `adyen-checkout.openapi.json`, `adyen-webhooks.openapi.json`,
//! `increase.openapi.json` and `modern_treasury.openapi.json`. Without it these tests are skipped, and counted as such. The
//! validators are installed by npm, once, into the target directory; they are told nothing but made-up payments.
//!
//! A judge stands between adapter and simulator: it shows each request to the validator, and then passes it on to the
//! simulator, so that what follows follows from real answers.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tollgate_domain::Flow;
use tollgate_domain::card::ProviderStatus;
use tollgate_domain::hold::HoldActionKind::{Capture, Void};
use tollgate_engine::ports::{RejectionKind, Subject};
use tollgate_providers::ProviderSettings;
use tollgate_vault::Secret;

use crate::child::{Running, installed, place, run};
use crate::offered::Offered as _;
use crate::support::{
    charge, hold_action, manual_order, now, order, refused, send, square_at, start_with, stripe_with,
};

const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validators/package.json");
const GOOD: &str = "4242424242424242";
/// What Square's requests are made of.
const SQUARE_OBJECTS: [&str; 9] = [
    "CreatePaymentRequest",
    "UpdatePaymentRequest",
    "CompletePaymentRequest",
    "CreatePaymentLinkRequest",
    "CheckoutOptions",
    "PrePopulatedData",
    "Order",
    "OrderLineItem",
    "Money",
];

/// The folder of the documents; without it the test is skipped, and says so past the harness, which would swallow it.
pub(crate) fn documents() -> Option<PathBuf> {
    let folder = std::env::var_os("TOLLGATE_PROVIDER_SPECS").map(PathBuf::from);
    if folder.is_none() {
        let reason = "SKIPPED: TOLLGATE_PROVIDER_SPECS does not name the providers' documents\n";
        std::io::stdout().write_all(reason.as_bytes()).unwrap();
    }
    folder
}

/// The folder of the validators.
pub(crate) fn validators() -> PathBuf {
    installed("validators", PACKAGES, |folder| {
        std::fs::copy(PACKAGES, folder.join("package.json")).unwrap();
        let options = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
        run(Command::new("npm").args(options).current_dir(folder));
    })
}

/// A validator's program.
fn program(name: &str) -> PathBuf {
    validators().join("node_modules/.bin").join(name)
}

fn steady(documents: &Path) -> Running {
    let document = documents.join("stripe.openapi.json").display().to_string();
    Running::start("steady", &program("steady"), |port| {
        let mut arguments: Vec<String> =
            ["--host", "127.0.0.1", "--no-color", "-p"].map(str::to_owned).to_vec();
        arguments.push(port.to_string());
        for place in ["form-object", "form-array", "query-object", "query-array"] {
            arguments.push(format!("--validator-{place}-format=brackets"));
        }
        arguments.push(document.clone());
        arguments
    })
}

/// Prism over a wire's document; `strict` names the objects that requests are made of.
pub(crate) fn prism(documents: &Path, wire: &str, strict: &[&str]) -> Running {
    let document = strictly(documents, wire, strict).display().to_string();
    Running::start(&format!("prism-{wire}"), &program("prism"), |port| {
        ["mock", "--host", "127.0.0.1", "--port", &port.to_string(), &document].map(str::to_owned).to_vec()
    })
}

/// The documents let any field pass. In this copy of one, the named objects know their fields.
fn strictly(documents: &Path, wire: &str, strict: &[&str]) -> PathBuf {
    let text = std::fs::read_to_string(documents.join(format!("{wire}.openapi.json"))).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    for name in strict {
        let schema = &mut document["components"]["schemas"][*name];
        assert!(schema["properties"].is_object(), "{name}");
        schema["additionalProperties"] = json!(false);
    }
    without_double_nulls(&mut document);
    let strict = place(&format!("{wire}.strict.json"));
    std::fs::write(&strict, document.to_string()).unwrap();
    strict
}

/// Prism adds null to the words of a nullable field. Where the document has it already, that makes a schema it cannot use, and
/// it passes every body then.
fn without_double_nulls(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_double_nulls),
        Value::Object(fields) => {
            if fields.get("nullable") == Some(&json!(true))
                && let Some(words) = fields.get_mut("enum").and_then(Value::as_array_mut)
            {
                words.retain(|word| !word.is_null());
            }
            fields.values_mut().for_each(without_double_nulls);
        }
        _ => {}
    }
}

type Plain = Client<HttpConnector, Full<bytes::Bytes>>;

/// Method and path of a request, and what was wrong with it.
type Judged = (String, Option<String>);

/// Shows requests to a validator and passes them on.
#[derive(Clone)]
pub(crate) struct Judge {
    client: Plain,
    validator: String,
    simulator: String,
    interpreted: Arc<Mutex<Vec<Judged>>>,
}

impl Judge {
    /// A judge at an address of its own.
    pub(crate) async fn sit(validator: String, simulator: String) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        // A new connection for each request: Prism closes idle ones, and a request may be on its way just then.
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http();
        let judge = Self { client, validator, simulator, interpreted: Arc::default() };
        let router = Router::new().fallback(hear).with_state(judge.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (judge, address)
    }

    /// What was asked so far, after checking that nothing was wrong with it.
    pub(crate) fn faultless(&self) -> Vec<String> {
        self.faultless_beside("nothing")
    }

    /// The same where the document at hand leaves some requests out, which begin so.
    pub(crate) fn faultless_beside(&self, unpublished: &str) -> Vec<String> {
        let interpreted = self.interpreted.lock().unwrap().clone();
        let is_wrong = |(request, fault): &&Judged| fault.is_some() && !request.starts_with(unpublished);
        let wrong: Vec<_> = interpreted.iter().filter(is_wrong).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        interpreted.into_iter().map(|(request, _)| request).collect()
    }
}

async fn hear(State(judge): State<Judge>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let ask = |base: &str| {
        let mut copy = http::Request::builder()
            .method(parts.method.clone())
            .uri(format!("{base}{}", parts.uri.path_and_query().unwrap()))
            .body(Full::new(body.clone()))
            .unwrap();
        *copy.headers_mut() = parts.headers.clone();
        copy.headers_mut().remove("host");
        judge.client.request(copy)
    };
    let verdict = ask(&judge.validator).await.unwrap();
    let (status, text) = (verdict.status(), verdict.into_body().collect().await.unwrap().to_bytes());
    let fault = (!status.is_success()).then(|| {
        let sent = String::from_utf8_lossy(&body).into_owned();
        format!("{status} {} {sent}", String::from_utf8_lossy(&text))
    });
    judge.interpreted.lock().unwrap().push((format!("{} {}", parts.method, parts.uri.path()), fault));
    ask(&judge.simulator).await.unwrap().map(Body::new)
}

/// How often a request of this method and path was judged; `*` stands for an id.
pub(crate) fn count(interpreted: &[String], pattern: &str) -> usize {
    let parts: Vec<_> = pattern.split('*').collect();
    let fits = |request: &String| match parts[..] {
        [whole] => request == whole,
        [before, after] => {
            let id = request.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            id.is_some_and(|id| !id.is_empty() && !id.contains('/'))
        }
        _ => panic!("{pattern}"),
    };
    interpreted.iter().filter(|request| fits(request)).count()
}

/// The validators are slow at first.
pub(crate) fn patient() -> ProviderSettings {
    ProviderSettings {
        attempt_timeout: std::time::Duration::from_secs(20),
        deadline: std::time::Duration::from_mins(1),
        allow_other_hosts: true,
        ..ProviderSettings::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_stripe_request_fits_the_published_document() {
    let Some(documents) = documents() else { return };
    let validator = tokio::task::spawn_blocking(move || steady(&documents)).await.unwrap();
    let world = start_with(patient()).await;
    let (judge, address) = Judge::sit(validator.origin(), format!("{}/stripe", world.origin)).await;
    let cards = world.stripe_cards();
    // The document at hand is older than what the newest versions changed; those are judged by the library's types.
    let provider = stripe_with(&address, &json!({ "apiVersion": "2026-08-26.dahlia" }));
    let options = json!({ "paymentMethods": ["card", "link", "klarna"], "receiptEmail": true,
        "statementDescriptorSuffix": "TICKETS", "apiVersion": "2025-09-30.clover", "account": "acct_1SimulatedShop" });
    let full = stripe_with(&address, &options);

    // The least and the most that can be in an order.
    for flow in Flow::ALL {
        let mut bare = order(flow);
        (bare.description, bare.customer_email, bare.cancel_url) = (None, None, None);
        for (order, provider) in [(order(flow), &full), (bare, &provider)] {
            let prepared = cards.prepare(provider, &order).await.outcome.unwrap();
            let subject = Subject::Object(&prepared.object);
            let seen = cards.read_report(provider, &order, subject).await.outcome.unwrap();
            assert_eq!(seen.provider_status, ProviderStatus::NotStarted);
            let withdrawn = cards.withdraw_report(provider, &order, &prepared.object).await.outcome.unwrap();
            assert_eq!(withdrawn.provider_status, ProviderStatus::Canceled);
        }
    }
    let paid = order(Flow::HostedCheckout);
    let prepared = cards.prepare(&provider, &paid).await.outcome.unwrap();
    world.pay_page(prepared.checkout_url.as_ref().unwrap(), GOOD).await;
    let late = cards.withdraw_report(&provider, &paid, &prepared.object).await.outcome.unwrap();
    let again = cards.read_report(&provider, &paid, Subject::Payment(late.payment.as_ref().unwrap())).await;
    assert_eq!(again.outcome.unwrap().provider_status, ProviderStatus::Succeeded);

    // Held, then captured in part, or released.
    for (kind, asked, ended) in
        [(Capture, Some(1_000), ProviderStatus::Succeeded), (Void, None, ProviderStatus::Canceled)]
    {
        for flow in Flow::ALL {
            let order = manual_order(flow);
            let prepared = cards.prepare(&provider, &order).await.outcome.unwrap();
            match &prepared.checkout_url {
                Some(page) => drop(world.pay_page(page, GOOD).await),
                None => drop(world.confirm(&prepared.object, "pm_card_visa").await.expect(200)),
            }
            let seen = cards
                .read_report(&provider, &order, Subject::Object(&prepared.object))
                .await
                .outcome
                .unwrap();
            let payment = seen.payment.unwrap();
            let done = cards.act_on_hold(&provider, &order, &payment, &hold_action(kind, asked)).await;
            assert_eq!(done.outcome.unwrap().provider_status, ended);
        }
    }

    let interpreted = judge.faultless();
    for (pattern, times) in [
        ("POST /v1/payment_intents", 4),
        ("GET /v1/payment_intents/*", 5),
        ("POST /v1/payment_intents/*/cancel", 4),
        ("POST /v1/payment_intents/*/capture", 2),
        ("POST /v1/checkout/sessions", 5),
        ("GET /v1/checkout/sessions/*", 5),
        ("POST /v1/checkout/sessions/*/expire", 3),
    ] {
        assert_eq!(count(&interpreted, pattern), times, "{pattern} in {interpreted:#?}");
    }
    assert_eq!(interpreted.len(), 28, "{interpreted:#?}");

    // The validator can say no.
    let headers = [
        ("authorization", "Bearer sk_test_simulator"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    for wrong in ["currency=usd", "amount=ten&currency=usd", "amount=1&currency=usd&metadata.a=b"] {
        let url = format!("{}/v1/payment_intents", validator.origin());
        let reply = send("POST", &url, &headers, wrong.to_owned()).await.unwrap();
        assert_eq!(reply.status, 400, "{wrong}: {}", reply.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_square_request_fits_the_published_document() {
    let Some(documents) = documents() else { return };
    let validator =
        tokio::task::spawn_blocking(move || prism(&documents, "square", &SQUARE_OBJECTS)).await.unwrap();
    let world = start_with(patient()).await;
    let (judge, address) = Judge::sit(validator.origin(), format!("{}/square", world.origin)).await;
    let (cards, provider) = (world.square_cards(), square_at(&address));

    let mut long = order(Flow::PaymentComponent);
    long.description = Some("ü".repeat(500));
    let mut card = charge(1, "cnon:card-nonce-ok");
    card.verification = Some(Secret::new("verf:proof"));
    let paid = cards.charge(&provider, &long, &card).await.outcome.unwrap();
    let mut bare = order(Flow::PaymentComponent);
    bare.description = None;
    let mut card = charge(u32::MAX, "cnon:card-nonce-declined");
    card.buyer_email = None;
    refused(cards.charge(&provider, &bare, &card).await, RejectionKind::Declined);
    let id = paid.payment.as_ref().unwrap();
    cards.read_report(&provider, &long, Subject::Payment(id)).await.outcome.unwrap();
    // It is listed seconds later; the judge need not see how often that is asked.
    for _ in 0..600 {
        let asked = cards.find_charge(&world.square, &long, long.created_at, now()).await;
        if asked.outcome.unwrap().is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let found = cards.find_charge(&provider, &long, long.created_at, now()).await.outcome.unwrap();
    assert_eq!(found, Some(paid));

    let mut bare = order(Flow::HostedCheckout);
    (bare.description, bare.customer_email, bare.success_url) = (None, None, None);
    for order in [order(Flow::HostedCheckout), bare] {
        let prepared = cards.prepare(&provider, &order).await.outcome.unwrap();
        let subject = Subject::Object(&prepared.object);
        assert_eq!(
            cards.read_report(&provider, &order, subject).await.outcome.unwrap().provider_status,
            ProviderStatus::NotStarted
        );
        let withdrawn = cards.withdraw_report(&provider, &order, &prepared.object).await.outcome.unwrap();
        assert_eq!(withdrawn.provider_status, ProviderStatus::Canceled);
    }

    for action in [hold_action(Capture, Some(1_000)), hold_action(Void, None)] {
        let order = manual_order(Flow::PaymentComponent);
        let held = cards.charge(&provider, &order, &charge(1, "cnon:card-nonce-ok")).await.outcome.unwrap();
        let done = cards.act_on_hold(&provider, &order, &held.payment.unwrap(), &action).await;
        done.outcome.unwrap();
    }

    let interpreted = judge.faultless();
    for (pattern, times) in [
        ("POST /v2/payments", 4),
        ("GET /v2/payments/*", 3),
        ("PUT /v2/payments/*", 1),
        ("POST /v2/payments/*/complete", 1),
        ("POST /v2/payments/*/cancel", 1),
        ("GET /v2/payments", 1),
        ("POST /v2/online-checkout/payment-links", 2),
        ("GET /v2/online-checkout/payment-links/*", 4),
        ("DELETE /v2/online-checkout/payment-links/*", 2),
        ("GET /v2/orders/*", 4),
    ] {
        assert_eq!(count(&interpreted, pattern), times, "{pattern} in {interpreted:#?}");
    }
    assert_eq!(interpreted.len(), 23, "{interpreted:#?}");

    // The validator can say no.
    let headers = [("authorization", "Bearer x"), ("content-type", "application/json")];
    let good = json!({ "source_id": "cnon:x", "idempotency_key": "k",
        "amount_money": { "amount": 1, "currency": "USD" } });
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    for (body, status) in [
        (good.clone(), 200),
        (with("idempotency_key", json!("k".repeat(46))), 422),
        (with("reference_id", json!("r".repeat(41))), 422),
        (with("amount_money", json!({ "amount": "1", "currency": "USD" })), 422),
        (with("reference", json!("misspelt")), 422),
        (with("source_id", Value::Null), 422),
    ] {
        let url = format!("{}/v2/payments", validator.origin());
        let reply = send("POST", &url, &headers, body.to_string()).await.unwrap();
        assert_eq!(reply.status, status, "{body}: {}", reply.text);
    }
}
