//! The whole flow against the providers' own sandboxes: what `make live-test` runs, described in docs/live-tests.md.
//!
//! The same code runs in every test run against the simulator, so that it is known to work. This machine cannot be reached
//! from outside: in the place of webhooks, the providers' events are fetched and handed to the server, signed.

mod access;
mod provider_api;

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_providers::ProviderSettings;

use self::{
    access::{ADYEN, Access, BANK, SQUARE, STRIPE},
    provider_api::ProviderApi,
};
use crate::support::{Client, Server, Simulator, Start, Tenant, Terminal, skipped, wait_until};

/// Real sandboxes take their time.
const LIVE_WAIT: Duration = Duration::from_secs(90);

#[test]
fn the_same_suite_runs_against_the_simulator() {
    let simulator = Simulator::start();
    let done = Suite::open(Access::of_simulator(simulator.address())).run();
    assert_eq!(done.len(), 4, "{done:?}");
}

#[test]
#[ignore = "needs credentials of the providers' sandboxes: make live-test"]
fn the_providers_own_sandboxes() {
    let access = Access::of_environment();
    if access.is_empty() {
        return skipped(
            "no sandbox credentials are in the environment; docs/live-tests.md says which to set",
        );
    }
    println!(
        "This makes test payments at the providers' sandboxes and leaves them there; see docs/live-tests.md."
    );
    for line in Suite::open(access).run() {
        println!("done: {line}");
    }
}

/// A server of our own, configured for the sandboxes that there is access to.
struct Suite {
    access: Access,
    server: Server,
    tenant: Tenant,
    secret_key: String,
}

impl Suite {
    fn open(access: Access) -> Self {
        let server = Start::serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "15000").run();
        let mut admin = server.admin();
        let tenant = Tenant::create(&mut admin);
        let secret_key = tenant.issue(&mut admin).key;
        let put = admin.put(&tenant.path("/config"), &access.document()).data(200);
        let mixed_up = put["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|warning| warning["path"].as_str().unwrap().starts_with("providers."));
        assert_eq!(mixed_up.count(), 0, "these are not sandboxes: {put:#}");
        admin
            .post(
                &tenant.path("/wallets/USD/fund"),
                &json!({"amountMinor": "100000", "reference": "live-test"}),
            )
            .data(201);
        Self { access, server, tenant, secret_key }
    }

    /// Says what has gone well, as it does.
    fn step(provider: &str, done: &str) {
        let settings = ProviderSettings::default();
        let api = match provider {
            STRIPE => format!("Stripe {}", settings.stripe_version),
            SQUARE => format!("Square {}", settings.square_version),
            ADYEN => "Adyen v72".to_owned(),
            _ => "Increase".to_owned(),
        };
        println!("ok: {provider} ({api}): {done}");
    }

    /// Goes through every provider there is access to, and says what was done.
    fn run(&self) -> Vec<String> {
        let mut done = Vec::new();
        if let Some(api) = self.access.api(STRIPE) {
            done.push(self.stripe(&api));
        }
        if let Some(api) = self.access.api(SQUARE) {
            done.push(self.square(&api));
        }
        if let Some(api) = self.access.api(ADYEN) {
            done.push(self.adyen(&api));
        }
        if let Some(api) = self.access.api(BANK) {
            done.push(self.increase(&api));
        }
        done
    }

    fn stripe(&self, api: &ProviderApi) -> String {
        self.test_provider(STRIPE);
        self.quote(STRIPE);
        let hosted = self.prepare("/client/v1/payments", STRIPE);
        assert!(hosted["checkoutUrl"].as_str().unwrap().starts_with("http"), "{hosted:#}");
        let prepared = self.prepare("/client/v1/payments/component", STRIPE);
        let reference = text(&prepared, "serviceReference");
        let intent = prepared["component"]["paymentIntentId"].as_str().unwrap().to_owned();
        self.trigger(&["pay", &reference]);
        let body = json!({"paymentIntentId": intent, "clientStatus": "succeeded"});
        let confirmed = self.client().post(&confirm_path(&reference), &body).data(200);
        assert_eq!(confirmed["transaction"]["status"], "succeeded", "{confirmed:#}");
        Self::step(STRIPE, "paid with a test card and confirmed");
        self.trigger(&["refund", &reference, "--amount", "1.00"]);
        Self::wait(&reference, "partly refunded", || {
            for event in api.stripe_events() {
                let object = &event["data"]["object"];
                if object["id"] == intent.as_str() || object["payment_intent"] == intent.as_str() {
                    self.deliver(STRIPE, &ProviderApi::stripe_headers(&event), &event);
                }
            }
            self.transaction(&reference)["refundedMinor"] == "100"
        });
        Self::step(STRIPE, "refund found by its webhook");
        format!(
            "{STRIPE}: {reference} paid with a test card and partly refunded; an unpaid checkout session left"
        )
    }

