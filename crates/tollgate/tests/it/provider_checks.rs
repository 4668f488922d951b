//! Live checks of providers: each misconfiguration is named by its own check, and says what to do.

mod connect;
mod registration;
mod versions;

use serde_json::{Value, json};

use crate::support::{BANK_API_KEY, Client, Server, Shop, Simulator, Start, Terminal, Wire};

const STRIPE: &str = "card_provider_a";
const SQUARE: &str = "card_provider_b";
const ADYEN: &str = "card_provider_c";
const ADYEN_EVENTS: &str = "AUTHORISATION CANCELLATION CANCEL_OR_REFUND CAPTURE CAPTURE_FAILED CHARGEBACK CHARGEBACK_REVERSED \
    DISPUTE_DEFENSE_PERIOD_ENDED \
    EXPIRE ISSUER_RESPONSE_TIMEFRAME_EXPIRED NOTIFICATION_OF_CHARGEBACK OFFER_CLOSED PREARBITRATION_ACCEPTED \
    PREARBITRATION_DECLINED PREARBITRATION_ISSUER_WITHDRAWN PREARBITRATION_LOST PREARBITRATION_OPEN PREARBITRATION_WON \
    REFUND REFUNDED_REVERSED REFUND_FAILED REQUEST_FOR_INFORMATION SCHEME_ARBITRATION SCHEME_ARBITRATION_LOST \
    SCHEME_ARBITRATION_WON SECOND_CHARGEBACK TECHNICAL_CANCEL";
const BANK: &str = "ach_provider_a";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// A shop with all three providers, and the simulator that plays them.
struct Scene {
    server: Server,
    simulator: Simulator,
    shop: Shop,
}

impl Scene {
    fn open() -> Self {
        let (server, simulator) = (Start::serve().run(), Simulator::start());
        let shop = Shop::open(&server, &simulator);
        let scene = Self { server, simulator, shop };
        scene.make_right();
        scene
    }

    /// Everything as it should be: at the provider and in the configuration.
    fn make_right(&self) {
        self.simulator.control("POST", "reset", &Value::Null);
        for (wire, name) in [("stripe", STRIPE), ("square", SQUARE), ("adyen", ADYEN), ("increase", BANK)] {
            // Where an endpoint says what it sends, everything that is needed has to be named.
            let events: Vec<_> = if wire == "adyen" { ADYEN_EVENTS.split(' ').collect() } else { Vec::new() };
            self.target(wire, &self.webhook_url(name), &self.secret(wire), &events);
        }
        self.shop.configure(&self.document());
    }

    fn document(&self) -> Value {
        let mut document = self.shop.document(self.simulator.address());
        document["providers"][BANK] = json!({
            "adapter": "increase",
            "credentials": {"apiKey": BANK_API_KEY, "webhookSecret": self.secret("increase")},
            "funding": {"accountId": "account_simulator", "accountNumberId": "account_number_simulator"},
            "baseUrl": format!("http://{}/increase", self.simulator.address()),
        });
        document
    }

    fn secret(&self, wire: &str) -> String {
        match wire {
            "stripe" => self.shop.webhook_secret(Wire::Stripe),
            "square" => self.shop.webhook_secret(Wire::Square),
            "adyen" => self.shop.webhook_secret(Wire::Adyen),
            _ => format!("shared secret of {}", self.shop.environment),
        }
    }

    fn webhook_url(&self, provider: &str) -> String {
        format!("http://{}/webhooks/v1/{}/{provider}", self.shop.address(), self.shop.environment)
    }

    /// An endpoint at a provider.
    fn target(&self, wire: &str, url: &str, secret: &str, events: &[&str]) {
        let target = json!({"wire": wire, "url": url, "secret": secret, "events": events});
        self.simulator.control("POST", "webhooks", &target);
    }

    /// Has Stripe called with a key that may do only so much.
    fn use_restricted_key(&self, permissions: &[&str]) {
        let key = "rk_test_simulator_restricted";
        let permissions = json!({"permissions": permissions});
        self.simulator.control("POST", &format!("stripe/keys/{key}/create"), &permissions);
        let mut document = self.document();
        document["providers"][STRIPE]["credentials"]["secretKey"] = json!(key);
        self.shop.configure(&document);
    }

    fn test(&self, provider: &str, body: &Value) -> Value {
        let path = self.shop.path(&format!("/providers/{provider}/test"));
        self.shop.admin().post(&path, body).data(200)
    }

