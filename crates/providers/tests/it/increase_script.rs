//! Answers no simulator gives, from a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tollgate_configuration::Adapter;
use tollgate_domain::Channel;
use tollgate_domain::ach::{AchProviderReport, TransferOrder};
use tollgate_engine::ports::{Adapters as _, Call, CallError, RejectionKind};
use tollgate_providers::Providers;

use crate::increase_support::{bank, order, provider_at};
use crate::support::{asked, quick, refused};

/// Status, body, and headers.
pub(crate) type Answer = (u16, String, Vec<(&'static str, &'static str)>);

pub(crate) fn answer(status: u16, body: &Value) -> Answer {
    (status, body.to_string(), Vec::new())
}

fn with(mut answer: Answer, name: &'static str, value: &'static str) -> Answer {
    answer.2.push((name, value));
    answer
}

/// The key, the path and the body of a request.
type Received = (Option<String>, String, String);

/// A provider that answers from a script and keeps what it was sent.
#[derive(Clone, Default)]
pub(crate) struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    received: Arc<Mutex<Vec<Received>>>,
}

async fn play(State(script): State<Script>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let key = parts.headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let received = (key, parts.uri.path().to_owned(), String::from_utf8(body.to_vec()).unwrap());
    script.received.lock().unwrap().push(received);
    let next = script.answers.lock().unwrap().pop_front();
    let (status, body, headers) = next.unwrap_or_else(|| (599, "the script is over".to_owned(), Vec::new()));
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).unwrap()
}

