//! Who may ask, where a transfer would go, and what stands in its way.

use serde_json::{Value, json};

use crate::support::{BankWorld, Client, Desk, On, PREVIEW, TOKENS, TRANSFERS, on_each_store};

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
    let unready: [Change; 5] = [
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
        ("the account's number is missing", |document| {
            document["providers"]["ach_provider_a"]["funding"]
                .as_object_mut()
                .unwrap()
                .remove("accountNumberId");
        }),
    ];
    for (what, change) in unready {
        refused(&world, what, 503, "provider_not_configured", change);
    }
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

/// The provider does not let us in: that is a refusal like any other, and the funds are there again.
fn credentials_that_the_provider_refuses(on: On) {
    let world = BankWorld::start(on);
    let desk = &world.desk;
    let mut document = desk.document(world.simulator.address());
    document["providers"]["ach_provider_a"]["credentials"]["apiKey"] = json!("not the key");
    desk.configure(&document);
    let body = desk.body("with a wrong key", 10_000);
    let first = desk.transfer(&body);
    assert_eq!(first.failure(422), "provider_rejected");
    assert!(!first.headers.contains_key("idempotent-replayed"));
    let again = desk.transfer(&body);
    assert_eq!(again.failure(422), "provider_rejected");
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(desk.wallet().available, Desk::FUNDS);
    assert!(world.simulator.accepted(10).is_empty());
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
    let body = desk.body("more than the provider holds", (held + 1).min(9_999_999_999));
    if held < 9_999_999_999 {
        let answer = desk.transfer(&body);
        assert_eq!(answer.failure(503), "provider_unavailable");
        assert!(answer.headers["retry-after"].parse::<u64>().unwrap() > 0);
        assert_eq!(desk.wallet().available, Desk::FUNDS);
    }
    // Not knowing is no reason to refuse.
    world.simulator.fault("accounts.balance", "error_before", 10, 0);
    desk.made(&desk.body("while nobody knows", 10_000));
    desk.assert_books(Desk::FUNDS);
}

on_each_store! {
    only_a_secret_key_opens_the_bank
    a_preview_has_every_field_in_its_place
    obstacles_are_named_and_leave_the_key_free
    a_wallet_that_lacks_a_cent_pays_nothing
    credentials_that_the_provider_refuses
    the_providers_own_funds_are_looked_at_where_that_is_asked_for
}
