//! Attacks that once worked, as scripts: each has to fail.

use std::{
    fs,
    io::Write as _,
    net::{TcpListener, TcpStream},
    time::Duration,
};

use serde_json::{Value, json};

use crate::connections::{peak_kib, resident_kib};
use crate::support::{Answer, Client, Server, Start, Tenant, WAIT_TIMEOUT, wait_until};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// Signs in to the console; the cookie.
fn sign_in(client: &mut Client, token: &str) -> String {
    let answer =
        client.send("POST", "/console/sign-in", &[FORM], format!("token={token}&name=Ada").as_bytes());
    assert_eq!(answer.status, 303, "{}", text(&answer));
    cookie_of(&answer).unwrap()
}

fn cookie_of(answer: &Answer) -> Option<String> {
    answer.headers.get("set-cookie").map(|cookie| cookie.split(';').next().unwrap().to_owned())
}

fn csrf(page: &str) -> String {
    page.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// Read the document, point the provider at a collector, send it back with its masks: the next payment would bring the key.
#[test]
fn masked_credentials_are_not_sent_to_another_address() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    collector.set_nonblocking(true).unwrap();
    let server = Start::serve().without("TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS").run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let path = tenant.path("/config");
    let layer = json!({"enabled": false, "fixedFeeMinor": "0", "percentFeeBps": 0});
    let document = json!({
        "providers": {"cards": {"adapter": "stripe", "credentials": {
            "secretKey": "sk_test_the_real_one_1234", "publishableKey": "pk_test_x", "webhookSecret": "whsec_real"}}},
        "routing": {"web_card": {"enabled": true, "rules": [], "default": {"provider": "cards", "channel": "web_card"}}},
        "fees": [{"provider": "cards", "paymentMethod": "web_card", "channel": "none", "currency": "USD",
                  "platform": layer, "organization": layer}],
    });
    admin.put(&path, &document).data(200);
    let shown = admin.get(&path).data(200);
    let elsewhere = json!(format!("http://{}/stripe", collector.local_addr().unwrap()));
    for (field, value) in [("baseUrl", &elsewhere), ("environment", &json!("sandbox"))] {
        let mut moved = shown.clone();
        moved["providers"]["cards"][field] = value.clone();
        let refused = admin.put(&path, &moved);
        assert_eq!(refused.failure(400), "invalid_body");
        let fields = refused.detailed_fields();
        assert!(fields.contains(&"providers.cards.credentials.secretKey".to_owned()), "{fields:?}");
        let checked = admin.post(&tenant.path("/config/validate"), &moved);
        assert_eq!(checked.failure(400), "invalid_body");
    }
    // With a key of one's own, the address has to be the provider's nevertheless.
    for address in [elsewhere, json!("https://collector.example"), json!("https://api.stripe.com.example")] {
        let mut planted = document.clone();
        planted["providers"]["cards"]["baseUrl"] = address;
        let refused = admin.put(&path, &planted);
        assert_eq!(refused.detailed_fields(), ["providers.cards.baseUrl"]);
        assert!(text(&refused).contains("TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS"), "{}", text(&refused));
    }
    assert_eq!(admin.get(&path).data(200), shown);
    assert!(collector.accept().is_err(), "nobody called");
}

/// A configuration of an earlier release that names another host is kept, and that host is not called.
#[test]
fn a_host_that_is_not_the_providers_own_is_not_called() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    collector.set_nonblocking(true).unwrap();
    let mut server = Start::serve().run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let document = json!({
        "providers": {"cards": {"adapter": "stripe", "baseUrl": format!("http://{}", collector.local_addr().unwrap()),
            "credentials": {"secretKey": "sk_test_1", "publishableKey": "pk_test_x", "webhookSecret": "whsec_x"}}},
        "routing": {"web_card": {"enabled": true, "rules": [], "default": {"provider": "cards", "channel": "web_card"}}},
    });
    admin.put(&tenant.path("/config"), &document).data(200);
    let key = admin.post(&tenant.path("/keys"), &json!({"kind": "secret"})).data(201);
    assert!(server.terminate().success());
    let start = Start::serve().without("TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS");
    let again = start.within(&server.data_dir).run();
    let mut client = again.client(key["key"].as_str().unwrap());
    let answer = client.post("/client/v1/payments", &json!({"amountMinor": "100", "currency": "USD"}));
    assert_eq!(answer.failure(503), "provider_unavailable");
    let findings = again.admin().get("/admin/v1/doctor").data(200).to_string();
    assert!(findings.contains("is not its own host"), "{findings}");
    assert!(collector.accept().is_err(), "nobody called");
}

