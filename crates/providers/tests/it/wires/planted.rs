//! Faults that are planted in a faultless recording: each has to be found, by provider, call and field.

use serde_json::{Value, json};

use super::recording::Recording;

/// Where a fault is planted.
#[derive(Clone, Copy)]
enum Side {
    Request,
    Answer,
    Webhook,
}

/// A change of what was sent, answered or delivered, the field that has to be named, and a part of what has to be said of it.
type Plant = (Side, fn(&mut Value), &'static str, &'static str);

/// An exchange and a webhook, and the changes of them.
pub(super) struct Plants {
    method: &'static str,
    path: &'static str,
    operation: &'static str,
    has_form: bool,
    /// A part of the webhook's body, and its kind.
    webhook: (&'static str, &'static str),
    changes: &'static [Plant],
}

impl Plants {
    /// Adds a copy of the exchange with each of the changes.
    pub(super) fn plant(&self, recording: &Recording) {
        let exchange = recording.first(self.method, self.path);
        let webhook = recording.first_webhook(self.webhook.0);
        for (number, (side, plant, field, _)) in self.changes.iter().enumerate() {
            let place = side.place();
            let exchange = if matches!(side, Side::Webhook) { &webhook } else { &exchange };
            let text = exchange[place].as_str().unwrap();
            let is_form = self.has_form && place == "body";
            let mut value = if is_form { json!(text) } else { serde_json::from_str(text).unwrap() };
            plant(&mut value);
            let planted = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_ne!(planted, text, "{field}");
            let mut exchange = exchange.clone();
            exchange[place] = json!(planted);
            exchange["plant"] = json!(number);
            recording.push(exchange);
        }
    }

    /// Every change has to be among the faults that name one.
    pub(super) fn assert_found(&self, faults: &[Value]) {
        for (number, (side, _, field, problem)) in self.changes.iter().enumerate() {
            let is_found = |fault: &Value| {
                fault["plant"] == number
                    && fault["call"]
                        == if matches!(side, Side::Webhook) { self.webhook.1 } else { self.operation }
                    && fault["side"] == side.name()
                    && fault["field"] == *field
                    && fault["problem"].as_str().unwrap().contains(problem)
            };
            assert!(faults.iter().any(is_found), "{field}, {problem}: not found in {faults:#?}");
        }
    }
}

impl Side {
    fn place(self) -> &'static str {
        match self {
            Self::Request => "body",
            Self::Answer => "answer",
            Self::Webhook => "webhook",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Answer => "answer",
            Self::Webhook => "webhook",
        }
    }
}

/// Replaces a part of a form's text.
fn swap(form: &mut Value, from: &str, to: &str) {
    *form = json!(form.as_str().unwrap().replace(from, to));
}

fn add(form: &mut Value, parameter: &str) {
    *form = json!(format!("{}&{parameter}", form.as_str().unwrap()));
}

fn remove(body: &mut Value, field: &str) {
    body.as_object_mut().unwrap().shift_remove(field);
}

pub(super) const STRIPE: Plants = Plants {
    method: "POST",
    path: "/v1/payment_intents",
    operation: "payment_intents.create",
    has_form: true,
    webhook: ("\"payment_intent.succeeded\"", "payment_intent.succeeded"),
    changes: &[
        (Side::Request, |form| swap(form, "receipt_email=", "receipt_mail="), "receipt_mail", "unknown"),
        (
            Side::Request,
            |form| add(form, "payment_method_types%5B%5D=card"),
            "payment_method_types",
            "unknown",
        ),
        (Side::Request, |form| add(form, "capture_method=later"), "capture_method", "later"),
        (Side::Request, |form| swap(form, "amount=", "amount=1."), "amount", "number"),
        (Side::Request, |form| swap(form, "currency=usd&", ""), "currency", "missing"),
        (Side::Answer, |intent| intent["amount"] = json!("2000"), "amount", "2000"),
        (Side::Answer, |intent| intent["paid"] = json!(true), "paid", "unknown"),
        (Side::Answer, |intent| intent["status"] = json!("done"), "status", "done"),
        (Side::Answer, |intent| remove(intent, "livemode"), "livemode", "missing"),
        (
            Side::Webhook,
            |event| event["data"]["object"]["status"] = json!("done"),
            "data.object.status",
            "done",
        ),
        (Side::Webhook, |event| event["data"]["object"]["paid"] = json!(true), "data.object.paid", "unknown"),
        (Side::Webhook, |event| remove(event, "livemode"), "livemode", "missing"),
    ],
};

