//! Webhooks of the Increase API: an id and nothing more, signed as Standard Webhooks says, bent on request.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_simulator::{Config, Wire, increase_signature};

use crate::support::{INCREASE_SECRET, Inbox, Running, start, start_with};

async fn settle(running: &Running, transfer: &Value) {
    let path = format!("simulations/ach_transfers/{}/settle", transfer["id"].as_str().unwrap());
    running.increase("POST", &path, Value::Null).await.expect(200);
}

/// A signature the provider's own library made and accepted.
#[test]
fn the_signature_matches_the_official_library() {
    let body = r#"{"associated_object_id":"ach_transfer_uoxatyh3lt5evrsdvo7q","associated_object_type":"ach_transfer","category":"ach_transfer.updated","created_at":"2026-01-01T00:00:00Z","id":"event_001dzz0r20rzr4zrhrr1364hy80","type":"event"}"#;
    let id = "event_001dzz0r20rzr4zrhrr1364hy80";
    assert_eq!(
        increase_signature("increase_test_shared_secret_42", id, 1_767_225_600, body),
        "v1,dfAoWv9uNuQ+g6TjK476pvEV3k3lj7+c7hPOA+gWlWM="
    );
}

#[tokio::test]
async fn events_name_the_transfer_and_arrive_signed() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Increase).await;
    let made = running.ach_transfer("").await;
    settle(&running, &made).await;
    let received = inbox.wait(3).await;
    assert_eq!(inbox.kinds(), ["ach_transfer.created", "ach_transfer.updated", "ach_transfer.updated"]);
    for one in &received {
        let header = |name: &str| one.headers[name].to_str().unwrap();
        let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp").parse().unwrap());
        assert_eq!(
            header("webhook-signature"),
            increase_signature(INCREASE_SECRET, id, timestamp, &one.body)
        );
        assert_eq!((&one.json["id"], &one.json["type"]), (&json!(id), &json!("event")));
        assert_eq!(one.json["associated_object_id"], made["id"]);
        assert_eq!(one.json["associated_object_type"], "ach_transfer");
        assert_eq!(one.json.as_object().unwrap().len(), 6);
        let path = format!("events/{id}");
        assert_eq!(running.increase("GET", &path, Value::Null).await.expect(200), one.json);
    }
    let of_transfer = format!("associated_object_id={}", made["id"].as_str().unwrap());
    for (query, expected) in [
        (of_transfer.as_str(), vec![0, 1, 2]),
        ("order_by.direction=descending", vec![2, 1, 0]),
        ("category.in=ach_transfer.updated,account.created", vec![1, 2]),
        ("associated_object_id=other", vec![]),
    ] {
        let listed = running.increase("GET", &format!("events?{query}"), Value::Null).await.expect(200);
        let expected: Vec<_> =
            expected.into_iter().map(|place: usize| received[place].json.clone()).collect();
        assert_eq!(listed["data"], json!(expected), "{query}");
    }
}

#[tokio::test]
async fn transfers_that_settle_by_themselves_say_so() {
    let running = start_with(Config { ach_settles_after_ms: Some(20), ..Config::default() }).await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Increase).await;
    running.ach_transfer("").await;
    inbox.wait(3).await;
    assert_eq!(inbox.kinds(), ["ach_transfer.created", "ach_transfer.updated", "ach_transfer.updated"]);
}

#[tokio::test]
async fn a_refused_delivery_is_signed_anew_and_tried_again() {
    let running = start_with(Config { webhook_backoff_ms: 20, ..Config::default() }).await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Increase).await;
    inbox.refuse(1);
    running.ach_transfer("").await;
    let received = inbox.wait(2).await;
    assert_eq!(received[0].body, received[1].body);
    assert_eq!(received[0].headers["webhook-id"], received[1].headers["webhook-id"]);
}

/// Settles a transfer under a webhook fault; answers which events were received, by their place in the list of all:
/// when the call was answered, soon after, and in the end, when so many are expected.
async fn bent(kind: &str, expected: usize) -> [Vec<usize>; 3] {
    let running = start().await;
    let made = running.ach_transfer("").await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Increase).await;
    let operation = "simulations.ach_transfers.settle";
    running
        .fault(json!({ "wire": "increase", "operation": operation, "fault": kind, "delay_ms": 5_000 }))
        .await;
    settle(&running, &made).await;
    let at_once = inbox.received();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let soon = inbox.received();
    inbox.wait(expected).await;
    // And no more than that.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let events = running.increase("GET", "events", Value::Null).await.expect(200)["data"].clone();
    let events = events.as_array().unwrap();
    [at_once, soon, inbox.received()].map(|received| {
        received.iter().map(|one| events.iter().position(|event| *event == one.json).unwrap()).collect()
    })
}

#[tokio::test]
async fn webhooks_are_bent_on_request() {
    let (never, late, first, twice, reversed) = tokio::join!(
        bent("webhook_never", 0),
        bent("webhook_late", 2),
        bent("webhook_first", 2),
        bent("webhook_twice", 4),
        bent("webhook_out_of_order", 2)
    );
    assert_eq!(never[2], Vec::<usize>::new());
    assert_eq!(late[1..], [vec![], vec![1, 2]]);
    assert_eq!(first, [vec![1, 2], vec![1, 2], vec![1, 2]]);
    assert_eq!(twice[2], [1, 1, 2, 2]);
    assert_eq!(reversed[2], [2, 1]);
}
