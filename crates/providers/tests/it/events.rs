//! What events say: one row for every kind the providers publish, and what cannot be read.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::{Timestamp, transaction::Dispute};
use tollgate_engine::ports::{Adapters as _, WebhookNotice};

use crate::offered::OneEvent as _;
use crate::signatures::{SQUARE_VECTOR, STRIPE_VECTOR};
use crate::support::{minor, providers};

fn stripe_event(kind: &str, object: &Value) -> Vec<u8> {
    json!({ "id": "evt_1", "object": "event", "type": kind, "created": 1, "data": { "object": object } })
        .to_string()
        .into_bytes()
}

fn square_event(kind: &str, name: &str, object: &Value) -> Vec<u8> {
    let data = json!({ "type": name, "id": "data_id", "object": { name: object } });
    json!({ "merchant_id": "M", "type": kind, "event_id": "e1", "created_at": "…", "data": data })
        .to_string()
        .into_bytes()
}

/// A notice of this kind with nothing in it yet.
fn notice(event: &str, kind: &str) -> WebhookNotice {
    WebhookNotice {
        event: event.to_owned(),
        kind: kind.to_owned(),
        relevant: true,
        ..WebhookNotice::default()
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn every_stripe_event() {
    let providers = providers();
    let translate =
        |body: &[u8]| providers.capabilities(Adapter::Stripe).webhooks.unwrap().translate_one(body).unwrap();
    let metadata = json!({ "tollgate_reference": "pay_1", "other": "x" });

    let intent = json!({ "id": "pi_1", "object": "payment_intent", "amount": 2000, "currency": "usd",
        "metadata": metadata, "status": "x", "latest_charge": "ch_1", "payment_intent": null });
    for name in [
        "succeeded",
        "processing",
        "requires_action",
        "amount_capturable_updated",
        "payment_failed",
        "canceled",
    ] {
        let kind = format!("payment_intent.{name}");
        let expected = WebhookNotice {
            objects: names(&["pi_1"]),
            payment: Some("pi_1".to_owned()),
            reference: Some("pay_1".to_owned()),
            ..notice("evt_1", &kind)
        };
        assert_eq!(translate(&stripe_event(&kind, &intent)), expected);
    }

    for name in ["completed", "async_payment_succeeded", "async_payment_failed", "expired"] {
        let kind = format!("checkout.session.{name}");
        for (intent, objects) in [(json!("pi_1"), &["cs_1", "pi_1"][..]), (Value::Null, &["cs_1"][..])] {
            let session = json!({ "id": "cs_1", "amount_total": 2000, "currency": "usd", "payment_intent": intent,
                "client_reference_id": "pay_1", "metadata": {} });
            let expected = WebhookNotice {
                objects: names(objects),
                payment: intent.as_str().map(str::to_owned),
                reference: Some("pay_1".to_owned()),
                ..notice("evt_1", &kind)
            };
            assert_eq!(translate(&stripe_event(&kind, &session)), expected);
        }
    }
    let by_metadata = json!({ "id": "cs_1", "metadata": metadata, "payment_intent": { "id": "pi_1" } });
    let told = translate(&stripe_event("checkout.session.completed", &by_metadata));
    assert_eq!((told.reference.as_deref(), told.payment.as_deref()), (Some("pay_1"), Some("pi_1")));

    let charge = json!({ "id": "ch_1", "amount": 2000, "amount_refunded": 5, "currency": "usd",
        "payment_intent": "pi_1", "metadata": metadata });
    let expected = WebhookNotice {
        objects: names(&["pi_1", "ch_1"]),
        payment: Some("pi_1".to_owned()),
        reference: Some("pay_1".to_owned()),
        ..notice("evt_1", "charge.refunded")
    };
    assert_eq!(translate(&stripe_event("charge.refunded", &charge)), expected);

    let refund = json!({ "id": "re_1", "amount": 5, "currency": "usd", "charge": "ch_1", "payment_intent": "pi_1",
        "metadata": {}, "status": "succeeded", "reason": null });
    for kind in ["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"] {
        let expected = WebhookNotice {
            objects: names(&["pi_1", "ch_1"]),
            payment: Some("pi_1".to_owned()),
            ..notice("evt_1", kind)
        };
        assert_eq!(translate(&stripe_event(kind, &refund)), expected);
    }

    let dispute = json!({ "id": "dp_1", "amount": 7, "currency": "usd", "charge": { "id": "ch_1" },
        "payment_intent": "pi_1", "reason": "fraudulent", "status": "lost", "metadata": {},
        "evidence_details": { "due_by": 1_790_000_000, "has_evidence": false },
        "balance_transactions": [{ "amount": -7, "currency": "usd", "fee": 1_500, "net": -1_507 }] });
    for kind in [
        "charge.dispute.created",
        "charge.dispute.updated",
        "charge.dispute.closed",
        "charge.dispute.funds_withdrawn",
        "charge.dispute.funds_reinstated",
    ] {
        let told = Dispute {
            id: "dp_1".to_owned(),
            status: "lost".to_owned(),
            reason: Some("fraudulent".to_owned()),
            amount: Some(minor(7)),
            currency: Some("USD".to_owned()),
            respond_by: Some(Timestamp::from_unix_millis(1_790_000_000_000)),
            withdrawn: Some(minor(7)),
        };
        let expected = WebhookNotice {
            objects: names(&["pi_1", "ch_1"]),
            payment: Some("pi_1".to_owned()),
            dispute: Some(told),
            ..notice("evt_1", kind)
        };
        assert_eq!(translate(&stripe_event(kind, &dispute)), expected);
    }

    for kind in ["payment_intent.created", "charge.succeeded", "customer.created", ""] {
        let expected = WebhookNotice { relevant: false, ..notice("evt_1", kind) };
        assert_eq!(translate(&stripe_event(kind, &json!("anything"))), expected);
    }
    let told = translate(STRIPE_VECTOR.as_bytes());
    assert_eq!((told.event.as_str(), told.relevant), ("evt_test_000001", true));
}

#[test]
fn every_thin_stripe_event() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::Stripe).webhooks.unwrap();
    let thin = |kind: &str, related: Value| {
        json!({ "id": "evt_test_1", "object": "v2.core.event", "type": kind, "livemode": false,
            "created": "2026-11-15T06:20:52.246Z", "related_object": related })
        .to_string()
    };
    let related =
        |id: &str, kind: &str| json!({ "id": id, "type": kind, "url": format!("/v1/{kind}s/{id}") });
    for (name, id, kind, objects, payment) in [
        ("payment_intent.succeeded", "pi_1", "payment_intent", &["pi_1"][..], Some("pi_1")),
        ("payment_intent.payment_failed", "pi_1", "payment_intent", &["pi_1"], Some("pi_1")),
        ("checkout.session.completed", "cs_1", "checkout.session", &["cs_1"], None),
        ("checkout.session.async_payment_failed", "cs_1", "checkout.session", &["cs_1"], None),
        ("charge.refunded", "ch_1", "charge", &[], None),
        ("refund.failed", "re_1", "refund", &[], None),
        ("charge.dispute.updated", "dp_1", "dispute", &[], None),
        ("charge.dispute.funds_reinstated", "dp_1", "dispute", &[], None),
    ] {
        let kind_of_event = format!("v1.{name}");
        let expected = WebhookNotice {
            objects: names(objects),
            payment: payment.map(str::to_owned),
            names_only: Some(id.to_owned()),
            ..notice("evt_test_1", &kind_of_event)
        };
        assert_eq!(reader.translate_one(thin(&kind_of_event, related(id, kind)).as_bytes()), Ok(expected));
    }
    // An event about nothing of ours, and one that is about nothing at all.
    let other = thin("v1.billing.meter.error_report_triggered", related("mtr_1", "billing.meter"));
    assert!(!reader.translate_one(other.as_bytes()).unwrap().relevant);
    let ping = "v2.core.event_destination.ping";
    for related in [related("ed_1", "event_destination"), Value::Null] {
        let told = reader.translate_one(thin(ping, related).as_bytes()).unwrap();
        assert_eq!(told, WebhookNotice { relevant: false, is_ping: true, ..notice("evt_test_1", ping) });
    }
    assert!(reader.translate_one(thin("v1.payment_intent.succeeded", Value::Null).as_bytes()).is_err());
}

