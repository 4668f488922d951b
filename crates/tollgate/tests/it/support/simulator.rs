//! The provider simulator in a process of its own: the providers' side of every card test.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{
    client::{Answer, Client},
    server::{Server, Start},
};

/// What the simulator accepts by default.
pub const STRIPE_KEY: &str = "sk_test_simulator";
pub const STRIPE_PUBLISHABLE_KEY: &str = "pk_test_simulator";
pub const SQUARE_TOKEN: &str = "square_simulator_token";
pub const SQUARE_APPLICATION: &str = "sandbox-sq0idb-simulator";
pub const SQUARE_LOCATION: &str = "LSIMULATOR001";

/// What a customer types into a hosted page.
pub const GOOD_CARD: &str = "number=4242+4242+4242+4242&expiry=12/34&cvc=123";
pub const DECLINED_CARD: &str = "number=4000000000000002&expiry=12/34&cvc=123";

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

pub const ADYEN_KEY: &str = "adyen_simulator_key";
pub const ADYEN_CLIENT_KEY: &str = "test_SIMULATOR";
pub const ADYEN_MERCHANT: &str = "TollgateTestECOM";

/// Which of the card adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wire {
    Stripe,
    Square,
    Adyen,
}

impl Wire {
    /// Those that can be asked where a payment stands.
    pub const BOTH: [Self; 2] = [Self::Stripe, Self::Square];
    pub const ALL: [Self; 3] = [Self::Stripe, Self::Square, Self::Adyen];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::Square => "square",
            Self::Adyen => "adyen",
        }
    }

    /// The provider's name in the configuration of a shop.
    pub const fn provider(self) -> &'static str {
        match self {
            Self::Stripe => "card_provider_a",
            Self::Square => "card_provider_b",
            Self::Adyen => "card_provider_c",
        }
    }
}

/// A running simulator. Dropped, it is killed.
pub struct Simulator {
    server: Server,
}

/// What the provider did under one reference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Payments that took money.
    pub charged: usize,
    /// Payments whose money is only held.
    pub held: usize,
    /// How much was taken.
    pub taken: i64,
    /// How much of it went back.
    pub refunded: i64,
    /// Objects that somebody could still pay.
    pub payable: usize,
    /// Objects of any kind, payable or not.
    pub objects: usize,
}

