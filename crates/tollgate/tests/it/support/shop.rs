//! A tenant that takes card payments: configured, with keys, its webhooks arriving.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    client::{Answer, Client},
    inbox::Letter,
    server::{ADMIN_TOKEN, Server, wait_until},
    signature::{derived, signature_header, square_signature, stripe_signature, unix_seconds},
    simulator::{
        ADYEN_CLIENT_KEY, ADYEN_KEY, ADYEN_MERCHANT, SQUARE_APPLICATION, SQUARE_LOCATION, SQUARE_TOKEN,
        STRIPE_KEY, STRIPE_PUBLISHABLE_KEY, Simulator, Wire,
    },
    tenant::{Key, Tenant},
};

pub const HOSTED: &str = "/client/v1/payments";
pub const COMPONENT: &str = "/client/v1/payments/component";

/// Longer than anything a test waits for takes, on a machine busy with other things.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// How a customer pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flow {
    Hosted,
    Component,
}

impl Flow {
    pub const BOTH: [Self; 2] = [Self::Hosted, Self::Component];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Hosted => HOSTED,
            Self::Component => COMPONENT,
        }
    }
}

/// One organization's environment at a server, and the simulator its providers are served by.
#[derive(Clone)]
pub struct Shop {
    pub environment: String,
    pub secret: String,
    pub publishable: String,
    server: SocketAddr,
}

/// What a preparation was answered.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub reference: String,
    pub data: Value,
}

impl Shop {
    /// A new organization whose providers are served by the simulator, which sends its webhooks back.
    pub fn open(server: &Server, simulator: &Simulator) -> Self {
        Self::open_at(server, simulator, simulator.address())
    }

    /// The same, with the providers reached by way of another address.
    pub fn open_at(server: &Server, simulator: &Simulator, providers: SocketAddr) -> Self {
        let mut admin = server.admin();
        let tenant = Tenant::create(&mut admin);
        let mut key = |kind: &str| Key::of(&admin.post(&tenant.path("/keys"), &json!({ "kind": kind }))).key;
        let (secret, publishable) = (key("secret"), key("publishable"));
        let shop =
            Self { environment: tenant.environment.clone(), secret, publishable, server: server.address() };
        shop.configure(&shop.document(providers));
        for wire in Wire::ALL {
            simulator.send_webhooks_to(wire, &shop.webhook_url(wire), &shop.webhook_secret(wire));
        }
        shop
    }

    /// All card providers: the second and the third for whoever says `"wire": "square"` or `"adyen"` in the metadata.
    pub fn document(&self, providers: SocketAddr) -> Value {
        let layer =
            |fixed: &str, bps: u16| json!({"enabled": true, "fixedFeeMinor": fixed, "percentFeeBps": bps});
        let fee = |wire: Wire, currency: &str| {
            json!({
                "provider": wire.provider(), "paymentMethod": "web_card", "channel": "none", "currency": currency,
                "platform": layer("30", 290), "organization": layer("5", 50),
            })
        };
        json!({
            "providers": {
                "card_provider_a": {
                    "adapter": "stripe",
                    "credentials": {
                        "secretKey": STRIPE_KEY, "publishableKey": STRIPE_PUBLISHABLE_KEY,
                        "webhookSecret": self.webhook_secret(Wire::Stripe),
                    },
                    "baseUrl": format!("http://{providers}/stripe"),
                },
                "card_provider_b": {
                    "adapter": "square",
                    "credentials": {
                        "accessToken": SQUARE_TOKEN, "applicationId": SQUARE_APPLICATION,
                        "locationId": SQUARE_LOCATION, "webhookSignatureKey": self.webhook_secret(Wire::Square),
                    },
                    "environment": "sandbox",
                    "baseUrl": format!("http://{providers}/square"),
                },
                "card_provider_c": {
                    "adapter": "adyen",
                    "credentials": {
                        "apiKey": ADYEN_KEY, "clientKey": ADYEN_CLIENT_KEY,
                        "hmacKey": self.webhook_secret(Wire::Adyen),
                    },
                    "merchantAccount": ADYEN_MERCHANT,
                    "environment": "sandbox",
                    "baseUrl": format!("http://{providers}/adyen"),
                },
            },
            // Many tests make providers fail on purpose, and mean to reach them all the same.
            "settings": {"circuit": {"enabled": false}},
            "routing": {"web_card": {
                "enabled": true,
                "rules": [
                    {"id": "rule_off", "enabled": false, "conditions": [],
                     "target": {"provider": "card_provider_b", "channel": "web_card"}},
                    {"id": "rule_square", "enabled": true,
                     "conditions": [{"id": "cond_wire", "field": "metadata.wire", "op": "eq", "value": "square"}],
                     "target": {"provider": "card_provider_b", "channel": "web_card"}},
                    {"id": "rule_adyen", "enabled": true,
                     "conditions": [{"id": "cond_adyen", "field": "metadata.wire", "op": "eq", "value": "adyen"}],
                     "target": {"provider": "card_provider_c", "channel": "web_card"}},
                ],
                "default": {"provider": "card_provider_a", "channel": "web_card"},
            }},
            "fees": [fee(Wire::Stripe, "USD"), fee(Wire::Square, "USD"), fee(Wire::Stripe, "EUR"), fee(Wire::Square, "EUR"),
                     fee(Wire::Adyen, "USD")],
        })
    }

