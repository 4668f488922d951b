//! The Stripe API's connected accounts, and keys that may do only some things.

use serde_json::{Value, json};
use tollgate_simulator::Wire;

use crate::support::{Inbox, Reply, Running, start};

const SHOP: (&str, &str) = ("stripe-account", "acct_1SimulatedShop");
const KIOSK: (&str, &str) = ("stripe-account", "acct_1SimulatedKiosk");

async fn call(
    running: &Running,
    key: &str,
    account: &[(&str, &str)],
    (method, path): (&str, &str),
    form: &str,
) -> Reply {
    let bearer = format!("Bearer {key}");
    let mut headers = vec![("authorization", bearer.as_str())];
    headers.extend(account);
    if method == "POST" {
        headers.push(("content-type", "application/x-www-form-urlencoded"));
    }
    running.try_send(method, &format!("/stripe/v1/{path}"), &headers, form.to_owned()).await.unwrap()
}

/// A paid, disputed and partly refunded intent of the shop.
async fn paid_by_shop(running: &Running) -> (Value, Value, Value) {
    let form = "amount=1999&currency=usd&confirm=true&payment_method=pm_card_visa\
                &automatic_payment_methods[enabled]=true";
    let intent =
        call(running, "sk_test_simulator", &[SHOP], ("POST", "payment_intents"), form).await.expect(200);
    let id = intent["id"].as_str().unwrap();
    let path = format!("stripe/payment_intents/{id}");
    let refund = running.control("POST", &format!("{path}/refund"), json!({ "amount": 5 })).await;
    let dispute = running.control("POST", &format!("{path}/dispute"), json!({})).await;
    (intent, refund, dispute)
}

#[tokio::test]
async fn what_is_made_for_a_connected_account_is_seen_only_there() {
    let running = &start().await;
    let (intent, refund, dispute) = paid_by_shop(running).await;
    let id = |object: &Value| object["id"].as_str().unwrap().to_owned();
    let form = "mode=payment&success_url=https://shop.example/&line_items[0][price_data][currency]=usd\
                &line_items[0][price_data][unit_amount]=700&line_items[0][price_data][product_data][name]=Tea\
                &line_items[0][quantity]=1";
    let session =
        call(running, "sk_test_simulator", &[SHOP], ("POST", "checkout/sessions"), form).await.expect(200);
    let events = call(running, "sk_test_simulator", &[SHOP], ("GET", "events"), "").await.expect(200);
    assert_eq!(events["data"][0]["account"], SHOP.1, "{events}");
    for (list, object) in [
        ("payment_intents", id(&intent)),
        ("charges", intent["latest_charge"].as_str().unwrap().to_owned()),
        ("refunds", id(&refund)),
        ("disputes", id(&dispute)),
        ("checkout/sessions", id(&session)),
        ("events", id(&events["data"][0])),
    ] {
        for (account, found) in [(&[SHOP][..], true), (&[KIOSK], false), (&[], false)] {
            let listed = call(running, "sk_test_simulator", account, ("GET", list), "").await.expect(200);
            let ids: Vec<_> = listed["data"].as_array().unwrap().iter().map(id).collect();
            assert_eq!(ids.contains(&object), found, "{list} {account:?}");
            let path = format!("{list}/{object}");
            let one = call(running, "sk_test_simulator", account, ("GET", &path), "").await;
            one.expect(if found { 200 } else { 404 });
        }
    }
    let form = format!("payment_intent={}&amount=1", id(&intent));
    call(running, "sk_test_simulator", &[], ("POST", "refunds"), &form).await.expect(404);
    for (account, own) in [(&[][..], "acct_1Simulator"), (&[SHOP], SHOP.1)] {
        let found = call(running, "sk_test_simulator", account, ("GET", "account"), "").await.expect(200);
        assert_eq!(found["id"], own);
    }
    let stranger = [("stripe-account", "acct_1Stranger")];
    let refused = call(running, "sk_test_simulator", &stranger, ("GET", "account"), "").await.expect(403);
    assert_eq!(refused["error"]["code"], "account_invalid");
}

#[tokio::test]
async fn a_browser_has_to_name_the_connected_account() {
    let running = &start().await;
    let form = "amount=1999&currency=usd&automatic_payment_methods[enabled]=true";
    let made =
        call(running, "sk_test_simulator", &[SHOP], ("POST", "payment_intents"), form).await.expect(200);
    let (id, secret) = (made["id"].as_str().unwrap(), made["client_secret"].as_str().unwrap());
    let query = format!("payment_intents/{id}?client_secret={secret}");
    let refused = call(running, "pk_test_simulator", &[], ("GET", &query), "").await.expect(404);
    assert_eq!(refused["error"]["code"], "resource_missing");
    let query = format!("{query}&_stripe_account={}", SHOP.1);
    call(running, "pk_test_simulator", &[], ("GET", &query), "").await.expect(200);
    let path = format!("payment_intents/{id}/confirm");
    let form = format!("client_secret={secret}&payment_method=pm_card_visa&_stripe_account={}", SHOP.1);
    let paid = call(running, "pk_test_simulator", &[], ("POST", &path), &form).await.expect(200);
    assert_eq!(paid["status"], "succeeded");
    // A server has a header for it.
    let refused = call(running, "sk_test_simulator", &[], ("GET", &query), "").await.expect(400);
    assert_eq!(refused["error"]["code"], "parameter_unknown");
}

