//! The Increase API: transfers, keys, refusals, and the sandbox calls that move them.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_simulator::Config;

use crate::support::{Running, ach_push, start, start_with};

async fn simulate(running: &Running, transfer: &Value, step: &str, body: Value) -> crate::support::Reply {
    let kind = if transfer["type"] == "ach_transfer" { "ach" } else { "real_time_payments" };
    let path = format!("simulations/{kind}_transfers/{}/{step}", transfer["id"].as_str().unwrap());
    running.increase("POST", &path, body).await
}

async fn read(running: &Running, path: &str) -> Value {
    running.increase("GET", path, Value::Null).await.expect(200)
}

fn rtp_push() -> Value {
    json!({
        "source_account_number_id": "account_number_simulator",
        "amount": 2500,
        "creditor_name": "Zoë Example",
        "unstructured_remittance_information": "Invoice 7",
        "account_number": "000123456789",
        "routing_number": "110000000",
    })
}

#[tokio::test]
async fn an_ach_transfer_is_sent_settles_and_comes_back() {
    let running = start().await;
    let made = running.ach_transfer("payout-1").await;
    assert_eq!((&made["status"], &made["amount"]), (&json!("pending_submission"), &json!(1999)));
    assert_eq!(made["preferred_effective_date"], json!({ "date": null, "settlement_schedule": "same_day" }));
    assert!(made["submission"].is_null() && made["settlement"].is_null() && made["return"].is_null());
    assert_eq!(made["notifications_of_change"], json!([]));

    // What must come first has to have come first.
    for step in ["acknowledge", "return", "create_notification_of_change"] {
        let body =
            if step.starts_with("create") { json!({ "corrected_account_number": "1" }) } else { json!({}) };
        let refused = simulate(&running, &made, step, body).await.expect(409);
        assert_eq!(refused["type"], "invalid_operation_error", "{step}");
    }
    let sent = simulate(&running, &made, "submit", Value::Null).await.expect(200);
    assert_eq!(sent["status"], "submitted");
    assert_eq!(sent["submission"]["expected_settlement_schedule"], "same_day");
    simulate(&running, &made, "submit", Value::Null).await.expect(409);
    let acknowledged = simulate(&running, &made, "acknowledge", Value::Null).await.expect(200);
    assert!(acknowledged["acknowledgement"]["acknowledged_at"].is_string());
    let settled = simulate(&running, &made, "settle", Value::Null).await.expect(200);
    assert_eq!(settled["status"], "submitted");
    assert!(settled["settlement"]["settled_at"].is_string());
    simulate(&running, &made, "settle", Value::Null).await.expect(409);

    let correction =
        json!({ "corrected_account_number": "987654321", "corrected_routing_number": "110000000" });
    let corrected = simulate(&running, &made, "create_notification_of_change", correction).await.expect(200);
    assert_eq!(
        corrected["notifications_of_change"][0]["change_code"],
        "incorrect_routing_number_and_account_number"
    );
    simulate(&running, &made, "create_notification_of_change", json!({})).await.expect(400);

    simulate(&running, &made, "return", json!({ "reason": "boredom" })).await.expect(400);
    let back = json!({ "reason": "account_closed", "addenda_information": "closed" });
    let returned = simulate(&running, &made, "return", back).await.expect(200);
    assert_eq!(returned["status"], "returned");
    let why = &returned["return"];
    assert_eq!((&why["raw_return_reason_code"], &why["transfer_id"]), (&json!("R02"), &made["id"]));
    assert!(returned["settlement"]["settled_at"].is_string());
    for step in ["return", "settle", "submit"] {
        simulate(&running, &made, step, Value::Null).await.expect(409);
    }
    let path = format!("ach_transfers/{}", made["id"].as_str().unwrap());
    assert_eq!(read(&running, &path).await, returned);
}

