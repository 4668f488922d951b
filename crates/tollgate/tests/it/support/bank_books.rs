//! Whether what callers were answered, what the books say and what the provider did agree.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    bank_simulator::{Accepted, BankSimulator},
    bank_world::{Desk, Wallet},
};

/// What callers know of one idempotency key.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// Whether its bank takes part in nothing, so that the provider refuses it.
    pub to_be_refused: bool,
    /// The reference and the numbers of the first answer.
    pub promise: Option<Value>,
    /// Answers that said `replayed: false`.
    pub firsts: usize,
    /// Answers that came, and calls whose answer never did.
    pub answers: usize,
    pub lost: usize,
    /// Answers of 422.
    pub rejections: usize,
}

/// What all callers know together.
#[derive(Debug, Default)]
pub struct Knowledge {
    pub keys: BTreeMap<String, Told>,
    /// Answers that should not have been.
    pub surprises: Vec<String>,
}

/// A transaction without what may change about it.
pub fn promise(transaction: &Value) -> Value {
    let names = [
        "serviceReference",
        "amountMinor",
        "platformFeeMinor",
        "organizationFeeMinor",
        "feeMinor",
        "totalDebitMinor",
        "currency",
        "paymentMethod",
        "provider",
        "channel",
        "createdAt",
    ];
    names.into_iter().map(|name| (name.to_owned(), transaction[name].clone())).collect()
}

impl Knowledge {
    /// Takes in an answer to a transfer.
    pub fn note(&mut self, key: &str, status: u16, body: &Value) {
        let told = self.keys.entry(key.to_owned()).or_default();
        told.answers += 1;
        match status {
            200 | 201 if told.to_be_refused && body["data"]["transaction"]["status"] != "pending" => {
                self.surprises.push(format!("{key} cannot be taken by its bank, and was answered {body}"));
            }
            200 | 201 => {
                let seen = promise(&body["data"]["transaction"]);
                let first = body["data"]["replayed"] == false;
                if first != (status == 201) {
                    self.surprises.push(format!("{key} was answered {status} with {body}"));
                }
                told.firsts += usize::from(first);
                if first && told.firsts > 1 {
                    self.surprises.push(format!("{key} was made for the first time more than once"));
                }
                let before = told.promise.get_or_insert_with(|| seen.clone());
                if *before != seen {
                    self.surprises.push(format!("{key} was answered {before} and later {seen}"));
                }
            }
            422 if told.to_be_refused => told.rejections += 1,
            // Nothing was sent or recorded, which the comparison with the provider's record confirms.
            503 if ["provider_unavailable", "store_unavailable"]
                .contains(&body["error"]["code"].as_str().unwrap_or_default()) => {}
            _ => self.surprises.push(format!("{key} was answered {status}: {body}")),
        }
    }

    /// Promises that are not kept, of these keys.
    pub fn broken_promises<'k>(&self, desk: &Desk, keys: impl Iterator<Item = &'k String>) -> Vec<String> {
        let (mut client, mut broken) = (desk.client(), Vec::new());
        for key in keys {
            let Some(promised) = self.keys.get(key).and_then(|told| told.promise.as_ref()) else { continue };
            let reference = promised["serviceReference"].as_str().unwrap();
            let answer = client.get(&format!("/client/v1/transactions/{reference}"));
            if answer.status != 200 {
                broken.push(format!(
                    "{key} was acknowledged as {reference} and is not there: {}",
                    answer.status
                ));
            } else if promise(&answer.json()["data"]) != *promised {
                broken.push(format!("{key} was acknowledged as {promised} and is {}", answer.json()["data"]));
            }
        }
        broken
    }
}