fn sandbox_token(server: &Server) -> String {
    server.sandbox_json()["adminToken"].as_str().unwrap().to_owned()
}

#[test]
fn the_console_and_the_sandboxs_pages_withstand_what_once_worked() {
    let server = Start::sandbox().run();
    let token = sandbox_token(&server);
    let base = format!("/console/{}", server.sandbox_json()["environmentId"].as_str().unwrap());
    wrong_tokens_lock_nobody_out(&server, &token);
    malformed_credentials_are_counted(&server);
    signing_out_ends_the_session(&server, &token, &base);
    a_link_puts_no_words_into_the_consoles_mouth(&server, &token, &base);
    a_rotated_key_can_be_revoked(&server, &token, &base);
    withdrawing_everything_is_confirmed(&server, &token, &base);
    keys_are_shown_under_the_sandboxs_own_names_only(&server);
    a_key_in_a_path_is_not_logged(&server);
    huge_heads_cost_little(&server);
}

fn wrong_tokens_lock_nobody_out(server: &Server, token: &str) {
    let mut client = server.client("");
    let guesses: Vec<u16> = (0..40)
        .map(|guess| {
            client.send("POST", "/console/sign-in", &[FORM], format!("token=guess{guess}").as_bytes()).status
        })
        .collect();
    assert!(guesses.contains(&401) && guesses.contains(&429), "{guesses:?}");
    sign_in(&mut client, token);
}

fn malformed_credentials_are_counted(server: &Server) {
    let mut client = server.client("");
    let ask = |client: &mut Client, header: &str| {
        client.send("GET", "/client/v1/wallet", &[("authorization", header)], b"").status
    };
    let is_limited = |answer: u16| {
        assert!(matches!(answer, 401 | 429), "{answer}");
        answer == 429
    };
    // More are let through the longer it takes.
    assert!((0..20_000).any(|_| is_limited(ask(&mut client, "Basic abc"))), "never limited");
    let right = format!("Bearer {}", server.sandbox_client("secretKey").credential);
    assert_eq!(ask(&mut client, &right), 200, "a right credential is never refused for the wrong ones");
}

fn signing_out_ends_the_session(server: &Server, token: &str, base: &str) {
    let mut client = server.client("");
    let (cookie, other) = (sign_in(&mut client, token), sign_in(&mut client, token));
    let mut page = |cookie: &str| client.send("GET", &format!("{base}/keys"), &[("cookie", cookie)], b"");
    let shown = page(&cookie);
    assert_eq!(shown.status, 200);
    assert!(shown.headers["request-id"].starts_with("req_"), "a page has a request id");
    let sign_out = format!("csrf={}", csrf(&text(&shown)));
    let mut client = server.client("");
    let out = client.send("POST", "/console/sign-out", &[FORM, ("cookie", &cookie)], sign_out.as_bytes());
    assert_eq!(out.status, 303);
    let mut page = |cookie: &str| client.send("GET", &format!("{base}/keys"), &[("cookie", cookie)], b"");
    assert_eq!(page(&cookie).status, 303, "a kept cookie is good for nothing");
    assert_eq!(page(&other).status, 200, "another session goes on");
    let metrics = text(&server.client("").get("/metrics"));
    assert!(metrics.contains("operation=\"console\""), "{metrics}");
    // Lines are written after the answer.
    let is_logged = |line: &str| line.contains("/console/sign-out") && line.contains("\"request_id\":\"req_");
    wait_until("the sign-out is logged", WAIT_TIMEOUT, || server.log().lines().any(is_logged));
}

fn a_link_puts_no_words_into_the_consoles_mouth(server: &Server, token: &str, base: &str) {
    let mut client = server.client("");
    let cookie = sign_in(&mut client, token);
    for query in ["?said=Call+555-0100", "?said=Call+555-0100&proof=AAAA"] {
        let page = client.send("GET", &format!("{base}/keys{query}"), &[("cookie", &cookie)], b"");
        assert!(page.status == 200 && !text(&page).contains("555-0100"), "{query}");
    }
}