/// A scripted provider at its address.
pub(crate) async fn scripted(answers: Vec<Answer>) -> (Script, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let script = Script { answers: Arc::new(Mutex::new(answers.into())), ..Script::default() };
    let router = Router::new().fallback(play).with_state(script.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (script, address)
}

async fn send_to(answers: Vec<Answer>, order: &TransferOrder) -> (Call<AchProviderReport>, Script) {
    let (script, address) = scripted(answers).await;
    let providers = Providers::new(quick()).unwrap();
    let wire = providers.capabilities(Adapter::Increase).transfers.unwrap();
    (wire.send(&provider_at(&address), order, &bank()).await, script)
}

fn transfer(key: &Value) -> Value {
    json!({ "id": "ach_transfer_1", "status": "pending_submission", "amount": 2_000, "idempotency_key": key })
}

fn used(resource: &Value) -> Answer {
    let kind = "idempotency_key_already_used_error";
    answer(409, &json!({ "type": kind, "title": "", "detail": "", "status": 409, "resource_id": resource }))
}

fn is_unknown<T>(call: &Call<T>) -> bool {
    matches!(call.outcome, Err(CallError::Unknown(_)))
}

#[tokio::test]
async fn every_try_is_the_same_request_under_the_same_key() {
    let order = order(Channel::StandardAch);
    let key = order.id.to_string();
    let answers = vec![
        answer(500, &Value::Null),
        answer(408, &Value::Null),
        answer(200, &transfer(&key.as_str().into())),
    ];
    let (call, script) = send_to(answers, &order).await;
    call.outcome.unwrap();
    let received = script.received.lock().unwrap().clone();
    assert_eq!(received.len(), 3);
    for one in &received {
        assert_eq!((one.0.as_ref(), one.1.as_str(), &one.2), (Some(&key), "/ach_transfers", &received[0].2));
    }
}

#[tokio::test]
async fn a_key_used_before_is_ours_only_where_its_object_says_so() {
    let order = order(Channel::StandardAch);
    let key = Value::from(order.id.to_string());
    let id = Value::from("ach_transfer_1");

    let (call, _) = send_to(vec![used(&id), answer(200, &transfer(&key))], &order).await;
    assert_eq!(asked(&call), [("ach_transfers.create", 1), ("ach_transfers.retrieve", 1)]);
    assert_eq!(call.outcome.unwrap().transfer, "ach_transfer_1");

    let (call, _) = send_to(vec![used(&id), answer(200, &transfer(&"somebody else's".into()))], &order).await;
    assert_eq!(refused(call, RejectionKind::Invalid), "idempotency_key_reused");

    // Something was made under our key. As long as nobody can say what, it may be ours.
    let missing = json!({ "type": "object_not_found_error", "title": "", "detail": "", "status": 404 });
    for answers in [
        vec![used(&id), answer(200, &transfer(&Value::Null))],
        vec![used(&id), answer(404, &missing)],
        vec![used(&id), answer(401, &missing)],
        vec![used(&id)],
        vec![used(&"check_transfer_1".into())],
        vec![used(&"../accounts".into())],
        vec![used(&Value::Null)],
        vec![used(&json!({ "id": 1 }))],
    ] {
        let (call, _) = send_to(answers, &order).await;
        assert!(is_unknown(&call), "{call:?}");
    }

    // After a lost answer it is the answer.
    let lost = answer(502, &Value::Null);
    let (call, _) = send_to(vec![lost, used(&id), answer(200, &transfer(&key))], &order).await;
    assert_eq!(asked(&call), [("ach_transfers.create", 2), ("ach_transfers.retrieve", 1)]);
    assert_eq!(call.outcome.unwrap().reference.as_deref(), key.as_str());
}

#[tokio::test]
async fn ids_of_the_sandbox_lead_to_their_transfers() {
    let order = order(Channel::StandardAch);
    let key = Value::from(order.id.to_string());
    let mut made = transfer(&key);
    made["id"] = "sandbox_ach_transfer_1".into();
    let (call, script) =
        send_to(vec![used(&"sandbox_ach_transfer_1".into()), answer(200, &made)], &order).await;
    assert_eq!(call.outcome.unwrap().transfer, "sandbox_ach_transfer_1");
    assert_eq!(script.received.lock().unwrap()[1].1, "/ach_transfers/sandbox_ach_transfer_1");
}

#[tokio::test]
async fn a_list_that_is_not_of_the_key_is_no_answer() {
    let order = order(Channel::StandardAch);
    let ours = transfer(&order.id.to_string().into());
    let other = transfer(&"another".into());
    let providers = Providers::new(quick()).unwrap();
    let wire = providers.capabilities(Adapter::Increase).transfers.unwrap();
    for (rows, expected) in [
        (json!([]), Some(false)),
        (json!([ours]), Some(true)),
        (json!([other, ours]), Some(true)),
        (json!([other]), None),
    ] {
        let (_, address) = scripted(vec![answer(200, &json!({ "data": rows, "next_cursor": null }))]).await;
        let call = wire.find(&provider_at(&address), &order).await;
        match expected {
            Some(found) => assert_eq!(call.outcome.unwrap().is_some(), found, "{rows}"),
            None => assert!(is_unknown(&call), "{rows}"),
        }
    }
}

#[tokio::test]
async fn answers_that_say_nothing_of_what_was_done_are_unknown() {
    let order = order(Channel::SameDayAch);
    let problem =
        |status: u16, kind: &str| answer(status, &json!({ "type": kind, "title": "", "status": status }));
    let unfunded = || {
        let detail = "There's an insufficient balance in the account.";
        answer(409, &json!({ "type": "invalid_operation_error", "detail": detail, "status": 409 }))
    };
    let mut pulled = transfer(&order.id.to_string().into());
    pulled["amount"] = (-2_000).into();
    for answers in [
        vec![problem(409, "one_from_the_future")],
        // Too little money now says nothing about a request before.
        vec![answer(500, &Value::Null), unfunded()],
        vec![answer(400, &json!("a page of somebody in between"))],
        vec![answer(404, &Value::Null)],
        vec![answer(302, &Value::Null)],
        vec![answer(200, &pulled); 3],
        vec![answer(204, &Value::Null); 3],
        // Revoked in between: it may have been done before.
        vec![answer(500, &Value::Null), problem(401, "invalid_api_key_error")],
        vec![answer(500, &Value::Null), problem(400, "invalid_parameters_error")],
        vec![
            answer(500, &Value::Null),
            problem(429, "rate_limited_error"),
            problem(404, "object_not_found_error"),
        ],
    ] {
        let (call, _) = send_to(answers, &order).await;
        assert!(is_unknown(&call), "{call:?}");
    }
    for (answers, kind) in [
        (vec![problem(409, "invalid_operation_error")], RejectionKind::State),
        (vec![unfunded()], RejectionKind::Funds),
        (vec![problem(400, "malformed_request_error")], RejectionKind::Invalid),
        (vec![problem(422, "one_from_the_future")], RejectionKind::Invalid),
        (vec![problem(403, "private_feature_error")], RejectionKind::Credentials),
        (vec![answer(403, &Value::Null)], RejectionKind::Credentials),
        // Turned away is not taken, so that what follows counts.
        (
            vec![problem(429, "rate_limited_error"), problem(400, "invalid_parameters_error")],
            RejectionKind::Invalid,
        ),
    ] {
        let (call, _) = send_to(answers, &order).await;
        refused(call, kind);
    }
}

#[tokio::test]
async fn the_providers_word_on_trying_again_is_obeyed() {
    let order = order(Channel::StandardAch);
    let good = answer(200, &transfer(&order.id.to_string().into()));
    let failed = || answer(500, &Value::Null);
    let (call, _) = send_to(vec![with(failed(), "x-should-retry", "false"), good.clone()], &order).await;
    assert!(is_unknown(&call) && call.logs[0].tries.len() == 1, "{call:?}");
    let conflict = json!({ "type": "invalid_operation_error", "title": "", "status": 409 });
    let conflict = with(answer(409, &conflict), "x-should-retry", "true");
    let (call, _) = send_to(vec![conflict, good.clone()], &order).await;
    assert!(call.outcome.is_ok(), "{call:?}");

    let busy = |after: Value| {
        answer(
            429,
            &json!({ "type": "rate_limited_error", "title": "", "status": 429, "retry_after": after }),
        )
    };
    for (busy, millis) in [
        (busy(json!(1)), 1_000..3_000),
        (with(busy(json!(30)), "retry-after", "1"), 1_000..3_000),
        (with(busy(Value::Null), "retry-after-ms", "300"), 300..1_000),
        (busy(Value::Null), 10..1_000),
        (busy(json!("soon")), 10..1_000),
    ] {
        let began = Instant::now();
        let (call, _) = send_to(vec![busy, good.clone()], &order).await;
        call.outcome.unwrap();
        let took = began.elapsed();
        assert!(
            (millis.start..millis.end + 6_000).contains(&u64::try_from(took.as_millis()).unwrap()),
            "{took:?}"
        );
    }
    // A pause that does not fit into the deadline is passed on.
    let (call, _) = send_to(vec![busy(json!(120))], &order).await;
    let Err(CallError::Unsent(transient)) = call.outcome else { panic!("{call:?}") };
    assert_eq!(transient.retry_after, Some(Duration::from_mins(2)));
}
