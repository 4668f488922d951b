//! Every flow of the Adyen adapter, and every route of its simulator.

use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::card::CardOrder;
use tollgate_domain::hold::HoldActionKind::{Capture, Void};
use tollgate_domain::refund::{Refund, RefundReason};
use tollgate_domain::tenant::Mode;
use tollgate_domain::{Currency, Flow};
use tollgate_engine::ports::{Adapters as _, Cards, CheckSubject, NewWebhook, Subject};
use tollgate_simulator::Wire;
use tollgate_vault::Secret;

use super::recording::{Recorded, Recording};
use super::{assert_faultless, planted};
use crate::conformance::{ADYEN_HMAC_KEY, adyen_entry};
use crate::offered::Offered as _;
use crate::support::{hold_action, manual_order, order, provider, refund};

const MERCHANT: &str = "TollgateTestECOM";
const GOOD: &str = "4111111111111111";
const URL: &str = "http://127.0.0.1:9/webhooks/v1/env/card_provider_c";

/// The adapter's part of a recording.
struct Side<'a> {
    recorded: &'a Recorded,
    provider: Provider,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_exchange_fits() {
    assert_faultless(Adapter::Adyen, record().await, &planted::ADYEN).await;
}

/// Every flow, recorded.
pub(super) async fn record() -> Recording {
    let recorded = Recorded::start(Adapter::Adyen, Wire::Adyen, "adyen_simulator_key", ADYEN_HMAC_KEY).await;
    let entry = adyen_entry(&format!("{}/adyen", recorded.world.origin));
    let side = Side { recorded: &recorded, provider: provider(&entry) };
    side.sessions().await;
    side.links().await;
    side.holds().await;
    side.refunds().await;
    side.disputes().await;
    side.ends().await;
    side.check(&entry).await;
    side.other_payments().await;
    side.other_management().await;
    recorded.finish(&[]).await
}