fn a_rotated_key_can_be_revoked(server: &Server, token: &str, base: &str) {
    let mut client = server.client("");
    let cookie = sign_in(&mut client, token);
    let path = format!("{base}/keys");
    let page = text(&client.send("GET", &path, &[("cookie", &cookie)], b""));
    let csrf = csrf(&page);
    let mut change = |fields: &str| {
        let sent = format!("csrf={csrf}&{fields}");
        client.send("POST", &path, &[FORM, ("cookie", &cookie)], sent.as_bytes())
    };
    assert_eq!(change("do=issue&kind=secret").status, 200);
    let mut admin = server.sandbox_client("adminToken");
    let keys = |admin: &mut Client| -> Vec<Value> {
        admin.get(&server.sandbox_path("/keys?limit=200")).data(200)["items"].as_array().unwrap().clone()
    };
    let issued = keys(&mut admin).pop().unwrap()["id"].as_str().unwrap().to_owned();
    let rotated = change(&format!("do=rotate&key={issued}&step=confirm"));
    let row = text(&rotated);
    let row = row.split("<tr>").find(|row| row.contains(&issued)).unwrap();
    assert!(row.contains("Revoke") && !row.contains("Rotate"), "{row}");
    assert!(row.contains("issued by Ada") && row.contains("rotated by Ada"), "{row}");
    assert_eq!(change(&format!("do=revoke&key={issued}&step=confirm")).status, 303);
    let revoked = keys(&mut admin).into_iter().find(|key| key["id"] == issued.as_str()).unwrap();
    let changes: Vec<_> = revoked["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            let request = change["requestId"].as_str().unwrap();
            assert!(request.starts_with("req_") && change["at"].is_string(), "{change}");
            (change["action"].as_str().unwrap(), change["by"].as_str().unwrap())
        })
        .collect();
    assert_eq!(changes, [("issued", "Ada"), ("rotated", "Ada"), ("revoked", "Ada")]);
    // By the API, those who call it say who they are.
    let new = admin.post_with(
        ("tollgate-actor", "Grace"),
        &server.sandbox_path("/keys"),
        &json!({"kind": "secret"}),
    );
    assert_eq!(new.data(201)["changes"][0]["by"], "Grace");
}

fn withdrawing_everything_is_confirmed(server: &Server, token: &str, base: &str) {
    let mut client = server.client("");
    let cookie = sign_in(&mut client, token);
    let path = format!("{base}/wallets/USD");
    let page = text(&client.send("GET", &path, &[("cookie", &cookie)], b""));
    let csrf = csrf(&page);
    let mut admin = server.sandbox_client("adminToken");
    let mut available = || {
        let wallet = admin.get(&server.sandbox_path("/wallets/USD")).data(200);
        wallet["availableMinor"].as_str().unwrap().parse::<u64>().unwrap()
    };
    let before = available();
    let amount = format!("{}.{:02}", before / 100, before % 100);
    let sent = format!("csrf={csrf}&cause=withdraw&amount={amount}&reference=everything");
    let asked = client.send("POST", &path, &[FORM, ("cookie", &cookie)], sent.as_bytes());
    assert!(asked.status == 200 && text(&asked).contains("withdraws everything"), "{}", text(&asked));
    assert_eq!(available(), before);
    let confirmed =
        client.send("POST", &path, &[FORM, ("cookie", &cookie)], format!("{sent}&step=confirm").as_bytes());
    assert_eq!((confirmed.status, available()), (303, 0));
}

fn keys_are_shown_under_the_sandboxs_own_names_only(server: &Server) {
    let secret = server.sandbox_client("secretKey").credential;
    let ask = |path: &str, host: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        server.client("").exchange(request.as_bytes()).unwrap()
    };
    for path in ["/", "/docs", "/playground"] {
        let own = ask(path, &server.address().to_string());
        assert!(own.status == 200 && text(&own).contains(&secret), "{path}");
        for host in ["evil.example", "127.0.0.1.evil.example:8080"] {
            let foreign = ask(path, host);
            assert_eq!(foreign.failure(404), "not_found", "{path} at {host}");
            assert!(!text(&foreign).contains(&secret), "{path} at {host}");
        }
    }
}

