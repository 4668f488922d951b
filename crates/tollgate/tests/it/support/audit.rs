//! Whether a shop's books agree with what its providers did, asked after every storm.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    shop::Shop,
    simulator::{Simulator, Truth, truth},
};

/// What an audit looked at.
#[derive(Debug, Default)]
pub struct Audit {
    pub payments: usize,
    pub charged: usize,
    pub complaints: Vec<String>,
}

/// Compares every payment of a shop with the provider's side of it.
fn audit(shop: &Shop, simulator: &Simulator) -> Audit {
    let state = simulator.state();
    let mut audit = Audit::default();
    let mut transactions = BTreeMap::<String, usize>::new();
    for transaction in shop.listed("transactions") {
        *transactions.entry(text(&transaction["serviceReference"])).or_default() += 1;
    }
    for payment in shop.listed("payments") {
        let reference = text(&payment["serviceReference"]);
        let truth = truth(&state, &reference);
        audit.payments += 1;
        audit.charged += truth.charged;
        let recorded = transactions.remove(&reference).unwrap_or(0);
        let found = complaints(&shop.story(&reference), &truth, recorded);
        audit.complaints.extend(found.into_iter().map(|complaint| format!("{reference}: {complaint}")));
    }
    audit
        .complaints
        .extend(transactions.into_keys().map(|it| format!("{it}: a transaction without a payment")));
    let waiting = shop.listed("provider-events?state=waiting");
    audit.complaints.extend(waiting.iter().map(|event| format!("an event still waits: {event}")));
    let exceptions = shop.listed("exceptions");
    audit.complaints.extend(exceptions.iter().map(|exception| format!("a disagreement: {exception}")));
    let books = shop.admin().get("/admin/v1/audit?full=true").data(200);
    let findings = books["findings"].as_array().unwrap().iter();
    audit.complaints.extend(findings.map(|finding| format!("in the books: {finding}")));
    audit
}

/// Waits until an audit finds nothing, within bounds, and gives the last one.
#[track_caller]
pub fn wait_agreement(shop: &Shop, simulator: &Simulator, most: Duration) -> Audit {
    let deadline = Instant::now() + most;
    loop {
        let audit = audit(shop, simulator);
        if audit.complaints.is_empty() {
            return audit;
        }
        assert!(
            Instant::now() < deadline,
            "after {most:?} the books still do not agree with the provider:\n{}",
            audit.complaints.join("\n")
        );
        thread::sleep(Duration::from_millis(100));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What is wrong with one payment.
fn complaints(story: &Value, truth: &Truth, transactions: usize) -> Vec<String> {
    let mut found = Vec::new();
    let preparation = story["preparation"]["status"].as_str().unwrap();
    let status = story["transaction"]["status"].as_str();
    if truth.charged + truth.held > 1 {
        found.push(format!("charged {} times", truth.charged));
    }
    if truth.objects > 1 {
        found.push(format!("the provider has {} objects for it", truth.objects));
    }
    if preparation == "preparing" {
        found.push("still preparing".to_owned());
    }
    if matches!(preparation, "refused" | "withdrawn" | "expired") && truth.payable > 0 {
        found.push(format!("{preparation}, and somebody can still pay it"));
    }
    let attempts = story["attempts"].as_array().unwrap();
    if attempts.iter().any(|attempt| attempt["state"] == "open") {
        found.push("a charge is still open".to_owned());
    }
    // What was captured by hand may be less than was prepared.
    let total = story["transaction"]["totalDebitMinor"].as_str().or(story["totalDebitMinor"].as_str());
    let total: i64 = total.unwrap().parse().unwrap();
    let is_whole = truth.taken == 0 || truth.taken == total;
    let fits = match (truth.charged, truth.refunded) {
        (0, _) if truth.held > 0 => status == Some("authorized"),
        (0, _) => !matches!(status, Some("succeeded" | "refunded" | "processing" | "authorized")),
        _ if !is_whole => false,
        (_, refunded) if refunded >= total => status == Some("refunded"),
        _ => status == Some("succeeded"),
    };
    if !fits {
        found.push(format!("recorded as {status:?}, and the truth is {truth:?}"));
    }
    if transactions != usize::from(status.is_some()) {
        found.push(format!("{transactions} transactions are listed, and its own is {status:?}"));
    }
    let ended = story["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["kind"] == "status" && line["detail"]["to"] == "succeeded");
    if ended.count() > 1 {
        found.push("it succeeded more than once".to_owned());
    }
    if !found.is_empty() {
        found.push(format!("its story: {story}"));
    }
    found
}

#[test]
fn an_audit_would_notice_what_does_not_agree() {
    use serde_json::json;
    let story = |preparation: &str, status: Option<&str>, attempt: &str| {
        json!({
            "preparation": {"status": preparation}, "totalDebitMinor": "100", "transaction": {"status": status},
            "attempts": [{"state": attempt}], "timeline": [],
        })
    };
    let paid = Truth { charged: 1, taken: 100, objects: 1, ..Truth::default() };
    let held = Truth { held: 1, objects: 1, ..Truth::default() };
    assert_eq!(complaints(&story("prepared", Some("authorized"), "taken"), &held, 1), Vec::<String>::new());
    let good = story("prepared", Some("succeeded"), "taken");
    assert_eq!(complaints(&good, &paid, 1), Vec::<String>::new());
    for (words, story, truth, transactions) in [
        ("charged 2 times", good.clone(), Truth { charged: 2, ..paid.clone() }, 1),
        ("has 2 objects", good.clone(), Truth { objects: 2, ..paid.clone() }, 1),
        ("still preparing", story("preparing", Some("succeeded"), "taken"), paid.clone(), 1),
        (
            "somebody can still pay",
            story("withdrawn", Some("succeeded"), "taken"),
            Truth { payable: 1, ..paid.clone() },
            1,
        ),
        ("still open", story("prepared", Some("succeeded"), "open"), paid.clone(), 1),
        ("recorded as", story("prepared", Some("pending"), "taken"), paid.clone(), 1),
        ("recorded as", story("prepared", None, "taken"), paid.clone(), 0),
        ("recorded as", good.clone(), Truth::default(), 1),
        ("recorded as", good.clone(), held.clone(), 1),
        ("recorded as", good.clone(), Truth { taken: 90, ..paid.clone() }, 1),
        ("recorded as", story("prepared", Some("authorized"), "taken"), paid.clone(), 1),
        ("recorded as", good.clone(), Truth { refunded: 100, ..paid.clone() }, 1),
        ("transactions are listed", good.clone(), paid.clone(), 2),
        ("transactions are listed", good, paid, 0),
    ] {
        let found = complaints(&story, &truth, transactions);
        assert!(found.iter().any(|complaint| complaint.contains(words)), "{words}: {found:?}");
    }
}