#[test]
fn a_stripe_event_names_the_connected_account_it_happened_in() {
    let providers = providers();
    let reader = providers.capabilities(Adapter::Stripe).webhooks.unwrap();
    let object = json!({ "id": "pi_1", "object": "payment_intent" });
    let related = json!({ "id": "pi_1", "type": "payment_intent", "url": "/v1/payment_intents/pi_1" });
    for (body, expected) in [
        (json!({ "type": "payment_intent.succeeded", "data": { "object": object } }), None),
        (
            json!({ "type": "payment_intent.succeeded", "account": "acct_1", "data": { "object": object } }),
            Some("acct_1"),
        ),
        (
            json!({ "type": "v1.payment_intent.succeeded", "context": "acct_1", "related_object": related }),
            Some("acct_1"),
        ),
        (
            json!({ "type": "v1.payment_intent.succeeded", "context": "acct_0/acct_1", "related_object": related }),
            Some("acct_1"),
        ),
        (json!({ "type": "v1.payment_intent.succeeded", "context": null, "related_object": related }), None),
        (json!({ "type": "account.updated", "account": "acct_1", "data": { "object": {} } }), Some("acct_1")),
    ] {
        let mut body = body;
        body["id"] = json!("evt_1");
        assert_eq!(
            reader.translate_one(body.to_string().as_bytes()).unwrap().account.as_deref(),
            expected,
            "{body}"
        );
    }
}