fn a_key_in_a_path_is_not_logged(server: &Server) {
    let secret = server.sandbox_client("secretKey").credential;
    assert_eq!(server.client("").get(&format!("/client/v1/transactions/{secret}")).status, 401);
    assert_eq!(server.client("").get(&format!("/{}", secret.replace('_', "%5F"))).status, 404);
    let is_logged = || server.log().contains("/client/v1/transactions/[hidden]");
    wait_until("the path is logged", WAIT_TIMEOUT, is_logged);
    assert!(!server.log().contains(&secret[secret.len() - 24..]));
}

fn huge_heads_cost_little(server: &Server) {
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<i64>().unwrap()
    };
    let before = resident();
    let head = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {}", "a".repeat(500_000));
    let connections: Vec<_> = (0..150)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
            // It may well be refused before all of it is sent.
            drop(stream.write_all(head.as_bytes()));
            stream
        })
        .collect();
    let grown = resident() - before;
    drop(connections);
    assert!(grown < 24 * 1024, "150 unfinished heads of 500 KB cost {grown} KiB");
}

#[test]
fn secrets_that_anybody_would_try_are_refused() {
    for (name, value) in [
        ("TOLLGATE_MASTER_KEY", "0".repeat(64)),
        ("TOLLGATE_MASTER_KEY", "changeme-changeme-changeme-changeme!".to_owned()),
        ("TOLLGATE_ADMIN_TOKEN", "1234567890123456".to_owned()),
    ] {
        let mut server = Start::serve().with(name, &value).spawn();
        assert!(!server.wait_end(Duration::from_secs(120)).success(), "{name}={value}");
        assert!(server.log().contains("can be guessed"), "{}", server.log());
    }
}

/// A number in a text field would be stored, logged and shown as any other word.
#[test]
fn card_numbers_are_neither_stored_nor_logged() {
    const NUMBER: &str = "4242 4242 4242 4242";
    const SHAPES: [&str; 3] = [NUMBER, "4242-4242-4242-4242", "4242424242424242"];
    let server = Start::sandbox().run();
    let environment = server.sandbox_path("");
    let admin_path = |rest: &str| format!("{environment}{rest}");
    let order = json!({"amountMinor": "1000", "currency": "USD"});
    let prepared = server.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let reference = prepared["serviceReference"].as_str().unwrap();
    let exception = reference.replacen("pay_", "exc_", 1);
    let with = |field: &str, value: Value| {
        let mut body = order.clone();
        body[field] = value;
        body
    };
    let client = [
        ("/client/v1/payments", with("description", NUMBER.into())),
        ("/client/v1/payments", with("description", "order_4242424242424242".into())),
        ("/client/v1/payments", with("customer", json!({"name": format!("Ada {NUMBER}")}))),
        ("/client/v1/payments", with("metadata", json!({"a": {"b": ["4242-4242-4242-4242"]}}))),
        ("/client/v1/payments/component", with("metadata", json!({NUMBER: true}))),
        ("/client/v1/payments/component", with("metadata", json!({"pan": 4_242_424_242_424_242_u64}))),
        ("/client/v1/fees/quote", with("metadata", json!({"a": NUMBER}))),
        ("/client/v1/ach/customer-tokens", json!({"firstName": NUMBER})),
        ("/client/v1/ach/customer-tokens", json!({"metadata": {"a": NUMBER}})),
        ("/client/v1/ach/transfers", with("remittanceData", json!({"memo": NUMBER}))),
        ("/client/v1/ach/transfers", with("remittanceData", NUMBER.into())),
        ("/client/v1/ach/transfers", with("accountName", NUMBER.into())),
        ("/client/v1/ach/transfers", with("description", NUMBER.into())),
        ("/client/v1/ach/transfers/preview", with("metadata", json!({"a": NUMBER}))),
        (&format!("/client/v1/transactions/{reference}/refunds"), json!({"description": NUMBER})),
    ];
    let client = client.map(|(path, body)| ("secretKey", path.to_owned(), body));
    let admin = [
        ("/admin/v1/organizations".to_owned(), json!({"name": NUMBER})),
        ("/admin/v1/users".to_owned(), json!({"name": NUMBER})),
        (admin_path("/keys"), json!({"kind": "secret", "name": NUMBER})),
        (admin_path("/event-endpoints"), json!({"description": NUMBER})),
        (admin_path(&format!("/transactions/{reference}/refunds")), json!({"description": NUMBER})),
        (admin_path(&format!("/exceptions/{exception}/resolve")), json!({"note": NUMBER})),
    ];
    let admin = admin.map(|(path, body)| ("adminToken", path, body));
    for (credential, path, body) in client.into_iter().chain(admin) {
        let answer = server.sandbox_client(credential).post(&path, &body);
        assert_eq!(answer.failure(400), "card_data_not_allowed", "{path} {body}");
        assert!(!text(&answer).contains("4242"), "{path}: {}", text(&answer));
    }
    let token = sandbox_token(&server);
    let mut console = server.client("");
    let cookie = sign_in(&mut console, &token);
    let page = console.send("GET", "/console/users", &[("cookie", &cookie)], b"");
    let form = format!(
        "csrf={}&do=create&name=4242424242424242&email=a%40example.com&role=viewer",
        csrf(&text(&page))
    );
    let refused = console.send("POST", "/console/users", &[FORM, ("cookie", &cookie)], form.as_bytes());
    assert_eq!(refused.status, 400, "{}", text(&refused));
    // What only looks like one is taken.
    let fine = json!({"amountMinor": "1000", "currency": "USD", "description": "order_4242424242424241",
                      "metadata": {"at": 1_763_476_800_003_u64, "id": "550e8400-e29b-41d4-8123-446655440000"}});
    server.sandbox_client("secretKey").post("/client/v1/payments", &fine).data(201);
    for file in fs::read_dir(&server.data_dir).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            for shape in SHAPES {
                let is_found = bytes.windows(shape.len()).any(|window| window == shape.as_bytes());
                assert!(!is_found, "{} has it", path.display());
            }
        }
    }
    let log = server.log();
    assert!(log.contains("/client/v1/ach/transfers"), "the log has the requests");
    for shape in SHAPES {
        assert!(!log.contains(shape), "the log has {shape}");
    }
}