impl Simulator {
    pub fn start() -> Self {
        let mut server = Start::command(&["simulator", "--listen", "127.0.0.1:0"]).spawn();
        server.wait_listening();
        Self { server }
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Asks the control interface.
    #[track_caller]
    pub fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.client("").send(method, &format!("/control/{path}"), &[], body.as_bytes());
        assert!(answer.status < 300, "{method} /control/{path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// Does what no API call can cause: `stripe/payment_intents/<id>/dispute` and the like.
    #[track_caller]
    pub fn drive(&self, path: &str, body: &Value) -> Value {
        self.control("POST", path, body)
    }

    /// Has the next `count` calls of an operation go wrong.
    #[track_caller]
    pub fn fault(&self, wire: Wire, operation: &str, kind: &str, count: u64, delay_ms: u64) {
        let fault = json!({
            "wire": wire.name(), "operation": operation, "fault": kind, "count": count, "delay_ms": delay_ms,
        });
        self.control("POST", "faults", &fault);
    }

    pub fn clear_faults(&self) {
        self.control("DELETE", "faults", &Value::Null);
    }

    /// Sends a wire's webhooks there.
    pub fn send_webhooks_to(&self, wire: Wire, url: &str, secret: &str) {
        let target = json!({ "wire": wire.name(), "url": url, "secret": secret });
        self.control("POST", "webhooks", &target);
    }

    pub fn send_no_webhooks(&self) {
        self.control("DELETE", "webhooks", &Value::Null);
    }

    /// Webhooks that are still on their way.
    pub fn webhooks_pending(&self) -> u64 {
        self.control("GET", "webhooks", &Value::Null)["tally"]["pending"].as_u64().unwrap()
    }

    /// Everything that was accepted.
    pub fn state(&self) -> Value {
        self.control("GET", "state?limit=100000", &Value::Null)
    }

    /// How often an operation was called, whatever came of it.
    pub fn calls(&self, wire: Wire, operation: &str) -> u64 {
        let state = self.control("GET", "state?limit=0", &Value::Null);
        state["calls"][format!("{}.{operation}", wire.name())].as_u64().unwrap_or(0)
    }

    /// What happened under one of our references.
    pub fn truth(&self, reference: &str) -> Truth {
        truth(&self.state(), reference)
    }

    /// Submits a hosted page's form, as a browser without script does.
    pub fn submit(&self, url: &str, form: &str) -> Answer {
        let (_, rest) = url.split_once("://").unwrap();
        let (place, path) = rest.split_once('/').unwrap();
        let address: SocketAddr = place.parse().unwrap();
        assert_eq!(address, self.address(), "the page is the simulator's");
        Client::new(address, "").send("POST", &format!("/{path}"), &[FORM], form.as_bytes())
    }

    /// Pays on a hosted page and checks that the page says so.
    #[track_caller]
    pub fn pay_page(&self, url: &str) {
        let answer = self.submit(url, GOOD_CARD);
        // A payment link thanks by itself.
        let is_thanked = answer.status == 200 && shown(&answer).contains("Thank you");
        assert!(answer.status == 303 || is_thanked, "the page did not take the card: {}", shown(&answer));
    }

    /// Pays on a session as the browser's Drop-in does: what it gives to the page.
    pub fn try_pay_session(&self, component: &Value, number: &str) -> Option<Value> {
        let (session, key) =
            (component["sessionId"].as_str().unwrap(), component["clientKey"].as_str().unwrap());
        let path = format!("/adyen/checkoutshopper/v1/sessions/{session}/payments?clientKey={key}");
        let card = json!({ "type": "scheme", "number": number, "expiryMonth": "12", "expiryYear": "34", "cvc": "123" });
        let body = json!({ "sessionData": component["sessionData"], "paymentMethod": card });
        let answer = self.client("").post(&path, &body);
        (answer.status == 200).then(|| answer.json())
    }

    /// The same, which has to be taken: what a backend confirms with.
    #[track_caller]
    pub fn pay_session(&self, component: &Value) -> Value {
        let paid = self.try_pay_session(component, "4111111111111111").unwrap();
        assert_eq!(paid["resultCode"], "Authorised", "{paid}");
        json!({ "sessionResult": paid["sessionResult"] })
    }

    /// Confirms an intent as the browser's component does, with the publishable key and the client secret.
    pub fn confirm_intent(&self, component: &Value, method: &str) -> Answer {
        self.confirm_intent_by(component, &format!("payment_method={method}"))
    }

    /// The same with whatever the component says of the method.
    pub fn confirm_intent_by(&self, component: &Value, method: &str) -> Answer {
        let (intent, secret) = (&component["paymentIntentId"], &component["clientSecret"]);
        let path = format!("/stripe/v1/payment_intents/{}/confirm", intent.as_str().unwrap());
        // As the provider's script names it.
        let account = component["account"].as_str().map(|account| format!("&_stripe_account={account}"));
        let account = account.unwrap_or_default();
        let form = format!("client_secret={}&{method}{account}", secret.as_str().unwrap());
        let key = component["publishableKey"].as_str().unwrap();
        self.client(key).send("POST", &path, &[FORM], form.as_bytes())
    }

    /// Changes an intent as somebody with the secret key could, unknown to us.
    #[track_caller]
    pub fn change_intent(&self, component: &Value, form: &str) {
        let path = format!("/stripe/v1/payment_intents/{}", component["paymentIntentId"].as_str().unwrap());
        let answer = self.client(STRIPE_KEY).send("POST", &path, &[FORM], form.as_bytes());
        assert_eq!(answer.status, 200, "{}", shown(&answer));
    }

    /// Pays an intent in the browser.
    #[track_caller]
    pub fn pay_intent(&self, component: &Value) {
        let answer = self.confirm_intent(component, "pm_card_visa");
        assert_eq!(answer.status, 200, "{}", shown(&answer));
    }

    /// A token the browser's component made of a card, which is looked at before it is charged.
    #[track_caller]
    pub fn confirmation_token(&self, number: &str) -> String {
        self.confirmation_token_at(number, &[])
    }

    /// The same with parts of a billing address.
    #[track_caller]
    pub fn confirmation_token_at(&self, number: &str, address: &[(&str, &str)]) -> String {
        let card =
            format!("payment_method_data[card][number]={number}&payment_method_data[card][exp_month]=12");
        let more = "payment_method_data[card][exp_year]=2034&payment_method_data[card][cvc]=123";
        let form = format!("payment_method_data[type]=card&{card}&{more}");
        self.make_token(&address.iter().fold(form, |form, (part, text)| {
            format!("{form}&payment_method_data[billing_details][address][{part}]={text}")
        }))
    }

    /// The same of a named test method.
    #[track_caller]
    pub fn confirmation_token_of(&self, method: &str) -> String {
        self.make_token(&format!("payment_method={method}"))
    }

    #[track_caller]
    fn make_token(&self, form: &str) -> String {
        let path = "/stripe/v1/test_helpers/confirmation_tokens";
        let answer = self.client(STRIPE_KEY).send("POST", path, &[FORM], form.as_bytes());
        assert_eq!(answer.status, 200, "{}", shown(&answer));
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// A token the browser's component made of a card: good for one payment.
    pub fn card_token(&self, number: &str) -> String {
        let body = json!({
            "application_id": SQUARE_APPLICATION, "location_id": SQUARE_LOCATION,
            "number": number, "exp_month": "12", "exp_year": "2034", "cvv": "123",
        });
        let answer = self.client("").post("/square/browser/tokens", &body);
        assert_eq!(answer.status, 200, "{}", shown(&answer));
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    /// A client of the simulator's adapters.
    pub fn client(&self, credential: &str) -> Client {
        self.server.client(credential)
    }

    pub fn base_url(&self, wire: Wire) -> String {
        format!("http://{}/{}", self.address(), wire.name())
    }
}

fn shown(answer: &Answer) -> String {
    format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body))
}

/// What a state of the simulator says of one of our references.
pub fn truth(state: &Value, reference: &str) -> Truth {
    let rows = |wire: &str, kind: &str| state[wire][kind].as_array().cloned().unwrap_or_default();
    let ours = |row: &Value| row["metadata"]["tollgate_reference"] == reference;
    let number = |row: &Value, name: &str| row[name].as_i64().unwrap_or(0);
    let mut truth = Truth::default();
    let sessions: Vec<_> = rows("stripe", "checkout_sessions").into_iter().filter(ours).collect();
    let intents: Vec<_> = rows("stripe", "payment_intents").into_iter().filter(ours).collect();
    let charges = rows("stripe", "charges");
    for intent in &intents {
        let of_session = sessions.iter().any(|session| session["payment_intent"] == intent["id"]);
        // A session's intent is paid on the session's page, and is counted there.
        let open = ["requires_payment_method", "requires_action", "requires_confirmation"];
        let is_open = open.iter().any(|status| intent["status"] == *status);
        truth.payable += usize::from(is_open && !of_session);
        truth.objects += usize::from(!of_session);
        let paid = charges.iter().filter(|charge| charge["payment_intent"] == intent["id"]);
        for charge in paid.filter(|charge| charge["status"] == "succeeded") {
            let is_captured = charge["captured"] == true;
            truth.charged += usize::from(is_captured);
            truth.held += usize::from(!is_captured && intent["status"] == "requires_capture");
            truth.taken += number(charge, "amount_captured");
            truth.refunded += number(charge, "amount_refunded");
        }
    }
    truth.payable += sessions.iter().filter(|session| session["status"] == "open").count();
    truth.objects += sessions.len();
    let payments: Vec<_> = rows("square", "payments")
        .into_iter()
        .filter(|payment| payment["reference_id"] == reference || payment["order_reference_id"] == reference)
        .collect();
    let took_money = |payment: &&Value| payment["status"] == "COMPLETED" || payment["status"] == "APPROVED";
    for payment in payments.iter().filter(took_money) {
        // What is approved on a page is a part of what is paid there.
        let is_held = payment["status"] == "APPROVED" && payment["order_reference_id"] != reference;
        truth.charged += usize::from(!is_held);
        truth.held += usize::from(is_held);
        truth.taken += if is_held { 0 } else { number(payment, "amount") };
        truth.refunded += number(payment, "refunded");
    }
    let key = format!("{reference}-prepare");
    for link in rows("square", "payment_links").iter().filter(|link| link["idempotency_key"] == key.as_str())
    {
        let is_paid =
            payments.iter().filter(took_money).any(|payment| payment["order_id"] == link["order_id"]);
        truth.payable += usize::from(!is_paid);
        truth.objects += 1;
    }
    for payment in rows("adyen", "payments").iter().filter(|payment| payment["reference"] == reference) {
        let is_taken = number(payment, "captured") > 0;
        truth.charged += usize::from(is_taken);
        truth.held += usize::from(payment["status"] == "Authorised" && !is_taken);
        truth.taken += number(payment, "captured");
        truth.refunded += number(payment, "refunded");
    }
    // A session is paid with what its answer has alone: where that got lost, nobody can pay.
    truth.objects += rows("adyen", "sessions").iter().filter(|row| row["reference"] == reference).count();
    for link in rows("adyen", "payment_links").iter().filter(|link| link["reference"] == reference) {
        truth.payable += usize::from(link["status"] == "active");
        truth.objects += 1;
    }
    truth
}
