//! `cargo run --release`: one command to a working quote, and the same data the next time.

use std::{fs, os::unix::fs::PermissionsExt, process::Command, time::Instant};

use serde_json::{Value, json};

use crate::support::{Start, Terminal, wait_until};

#[test]
fn the_welcome_shows_a_curl_that_works_when_pasted() {
    let server = Start::sandbox().run();
    let output = server.output();
    let curl: Vec<_> =
        output.lines().skip_while(|line| !line.trim_start().starts_with("curl ")).take(4).collect();
    let answer = Command::new("bash").arg("-c").arg(format!("{} -s", curl.join("\n"))).output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("{output}"));
    assert_eq!(answer["data"]["totalDebitMinor"], "12956", "{answer:#}");
    let notes = server.sandbox_json();
    for field in ["baseUrl", "adminToken", "secretKey", "publishableKey", "environmentId"] {
        assert!(output.contains(notes[field].as_str().unwrap()), "{field} is not in the welcome");
    }
}

#[test]
fn the_notes_have_every_field_and_only_their_owner_may_read_them() {
    let server = Start::sandbox().run();
    let notes = server.sandbox_json();
    assert_eq!(notes["baseUrl"], format!("http://{}", server.address()));
    for wire in ["stripe", "square", "adyen", "increase", "modern_treasury"] {
        assert!(
            notes["simulators"][wire]["baseUrl"].is_string()
                && notes["simulators"][wire]["apiKey"].is_string()
        );
    }
    for file in ["sandbox.json", "master.key"] {
        let permissions = fs::metadata(server.data_dir.join(file)).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_second_start_finds_its_keys_its_configuration_and_its_funds() {
    let mut first = Start::sandbox().run();
    let before = first.sandbox_json();
    let config_path = first.sandbox_path("/config");
    let wallet_path = first.sandbox_path("/wallets/USD");
    let config = first.sandbox_client("adminToken").get(&config_path).body;
    assert!(first.terminate().success());

    let started = Instant::now();
    let address = first.address().to_string();
    let second = Start::sandbox().within(&first.data_dir).with("TOLLGATE_LISTEN", &address).run();
    println!("ready after {:?} with an existing database (development build)", started.elapsed());
    let after = second.sandbox_json();
    for field in ["adminToken", "secretKey", "publishableKey", "environmentId"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    let mut admin = second.sandbox_client("adminToken");
    assert_eq!(admin.get(&config_path).body, config);
    assert_eq!(admin.get(&wallet_path).data(200)["availableMinor"], "100000000");
    let mut client = second.sandbox_client("secretKey");
    client.post("/client/v1/fees/quote", &json!({"amountMinor": 1, "currency": "USD"})).data(200);
}

#[test]
fn the_simulated_providers_move_with_the_sandbox() {
    let mut first = Start::sandbox().run();
    let path = first.sandbox_path("/config");
    assert!(first.terminate().success());
    let second = Start::sandbox().within(&first.data_dir).run();
    let config = second.sandbox_client("adminToken").get(&path).data(200);
    for (name, wire) in [
        ("card_provider_a", "stripe"),
        ("card_provider_b", "square"),
        ("card_provider_c", "adyen"),
        ("ach_provider_a", "increase"),
        ("ach_provider_b", "modern_treasury"),
    ] {
        let expected = format!("http://{}/simulator/{wire}", second.address());
        assert_eq!(config["providers"][name]["baseUrl"], json!(expected));
        assert_eq!(second.sandbox_json()["simulators"][wire]["baseUrl"], json!(expected));
    }
}

#[test]
fn every_provider_and_two_ach_channels_are_reached_without_editing() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    let mut route = |body: Value| {
        let data = client.post("/client/v1/fees/quote", &body).data(200);
        (
            data["routing"]["provider"].clone(),
            data["routing"]["channel"].clone(),
            data["routing"]["fallback"].clone(),
        )
    };
    let card = |amount: &str| json!({"amountMinor": amount, "currency": "USD"});
    assert_eq!(route(card("99999")), (json!("card_provider_a"), json!("web_card"), json!(true)));
    assert_eq!(route(card("100000")), (json!("card_provider_b"), json!("web_card"), json!(false)));
    let c = json!({"amountMinor": "1", "currency": "USD", "metadata": {"acquirer": "c"}});
    assert_eq!(route(c), (json!("card_provider_c"), json!("web_card"), json!(false)));
    let ach = |metadata: Value| json!({"amountMinor": "1", "currency": "usd", "paymentMethod": "ach", "metadata": metadata});
    assert_eq!(route(ach(json!({}))), (json!("ach_provider_a"), json!("standard_ach"), json!(true)));
    assert_eq!(
        route(ach(json!({"speed": "same_day"}))),
        (json!("ach_provider_a"), json!("same_day_ach"), json!(false))
    );
    assert_eq!(
        route(ach(json!({"bank": "b"}))),
        (json!("ach_provider_b"), json!("standard_ach"), json!(false))
    );
}

#[test]
fn the_playground_allows_exactly_the_configured_providers() {
    let server = Start::sandbox().run();
    let notes = server.sandbox_json();
    let policy = || {
        let page = server.client("").send("GET", "/playground", &[], b"");
        page.headers["content-security-policy"].clone()
    };
    let origin = notes["baseUrl"].as_str().unwrap();
    let simulated = policy();
    assert!(simulated.contains(&format!("script-src 'self' {origin};")), "{simulated}");
    assert!(!simulated.contains("https://"), "{simulated}");

    // Real test keys: the provider's own address, so the provider's own script.
    let mut admin = server.sandbox_client("adminToken");
    let path = format!("/admin/v1/environments/{}/config", notes["environmentId"].as_str().unwrap());
    let mut document = admin.get(&path).data(200);
    for provider in ["card_provider_a", "card_provider_b", "card_provider_c"] {
        document["providers"][provider].as_object_mut().unwrap().remove("baseUrl");
        // At another address every secret has to be given again.
        for (name, value) in document["providers"][provider]["credentials"].as_object_mut().unwrap() {
            if value.as_str().unwrap().starts_with("***") {
                let is_hexadecimal = name == "hmacKey";
                *value = json!(if is_hexadecimal { "4a".repeat(32) } else { format!("a real {name}") });
            }
        }
    }
    admin
        .send("PUT", &path, &[("content-type", "application/json")], document.to_string().as_bytes())
        .data(200);
    let real = policy();
    for part in [
        "script-src 'self' https://*.js.stripe.com https://checkoutshopper-test.cdn.adyen.com https://js.stripe.com https://sandbox.web.squarecdn.com;",
        "frame-src 'self' https: https://*.js.stripe.com https://hooks.stripe.com",
        "connect-src 'self' https://api.stripe.com https://checkoutanalytics-test.adyen.com https://checkoutshopper-test.adyen.com https://checkoutshopper-test.cdn.adyen.com https://connect.squareupsandbox.com",
    ] {
        assert!(real.contains(part), "{part} in {real}");
    }
    assert!(!real.contains("http://") && !real.contains("//web.squarecdn.com"), "{real}");
}

#[test]
fn the_first_page_leads_everywhere_and_signs_in_with_a_click() {
    let server = Start::sandbox().run();
    let notes = server.sandbox_json();
    let mut browser = server.client("");
    let page = browser.get("/");
    assert_eq!((page.status, &*page.headers["content-type"]), (200, "text/html; charset=utf-8"));
    let text = String::from_utf8(page.body).unwrap();
    for part in
        ["/playground", "/docs", "/console/sandbox-sign-in", "/docs/overview", "/docs/guides/first-payment"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    for key in ["secretKey", "publishableKey"] {
        assert!(text.contains(notes[key].as_str().unwrap()), "{key}");
    }
    assert!(!text.contains(notes["adminToken"].as_str().unwrap()), "the admin token stays in its file");
    assert_eq!(browser.get("/docs/guides/first-payment").status, 200);
    let redirect = browser.get("/docs/");
    assert_eq!((redirect.status, &*redirect.headers["location"]), (308, "/docs"));

    let form = [("content-type", "application/x-www-form-urlencoded")];
    let signed_in = browser.send("POST", "/console/sandbox-sign-in", &form, b"");
    assert_eq!((signed_in.status, &*signed_in.headers["location"]), (303, "/console"));
    let cookie = signed_in.headers["set-cookie"].split(';').next().unwrap().to_owned();
    let overview = format!("/console/{}", notes["environmentId"].as_str().unwrap());
    assert_eq!(browser.send("GET", &overview, &[("cookie", &cookie)], b"").status, 200);
    let other_site = [form[0], ("sec-fetch-site", "cross-site")];
    let refused = browser.send("POST", "/console/sandbox-sign-in", &other_site, b"");
    assert!(refused.status == 400 && !refused.headers.contains_key("set-cookie"), "{refused:?}");
    let foreign = "POST /console/sandbox-sign-in HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(server.client("").exchange(foreign.as_bytes()).unwrap().failure(404), "not_found");
}

#[test]
fn production_shows_no_first_page_unless_asked_and_signs_nobody_in() {
    let server = Start::serve().run();
    let mut browser = server.client("");
    assert_eq!(browser.get("/").failure(404), "not_found");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let refused = browser.send("POST", "/console/sandbox-sign-in", &form, b"");
    assert!(refused.status == 404 && !refused.headers.contains_key("set-cookie"), "{refused:?}");
    assert!(!server.log().contains("POST /console"), "production has no line for every call");
    let server = Start::serve().with("TOLLGATE_FIRST_PAGE", "true").run();
    let page = server.client("").get("/");
    let text = String::from_utf8(page.body).unwrap();
    assert!(page.status == 200 && text.contains(env!("CARGO_PKG_VERSION")), "{text}");
}

#[test]
fn the_sandbox_logs_a_line_for_every_call_webhook_and_change() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    client.post("/client/v1/fees/quote", &json!({"amountMinor": 1, "currency": "USD"})).data(200);
    client.post("/client/v1/fees/quote", &json!({})).failure(400);
    let payment = json!({"amountMinor": "12500", "currency": "USD", "description": "Order 1"});
    let prepared = client.post("/client/v1/payments", &payment).data(201);
    Terminal::beside(&server).shows(&["trigger", "pay", prepared["serviceReference"].as_str().unwrap()]);
    for line in [
        "POST /client/v1/fees/quote 200 in ",
        "POST /client/v1/fees/quote 400 invalid_body in ",
        "payment.prepared: ",
        "transaction.succeeded: ",
        "webhook from card_provider_a: ",
    ] {
        wait_until(line, std::time::Duration::from_secs(120), || server.log().contains(line));
    }
}

#[test]
fn a_start_that_was_cut_off_is_finished_by_the_next() {
    for pause_millis in [5, 20, 40, 80, 120, 200] {
        let mut cut_off = Start::sandbox().spawn();
        std::thread::sleep(std::time::Duration::from_millis(pause_millis));
        cut_off.kill();
        let server = Start::sandbox().within(&cut_off.data_dir).run();
        let mut client = server.sandbox_client("secretKey");
        client.post("/client/v1/fees/quote", &json!({"amountMinor": 1, "currency": "USD"})).data(200);
        let wallet = server.sandbox_client("adminToken").get(&server.sandbox_path("/wallets/USD")).data(200);
        assert_eq!(wallet["availableMinor"], "100000000", "funded once after a cut at {pause_millis} ms");
    }
}

#[test]
fn a_second_server_on_the_same_data_is_refused_with_a_reason() {
    let first = Start::sandbox().run();
    let mut second = Start::sandbox().within(&first.data_dir).spawn();
    assert!(!second.wait_end(std::time::Duration::from_secs(120)).success());
    assert!(second.log().contains("in use by another process"), "{}", second.log());
    wait_until("the first still answers", std::time::Duration::from_secs(120), || {
        first.client("").get("/readyz").status == 200
    });
}

#[test]
fn production_refuses_to_start_without_its_secrets_or_with_other_ones() {
    for (missing, words) in
        [("TOLLGATE_MASTER_KEY", "generate master-key"), ("TOLLGATE_ADMIN_TOKEN", "generate admin-token")]
    {
        let mut server = Start::serve().without(missing).spawn();
        assert!(!server.wait_end(std::time::Duration::from_secs(120)).success());
        assert!(server.log().contains(words), "{}", server.log());
    }
    let mut first = Start::serve().run();
    assert!(first.terminate().success());
    let other_key = "another master key, which never sealed anything here";
    let mut second = Start::serve().with("TOLLGATE_MASTER_KEY", other_key).within(&first.data_dir).spawn();
    assert!(!second.wait_end(std::time::Duration::from_secs(120)).success());
    assert!(
        second.log().contains("start with the master key this database was created with"),
        "{}",
        second.log()
    );
    assert!(!second.log().contains(other_key));
}

#[test]
fn settings_that_contradict_each_other_are_refused_at_start() {
    for (settings, said) in [
        (
            &[("TOLLGATE_RESOLVER_LEASE_MS", "40000")][..],
            "TOLLGATE_RESOLVER_LEASE_MS (40000) must be more than twice TOLLGATE_PROVIDER_DEADLINE_MS (20000)",
        ),
        (
            &[("TOLLGATE_PROVIDER_DEADLINE_MS", "30000")],
            "TOLLGATE_RESOLVER_LEASE_MS (45000) must be more than twice TOLLGATE_PROVIDER_DEADLINE_MS (30000)",
        ),
        (
            &[("TOLLGATE_PROVIDER_TIMEOUT_MS", "20001")],
            "TOLLGATE_PROVIDER_TIMEOUT_MS (20001) must not be above TOLLGATE_PROVIDER_DEADLINE_MS (20000)",
        ),
        (
            &[("TOLLGATE_EVENTS_LEASE_MS", "1000")],
            "TOLLGATE_EVENTS_LEASE_MS must be at least twice TOLLGATE_EVENTS_TIMEOUT_MS",
        ),
        (
            &[("TOLLGATE_EVENTS_SPAN_MS", "4000")],
            "TOLLGATE_EVENTS_SPAN_MS must be at least TOLLGATE_EVENTS_FIRST_RETRY_MS",
        ),
        (
            &[("TOLLGATE_MAX_CONNECTIONS", "100"), ("TOLLGATE_MAX_CONNECTIONS_PER_ADDRESS", "101")],
            "TOLLGATE_MAX_CONNECTIONS_PER_ADDRESS (101) must not be above TOLLGATE_MAX_CONNECTIONS (100)",
        ),
        (&[("TOLLGATE_MAX_CONNECTIONS", "0")], "TOLLGATE_MAX_CONNECTIONS must be a whole number from 1"),
    ] {
        let start = settings.iter().fold(Start::serve(), |start, (name, value)| start.with(name, value));
        let mut server = start.spawn();
        assert!(!server.wait_end(std::time::Duration::from_secs(120)).success(), "{settings:?}");
        assert!(server.log().contains(said), "{settings:?}: {}", server.log());
    }
}

#[test]
fn generated_secrets_are_taken_as_settings() {
    let generate = |what: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).args(["generate", what]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (master_key, admin_token) = (generate("master-key"), generate("admin-token"));
    let server = Start::serve()
        .with("TOLLGATE_MASTER_KEY", &master_key)
        .with("TOLLGATE_ADMIN_TOKEN", &admin_token)
        .run();
    server.client(&admin_token).get("/admin/v1/organizations").data(200);
}

#[test]
fn a_misspelled_field_is_refused_in_the_sandbox_and_named_where_it_is_allowed() {
    let server = Start::sandbox().run();
    let mut backend = server.sandbox_client("secretKey");
    let order = json!({"amountMinor": "1999", "currency": "USD", "sucessUrl": "https://shop.example/thanks"});
    let refused = backend.post("/client/v1/payments", &order);
    assert_eq!(refused.failure(400), "invalid_body");
    let details = json!([{"field": "sucessUrl", "message": "is not a field of this request; did you mean `successUrl`?"}]);
    assert_eq!(refused.json()["error"]["details"], details);
    assert_eq!(backend.get("/client/v1/transactions").data(200)["items"], json!([]));

    let (mut admin, path) = (server.sandbox_client("adminToken"), server.sandbox_path("/config"));
    assert_eq!(admin.get(&path).data(200)["settings"]["strictFields"], true);
    server.ignore_unknown_fields();
    let warnings = json!([r#"unknown field "sucessUrl"; did you mean "successUrl"?"#]);
    let allowed = backend.post("/client/v1/payments", &order);
    assert_eq!((allowed.status, &allowed.json()["warnings"]), (201, &warnings));
    // What is refused for another reason names it, too.
    let mut nothing = order;
    nothing["amountMinor"] = "0".into();
    let refused = backend.post("/client/v1/payments", &nothing);
    assert_eq!((refused.status, &refused.json()["warnings"]), (400, &warnings));
}