    fn square(&self, api: &ProviderApi) -> String {
        self.test_provider(SQUARE);
        self.quote(SQUARE);
        let hosted = self.prepare("/client/v1/payments", SQUARE);
        assert!(hosted["checkoutUrl"].as_str().unwrap().starts_with("http"), "{hosted:#}");
        let prepared = self.prepare("/client/v1/payments/component", SQUARE);
        let reference = text(&prepared, "serviceReference");
        let declined = json!({"sourceId": "cnon:card-nonce-declined"});
        let confirmed = self.client().post(&confirm_path(&reference), &declined).data(200);
        assert_eq!(confirmed["transaction"]["status"], "failed", "{confirmed:#}");
        Self::step(SQUARE, "decline reported");
        let body = json!({"sourceId": "cnon:card-nonce-ok"});
        let confirmed = self.client().post(&confirm_path(&reference), &body).data(200);
        assert_eq!(confirmed["transaction"]["status"], "succeeded", "{confirmed:#}");
        Self::step(SQUARE, "card charged");
        let payment = text(&confirmed["transaction"], "providerReference");
        let refund = api.square_refund(&payment, &reference);
        Self::wait(&reference, "partly refunded", || {
            let event = api.square_refund_event(&refund);
            let url = self.webhook_url(SQUARE);
            self.deliver(SQUARE, &ProviderApi::square_headers(&url, &event), &event);
            self.transaction(&reference)["refundedMinor"] == "100"
        });
        Self::step(SQUARE, "refund found by its webhook");
        format!("{SQUARE}: {reference} declined, paid and partly refunded; an unpaid payment link left")
    }

    /// A session is paid in a browser: here its order is paid by the API instead, and what webhooks would tell is handed over.
    fn adyen(&self, api: &ProviderApi) -> String {
        self.test_provider(ADYEN);
        self.quote(ADYEN);
        let hosted = self.prepare("/client/v1/payments", ADYEN);
        assert!(hosted["checkoutUrl"].as_str().unwrap().starts_with("http"), "{hosted:#}");
        let prepared = self.prepare("/client/v1/payments/component", ADYEN);
        assert!(prepared["component"]["sessionData"].is_string(), "{prepared:#}");
        let (reference, merchant) =
            (text(&prepared, "serviceReference"), self.access.field(ADYEN, "merchantAccount"));
        let amount = |minor: &Value| {
            let value: i64 = minor.as_str().unwrap().parse().unwrap();
            json!({ "value": value, "currency": self.access.currency(ADYEN) })
        };
        let total = amount(&prepared["totalDebitMinor"]);
        let payment = api.adyen_payment(&merchant, &reference, &total);
        let tell = |code, names: (&str, &str, &str), amount| {
            let notification = ProviderApi::adyen_notification(&merchant, code, names, amount);
            self.deliver(ADYEN, &[], &notification);
        };
        tell("AUTHORISATION", (&payment, "", &reference), &total);
        Self::wait(&reference, "paid", || self.transaction(&reference)["status"] == "succeeded");
        Self::step(ADYEN, "paid with a test card and found by its webhook");
        let asked = json!({"idempotencyKey": format!("refund-{reference}"), "amountMinor": "100", "feeRefund": "none"});
        let path = format!("/client/v1/transactions/{reference}/refunds");
        let refund = self.client().post(&path, &asked).data(201)["refund"].clone();
        assert_eq!(refund["status"], "processing", "{refund:#}");
        let (id, name) = (text(&refund, "providerReference"), text(&refund, "refundReference"));
        tell("REFUND", (&id, &payment, &name), &amount(&refund["totalRefundMinor"]));
        Self::wait(&reference, "partly refunded", || self.transaction(&reference)["refundedMinor"] == "100");
        Self::step(ADYEN, "refund accepted, and found by its webhook");
        format!(
            "{ADYEN}: {reference} paid with a test card and partly refunded; an unpaid session and payment link left"
        )
    }