    #[track_caller]
    pub fn configure(&self, document: &Value) {
        self.admin().configure(&self.path("/config"), document);
    }

    /// The same shop at a server that listens elsewhere.
    #[must_use]
    pub fn at(&self, server: &Server) -> Self {
        Self { server: server.address(), ..self.clone() }
    }

    /// A secret no other shop and no other provider has.
    pub fn webhook_secret(&self, wire: Wire) -> String {
        let secret = derived(&format!("{} {}", wire.name(), self.environment));
        // The third provider's key is hexadecimal.
        if wire == Wire::Adyen { secret } else { format!("whsec_{secret}") }
    }

    pub fn webhook_path(&self, wire: Wire) -> String {
        format!("/webhooks/v1/{}/{}", self.environment, wire.provider())
    }

    pub fn webhook_url(&self, wire: Wire) -> String {
        format!("http://{}{}", self.server, self.webhook_path(wire))
    }

    /// A path below the environment.
    pub fn path(&self, rest: &str) -> String {
        format!("/admin/v1/environments/{}{rest}", self.environment)
    }

    pub fn address(&self) -> SocketAddr {
        self.server
    }

    pub fn client(&self) -> Client {
        Client::new(self.server, &self.secret)
    }

    /// A client with the publishable key.
    pub fn browser(&self) -> Client {
        Client::new(self.server, &self.publishable)
    }

    pub fn admin(&self) -> Client {
        Client::new(self.server, ADMIN_TOKEN)
    }

    /// The body of a preparation that ends at this provider.
    pub fn order(wire: Wire) -> Value {
        json!({"amountMinor": "10000", "currency": "USD", "metadata": {"wire": wire.name()}})
    }

    /// Asks for a preparation.
    pub fn try_prepare(&self, flow: Flow, wire: Wire) -> Answer {
        self.client().post(flow.path(), &Self::order(wire))
    }

    #[track_caller]
    pub fn prepare(&self, flow: Flow, wire: Wire) -> Prepared {
        Prepared::of(&self.try_prepare(flow, wire))
    }

    pub fn confirm_path(reference: &str) -> String {
        format!("{COMPONENT}/{reference}/confirm")
    }

    /// Confirms as the shop's backend does.
    pub fn confirm(&self, reference: &str, body: &Value) -> Answer {
        self.client().post(&Self::confirm_path(reference), body)
    }

    /// A preparation as its caller reads it back.
    pub fn read_payment(&self, reference: &str) -> Answer {
        self.client().get(&format!("{HOSTED}/{reference}"))
    }

    pub fn read_transaction(&self, reference: &str) -> Answer {
        self.client().get(&format!("/client/v1/transactions/{reference}"))
    }

    /// The status of a transaction; `None` if there is none yet.
    pub fn status(&self, reference: &str) -> Option<String> {
        let answer = self.read_transaction(reference);
        if answer.status == 404 {
            return None;
        }
        Some(answer.data(200)["status"].as_str().unwrap().to_owned())
    }

    /// What an operator reads, asking again while the machine is too busy to answer.
    #[track_caller]
    fn seen(&self, admin: &mut Client, path: &str) -> Value {
        for _ in 0..30 {
            let answer = admin.get(&self.path(path));
            if answer.status != 503 {
                return answer.data(200);
            }
            thread::sleep(Duration::from_secs(1));
        }
        admin.get(&self.path(path)).data(200)
    }

    /// Everything an operator sees of a payment.
    #[track_caller]
    pub fn story(&self, reference: &str) -> Value {
        self.seen(&mut self.admin(), &format!("/payments/{reference}"))
    }

