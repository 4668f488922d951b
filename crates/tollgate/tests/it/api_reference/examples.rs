//! The document's examples: calls of a sandbox, recorded in a file that the document is made with.

use std::{env, fs, time::Duration};

use serde_json::{Map, Value, json};

use super::{
    SCRIPTS, matrix,
    normalize::Normalizer,
    python::{programs, run},
    scene::Scene,
};
use crate::support::{Answer, Client, GOOD_CARD, wait_until};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/src/reference/examples.json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const UPDATE: &str = "TOLLGATE_UPDATE_DOCS";

/// Operators' calls that have nothing to work on in this sandbox.
const NOT_RECORDED: [&str; 10] = [
    "account_token_issue",
    "account_token_revoke",
    "approval_approve",
    "approval_deny",
    "approval_read",
    "audit_log_accept",
    "corrected_account_reveal",
    "exception_resolve",
    "provider_event_retry",
    "rekey",
];

/// One call.
#[derive(Default)]
struct Call<'a> {
    reference: &'a str,
    query: Value,
    idempotency_key: Option<&'a str>,
    /// What is different from the document's own example.
    changes: Value,
}

struct Recorder {
    scene: Scene,
    operations: Map<String, Value>,
    failures: Map<String, Value>,
}

#[test]
fn the_documents_examples_are_answers_of_a_sandbox() {
    let mut recorder = Recorder::start();
    let paid = card_payments(&mut recorder);
    captures(&mut recorder);
    bank_transfers(&mut recorder);
    recorder.record(
        "transaction_list",
        &Call { query: json!({"status": "succeeded", "limit": 2}), ..Call::default() },
    );
    recorder.record("client_wallet", &Call::default());
    credentials(&mut recorder);
    switched(&mut recorder);
    operators(&mut recorder, paid);
    let mut unready = Recorder::start();
    card_fees(&mut unready);
    configurations(&mut unready);
    recorder.failures.extend(unready.failures);
    recorder.operations.extend(unready.operations);
    let address = recorder.scene.server.address().to_string();
    let made = Normalizer::new(&address).whole(in_order(recorder));
    if env::var_os(UPDATE).is_some() {
        fs::write(FILE, format!("{made:#}\n")).unwrap();
        return;
    }
    let kept: Value = serde_json::from_slice(&fs::read(FILE).unwrap()).unwrap();
    let mut differences = Vec::new();
    compare("", &kept, &made, &mut differences);
    assert!(
        differences.is_empty(),
        "the sandbox answers otherwise than crates/server/src/reference/examples.json says; run this test with {UPDATE}=1, \
         then update the document:\n{}",
        differences.join("\n")
    );
}

/// A hosted checkout that is paid and partly refunded, and a component. The reference of the first.
fn card_payments(recorder: &mut Recorder) -> String {
    recorder.record("fee_quote", &Call::default());
    recorder.fail(
        "invalid_body",
        "fee_quote",
        &Call { changes: json!({"amountMinor": "19.99", "currency": "US"}), ..Call::default() },
    );
    let order = |changes: Value| Call { idempotency_key: Some("order-1001"), changes, ..Call::default() };
    let prepared = recorder.record("payment_prepare", &order(json!({})));
    recorder.record("payment_prepare", &order(json!({})));
    recorder.fail("idempotency_conflict", "payment_prepare", &order(json!({"amountMinor": "2999"})));
    let reference = &text(&prepared, "serviceReference");
    let of_payment = || Call { reference, ..Call::default() };
    recorder.fail("not_paid_yet", "transaction_read", &of_payment());
    recorder.fail("payment_not_confirmable", "component_confirm", &of_payment());
    let url = text(&prepared, "checkoutUrl");
    let page = format!("/{}", url.splitn(4, '/').nth(3).unwrap());
    let answer = recorder.scene.server.client("").send("POST", &page, &[FORM], GOOD_CARD.as_bytes());
    assert_eq!(answer.status, 303, "{}", String::from_utf8_lossy(&answer.body));
    wait_until("the payment has succeeded", Duration::from_secs(120), || {
        let answer = recorder.send("transaction_read", &of_payment());
        answer.status == 200 && answer.data(200)["status"] == "succeeded"
    });
    recorder.record("transaction_read", &of_payment());
    recorder.record("payment_read", &of_payment());
    recorder.fail("not_capturable", "payment_capture", &of_payment());
    recorder.fail("not_voidable", "payment_void", &of_payment());
    recorder.fail("not_cancelable", "transfer_cancel", &of_payment());
    recorder.fail("not_switchable", "component_switch", &of_payment());
    recorder.fail(
        "not_found",
        "transaction_read",
        &Call { reference: "pay_00000000000000000000000000", ..Call::default() },
    );

    let refund = recorder.record("refund_create", &of_payment());
    recorder.record("refund_create", &of_payment());
    let too_much = json!({"idempotencyKey": "refund-2026-1003", "amountMinor": "5000"});
    recorder.fail("refund_exceeds_remaining", "refund_create", &Call { changes: too_much, ..of_payment() });
    recorder.record("refund_list", &of_payment());
    let refund = text(&refund["refund"], "refundReference");
    recorder.record("refund_read", &Call { reference: &refund, ..Call::default() });

    let order = || Call { idempotency_key: Some("order-1002"), ..Call::default() };
    let component = recorder.record("component_prepare", &order());
    recorder.record("component_prepare", &order());
    let intent = recorder.pay(&component["component"], "pm_card_visa");
    let changes = json!({"paymentIntentId": intent});
    let confirmation = Call { reference: &text(&component, "serviceReference"), changes, ..Call::default() };
    recorder.record("component_confirm", &confirmation);
    reference.clone()
}