impl Side<'_> {
    fn cards(&self) -> &dyn Cards {
        self.recorded.world.providers.capabilities(Adapter::Adyen).cards.unwrap()
    }

    /// A payment on a session: the provider's name for it.
    async fn paid(&self, order: &CardOrder) -> String {
        let made = self.cards().prepare(&self.provider, order).await.outcome.unwrap();
        let paid = self.recorded.drive(&format!("sessions/{}/pay", made.object), json!({})).await;
        paid["id"].as_str().unwrap().to_owned()
    }

    async fn sessions(&self) {
        let cards = self.cards();
        let forwarding = |keys: Value| {
            let mut entry = adyen_entry(self.provider.address());
            entry["options"] = json!({});
            let document = json!({ "providers": { "one": entry }, "settings": { "forwardMetadata": keys } });
            let read = tollgate_configuration::Configuration::read(
                &document,
                &tollgate_configuration::Configuration::default(),
            );
            read.map(|read| read.providers.get("one").unwrap().clone()).unwrap()
        };
        let most = forwarding(json!(["orderId", "seats"]));
        let mut bare = order(Flow::PaymentComponent);
        (bare.description, bare.customer_email) = (None, None);
        let full = CardOrder {
            metadata: r#"{"orderId":"A & 1","seats":2}"#.to_owned(),
            ..order(Flow::PaymentComponent)
        };
        let euro = CardOrder { currency: Currency::parse("EUR").unwrap(), ..order(Flow::PaymentComponent) };
        for (order, number, holder) in [
            (full, GOOD, None),
            (bare, "4000000000000002", None),
            (euro, GOOD, Some("PENDING")),
            (manual_order(Flow::PaymentComponent), GOOD, None),
            (crate::support::order(Flow::PaymentComponent), GOOD, Some("SHOPPER_CANCELLED")),
        ] {
            let made = cards.prepare(&most, &order).await.outcome.unwrap();
            let again = cards.in_browser().reopen(&most, &order, &made.object).await.outcome.unwrap();
            assert_eq!(again.object, made.object);
            let paid = json!({ "number": number, "holder": holder });
            let paid = self.recorded.drive(&format!("sessions/{}/pay", made.object), paid).await;
            let result = Secret::new(paid["sessionResult"].as_str().unwrap());
            let results = cards.in_browser().results().unwrap();
            results.read_result(&most, &order, &made.object, &result).await.outcome.unwrap();
        }
        cards.can_access_account(&self.provider, None).await.outcome.unwrap();
    }

    async fn links(&self) {
        let cards = self.cards();
        let mut bare = order(Flow::HostedCheckout);
        (bare.description, bare.customer_email, bare.success_url) = (None, None, None);
        for order in [order(Flow::HostedCheckout), bare, manual_order(Flow::HostedCheckout)] {
            let link = cards.prepare(&self.provider, &order).await.outcome.unwrap();
            let subject = Subject::Object(&link.object);
            cards.read(&self.provider, &order, subject).await.outcome.unwrap();
            cards.withdraw(&self.provider, &order, &link.object).await.outcome.unwrap();
        }
        for body in [json!({}), json!({ "holder": "PENDING" })] {
            let order = order(Flow::HostedCheckout);
            let link = cards.prepare(&self.provider, &order).await.outcome.unwrap();
            self.recorded.drive(&format!("payment_links/{}/pay", link.object), body).await;
            let subject = Subject::Object(&link.object);
            cards.read(&self.provider, &order, subject).await.outcome.unwrap();
            cards.withdraw(&self.provider, &order, &link.object).await.outcome.unwrap();
        }
    }

    async fn holds(&self) {
        let cards = self.cards();
        for action in [hold_action(Capture, None), hold_action(Capture, Some(1_000)), hold_action(Void, None)]
        {
            let order = manual_order(Flow::PaymentComponent);
            let held = self.paid(&order).await;
            let captures = cards.captures(order.flow).unwrap();
            for action in [&action, &hold_action(Void, None), &hold_action(Capture, None)] {
                captures.act_on_hold(&self.provider, &order, &held, action).await.outcome.unwrap();
            }
        }
        let state = self.recorded.world.state("adyen", "modifications").await;
        let captured = state.as_array().unwrap().iter().find(|made| {
            (made["kind"].as_str(), made["status"].as_str()) == (Some("capture"), Some("succeeded"))
        });
        let id = captured.unwrap()["id"].as_str().unwrap().to_owned();
        for action in ["fail", "repair"] {
            self.recorded.drive(&format!("modifications/{id}/{action}"), json!({})).await;
        }
        captured_nowhere(self).await;
    }

    async fn refunds(&self) {
        let (cards, order) = (self.cards(), order(Flow::PaymentComponent));
        let paid = self.paid(&order).await;
        let endings = ["fail", "reverse"].into_iter().cycle();
        for ((number, reason), end) in (30..).zip(RefundReason::ALL).zip(endings) {
            let mut asked: Refund = refund(number, 200, 0);
            asked.terms.reason = Some(reason);
            let made = cards.refund(&self.provider, &order, &paid, &asked).await.outcome.unwrap();
            self.recorded.drive(&format!("modifications/{}/{end}", made.id), json!({})).await;
        }
        let mut plain = refund(40, 200, 0);
        plain.terms.reason = None;
        cards.refund(&self.provider, &order, &paid, &plain).await.outcome.unwrap();
        cards.refund(&self.provider, &order, &paid, &refund(41, 9_000, 0)).await.outcome.unwrap();
        let reversal = json!({ "merchantAccount": MERCHANT, "reference": "reversal" }).to_string();
        let other = self.paid(&crate::support::order(Flow::PaymentComponent)).await;
        self.recorded.done("POST", &format!("/v72/payments/{other}/reversals"), &reversal).await;
        let held = manual_order(Flow::PaymentComponent);
        self.paid(&held).await;
        let cancel = json!({ "merchantAccount": MERCHANT, "paymentReference": held.id.to_string() });
        self.recorded.done("POST", "/v72/cancels", &cancel.to_string()).await;
    }

    /// Every way that a dispute can take.
    async fn disputes(&self) {
        let reversed = ["NOTIFICATION_OF_CHARGEBACK", "CHARGEBACK", "CHARGEBACK_REVERSED"];
        let arbitrated = ["PREARBITRATION_OPEN", "PREARBITRATION_DECLINED"];
        let scheme = [&arbitrated[..], &["SCHEME_ARBITRATION"]].concat();
        for end in [
            vec!["SECOND_CHARGEBACK"],
            vec!["ISSUER_RESPONSE_TIMEFRAME_EXPIRED"],
            vec!["PREARBITRATION_OPEN", "PREARBITRATION_ACCEPTED"],
            [&arbitrated[..], &["PREARBITRATION_ISSUER_WITHDRAWN"]].concat(),
            [&arbitrated[..], &["PREARBITRATION_WON"]].concat(),
            [&arbitrated[..], &["PREARBITRATION_LOST"]].concat(),
            [&scheme[..], &["SCHEME_ARBITRATION_WON"]].concat(),
            [&scheme[..], &["SCHEME_ARBITRATION_LOST"]].concat(),
        ] {
            self.dispute(&[&reversed[..], &end].concat()).await;
        }
        self.dispute(&["NOTIFICATION_OF_FRAUD"]).await;
        self.dispute(&["REQUEST_FOR_INFORMATION", "INFORMATION_SUPPLIED", "CHARGEBACK"]).await;
        self.dispute(&["CHARGEBACK", "DISPUTE_DEFENSE_PERIOD_ENDED"]).await;
    }

    async fn dispute(&self, events: &[&str]) {
        let paid = self.paid(&order(Flow::PaymentComponent)).await;
        let (first, rest) = events.split_first().unwrap();
        let path = format!("payments/{paid}/dispute");
        let opened = self.recorded.drive(&path, json!({ "event": first })).await;
        let id = opened["id"].as_str().unwrap();
        for event in rest {
            self.recorded.drive(&format!("disputes/{id}/report"), json!({ "event": event })).await;
        }
    }

    /// What nobody pays or captures.
    async fn ends(&self) {
        let order = order(Flow::PaymentComponent);
        let made = self.cards().prepare(&self.provider, &order).await.outcome.unwrap();
        self.recorded.drive(&format!("sessions/{}/close", made.object), json!({})).await;
        let held = self.paid(&manual_order(Flow::PaymentComponent)).await;
        self.recorded.drive(&format!("payments/{held}/expire"), json!({})).await;
    }

    async fn check(&self, entry: &Value) {
        let checks = self.recorded.world.providers.capabilities(Adapter::Adyen).checks.unwrap();
        checks.check(subject(&self.provider)).await;
        let secret = Secret::new("unused");
        let new = || NewWebhook { url: URL, key: "key", secret: &secret };
        let made = checks.register_webhook(&self.provider, new()).await.unwrap().outcome.unwrap();
        assert!(made.is_new && made.secret.is_some());
        checks.check(subject(&self.provider)).await;
        let path = format!("/v3/merchants/{MERCHANT}/webhooks/{}", made.id);
        self.recorded.done("GET", &path, "").await;
        self.recorded.done("PATCH", &path, r#"{"active":false}"#).await;
        self.recorded.done("POST", &format!("{path}/test"), r#"{"types":["REPORT_AVAILABLE"]}"#).await;
        let deleted = self.recorded.call("DELETE", &path, "").await;
        assert_eq!(deleted.status, 204, "{}", deleted.text);
        for (name, value) in [("apiKey", "wrong"), ("apiKey", "adyen_simulator_key_checkout")] {
            let mut wrong = entry.clone();
            wrong["credentials"][name] = value.into();
            let wrong = provider(&wrong);
            checks.check(subject(&wrong)).await;
        }
    }

    async fn other_payments(&self) {
        let pay = |reference: &str, number: &str, holder: Option<&str>| {
            let number = format!("test_{number}");
            json!({
                "merchantAccount": MERCHANT, "amount": { "value": 1_999, "currency": "USD" }, "reference": reference,
                "returnUrl": "https://shop.example.test/done", "captureDelayHours": 0,
                "paymentMethod": { "type": "scheme", "encryptedCardNumber": number, "encryptedExpiryMonth": "test_03",
                    "encryptedExpiryYear": "test_2030", "encryptedSecurityCode": "test_737", "holderName": holder },
            })
        };
        for (reference, holder) in [("paid", "Ada Example"), ("refused", "NOT_ENOUGH_BALANCE")] {
            let body = pay(reference, GOOD, Some(holder)).to_string();
            self.recorded.done("POST", "/v72/payments", &body).await;
        }
        let mut asked = pay("asked", "5454545454545454", Some("Ada Example"));
        asked["authenticationData"] = json!({ "threeDSRequestData": { "nativeThreeDS": "preferred" } });
        let asked = self.recorded.done("POST", "/v72/payments", &asked.to_string()).await;
        let details =
            json!({ "details": { "threeDSResult": "proof" }, "paymentData": asked["action"]["paymentData"] });
        self.recorded.done("POST", "/v72/payments/details", &details.to_string()).await;
    }

    async fn other_management(&self) {
        self.recorded.done("GET", "/v3/me", "").await;
        let origin = json!({ "domain": "https://shop.example.test" }).to_string();
        let origin = self.recorded.done("POST", "/v3/me/allowedOrigins", &origin).await;
        self.recorded.done("GET", "/v3/me/allowedOrigins", "").await;
        let path = format!("/v3/me/allowedOrigins/{}", origin["id"].as_str().unwrap());
        assert_eq!(self.recorded.call("DELETE", &path, "").await.status, 204);
        self.recorded.done("GET", &format!("/v3/merchants/{MERCHANT}"), "").await;
        let domains = json!({ "domains": ["https://shop.example.test"] }).to_string();
        let path = format!("/v3/merchants/{MERCHANT}/paymentMethodSettings/PM1/addApplePayDomains");
        let added = self.recorded.call("POST", &path, &domains).await;
        assert!(added.status < 300, "{} {}", added.status, added.text);
    }
}

fn subject(provider: &Provider) -> CheckSubject<'_> {
    CheckSubject { provider, webhook_url: URL, mode: Some(Mode::Test), currencies: &[] }
}

/// A payment that the provider does not have.
async fn captured_nowhere(side: &Side<'_>) {
    let order = manual_order(Flow::PaymentComponent);
    let captures = side.cards().captures(order.flow).unwrap();
    let action = hold_action(Capture, None);
    captures.act_on_hold(&side.provider, &order, "NOBODY", &action).await.outcome.unwrap_err();
}
