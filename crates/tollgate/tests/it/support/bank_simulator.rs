//! The provider simulator in a process of its own: the bank provider's side of every transfer test.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::{Value, json};

use super::{
    bank_rail::{BANK_API_KEY, BankRail},
    client::{Answer, Client},
    server::{Server, Start},
};

/// One transfer as the provider has it.
#[derive(Debug, Clone)]
pub struct Accepted {
    pub id: String,
    pub amount: u64,
    pub status: String,
    pub settled: bool,
}

/// A running simulator. Dropped, it is killed.
pub struct BankSimulator {
    server: Server,
    pub rail: BankRail,
}

impl BankSimulator {
    pub fn start() -> Self {
        Self::start_as(BankRail::Increase)
    }

    pub fn start_as(rail: BankRail) -> Self {
        let mut server = Start::command(&["simulator", "--listen", "127.0.0.1:0"]).spawn();
        server.wait_listening();
        Self { server, rail }
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Asks the control interface.
    #[track_caller]
    pub fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.server.client("").send(method, &format!("/control/{path}"), &[], body.as_bytes());
        assert!(answer.status < 300, "{method} /control/{path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// Has the next `count` calls of an operation go wrong.
    #[track_caller]
    pub fn fault(&self, operation: &str, kind: &str, count: u64, delay_ms: u64) {
        let fault = json!({
            "wire": self.rail.name(), "operation": operation, "fault": kind, "count": count, "delay_ms": delay_ms,
        });
        self.control("POST", "faults", &fault);
    }

    pub fn clear_faults(&self) {
        self.control("DELETE", "faults", &Value::Null);
    }

    pub fn send_webhooks_to(&self, url: &str, secret: &str) {
        let target = json!({ "wire": self.rail.name(), "url": url, "secret": secret });
        self.control("POST", "webhooks", &target);
    }

    pub fn send_no_webhooks(&self) {
        self.control("DELETE", "webhooks", &Value::Null);
    }

    /// Webhooks that are still on their way.
    pub fn webhooks_pending(&self) -> u64 {
        self.control("GET", "webhooks", &Value::Null)["tally"]["pending"].as_u64().unwrap()
    }

    /// The newest transfers that were accepted, by the key they were accepted under.
    pub fn accepted(&self, limit: usize) -> BTreeMap<String, Vec<Accepted>> {
        let state = self.control("GET", &format!("state?limit={limit}"), &Value::Null);
        let mut by_key = BTreeMap::<_, Vec<_>>::new();
        for kind in self.rail.kinds() {
            for row in state[self.rail.name()][kind].as_array().unwrap() {
                let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
                let is_complete = matches!(text("status").as_str(), "complete" | "completed");
                by_key.entry(text("idempotency_key")).or_default().push(Accepted {
                    id: text("id"),
                    amount: row["amount"].as_u64().unwrap(),
                    status: text("status"),
                    settled: row["settled"].as_bool().unwrap_or(is_complete),
                });
            }
        }
        by_key
    }

    /// Everything that was accepted under one of our references.
    pub fn accepted_as(&self, reference: &str) -> Vec<Accepted> {
        self.accepted(200_000).remove(reference).unwrap_or_default()
    }

    /// The one transfer that was accepted under a reference.
    #[track_caller]
    pub fn sole(&self, reference: &str) -> Accepted {
        let mut found = self.accepted_as(reference);
        assert_eq!(found.len(), 1, "{reference} was accepted as {found:?}");
        found.remove(0)
    }

    /// A row of the control interface's state, with the words that were sent along.
    #[track_caller]
    pub fn row(&self, reference: &str) -> Value {
        let state = self.control("GET", "state?limit=200000", &Value::Null);
        let kinds = self.rail.kinds().iter();
        let mut rows = kinds.flat_map(|kind| state[self.rail.name()][*kind].as_array().unwrap());
        rows.find(|row| row["idempotency_key"] == reference).expect("accepted").clone()
    }

    /// How often an operation was called, whatever came of it.
    pub fn calls(&self, operation: &str) -> u64 {
        let state = self.control("GET", "state?limit=0", &Value::Null);
        state["calls"][format!("{}.{operation}", self.rail.name())].as_u64().unwrap_or(0)
    }

    /// A client of the provider itself, with the right key.
    pub fn wire(&self) -> Client {
        self.server.client(BANK_API_KEY)
    }

    /// Has the provider take a transfer that did not come from the server.
    #[track_caller]
    pub fn take(&self, key: &str, amount: u64) {
        let body = json!({
            "account_id": "account_simulator", "amount": amount, "statement_descriptor": "Payout",
            "account_number": "000123456789", "routing_number": "021000021",
        });
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        let answer =
            self.wire().send("POST", "/increase/ach_transfers", &headers, body.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    }

    /// A sandbox call on the wire: `settle`, `return`, …
    pub fn try_simulate(&self, id: &str, action: &str, body: &Value) -> Answer {
        self.wire().post(&self.rail.step(id, action), body)
    }

    #[track_caller]
    pub fn simulate(&self, id: &str, action: &str, body: &Value) {
        let answer = self.try_simulate(id, action, body);
        assert_eq!(answer.status, 200, "{action}: {}", String::from_utf8_lossy(&answer.body));
    }

    /// What the provider's own staff does: `require_attention`, `release`, `reject`.
    #[track_caller]
    pub fn staff(&self, id: &str, action: &str) {
        let action = match (self.rail, action) {
            (BankRail::ModernTreasury, "require_attention") => "hold",
            (BankRail::ModernTreasury, "reject") => "fail",
            (_, other) => other,
        };
        let (wire, kind) = (self.rail.name(), self.rail.kinds()[0]);
        self.control("POST", &format!("{wire}/{kind}/{id}/{action}"), &json!({}));
    }

    /// The receiving bank asks for these numbers next time.
    #[track_caller]
    pub fn correct(&self, id: &str, account_number: &str, routing_number: &str) {
        let (action, body) = match self.rail {
            BankRail::Increase => (
                "create_notification_of_change",
                json!({"corrected_account_number": account_number, "corrected_routing_number": routing_number}),
            ),
            BankRail::ModernTreasury => (
                "correct",
                json!({"account_number": account_number, "routing_number": routing_number, "code": "C03"}),
            ),
        };
        self.simulate(id, action, &body);
    }
}
