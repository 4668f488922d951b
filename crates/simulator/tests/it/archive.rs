//! A simulator that keeps its objects in a file: what the next one finds there.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tollgate_simulator::{Config, Simulator, Wire};

use crate::{
    adyen::{call, session},
    support::{Inbox, Running, run},
};

async fn open(path: &Path) -> Running {
    run(Simulator::open(Config::default(), path).unwrap()).await
}

async fn transfers(running: &Running) -> Vec<Value> {
    let list = running.increase("GET", "ach_transfers", Value::Null).await.expect(200);
    list["data"].as_array().unwrap().clone()
}

async fn balance(running: &Running) -> Value {
    let path = "accounts/account_simulator/balance";
    running.increase("GET", path, Value::Null).await.expect(200)["available_balance"].clone()
}

#[tokio::test]
async fn objects_keys_and_balances_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("simulator.jsonl");
    let first = open(&path).await;
    let made = first.ach_transfer("payout-1").await;
    let paid = first.intent("payment_method=pm_card_visa&confirm=true&return_url=https://shop.example").await;
    let charged = first.square_payment("order-1", "cnon:card-nonce-ok").await.expect(200);
    let order = session("order-2", &json!({}));
    let opened = call(&first, "POST", "v72/sessions", "session-1", order.clone()).await.expect(201);
    let (before, left) = (transfers(&first).await, balance(&first).await);
    // The first is not told that it ends: whatever the file has was there when the answers were sent.
    let second = open(&path).await;
    assert_eq!((transfers(&second).await, balance(&second).await), (before, left));
    let read = format!("payment_intents/{}", paid["id"].as_str().unwrap());
    assert_eq!(second.stripe("GET", &read, "").await.expect(200)["status"], "succeeded");
    // Keys are remembered: what is asked again makes nothing again.
    assert_eq!(second.ach_transfer("payout-1").await["id"], made["id"]);
    let again = second.square_payment("order-1", "cnon:card-nonce-ok").await.expect(200);
    assert_eq!(again["payment"]["id"], charged["payment"]["id"]);
    assert_ne!(second.ach_transfer("payout-2").await["id"], made["id"]);
    let again = call(&second, "POST", "v72/sessions", "session-1", order).await.expect(201);
    assert_eq!(again["id"], opened["id"]);
    // A session that the first opened is paid at the second, and the third knows it.
    let pay = format!("adyen/sessions/{}/pay", opened["id"].as_str().unwrap());
    second.control("POST", &pay, json!({})).await;
    let row = open(&path).await.state().await["adyen"]["payments"][0].clone();
    assert_eq!(row["reference"], "order-2", "{row}");
}

#[tokio::test]
async fn a_line_that_was_cut_off_takes_nothing_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("simulator.jsonl");
    let first = open(&path).await;
    first.ach_transfer("payout-1").await;
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].rsplit(|byte| *byte == b'\n').next().unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&last[..last.len() / 2]).unwrap();
    let second = open(&path).await;
    assert_eq!(transfers(&second).await.len(), 1);
    second.ach_transfer("payout-2").await;
    assert_eq!(transfers(&open(&path).await).await.len(), 2);
}

#[tokio::test]
async fn the_file_holds_what_is_left_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("simulator.jsonl");
    let config = Config { objects_max: 4, ..Config::default() };
    let first = run(Simulator::open(config.clone(), &path).unwrap()).await;
    for number in 0..60 {
        let made = first.ach_transfer(&format!("payout-{number}")).await;
        let settle = format!("simulations/ach_transfers/{}/settle", made["id"].as_str().unwrap());
        first.increase("POST", &settle, Value::Null).await.expect(200);
    }
    let grown = fs::metadata(&path).unwrap().len();
    let second = run(Simulator::open(config, &path).unwrap()).await;
    let left = fs::metadata(&path).unwrap().len();
    assert!(left < grown / 4, "{left} of {grown} bytes");
    assert_eq!(transfers(&second).await.len(), 4);
    second.simulator.reset();
    assert_eq!(transfers(&second).await, [] as [Value; 0]);
    assert_eq!(transfers(&open(&path).await).await, [] as [Value; 0]);
}

#[tokio::test]
async fn webhooks_that_were_not_sent_are_sent_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("simulator.jsonl");
    let slow = Config { webhook_backoff_ms: 60_000, ..Config::default() };
    let first = run(Simulator::open(slow, &path).unwrap()).await;
    let (inbox, _) = Inbox::for_wire(&first, Wire::Increase).await;
    inbox.refuse(1);
    let made = first.ach_transfer("payout-1").await;
    inbox.wait(1).await;
    first.simulator.stop();

    let second = open(&path).await;
    let (inbox, _) = Inbox::for_wire(&second, Wire::Increase).await;
    second.simulator.start();
    let event = inbox.wait(1).await.remove(0).json;
    let (category, object) = (&event["category"], &event["associated_object_id"]);
    assert_eq!((category, object), (&json!("ach_transfer.created"), &made["id"]));
    // Once it is sent, nobody sends it again.
    let sent = format!("{},null]", event["id"]);
    for _ in 0..6_000 {
        if fs::read_to_string(&path).unwrap().contains(&sent) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let third = open(&path).await;
    let (inbox, _) = Inbox::for_wire(&third, Wire::Increase).await;
    let other = third.ach_transfer("payout-2").await;
    assert_eq!(inbox.wait(1).await[0].json["associated_object_id"], other["id"]);
}
