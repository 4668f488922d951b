//! Answers no simulator gives, from a script: what is tried again, when that ends, and what it comes to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;
use tokio::net::TcpListener;
use tollgate_configuration::Adapter;
use tollgate_domain::Flow;
use tollgate_domain::card::{CardOrder, ProviderReport, ProviderStatus};
use tollgate_engine::ports::{Adapters as _, Call, CallError, Prepared, RejectionKind, Subject};
use tollgate_providers::{ProviderSettings, Providers};

use crate::offered::Offered as _;
use crate::support::{charge, order, quick, refused, square_at, stripe_at};

const INTENT: &str = r#"{"id":"pi_1","client_secret":"pi_1_secret_2","status":"requires_payment_method"}"#;
const PAYMENT: &str =
    r#"{"payment":{"id":"p1","status":"COMPLETED","amount_money":{"amount":2000,"currency":"USD"}}}"#;

/// One answer to give.
#[derive(Clone)]
struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    after: Duration,
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, headers: Vec::new(), body: body.to_owned(), after: Duration::ZERO }
}

impl Answer {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn after(mut self, millis: u64) -> Self {
        self.after = Duration::from_millis(millis);
        self
    }
}

type Key = (Option<String>, String);

/// A provider that answers from a script and keeps what it was sent.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    received: Arc<Mutex<Vec<Key>>>,
}

async fn play(State(script): State<Script>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let key = parts.headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    script.received.lock().unwrap().push((key, String::from_utf8(body.to_vec()).unwrap()));
    let next = script.answers.lock().unwrap().pop_front();
    let next = next.unwrap_or_else(|| answer(599, "the script is over"));
    tokio::time::sleep(next.after).await;
    let mut response = Response::builder().status(next.status);
    for (name, value) in next.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(next.body)).unwrap()
}

/// A scripted provider at its address.
async fn scripted(answers: &[Answer]) -> (Script, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let script = Script::default();
    script.answers.lock().unwrap().extend(answers.iter().cloned());
    let router = Router::new().fallback(play).with_state(script.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (script, address)
}

async fn prepare_at(address: &str, settings: ProviderSettings, order: &CardOrder) -> Call<Prepared> {
    let providers = Providers::new(settings).unwrap();
    let cards = providers.capabilities(Adapter::Stripe).cards.unwrap();
    cards.prepare(&stripe_at(address), order).await
}

/// Prepares on Stripe's wire against a script; also what was received.
async fn prepare(answers: &[Answer]) -> (Call<Prepared>, Vec<Key>) {
    let (script, address) = scripted(answers).await;
    let call = prepare_at(&address, quick(), &order(Flow::PaymentComponent)).await;
    let received = script.received.lock().unwrap().clone();
    (call, received)
}

/// Charges on Square's wire against a script.
async fn pay(answers: &[Answer]) -> Call<ProviderReport> {
    let (_script, address) = scripted(answers).await;
    let providers = Providers::new(quick()).unwrap();
    let cards = providers.capabilities(Adapter::Square).cards.unwrap();
    cards.charge(&square_at(&address), &order(Flow::PaymentComponent), &charge(1, "cnon:x")).await
}

fn tries<T>(call: &Call<T>) -> Vec<&str> {
    call.logs.iter().flat_map(|log| &log.tries).map(|one| one.outcome.as_str()).collect()
}

fn stripe_error(status: u16, kind: &str, code: &str) -> Answer {
    answer(status, &json!({ "error": { "type": kind, "code": code, "message": "No." } }).to_string())
}

fn square_error(status: u16, category: &str, code: &str) -> Answer {
    let error = json!({ "category": category, "code": code, "detail": "No." });
    answer(status, &json!({ "errors": [error] }).to_string())
}

#[tokio::test]
async fn every_try_is_the_same_request_under_the_same_key() {
    let (call, received) = prepare(&[answer(500, ""), answer(503, "<html>"), answer(200, INTENT)]).await;
    assert_eq!(tries(&call), ["error 500", "error 503", "ok"]);
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|one| *one == received[0] && one.0.is_some()), "{received:?}");
    assert_eq!(call.outcome.unwrap().object, "pi_1");
}

