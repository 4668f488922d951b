//! The Stripe API's main paths.

use serde_json::{Value, json};

use crate::support::{Running, start};

#[tokio::test]
async fn an_intent_is_created_confirmed_and_read_back() {
    let running = start().await;
    let created = running
        .intent("automatic_payment_methods[enabled]=true&metadata[order+id]=a%26b&description=Lunch")
        .await;
    assert_eq!(created["status"], "requires_payment_method");
    assert_eq!(created["metadata"], json!({ "order id": "a&b" }));
    let id = created["id"].as_str().unwrap();
    assert!(created["client_secret"].as_str().unwrap().starts_with(&format!("{id}_secret_")));

    let confirmed =
        running.stripe("POST", &format!("payment_intents/{id}/confirm"), "payment_method=pm_card_visa").await;
    assert_eq!(confirmed.expect(200)["status"], "succeeded");
    let read = running
        .stripe("GET", &format!("payment_intents/{id}?expand%5B0%5D=latest_charge"), "")
        .await
        .expect(200);
    assert_eq!(read["amount_received"], 1999);
    assert_eq!(read["latest_charge"]["payment_intent"], id);
    assert_eq!(read["latest_charge"]["payment_method_details"]["card"]["last4"], "4242");

    let again =
        running.stripe("POST", &format!("payment_intents/{id}/confirm"), "payment_method=pm_card_visa").await;
    assert_eq!(again.expect(400)["error"]["code"], "payment_intent_unexpected_state");
}

/// Confirms with a method or card, and checks the status, the code and the decline code.
async fn check_confirm(running: &Running, method: &str, status: u16, code: &str, decline_code: &str) {
    let id = running.intent("").await["id"].as_str().unwrap().to_owned();
    let reply = running.stripe("POST", &format!("payment_intents/{id}/confirm"), method).await.expect(status);
    let error = &reply["error"];
    assert_eq!(error["code"].as_str().unwrap_or_default(), code, "{method}");
    assert_eq!(error["decline_code"].as_str().unwrap_or_default(), decline_code, "{method}");
    if !decline_code.is_empty() {
        assert_eq!(error["type"], "card_error");
        assert_eq!(error["payment_intent"]["status"], "requires_payment_method");
        assert_eq!(error["payment_intent"]["last_payment_error"]["code"], code);
        let charge = error["charge"].as_str().unwrap();
        let charge = running.stripe("GET", &format!("charges/{charge}"), "").await.expect(200);
        assert_eq!((&charge["status"], &charge["failure_code"]), (&json!("failed"), &json!(code)));
    }
}

fn card(number: &str) -> String {
    format!(
        "payment_method_data[type]=card&payment_method_data[card][number]={number}\
         &payment_method_data[card][exp_month]=12&payment_method_data[card][exp_year]=34\
         &payment_method_data[card][cvc]=123"
    )
}

