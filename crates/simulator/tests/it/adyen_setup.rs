//! The Management API: webhooks with their keys, origins, and what a key without a role may do.

use serde_json::{Value, json};
use tollgate_simulator::{Wire, adyen_signature};

use crate::adyen::{call, item, session};
use crate::support::{Inbox, start};

const WEBHOOKS: &str = "v3/merchants/TollgateTestECOM/webhooks";

#[tokio::test]
async fn a_webhook_is_set_up_with_a_key_that_is_shown_once() {
    let running = start().await;
    let (inbox, url) = Inbox::for_wire(&running, Wire::Adyen).await;
    running.control("DELETE", "webhooks", Value::Null).await;
    let wanted = json!({
        "type": "standard", "url": url, "active": true, "communicationFormat": "json", "username": "tollgate",
        "password": "p@ss:word", "additionalSettings": { "includeEventCodes": ["AUTHORISATION", "OFFER_CLOSED"] },
    });
    let made = call(&running, "POST", WEBHOOKS, "", wanted).await.expect(200);
    let own = format!("{WEBHOOKS}/{}", made["id"].as_str().unwrap());
    assert_eq!((&made["url"], &made["hasPassword"]), (&json!(url), &json!(true)));
    assert_eq!(made.get("hmacKeyCheckValue"), None);
    let mut current = String::new();
    for _ in 0..2 {
        let made = call(&running, "POST", &format!("{own}/generateHmac"), "", json!({})).await.expect(200);
        assert_ne!(made["hmacKey"], current);
        current = made["hmacKey"].as_str().unwrap().to_owned();
        assert_eq!(current.len(), 64);
    }
    let read = call(&running, "GET", &own, "", Value::Null).await.expect(200);
    assert!(read["hmacKeyCheckValue"].is_string() && !read.to_string().contains(&current));
    let tested =
        call(&running, "POST", &format!("{own}/test"), "", json!({ "types": ["AUTHORISATION"] })).await;
    let tested = tested.expect(200);
    let results: Vec<_> = tested["data"].as_array().unwrap().iter().map(|one| &one["responseCode"]).collect();
    assert_eq!(results, ["200"; 4]);
    let received = inbox.wait(4).await;
    let basic = data_encoding::BASE64.encode(b"tollgate:p@ss:word");
    for received in received {
        assert_eq!(received.headers["authorization"], format!("Basic {basic}"));
        let item = item(&received.json);
        assert_eq!(item["additionalData"]["hmacSignature"], adyen_signature(&current, &item));
    }
    let listed = call(&running, "GET", WEBHOOKS, "", Value::Null).await.expect(200);
    assert_eq!((&listed["itemsTotal"], &listed["data"][0]["id"]), (&json!(1), &made["id"]));
    call(&running, "PATCH", &own, "", json!({ "active": false })).await.expect(200);
    assert_eq!(call(&running, "DELETE", &own, "", Value::Null).await.status, 204);
    assert_eq!(call(&running, "GET", &own, "", Value::Null).await.expect(404)["status"], 404);
}

#[tokio::test]
async fn a_key_opens_what_its_roles_allow() {
    let running = start().await;
    let call = async |key: &str, method: &str, path: &str| {
        let body = if method == "GET" { String::new() } else { session("one", &json!({})).to_string() };
        let headers = [("x-api-key", key), ("content-type", "application/json")];
        running.try_send(method, &format!("/adyen/{path}"), &headers, body).await.unwrap().status.as_u16()
    };
    for (key, checkout, management) in
        [("adyen_simulator_key", 201, 200), ("adyen_simulator_key_checkout", 201, 403), ("wrong", 401, 401)]
    {
        assert_eq!(call(key, "POST", "v72/sessions").await, checkout, "{key}");
        assert_eq!(call(key, "GET", "v3/me").await, management, "{key}");
    }
    assert_eq!(call("adyen_simulator_key", "GET", "v3/merchants/Somebody/webhooks").await, 403);
}

#[tokio::test]
async fn a_page_uses_the_client_key_where_its_origin_is_allowed() {
    let running = start().await;
    let made = call(&running, "POST", "v72/sessions", "", session("one", &json!({}))).await.expect(201);
    let path = format!(
        "/adyen/checkoutshopper/v1/sessions/{}/setup?clientKey=test_SIMULATOR",
        made["id"].as_str().unwrap()
    );
    let setup = async |origin: &str| {
        let body = json!({ "sessionData": made["sessionData"] }).to_string();
        running.try_send("POST", &path, &[("origin", origin)], body).await.unwrap().status.as_u16()
    };
    assert_eq!(setup("http://127.0.0.1:8080").await, 200);
    assert_eq!(setup("http://127.0.0.1.example.test").await, 403);
    assert_eq!(setup("https://shop.example.test").await, 403);
    let origin = json!({ "domain": "https://shop.example.test" });
    let added = call(&running, "POST", "v3/me/allowedOrigins", "", origin).await.expect(200);
    assert_eq!(setup("https://shop.example.test").await, 200);
    let listed = call(&running, "GET", "v3/me/allowedOrigins", "", Value::Null).await.expect(200);
    assert_eq!(listed["data"], json!([added]));
    call(&running, "POST", "v3/me/allowedOrigins", "", json!({ "domain": "shop" })).await.expect(422);
}