#[test]
fn every_square_event() {
    let providers = providers();
    let translate =
        |body: &[u8]| providers.capabilities(Adapter::Square).webhooks.unwrap().translate_one(body).unwrap();
    let payment = json!({ "id": "p1", "order_id": "o1", "reference_id": "pay_1", "status": "COMPLETED",
        "amount_money": { "amount": 2000, "currency": "USD" } });
    for kind in ["payment.created", "payment.updated"] {
        let expected = WebhookNotice {
            objects: names(&["p1", "o1"]),
            payment: Some("p1".to_owned()),
            reference: Some("pay_1".to_owned()),
            ..notice("e1", kind)
        };
        assert_eq!(translate(&square_event(kind, "payment", &payment)), expected);
    }
    // Paid through a link it has no reference of ours, and may be a part of what is due.
    let mut part = payment;
    part.as_object_mut().unwrap().remove("reference_id");
    let told = translate(&square_event("payment.updated", "payment", &part));
    assert_eq!(told.reference, None);
    let refund = json!({ "id": "r1", "payment_id": "p1", "order_id": "o1", "status": "PENDING",
        "amount_money": { "amount": 5, "currency": "USD" } });
    for kind in ["refund.created", "refund.updated"] {
        let expected = WebhookNotice {
            objects: names(&["p1", "o1"]),
            payment: Some("p1".to_owned()),
            ..notice("e1", kind)
        };
        assert_eq!(translate(&square_event(kind, "refund", &refund)), expected);
    }
    for (kind, id) in [("dispute.created", Some("d1")), ("dispute.state.updated", None)] {
        let dispute = json!({ "id": id, "state": "EVIDENCE_REQUIRED", "reason": "NO_KNOWLEDGE",
            "amount_money": { "amount": 7, "currency": "USD" }, "disputed_payment": { "payment_id": "p1" },
            "due_at": "2026-11-29T23:59:59.999Z" });
        let told = Dispute {
            id: id.unwrap_or("data_id").to_owned(),
            status: "EVIDENCE_REQUIRED".to_owned(),
            reason: Some("NO_KNOWLEDGE".to_owned()),
            amount: Some(minor(7)),
            currency: Some("USD".to_owned()),
            respond_by: Some(Timestamp::from_unix_millis(1_795_996_799_999)),
            withdrawn: Some(minor(7)),
        };
        let expected = WebhookNotice {
            objects: names(&["p1"]),
            payment: Some("p1".to_owned()),
            dispute: Some(told),
            ..notice("e1", kind)
        };
        for name in ["dispute", "object"] {
            assert_eq!(translate(&square_event(kind, name, &dispute)), expected, "{name}");
        }
    }
    for kind in ["order.updated", "customer.created", ""] {
        let expected = WebhookNotice { relevant: false, ..notice("e1", kind) };
        assert_eq!(translate(&square_event(kind, "whatever", &json!(1))), expected);
    }
    let told = translate(SQUARE_VECTOR.as_bytes());
    assert_eq!(told.objects, ["hYy9pRFVxpDsO1FB05SunFWUe9JZY", "order_1"]);
}

#[test]
fn what_cannot_be_read_is_unreadable() {
    let providers = providers();
    let amount = json!({ "id": "pi_1", "amount": -1 });
    for body in [
        b"".to_vec(),
        b"{}".to_vec(),
        b"[1]".to_vec(),
        b"\xff\xfe".to_vec(),
        STRIPE_VECTOR.as_bytes()[..100].to_vec(),
        stripe_event("payment_intent.succeeded", &json!({})),
        stripe_event("payment_intent.succeeded", &json!("pi_1")),
        stripe_event("payment_intent.succeeded", &amount),
        [b"[".repeat(10_000), b"]".repeat(10_000)].concat(),
    ] {
        for adapter in [Adapter::Stripe, Adapter::Square] {
            assert!(
                providers.capabilities(adapter).webhooks.unwrap().translate_one(&body).is_err(),
                "{body:?}"
            );
        }
    }
    let square = providers.capabilities(Adapter::Square).webhooks.unwrap();
    for body in [
        square_event("payment.updated", "payment", &json!({})),
        square_event("payment.updated", "refund", &json!({ "id": "x" })),
        json!({ "type": "payment.updated", "event_id": "e" }).to_string().into_bytes(),
    ] {
        assert!(square.translate_one(&body).is_err());
    }
}