/// Payments that are authorized, then captured or voided, by callers and by operators.
fn captures(recorder: &mut Recorder) {
    for operation in ["payment_capture", "payment_void", "admin_payment_capture", "admin_payment_void"] {
        let prepared = recorder
            .send("component_prepare", &Call { changes: json!({"capture": "manual"}), ..Call::default() })
            .data(201);
        let intent = recorder.pay(&prepared["component"], "pm_card_visa");
        let reference = &text(&prepared, "serviceReference");
        let changes = json!({"paymentIntentId": intent});
        recorder.send("component_confirm", &Call { reference, changes, ..Call::default() }).data(200);
        recorder.record(operation, &Call { reference, ..Call::default() });
    }
}

fn bank_transfers(recorder: &mut Recorder) {
    let customer = || Call { idempotency_key: Some("customer-1001"), ..Call::default() };
    let token = recorder.record("customer_token_issue", &customer());
    recorder.record("customer_token_issue", &customer());
    recorder.record("transfer_preview", &Call::default());
    let token = &text(&token, "customerToken");
    let transfer = |mut changes: Value| {
        changes["customerToken"] = json!(token);
        Call { changes, ..Call::default() }
    };
    let made = recorder.record("transfer_make", &transfer(json!({})));
    recorder.record("transfer_make", &transfer(json!({})));
    let reference = &text(&made["transaction"], "serviceReference");
    recorder.fail("not_refundable", "refund_create", &Call { reference, ..Call::default() });
    let too_much = json!({"idempotencyKey": "payout-2026-1002", "amountMinor": "500000000"});
    recorder.fail("insufficient_wallet_balance", "transfer_make", &transfer(too_much));
    // This provider can cancel until it hands the transfer to the bank.
    for operation in ["transfer_cancel", "admin_transfer_cancel"] {
        let other = json!({"idempotencyKey": format!("for {operation}"), "metadata": {"bank": "b"}});
        let other = recorder.send("transfer_make", &transfer(other)).data(201);
        let reference = &text(&other["transaction"], "serviceReference");
        recorder.record(operation, &Call { reference, ..Call::default() });
    }
}

/// What the wrong key is told.
fn credentials(recorder: &mut Recorder) {
    let server = &recorder.scene.server;
    let quote = |client: &mut Client, headers: &[(&str, &str)], body: &[u8]| {
        client.send("POST", "/client/v1/fees/quote", headers, body)
    };
    let json = ("content-type", "application/json");
    let secret = || server.sandbox_client("secretKey");
    let limited = json!({"kind": "secret", "allowedEndpoints": ["GET /client/v1/wallet"]});
    let limited = server.sandbox_client("adminToken").post(&server.sandbox_path("/keys"), &limited).data(201);
    let viewer = json!({"name": "Grace Hopper", "email": "grace@example.com", "role": "viewer"});
    let mut admin = server.sandbox_client("adminToken");
    let viewer = text(&admin.post("/admin/v1/users", &viewer).data(201), "id");
    let viewer =
        admin.post(&format!("/admin/v1/users/{viewer}/tokens"), &json!({"name": "laptop"})).data(201);
    let answers = [
        quote(&mut server.client("sk_test_unknown"), &[json], b"{}"),
        quote(&mut server.sandbox_client("publishableKey"), &[json], b"{}"),
        quote(&mut server.client(&text(&limited, "key")), &[json], b"{}"),
        quote(&mut secret(), &[json, ("origin", "https://shop.example")], b"{}"),
        quote(&mut secret(), &[("content-type", "text/plain")], b"{}"),
        quote(&mut secret(), &[json], " ".repeat(70_000).as_bytes()),
        secret().delete("/client/v1/wallet"),
        server.client(&text(&viewer, "token")).get("/admin/v1/users"),
    ];
    let codes = [
        "unauthenticated",
        "secret_key_required",
        "key_not_allowed",
        "origin_not_allowed",
        "unsupported_media_type",
        "body_too_large",
        "method_not_allowed",
        "forbidden",
    ];
    for (code, answer) in codes.into_iter().zip(answers) {
        recorder.put_failure(code, &answer);
    }
}