    /// The lines of one kind in a payment's timeline.
    #[track_caller]
    pub fn lines(&self, reference: &str, kind: &str) -> Vec<Value> {
        let story = self.story(reference);
        let timeline = story["timeline"].as_array().unwrap();
        timeline.iter().filter(|line| line["kind"] == kind).cloned().collect()
    }

    /// The statuses a transaction went through.
    pub fn moves(&self, reference: &str) -> Vec<String> {
        let lines = self.lines(reference, "status");
        lines.iter().map(|line| line["detail"]["to"].as_str().unwrap().to_owned()).collect()
    }

    /// Every item of an operator's list, newest first.
    #[track_caller]
    pub fn listed(&self, list: &str) -> Vec<Value> {
        let mut admin = self.admin();
        let mut items = Vec::new();
        let mut cursor = String::new();
        let (path, query) = list.split_once('?').unwrap_or((list, ""));
        loop {
            let data = self.seen(&mut admin, &format!("/{path}?limit=200&{query}{cursor}"));
            let is_ours =
                |item: &&Value| item["type"].as_str().is_some_and(|kind| kind.starts_with("tollgate."));
            // What the server has itself look for once a day is no event of the provider's.
            items.extend(data["items"].as_array().unwrap().iter().filter(|item| !is_ours(item)).cloned());
            match data["nextCursor"].as_str() {
                Some(next) => cursor = format!("&before={next}"),
                None => return items,
            }
        }
    }

    /// Waits until a transaction has this status.
    #[track_caller]
    pub fn wait_status(&self, reference: &str, status: &str) {
        self.wait(reference, status, || self.status(reference).as_deref() == Some(status));
    }

    /// Waits until a preparation has this status.
    #[track_caller]
    pub fn wait_preparation(&self, reference: &str, status: &str) {
        self.wait(reference, status, || self.story(reference)["preparation"]["status"] == status);
    }

    /// Waits for something about a payment, and tells its whole story where it does not come true.
    #[track_caller]
    pub fn wait(&self, reference: &str, what: &str, mut is_true: impl FnMut() -> bool) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        // Often at first and seldom later: many wait at once, and their asking keeps the server busy.
        let mut pause = Duration::from_millis(5);
        while !is_true() {
            let story = || self.story(reference);
            assert!(
                Instant::now() < deadline,
                "{reference} was not {what} within {WAIT_TIMEOUT:?}:\n{:#}",
                story()
            );
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(120));
        }
    }

    /// Waits until every event that arrived has been applied or set aside for good.
    #[track_caller]
    pub fn wait_events(&self, simulator: &Simulator) {
        wait_until("every webhook has come and is done with", WAIT_TIMEOUT, || {
            simulator.webhooks_pending() == 0 && self.listed("provider-events?state=waiting").is_empty()
        });
    }

    /// A wire's signature of a body, as it would be made now.
    pub fn sign(&self, wire: Wire, body: &[u8]) -> String {
        let secret = self.webhook_secret(wire);
        match wire {
            Wire::Stripe => stripe_signature(&secret, unix_seconds(), body),
            Wire::Square => square_signature(&secret, &self.webhook_url(wire), body),
            Wire::Adyen => panic!("it signs within the body: see `sign_adyen`"),
        }
    }

    /// Delivers a body in a provider's place, rightly signed.
    pub fn deliver(&self, wire: Wire, body: &[u8]) -> Answer {
        self.post_webhook(wire, &[(signature_header(wire), &self.sign(wire, body))], body)
    }

    /// Delivers what a provider sent elsewhere.
    #[track_caller]
    pub fn forward(&self, letter: &Letter) {
        self.deliver(letter.wire, &letter.body).data(200);
    }

    /// Posts a webhook of one wire, as it is.
    pub fn post_webhook(&self, wire: Wire, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        Client::new(self.server, "").send("POST", &self.webhook_path(wire), headers, body)
    }
}

impl Prepared {
    #[track_caller]
    pub fn of(answer: &Answer) -> Self {
        let data = answer.data(201);
        Self { reference: data["serviceReference"].as_str().unwrap().to_owned(), data }
    }

    pub fn component(&self) -> &Value {
        &self.data["component"]
    }

    pub fn checkout_url(&self) -> &str {
        self.data["checkoutUrl"].as_str().unwrap()
    }

    /// What a backend sends to confirm once the browser is done.
    pub fn confirm_body(&self) -> Value {
        match self.component()["paymentIntentId"].as_str() {
            Some(intent) => json!({"paymentIntentId": intent, "clientStatus": "succeeded"}),
            None => json!({"sourceId": "cnon:card-nonce-ok"}),
        }
    }
}
