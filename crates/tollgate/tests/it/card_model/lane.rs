//! One shop with a simulator of its own, and everything that happens to its payments.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use crate::support::{Answer, Client, Flow, Prepared, Server, Shop, Simulator, Wire};

/// A killed server is started again by then, however busy the machine.
const SERVED_WITHIN: Duration = Duration::from_mins(3);
const JSON: (&str, &str) = ("content-type", "application/json");

/// What a run has done, so that it can be seen that it did something.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    pub(super) steps: usize,
    pub(super) payments: usize,
    pub(super) captures: usize,
    pub(super) voids: usize,
    pub(super) refunds: usize,
    pub(super) provider_refunds: usize,
    pub(super) late_failures: usize,
    pub(super) disputes: usize,
    /// Calls that got no answer because the server was killed.
    pub(super) lost: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.payments += other.payments;
        self.captures += other.captures;
        self.voids += other.voids;
        self.refunds += other.refunds;
        self.provider_refunds += other.provider_refunds;
        self.late_failures += other.late_failures;
        self.disputes += other.disputes;
        self.lost += other.lost;
    }
}

/// A call with a key, which can be repeated.
struct Keyed {
    path: String,
    body: Value,
    /// What it was answered: the record's own reference.
    reference: Option<String>,
}

pub(super) struct Lane {
    pub(super) shop: Shop,
    pub(super) simulator: Simulator,
    pub(super) tally: Tally,
    random: StdRng,
    number: u64,
    client: Client,
    prepared: Vec<(Prepared, Flow, Wire)>,
    keyed: Vec<Keyed>,
    disputes: Vec<(Wire, String)>,
    next: u64,
}

/// What goes wrong with the next calls. Webhooks are lost only where the resolver looks by itself.
const MISHAPS: [&str; 13] = [
    "timeout_before",
    "timeout_after",
    "error_before",
    "error_after",
    "reset",
    "slow",
    "malformed",
    "torn",
    "rate_limited",
    "webhook_never",
    "webhook_twice",
    "webhook_late",
    "webhook_out_of_order",
];

/// Server errors that Stripe repeats for as long as it remembers the key.
const KEPT_ERRORS: [&str; 2] = ["error_kept", "error_kept_after"];

/// Of the third provider webhooks are all there is: they are late, doubled and reordered, and not lost.
const OPERATIONS: [(Wire, &str); 14] = [
    (Wire::Stripe, "payment_intents.create"),
    (Wire::Stripe, "payment_intents.capture"),
    (Wire::Stripe, "payment_intents.cancel"),
    (Wire::Stripe, "refunds.create"),
    (Wire::Square, "payments.create"),
    (Wire::Square, "payments.complete"),
    (Wire::Square, "payments.cancel"),
    (Wire::Square, "payments.update"),
    (Wire::Square, "refunds.create"),
    (Wire::Adyen, "sessions.create"),
    (Wire::Adyen, "sessions.result"),
    (Wire::Adyen, "captures.create"),
    (Wire::Adyen, "cancels.create"),
    (Wire::Adyen, "refunds.create"),
];

impl Lane {
    pub(super) fn open(server: &Server, random: StdRng, number: u64) -> Self {
        let simulator = Simulator::start();
        let shop = Shop::open(server, &simulator);
        Self {
            client: shop.client(),
            shop,
            simulator,
            tally: Tally::default(),
            random,
            number,
            prepared: Vec::new(),
            keyed: Vec::new(),
            disputes: Vec::new(),
            next: 0,
        }
    }

    /// Takes so many steps, and goes on while servers are still killed and until something was refunded, ten times as long
    /// at most: mishaps can leave little of a short run.
    pub(super) fn work(&mut self, steps: u64, is_over: &AtomicBool) {
        let mut taken = 0;
        while taken < steps
            || !is_over.load(Ordering::Relaxed)
            || (self.tally.refunds == 0 && taken < 10 * steps)
        {
            self.step();
            taken += 1;
        }
        self.tally.steps = usize::try_from(taken).unwrap();
    }