/// A declined component, on a route that has another provider.
fn switched(recorder: &mut Recorder) {
    let server = &recorder.scene.server;
    let (mut admin, path) = (server.sandbox_client("adminToken"), server.sandbox_path("/config"));
    let mut document = admin.get(&path).data(200);
    document["routing"]["web_card"]["default"]["fallbacks"] =
        json!([{"provider": "card_provider_b", "channel": "web_card"}]);
    admin.put(&path, &document).data(200);
    let prepared = recorder.send("component_prepare", &Call::default()).data(201);
    let reference = &text(&prepared, "serviceReference");
    let intent = recorder.pay(&prepared["component"], "pm_card_chargeDeclined");
    let changes = json!({"paymentIntentId": intent});
    let declined =
        recorder.send("component_confirm", &Call { reference, changes, ..Call::default() }).data(200);
    assert_eq!(declined["transaction"]["status"], "failed", "{declined:#}");
    recorder.record("component_switch", &Call { reference, ..Call::default() });
    recorder.record("component_switch", &Call { reference, ..Call::default() });
}

/// A fee that is decided for the payer's card. The configuration is not put back.
fn card_fees(recorder: &mut Recorder) {
    let server = &recorder.scene.server;
    let (mut admin, path) = (server.sandbox_client("adminToken"), server.sandbox_path("/config"));
    let mut document = admin.get(&path).data(200);
    for fee in
        document["fees"].as_array_mut().unwrap().iter_mut().filter(|fee| fee["paymentMethod"] == "web_card")
    {
        fee["platform"]["feeKind"] = json!("surcharge");
        fee["organization"]["feeKind"] = json!("surcharge");
    }
    let cost = json!({"percentBps": 290, "fixedMinor": "30"});
    document["settings"]["feeProgram"] = json!({
        "merchant": {"country": "US", "state": "GA", "mcc": "5999"}, "acceptedBrands": ["visa", "mastercard"],
        "cost": {"card_provider_a": cost}, "noticeGivenOn": "2026-06-01", "entryNoticeAttested": true,
    });
    admin.put(&path, &document).data(200);
    let payer = json!({"payer": {"country": "US", "state": "GA"}});
    let prepared = recorder.send("component_prepare", &Call { changes: payer, ..Call::default() }).data(201);
    let reference = &text(&prepared, "serviceReference");
    let mut browser = recorder.scene.server.client(&text(&prepared["component"], "publishableKey"));
    let made = browser.send(
        "POST",
        "/simulator/stripe/v1/confirmation_tokens",
        &[FORM],
        b"payment_method=pm_card_visa",
    );
    let token = made.json()["id"].clone();
    let changes = json!({ "confirmationToken": token });
    recorder.record("component_card", &Call { reference, changes, ..Call::default() });
    let changes = json!({"confirmationToken": token, "acceptedTotalDebitMinor": prepared["totalDebitMinor"]});
    recorder.fail("fee_changed", "component_confirm", &Call { reference, changes, ..Call::default() });
}

