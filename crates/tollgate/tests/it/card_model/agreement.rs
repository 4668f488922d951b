//! Whether everybody tells the same once nothing is in flight.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::lane::{Lane, Tally};
use crate::support::{Shop, truth};

const SETTLED_WITHIN: Duration = Duration::from_mins(5);

/// Leaves a lane alone until everything agrees; tells what does not once it has had its time.
pub(super) fn check(lane: &Lane, trigger: &str) -> Tally {
    lane.simulator.clear_faults();
    let deadline = Instant::now() + SETTLED_WITHIN;
    let mut pause = Duration::from_millis(100);
    loop {
        let found = complaints(lane);
        if found.is_empty() {
            return lane.tally;
        }
        assert!(Instant::now() < deadline, "{trigger}: {}", found.join("\n"));
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

fn complaints(lane: &Lane) -> Vec<String> {
    if lane.simulator.webhooks_pending() > 0 {
        return vec!["webhooks are still on their way".to_owned()];
    }
    let mut found = Vec::new();
    let state = lane.simulator.state();
    for event in lane.shop.listed("provider-events?state=waiting") {
        found.push(format!("an event still waits: {event}"));
    }
    for payment in lane.shop.listed("payments") {
        let reference = payment["serviceReference"].as_str().unwrap();
        let story = lane.shop.story(reference);
        let mut wrong = payment_complaints(&story, &state, reference);
        if wrong.is_empty() {
            wrong = event_complaints(&lane.shop, &story, reference, declines(&state, reference));
        }
        found.extend(wrong.into_iter().map(|it| format!("{reference}: {it}\n{story:#}")));
    }
    found
}

fn minor(value: &Value) -> i64 {
    value.as_str().map_or(0, |text| text.parse().unwrap())
}

fn payment_complaints(story: &Value, state: &Value, reference: &str) -> Vec<String> {
    let mut found = Vec::new();
    let truth = truth(state, reference);
    let transaction = &story["transaction"];
    let status = transaction["status"].as_str();
    if truth.charged > 1 || truth.objects > 1 {
        found.push(format!("the provider has it more than once: {truth:?}"));
    }
    if matches!(status, Some("pending" | "processing")) || story["preparation"]["status"] == "preparing" {
        found.push("still in flight".to_owned());
    }
    let refunds = story["refunds"].as_array().cloned().unwrap_or_default();
    if refunds.iter().any(|refund| matches!(refund["status"].as_str(), Some("pending" | "processing"))) {
        found.push("a refund is in flight".to_owned());
    }
    let given: i64 = refunds
        .iter()
        .filter(|refund| refund["status"] == "succeeded")
        .map(|refund| minor(&refund["totalRefundMinor"]))
        .sum();
    let (total, shown) = (minor(&transaction["totalDebitMinor"]), minor(&transaction["refundedMinor"]));
    if given > total {
        found.push(format!("refunds of {given} exceed {total}"));
    }
    if given != truth.refunded || shown != truth.refunded {
        found.push(format!(
            "refunds add up to {given}, the payment shows {shown}, the provider gave {}",
            truth.refunded
        ));
    }
    let fits = match (truth.charged, truth.refunded) {
        (0, _) => matches!(status, None | Some("authorized" | "canceled" | "failed")),
        (_, refunded) if refunded >= total => status == Some("refunded"),
        _ => status == Some("succeeded"),
    };
    if !fits {
        found.push(format!("it is {status:?}, and the provider says {truth:?}"));
    }
    found
}

/// How many cards were declined on what the third provider has of a payment: each is told.
fn declines(state: &Value, reference: &str) -> usize {
    let rows = state["adyen"]["payments"].as_array().into_iter().flatten();
    rows.filter(|row| row["reference"] == reference && row["status"] == "Refused").count()
}

/// Events tell every change, and each of them once.
fn event_complaints(shop: &Shop, story: &Value, reference: &str, declines: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut events = shop.listed(&format!("events?reference={reference}"));
    events.reverse();
    let mut refunds = BTreeMap::<String, Vec<String>>::new();
    let mut statuses = Vec::<String>::new();
    for event in &events {
        let path = shop.path(&format!("/events/{}", event["id"].as_str().unwrap()));
        let body = shop.admin().get(&path).data(200)["body"].clone();
        let kind = event["type"].as_str().unwrap();
        let status = |value: &Value| value["status"].as_str().unwrap_or_default().to_owned();
        if kind.starts_with("refund.") {
            let refund = &body["data"]["refund"];
            let id = refund["refundReference"].as_str().unwrap().to_owned();
            refunds.entry(id).or_default().push(status(refund));
        } else if let Some(told) = kind.strip_prefix("transaction.") {
            statuses.push(told.to_owned());
        }
    }
    let failed = statuses.iter().filter(|status| *status == "failed").count();
    let is_told_twice = |two: &[String]| two[0] == two[1] && (two[0] != "failed" || failed > declines);
    if statuses.windows(2).any(is_told_twice) {
        found.push(format!("the same change was told twice: {statuses:?}"));
    }
    let now = story["transaction"]["status"].as_str();
    if now != statuses.last().map(String::as_str) {
        found.push(format!("events end with {statuses:?}, and it is {now:?}"));
    }
    for refund in story["refunds"].as_array().into_iter().flatten() {
        let id = refund["refundReference"].as_str().unwrap();
        let told = refunds.remove(id).unwrap_or_default();
        let mut once = told.clone();
        once.dedup();
        if once != told || told.last().map(String::as_str) != refund["status"].as_str() {
            found.push(format!("events told {told:?} of {id}, which is {}", refund["status"]));
        }
    }
    if !refunds.is_empty() {
        found.push(format!("events of refunds that do not exist: {refunds:?}"));
    }
    found
}