pub(super) const SQUARE: Plants = Plants {
    method: "POST",
    path: "/v2/payments",
    operation: "payments.create",
    has_form: false,
    webhook: ("\"dispute.created\"", "dispute.created"),
    changes: &[
        (Side::Request, |body| body["notes"] = body["note"].take(), "notes", "unknown"),
        (Side::Request, |body| body["amount_money"]["amount"] = json!("2000"), "amount_money.amount", "2000"),
        (
            Side::Request,
            |body| body["amount_money"]["currency"] = json!("usd"),
            "amount_money.currency",
            "usd",
        ),
        (Side::Request, |body| remove(body, "source_id"), "source_id", "missing"),
        (Side::Answer, |body| body["payment"]["paid"] = json!(true), "payment.paid", "unknown"),
        (
            Side::Webhook,
            |event| event["data"]["object"]["dispute"] = event["data"]["object"]["object"].take(),
            "data.object.dispute",
            "unknown",
        ),
    ],
};

pub(super) const ADYEN: Plants = Plants {
    method: "POST",
    path: "/v72/sessions",
    operation: "sessions.create",
    has_form: false,
    webhook: ("\"AUTHORISATION\"", "AUTHORISATION"),
    changes: &[
        (Side::Request, |body| body["capture"] = json!("later"), "capture", "unknown"),
        (Side::Request, |body| body["amount"]["value"] = json!("2000"), "amount.value", "2000"),
        (Side::Request, |body| body["channel"] = json!("Fax"), "channel", "Fax"),
        (Side::Request, |body| remove(body, "reference"), "reference", "missing"),
        (Side::Answer, |body| body["clientSecret"] = json!("x"), "clientSecret", "unknown"),
        (Side::Answer, |body| body["id"] = json!(5), "id", "5"),
        (
            Side::Webhook,
            |event| event["notificationItems"][0]["NotificationRequestItem"]["success"] = json!("perhaps"),
            "notificationItems[].NotificationRequestItem.success",
            "perhaps",
        ),
        (Side::Webhook, |event| remove(event, "live"), "live", "missing"),
    ],
};

pub(super) const INCREASE: Plants = Plants {
    method: "POST",
    path: "/ach_transfers",
    operation: "ach_transfers.create",
    has_form: false,
    webhook: ("\"ach_transfer.updated\"", "ach_transfer.updated"),
    changes: &[
        (Side::Request, |body| body["individual"] = json!("Ada"), "individual", "unknown"),
        (Side::Request, |body| body["funding"] = json!("purse"), "funding", "purse"),
        (Side::Request, |body| body["amount"] = json!("2000"), "amount", "2000"),
        (Side::Request, |body| remove(body, "account_id"), "account_id", "missing"),
        (Side::Answer, |body| body["state"] = json!("sent"), "state", "unknown"),
        (Side::Answer, |body| body["status"] = json!("gone"), "status", "gone"),
        (Side::Webhook, |event| event["status"] = json!("sent"), "status", "unknown"),
        (Side::Webhook, |event| remove(event, "created_at"), "created_at", "missing"),
    ],
};

pub(super) const MODERN_TREASURY: Plants = Plants {
    method: "POST",
    path: "/api/payment_orders",
    operation: "payment_orders.create",
    has_form: false,
    webhook: ("\"completed\"", "payment_order completed"),
    changes: &[
        (
            Side::Request,
            |body| body["receiving_account"]["party"] = json!("x"),
            "receiving_account.party",
            "unknown",
        ),
        (Side::Request, |body| body["priority"] = json!("now"), "priority", "now"),
        (Side::Request, |body| body["amount"] = json!("2000"), "amount", "2000"),
        (Side::Request, |body| remove(body, "type"), "type", "missing"),
        (Side::Answer, |body| body["state"] = json!("sent"), "state", "unknown"),
        (Side::Webhook, |event| event["data"]["status"] = json!("done"), "status", "done"),
        (Side::Webhook, |event| event["data"]["state"] = json!("done"), "state", "unknown"),
    ],
};
