//! The hosted pages, as a browser without script would use them.

use serde_json::{Value, json};
use tollgate_simulator::Wire;

use crate::support::{Inbox, Running, start};

const GOOD: &str = "number=4242+4242+4242+4242&expiry=12/34&cvc=123";
const DECLINED: &str = "number=4000000000000002&expiry=12/34&cvc=123";

async fn session(running: &Running) -> Value {
    let form = "mode=payment&success_url=https://shop.test/done?s={CHECKOUT_SESSION_ID}\
        &cancel_url=https://shop.test/back&client_reference_id=ours&metadata[a]=b\
        &payment_intent_data[metadata][c]=d&line_items[0][quantity]=2\
        &line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=1000\
        &line_items[0][price_data][product_data][name]=Tea+%3Cb%3E";
    running.stripe("POST", "checkout/sessions", form).await.expect(200)
}

#[tokio::test]
async fn a_stripe_checkout_is_declined_then_paid() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Stripe).await;
    let open = session(&running).await;
    assert_eq!((&open["amount_total"], &open["payment_intent"]), (&json!(2000), &Value::Null));
    let (id, url) = (open["id"].as_str().unwrap(), open["url"].as_str().unwrap());

    let page = running.open(url).await;
    assert_eq!(page.status.as_u16(), 200);
    for part in ["Simulator", "20.00 USD", "Tea &lt;b&gt;", "for=\"number\"", "https://shop.test/back"] {
        assert!(page.text.contains(part), "{part} is not in {}", page.text);
    }
    let declined = running.submit(url, DECLINED).await;
    assert_eq!(declined.status.as_u16(), 402);
    assert!(declined.text.contains("Your card was declined.") && declined.text.contains("<form"));
    let paid = running.submit(url, GOOD).await;
    let to = format!("https://shop.test/done?s={id}");
    assert_eq!((paid.status.as_u16(), paid.header("location")), (303, Some(to.as_str())));
    // Pressed twice, it is still paid once.
    assert_eq!(running.submit(url, GOOD).await.header("location"), Some(to.as_str()));

    let path = format!("checkout/sessions/{id}?expand[]=payment_intent");
    let done = running.stripe("GET", &path, "").await.expect(200);
    assert_eq!(
        (&done["status"], &done["payment_status"], &done["url"]),
        (&json!("complete"), &json!("paid"), &Value::Null)
    );
    assert_eq!(done["payment_intent"]["metadata"], json!({ "c": "d" }));
    assert_eq!(running.state().await["stripe"]["counts"]["charges_succeeded"], 1);
    inbox.wait(6).await;
    let expected = [
        "payment_intent.created",
        "charge.failed",
        "payment_intent.payment_failed",
        "charge.succeeded",
        "payment_intent.succeeded",
        "checkout.session.completed",
    ];
    assert_eq!(inbox.kinds(), expected);
}

#[tokio::test]
async fn a_stripe_checkout_asks_who_the_customer_is() {
    let running = start().await;
    let open = session(&running).await;
    let url = open["url"].as_str().unwrap();
    let asked = running.submit(url, "number=4000002500003155&expiry=1234&cvc=123").await;
    let there = asked.header("location").unwrap().replace("..", "/stripe");
    assert!(running.open(&there).await.text.contains("Is this you?"));
    let refused = running.submit(&there, "outcome=refuse").await;
    let back = refused.header("location").unwrap().replace("..", "/stripe");
    assert!(running.open(&back).await.text.contains("unable to authenticate"));
    running.submit(url, "number=4000002500003155&expiry=12/34&cvc=123").await;
    let paid = running.submit(&there, "outcome=approve").await;
    assert!(paid.header("location").unwrap().starts_with("https://shop.test/done"));
}

#[tokio::test]
async fn a_stripe_checkout_expires() {
    let running = start().await;
    let (inbox, _) = Inbox::for_wire(&running, Wire::Stripe).await;
    let open = session(&running).await;
    let path = format!("checkout/sessions/{}/expire", open["id"].as_str().unwrap());
    assert_eq!(running.stripe("POST", &path, "").await.expect(200)["status"], "expired");
    running.stripe("POST", &path, "").await.expect(400);
    let page = running.submit(open["url"].as_str().unwrap(), GOOD).await;
    assert_eq!(page.status.as_u16(), 410);
    inbox.wait(1).await;
    assert_eq!(inbox.kinds(), ["checkout.session.expired"]);
}