#[tokio::test]
async fn settling_submits_first_and_a_return_needs_no_reason() {
    let running = start().await;
    let made = running.ach_transfer("").await;
    let settled = simulate(&running, &made, "settle", json!({})).await.expect(200);
    assert!(settled["submission"]["trace_number"].is_string() && settled["settlement"].is_object());
    let returned = simulate(&running, &made, "return", Value::Null).await.expect(200);
    assert_eq!(returned["return"]["raw_return_reason_code"], "R03");
    assert_eq!(returned["return"]["return_reason_code"], "no_account");
}

#[tokio::test]
async fn a_key_makes_one_transfer() {
    let running = start().await;
    let made = running.ach_transfer("key").await;
    let again = running.try_increase("POST", "ach_transfers", &ach_push(), "key").await.unwrap();
    assert_eq!(again.expect(200), made);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));

    let mut other = ach_push();
    other["amount"] = json!(1);
    for (path, body) in [("ach_transfers", other), ("real_time_payments_transfers", rtp_push())] {
        let reused = running.try_increase("POST", path, &body, "key").await.unwrap().expect(409);
        assert_eq!(reused["type"], "idempotency_key_already_used_error");
        assert_eq!((&reused["resource_id"], &reused["status"]), (&made["id"], &json!(409)));
    }
    let long = "k".repeat(201);
    running.try_increase("POST", "ach_transfers", &ach_push(), &long).await.unwrap().expect(400);

    // A refusal made nothing, so the key is still free.
    let refused = running.try_increase("POST", "ach_transfers", &json!({}), "free").await.unwrap();
    refused.expect(400);
    running.ach_transfer("free").await;
    let found = read(&running, "ach_transfers?idempotency_key=key").await;
    assert_eq!((found["data"].as_array().unwrap().len(), &found["data"][0]["id"]), (1, &made["id"]));
    let none = read(&running, "ach_transfers?idempotency_key=nobody").await;
    assert_eq!(none, json!({ "data": [], "next_cursor": null }));
    assert_eq!(running.state().await["increase"]["counts"]["ach_transfers"], 2);
}