#[tokio::test]
async fn tries_end() {
    let (call, received) = prepare(&vec![answer(500, ""); 10]).await;
    assert_eq!((received.len(), call.logs[0].tries.len()), (3, 3));
    assert!(matches!(call.outcome, Err(CallError::Unknown(_))));
}

#[tokio::test]
async fn turned_away_is_unsent_unless_an_earlier_try_may_have_been_taken() {
    let busy = || stripe_error(429, "invalid_request_error", "rate_limit");
    let (call, _) = prepare(&vec![busy(); 3]).await;
    assert!(matches!(call.outcome, Err(CallError::Unsent(_))), "{call:?}");
    let (call, _) = prepare(&[busy(), answer(502, ""), busy()]).await;
    let Err(CallError::Unknown(transient)) = call.outcome else { panic!("{call:?}") };
    assert_eq!(transient.reason, "the provider answered 502; then the provider is busy");
    let (call, _) = prepare(&[busy(), busy(), answer(200, INTENT)]).await;
    assert!(call.outcome.is_ok());
    let busy = || square_error(429, "RATE_LIMIT_ERROR", "RATE_LIMITED");
    assert!(matches!(pay(&vec![busy(); 3]).await.outcome, Err(CallError::Unsent(_))));
    assert!(pay(&[busy(), answer(200, PAYMENT)]).await.outcome.is_ok());
}

#[tokio::test]
async fn a_key_in_use_may_be_our_own() {
    let in_use = || stripe_error(409, "idempotency_error", "idempotency_key_in_use");
    let (call, _) = prepare(&vec![in_use(); 3]).await;
    assert_eq!(tries(&call), ["conflict"; 3]);
    assert!(matches!(call.outcome, Err(CallError::Unknown(_))));
    let (call, _) = prepare(&[in_use(), answer(200, INTENT)]).await;
    assert!(call.outcome.is_ok());
    let in_use = || square_error(409, "INVALID_REQUEST_ERROR", "CONFLICT");
    assert!(matches!(pay(&vec![in_use(); 3]).await.outcome, Err(CallError::Unknown(_))));
    assert!(pay(&[in_use(), answer(200, PAYMENT)]).await.outcome.is_ok());
}

#[tokio::test]
async fn a_later_refusal_does_not_undo_what_may_have_been_done() {
    let revoked = || stripe_error(401, "invalid_request_error", "api_key_expired");
    let (call, _) = prepare(&[answer(500, ""), revoked()]).await;
    assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{call:?}");
    let (call, _) = prepare(&[revoked()]).await;
    assert_eq!(refused(call, RejectionKind::Credentials), "provider_credentials");
    let used = || square_error(400, "INVALID_REQUEST_ERROR", "CARD_TOKEN_USED");
    assert!(matches!(pay(&[answer(500, ""), used()]).await.outcome, Err(CallError::Unknown(_))));
    assert_eq!(refused(pay(&[used()]).await, RejectionKind::Declined), "card_token_used");
    let declined = || square_error(402, "PAYMENT_METHOD_ERROR", "GENERIC_DECLINE");
    assert_eq!(refused(pay(&[answer(500, ""), declined()]).await, RejectionKind::Declined), "card_declined");
}

/// An ID that cannot be used in a later request is not accepted as an answer.
#[tokio::test]
async fn a_malformed_id_leaves_the_outcome_unknown() {
    for id in ["", "pi_1/../pi_2", "pi 1", "pi_1?expand=x"] {
        let (call, _) =
            prepare(&vec![answer(200, &INTENT.replace("pi_1\",\"client", &format!("{id}\",\"client"))); 3])
                .await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{id}: {call:?}");
        let call = pay(&vec![answer(200, &PAYMENT.replace("p1", id)); 3]).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{id}: {call:?}");
    }
}