/// What callers are told of an environment that is not set up for them, or whose provider does not do its part.
fn configurations(recorder: &mut Recorder) {
    let server = &recorder.scene.server;
    let (mut admin, path) = (server.sandbox_client("adminToken"), server.sandbox_path("/config"));
    let working = admin.get(&path).data(200);
    let too_little = json!({"amountMinor": "1"});
    recorder.fail("provider_rejected", "payment_prepare", &Call { changes: too_little, ..Call::default() });
    let provider = "/providers/card_provider_a";
    let elsewhere = json!({"adapter": "stripe", "baseUrl": "http://127.0.0.1:9", "credentials": {
        "secretKey": "sk_test_nobody", "publishableKey": "pk_test_nobody", "webhookSecret": "whsec_nobody"}});
    let mut stranger = elsewhere.clone();
    stranger["baseUrl"] = working.pointer(provider).unwrap()["baseUrl"].clone();
    let limit = json!([{"id": "large_orders", "paymentMethod": "web_card", "per": "environment", "windowSeconds": 3600,
                        "maxAmountMinor": "1000", "action": "refuse"}]);
    for (code, place, value) in [
        ("routing_unavailable", "/routing/web_card/enabled", json!(false)),
        ("limit_exceeded", "/limits", limit),
        ("provider_unavailable", provider, elsewhere),
        ("provider_not_configured", provider, stranger),
    ] {
        let mut document = working.clone();
        *document.pointer_mut(place).unwrap() = value;
        admin.put(&path, &document).data(200);
        recorder.fail(code, "payment_prepare", &Call::default());
    }
}

/// Every operation of the admin API that the scene has something for, about this payment.
fn operators(recorder: &mut Recorder, paid: String) {
    let mut admin = recorder.scene.server.sandbox_client("adminToken");
    let events =
        admin.get(&recorder.scene.server.sandbox_path(&format!("/events?reference={paid}"))).data(200);
    recorder.scene.events = vec![text(&events["items"][0], "id")];
    recorder.scene.payments[0] = paid;
    let mut requests = matrix::requests(&recorder.scene);
    requests.sort_by_key(|request| (request.method == "DELETE", request.method == "PUT"));
    let mut left = Vec::new();
    for request in requests.iter().filter(|request| request.path.starts_with("/admin/")) {
        if recorder.operations.contains_key(&request.name) {
            continue;
        }
        let answer = request.send(&mut admin);
        let is_json = answer.headers.get("content-type").is_some_and(|it| it == "application/json");
        if !is_json {
            continue;
        }
        if answer.status >= 300 {
            left.push(request.name.clone());
            let code = answer.failure(answer.status);
            if !recorder.failures.contains_key(&code) {
                recorder.put_failure(&code, &answer);
            }
            continue;
        }
        let mut body = answer.json();
        shorten(&mut body["data"]);
        let mut example = json!({"path": request.path, "responses": {answer.status.to_string(): body}});
        if !request.body.is_null() {
            example["body"] = request.body.clone();
        }
        recorder.operations.insert(request.name.clone(), example);
    }
    left.sort();
    assert_eq!(left, NOT_RECORDED, "these operations got no answer to show");
}

/// Two items of a list show what there is to see.
fn shorten(data: &mut Value) {
    if let Some(items) = data.get_mut("items").and_then(Value::as_array_mut) {
        items.truncate(2);
    }
}

impl Recorder {
    fn start() -> Self {
        Self { scene: Scene::start(), operations: Map::new(), failures: Map::new() }
    }

    fn send(&self, name: &str, call: &Call<'_>) -> Answer {
        let (method, path, _) = self.request(name, call);
        let body = self.body(name, call);
        let mut headers = Vec::new();
        if !body.is_null() {
            headers.push(("content-type", "application/json"));
        }
        headers.extend(call.idempotency_key.map(|key| ("idempotency-key", key)));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let credential = if path.starts_with("/admin/") { "adminToken" } else { "secretKey" };
        self.scene.server.sandbox_client(credential).send(&method, &path, &headers, body.as_bytes())
    }

    /// The method, the path with its query, and the path alone.
    fn request(&self, name: &str, call: &Call<'_>) -> (String, String, String) {
        let (template, method, _) = self.operation(name);
        let path = template
            .replace("{environment}", &self.scene.environment)
            .replace("{reference}", call.reference)
            .replace("{refund}", call.reference);
        let fields = call.query.as_object().into_iter().flatten();
        let fields: Vec<_> =
            fields.map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"'))).collect();
        let with_query =
            if fields.is_empty() { path.clone() } else { format!("{path}?{}", fields.join("&")) };
        (method.to_ascii_uppercase(), with_query, path)
    }

    /// The document's own example, changed.
    fn body(&self, name: &str, call: &Call<'_>) -> Value {
        let (_, _, operation) = self.operation(name);
        let mut body = operation["requestBody"]["content"]["application/json"]["example"].clone();
        for (field, value) in call.changes.as_object().into_iter().flatten() {
            body[field] = value.clone();
        }
        body
    }