#[tokio::test]
async fn bad_parameters_are_refused_by_name() {
    let running = start().await;
    let cases = [
        ("account_id", Value::Null),
        ("amount", Value::Null),
        ("amount", json!(0)),
        ("amount", json!("1999")),
        ("amount", json!(10_000_000_000_i64)),
        ("amount", json!(i64::MIN)),
        ("statement_descriptor", json!("")),
        ("statement_descriptor", json!("x".repeat(201))),
        ("account_number", Value::Null),
        ("account_number", json!("1".repeat(18))),
        ("account_number", json!("12 34")),
        ("routing_number", Value::Null),
        ("routing_number", json!("123456789")),
        ("routing_number", json!("000000000")),
        ("routing_number", json!("790000051")),
        ("individual_name", json!("Zoë")),
        ("individual_name", json!("x".repeat(23))),
        ("company_name", json!("x".repeat(17))),
        ("funding", json!("mattress")),
        ("standard_entry_class_code", json!("PPD")),
        ("preferred_effective_date", json!({})),
        ("preferred_effective_date", json!({ "date": "2026-01-05", "settlement_schedule": "same_day" })),
        ("preferred_effective_date.date", Value::Null),
        ("colour", json!("red")),
    ];
    for (field, value) in cases {
        let mut body = ach_push();
        if field == "preferred_effective_date.date" {
            body["preferred_effective_date"] = json!({ "date": "tomorrow" });
        } else {
            body[field] = value;
        }
        let refused = running.increase("POST", "ach_transfers", body).await.expect(400);
        assert_eq!(refused["type"], "invalid_parameters_error");
        assert_eq!(refused["errors"][0]["field"], field);
    }
    let mut body = rtp_push();
    body["routing_number"] = json!("790000064");
    let refused = running.increase("POST", "real_time_payments_transfers", body).await.expect(400);
    assert_eq!(refused["errors"][0]["field"], "routing_number");
    let mut body = ach_push();
    body["account_id"] = json!("account_of_another");
    let refused = running.increase("POST", "ach_transfers", body).await.expect(404);
    assert_eq!(refused["type"], "object_not_found_error");
    let counts = &running.state().await["increase"]["counts"];
    assert_eq!((&counts["ach_transfers"], &counts["real_time_payments_transfers"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn every_error_is_a_problem_with_a_type() {
    let running = start().await;
    let key = "Bearer increase_simulator_key";
    for (method, path, authorization, body, status, kind) in [
        ("GET", "ach_transfers", "", "", 401, "invalid_api_key_error"),
        ("GET", "ach_transfers", "Bearer other", "", 401, "invalid_api_key_error"),
        ("GET", "ach_transfers/ach_transfer_none", key, "", 404, "object_not_found_error"),
        ("GET", "wire_transfers", key, "", 404, "api_method_not_found_error"),
        ("DELETE", "ach_transfers", key, "", 404, "api_method_not_found_error"),
        ("POST", "ach_transfers", key, "{", 400, "malformed_request_error"),
        ("POST", "simulations/ach_transfers/none/settle", key, "", 404, "object_not_found_error"),
        ("GET", "ach_transfers?limit=1000", key, "", 400, "invalid_parameters_error"),
        ("GET", "accounts/other/balance", key, "", 404, "object_not_found_error"),
        ("GET", "routing_numbers", key, "", 400, "invalid_parameters_error"),
    ] {
        let headers = if authorization.is_empty() { vec![] } else { vec![("authorization", authorization)] };
        let reply = running.try_send(method, &format!("/increase/{path}"), &headers, body.to_owned()).await;
        let body = reply.unwrap().expect(status);
        assert_eq!((&body["type"], &body["status"]), (&json!(kind), &json!(status)), "{method} {path}");
        assert!(body["title"].is_string() && body["detail"].is_string());
        if status == 401 {
            let reason = if authorization.is_empty() { "no_header" } else { "no_credential" };
            assert_eq!(body["reason"], reason);
        }
    }
}

#[tokio::test]
async fn a_transfer_that_needs_approval_can_be_canceled() {
    let running = start().await;
    let mut body = ach_push();
    body["require_approval"] = json!(true);
    let mut made = Vec::new();
    for _ in 0..2 {
        made.push(running.increase("POST", "ach_transfers", body.clone()).await.expect(200));
        assert_eq!(made.last().unwrap()["status"], "pending_approval");
    }
    let path =
        |place: usize, step: &str| format!("ach_transfers/{}/{step}", made[place]["id"].as_str().unwrap());
    simulate(&running, &made[0], "settle", Value::Null).await.expect(409);
    let canceled = running.increase("POST", &path(0, "cancel"), Value::Null).await.expect(200);
    assert_eq!(canceled["status"], "canceled");
    assert!(canceled["cancellation"]["canceled_at"].is_string());
    let approved = running.increase("POST", &path(1, "approve"), Value::Null).await.expect(200);
    assert_eq!(approved["status"], "pending_submission");
    for (place, step) in [(0, "approve"), (0, "cancel"), (1, "cancel"), (1, "approve")] {
        let refused = running.increase("POST", &path(place, step), Value::Null).await.expect(409);
        assert_eq!(refused["type"], "invalid_operation_error");
    }
}

#[tokio::test]
async fn a_real_time_payment_completes_or_is_rejected() {
    let running = start().await;
    let create = || running.increase("POST", "real_time_payments_transfers", rtp_push());
    let (taken, refused) = (create().await.expect(200), create().await.expect(200));
    assert_eq!(taken["status"], "pending_submission");
    let done = simulate(&running, &taken, "complete", json!({})).await.expect(200);
    assert_eq!(done["status"], "complete");
    assert!(done["submission"]["transaction_identification"].is_string());
    simulate(&running, &taken, "complete", Value::Null).await.expect(409);
    simulate(&running, &refused, "complete", json!({ "rejection": {} })).await.expect(400);
    let reason = json!({ "rejection": { "reject_reason_code": "account_closed" } });
    let rejected = simulate(&running, &refused, "complete", reason).await.expect(200);
    assert_eq!(rejected["status"], "rejected");
    assert_eq!(rejected["rejection"]["reject_reason_code"], "account_closed");
    // The receiving bank takes seconds to answer.
    let slow = create().await.expect(200);
    let drive = |step: &str| {
        let path = format!("increase/real_time_payments_transfers/{}/{step}", slow["id"].as_str().unwrap());
        async { running.control("POST", &{ path }, json!({ "reject_reason_code": "timeout" })).await }
    };
    let sent = drive("submit").await;
    assert_eq!((&sent["status"], &sent["transaction_id"]), (&json!("submitted"), &Value::Null));
    assert!(sent["submission"].is_object());
    simulate(&running, &slow, "complete", json!({})).await.expect(409);
    assert_eq!(drive("complete").await["rejection"]["reject_reason_code"], "timeout");
    let listed = read(&running, "real_time_payments_transfers?status.in=complete,canceled").await;
    assert_eq!(listed["data"], json!([done]));
    let balance = read(&running, "accounts/account_simulator/balance").await;
    assert_eq!(balance["available_balance"], balance["current_balance"]);
}

#[tokio::test]
async fn lists_go_by_cursor_and_filter() {
    let running = start().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, running.ach_transfer("").await["id"].clone());
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = read(&running, &format!("ach_transfers?limit=2{cursor}")).await;
        seen.extend(page["data"].as_array().unwrap().iter().map(|row| row["id"].clone()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, ids);
    for (filter, count) in [
        ("account_id=account_simulator", 5),
        ("account_id=other", 0),
        ("status.in=submitted,returned", 0),
        ("status.in=submitted,pending_submission", 5),
        ("created_at.on_or_after=2020-01-01T00:00:00Z", 5),
        ("created_at.before=2020-01-01T00:00:00Z", 0),
    ] {
        let page = read(&running, &format!("ach_transfers?{filter}")).await;
        assert_eq!(page["data"].as_array().unwrap().len(), count, "{filter}");
    }
}

#[tokio::test]
async fn routing_numbers_say_what_a_bank_supports() {
    let running = start().await;
    for (number, ach, instant) in [
        ("110000000", "supported", "supported"),
        ("790000064", "supported", "not_supported"),
        ("790000051", "not_supported", "not_supported"),
    ] {
        let found = read(&running, &format!("routing_numbers?routing_number={number}")).await;
        let row = &found["data"][0];
        assert_eq!(
            (&row["ach_transfers"], &row["real_time_payments_transfers"]),
            (&json!(ach), &json!(instant))
        );
    }
    let none = read(&running, "routing_numbers?routing_number=123456789").await;
    assert_eq!(none["data"], json!([]));
    let number = read(&running, "account_numbers/account_number_simulator").await;
    assert_eq!(number["account_id"], "account_simulator");
}

#[tokio::test]
async fn the_balance_follows_the_money() {
    let running = start().await;
    let balance = async || {
        let balance = read(&running, "accounts/account_simulator/balance").await;
        (balance["available_balance"].as_i64().unwrap(), balance["current_balance"].as_i64().unwrap())
    };
    let (start, _) = balance().await;
    let made = running.ach_transfer("").await;
    assert_eq!(balance().await, (start - 1999, start));
    simulate(&running, &made, "settle", Value::Null).await.expect(200);
    assert_eq!(balance().await, (start - 1999, start - 1999));
    simulate(&running, &made, "return", Value::Null).await.expect(200);
    assert_eq!(balance().await, (start, start));

    // What it does not cover is refused, on either rail, and leaves the key free.
    let set = json!({ "balance": 1998 });
    running.control("POST", "increase/accounts/account_simulator/set_balance", set).await;
    for (path, body) in [("ach_transfers", ach_push()), ("real_time_payments_transfers", rtp_push())] {
        let refused = running.increase("POST", path, body).await.expect(409);
        assert_eq!(refused["type"], "invalid_operation_error");
        assert_eq!(refused["detail"], "There's an insufficient balance in the account.");
    }
    assert_eq!(balance().await.0, 1998);
    let again =
        async || running.try_increase("POST", "ach_transfers", &ach_push(), "short of money").await.unwrap();
    again().await.expect(409);
    let set = json!({ "balance": 1999 });
    running.control("POST", "increase/accounts/account_simulator/set_balance", set).await;
    again().await.expect(200);
    assert_eq!(balance().await.0, 0);
}

#[tokio::test]
async fn the_control_interface_shows_transfers_and_holds_them_up() {
    let running = start().await;
    let made = running.ach_transfer("ours").await;
    let drive = |action: &str| {
        let path = format!("increase/ach_transfers/{}/{action}", made["id"].as_str().unwrap());
        let running = &running;
        async move { running.control("POST", &path, Value::Null).await["status"].clone() }
    };
    assert_eq!(drive("require_attention").await, "requires_attention");
    simulate(&running, &made, "settle", Value::Null).await.expect(409);
    assert_eq!(drive("release").await, "pending_submission");
    assert_eq!(drive("reject").await, "rejected");
    simulate(&running, &made, "submit", Value::Null).await.expect(409);
    let state = running.state().await;
    let shown = &state["increase"]["ach_transfers"][0];
    assert_eq!(shown["idempotency_key"], "ours");
    assert_eq!((&shown["amount"], &shown["status"]), (&json!(1999), &json!("rejected")));
    assert_eq!(
        (&shown["individual_name"], &shown["company_name"]),
        (&json!("Ada Example"), &json!("Example Co"))
    );
    assert_eq!(shown["account_number_last4"], "6789");
    assert!(!state.to_string().contains("000123456789"));
    assert_eq!(state["calls"]["increase.ach_transfers.create"], 1);
}

#[tokio::test]
async fn transfers_settle_by_themselves_where_that_is_asked_for() {
    let running = start_with(Config { ach_settles_after_ms: Some(2_000), ..Config::default() }).await;
    let ach = running.ach_transfer("").await;
    let mut held = ach_push();
    held["require_approval"] = json!(true);
    let held = running.increase("POST", "ach_transfers", held).await.expect(200);
    let rtp = running.increase("POST", "real_time_payments_transfers", rtp_push()).await.expect(200);
    let path = format!("ach_transfers/{}", ach["id"].as_str().unwrap());
    assert_eq!(read(&running, &path).await["status"], "pending_submission");
    for _ in 0..3_000 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if read(&running, &path).await["settlement"].is_object() {
            break;
        }
    }
    let settled = read(&running, &path).await;
    assert!(settled["settlement"].is_object() && settled["submission"].is_object());
    let path = format!("real_time_payments_transfers/{}", rtp["id"].as_str().unwrap());
    let mut statuses = Vec::new();
    while statuses.last().is_none_or(|status| status != "complete") && statuses.len() < 5_000 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        statuses.push(read(&running, &path).await["status"].clone());
    }
    assert_eq!(statuses.last(), Some(&json!("complete")));
    // Sent first, and answered later.
    let path = format!("events?associated_object_id={}", rtp["id"].as_str().unwrap());
    assert_eq!(
        read(&running, &path).await["data"].as_array().unwrap().len(),
        3,
        "created, submitted, complete"
    );
    let path = format!("ach_transfers/{}", held["id"].as_str().unwrap());
    assert_eq!(read(&running, &path).await["status"], "pending_approval");

    // Nothing settles anymore once the simulator has stopped.
    let late = running.ach_transfer("").await;
    running.simulator.stop();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let path = format!("ach_transfers/{}", late["id"].as_str().unwrap());
    assert_eq!(read(&running, &path).await["status"], "pending_submission");
}