#[tokio::test]
async fn answers_that_cannot_be_read_are_no_answers() {
    let torn = r#"{"id":"pi_1","client_secret":"pi_1_se"#;
    for body in ["", "{}", "[]", "null", torn, r#"{"id":7,"client_secret":"x"}"#, r#"{"id":"pi_1"}"#] {
        let (call, _) = prepare(&vec![answer(200, body); 3]).await;
        assert_eq!(tries(&call), ["unreadable response"; 3], "{body}");
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{body}");
    }
    let (call, _) = prepare(&[answer(200, torn), answer(200, INTENT)]).await;
    assert!(call.outcome.is_ok());
    for amount in ["-5", "1.5", "1e3", "\"7\"", "99999999999999999999"] {
        let body = PAYMENT.replace("2000", amount);
        let call = pay(&vec![answer(200, &body); 3]).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{body}");
    }
    // More than any answer is.
    let (call, _) = prepare(&vec![answer(200, &" ".repeat(2 << 20)); 3]).await;
    assert!(matches!(call.outcome, Err(CallError::Unknown(_))));
    assert!(tries(&call)[0].starts_with("incomplete response"), "{:?}", tries(&call));
}

#[tokio::test]
async fn refusals_in_no_known_form_say_nothing_about_the_payment() {
    for status in [400, 404, 405, 418, 301, 302] {
        let (call, received) =
            prepare(&[answer(status, "<html>").with("location", "http://127.0.0.1:1/")]).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{status} {call:?}");
        assert_eq!(received.len(), 1, "{status}");
        let call = pay(&[answer(status, r#"{"errors":[]}"#)]).await;
        assert!(matches!(call.outcome, Err(CallError::Unknown(_))), "{status} {call:?}");
    }
    // An address that is no endpoint is not a missing payment.
    let (call, _) = prepare(&[stripe_error(404, "invalid_request_error", "")]).await;
    refused(call, RejectionKind::Invalid);
}

#[tokio::test]
async fn the_providers_word_on_trying_again_counts() {
    let (call, received) = prepare(&[answer(500, "").with("stripe-should-retry", "false")]).await;
    assert_eq!(received.len(), 1);
    assert!(matches!(call.outcome, Err(CallError::Unknown(_))));
    let odd = stripe_error(400, "invalid_request_error", "odd").with("stripe-should-retry", "true");
    let (call, received) = prepare(&[odd.clone(), answer(200, INTENT)]).await;
    assert_eq!((received.len(), call.outcome.is_ok()), (2, true));
    let (call, _) = prepare(&vec![odd; 3]).await;
    refused(call, RejectionKind::Invalid);
}

#[tokio::test]
async fn a_pause_the_provider_asks_for_is_kept_or_passed_on() {
    let busy =
        |seconds| stripe_error(429, "invalid_request_error", "rate_limit").with("retry-after", seconds);
    let began = Instant::now();
    let (call, _) = prepare(&[busy("1"), answer(200, INTENT)]).await;
    assert!(call.outcome.is_ok() && began.elapsed() >= Duration::from_secs(1));
    let began = Instant::now();
    let (call, received) = prepare(&[busy("60"), answer(200, INTENT)]).await;
    assert!(began.elapsed() < Duration::from_secs(30), "nobody waits longer than there is time");
    assert_eq!(received.len(), 1);
    let Err(CallError::Unsent(transient)) = call.outcome else { panic!("{call:?}") };
    assert_eq!(transient.retry_after, Some(Duration::from_mins(1)));
}

#[tokio::test]
async fn all_tries_together_keep_the_deadline() {
    let (_script, address) = scripted(&vec![answer(200, INTENT).after(60_000); 9]).await;
    let (attempt_timeout, deadline) = (Duration::from_secs(3), Duration::from_secs(6));
    let settings = ProviderSettings { attempt_timeout, deadline, tries_max: 9, ..quick() };
    let began = Instant::now();
    let call = prepare_at(&address, settings, &order(Flow::PaymentComponent)).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(tries(&call), ["timed out", "timed out"]);
    assert!(matches!(call.outcome, Err(CallError::Unknown(_))));
}

#[tokio::test]
async fn without_a_connection_nothing_was_sent() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let (_script, plain) = scripted(&[]).await;
    // Takes connections and says nothing.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("https://{}", mute.local_addr().unwrap());
    let not_tls = plain.replace("http:", "https:");
    for address in [nobody, not_tls, silent, "https://no-such-host.invalid".to_owned()] {
        let call = prepare_at(&address, quick(), &order(Flow::PaymentComponent)).await;
        assert_eq!(call.logs[0].tries.len(), 3, "{address}");
        assert!(call.logs[0].tries.iter().all(|one| one.status.is_none()));
        let Err(CallError::Unsent(transient)) = call.outcome else { panic!("{address}: {call:?}") };
        assert!(transient.reason.starts_with("no connection: "), "{address}: {}", transient.reason);
    }
    drop(mute);
}

#[tokio::test]
async fn connections_are_reused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let connections = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            *counted.lock().unwrap() += 1;
            let service = hyper::service::service_fn(async |_| {
                let body = http_body_util::Full::new(bytes::Bytes::from(INTENT));
                Ok::<_, std::convert::Infallible>(http::Response::new(body))
            });
            let io = hyper_util::rt::TokioIo::new(stream);
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
        }
    });
    let providers = Providers::new(quick()).unwrap();
    let cards = providers.capabilities(Adapter::Stripe).cards.unwrap();
    for _ in 0..5 {
        cards.prepare(&stripe_at(&address), &order(Flow::PaymentComponent)).await.outcome.unwrap();
    }
    assert_eq!(*connections.lock().unwrap(), 1);
}