    fn step(&mut self) {
        self.next += 1;
        match self.random.random_range(0..26) {
            0..=4 => self.prepare(),
            5..=9 => self.pay(),
            10..=12 => self.capture(),
            13 => self.void(),
            14..=16 => self.refund(),
            17 => self.refund_rest(),
            18 | 19 => self.refund_at_provider(),
            20 => self.fail_refund_late(),
            21 => self.dispute(),
            22 => self.decide_dispute(),
            23 => self.repeat(),
            _ => self.mishap(),
        }
    }

    /// Asks our server. `None`: it was killed meanwhile.
    fn ask(&mut self, method: &str, path: &str, body: &Value) -> Option<Answer> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        if let Ok(answer) = self.client.try_send(method, path, &[JSON], text.as_bytes()) {
            return Some(answer);
        }
        self.tally.lost += 1;
        // Steps are not spent on a server that is still away.
        let deadline = Instant::now() + SERVED_WITHIN;
        self.client = self.shop.client();
        while self.client.try_send("GET", "/healthz", &[], b"").is_err() {
            assert!(Instant::now() < deadline, "the server did not come back within {SERVED_WITHIN:?}");
            thread::sleep(Duration::from_millis(20));
            self.client = self.shop.client();
        }
        None
    }

    fn some(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| self.random.random_range(0..count))
    }

    fn some_payment(&mut self) -> Option<(Prepared, Flow, Wire)> {
        let place = self.some(self.prepared.len())?;
        Some(self.prepared[place].clone())
    }

    /// A transaction as it is now, if there is one.
    fn some_transaction(&mut self) -> Option<(Value, Wire)> {
        let (prepared, _, wire) = self.some_payment()?;
        let path = format!("/client/v1/transactions/{}", prepared.reference);
        let answer = self.ask("GET", &path, &Value::Null)?;
        (answer.status == 200).then(|| (answer.data(200), wire))
    }

    fn prepare(&mut self) {
        let wire = [Wire::Stripe, Wire::Square, Wire::Adyen][self.random.random_range(0..3)];
        let flow = Flow::BOTH[self.random.random_range(0..2)];
        let mut body = Shop::order(wire);
        body["amountMinor"] = json!(self.random.random_range(100..30_000).to_string());
        let is_link = (flow, wire) == (Flow::Hosted, Wire::Square);
        if !is_link && self.random.random_ratio(1, 2) {
            body["capture"] = json!("manual");
        }
        let Some(answer) = self.ask("POST", flow.path(), &body) else { return };
        match answer.status {
            201 => self.prepared.push((Prepared::of(&answer), flow, wire)),
            503 => {}
            _ => panic!("a preparation was answered {}: {}", answer.status, answer.json()),
        }
        self.tally.payments += 1;
    }

    fn pay(&mut self) {
        let Some((prepared, flow, wire)) = self.some_payment() else { return };
        match (flow, wire) {
            // Who comes a second time finds the page closed.
            (Flow::Hosted, _) => {
                self.simulator.submit(prepared.checkout_url(), crate::support::GOOD_CARD);
            }
            (Flow::Component, Wire::Stripe) => {
                self.simulator.confirm_intent(prepared.component(), "pm_card_visa");
                if self.random.random_ratio(1, 2) {
                    self.confirm(&prepared.reference, &prepared.confirm_body());
                }
            }
            (Flow::Component, Wire::Square) => {
                let token = self.simulator.card_token("4242424242424242");
                self.confirm(&prepared.reference, &json!({ "sourceId": token }));
            }
            (Flow::Component, Wire::Adyen) => {
                let number =
                    if self.random.random_ratio(1, 6) { "4000000000000002" } else { "4111111111111111" };
                // Who comes a second time finds the session closed.
                let Some(paid) = self.simulator.try_pay_session(prepared.component(), number) else { return };
                if self.random.random_ratio(1, 2) {
                    self.confirm(&prepared.reference, &json!({ "sessionResult": paid["sessionResult"] }));
                }
            }
        }
    }

    fn confirm(&mut self, reference: &str, body: &Value) {
        if let Some(answer) = self.ask("POST", &Shop::confirm_path(reference), body) {
            let is_expected = matches!(answer.status, 200 | 409 | 503);
            assert!(is_expected, "a confirm was answered {}: {}", answer.status, answer.json());
        }
    }

    /// Sends a keyed call for a transaction, and keeps it to be repeated.
    fn keyed(&mut self, reference: &str, what: &str, mut body: Value) -> Option<Answer> {
        let key = format!("{what}-{}-{}", self.number, self.next);
        body["idempotencyKey"] = json!(key);
        let path = format!("/client/v1/transactions/{reference}/{what}");
        let answer = self.ask("POST", &path, &body);
        if let Some(answer) = &answer {
            let is_expected = matches!(answer.status, 200 | 201 | 404 | 409 | 422 | 503);
            assert!(is_expected, "{path} was answered {}: {}", answer.status, answer.json());
        }
        let is_made = answer.as_ref().is_none_or(|answer| matches!(answer.status, 200 | 201));
        if is_made {
            let reference = answer.as_ref().and_then(recorded);
            self.keyed.push(Keyed { path, body, reference });
        }
        answer.filter(|answer| matches!(answer.status, 200 | 201))
    }

    fn capture(&mut self) {
        let Some((transaction, _)) = self.some_transaction() else { return };
        if transaction["status"] != "authorized" && self.random.random_ratio(9, 10) {
            return;
        }
        let body = if self.random.random_ratio(1, 2) {
            let principal: u64 = minor(&transaction["amountMinor"]);
            json!({"amountMinor": self.random.random_range(1..=principal).to_string()})
        } else {
            json!({})
        };
        let made = self.keyed(transaction["serviceReference"].as_str().unwrap(), "capture", body);
        self.tally.captures += usize::from(made.is_some());
    }

    fn void(&mut self) {
        let Some((transaction, _)) = self.some_transaction() else { return };
        let made = self.keyed(transaction["serviceReference"].as_str().unwrap(), "void", json!({}));
        self.tally.voids += usize::from(made.is_some());
    }

    fn refund(&mut self) {
        let Some((transaction, _)) = self.some_transaction() else { return };
        let amount = self.random.random_range(1..=minor(&transaction["amountMinor"]).max(2) / 2);
        let fee = ["proportional", "full", "none"][self.random.random_range(0..3)];
        let body = json!({"amountMinor": amount.to_string(), "feeRefund": fee});
        let made = self.keyed(transaction["serviceReference"].as_str().unwrap(), "refunds", body);
        self.tally.refunds += usize::from(made.is_some());
    }

    fn refund_rest(&mut self) {
        let Some((transaction, _)) = self.some_transaction() else { return };
        let made = self.keyed(transaction["serviceReference"].as_str().unwrap(), "refunds", json!({}));
        self.tally.refunds += usize::from(made.is_some());
    }

    /// What the merchant does in the provider's dashboard. `true`: the provider did it.
    fn drive(&self, path: &str, body: &Value) -> Option<Value> {
        let answer = self.simulator.client("").post(&format!("/control/{path}"), body);
        (answer.status < 300).then(|| answer.json())
    }

    fn refund_at_provider(&mut self) {
        let Some((transaction, wire)) = self.some_transaction() else { return };
        let Some(path) = provider_path(&transaction, wire, "refund") else { return };
        let amount = self.random.random_range(1..=minor(&transaction["totalDebitMinor"]));
        let made = self.drive(&path, &json!({ "amount": amount }));
        self.tally.provider_refunds += usize::from(made.is_some());
    }

    /// The customer's bank sends a refund back.
    fn fail_refund_late(&mut self) {
        let Some((transaction, wire)) = self.some_transaction() else { return };
        let reference = transaction["serviceReference"].as_str().unwrap();
        let path = format!("/client/v1/transactions/{reference}/refunds");
        let Some(answer) = self.ask("GET", &path, &Value::Null) else { return };
        if answer.status != 200 {
            return;
        }
        let items = answer.data(200)["items"].as_array().cloned().unwrap_or_default();
        let Some(place) = self.some(items.len()) else { return };
        if let Some(id) = items[place]["providerReference"].as_str() {
            let kind = if wire == Wire::Adyen { "modifications" } else { "refunds" };
            let made = self.drive(&format!("{}/{kind}/{id}/fail", wire.name()), &json!({}));
            self.tally.late_failures += usize::from(made.is_some());
        }
    }

    fn dispute(&mut self) {
        let Some((transaction, wire)) = self.some_transaction() else { return };
        let Some(path) = provider_path(&transaction, wire, "dispute") else { return };
        if let Some(made) = self.drive(&path, &json!({})) {
            self.disputes.push((wire, made["id"].as_str().unwrap().to_owned()));
            self.tally.disputes += 1;
        }
    }

    fn decide_dispute(&mut self) {
        let Some(place) = self.some(self.disputes.len()) else { return };
        let (wire, id) = self.disputes[place].clone();
        let status = if self.random.random_ratio(1, 2) { "won" } else { "lost" };
        self.drive(&format!("{}/disputes/{id}/close", wire.name()), &json!({ "status": status }));
    }

    /// The same call again gives the same record again.
    fn repeat(&mut self) {
        let Some(place) = self.some(self.keyed.len()) else { return };
        let (path, body) = (self.keyed[place].path.clone(), self.keyed[place].body.clone());
        let Some(answer) = self.ask("POST", &path, &body) else { return };
        let Some(again) = recorded(&answer) else { return };
        let known = self.keyed[place].reference.get_or_insert_with(|| again.clone());
        assert_eq!(*known, again, "{path} with {body} was answered with another record");
    }

    fn mishap(&mut self) {
        if self.random.random_ratio(1, 4) {
            self.simulator.clear_faults();
        }
        let kind = MISHAPS[self.random.random_range(0..MISHAPS.len())];
        let (wire, operation) = OPERATIONS[self.random.random_range(0..OPERATIONS.len())];
        let mut count = self.random.random_range(1..4);
        let mut kind = if wire == Wire::Adyen && kind == "webhook_never" { "webhook_late" } else { kind };
        if wire == Wire::Adyen
            && operation.ends_with("s.create")
            && operation != "sessions.create"
            && self.random.random_ratio(1, 6)
        {
            // The key's answer for good, although it was done.
            (kind, count) = ("error_kept_after", 1);
        }
        if wire == Wire::Stripe && self.random.random_ratio(1, 6) {
            // Each spends a key for good: one at a time leaves the adapter another.
            self.simulator.clear_faults();
            // A preparation that was made under a spent key stays open, and cannot be paid: its ID was never returned.
            let kinds =
                if operation == "payment_intents.create" { &KEPT_ERRORS[..1] } else { &KEPT_ERRORS[..] };
            kind = kinds[self.random.random_range(0..kinds.len())];
            count = 1;
        }
        self.simulator.fault(wire, operation, kind, count, 400);
    }
}

fn minor(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// The reference of what a keyed call made: a refund's own, or the transaction's.
fn recorded(answer: &Answer) -> Option<String> {
    if !matches!(answer.status, 200 | 201) {
        return None;
    }
    let data = answer.json()["data"].clone();
    let reference = data["refund"]["refundReference"].as_str();
    reference.or_else(|| data["transaction"]["serviceReference"].as_str()).map(str::to_owned)
}

/// Where the provider's dashboard does something to a payment whose own id is known.
fn provider_path(transaction: &Value, wire: Wire, action: &str) -> Option<String> {
    let id = transaction["providerReference"].as_str()?;
    match wire {
        Wire::Stripe => id.starts_with("pi_").then(|| format!("stripe/payment_intents/{id}/{action}")),
        Wire::Square => Some(format!("square/payments/{id}/{action}")),
        Wire::Adyen => Some(format!("adyen/payments/{id}/{action}")),
    }
}