#[tokio::test]
async fn events_of_connected_accounts_go_to_endpoints_for_them() {
    let running = &start().await;
    let (own, url) = Inbox::for_wire(running, Wire::Stripe).await;
    let (connected, other_url) = Inbox::for_wire(running, Wire::Stripe).await;
    running.control("DELETE", "webhooks", Value::Null).await;
    let mut applications = Vec::new();
    for (url, connect) in [(&url, "false"), (&other_url, "true")] {
        let form = format!("url={url}&enabled_events[]=payment_intent.succeeded&connect={connect}");
        let refused = call(running, "sk_test_simulator", &[SHOP], ("POST", "webhook_endpoints"), &form).await;
        let message = refused.expect(403)["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("Did you mean to create a Connect webhook"), "{message}");
        let made = running.stripe("POST", "webhook_endpoints", &form).await.expect(200);
        applications.push(made["application"].is_string());
    }
    assert_eq!(applications, [false, true]);
    call(running, "sk_test_simulator", &[SHOP], ("GET", "webhook_endpoints"), "").await.expect(403);
    let (intent, ..) = paid_by_shop(running).await;
    let of_platform = running
        .intent("confirm=true&payment_method=pm_card_visa&automatic_payment_methods[enabled]=true")
        .await;
    for (inbox, intent, account) in [(&connected, &intent, json!(SHOP.1)), (&own, &of_platform, Value::Null)]
    {
        let received = inbox.wait(1).await;
        assert_eq!(received[0].json["data"]["object"]["id"], intent["id"]);
        assert_eq!(received[0].json["account"], account);
        assert_eq!(received[0].json["pending_webhooks"], 1);
    }
    assert_eq!((own.received().len(), connected.received().len()), (1, 1));
}

#[tokio::test]
async fn a_restricted_key_is_told_which_permission_it_lacks() {
    let running = &start().await;
    let key = "rk_test_simulator_reader";
    let permissions = json!({ "permissions": ["rak_payment_intent_write", "rak_balance_read"] });
    running.control("POST", &format!("stripe/keys/{key}/create"), permissions).await;
    let form = "amount=1999&currency=usd&automatic_payment_methods[enabled]=true";
    let made = call(running, key, &[], ("POST", "payment_intents"), form).await.expect(200);
    let id = made["id"].as_str().unwrap();
    call(running, key, &[], ("GET", "balance"), "").await.expect(200);
    call(running, key, &[], ("GET", &format!("payment_intents/{id}")), "").await.expect(200);
    for (call_of, missing) in [
        (("GET", format!("payment_intents/{id}?expand[]=latest_charge")), "rak_charge_read"),
        (("GET", "charges?limit=1".to_owned()), "rak_charge_read"),
        (("GET", "refunds?limit=1".to_owned()), "rak_charge_read"),
        (("POST", "refunds".to_owned()), "rak_charge_write"),
        (("GET", "disputes?limit=1".to_owned()), "rak_dispute_read"),
        (("GET", "checkout/sessions?limit=1".to_owned()), "rak_checkout_session_read"),
        (("POST", "checkout/sessions".to_owned()), "rak_checkout_session_write"),
        (("GET", "webhook_endpoints".to_owned()), "rak_webhook_read"),
        (("GET", "account".to_owned()), "rak_accounts_kyc_basic_read"),
        (("GET", "accounts/acct_1SimulatedShop".to_owned()), "rak_connected_account_read"),
    ] {
        let refused = call(running, key, &[], (call_of.0, &call_of.1), "").await.expect(403);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("The provided key 'rk_test_***reader' does not have the required"),
            "{message}"
        );
        assert!(
            message.ends_with(&format!(
                "Having the '{missing}' permission would allow this request to continue."
            ))
        );
        assert!(message.contains("on account 'acct_1Simulator'"), "{message}");
    }
    // A second key of the account may do everything; one that nobody made is none.
    running.control("POST", "stripe/keys/sk_test_second/create", json!({})).await;
    call(running, "sk_test_second", &[], ("GET", "account"), "").await.expect(200);
    call(running, "sk_test_third", &[], ("GET", "account"), "").await.expect(401);
}
