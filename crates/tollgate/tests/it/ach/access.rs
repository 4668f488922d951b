//! Who may ask, where a transfer would go, and what stands in its way.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::{
    BankRail, BankSimulator, BankStore, BankWorld, Client, Desk, On, PREVIEW, TOKENS, TRANSFERS, Trap,
    on_alternate_rails, on_each_store,
};

/// A change of the configuration, and what it is called.
type Change = (&'static str, fn(&mut Value));

fn bodies(desk: &Desk) -> [(&'static str, Value); 3] {
    [
        (TOKENS, Desk::customer("customer-1")),
        (PREVIEW, json!({"amountMinor": "10000", "currency": "USD"})),
        (TRANSFERS, desk.body("whoever may ask", 10_000)),
    ]
}

fn only_a_secret_key_opens_the_bank(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let mut mistyped = desk.secret.clone();
    let last = mistyped.pop().unwrap();
    mistyped.push(if last == 'a' { 'b' } else { 'a' });
    for (path, body) in bodies(desk) {
        let ask = |credential: &str| Client::new(desk.server, credential).post(path, &body);
        assert_eq!(ask("").failure(403), "secret_key_required", "{path}");
        assert_eq!(ask(&desk.publishable).failure(403), "secret_key_required", "{path}");
        assert_eq!(ask("nonsense").failure(401), "unauthenticated", "{path}");
        assert_eq!(ask(&mistyped).failure(401), "unauthenticated", "{path}");
        let headers = [("content-type", "application/json"), ("authorization", "Basic c2s6")];
        let basic = Client::new(desk.server, "").send("POST", path, &headers, body.to_string().as_bytes());
        assert_eq!(basic.failure(401), "unauthenticated", "{path}");
        // Who may not ask learns nothing of what he asked.
        let headers = [("content-type", "text/plain")];
        let other = Client::new(desk.server, "").send("POST", path, &headers, b"{");
        assert_eq!(other.failure(403), "secret_key_required", "{path}");
    }
    assert_eq!(desk.listed("transactions"), Vec::<Value>::new());
    assert_eq!(desk.wallet().available, Desk::FUNDS);
    assert_eq!(Client::new(desk.server, "").get("/client/v1/wallet").failure(401), "unauthenticated");
    let browser = Client::new(desk.server, &desk.publishable).get("/client/v1/wallet");
    assert_eq!(browser.failure(403), "secret_key_required");
}

fn a_preview_has_every_field_in_its_place(on: On) {
    let world = BankWorld::start(on);
    let mut client = world.desk.client();
    let preview = client.post(PREVIEW, &json!({"amountMinor": "10000", "currency": "usd"})).data(200);
    assert_eq!(
        preview,
        json!({
            "amountMinor": "10000",
            "currency": "USD",
            "routing": {"provider": "ach_provider_a", "channel": "standard_ach", "channelLabel": "Standard ACH",
                        "matchedRuleId": null, "matchedConditionIds": [], "fallback": true},
            "fee": {"platformFeeMinor": "25", "organizationFeeMinor": "10", "feeMinor": "35"},
            "totalDebitMinor": "10035",
        })
    );
    for (speed, channel, label, fee, total) in [
        ("same_day", "same_day_ach", "Same-day ACH", ["80", "20", "100"], "10100"),
        ("instant", "instant", "Instant", ["100", "51", "151"], "10151"),
    ] {
        let body = json!({"amountMinor": 10_000, "currency": "USD", "metadata": {"speed": speed}});
        let preview = client.post(PREVIEW, &body).data(200);
        assert_eq!(
            preview["routing"],
            json!({"provider": "ach_provider_a", "channel": channel, "channelLabel": label,
                   "matchedRuleId": format!("rule_{speed}"), "matchedConditionIds": [format!("cond_{speed}")],
                   "fallback": false})
        );
        let [platform, organization, sum] = fee;
        assert_eq!(
            preview["fee"],
            json!({"platformFeeMinor": platform, "organizationFeeMinor": organization, "feeMinor": sum})
        );
        assert_eq!(preview["totalDebitMinor"], total);
    }
    let faulty = client.post(PREVIEW, &json!({"amountMinor": "-1", "currency": "EUR", "metadata": 5}));
    let mut fields = faulty.faulty_fields();
    fields.sort();
    assert_eq!(fields, ["amountMinor", "currency", "metadata"]);
    // Nothing was recorded, reserved or asked.
    assert_eq!(world.desk.wallet().available, Desk::FUNDS);
    assert_eq!(world.desk.listed("transactions"), Vec::<Value>::new());
    assert_eq!(world.simulator.calls("ach_transfers.create"), 0);
}

/// Changes the configuration and asks for a preview and a transfer, which both have to fail in the same way.
#[track_caller]
fn refused(world: &BankWorld, what: &str, status: u16, code: &str, change: impl FnOnce(&mut Value)) {
    let desk = &world.desk;
    let mut document = desk.document(world.simulator.address());
    change(&mut document);
    desk.configure(&document);
    let preview = desk.client().post(PREVIEW, &json!({"amountMinor": "10000", "currency": "USD"}));
    assert_eq!(preview.failure(status), code, "{what}");
    let body = desk.body(&format!("refused because {what}"), 10_000);
    assert_eq!(desk.transfer(&body).failure(status), code, "{what}");
    // Nothing was recorded, so that the same key may be used once the obstacle is gone.
    assert_eq!(desk.listed("transactions").len(), 0, "{what}");
    assert_eq!(desk.wallet().available, Desk::FUNDS, "{what}");
    assert_eq!(world.simulator.calls("ach_transfers.create"), 0, "{what}");
}

fn obstacles_are_named_and_leave_the_key_free(on: On) {
    let world = BankWorld::start(on);
    let unroutable: [Change; 3] = [
        ("routing is disabled", |document| document["routing"]["ach"]["enabled"] = json!(false)),
        ("there is no default", |document| document["routing"]["ach"]["default"] = json!(null)),
        ("there is no routing", |document| document["routing"] = json!({})),
    ];
    for (what, change) in unroutable {
        refused(&world, what, 409, "routing_unavailable", change);
    }
    let unready: [Change; 4] = [
        ("there are no credentials", |document| {
            document["providers"]["ach_provider_a"]["credentials"] = json!({});
        }),
        ("the key is missing", |document| {
            document["providers"]["ach_provider_a"]["credentials"].as_object_mut().unwrap().remove("apiKey");
        }),
        ("there is no funding", |document| {
            document["providers"]["ach_provider_a"].as_object_mut().unwrap().remove("funding");
        }),
        ("the account is missing", |document| {
            document["providers"]["ach_provider_a"]["funding"].as_object_mut().unwrap().remove("accountId");
        }),
    ];
    for (what, change) in unready {
        refused(&world, what, 503, "provider_not_configured", change);
    }
    // Only instant transfers need the account's number.
    let mut document = world.desk.document(world.simulator.address());
    document["providers"]["ach_provider_a"]["funding"].as_object_mut().unwrap().remove("accountNumberId");
    world.desk.configure(&document);
    let mut instant = world.desk.body("instant, and no number", 10_000);
    instant["metadata"] = json!({"speed": "instant"});
    assert_eq!(world.desk.transfer(&instant).failure(503), "provider_not_configured");
    world.desk.made(&world.desk.body("standard, and no number", 10_000));
    world.desk.configure(&world.desk.document(world.simulator.address()));
    for (what, _) in unroutable.iter().chain(&unready) {
        world.desk.made(&world.desk.body(&format!("refused because {what}"), 10_000));
    }
    world.desk.assert_books(Desk::FUNDS);
}

fn a_wallet_that_lacks_a_cent_pays_nothing(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    desk.leave(10_034);
    let body = desk.body("a cent too little", 10_000);
    assert_eq!(desk.transfer(&body).failure(409), "insufficient_wallet_balance");
    assert_eq!(world.simulator.calls("ach_transfers.create"), 0);
    assert_eq!(desk.listed("transactions").len(), 0);
    // A preview says what it would cost, whatever the wallet holds.
    desk.client().post(PREVIEW, &json!({"amountMinor": "10000", "currency": "USD"})).data(200);
    desk.fund(1, "the missing cent");
    desk.made(&body);
    let wallet = desk.client().get("/client/v1/wallet").data(200);
    assert_eq!(
        wallet["items"],
        json!([{"currency": "USD", "availableMinor": "0", "reservedMinor": "10035", "settledOutMinor": "0",
                "platformFeesMinor": "0", "organizationFeesMinor": "0"}])
    );
    desk.assert_books(10_035);
}

/// Changes of the configuration by which the provider does not let us in.
fn wrong_configurations(desk: &Desk, provider: SocketAddr) -> Vec<(&'static str, Value)> {
    let with = |name: &str, field: &str, value: &str| {
        let mut document = desk.document(provider);
        document["providers"]["ach_provider_a"][name][field] = json!(value);
        document
    };
    vec![
        ("a wrong key", with("credentials", "apiKey", "not the key")),
        match desk.rail {
            BankRail::Increase => {
                ("another account", with("funding", "accountId", "account_of_somebody_else"))
            }
            BankRail::ModernTreasury => {
                let other = "00000000-0000-4000-8000-00000000ffff";
                ("another account", with("funding", "originatingAccountId", other))
            }
        },
    ]
}

/// The provider does not let us in: nothing is recorded, and the same request succeeds once that is corrected.
fn credentials_that_the_provider_refuses(on: On, rail: BankRail) {
    let world = BankWorld::start_as(on, rail, BankStore::serve);
    let desk = &world.desk;
    let right = desk.document(world.simulator.address());
    for (number, (what, document)) in
        wrong_configurations(desk, world.simulator.address()).into_iter().enumerate()
    {
        desk.configure(&document);
        let body = desk.body(&format!("with {what}"), 10_000);
        let wallet = desk.wallet();
        for _ in 0..3 {
            let answer = desk.transfer(&body);
            assert_eq!(answer.failure(503), "provider_not_configured", "{what}");
            assert_eq!(desk.wallet(), wallet, "{what}");
        }
        assert_eq!(desk.listed("transactions").len(), number, "{what}");
        assert!(desk.listed("transfers/waiting").is_empty(), "{what}");
        desk.configure(&right);
        let reference = desk.made(&body);
        desk.wait_status(&reference, "processing");
        world.simulator.sole(&reference);
        assert_eq!(desk.postings(&reference), ["reserve"], "{what}");
        // What was tried before stays told under the reference.
        let story = desk.story(&reference);
        let lines = story["timeline"].as_array().unwrap();
        assert_eq!(lines.iter().filter(|line| line["kind"] == "not_sent").count(), 3, "{what}");
        let events = desk.listed(&format!("events?reference={reference}"));
        let mut kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        kinds.reverse();
        assert_eq!(kinds, ["transaction.pending", "transaction.processing"], "{what}");
        desk.assert_books(Desk::FUNDS);
    }
    let codes: &[&str] = match rail {
        BankRail::Increase => {
            &["insufficient_permissions_error", "private_feature_error", "environment_mismatch_error"]
        }
        BankRail::ModernTreasury => &["expired_key", "forbidden", "invalid_ip"],
    };
    for code in codes {
        let fault = json!({
            "wire": rail.name(), "operation": rail.operation("create"), "fault": "refuse", "count": 1, "code": code,
        });
        world.simulator.control("POST", "faults", &fault);
        let body = desk.body(&format!("refused for {code}"), 10_000);
        assert_eq!(desk.transfer(&body).failure(503), "provider_not_configured", "{code}");
        let reference = desk.made(&body);
        desk.wait_status(&reference, "processing");
        world.simulator.sole(&reference);
    }
    desk.assert_books(Desk::FUNDS);
}

/// While the first call waits for the provider, the same request comes again and is shown the transfer. From then on it
/// is not taken back: it waits for better credentials.
fn a_transfer_that_was_shown_waits_for_credentials(on: On, rail: BankRail) {
    let store = BankStore::new(on);
    let simulator = BankSimulator::start_as(rail);
    let trap = Trap::before(simulator.address());
    // The call takes as long as what happens in the midst of it.
    let server = store.serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "10000").run();
    let desk = Desk::open_at(&server, &simulator, trap.address);
    let (_, wrong) = wrong_configurations(&desk, trap.address).remove(0);
    desk.configure(&wrong);
    let body = desk.body("shown while it was refused", 10_000);
    let (other, same) = (desk.clone(), body.clone());
    let (tell, told) = std::sync::mpsc::channel();
    trap.arm(rail.creation(), move || tell.send(other.transfer(&same)).unwrap());
    let first = desk.transfer(&body).data(201);
    assert_eq!((&first["transaction"]["status"], &first["replayed"]), (&json!("pending"), &json!(false)));
    let shown = told.recv().unwrap().data(200);
    assert_eq!((&shown["transaction"]["status"], &shown["replayed"]), (&json!("pending"), &json!(true)));
    let reference = first["transaction"]["serviceReference"].as_str().unwrap();
    assert_eq!(shown["transaction"]["serviceReference"], reference);
    let waiting = desk.listed("transfers/waiting");
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert!(waiting[0]["waitingFor"].as_str().unwrap().contains("credentials"), "{waiting:?}");
    // The resolver is not let in either, and decides nothing.
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(desk.status(reference), "pending");
    desk.configure(&desk.document(trap.address));
    desk.wait_status(reference, "processing");
    simulator.sole(reference);
    desk.assert_books(Desk::FUNDS);
}

fn the_providers_own_funds_are_looked_at_where_that_is_asked_for(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let balance = world.simulator.wire().get("/increase/accounts/account_simulator/balance").json();
    let held = balance["available_balance"].as_u64().unwrap();
    let mut document = desk.document(world.simulator.address());
    document["settings"] = json!({"checkProviderFunds": true});
    desk.configure(&document);
    let answer = desk.transfer(&desk.body("more than the provider holds", held + 1));
    assert_eq!(answer.failure(503), "provider_unavailable");
    assert!(answer.headers["retry-after"].parse::<u64>().unwrap() > 0);
    assert_eq!(desk.wallet().available, Desk::FUNDS);
    // Not knowing is no reason to refuse.
    world.simulator.fault("accounts.balance", "error_before", 10, 0);
    let body = desk.body("while nobody knows", 10_000);
    let reference = desk.made(&body);
    desk.wait_status(&reference, "processing");
    // A repeated request asks the provider nothing.
    let asked = world.simulator.calls("accounts.balance");
    desk.transfer(&body).data(200);
    assert_eq!(world.simulator.calls("accounts.balance"), asked);
    desk.assert_books(Desk::FUNDS);
}

on_each_store! {
    only_a_secret_key_opens_the_bank
    a_preview_has_every_field_in_its_place
    obstacles_are_named_and_leave_the_key_free
    a_wallet_that_lacks_a_cent_pays_nothing
    the_providers_own_funds_are_looked_at_where_that_is_asked_for
}

mod credentials {
    use super::{
        a_transfer_that_was_shown_waits_for_credentials, credentials_that_the_provider_refuses,
        on_alternate_rails,
    };

    on_alternate_rails! {
        credentials_that_the_provider_refuses
        a_transfer_that_was_shown_waits_for_credentials
    }
}