/// The provider keeps a refusal with its key: taken back while it was under way, a payment could otherwise not be taken
/// back again once it has failed.
#[tokio::test]
async fn an_old_refusal_does_not_keep_a_payment_open() {
    let intent = |status: &str| {
        let error = json!({ "type": "card_error", "code": "card_declined" });
        let body = json!({ "id": "pi_1", "status": status, "amount": 2000, "currency": "usd",
            "last_payment_error": error, "metadata": {} });
        answer(200, &body.to_string())
    };
    let old = || stripe_error(400, "invalid_request_error", "payment_intent_unexpected_state");
    for (answers, expected) in [
        (vec![old(), intent("requires_payment_method"), intent("canceled")], Some(ProviderStatus::Canceled)),
        (vec![old(), intent("processing")], Some(ProviderStatus::Processing)),
        (vec![old(), intent("requires_payment_method"), old()], None),
    ] {
        let (script, address) = scripted(&answers).await;
        let providers = Providers::new(quick()).unwrap();
        let (provider, order) = (stripe_at(&address), order(Flow::PaymentComponent));
        let call = providers
            .capabilities(Adapter::Stripe)
            .cards
            .unwrap()
            .withdraw_report(&provider, &order, "pi_1")
            .await;
        let keys: Vec<_> = script.received.lock().unwrap().iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(keys[0], Some(format!("{}-withdraw", order.id)));
        assert_eq!(keys[1..], vec![None; answers.len() - 1]);
        match expected {
            Some(provider_status) => assert_eq!(call.outcome.unwrap().provider_status, provider_status),
            None => assert_eq!(refused(call, RejectionKind::State), "provider_state"),
        }
    }
}

#[tokio::test]
async fn a_read_is_refused_by_what_its_last_try_says() {
    let missing = stripe_error(404, "invalid_request_error", "resource_missing");
    let (_script, address) = scripted(&[answer(500, ""), missing]).await;
    let providers = Providers::new(quick()).unwrap();
    let cards = providers.capabilities(Adapter::Stripe).cards.unwrap();
    let (provider, order) = (stripe_at(&address), order(Flow::PaymentComponent));
    let call = cards.read_report(&provider, &order, Subject::Payment("pi_1")).await;
    assert_eq!(refused(call, RejectionKind::Missing), "provider_object_missing");
}

#[tokio::test]
async fn square_is_asked_for_a_dispute_by_its_name() {
    let dispute = json!({ "dispute": { "id": "d1", "state": "WON", "reason": "NO_KNOWLEDGE",
        "amount_money": { "amount": 7, "currency": "USD" } } });
    let (_script, address) = scripted(&[answer(200, &dispute.to_string())]).await;
    let providers = Providers::new(quick()).unwrap();
    let (cards, provider) = (providers.capabilities(Adapter::Square).cards.unwrap(), square_at(&address));
    let unknown = cards.dispute(&provider, "p1", None).await;
    assert_eq!((unknown.logs.len(), unknown.outcome), (0, Ok(None)), "the wire lists none by payment");
    let call = cards.dispute(&provider, "p1", Some("d1")).await;
    assert_eq!(tries(&call), ["ok"]);
    let read = call.outcome.unwrap().unwrap();
    assert_eq!((read.id.as_str(), read.status.as_str(), read.is_closed()), ("d1", "WON", true));
}