/// Waits until nothing is in flight anymore; otherwise says what still is.
pub fn settle_down(desk: &Desk, simulator: &BankSimulator, most: Duration) -> Vec<String> {
    let deadline = Instant::now() + most;
    let mut is_quiet = false;
    loop {
        let mut open = Vec::new();
        for (list, what) in [
            ("transactions?status=pending", "is still pending"),
            ("transfers/waiting", "still waits"),
            ("provider-events?state=waiting", "is an event that still waits"),
        ] {
            open.extend(desk.listed(list).iter().map(|item| format!("{item} {what}")));
        }
        let coming = simulator.webhooks_pending();
        if coming > 0 {
            open.push(format!("{coming} webhooks are still on their way"));
        }
        // A webhook may arrive after the events and before the webhooks were looked at: the second look sees it.
        let was_quiet = std::mem::replace(&mut is_quiet, open.is_empty());
        if (is_quiet && was_quiet) || Instant::now() > deadline {
            return open;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// What does not agree, once nothing is in flight anymore.
pub fn complaints(desk: &Desk, simulator: &BankSimulator, known: &Knowledge, opening: u64) -> Vec<String> {
    let transactions = desk.listed("transactions");
    let mut accepted = simulator.accepted(200_000);
    let mut found = known.surprises.clone();
    found.extend(desk.audit());
    let mut references = BTreeMap::new();
    let mut expected = Wallet::default();
    for transaction in &transactions {
        let reference = transaction["serviceReference"].as_str().unwrap();
        if references.insert(reference, transaction).is_some() {
            found.push(format!("{reference} is listed twice"));
        }
        let theirs = accepted.remove(reference).unwrap_or_default();
        let complaint = discrepancy(transaction, &theirs);
        found.extend(complaint.map(|complaint| format!("{reference}: {complaint}")));
        let number = |name: &str| transaction[name].as_str().unwrap().parse::<u64>().unwrap();
        match transaction["status"].as_str().unwrap() {
            "pending" | "processing" => expected.reserved += number("totalDebitMinor"),
            "succeeded" => {
                expected.settled += number("amountMinor");
                expected.fees += number("feeMinor");
            }
            _ => {}
        }
    }
    let strangers = accepted.keys();
    found.extend(
        strangers.map(|key| format!("the provider took a transfer under {key}, which nobody asked for")),
    );
    let wallet = desk.wallet();
    expected.available = opening.saturating_sub(expected.sum());
    if wallet != expected {
        found.push(format!("the wallet is {wallet:?}, and the transfers make it {expected:?}"));
    }
    if wallet.sum() != opening {
        found.push(format!("the wallet adds up to {}, and {opening} came in", wallet.sum()));
    }
    for (key, told) in &known.keys {
        let Some(promised) = &told.promise else { continue };
        match references.get(promised["serviceReference"].as_str().unwrap()) {
            None => found.push(format!("{key} was acknowledged as {promised} and is not there")),
            Some(is) if promise(is) != *promised => {
                found.push(format!("{key} was acknowledged as {promised} and is {is}"));
            }
            Some(_) => {}
        }
    }
    found
}

/// What is wrong between our record of a transfer and the provider's.
fn discrepancy(transaction: &Value, theirs: &[Accepted]) -> Option<String> {
    let status = transaction["status"].as_str().unwrap();
    let amount = transaction["amountMinor"].as_str().unwrap();
    let [one] = theirs else {
        if theirs.len() > 1 {
            return Some(format!("the provider took it {} times: {theirs:?}", theirs.len()));
        }
        let fits = matches!(status, "failed" | "pending");
        return (!fits).then(|| format!("it is {status}, and the provider never took it"));
    };
    if one.amount.to_string() != amount {
        return Some(format!("it is of {amount}, and the provider took {}", one.amount));
    }
    let expected = match one.status.as_str() {
        "returned" | "rejected" => "failed",
        "canceled" => "canceled",
        _ if one.settled => "succeeded",
        _ => "processing",
    };
    (status != expected).then(|| format!("it is {status}, and the provider has it: {one:?}"))
}

#[test]
fn the_check_would_notice_what_does_not_agree() {
    use serde_json::json;
    let ours = |status: &str| json!({"status": status, "amountMinor": "100"});
    let theirs = |status: &str, settled: bool| Accepted {
        id: "x".to_owned(),
        amount: 100,
        status: status.to_owned(),
        settled,
    };
    let sent = theirs("submitted", false);
    assert_eq!(discrepancy(&ours("processing"), std::slice::from_ref(&sent)), None);
    assert_eq!(discrepancy(&ours("succeeded"), &[theirs("submitted", true)]), None);
    assert_eq!(discrepancy(&ours("failed"), &[theirs("returned", false)]), None);
    assert_eq!(discrepancy(&ours("failed"), &[]), None);
    for (words, status, theirs) in [
        ("2 times", "processing", vec![sent.clone(), sent.clone()]),
        ("never took it", "processing", vec![]),
        ("never took it", "succeeded", vec![]),
        ("the provider took 101", "processing", vec![Accepted { amount: 101, ..sent.clone() }]),
        ("it is failed", "failed", vec![sent.clone()]),
        ("it is processing", "processing", vec![Accepted { settled: true, ..sent }]),
        (
            "it is succeeded",
            "succeeded",
            vec![Accepted { status: "returned".to_owned(), ..theirs("", false) }],
        ),
    ] {
        let found = discrepancy(&ours(status), &theirs).expect(words);
        assert!(found.contains(words), "{found}");
    }
    let mut known = Knowledge::default();
    known.keys.insert("key".to_owned(), Told::default());
    let answer = |reference: &str, replayed: bool| json!({"data": {"transaction": {"serviceReference": reference, "status": "processing"}, "replayed": replayed}});
    known.note("key", 201, &answer("a", false));
    known.note("key", 200, &answer("a", true));
    assert_eq!(known.surprises, Vec::<String>::new());
    known.note("key", 201, &answer("a", false));
    known.note("key", 200, &answer("b", true));
    known.note("key", 500, &json!({}));
    known.note("key", 422, &json!({}));
    assert_eq!(known.surprises.len(), 4, "{:?}", known.surprises);
}
