//! What a customer does: a Drop-in's calls, a link's page, the issuer's question.

use serde_json::{Value, json};
use tollgate_simulator::Wire;

use crate::adyen::{call, item, session};
use crate::support::{Inbox, Reply, Running, start};

/// A session as a Drop-in has it.
struct Page<'a> {
    running: &'a Running,
    session: Value,
}

impl<'a> Page<'a> {
    async fn open(running: &'a Running, more: &Value) -> Self {
        let session = call(running, "POST", "v72/sessions", "", session("order", more)).await.expect(201);
        Self { running, session }
    }

    async fn call(&self, action: &str, more: Value) -> Reply {
        let id = self.session["id"].as_str().unwrap();
        let path = format!("/adyen/checkoutshopper/v1/sessions/{id}/{action}?clientKey=test_SIMULATOR");
        let mut body = json!({ "sessionData": self.session["sessionData"] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.running.try_send("POST", &path, &[], body.to_string()).await.unwrap()
    }

    async fn pay(&self, number: &str, holder: &str) -> Value {
        let card = json!({ "type": "scheme", "number": number, "expiryMonth": "03", "expiryYear": "30", "cvc": "737",
            "holderName": holder });
        self.call("payments", json!({ "paymentMethod": card })).await.expect(200)
    }

    /// What the session's result says with what the browser received.
    async fn result(&self, answer: &Value) -> Value {
        let id = self.session["id"].as_str().unwrap();
        let path = format!("v72/sessions/{id}?sessionResult={}", answer["sessionResult"].as_str().unwrap());
        call(self.running, "GET", &path, "", Value::Null).await.expect(200)
    }
}

#[tokio::test]
async fn a_session_takes_several_attempts_and_its_results_are_never_brought_up_to_date() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let page = Page::open(&running, &json!({})).await;
    page.call("setup", json!({})).await.expect(200);
    let mut results = Vec::new();
    for (number, holder, code) in [
        ("4000000000000002", "", "Refused"),
        ("4111111111111111", "NOT_ENOUGH_BALANCE", "Refused"),
        ("4111111111111111", "SHOPPER_CANCELLED", "Cancelled"),
        ("4111111111111111", "ERROR", "Error"),
        ("4111111111111111", "", "Authorised"),
    ] {
        let answer = page.pay(number, holder).await;
        assert_eq!(answer["resultCode"], code, "{number} {holder}");
        results.push(answer);
    }
    let statuses = [page.result(&results[0]).await, page.result(&results[4]).await];
    assert_eq!((&statuses[0]["status"], &statuses[1]["status"]), (&json!("refused"), &json!("completed")));
    let received = inbox.wait(5).await;
    let items: Vec<_> = received.iter().map(|received| item(&received.json)).collect();
    assert_eq!(items[1]["reason"], "Not enough balance");
    assert_eq!(statuses[1]["payments"][0]["pspReference"], items[4]["pspReference"]);
    let id = page.session["id"].as_str().unwrap();
    call(&running, "GET", &format!("v72/sessions/{id}"), "", Value::Null).await.expect(422);
    // Paid is paid.
    let card = json!({ "paymentMethod": { "number": "4111111111111111", "expiryMonth": "03", "expiryYear": "30",
        "cvc": "737" } });
    page.call("payments", card).await.expect(422);
    let of: Vec<_> = items.iter().map(|item| &item["additionalData"]["checkoutSessionId"]).collect();
    assert_eq!(of, [&page.session["id"]; 5]);
}

#[tokio::test]
async fn the_issuers_question_is_answered_by_the_one_password() {
    for (password, code) in [("password", "Authorised"), ("wrong", "Refused")] {
        let running = start().await;
        let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
        let page = Page::open(&running, &json!({})).await;
        let answer = page.pay("5454545454545454", "").await;
        assert_eq!(answer["resultCode"], "ChallengeShopper");
        let action = &answer["action"];
        let path = format!("/adyen/checkoutshopper/challenge/{}", action["token"].as_str().unwrap());
        running
            .try_send("POST", &path, &[], json!({ "password": password }).to_string())
            .await
            .unwrap()
            .expect(200);
        // What the browser claims counts for nothing.
        let details = json!({ "paymentData": action["paymentData"], "details": { "threeDSResult": "Y" } });
        assert_eq!(page.call("paymentDetails", details).await.expect(200)["resultCode"], code);
        let received = inbox.wait(1).await;
        assert_eq!(item(&received[0].json)["success"], (code == "Authorised").to_string());
    }
}

#[tokio::test]
async fn a_link_is_paid_on_its_page_and_leads_on() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Adyen).await;
    let wanted = json!({
        "merchantAccount": "TollgateTestECOM", "amount": { "value": 1_999, "currency": "USD" },
        "reference": "order", "description": "Two <b>tickets</b>", "reusable": false, "captureDelayHours": 0,
        "returnUrl": "https://shop.example.test/done?a=1&b=2",
    });
    let link = call(&running, "POST", "v72/paymentLinks", "", wanted).await.expect(201);
    let url = link["url"].as_str().unwrap().to_owned();
    let shown = running.open(&url).await;
    assert!(shown.text.contains("19.99 USD") && shown.text.contains("&lt;b&gt;"), "{}", shown.text);
    let form = |number: &str| format!("number={number}&expiry=03/30&cvc=737");
    let declined = running.submit(&url, &form("4000000000000002")).await;
    assert_eq!(declined.status, 402);
    let asked = running.submit(&url, &form("4917610000000000")).await;
    let to = asked.header("location").unwrap().trim_start_matches("..").to_owned();
    let to = format!("{}/adyen{to}", running.origin);
    assert!(running.open(&to).await.text.contains("Is this you?"));
    let thanks = running.submit(&to, "password=password").await;
    assert!(thanks.text.contains("Thank you"), "{}", thanks.text);
    assert!(thanks.text.contains(r#"href="https://shop.example.test/done?a=1&amp;b=2""#), "{}", thanks.text);
    let own = format!("v72/paymentLinks/{}", link["id"].as_str().unwrap());
    assert_eq!(call(&running, "GET", &own, "", Value::Null).await.expect(200)["status"], "completed");
    call(&running, "PATCH", &own, "", json!({ "status": "expired" })).await.expect(422);
    let received = inbox.wait(2).await;
    let successes: Vec<_> = received.iter().map(|received| item(&received.json)["success"].clone()).collect();
    assert_eq!(successes, ["false", "true"]);
}

#[tokio::test]
async fn the_page_script_and_its_style_are_served_for_any_version() {
    let running = start().await;
    for (file, kind, has) in
        [("adyen.js", "text/javascript", "AdyenWeb"), ("adyen.css", "text/css", "dropin")]
    {
        let served = running.open(&format!("/adyen/checkoutshopper/sdk/6.40.0/{file}")).await;
        assert!(
            served.header("content-type").unwrap().starts_with(kind) && served.text.contains(has),
            "{file}"
        );
        assert_eq!(served.header("access-control-allow-origin"), Some("*"));
    }
}
