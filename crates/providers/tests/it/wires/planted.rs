//! Faults that are planted in a faultless recording: each has to be found, by provider, call and field.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;

use super::recording::Recording;
use super::{increase, judge, modern_treasury, square, stripe};

/// Where a fault is planted.
#[derive(Clone, Copy)]
enum Side {
    Request,
    Answer,
}

/// A change of what was sent or answered, the field that has to be named, and a part of what has to be said of it.
type Plant = (Side, fn(&mut Value), &'static str, &'static str);

/// Changes an exchange in each of these ways; every change has to be found.
async fn find_all(adapter: Adapter, exchange: Value, call: &str, plants: &'static [Plant]) {
    let recording = Recording::default();
    for (side, plant, field, _) in plants {
        let place = side.place();
        let text = exchange[place].as_str().unwrap();
        let is_form = adapter == Adapter::Stripe && place == "body";
        let mut value = if is_form { json!(text) } else { serde_json::from_str(text).unwrap() };
        plant(&mut value);
        let planted = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_ne!(planted, text, "{field}");
        let mut exchange = exchange.clone();
        exchange[place] = json!(planted);
        recording.push(exchange);
    }
    let name = format!("planted-{}", adapter.as_str());
    let judgment = tokio::task::spawn_blocking(move || judge(adapter, &recording, &name)).await.unwrap();
    for (side, _, field, problem) in plants {
        let expected = format!("{} {call} {} {field}: ", adapter.as_str(), side.name());
        let is_found = |fault: &String| fault.starts_with(&expected) && fault.contains(problem);
        assert!(
            judgment.faults.iter().any(is_found),
            "{expected}{problem} was not found in {:#?}",
            judgment.faults
        );
    }
}

impl Side {
    fn place(self) -> &'static str {
        match self {
            Self::Request => "body",
            Self::Answer => "answer",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Answer => "answer",
        }
    }
}

/// Replaces a part of a form's text.
fn swap(form: &mut Value, from: &str, to: &str) {
    *form = json!(form.as_str().unwrap().replace(from, to));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_planted_in_stripe_are_found() {
    let exchange = stripe::record().await.first("POST", "/v1/payment_intents");
    find_all(
        Adapter::Stripe,
        exchange,
        "payment_intents.create",
        &[
            (Side::Request, |form| swap(form, "receipt_email=", "receipt_mail="), "receipt_mail", "unknown"),
            (
                Side::Request,
                |form| *form = json!(format!("{}&payment_method_types%5B%5D=card", form.as_str().unwrap())),
                "payment_method_types",
                "unknown",
            ),
            (
                Side::Request,
                |form| *form = json!(format!("{}&capture_method=later", form.as_str().unwrap())),
                "capture_method",
                "later",
            ),
            (Side::Request, |form| swap(form, "amount=", "amount=1."), "amount", "number"),
            (Side::Request, |form| swap(form, "currency=usd&", ""), "currency", "missing"),
            (Side::Answer, |intent| intent["amount"] = json!("2000"), "amount", "2000"),
            (Side::Answer, |intent| intent["paid"] = json!(true), "paid", "unknown"),
            (Side::Answer, |intent| intent["status"] = json!("done"), "status", "done"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_planted_in_square_are_found() {
    let exchange = square::record().await.first("POST", "/v2/payments");
    find_all(
        Adapter::Square,
        exchange,
        "payments.create",
        &[
            (
                Side::Request,
                |body| {
                    body["note_text"] = body["note"].take();
                },
                "note_text",
                "unknown",
            ),
            (
                Side::Request,
                |body| body["amount_money"]["amount"] = json!("2000"),
                "amount_money.amount",
                "2000",
            ),
            (
                Side::Request,
                |body| body["amount_money"]["currency"] = json!("usd"),
                "amount_money.currency",
                "usd",
            ),
            (Side::Answer, |body| body["payment"]["paid"] = json!(true), "payment.paid", "unknown"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_planted_in_modern_treasury_are_found() {
    let exchange = modern_treasury::record().await.first("POST", "/api/payment_orders");
    find_all(
        Adapter::ModernTreasury,
        exchange,
        "payment_orders.create",
        &[
            (
                Side::Request,
                |body| body["receiving_account"]["party"] = json!("x"),
                "receiving_account.party",
                "unknown",
            ),
            (Side::Request, |body| body["priority"] = json!("now"), "priority", "now"),
            (Side::Request, |body| body["amount"] = json!("2000"), "amount", "2000"),
            (
                Side::Request,
                |body| drop(body.as_object_mut().unwrap().shift_remove("type")),
                "type",
                "missing",
            ),
            (Side::Answer, |body| body["state"] = json!("sent"), "state", "unknown"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_planted_in_increase_are_found() {
    let exchange = increase::record().await.first("POST", "/ach_transfers");
    find_all(
        Adapter::Increase,
        exchange,
        "ach_transfers.create",
        &[
            (Side::Request, |body| body["individual"] = json!("Ada"), "individual", "unknown"),
            (Side::Request, |body| body["funding"] = json!("purse"), "funding", "purse"),
            (Side::Request, |body| body["amount"] = json!("2000"), "amount", "2000"),
            (
                Side::Request,
                |body| drop(body.as_object_mut().unwrap().shift_remove("account_id")),
                "account_id",
                "missing",
            ),
            (Side::Answer, |body| body["state"] = json!("sent"), "state", "unknown"),
            (Side::Answer, |body| body["status"] = json!("gone"), "status", "gone"),
        ],
    )
    .await;
}
