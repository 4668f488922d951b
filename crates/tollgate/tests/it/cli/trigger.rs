//! `trigger`: each verb, and the transaction that follows.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Server, Simulator, Start, Terminal, wait_until};

struct Sandbox {
    server: Server,
    terminal: Terminal,
}

impl Sandbox {
    fn open() -> Self {
        let server = Start::sandbox().run();
        Self { terminal: Terminal::beside(&server), server }
    }

    fn prepare(&self, path: &str, amount: &str) -> String {
        let order = json!({"amountMinor": amount, "currency": "USD"});
        let prepared = self.server.sandbox_client("secretKey").post(path, &order).data(201);
        prepared["serviceReference"].as_str().unwrap().to_owned()
    }

    /// A card payment that is paid.
    fn paid(&self, amount: &str) -> String {
        let reference = self.prepare("/client/v1/payments", amount);
        self.terminal.shows(&["trigger", "pay", &reference]);
        reference
    }

    fn transfer(&self, key: &str, metadata: &Value) -> String {
        let mut client = self.server.sandbox_client("secretKey");
        let customer = json!({"externalCustomerId": "c-1", "email": "ann@example.com", "firstName": "Ann", "lastName": "Smith"});
        let token =
            client.post("/client/v1/ach/customer-tokens", &customer).data(201)["customerToken"].clone();
        let order = json!({
            "idempotencyKey": key, "amountMinor": "5000", "currency": "USD", "customerToken": token, "metadata": metadata,
            "routingNumber": "110000000", "accountNumber": "000123456789", "bankAccountType": "checking",
            "bankName": "First Bank", "accountName": "Ann Smith",
        });
        let made = client.post("/client/v1/ach/transfers", &order).data(201);
        made["transaction"]["serviceReference"]
            .as_str()
            .or(made["serviceReference"].as_str())
            .unwrap()
            .to_owned()
    }

    fn transaction(&self, reference: &str) -> Value {
        self.terminal.json(&["payments", "show", reference])["transaction"].clone()
    }

    #[track_caller]
    fn wait(&self, reference: &str, what: &str, is_true: impl Fn(&Value) -> bool) {
        wait_until(what, Duration::from_secs(120), || is_true(&self.transaction(reference)));
    }
}

#[test]
fn a_customer_pays_on_each_way_there_is() {
    let sandbox = Sandbox::open();
    for (path, amount) in [
        ("/client/v1/payments", "500"),
        ("/client/v1/payments", "500000"),
        ("/client/v1/payments/component", "500"),
    ] {
        let reference = sandbox.prepare(path, amount);
        let said = sandbox.terminal.shows(&["trigger", "pay", &reference]);
        assert!(said.contains("prepared -> succeeded") && said.contains("webhook"), "{said}");
        sandbox.wait(&reference, "paid", |transaction| transaction["status"] == "succeeded");
    }
    let at_square = sandbox.prepare("/client/v1/payments/component", "500000");
    let said = sandbox.terminal.fails(&["trigger", "pay", &at_square]);
    assert!(said.contains("cnon:card-nonce-ok"), "{said}");
}

#[test]
fn cards_are_refunded_and_disputed() {
    let sandbox = Sandbox::open();
    for amount in ["12500", "125000"] {
        let reference = sandbox.paid(amount);
        let said = sandbox.terminal.shows(&["trigger", "refund", &reference, "--amount", "5.00"]);
        assert!(said.contains("refund"), "{said}");
        sandbox.wait(&reference, "partly refunded", |transaction| transaction["refundedMinor"] == "500");
        assert_eq!(sandbox.transaction(&reference)["status"], "succeeded");
        let story = sandbox.terminal.json(&["trigger", "refund", &reference]);
        assert_eq!(story["serviceReference"], reference.as_str());
        sandbox.wait(&reference, "refunded", |transaction| transaction["status"] == "refunded");
        let said = sandbox.terminal.fails(&["trigger", "refund", &reference]);
        assert!(said.contains("the simulated provider rejected"), "{said}");
    }
    let reference = sandbox.paid("12500");
    let said = sandbox.terminal.shows(&["trigger", "dispute", &reference]);
    assert!(said.contains("dispute"), "{said}");
    sandbox.wait(&reference, "disputed", |transaction| transaction["dispute"]["id"].is_string());
    let story = sandbox.terminal.shows(&["payments", "show", &reference]);
    assert!(story.contains("dispute dp_") || story.contains("dispute "), "{story}");
    let at_square = sandbox.paid("125000");
    sandbox.terminal.shows(&["trigger", "dispute", &at_square]);
    sandbox
        .wait(&at_square, "disputed", |transaction| transaction["dispute"]["status"] == "EVIDENCE_REQUIRED");
    assert!(sandbox.terminal.fails(&["trigger", "return", &reference]).contains("ACH"));
    assert!(
        sandbox
            .terminal
            .fails(&["trigger", "refund", &reference, "--amount", "five"])
            .contains("form 125.00")
    );
}

