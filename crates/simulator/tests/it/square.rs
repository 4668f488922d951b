//! The Square API's main paths.

use serde_json::{Value, json};

use crate::support::{start, start_with};
use tollgate_simulator::Config;

#[tokio::test]
async fn a_payment_is_made_once_per_key() {
    let running = start().await;
    let first = running.square_payment("key-1", "cnon:card-nonce-ok").await.expect(200);
    let payment = &first["payment"];
    assert_eq!(
        (&payment["status"], &payment["card_details"]["status"]),
        (&json!("COMPLETED"), &json!("CAPTURED"))
    );
    assert_eq!(payment["amount_money"], json!({ "amount": 1999, "currency": "USD" }));
    assert_eq!(running.square_payment("key-1", "cnon:card-nonce-ok").await.expect(200), first);
    let other = running.square_payment("key-1", "cnon:card-nonce-declined").await.expect(400);
    assert_eq!(other["errors"][0]["code"], "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(running.state().await["square"]["counts"]["payments_charged"], 1);

    let id = payment["id"].as_str().unwrap();
    assert_eq!(running.square("GET", &format!("payments/{id}"), Value::Null).await.expect(200), first);
    let order = payment["order_id"].as_str().unwrap();
    let order = running.square("GET", &format!("orders/{order}"), Value::Null).await.expect(200);
    assert_eq!(
        (&order["order"]["state"], &order["order"]["tenders"][0]["id"]),
        (&json!("COMPLETED"), &json!(id))
    );
}

#[tokio::test]
async fn the_key_of_a_payment_that_failed_is_used_up() {
    let running = start().await;
    for nonce in ["cnon:card-nonce-declined", "cnon:card-nonce-declined", "cnon:card-nonce-ok"] {
        let reply = running.square_payment("key-1", nonce).await.expect(400);
        let is_first = reply["payment"].is_object();
        let code = if is_first { "GENERIC_DECLINE" } else { "IDEMPOTENCY_KEY_REUSED" };
        assert_eq!(reply["errors"][0]["code"], code);
    }
    assert_eq!(running.state().await["square"]["counts"]["payments"], 1);
    running.square_payment("key-2", "cnon:card-nonce-ok").await.expect(200);
}

#[tokio::test]
async fn a_payment_is_listed_seconds_after_it_was_made() {
    let running = start_with(Config { square_listed_after_ms: 60_000, ..Config::default() }).await;
    let paid = running.square_payment("key-1", "cnon:card-nonce-ok").await.expect(200);
    let id = paid["payment"]["id"].as_str().unwrap();
    assert_eq!(running.square("GET", "payments", Value::Null).await.expect(200), json!({}));
    running.square("GET", &format!("payments/{id}"), Value::Null).await.expect(200);
    assert!(Config::default().square_listed_after_ms >= 1_000);
}

#[tokio::test]
async fn disputes_are_listed_by_state_and_location() {
    let running = start().await;
    let paid = running.square_payment("key-1", "cnon:card-nonce-ok").await.expect(200);
    let id = paid["payment"]["id"].as_str().unwrap();
    running.control("POST", &format!("square/payments/{id}/dispute"), json!({})).await;
    for (query, count) in [
        ("location_id=LSIMULATOR001&states=EVIDENCE_REQUIRED", 1),
        ("location_id=LSIMULATOR001&states=LOST", 0),
        ("location_id=LSIMULATORCANADA", 0),
        ("", 1),
    ] {
        let listed = running.square("GET", &format!("disputes?{query}"), Value::Null).await.expect(200);
        assert_eq!(listed["disputes"].as_array().map_or(0, Vec::len), count, "{query}");
    }
    for wrong in ["states=WON%2CLOST", "limit=5", "states=OPEN"] {
        running.square("GET", &format!("disputes?{wrong}"), Value::Null).await.expect(400);
    }
}

#[tokio::test]
async fn nonces_behave_as_named() {
    let running = start().await;
    for (nonce, status, category, code) in [
        ("cnon:card-nonce-declined", 400, "PAYMENT_METHOD_ERROR", "GENERIC_DECLINE"),
        ("cnon:card-nonce-rejected-cvv", 400, "PAYMENT_METHOD_ERROR", "CVV_FAILURE"),
        ("cnon:card-nonce-rejected-postalcode", 400, "PAYMENT_METHOD_ERROR", "ADDRESS_VERIFICATION_FAILURE"),
        ("cnon:card-nonce-rejected-expiration", 400, "PAYMENT_METHOD_ERROR", "INVALID_EXPIRATION"),
        ("cnon:card-nonce-already-used", 400, "INVALID_REQUEST_ERROR", "CARD_TOKEN_USED"),
        ("cnon:nobody", 404, "INVALID_REQUEST_ERROR", "NOT_FOUND"),
    ] {
        let reply =
            running.square_payment(nonce.trim_start_matches("cnon:card-nonce-"), nonce).await.expect(status);
        let error = &reply["errors"][0];
        assert_eq!((&error["category"], &error["code"]), (&json!(category), &json!(code)), "{nonce}");
        if category == "PAYMENT_METHOD_ERROR" {
            assert_eq!(reply["payment"]["status"], "FAILED");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_named() {
    let running = start().await;
    let good = json!({ "idempotency_key": "k", "source_id": "cnon:card-nonce-ok", "amount_money": { "amount": 1, "currency": "USD" } });
    for (field, value, code, named) in [
        ("source_id", Value::Null, "MISSING_REQUIRED_PARAMETER", "source_id"),
        ("idempotency_key", json!("k".repeat(46)), "VALUE_TOO_LONG", "idempotency_key"),
        ("idempotency_key", json!(""), "VALUE_EMPTY", "idempotency_key"),
        (
            "amount_money",
            json!({ "amount": "1", "currency": "USD" }),
            "EXPECTED_INTEGER",
            "amount_money.amount",
        ),
        ("amount_money", json!({ "amount": 0, "currency": "USD" }), "VALUE_TOO_LOW", "amount_money.amount"),
        (
            "amount_money",
            json!({ "amount": 1, "currency": "usd" }),
            "INVALID_ENUM_VALUE",
            "amount_money.currency",
        ),
        ("reference_id", json!("r".repeat(41)), "VALUE_TOO_LONG", "reference_id"),
        ("location_id", json!("LELSEWHERE"), "INVALID_LOCATION", "location_id"),
        ("buyer_email_address", json!("nobody"), "INVALID_EMAIL_ADDRESS", "buyer_email_address"),
        ("colour", json!("red"), "UNKNOWN_BODY_PARAMETER", "colour"),
    ] {
        let mut body = good.clone();
        body[field] = value;
        let error = &running.square("POST", "payments", body).await.expect(400)["errors"][0];
        assert_eq!((&error["code"], &error["field"]), (&json!(code), &json!(named)));
    }
    let headers = [("authorization", "Bearer other")];
    let reply = running.try_send("GET", "/square/v2/locations", &headers, String::new()).await.unwrap();
    assert_eq!(reply.expect(401)["errors"][0]["code"], "UNAUTHORIZED");
}

#[tokio::test]
async fn approved_payments_are_completed_or_canceled() {
    let running = start().await;
    let make = async |key: &str| {
        let money = json!({ "amount": 700, "currency": "USD" });
        let body = json!({ "idempotency_key": key, "source_id": "cnon:card-nonce-ok", "amount_money": money, "autocomplete": false });
        running.square("POST", "payments", body).await.expect(200)["payment"].clone()
    };
    let payment = make("complete").await;
    assert_eq!(payment["status"], "APPROVED");
    let id = payment["id"].as_str().unwrap();
    let stale = json!({ "version_token": "stale" });
    running.square("POST", &format!("payments/{id}/complete"), stale).await.expect(400);
    let fresh = json!({ "version_token": payment["version_token"] });
    let done = running.square("POST", &format!("payments/{id}/complete"), fresh).await.expect(200);
    assert_eq!(done["payment"]["status"], "COMPLETED");
    running.square("POST", &format!("payments/{id}/cancel"), Value::Null).await.expect(400);

    let id = make("cancel").await["id"].as_str().unwrap().to_owned();
    let done = running.square("POST", &format!("payments/{id}/cancel"), Value::Null).await.expect(200);
    assert_eq!(done["payment"]["status"], "CANCELED");

    let id = make("by key").await["id"].as_str().unwrap().to_owned();
    for key in ["by key", "never used"] {
        running.square("POST", "payments/cancel", json!({ "idempotency_key": key })).await.expect(200);
    }
    let read = running.square("GET", &format!("payments/{id}"), Value::Null).await.expect(200);
    assert_eq!(read["payment"]["status"], "CANCELED");
}

#[tokio::test]
async fn refunds_are_pending_first_and_bounded() {
    let running = start().await;
    let payment = running.square_payment("pay", "cnon:card-nonce-ok").await.expect(200)["payment"].clone();
    let refund = async |key: &str, amount: i64| {
        let money = json!({ "amount": amount, "currency": "USD" });
        let body = json!({ "idempotency_key": key, "payment_id": payment["id"], "amount_money": money, "reason": "broken" });
        running.square("POST", "refunds", body).await
    };
    let first = refund("one", 500).await.expect(200);
    assert_eq!(first["refund"]["status"], "PENDING");
    assert_eq!(refund("one", 500).await.expect(200), first);
    let id = first["refund"]["id"].as_str().unwrap();
    let read = running.square("GET", &format!("refunds/{id}"), Value::Null).await.expect(200);
    assert_eq!(read["refund"]["status"], "COMPLETED");
    let over = refund("two", 1500).await.expect(400);
    assert_eq!(over["errors"][0]["code"], "REFUND_AMOUNT_INVALID");
    let path = format!("payments/{}", payment["id"].as_str().unwrap());
    let read = running.square("GET", &path, Value::Null).await.expect(200);
    assert_eq!(read["payment"]["refunded_money"]["amount"], 500);
    let listed = running.square("GET", "refunds?status=COMPLETED", Value::Null).await.expect(200);
    assert_eq!(listed["refunds"][0]["id"], id);
}

#[tokio::test]
async fn refunds_wait_where_asked_to() {
    let running = start_with(Config { square_refunds_settle: false, ..Config::default() }).await;
    let payment = running.square_payment("pay", "cnon:card-nonce-ok").await.expect(200)["payment"].clone();
    let path = format!("square/payments/{}/refund", payment["id"].as_str().unwrap());
    let refund = running.control("POST", &path, json!({ "amount": 300 })).await;
    assert_eq!(refund["status"], "PENDING");
    let path = format!("square/refunds/{}/reject", refund["id"].as_str().unwrap());
    assert_eq!(running.control("POST", &path, Value::Null).await["status"], "REJECTED");
    let path = format!("payments/{}", payment["id"].as_str().unwrap());
    let read = running.square("GET", &path, Value::Null).await.expect(200);
    assert_eq!(read["payment"]["refunded_money"]["amount"], 0);
}

#[tokio::test]
async fn lists_go_by_cursor_and_locations_are_shown() {
    let running = start_with(Config { square_listed_after_ms: 0, ..Config::default() }).await;
    for number in 0..5 {
        running.square_payment(&format!("key-{number}"), "cnon:card-nonce-ok").await.expect(200);
    }
    let first = running.square("GET", "payments?limit=3", Value::Null).await.expect(200);
    assert_eq!(first["payments"].as_array().unwrap().len(), 3);
    let path = format!("payments?limit=3&cursor={}", first["cursor"].as_str().unwrap());
    let rest = running.square("GET", &path, Value::Null).await.expect(200);
    assert_eq!((rest["payments"].as_array().unwrap().len(), rest.get("cursor")), (2, None));
    let later =
        running.square("GET", "payments?begin_time=2099-01-01T00%3A00%3A00Z", Value::Null).await.expect(200);
    assert_eq!(later, json!({}));
    let locations = running.square("GET", "locations", Value::Null).await.expect(200);
    assert_eq!(locations["locations"][0]["id"], "LSIMULATOR001");
    running.square("GET", "locations/LSIMULATOR001", Value::Null).await.expect(200);
}

#[tokio::test]
async fn a_token_of_the_browser_is_good_for_one_payment() {
    let running = start().await;
    let tokenize = async |number: &str, cvv: &str| {
        let body = json!({ "application_id": "sandbox-sq0idb-simulator", "location_id": "LSIMULATOR001", "number": number, "exp_month": "12", "exp_year": "34", "cvv": cvv });
        running.try_send("POST", "/square/browser/tokens", &[], body.to_string()).await.unwrap()
    };
    let token =
        tokenize("4111 1111 1111 1111", "123").await.expect(200)["token"].as_str().unwrap().to_owned();
    let paid = running.square_payment("one", &token).await.expect(200);
    assert_eq!(paid["payment"]["card_details"]["card"]["last_4"], "1111");
    let again = running.square_payment("two", &token).await.expect(400);
    assert_eq!(again["errors"][0]["code"], "CARD_TOKEN_USED");
    assert_eq!(running.square_payment("one", &token).await.expect(200), paid);
    tokenize("4111 1111 1111 1112", "123").await.expect(400);
    let bad = tokenize("4111 1111 1111 1111", "911").await.expect(200)["token"].as_str().unwrap().to_owned();
    assert_eq!(running.square_payment("three", &bad).await.expect(400)["errors"][0]["code"], "CVV_FAILURE");
}
