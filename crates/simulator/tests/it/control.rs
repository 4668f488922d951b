//! The control interface, the bounds, and the end.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_simulator::{Config, Wire};

use crate::support::{start, start_with};

#[tokio::test]
async fn the_control_interface_wants_its_token() {
    let running = start_with(Config { control_token: Some("secret".to_owned()), ..Config::default() }).await;
    for (headers, status) in [
        (vec![], 401),
        (vec![("authorization", "Bearer other")], 401),
        (vec![("authorization", "Bearer secret")], 200),
    ] {
        let reply = running.try_send("GET", "/control/state", &headers, String::new()).await.unwrap();
        assert_eq!(reply.status.as_u16(), status);
    }
}

#[tokio::test]
async fn the_oldest_objects_are_dropped() {
    let running = start_with(Config { objects_max: 3, ..Config::default() }).await;
    let mut ids = Vec::new();
    let open = running.intent("").await["id"].as_str().unwrap().to_owned();
    for _ in 0..4 {
        ids.push(running.intent("").await["id"].as_str().unwrap().to_owned());
        let path = format!("payment_intents/{}/cancel", ids.last().unwrap());
        running.stripe("POST", &path, "").await.expect(200);
    }
    running.stripe("GET", &format!("payment_intents/{}", ids[1]), "").await.expect(404);
    running.stripe("GET", &format!("payment_intents/{}", ids[2]), "").await.expect(200);
    running.stripe("GET", &format!("payment_intents/{open}"), "").await.expect(200);
    let state = running.state().await;
    assert_eq!(state["stripe"]["counts"]["payment_intents"], 5);
    assert_eq!(state["stripe"]["payment_intents"].as_array().unwrap().len(), 3);
    assert_eq!(state["calls"]["stripe.payment_intents.create"], 5);
}

#[tokio::test]
async fn a_reset_forgets_everything() {
    let running = start().await;
    running.square_payment("key", "cnon:card-nonce-ok").await.expect(200);
    running.fault(json!({ "wire": "square", "operation": "*", "fault": "reset", "count": 9 })).await;
    running.control("POST", "reset", Value::Null).await;
    assert_eq!(running.state().await["square"]["counts"]["payments"], 0);
    // The key is free again, even for something else.
    running.square_payment("key", "cnon:card-nonce-declined").await.expect(400);
}

#[tokio::test]
async fn a_caller_who_hangs_up_does_not_stop_the_payment() {
    let running = start().await;
    running.fault(json!({ "wire": "stripe", "operation": "*", "fault": "slow", "delay_ms": 5_000 })).await;
    let call = running.try_stripe("POST", "payment_intents", "amount=500&currency=usd", "key");
    tokio::select! {
        answer = call => panic!("it was answered: {}", answer.is_ok()),
        () = running.wait_call("stripe.payment_intents.create") => {}
    }
    let made = async || running.state().await["stripe"]["counts"]["payment_intents"].clone();
    assert_eq!(made().await, 0);
    for _ in 0..6_000 {
        if made().await == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the payment was not made");
}

#[tokio::test]
async fn stopping_lets_go_of_calls_that_hang() {
    let running = start().await;
    running.fault(json!({ "wire": "stripe", "operation": "*", "fault": "timeout_before" })).await;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        running.simulator.stop();
    };
    let call = running.try_stripe("GET", "payment_intents", "", "");
    let (answer, ()) = tokio::join!(call, stop);
    assert_ne!(answer.unwrap_err(), "timed out");
}

#[tokio::test]
async fn identifiers_follow_from_the_seed() {
    let mut ids = Vec::new();
    for seed in [7, 7, 8] {
        let running = start_with(Config { seed, ..Config::default() }).await;
        ids.push(running.intent("").await["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[tokio::test]
async fn a_provider_can_be_served_alone_at_the_root() {
    let running = start_with(Config { only: Some(Wire::Stripe), ..Config::default() }).await;
    let headers = [("authorization", "Bearer sk_test_simulator")];
    let get = async |path| running.try_send("GET", path, &headers, String::new()).await.unwrap();
    get("/v1/payment_intents").await.expect(200);
    get("/control/state").await.expect(200);
    // Neither under its name, nor any other.
    for path in ["/stripe/v1/payment_intents", "/square/v2/locations", "/v2/locations", "/ach_transfers"] {
        get(path).await.expect(404);
    }
}