#[test]
fn transfers_settle_and_come_back() {
    let sandbox = Sandbox::open();
    let before = sandbox.terminal.json(&["wallet", "show", "USD"])["availableMinor"].clone();
    let reference = sandbox.transfer("payout-0001", &json!({}));
    sandbox.wait(&reference, "on its way", |transaction| transaction["status"] == "processing");
    let said = sandbox.terminal.shows(&["trigger", "settle", &reference]);
    assert!(said.contains("processing -> succeeded"), "{said}");
    let story = sandbox.terminal.shows(&["payments", "show", &reference]);
    for part in
        ["Ledger postings", "reserve: ", "settle: ", "available -50.", "First Bank, …6789", "expected on"]
    {
        assert!(story.contains(part), "{part} is not in {story}");
    }
    assert!(!story.contains("000123456789") && !story.contains("110000000"), "{story}");
    let said = sandbox.terminal.shows(&["trigger", "return", &reference, "--code", "R01"]);
    assert!(said.contains("succeeded -> failed"), "{said}");
    let transaction = sandbox.transaction(&reference);
    assert!(
        transaction["failure"]["message"].as_str().unwrap().contains("insufficient funds"),
        "{transaction:#}"
    );
    let postings = sandbox.terminal.json(&["payments", "show", &reference])["postings"].clone();
    let causes: Vec<_> = postings
        .as_array()
        .unwrap()
        .iter()
        .map(|posting| posting["cause"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(causes, ["reserve", "settle", "reverse"]);
    assert_eq!(sandbox.terminal.json(&["wallet", "show", "USD"])["availableMinor"], before);
    assert!(sandbox.terminal.fails(&["trigger", "settle", &reference]).contains("rejected"));
    assert!(sandbox.terminal.fails(&["trigger", "return", &reference, "--code", "R99"]).contains("R01"));
    assert!(sandbox.terminal.fails(&["trigger", "refund", &reference]).contains("trigger return"));
    // Also one that the bank has not settled yet.
    let reference = sandbox.transfer("payout-0002", &json!({}));
    let said = sandbox.terminal.shows(&["trigger", "return", &reference, "--code", "R02"]);
    assert!(said.contains("-> failed"), "{said}");
    assert_eq!(sandbox.terminal.json(&["wallet", "show", "USD"])["availableMinor"], before);
    // The same at the other provider of bank transfers.
    let reference = sandbox.transfer("payout-0003", &json!({"bank": "b"}));
    sandbox.wait(&reference, "on its way", |transaction| transaction["status"] == "processing");
    let said = sandbox.terminal.shows(&["trigger", "settle", &reference]);
    // Its success may be found out after any of its webhooks.
    assert!(said.contains("processing -> succeeded") && said.contains("payment_order."), "{said}");
    assert!(sandbox.terminal.shows(&["trigger", "duplicate", &reference]).contains("Resent"));
    let said = sandbox.terminal.shows(&["trigger", "return", &reference, "--code", "R01"]);
    assert!(said.contains("succeeded -> failed"), "{said}");
    assert_eq!(sandbox.terminal.json(&["wallet", "show", "USD"])["availableMinor"], before);
    assert!(sandbox.terminal.shows(&["audit"]).contains("the ledger is consistent"));
}

#[test]
fn a_webhook_that_comes_again_changes_nothing() {
    let sandbox = Sandbox::open();
    let reference = sandbox.paid("12500");
    // The last of the first webhooks may still be on its way.
    let quiet = || {
        let state = sandbox.server.client("").get("/simulator/control/webhooks").json();
        state["tally"]["pending"] == 0
    };
    wait_until("the webhooks are there", Duration::from_secs(120), quiet);
    wait_until("the webhooks are applied", Duration::from_secs(120), || {
        let waiting = sandbox.server.sandbox_path("/provider-events?state=waiting");
        sandbox.server.sandbox_client("adminToken").get(&waiting).data(200)["items"] == json!([])
    });
    let before = sandbox.terminal.json(&["payments", "show", &reference]);
    let sent = sandbox.terminal.json(&["trigger", "duplicate", &reference]);
    let event = sent["event_id"].as_str().unwrap();
    wait_until("it came again", Duration::from_secs(120), || {
        let attempts =
            sandbox.server.client("").get("/simulator/control/webhooks").json()["attempts"].clone();
        let attempts = attempts.as_array().unwrap().iter().filter(|attempt| attempt["event_id"] == event);
        attempts.filter(|attempt| attempt["result"] == "200").count() == 2
    });
    assert_eq!(sandbox.terminal.json(&["payments", "show", &reference])["timeline"], before["timeline"]);
    assert!(sandbox.terminal.shows(&["trigger", "duplicate", &reference]).contains("Resent"));
    let unpaid = sandbox.prepare("/client/v1/payments", "700");
    assert!(sandbox.terminal.fails(&["trigger", "duplicate", &unpaid]).contains("no webhook"));
}

const STRIPE_KEY: &str = "sk_test_sandbox_card_provider_a";
const INCREASE_KEY: &str = "sandbox-api-key-ach-provider-a";

#[test]
fn what_is_not_the_sandboxs_own_is_never_driven() {
    let sandbox = Sandbox::open();
    assert!(sandbox.terminal.fails(&["trigger", "settle", "ach_nobody"]).contains("not found"));
    let reference = sandbox.prepare("/client/v1/payments", "700");
    let elsewhere = Simulator::start();
    let path = sandbox.server.sandbox_path("/config");
    let mut admin = sandbox.server.sandbox_client("adminToken");
    let mut document = admin.get(&path).data(200);
    document["providers"]["card_provider_a"]["baseUrl"] =
        json!(format!("http://{}/stripe", elsewhere.address()));
    // At another address every secret has to be given again.
    document["providers"]["card_provider_a"]["credentials"]["secretKey"] = json!(STRIPE_KEY);
    document["providers"]["card_provider_a"]["credentials"]["webhookSecret"] = json!("whsec_given_again");
    admin.put(&path, &document).data(200);
    let said = sandbox.terminal.fails(&["trigger", "pay", &reference]);
    assert!(said.contains("is not simulated here") && said.contains("STRIPE_SECRET_KEY"), "{said}");
    let with = |key: &str| sandbox.terminal.clone().with("STRIPE_SECRET_KEY", key);
    let said = with("sk_live_sandbox_card_provider_a").fails(&["trigger", "pay", &reference]);
    assert!(said.contains("is not a test key"), "{said}");
    let said = with("sk_test_another").fails(&["trigger", "pay", &reference]);
    assert!(said.contains("is not the key that is configured"), "{said}");
    assert_eq!(elsewhere.state()["calls"], json!({}), "nothing of this reached a provider");
    // A test key that is configured drives the provider's own sandbox as far as that goes.
    let said = with(STRIPE_KEY).fails(&["trigger", "pay", &reference]);
    assert!(said.contains("without a browser") && said.contains("4242"), "{said}");
    document["providers"]["ach_provider_a"]["baseUrl"] = Value::Null;
    document["providers"]["ach_provider_a"]["credentials"] =
        json!({"apiKey": INCREASE_KEY, "webhookSecret": "whsec_given_again"});
    let transfer = sandbox.transfer("payout-live", &json!({}));
    admin.put(&path, &document).data(200);
    let terminal = sandbox.terminal.clone().with("INCREASE_API_KEY", INCREASE_KEY);
    let said = terminal.fails(&["trigger", "settle", &transfer]);
    assert!(said.contains("is configured for production"), "{said}");
}