    /// A call of a provider's own API.
    #[track_caller]
    fn call(&self, key: &str, method: &str, path: &str, body: &Value) -> Value {
        let mut client: Client = self.simulator.client(key);
        let headers = if path.starts_with("/stripe") { FORM } else { ("content-type", "application/json") };
        let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let answer = client.send(method, path, &[headers], text.as_bytes());
        assert_eq!(answer.status, 200, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// The one endpoint of a provider, as its own API shows it.
    fn endpoint(&self, wire: &str) -> (&'static str, String) {
        let (key, path, list) = match wire {
            "stripe" => ("sk_test_simulator", "/stripe/v1/webhook_endpoints", "data"),
            "square" => ("square_simulator_token", "/square/v2/webhooks/subscriptions", "subscriptions"),
            _ => (BANK_API_KEY, "/increase/event_subscriptions", "data"),
        };
        let listed = self.call(key, "GET", path, &json!(""));
        let id = listed[list][0]["id"].as_str().unwrap();
        (key, format!("{path}/{id}"))
    }

    fn change_endpoint(&self, wire: &str, method: &str, body: &Value) {
        let (key, path) = self.endpoint(wire);
        self.call(key, method, &path, body);
    }
}

fn failed(tested: &Value) -> Vec<&str> {
    let checks = tested["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["ok"] == false).map(|check| check["name"].as_str().unwrap()).collect()
}

/// What goes wrong.
enum Mistake {
    /// Another value in the configuration, below the provider's entry.
    Configured(&'static str, Value),
    /// Something at the provider.
    AtProvider(fn(&Scene)),
}

use Mistake::{AtProvider, Configured};

/// The provider, what is wrong, and the checks that name it.
fn mistakes() -> Vec<(&'static str, &'static str, Mistake, &'static [&'static str])> {
    vec![
        (STRIPE, "wrong key", Configured("/credentials/secretKey", json!("sk_test_wrong")), &["credentials"]),
        (SQUARE, "wrong key", Configured("/credentials/accessToken", json!("wrong")), &["credentials"]),
        (BANK, "wrong key", Configured("/credentials/apiKey", json!("wrong")), &["credentials"]),
        (STRIPE, "no key", Configured("/credentials/secretKey", Value::Null), &["configuration"]),
        (
            STRIPE,
            "live key in a test environment, whose live side has no endpoint",
            Configured("/credentials/secretKey", json!("sk_live_simulator")),
            &["mode", "webhook_endpoint"],
        ),
        (
            SQUARE,
            "production in a test environment",
            Configured("/environment", json!("production")),
            &["mode"],
        ),
        (
            BANK,
            "key of the other environment",
            Configured("/credentials/apiKey", json!(format!("{BANK_API_KEY}_production"))),
            &["mode"],
        ),
        (BANK, "wrong account", Configured("/funding/accountId", json!("account_nowhere")), &["account"]),
        (
            BANK,
            "closed account",
            Configured("/funding/accountId", json!("account_simulator_closed")),
            &["account"],
        ),
        (SQUARE, "wrong location", Configured("/credentials/locationId", json!("LNOWHERE")), &["location"]),
        (
            SQUARE,
            "closed location",
            Configured("/credentials/locationId", json!("LSIMULATORCLOSED")),
            &["location_status"],
        ),
        (
            SQUARE,
            "location in another currency",
            Configured("/credentials/locationId", json!("LSIMULATORCANADA")),
            &["location_currency"],
        ),
        (
            BANK,
            "no such account number",
            Configured("/funding/accountNumberId", json!("account_number_nowhere")),
            &["account_number"],
        ),
        (
            BANK,
            "closed account number",
            Configured("/funding/accountNumberId", json!("account_number_simulator_disabled")),
            &["account_number_status"],
        ),
        (
            BANK,
            "account number of another account",
            Configured("/funding/accountNumberId", json!("account_number_simulator_other")),
            &["account_number_account"],
        ),
        (
            STRIPE,
            "no endpoint",
            AtProvider(|scene| scene.simulator.send_no_webhooks()),
            &["webhook_endpoint"],
        ),
        (
            SQUARE,
            "no endpoint",
            AtProvider(|scene| scene.simulator.send_no_webhooks()),
            &["webhook_endpoint"],
        ),
        (BANK, "no endpoint", AtProvider(|scene| scene.simulator.send_no_webhooks()), &["webhook_endpoint"]),
        (
            STRIPE,
            "endpoint disabled",
            AtProvider(|scene| scene.change_endpoint("stripe", "POST", &json!("disabled=true"))),
            &["webhook_enabled"],
        ),
        (
            SQUARE,
            "endpoint disabled",
            AtProvider(|scene| {
                scene.change_endpoint("square", "PUT", &json!({"subscription": {"enabled": false}}));
            }),
            &["webhook_enabled"],
        ),
        (
            BANK,
            "endpoint disabled",
            AtProvider(|scene| scene.change_endpoint("increase", "PATCH", &json!({"status": "disabled"}))),
            &["webhook_enabled"],
        ),
        (
            STRIPE,
            "event types missing",
            AtProvider(|scene| {
                let events = "enabled_events[]=payment_intent.succeeded&enabled_events[]=charge.refunded";
                scene.change_endpoint("stripe", "POST", &json!(events));
            }),
            &["webhook_events"],
        ),
        (
            SQUARE,
            "event types missing",
            AtProvider(|scene| {
                let changed = json!({"subscription": {"event_types": ["payment.created"]}});
                scene.change_endpoint("square", "PUT", &changed);
            }),
            &["webhook_events"],
        ),
        (
            BANK,
            "event types missing",
            AtProvider(|scene| {
                scene.target(
                    "increase",
                    &scene.webhook_url(BANK),
                    &scene.secret("increase"),
                    &["ach_transfer.created"],
                );
            }),
            &["webhook_events"],
        ),
        (
            STRIPE,
            "endpoint at another URL",
            AtProvider(|scene| {
                scene.change_endpoint("stripe", "POST", &json!("url=https://old.example/hooks"));
            }),
            &["webhook_url"],
        ),
        (
            STRIPE,
            "two endpoints at the same URL",
            AtProvider(|scene| {
                let form = format!("url={}&enabled_events[]=*", scene.webhook_url(STRIPE));
                scene.call("sk_test_simulator", "POST", "/stripe/v1/webhook_endpoints", &json!(form));
            }),
            &["webhook_endpoint"],
        ),
        (
            STRIPE,
            "restricted key that may not read disputes",
            AtProvider(|scene| scene.use_restricted_key(&["rak_charge_write", "rak_checkout_session_write"])),
            &["account", "permissions", "preparation", "webhook_endpoint"],
        ),
        (
            STRIPE,
            "endpoint for one's own account, payments for a connected one",
            Configured("/options", json!({"account": "acct_1SimulatedShop"})),
            &["webhook_scope"],
        ),
        (
            SQUARE,
            "wrong secret",
            Configured("/credentials/webhookSignatureKey", json!("another key")),
            &["webhook_secret"],
        ),
        (STRIPE, "no secret", Configured("/credentials/webhookSecret", Value::Null), &["webhook_secret"]),
        (
            BANK,
            "clock off",
            AtProvider(|scene| drop(scene.simulator.control("POST", "clock", &json!({"skew_seconds": 600})))),
            &["clock"],
        ),
        (
            STRIPE,
            "clock off",
            AtProvider(|scene| {
                drop(scene.simulator.control("POST", "clock", &json!({"skew_seconds": -600})));
            }),
            &["clock"],
        ),
        (
            STRIPE,
            "nobody at the address",
            Configured("/baseUrl", json!("http://127.0.0.1:9")),
            &["connection"],
        ),
    ]
}

#[test]
fn every_misconfiguration_is_named_by_its_own_check() {
    let scene = Scene::open();
    for provider in [STRIPE, SQUARE, BANK] {
        let tested = scene.test(provider, &json!({}));
        assert_eq!((failed(&tested), &tested["ok"]), (vec![], &json!(true)), "{provider}: {tested:#}");
    }
    for (provider, what, mistake, expected) in mistakes() {
        scene.make_right();
        match mistake {
            Configured(pointer, value) => {
                let mut document = scene.document();
                let entry = &mut document["providers"][provider];
                match entry.pointer_mut(pointer) {
                    Some(place) => *place = value,
                    None => entry[pointer.trim_start_matches('/')] = value,
                }
                scene.shop.configure(&document);
            }
            AtProvider(change) => change(&scene),
        }
        let tested = scene.test(provider, &json!({}));
        assert_eq!(failed(&tested), expected, "{provider}, {what}: {tested:#}");
        assert_eq!(tested["ok"], false);
        for check in tested["checks"].as_array().unwrap() {
            assert_eq!(check["hint"].is_null(), check["ok"] == true, "{provider}, {what}: {check}");
            assert!(check["message"].as_str().unwrap().len() > 10, "{provider}, {what}: {check}");
        }
    }
    // An address of something else answers, but not as the provider does.
    for (provider, other) in [(STRIPE, "square"), (SQUARE, "stripe"), (BANK, "stripe"), (STRIPE, "stripe/x")]
    {
        scene.make_right();
        let mut document = scene.document();
        document["providers"][provider]["baseUrl"] =
            json!(format!("http://{}/{other}", scene.simulator.address()));
        scene.shop.configure(&document);
        let tested = scene.test(provider, &json!({}));
        let names = failed(&tested);
        assert!(names == ["connection"] || names == ["credentials"], "{provider} at {other}: {tested:#}");
    }
    let transactions = scene.shop.listed("transactions");
    assert!(transactions.is_empty(), "a check moves nothing: {transactions:?}");
}

#[test]
fn the_command_says_what_to_do_and_the_doctor_remembers() {
    let scene = Scene::open();
    let terminal = Terminal::of(&scene.server);
    let said = terminal.shows(&["providers", "test", SQUARE]);
    assert!(said.contains("ok       location_status"), "{said}");
    let doctor = terminal.run(&["doctor"]).out;
    assert!(doctor.contains(&format!("{SQUARE} passed all")), "{doctor}");

    scene.simulator.send_no_webhooks();
    let failure = terminal.run(&["providers", "test", SQUARE]);
    assert!(failure.code == 1 && failure.err.contains("1 check failed"), "{failure:?}");
    for part in
        ["failed   webhook_endpoint", "-> Run `tollgate providers test card_provider_b --register-webhook`"]
    {
        assert!(failure.out.contains(part), "{part} is not in {failure:?}");
    }
    let doctor = terminal.run(&["doctor"]);
    assert!(
        doctor.code == 1 && doctor.out.contains("problem  live check   card_provider_b: webhook_endpoint"),
        "{doctor:?}"
    );
    let nobody = terminal.fails(&["providers", "test", "nobody"]);
    assert!(nobody.contains("no provider nobody"), "{nobody}");

    // Another version has not been tested yet.
    let mut document = scene.document();
    document["settings"] = json!({"rateLimitPerSecond": 100});
    let file = scene.server.data_dir.join("config.json");
    std::fs::write(&file, document.to_string()).unwrap();
    let file = file.to_str().unwrap();
    terminal.shows(&["apply", file, "--yes"]);
    let doctor = terminal.run(&["doctor"]).out;
    assert!(doctor.contains("was last tested with version"), "{doctor}");
    let checked = terminal.run(&["apply", file, "--yes", "--check"]);
    assert!(checked.code == 1 && checked.err.contains("4 checks failed"), "{checked:?}");
    assert!(
        checked.out.contains("No changes") && checked.out.contains("failed   webhook_endpoint"),
        "{checked:?}"
    );
    scene.make_right();
    document["settings"] = json!({"rateLimitPerSecond": 200});
    std::fs::write(scene.server.data_dir.join("config.json"), document.to_string()).unwrap();
    let applied = terminal.json(&["apply", file, "--yes", "--check"]);
    assert_eq!(
        (&applied["applied"], &applied["providers"][BANK]["ok"]),
        (&json!(true), &json!(true)),
        "{applied:#}"
    );
}

#[test]
fn what_is_probably_not_meant_is_told_when_it_is_applied() {
    let scene = Scene::open();
    let mut document = scene.document();
    document["providers"][STRIPE]["credentials"]["secretKey"] = json!("sk_live_mixed_up");
    document["providers"][BANK]["environment"] = json!("production");
    let put = scene.shop.admin().put(&scene.shop.path("/config"), &document).data(200);
    let paths: Vec<_> =
        put["warnings"].as_array().unwrap().iter().map(|warning| warning["path"].as_str().unwrap()).collect();
    for path in [
        "providers.card_provider_a.credentials.publishableKey",
        "providers.card_provider_a.credentials.secretKey",
        "providers.ach_provider_a.environment",
        "settings.returnOrigins",
        "settings.rateLimitPerSecond",
    ] {
        assert!(paths.contains(&path), "{path} is not in {put:#}");
    }
    assert!(!put.to_string().contains("sk_live_mixed_up"), "{put}");
    let terminal = Terminal::of(&scene.server);
    let doctor = terminal.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(
        doctor.out.contains("problem  mode         providers.card_provider_a.credentials.secretKey is live"),
        "{doctor:?}"
    );
    let file = scene.server.data_dir.join("config.json");
    document["settings"] = json!({"surchargeWarningBps": 300});
    std::fs::write(&file, document.to_string()).unwrap();
    let said = terminal.shows(&["apply", file.to_str().unwrap(), "--dry-run"]);
    assert!(
        said.contains("warning  fees[0] adds 0.69 USD to 10.00 USD, more than the 0.30 USD (3 %)"),
        "{said}"
    );
}