    fn operation(&self, name: &str) -> (&str, &str, &Value) {
        let paths = self.scene.document["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(path, methods)| {
            methods
                .as_object()
                .unwrap()
                .iter()
                .map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
        });
        operations.into_iter().find(|(_, _, operation)| operation["operationId"] == name).unwrap()
    }

    /// Makes a call that succeeds and keeps it with its answer. The data of the answer.
    #[track_caller]
    fn record(&mut self, name: &str, call: &Call<'_>) -> Value {
        let answer = self.send(name, call);
        let data = answer.data(answer.status);
        let (_, _, path) = self.request(name, call);
        let mut example = json!({"path": path});
        if call.query.is_object() {
            example["query"] = call.query.clone();
        }
        if let Some(key) = call.idempotency_key {
            example["idempotencyKey"] = json!(key);
        }
        let body = self.body(name, call);
        if !body.is_null() {
            example["body"] = body;
        }
        let example = self.operations.entry(name).or_insert(example);
        example["responses"][answer.status.to_string()] = answer.json();
        data
    }

    /// Makes a call that fails with this code and keeps its answer.
    #[track_caller]
    fn fail(&mut self, code: &str, name: &str, call: &Call<'_>) {
        let answer = self.send(name, call);
        self.put_failure(code, &answer);
    }

    #[track_caller]
    fn put_failure(&mut self, code: &str, answer: &Answer) {
        assert_eq!(answer.failure(answer.status), code);
        self.failures.insert(code.to_owned(), answer.json());
    }

    /// Pays in the browser's place, by one of the simulated provider's test cards. The provider's ID of the payment.
    fn pay(&self, component: &Value, card: &str) -> String {
        let intent = text(component, "paymentIntentId");
        let path = format!("/simulator/stripe/v1/payment_intents/{intent}/confirm");
        let form = format!("client_secret={}&payment_method={card}", text(component, "clientSecret"));
        let mut browser = self.scene.server.client(&text(component, "publishableKey"));
        let status = browser.send("POST", &path, &[FORM], form.as_bytes()).status;
        assert!([200, 402].contains(&status), "{status}");
        intent
    }
}

/// The calls in the order of the document, all of the client API's among them, with every success it promises.
fn in_order(recorder: Recorder) -> Value {
    let Recorder { scene, mut operations, failures } = recorder;
    let mut ordered = Map::new();
    for (path, methods) in scene.document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap();
            let example = operations.remove(name);
            if path.starts_with("/client/") {
                let example = example.as_ref().unwrap_or_else(|| panic!("{name} has no example"));
                let statuses = operation["responses"].as_object().unwrap().keys();
                for status in statuses.filter(|status| status.starts_with('2')) {
                    assert!(example["responses"][status].is_object(), "{name} has no example of a {status}");
                }
            }
            ordered.extend(example.map(|example| (name.to_owned(), example)));
        }
    }
    assert!(operations.is_empty(), "{operations:?}");
    json!({"operations": ordered, "failures": failures})
}

/// Where two values have other fields or types. What is null in one may be anything in the other, and of lists the first
/// items count.
fn compare(place: &str, kept: &Value, made: &Value, differences: &mut Vec<String>) {
    match (kept, made) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(kept), Value::Object(made)) => {
            let names =
                |map: &Map<String, Value>| map.keys().cloned().collect::<std::collections::BTreeSet<_>>();
            for name in names(kept).symmetric_difference(&names(made)) {
                let side = if kept.contains_key(name) { "is gone" } else { "is new" };
                differences.push(format!("{place}/{name} {side}"));
            }
            for (name, kept) in kept {
                if let Some(made) = made.get(name) {
                    compare(&format!("{place}/{name}"), kept, made, differences);
                }
            }
        }
        (Value::Array(kept), Value::Array(made)) => {
            if let (Some(kept), Some(made)) = (kept.first(), made.first()) {
                compare(&format!("{place}/0"), kept, made, differences);
            }
        }
        _ if std::mem::discriminant(kept) == std::mem::discriminant(made) => {}
        _ => differences.push(format!("{place} was {kept} and is {made}")),
    }
}

#[test]
fn the_documents_examples_keep_to_its_schemas() {
    let python = programs("examples-requirements.txt").join("python");
    let output = run(std::process::Command::new(python).arg(format!("{SCRIPTS}/examples.py")));
    println!("{}", String::from_utf8_lossy(&output.stdout));
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}")).to_owned()
}
