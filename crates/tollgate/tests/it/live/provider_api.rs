//! A provider's own API, over the same client as the adapters: real sandboxes speak https.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use tollgate_http::{HttpClient, Request};
use tollgate_simulator::{increase_signature, square_signature, stripe_signature};

use super::access::{HMAC_KEY, WEBHOOK_SECRET};
use crate::support::{derived, sign_adyen, unix_seconds};

pub struct ProviderApi {
    base_url: String,
    /// What its calls are authorized with.
    header: (&'static str, String),
    runtime: tokio::runtime::Runtime,
    http: HttpClient,
}

impl ProviderApi {
    pub fn new(base_url: &str, header: (&'static str, String)) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let http = HttpClient::new(Duration::from_secs(10), 4 << 20, None).unwrap();
        Self { base_url: base_url.to_owned(), header, runtime, http }
    }

    fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let mut headers = HeaderMap::new();
        for (name, value) in [(self.header.0, self.header.1.as_str()), ("content-type", "application/json")] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = Request { method, url: format!("{}{path}", self.base_url), headers, body: body.into() };
        let answer = self.runtime.block_on(self.http.send(&request, Duration::from_secs(30)));
        let answer = answer.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        let shown = String::from_utf8_lossy(&answer.body);
        assert!(answer.status.is_success(), "{path}: {} {shown}", answer.status);
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// The newest events, oldest first.
    pub fn stripe_events(&self) -> Vec<Value> {
        let listed = self.call(Method::GET, "/v1/events?limit=50", None);
        listed["data"].as_array().unwrap().iter().rev().cloned().collect()
    }

    pub fn stripe_headers(event: &Value) -> Vec<(&'static str, String)> {
        vec![("stripe-signature", stripe_signature(WEBHOOK_SECRET, unix_seconds(), &event.to_string()))]
    }

    /// Gives back 1.00 of a payment, as the seller's dashboard would.
    pub fn square_refund(&self, payment: &str, reference: &str) -> String {
        let read = self.call(Method::GET, &format!("/v2/payments/{payment}"), None);
        let currency = &read["payment"]["amount_money"]["currency"];
        let key: String = derived(&format!("refund of {reference}")).chars().take(40).collect();
        let body = json!({"idempotency_key": key, "payment_id": payment,
                          "amount_money": {"amount": 100, "currency": currency}});
        let made = self.call(Method::POST, "/v2/refunds", Some(&body));
        made["refund"]["id"].as_str().unwrap().to_owned()
    }

    /// What the provider would send about a refund.
    pub fn square_refund_event(&self, refund: &str) -> Value {
        let read = self.call(Method::GET, &format!("/v2/refunds/{refund}"), None);
        let status = read["refund"]["status"].as_str().unwrap();
        json!({
            "merchant_id": "live-test", "type": "refund.updated", "event_id": derived(&format!("{refund} {status}")),
            "created_at": "2026-01-01T00:00:00Z",
            "data": {"type": "refund", "id": refund, "object": {"refund": read["refund"]}},
        })
    }

    pub fn square_headers(url: &str, event: &Value) -> Vec<(&'static str, String)> {
        vec![("x-square-hmacsha256-signature", square_signature(WEBHOOK_SECRET, url, &event.to_string()))]
    }

    /// Pays with a test card: the provider's name for the payment.
    pub fn adyen_payment(&self, merchant: &str, reference: &str, amount: &Value) -> String {
        let body = json!({
            "merchantAccount": merchant, "reference": reference, "amount": amount, "captureDelayHours": 0,
            "returnUrl": "https://shop.example.test/done",
            "paymentMethod": {"type": "scheme", "encryptedCardNumber": "test_4111111111111111",
                "encryptedExpiryMonth": "test_03", "encryptedExpiryYear": "test_2030",
                "encryptedSecurityCode": "test_737", "holderName": "Live Test"},
        });
        let made = self.call(Method::POST, "/v72/payments", Some(&body));
        assert_eq!(made["resultCode"], "Authorised", "{made:#}");
        made["pspReference"].as_str().unwrap().to_owned()
    }

    /// What the provider would send, which has no call that lists it: of what, about which payment, and by which name of ours.
    pub fn adyen_notification(
        merchant: &str,
        code: &str,
        (id, original, reference): (&str, &str, &str),
        amount: &Value,
    ) -> Value {
        let item = json!({
            "amount": amount, "eventCode": code, "eventDate": "2026-01-01T00:00:00+01:00",
            "merchantAccountCode": merchant, "merchantReference": reference, "originalReference": original,
            "pspReference": id, "success": "true",
        });
        let body = json!({"live": "false", "notificationItems": [{"NotificationRequestItem": item}]});
        sign_adyen(HMAC_KEY, &body)
    }

    /// The events about a transfer, oldest first.
    pub fn increase_events(&self, object: &str) -> Vec<Value> {
        let listed = self.call(Method::GET, &format!("/events?associated_object_id={object}"), None);
        listed["data"].as_array().unwrap().iter().rev().cloned().collect()
    }

    pub fn increase_headers(event: &Value) -> Vec<(&'static str, String)> {
        let (id, at) = (event["id"].as_str().unwrap(), unix_seconds());
        vec![
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", at.to_string()),
            ("webhook-signature", increase_signature(WEBHOOK_SECRET, id, at, &event.to_string())),
        ]
    }
}
