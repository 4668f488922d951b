//! Registering the webhook endpoint at the provider: once, with its secret stored, whatever goes wrong on the way.

use serde_json::{Value, json};

use super::{BANK, SQUARE, STRIPE, Scene, failed};
use crate::support::{Flow, Wire};

const ALL: [(&str, &str, &str); 3] = [
    (STRIPE, "stripe", "webhookSecret"),
    (SQUARE, "square", "webhookSignatureKey"),
    (BANK, "increase", "webhookSecret"),
];

impl Scene {
    /// No endpoint anywhere, and no secret.
    fn unregister(&self) {
        self.make_right();
        self.simulator.send_no_webhooks();
        let mut document = self.document();
        for (provider, _, field) in ALL {
            document["providers"][provider]["credentials"][field] = Value::Null;
        }
        self.shop.configure(&document);
    }

    fn register(&self, provider: &str) -> Value {
        self.test(provider, &json!({"registerWebhook": true}))
    }

    fn endpoints(&self, wire: &str) -> usize {
        let targets = self.simulator.control("GET", "webhooks", &Value::Null);
        targets["targets"].as_array().unwrap().iter().filter(|target| target["wire"] == wire).count()
    }

    fn version(&self) -> u64 {
        let history = self.shop.admin().get(&self.shop.path("/config/versions")).data(200);
        history["items"][0]["version"].as_u64().unwrap()
    }

    /// The secret as the configuration shows it.
    fn masked(&self, provider: &str, field: &str) -> Option<String> {
        let config = self.shop.admin().get(&self.shop.path("/config")).data(200);
        config["providers"][provider]["credentials"][field].as_str().map(str::to_owned)
    }
}

fn said(tested: &Value) -> &str {
    let checks = tested["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == "webhook_registration");
    found.and_then(|check| check["message"].as_str()).unwrap()
}

#[test]
fn an_endpoint_is_made_once_and_its_secret_stored() {
    let scene = Scene::open();
    scene.unregister();
    for (provider, wire, field) in ALL {
        let before = scene.version();
        assert_eq!(scene.masked(provider, field), None);
        let tested = scene.register(provider);
        assert_eq!(failed(&tested), Vec::<&str>::new(), "{provider}: {tested:#}");
        assert!(said(&tested).contains("Created"), "{tested:#}");
        assert_eq!((scene.endpoints(wire), scene.version()), (1, before + 1), "{provider}");
        assert!(scene.masked(provider, field).is_some_and(|shown| shown.starts_with("****")), "{provider}");
        let again = scene.register(provider);
        assert_eq!(failed(&again), Vec::<&str>::new(), "{provider}: {again:#}");
        assert!(said(&again).contains("nothing was created"), "{again:#}");
        assert_eq!((scene.endpoints(wire), scene.version()), (1, before + 1), "{provider}");
    }
    // What the endpoints now send is believed.
    for wire in Wire::BOTH {
        let prepared = scene.shop.prepare(Flow::Hosted, wire);
        scene.simulator.pay_page(prepared.checkout_url());
        scene.shop.wait_status(&prepared.reference, "succeeded");
        assert!(!scene.shop.lines(&prepared.reference, "webhook").is_empty(), "{wire:?}");
    }
}

#[test]
fn a_lost_answer_makes_no_second_endpoint() {
    let scene = Scene::open();
    for ((provider, wire, field), operation) in ALL.into_iter().zip([
        "webhook_endpoints.create",
        "webhook_subscriptions.create",
        "event_subscriptions.create",
    ]) {
        scene.unregister();
        let fault = json!({"wire": wire, "operation": operation, "fault": "error_after", "count": 3});
        scene.simulator.control("POST", "faults", &fault);
        let lost = scene.register(provider);
        assert!(failed(&lost).contains(&"webhook_registration"), "{provider}: {lost:#}");
        assert!(said(&lost).contains("may or may not"), "{lost:#}");
        assert_eq!((scene.endpoints(wire), scene.masked(provider, field)), (1, None), "{provider}");
        let found = scene.register(provider);
        assert_eq!(failed(&found), Vec::<&str>::new(), "{provider}: {found:#}");
        assert_eq!(scene.endpoints(wire), 1, "{provider}");
        assert!(scene.masked(provider, field).is_some(), "{provider}: {found:#}");
    }
}

#[test]
fn an_endpoint_made_by_hand_is_left_alone() {
    let scene = Scene::open();
    for (provider, wire, field) in ALL {
        scene.unregister();
        scene.target(wire, &scene.webhook_url(provider), "made by hand", &[]);
        let tested = scene.register(provider);
        assert_eq!(scene.endpoints(wire), 1, "{provider}: {tested:#}");
        if provider == SQUARE {
            // Here the key can be read at any time.
            assert_eq!(failed(&tested), Vec::<&str>::new(), "{tested:#}");
            assert!(scene.masked(provider, field).is_some(), "{tested:#}");
        } else {
            assert_eq!(failed(&tested), ["webhook_registration", "webhook_secret"], "{provider}: {tested:#}");
            let hint = tested["checks"][0]["hint"].as_str().unwrap();
            assert!(hint.contains("dashboard") && hint.contains(field), "{hint}");
        }
    }
}
