//! The operator's API: organizations, applications, environments, wallets.

use serde_json::{Value, json};

use crate::support::{Client, Start};

fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

fn create_environment(admin: &mut Client, name: &str) -> String {
    let organization = admin.post("/admin/v1/organizations", &json!({"name": "Acme"})).data(201);
    let path = format!("/admin/v1/organizations/{}/applications", id(&organization));
    let application = admin.post(&path, &json!({"name": "Shop"})).data(201);
    let path = format!("/admin/v1/applications/{}/environments", id(&application));
    id(&admin.post(&path, &json!({"name": name})).data(201))
}

#[test]
fn a_tenant_is_made_from_nothing_to_its_first_quote() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let environment = create_environment(&mut admin, "live");
    let key = admin
        .post(&format!("/admin/v1/environments/{environment}/keys"), &json!({"kind": "secret"}))
        .data(201);
    let mut client = server.client(key["key"].as_str().unwrap());
    assert!(client.credential.starts_with("sk_live_"));
    let quote = json!({"amountMinor": "1000", "currency": "EUR"});
    assert_eq!(client.post("/client/v1/fees/quote", &quote).failure(409), "routing_unavailable");
    let config = json!({
        "providers": {"cards": {"adapter": "stripe"}},
        "routing": {"web_card": {"default": {"provider": "cards", "channel": "web_card"}}}
    });
    admin.put(&format!("/admin/v1/environments/{environment}/config"), &config).data(200);
    let data = client.post("/client/v1/fees/quote", &quote).data(200);
    assert_eq!((&data["feeMinor"], &data["totalDebitMinor"]), (&json!("0"), &json!("1000")));
    assert_eq!(data["breakdown"]["layers"][0]["enabled"], json!(false));
}

#[test]
fn lists_come_in_slices_and_names_are_checked() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let organizations: Vec<_> = (0..5)
        .map(|number| {
            id(&admin.post("/admin/v1/organizations", &json!({"name": format!("Org {number} ü")})).data(201))
        })
        .collect();
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let data = admin.get(&format!("/admin/v1/organizations?limit=2{cursor}")).data(200);
        seen.extend(data["items"].as_array().unwrap().iter().map(id));
        match data["nextCursor"].as_str() {
            Some(next) => cursor = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, organizations);
    for query in ["limit=0", "limit=201", "limit=x", "after=nonsense"] {
        assert_eq!(
            admin.get(&format!("/admin/v1/organizations?{query}")).failure(400),
            "invalid_body",
            "{query}"
        );
    }
    for body in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "  "}),
        json!({"name": 5}),
        json!({"name": "nul \u{0}"}),
        json!({"name": "x".repeat(121)}),
    ] {
        assert_eq!(admin.post("/admin/v1/organizations", &body).faulty_fields(), ["name"], "{body}");
    }
    let applications = format!("/admin/v1/organizations/{}/applications", organizations[0]);
    let application = id(&admin.post(&applications, &json!({"name": "Shop"})).data(201));
    let environments = format!("/admin/v1/applications/{application}/environments");
    for name in ["Test", "te-st", "", "1st"] {
        assert_eq!(admin.post(&environments, &json!({"name": name})).faulty_fields(), ["name"], "{name}");
    }
    let environment = admin.post(&environments, &json!({"name": "test"})).data(201);
    assert_eq!(admin.post(&environments, &json!({"name": "test"})).failure(409), "name_taken");
    assert_eq!(admin.get(&environments).data(200)["items"], json!([environment]));
    assert_eq!(admin.get(&format!("/admin/v1/environments/{}", id(&environment))).data(200), environment);
    assert_eq!(admin.get(&applications).data(200)["items"][0]["organizationId"], json!(organizations[0]));
}

#[test]
fn what_does_not_exist_is_not_found_whatever_its_form() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    for path in [
        "/admin/v1/organizations/org_00000000000000000000000000/applications",
        "/admin/v1/organizations/nonsense/applications",
        "/admin/v1/applications/app_00000000000000000000000000/environments",
        "/admin/v1/environments/env_00000000000000000000000000",
        "/admin/v1/environments/env_00000000000000000000000000/config",
        "/admin/v1/environments/env_00000000000000000000000000/config/versions",
        "/admin/v1/environments/env_00000000000000000000000000/keys",
        "/admin/v1/environments/env_00000000000000000000000000/wallets",
        "/admin/v1/environments/env_00000000000000000000000000/wallets/USD",
        "/admin/v1/environments/%ff/wallets/USD",
    ] {
        assert_eq!(admin.get(path).failure(404), "not_found", "{path}");
    }
    let path = "/admin/v1/environments/env_00000000000000000000000000";
    assert_eq!(admin.post(&format!("{path}/keys"), &json!({"kind": "secret"})).failure(404), "not_found");
    assert_eq!(admin.put(&format!("{path}/config"), &json!({})).failure(404), "not_found");
    let fund = json!({"amountMinor": "1", "reference": "r"});
    assert_eq!(admin.post(&format!("{path}/wallets/USD/fund"), &fund).failure(404), "not_found");
    assert_eq!(
        admin.post(&format!("{path}/explain"), &json!({"amountMinor": "1", "currency": "USD"})).failure(404),
        "not_found"
    );
}

#[test]
fn wallets_are_funded_once_per_reference_and_never_overdrawn() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let environment = create_environment(&mut admin, "test");
    let wallet = format!("/admin/v1/environments/{environment}/wallets/USD");
    assert_eq!(admin.get(&wallet).data(200)["availableMinor"], "0");
    let mut post = |action: &str, amount: &str, reference: &str| {
        admin.post(&format!("{wallet}/{action}"), &json!({"amountMinor": amount, "reference": reference}))
    };
    let first = post("fund", "1000", "wire 1").data(201);
    assert_eq!((&first["availableMinor"], &first["replayed"]), (&json!("1000"), &json!(false)));
    let again = post("fund", "1000", "wire 1").data(200);
    assert_eq!((&again["availableMinor"], &again["replayed"]), (&json!("1000"), &json!(true)));
    assert_eq!(again["postingId"], first["postingId"]);
    assert_eq!(post("fund", "999", "wire 1").failure(409), "idempotency_conflict");
    assert_eq!(post("withdraw", "1001", "out 1").failure(409), "insufficient_wallet_balance");
    assert_eq!(post("withdraw", "400", "out 1").data(201)["availableMinor"], "600");
    assert_eq!(post("fund", "0", " ").faulty_fields(), ["amountMinor", "reference"]);
    assert_eq!(admin.get(&format!("{wallet}x")).failure(404), "not_found");
    let ledger = admin.get(&format!("{wallet}/ledger")).data(200);
    let postings = ledger["items"].as_array().unwrap();
    assert_eq!(postings.len(), 2);
    assert_eq!(
        postings[0]["entries"],
        json!([{"account": "funding", "amountMinor": "400"}, {"account": "available", "amountMinor": "-400"}])
    );
    let newest = admin.get(&format!("{wallet}/ledger?limit=1")).data(200);
    let rest = admin
        .get(&format!("{wallet}/ledger?limit=1&before={}", newest["nextCursor"].as_str().unwrap()))
        .data(200);
    assert_eq!((&newest["items"][0], &rest["items"][0]), (&postings[0], &postings[1]));
    let all = admin.get(&format!("/admin/v1/environments/{environment}/wallets")).data(200);
    assert_eq!(all["items"][0]["availableMinor"], "600");
}