#[tokio::test]
async fn a_square_link_is_declined_then_paid() {
    let running = start().await;
    let price = json!({ "amount": 2000, "currency": "USD" });
    let body = json!({
        "idempotency_key": "link",
        "quick_pay": { "name": "Tea & cake", "price_money": price, "location_id": "LSIMULATOR001" },
        "checkout_options": { "redirect_url": "https://shop.test/done" },
        "payment_note": "ours",
    });
    let made = running.square("POST", "online-checkout/payment-links", body.clone()).await.expect(200);
    assert_eq!(running.square("POST", "online-checkout/payment-links", body).await.expect(200), made);
    let (link, order) = (&made["payment_link"], &made["related_resources"]["orders"][0]);
    assert_eq!((&link["order_id"], &order["state"]), (&order["id"], &json!("OPEN")));
    let url = link["url"].as_str().unwrap();
    assert!(running.open(url).await.text.contains("Tea &amp; cake"));
    let declined = running.submit(url, DECLINED).await;
    assert_eq!(declined.status.as_u16(), 402);
    assert!(declined.text.contains("GENERIC_DECLINE"));
    let paid = running.submit(url, GOOD).await;
    assert!(paid.header("location").unwrap().starts_with("https://shop.test/done?"));

    let path = format!("orders/{}", link["order_id"].as_str().unwrap());
    let order = running.square("GET", &path, Value::Null).await.expect(200)["order"].clone();
    // The seller completes it.
    assert_eq!((&order["state"], &order["net_amount_due_money"]["amount"]), (&json!("OPEN"), &json!(0)));
    assert_eq!(running.open(url).await.header("location"), paid.header("location"));
    let path = format!("payments/{}", order["tenders"][0]["id"].as_str().unwrap());
    let payment = running.square("GET", &path, Value::Null).await.expect(200)["payment"].clone();
    assert_eq!((&payment["order_id"], &payment["note"]), (&order["id"], &json!("ours")));
}

#[tokio::test]
async fn a_square_link_is_paid_in_parts_without_a_reference() {
    let running = start().await;
    let price = json!({ "amount": 1000, "currency": "USD" });
    let items = json!([{ "name": "Tea", "quantity": "1", "base_price_money": price }]);
    let order = json!({ "location_id": "LSIMULATOR001", "reference_id": "ours", "line_items": items });
    let links = "online-checkout/payment-links";
    let made = running.square("POST", links, json!({ "order": order })).await.expect(200);
    let pay = format!("square/payment_links/{}/pay", made["payment_link"]["id"].as_str().unwrap());
    let first = running.control("POST", &pay, json!({ "amount": 400 })).await;
    assert_eq!((&first["status"], first.get("reference_id")), (&json!("APPROVED"), None));
    let last = running.control("POST", &pay, json!({})).await;
    assert_eq!((&last["status"], &last["amount_money"]["amount"]), (&json!("COMPLETED"), &json!(600)));
    let path = format!("orders/{}", made["payment_link"]["order_id"].as_str().unwrap());
    let order = running.square("GET", &path, Value::Null).await.expect(200)["order"].clone();
    assert_eq!((&order["state"], &order["reference_id"]), (&json!("OPEN"), &json!("ours")));
    assert_eq!(order["tenders"].as_array().unwrap().len(), 2);
    for tender in order["tenders"].as_array().unwrap() {
        let path = format!("payments/{}", tender["payment_id"].as_str().unwrap());
        let payment = running.square("GET", &path, Value::Null).await.expect(200)["payment"].clone();
        assert_eq!((&payment["status"], payment.get("reference_id")), (&json!("COMPLETED"), None));
    }
    let options = json!({ "quick_pay": { "name": "Tea", "price_money": price, "location_id": "LSIMULATOR001" },
        "checkout_options": { "allow_tipping": "no" } });
    running.square("POST", links, options).await.expect(400);
    let euros = json!({ "amount": 1000, "currency": "EUR" });
    let body =
        json!({ "quick_pay": { "name": "Tea", "price_money": euros, "location_id": "LSIMULATOR001" } });
    let refused = running.square("POST", links, body).await.expect(400);
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("only process payments in USD"));
}

#[tokio::test]
async fn a_square_link_is_withdrawn() {
    let running = start().await;
    let price = json!({ "amount": 1000, "currency": "USD" });
    let items = json!([{ "name": "Tea", "quantity": "3", "base_price_money": price }]);
    let body =
        json!({ "order": { "location_id": "LSIMULATOR001", "reference_id": "r", "line_items": items } });
    let made = running.square("POST", "online-checkout/payment-links", body).await.expect(200);
    assert_eq!(made["related_resources"]["orders"][0]["total_money"]["amount"], 3000);
    let path = format!("online-checkout/payment-links/{}", made["payment_link"]["id"].as_str().unwrap());
    running.square("GET", &path, Value::Null).await.expect(200);
    let deleted = running.square("DELETE", &path, Value::Null).await.expect(200);
    assert_eq!(deleted["cancelled_order_id"], made["payment_link"]["order_id"]);
    running.square("GET", &path, Value::Null).await.expect(404);
    assert_eq!(running.open(made["payment_link"]["url"].as_str().unwrap()).await.status.as_u16(), 404);
}

#[tokio::test]
async fn the_browser_scripts_are_served() {
    let running = start().await;
    for (path, part) in [("/stripe/v3.js", "window.Stripe"), ("/square/web-payments.js", "window.Square")] {
        let reply = running.open(path).await;
        assert_eq!(reply.header("content-type"), Some("text/javascript; charset=utf-8"));
        assert!(reply.text.contains(part));
    }
}