#[tokio::test]
async fn test_methods_and_card_numbers_behave_as_named() {
    let running = &start().await;
    for (method, status, code, decline_code) in [
        ("payment_method=pm_card_visa", 200, "", ""),
        ("payment_method=pm_card_chargeDeclined", 402, "card_declined", "generic_decline"),
        (
            "payment_method=pm_card_chargeDeclinedInsufficientFunds",
            402,
            "card_declined",
            "insufficient_funds",
        ),
        ("payment_method=pm_card_chargeDeclinedExpiredCard", 402, "expired_card", "expired_card"),
        ("payment_method=pm_card_chargeDeclinedIncorrectCvc", 402, "incorrect_cvc", "incorrect_cvc"),
        ("payment_method=pm_card_chargeDeclinedProcessingError", 402, "processing_error", "processing_error"),
        ("payment_method=pm_card_nobody", 404, "resource_missing", ""),
        ("", 400, "payment_intent_unexpected_state", ""),
    ] {
        check_confirm(running, method, status, code, decline_code).await;
    }
    for (number, status, code, decline_code) in [
        ("4242424242424242", 200, "", ""),
        ("4000+0000+0000+0002", 402, "card_declined", "generic_decline"),
        ("4000000000009995", 402, "card_declined", "insufficient_funds"),
        ("4000000000000069", 402, "expired_card", "expired_card"),
        ("4000000000000127", 402, "incorrect_cvc", "incorrect_cvc"),
        ("4242424242424241", 402, "incorrect_number", ""),
    ] {
        check_confirm(running, &card(number), status, code, decline_code).await;
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_named() {
    let running = start().await;
    for (form, code, param) in [
        ("currency=usd", "parameter_missing", "amount"),
        ("amount=1999", "parameter_missing", "currency"),
        ("amount=19.99&currency=usd", "parameter_invalid_integer", "amount"),
        ("amount=0&currency=usd", "parameter_invalid_integer", "amount"),
        ("amount=49&currency=usd", "amount_too_small", "amount"),
        ("amount=100000000&currency=usd", "amount_too_large", "amount"),
        ("amount=1999&currency=usd&colour=red", "parameter_unknown", "colour"),
        ("amount=1999&currency=usd&metadata[a][b]=c", "parameter_unknown", "metadata[a][b]"),
        ("amount=1999&currency=usd&receipt_email=nobody", "email_invalid", "receipt_email"),
    ] {
        let error = &running.stripe("POST", "payment_intents", form).await.expect(400)["error"];
        assert_eq!((&error["code"], &error["param"]), (&json!(code), &json!(param)), "{form}");
        assert_eq!(error["type"], "invalid_request_error");
    }
    let missing = running.stripe("GET", "payment_intents/pi_none", "").await.expect(404);
    assert_eq!(missing["error"]["code"], "resource_missing");
    running.stripe("GET", "nothing_here", "").await.expect(404);
}

#[tokio::test]
async fn keys_are_checked_and_headers_answered() {
    let running = start().await;
    // "sk_test_simulator:" as a user name without a password.
    for (authorization, status) in [
        ("Basic c2tfdGVzdF9zaW11bGF0b3I6", 200),
        ("Bearer sk_test_simulator", 200),
        ("Bearer sk_test_other", 401),
        ("Bearer pk_test_simulator", 403),
    ] {
        let headers = [("authorization", authorization), ("stripe-version", "2025-09-30.clover")];
        let reply = running.try_send("GET", "/stripe/v1/refunds", &headers, String::new()).await.unwrap();
        assert_eq!(reply.status.as_u16(), status, "{authorization}");
        assert_eq!(reply.header("stripe-version"), Some("2025-09-30.clover"));
        assert!(reply.header("request-id").unwrap().starts_with("req_"));
    }
}

#[tokio::test]
async fn the_browser_confirms_with_the_client_secret() {
    let running = start().await;
    let intent = running.intent("metadata[secret]=ours").await;
    let (id, secret) = (intent["id"].as_str().unwrap(), intent["client_secret"].as_str().unwrap());
    let headers = [
        ("authorization", "Bearer pk_test_simulator"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "https://shop.test"),
    ];
    let path = format!("/stripe/v1/payment_intents/{id}/confirm");
    let send = async |form: String| running.try_send("POST", &path, &headers, form).await.unwrap();
    send("payment_method=pm_card_visa".to_owned()).await.expect(400);
    send(format!("client_secret={secret}x&payment_method=pm_card_visa")).await.expect(400);
    let reply = send(format!("client_secret={secret}&{}", card("4242424242424242"))).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    let confirmed = reply.expect(200);
    assert_eq!((&confirmed["status"], &confirmed["metadata"]), (&json!("succeeded"), &Value::Null));
}

#[tokio::test]
async fn a_key_gives_one_intent() {
    let running = start().await;
    let send = async |form: &str| running.try_stripe("POST", "payment_intents", form, "key-1").await.unwrap();
    // A refusal before anything began leaves the key free.
    send("amount=1&currency=usd").await.expect(400);
    let first = send("amount=1999&currency=usd&confirm=true&payment_method=pm_card_visa").await;
    let again = send("currency=usd&amount=1999&confirm=true&payment_method=pm_card_visa").await;
    assert_eq!((first.expect(200), first.header("idempotent-replayed")), (again.expect(200), None));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("original-request"), first.header("request-id"));
    let other = send("amount=2000&currency=usd").await.expect(400);
    assert_eq!(other["error"]["type"], "idempotency_error");
    let state = running.state().await;
    assert_eq!(state["stripe"]["counts"]["charges_succeeded"], 1);
    assert_eq!(state["stripe"]["payment_intents"][0]["idempotency_key"], "key-1");

    // A decline is an answer like any other.
    let declined = "amount=1999&currency=usd&confirm=true&payment_method=pm_card_chargeDeclined";
    for replayed in [None, Some("true")] {
        let reply = running.try_stripe("POST", "payment_intents", declined, "key-2").await.unwrap();
        assert_eq!(reply.status.as_u16(), 402);
        assert_eq!(reply.header("idempotent-replayed"), replayed);
    }
}

#[tokio::test]
async fn capture_cancel_and_refund() {
    let running = start().await;
    let held = running.intent("capture_method=manual&confirm=true&payment_method=pm_card_visa").await;
    assert_eq!((&held["status"], &held["amount_capturable"]), (&json!("requires_capture"), &json!(1999)));
    let id = held["id"].as_str().unwrap();
    let captured = running
        .stripe("POST", &format!("payment_intents/{id}/capture"), "amount_to_capture=1500")
        .await
        .expect(200);
    assert_eq!((&captured["status"], &captured["amount_received"]), (&json!("succeeded"), &json!(1500)));
    running.stripe("POST", &format!("payment_intents/{id}/cancel"), "").await.expect(400);

    let part =
        running.stripe("POST", "refunds", &format!("payment_intent={id}&amount=500")).await.expect(200);
    assert_eq!((&part["status"], &part["amount"]), (&json!("succeeded"), &json!(500)));
    running.stripe("POST", "refunds", &format!("payment_intent={id}&amount=1001")).await.expect(400);
    let rest =
        running.stripe("POST", "refunds", &format!("payment_intent={id}&reason=duplicate")).await.expect(200);
    assert_eq!(rest["amount"], 1000);
    let over = running.stripe("POST", "refunds", &format!("payment_intent={id}")).await.expect(400);
    assert_eq!(over["error"]["code"], "charge_already_refunded");
    let charge =
        running.stripe("GET", &format!("charges/{}", rest["charge"].as_str().unwrap()), "").await.expect(200);
    assert_eq!((&charge["refunded"], &charge["amount_refunded"]), (&json!(true), &json!(1500)));
    let listed = running.stripe("GET", &format!("refunds?payment_intent={id}&limit=1"), "").await.expect(200);
    assert_eq!((&listed["data"][0]["id"], &listed["has_more"]), (&rest["id"], &json!(true)));

    let open = running.intent("").await;
    let path = format!("payment_intents/{}/cancel", open["id"].as_str().unwrap());
    let canceled = running.stripe("POST", &path, "cancellation_reason=abandoned").await.expect(200);
    assert_eq!(
        (&canceled["status"], &canceled["cancellation_reason"]),
        (&json!("canceled"), &json!("abandoned"))
    );
}

/// Since `2025-03-31.basil` releasing what was held leaves no refund behind.
#[tokio::test]
async fn what_is_held_is_released_without_a_refund() {
    let running = start().await;
    for (action, body, reason, event) in [
        ("cancel", Value::Null, Value::Null, "payment_intent.canceled"),
        ("lapse", Value::Null, json!("expired"), "charge.expired"),
        ("capture", json!({ "amount": 700 }), Value::Null, "charge.captured"),
    ] {
        let held = running.intent("capture_method=manual&confirm=true&payment_method=pm_card_visa").await;
        let id = held["id"].as_str().unwrap();
        let ended = running.control("POST", &format!("stripe/payment_intents/{id}/{action}"), body).await;
        assert_eq!(ended["cancellation_reason"], reason, "{action}");
        let path = format!("payment_intents/{id}?expand[]=latest_charge&expand[]=latest_charge.refunds");
        let charge = &running.stripe("GET", &path, "").await.expect(200)["latest_charge"];
        let captured = if action == "capture" { 700 } else { 0 };
        assert_eq!(charge["amount_captured"], captured, "{action}");
        assert_eq!((&charge["refunded"], &charge["amount_refunded"]), (&json!(false), &json!(0)), "{action}");
        assert_eq!(charge["refunds"]["data"], json!([]), "{action}");
        let events = running.stripe("GET", "events?limit=4", "").await.expect(200);
        let kinds: Vec<_> = events["data"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
        assert!(kinds.contains(&&json!(event)), "{action}: {kinds:?}");
        for never in ["charge.refunded", "refund.created"] {
            assert!(!kinds.contains(&&json!(never)), "{action}: {kinds:?}");
        }
    }
}

/// What a dispute has taken and given back is in its balance transactions, whatever its status is called.
#[tokio::test]
async fn a_disputes_money_is_in_its_balance_transactions() {
    let running = start().await;
    let drive =
        async |what: String, body: Value| running.control("POST", &format!("stripe/{what}"), body).await;
    let opened = async |body: Value| {
        let paid = running.intent("confirm=true&payment_method=pm_card_visa").await;
        drive(format!("payment_intents/{}/dispute", paid["id"].as_str().unwrap()), body).await
    };
    let moved = |dispute: &Value| -> Vec<(i64, i64, String)> {
        let all = dispute["balance_transactions"].as_array().unwrap().iter();
        let of = |one: &Value, name: &str| one[name].as_i64().unwrap();
        all.map(|it| (of(it, "amount"), of(it, "net"), it["reporting_category"].as_str().unwrap().to_owned()))
            .collect()
    };
    let taken = (-1_999, -3_499, "dispute".to_owned());
    let returned = (1_999, 1_999, "dispute_reversal".to_owned());

    let prevented = opened(json!({ "status": "prevented" })).await;
    assert_eq!((&prevented["status"], moved(&prevented)), (&json!("prevented"), vec![]));
    let inquiry = opened(json!({ "status": "warning_needs_response" })).await;
    let id = inquiry["id"].as_str().unwrap();
    let refund = format!("payment_intent={}", inquiry["payment_intent"].as_str().unwrap());
    running.stripe("POST", "refunds", &refund).await.expect(200);
    let closed = drive(format!("disputes/{id}/close"), Value::Null).await;
    assert_eq!((&closed["status"], moved(&closed)), (&json!("warning_closed"), vec![]));

    let dispute = opened(Value::Null).await;
    assert_eq!(moved(&dispute), std::slice::from_ref(&taken));
    let id = dispute["id"].as_str().unwrap();
    let won = drive(format!("disputes/{id}/close"), json!({ "status": "won", "reinstates": false })).await;
    assert_eq!((&won["status"], moved(&won)), (&json!("won"), vec![taken.clone()]));
    let later = drive(format!("disputes/{id}/reinstate"), Value::Null).await;
    assert_eq!((&later["status"], moved(&later)), (&json!("won"), vec![taken, returned]));
}

#[tokio::test]
async fn a_refund_waits_for_funds() {
    let running = start().await;
    let paid = running.intent("confirm=true&payment_method=pm_card_visa").await;
    running.control("POST", "stripe/balances/available/drain", Value::Null).await;
    let form = format!("payment_intent={}", paid["id"].as_str().unwrap());
    let refund = running.stripe("POST", "refunds", &form).await.expect(200);
    assert_eq!(
        (&refund["status"], &refund["pending_reason"], &refund["balance_transaction"]),
        (&json!("pending"), &json!("insufficient_funds"), &Value::Null)
    );
    running.control("POST", "stripe/balances/available/fill", Value::Null).await;
    let path = format!("refunds/{}", refund["id"].as_str().unwrap());
    let refund = running.stripe("GET", &path, "").await.expect(200);
    assert_eq!((&refund["status"], refund.get("pending_reason")), (&json!("succeeded"), None));
    assert!(refund["balance_transaction"].is_string(), "{refund}");
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day() {
    let running = start().await;
    let make = async || {
        let form = "amount=1999&currency=usd";
        let made = running.try_stripe("POST", "payment_intents", form, "key-1").await.unwrap();
        made.expect(200)["id"].as_str().unwrap().to_owned()
    };
    let first = make().await;
    running.control("POST", "clock", json!({ "skew_seconds": 23 * 3_600 })).await;
    assert_eq!(make().await, first);
    running.control("POST", "clock", json!({ "skew_seconds": 25 * 3_600 })).await;
    assert_ne!(make().await, first);
}

#[tokio::test]
async fn every_currency_has_its_least_amount_and_some_methods_their_limits() {
    let running = start().await;
    for (amount, currency, methods, code) in [
        (29, "gbp", "", Some("amount_too_small")),
        (30, "gbp", "", None),
        (49, "jpy", "", Some("amount_too_small")),
        (17_499, "huf", "", Some("amount_too_small")),
        (1_499, "czk", "", Some("amount_too_small")),
        (1_999, "uyu", "", Some("amount_too_small")),
        (2_000, "uyu", "", None),
        (699, "krw", "", Some("amount_too_small")),
        (700, "krw", "", None),
        (4_999, "usd", "affirm", Some("amount_too_small")),
        (5_000, "usd", "affirm", None),
        (3_000_001, "usd", "affirm", Some("amount_too_large")),
        (4_999, "cad", "affirm", Some("amount_too_small")),
        (120_001, "gbp", "afterpay_clearpay", Some("amount_too_large")),
        (120_001, "aud", "afterpay_clearpay", None),
        (119, "jpy", "konbini", Some("amount_too_small")),
        (300_001, "jpy", "konbini", Some("amount_too_large")),
        (1_000_001, "mxn", "oxxo", Some("amount_too_large")),
        (499, "brl", "boleto", Some("amount_too_small")),
    ] {
        let methods = if methods.is_empty() { "" } else { &format!("&payment_method_types[]={methods}") };
        let form = format!("amount={amount}&currency={currency}{methods}");
        // The parameter of older versions refuses what the newer one leaves out.
        let headers = [
            ("authorization", "Bearer sk_test_simulator"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("stripe-version", "2026-08-26.dahlia"),
        ];
        let path = "/stripe/v1/payment_intents";
        let reply = running.try_send("POST", path, &headers, form.clone()).await.unwrap();
        let error = reply.expect(if code.is_some() { 400 } else { 200 });
        assert_eq!(error["error"]["code"].as_str(), code, "{form}");
    }
    // A method is refused in a currency it does not pay, and left out where it is only allowed.
    for version in ["2026-08-26.dahlia", "2026-10-28.endive"] {
        let is_old = version < "2026-09-30";
        let name = if is_old { "payment_method_types[]" } else { "allowed_payment_method_types[]" };
        let headers = [
            ("authorization", "Bearer sk_test_simulator"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("stripe-version", version),
        ];
        let form = format!("amount=50000&currency=huf&{name}=card&{name}=klarna");
        let reply = running.try_send("POST", "/stripe/v1/payment_intents", &headers, form).await.unwrap();
        if is_old {
            assert_eq!(reply.expect(400)["error"]["param"], "payment_method_types");
        } else {
            assert_eq!(reply.expect(200)["payment_method_types"], json!(["card"]));
        }
    }
    // Some of ISO 4217 the provider does not take at all, and some only in whole units.
    for (form, param) in [
        ("amount=5000&currency=ghs", "currency"),
        ("amount=5000&currency=zzz", "currency"),
        ("amount=5000&currency=us", "currency"),
        ("amount=10050&currency=isk", "amount"),
    ] {
        let error = running.stripe("POST", "payment_intents", form).await.expect(400);
        let error = &error["error"];
        assert_eq!(
            (&error["param"], &error["type"]),
            (&json!(param), &json!("invalid_request_error")),
            "{form}"
        );
        assert_eq!(error.get("code"), None, "{form}");
        if param == "currency" {
            let message = error["message"].as_str().unwrap();
            let start = "Stripe currently supports these currencies: usd, aed, aud, ";
            assert!(message.starts_with("Invalid currency: ") && message.contains(start), "{message}");
        }
    }
    let session = "mode=payment&success_url=https://shop.test&line_items[0][quantity]=1\
                   &line_items[0][price_data][product_data][name]=Shoes&line_items[0][price_data][unit_amount]=5000\
                   &line_items[0][price_data][currency]=ghs";
    let error = running.stripe("POST", "checkout/sessions", session).await.expect(400);
    assert_eq!(error["error"]["param"], "line_items[0][price_data][currency]");
    // What the dashboard offers is what pays the amount.
    let offered = running.stripe("POST", "payment_intents", "amount=100&currency=jpy").await.expect(200);
    assert!(!offered["payment_method_types"].to_string().contains("konbini"), "{offered}");
}

#[tokio::test]
async fn lists_go_by_cursor() {
    let running = start().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(running.intent("").await["id"].as_str().unwrap().to_owned());
    }
    ids.reverse();
    let first = running.stripe("GET", "payment_intents?limit=2", "").await.expect(200);
    assert_eq!((first["data"][1]["id"].as_str(), &first["has_more"]), (Some(ids[1].as_str()), &json!(true)));
    let path = format!("payment_intents?limit=3&starting_after={}", ids[1]);
    let rest = running.stripe("GET", &path, "").await.expect(200);
    assert_eq!((rest["data"][2]["id"].as_str(), &rest["has_more"]), (Some(ids[4].as_str()), &json!(false)));
    let path = format!("payment_intents?limit=1&ending_before={}", ids[3]);
    assert_eq!(running.stripe("GET", &path, "").await.expect(200)["data"][0]["id"], ids[2].as_str());
    let events = running.stripe("GET", "events?type=payment_intent.created&limit=100", "").await.expect(200);
    assert_eq!(events["data"].as_array().unwrap().len(), 5);
    let event = events["data"][0]["id"].as_str().unwrap();
    let event = running.stripe("GET", &format!("events/{event}"), "").await.expect(200);
    assert_eq!(event["data"]["object"]["id"], ids[0].as_str());
}

#[tokio::test]
async fn what_no_call_can_cause_is_driven() {
    let running = start().await;
    let proof = running.intent("confirm=true&payment_method=pm_card_authenticationRequired").await;
    assert_eq!(proof["status"], "requires_action");
    assert_eq!(proof["next_action"]["type"], "redirect_to_url");
    let drive =
        async |what: String, body: Value| running.control("POST", &format!("stripe/{what}"), body).await;
    let id = proof["id"].as_str().unwrap();
    let failed = drive(format!("payment_intents/{id}/fail_authentication"), Value::Null).await;
    assert_eq!(failed["last_payment_error"]["code"], "payment_intent_authentication_failure");
    running
        .stripe(
            "POST",
            &format!("payment_intents/{id}/confirm"),
            "payment_method=pm_card_authenticationRequired",
        )
        .await
        .expect(200);
    assert_eq!(drive(format!("payment_intents/{id}/authenticate"), Value::Null).await["status"], "succeeded");

    let debit = running.intent("confirm=true&payment_method=pm_usBankAccount_success").await;
    assert_eq!(debit["status"], "processing");
    let id = debit["id"].as_str().unwrap();
    assert_eq!(drive(format!("payment_intents/{id}/settle"), Value::Null).await["status"], "succeeded");
    assert_eq!(drive(format!("payment_intents/{id}/refund"), json!({ "amount": 100 })).await["amount"], 100);
    let dispute = drive(format!("payment_intents/{id}/dispute"), Value::Null).await;
    let refused = running.stripe("POST", "refunds", &format!("payment_intent={id}")).await.expect(400);
    assert_eq!(refused["error"]["code"], "charge_disputed");
    let dispute = dispute["id"].as_str().unwrap();
    let listed = running.stripe("GET", &format!("disputes?payment_intent={id}"), "").await.expect(200);
    assert_eq!((&listed["data"][0]["id"], &listed["data"][1]), (&json!(dispute), &Value::Null));
    let none = running.stripe("GET", "disputes?payment_intent=pi_other", "").await.expect(200);
    assert_eq!(none["data"], json!([]));
    assert_eq!(drive(format!("disputes/{dispute}/review"), Value::Null).await["status"], "under_review");
    let read = running.stripe("GET", &format!("disputes/{dispute}"), "").await.expect(200);
    assert_eq!(read["status"], "under_review");
    assert_eq!(drive(format!("disputes/{dispute}/close"), json!({ "status": "won" })).await["status"], "won");

    let paid = running.intent("confirm=true&payment_method=pm_card_pendingRefund").await;
    let refund =
        running.stripe("POST", "refunds", &format!("payment_intent={}", paid["id"].as_str().unwrap())).await;
    let refund = refund.expect(200);
    assert_eq!(refund["status"], "pending");
    let id = refund["id"].as_str().unwrap();
    assert_eq!(drive(format!("refunds/{id}/fail"), Value::Null).await["status"], "failed");
}