    fn increase(&self, api: &ProviderApi) -> String {
        self.test_provider(BANK);
        self.quote(BANK);
        let settled = self.transfer("live-test-settled");
        self.trigger(&["settle", &settled]);
        self.follow_transfer(api, &settled, "succeeded");
        let returned = self.transfer("live-test-returned");
        self.trigger(&["return", &returned, "--code", "R03"]);
        self.follow_transfer(api, &returned, "failed");
        format!("{BANK}: {settled} sent and settled, {returned} sent and returned")
    }

    /// Hands the transfer's events over until it has this status.
    fn follow_transfer(&self, api: &ProviderApi, reference: &str, status: &str) {
        let object = text(&self.transaction(reference), "providerReference");
        Self::wait(reference, status, || {
            for event in api.increase_events(&object) {
                self.deliver(BANK, &ProviderApi::increase_headers(&event), &event);
            }
            self.transaction(reference)["status"] == status
        });
        Self::step(BANK, &format!("transfer {status}"));
    }

    /// Everything but the webhook endpoint has to be right: this machine is not reached from outside.
    fn test_provider(&self, provider: &str) {
        let path = self.tenant.path(&format!("/providers/{provider}/test"));
        let tested = self.server.admin().post(&path, &json!({})).data(200);
        for check in tested["checks"].as_array().unwrap() {
            let is_webhook = check["name"].as_str().unwrap().starts_with("webhook");
            assert!(check["ok"] == true || is_webhook, "{provider}: {check:#}");
        }
        Self::step(provider, "configuration checked");
    }

    fn quote(&self, provider: &str) {
        let method = if provider == BANK { "ach" } else { "web_card" };
        let order = json!({"amountMinor": "1999", "currency": self.access.currency(provider), "paymentMethod": method,
                           "metadata": {"provider": provider}});
        let quote = self.client().post("/client/v1/fees/quote", &order).data(200);
        assert_eq!(quote["routing"]["provider"], provider, "{quote:#}");
        Self::step(provider, "quote");
    }

    fn prepare(&self, path: &str, provider: &str) -> Value {
        let order = json!({"amountMinor": "1999", "currency": self.access.currency(provider),
                           "description": "Tollgate live test", "metadata": {"provider": provider}});
        let prepared = self.client().post(path, &order).data(201);
        Self::step(provider, &format!("prepared by {path}"));
        prepared
    }

    fn transfer(&self, key: &str) -> String {
        let customer = json!({"externalCustomerId": "live-test", "email": "live-test@example.com",
                              "firstName": "Live", "lastName": "Test"});
        let token =
            text(&self.client().post("/client/v1/ach/customer-tokens", &customer).data(201), "customerToken");
        let order = json!({
            "idempotencyKey": key, "amountMinor": "101", "currency": "USD", "customerToken": token,
            "routingNumber": "110000000", "accountNumber": "000123456789", "bankAccountType": "checking",
            "bankName": "Test Bank", "accountName": "Live Test",
        });
        let made = self.client().post("/client/v1/ach/transfers", &order).data(201);
        let reference = text(&made["transaction"], "serviceReference");
        Self::wait(&reference, "sent", || self.transaction(&reference)["providerReference"].is_string());
        reference
    }

    fn client(&self) -> Client {
        self.server.client(&self.secret_key)
    }

    /// `tollgate trigger`, with the sandboxes' keys in its environment.
    #[track_caller]
    fn trigger(&self, arguments: &[&str]) {
        let terminal = Terminal::of(&self.server);
        let terminal =
            self.access.keys().into_iter().fold(terminal, |terminal, (name, key)| terminal.with(name, &key));
        terminal.shows(&[&["trigger"], arguments, &["--no-wait"]].concat());
    }

    fn webhook_url(&self, provider: &str) -> String {
        format!("http://{}/webhooks/v1/{}/{provider}", self.server.address(), self.tenant.environment)
    }

    /// Hands an event over as the provider would.
    fn deliver(&self, provider: &str, headers: &[(&'static str, String)], event: &Value) {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let path = format!("/webhooks/v1/{}/{provider}", self.tenant.environment);
        self.server.client("").send("POST", &path, &headers, event.to_string().as_bytes()).data(200);
    }

    fn transaction(&self, reference: &str) -> Value {
        self.client().get(&format!("/client/v1/transactions/{reference}")).data(200)
    }

    #[track_caller]
    fn wait(reference: &str, what: &str, mut is_true: impl FnMut() -> bool) {
        wait_until(&format!("{reference} is {what}"), LIVE_WAIT, || {
            std::thread::sleep(Duration::from_millis(100));
            is_true()
        });
    }
}

fn confirm_path(reference: &str) -> String {
    format!("/client/v1/payments/component/{reference}/confirm")
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value:#}")).to_owned()
}
