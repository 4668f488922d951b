//! What operators ask of payments is in the audit log: by the API, on the command line and in the console.

use serde_json::{Value, json};

use crate::{
    people::{Browser, page, user},
    support::{
        Answer, BankWorld, Client, Flow, On, Prepared, Server, Shop, StoreKind, Terminal, Wire, World,
        on_each_store,
    },
};

/// An operator with a name.
struct Ada {
    token: String,
    client: Client,
}

impl Ada {
    fn at(server: &Server) -> Self {
        let new = json!({"name": "Ada", "email": "ada@example.com", "role": "operator"});
        let token = user(&mut server.admin(), &new).2;
        Self { client: server.client(&token), token }
    }
}

/// The entries about what was asked of a payment, however they are read.
#[track_caller]
fn check_entry(server: &Server, reference: &str, action: &str, after: &Value) {
    let path = format!("/admin/v1/audit-log?subject={reference}&action={action}");
    let found = server.admin().get(&path).data(200)["items"].clone();
    let [entry] = found.as_array().unwrap().as_slice() else { panic!("{action}: {found:#}") };
    assert_eq!((&entry["actor"], &entry["actorKind"]), (&json!("Ada <ada@example.com>"), &json!("user")));
    assert_eq!(&entry["after"], after, "{entry:#}");
    let terminal = Terminal::of(server).with("COLUMNS", "80");
    let arguments = ["audit-log", "--subject", reference, "--action", action];
    assert_eq!(terminal.json(&arguments)["items"], found);
    let said = terminal.shows(&arguments);
    for word in
        [action, reference, "Ada <ada@example.com>", entry["requestId"].as_str().unwrap(), "127.0.0.1"]
    {
        assert!(said.contains(word), "{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let mut browser = Browser::sign_in(server, crate::support::ADMIN_TOKEN);
    let shown = page(&browser.get(&format!("/console/audit-log?subject={reference}&action={action}")));
    assert!(
        shown.contains(action) && shown.contains(reference) && shown.contains("ada@example.com"),
        "{shown}"
    );
    assert_eq!(server.admin().get("/admin/v1/audit").data(200)["auditLog"]["problem"], Value::Null);
}

fn kind(on: On) -> StoreKind {
    match on {
        On::Sqlite => StoreKind::Sqlite,
        On::Postgres => StoreKind::Postgres,
    }
}

fn authorized(world: &World) -> String {
    let mut order = Shop::order(Wire::Stripe);
    order["capture"] = json!("manual");
    let prepared = Prepared::of(&world.shop.client().post(Flow::Component.path(), &order));
    world.simulator.pay_intent(prepared.component());
    world.shop.wait_status(&prepared.reference, "authorized");
    prepared.reference
}

/// What is refused, and what only repeats what was recorded, has no entry.
fn refunds_captures_and_voids_have_their_entry(on: On) {
    let world = World::start_without_looks(kind(on));
    let mut ada = Ada::at(&world.server);
    let mut ask = |reference: &str, action: &str, body: &Value| -> Answer {
        let path = world.shop.path(&format!("/transactions/{reference}/{action}"));
        ada.client.post(&path, body)
    };
    let refunded = world.paid(Flow::Hosted, Wire::Stripe).reference;
    let too_much = json!({"idempotencyKey": "too-much-of-it", "amountMinor": "99999"});
    assert_eq!(ask(&refunded, "refunds", &too_much).failure(409), "refund_exceeds_remaining");
    let body = json!({"idempotencyKey": "operator-0001", "amountMinor": "500", "feeRefund": "none"});
    assert_eq!(ask(&refunded, "refunds", &body).status, 201);
    assert_eq!(ask(&refunded, "refunds", &body).status, 200, "the same again");
    let after =
        json!({"idempotencyKey": "operator-0001", "amountMinor": "500", "feeRefund": "none", "reason": null});
    check_entry(&world.server, &refunded, "payment.refund", &after);

    let (captured, voided) = (authorized(&world), authorized(&world));
    let too_much = json!({"idempotencyKey": "too-much-of-that", "amountMinor": "10001"});
    assert_eq!(ask(&captured, "capture", &too_much).failure(409), "not_capturable");
    let body = json!({"idempotencyKey": "operator-0002", "amountMinor": "4000"});
    for _ in 0..2 {
        assert_eq!(ask(&captured, "capture", &body).data(200)["transaction"]["status"], "succeeded");
    }
    check_entry(&world.server, &captured, "payment.capture", &body);
    assert_eq!(
        ask(&captured, "void", &json!({"idempotencyKey": "operator-0003"})).failure(409),
        "not_voidable"
    );
    let body = json!({"idempotencyKey": "operator-0004"});
    assert_eq!(ask(&voided, "void", &body).data(200)["transaction"]["status"], "canceled");
    let after = json!({"idempotencyKey": "operator-0004", "amountMinor": null});
    check_entry(&world.server, &voided, "payment.void", &after);
    let all = world.server.admin().get(&format!("/admin/v1/audit-log?subject={captured}")).data(200);
    let actions: Vec<_> = all["items"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions, ["payment.capture"], "what was refused has none");

    // The same by the console, which asks twice.
    let by_console = world.paid(Flow::Hosted, Wire::Stripe).reference;
    let mut browser = Browser::sign_in(&world.server, &ada.token);
    let path = format!("/console/{}/payments/{by_console}/refund", world.shop.environment);
    let form = page(&browser.get(&path));
    let field = |page: &str, name: &str| {
        let value = page.split(&format!("name=\"{name}\" value=\"")).nth(1);
        value.unwrap_or_else(|| panic!("{name}: {page}")).split('"').next().unwrap().to_owned()
    };
    let csrf = field(&form, "csrf");
    let review = page(&browser.post(&path, &csrf, "amount=5.00&feeRefund=none"));
    let key = field(&review, "key");
    let done = browser.post(&path, &csrf, &format!("amount=5.00&feeRefund=none&step=confirm&key={key}"));
    assert_eq!(done.status, 303, "{}", page(&done));
    let after = json!({"idempotencyKey": key, "amountMinor": "500", "feeRefund": "none", "reason": null});
    check_entry(&world.server, &by_console, "payment.refund", &after);
}

fn cancellations_have_their_entry(on: On) {
    let world = BankWorld::start_without_looks(on);
    let mut ada = Ada::at(&world.server);
    let desk = &world.desk;
    let (late, _) = world.taken("called off too late");
    let path = |reference: &str| desk.path(&format!("/transactions/{reference}/cancel"));
    assert_eq!(
        ada.client.post(&path("ach_00000000000000000000000000"), &json!({})).failure(404),
        "not_found"
    );
    // It was asked of the provider, which could not anymore: the entry says that it was asked.
    assert_eq!(ada.client.post(&path(&late), &json!({})).failure(409), "not_cancelable");
    check_entry(&world.server, &late, "transfer.cancel", &Value::Null);

    let (reference, id) = world.taken("called off in time");
    world.simulator.staff(&id, "require_approval");
    for _ in 0..2 {
        let canceled = ada.client.post(&path(&reference), &json!({})).data(200);
        assert_eq!(canceled["transaction"]["status"], "canceled");
    }
    check_entry(&world.server, &reference, "transfer.cancel", &Value::Null);

    let (by_console, id) = world.taken("called off in the console");
    world.simulator.staff(&id, "require_approval");
    let mut browser = Browser::sign_in(&world.server, &ada.token);
    let path = format!("/console/{}/payments/{by_console}/cancel", desk.environment);
    let form = page(&browser.get(&path));
    let csrf = form.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let asked = browser.post(&path, &csrf, "");
    assert!(asked.status == 200 && page(&asked).contains("What cannot be undone"), "{}", page(&asked));
    let done = browser.post(&path, &csrf, "step=confirm");
    assert_eq!(done.status, 303, "{}", page(&done));
    desk.wait_status(&by_console, "canceled");
    check_entry(&world.server, &by_console, "transfer.cancel", &Value::Null);
    desk.assert_books(crate::support::Desk::FUNDS);
}

on_each_store! {
    refunds_captures_and_voids_have_their_entry
    cancellations_have_their_entry
}