/// A parsed document takes fifty times the memory of its text: a viewer could take the server down.
#[test]
fn large_documents_are_for_those_who_configure_and_one_at_a_time() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let path = tenant.path("/config/validate");
    let user = |admin: &mut Client, role: &str, organizations: Option<&str>| {
        let email = format!("{role}{}@example.com", organizations.map_or(0, str::len));
        let user = json!({"name": role, "email": email, "role": role, "organizations": organizations.map(|it| [it])});
        let id = admin.post("/admin/v1/users", &user).data(201)["id"].as_str().unwrap().to_owned();
        let token = admin.post(&format!("/admin/v1/users/{id}/tokens"), &json!({"name": "test"})).data(201);
        token["token"].as_str().unwrap().to_owned()
    };
    let viewer = user(&mut admin, "viewer", None);
    assert_eq!(server.client(&viewer).post(&path, &json!({})).failure(403), "forbidden");
    let operator = user(&mut admin, "operator", None);
    server.client(&operator).post(&path, &json!({})).data(200);
    let organization =
        admin.get("/admin/v1/organizations").data(200)["items"][0]["id"].as_str().unwrap().to_owned();
    let limited = user(&mut admin, "operator", Some(&organization));
    let large = format!("{{\"x\":[{}0]}}", "0,".repeat(5 * 1024 * 1024 / 2));
    let json_type = [("content-type", "application/json")];
    let refused = server.client(&limited).send("POST", &path, &json_type, large.as_bytes());
    assert_eq!(refused.failure(413), "body_too_large");

    let before = resident_kib(&server);
    let body = format!("{{\"x\":[{}0]}}", "0,".repeat(15 * 1024 * 1024 / 2));
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..24)
            .map(|_| {
                scope.spawn(|| server.client(&operator).send("POST", &path, &json_type, body.as_bytes()))
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    for answer in &answers {
        let code = answer.failure(answer.status);
        assert!(matches!(code.as_str(), "invalid_body" | "server_busy"), "{code}: {}", text(answer));
    }
    assert!(answers.iter().any(|answer| text(answer).contains("more than 1000000 values")));
    let peak = peak_kib(&server);
    println!("24 documents of 15 MiB at once: memory went from {before} KiB to {peak} KiB at most");
    assert!(peak.saturating_sub(before) < 400 * 1024, "{before} KiB became {peak} KiB");
    server.client(&operator).post(&path, &json!({})).data(200);
}
