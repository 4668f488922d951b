//! People: personal tokens at the admin API and at the console.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, Start, Tenant, wait_until};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub fn page(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// A user's id, and a token's id and text.
pub fn user(admin: &mut Client, user: &Value) -> (String, String, String) {
    let user = text(&admin.post("/admin/v1/users", user).data(201)["id"]);
    let token = admin.post(&format!("/admin/v1/users/{user}/tokens"), &json!({"name": "laptop"})).data(201);
    (user, text(&token["id"]), text(&token["token"]))
}

fn organization(server: &Server, tenant: &Tenant) -> String {
    text(&server.admin().get(&tenant.path("")).data(200)["organizationId"])
}

/// Somebody's browser.
pub struct Browser {
    client: Client,
    cookie: String,
}

impl Browser {
    pub fn sign_in(server: &Server, token: &str) -> Self {
        let mut client = server.client("");
        let sent = format!("token={token}&name=Somebody+Else");
        let answer = client.send("POST", "/console/sign-in", &[FORM], sent.as_bytes());
        assert_eq!(answer.status, 303, "{}", page(&answer));
        let cookie = answer.headers.get("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        Self { client, cookie }
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.client.send("GET", path, &[("cookie", &self.cookie)], b"")
    }

    pub fn post(&mut self, path: &str, csrf: &str, fields: &str) -> Answer {
        let body = format!("csrf={csrf}&{fields}");
        self.client.send("POST", path, &[("cookie", &self.cookie), FORM], body.as_bytes())
    }
}

#[test]
fn a_personal_token_opens_the_admin_api_until_it_is_revoked() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let ada = json!({"name": "Ada Lovelace", "email": "Ada@Example.com", "role": "operator"});
    let (id, token_id, token) = user(&mut admin, &ada);
    assert!(token.starts_with("pat_"));
    let listed = admin.get("/admin/v1/users");
    assert!(!page(&listed).contains(&token), "a token is shown once");
    assert_eq!(listed.data(200)["items"][0]["tokens"][0]["lastFour"], json!(token[token.len() - 4..]));
    assert_eq!(admin.post("/admin/v1/users", &ada).failure(409), "email_taken");

    // Changes carry the name that goes with the token, whatever the header says.
    let mut client = server.client(&token);
    let headers = [("content-type", "application/json"), ("tollgate-actor", "Somebody Else")];
    client.send("POST", &tenant.path("/keys"), &headers, br#"{"kind":"secret"}"#).data(201);
    let keys = client.get(&tenant.path("/keys")).data(200);
    assert_eq!(keys["items"][0]["changes"][0]["by"], json!("Ada Lovelace <ada@example.com>"));
    assert_eq!(client.get("/admin/v1/users").failure(403), "forbidden");

    admin.delete(&format!("/admin/v1/users/{id}/tokens/{token_id}")).data(200);
    let refused = client.get(&tenant.path("/keys"));
    assert_eq!(refused.failure(401), "unauthenticated");
    assert!(page(&refused).contains("may have been revoked"), "{}", page(&refused));
}

#[test]
fn the_console_shows_what_the_role_may_do_and_refuses_the_rest() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let (own, other) = (Tenant::create(&mut admin), Tenant::create(&mut admin));
    let limit = json!([organization(&server, &own)]);
    let viewer =
        json!({"name": "Vera", "email": "vera@example.com", "role": "viewer", "organizations": limit});
    let (viewer, _, viewer_token) = user(&mut admin, &viewer);
    let operator =
        json!({"name": "Otto", "email": "otto@example.com", "role": "operator", "organizations": limit});
    let (_, _, operator_token) = user(&mut admin, &operator);

    let keys = format!("/console/{}/keys", own.environment);
    let mut otto = Browser::sign_in(&server, &operator_token);
    let shown = page(&otto.get(&keys));
    assert!(
        shown.contains("Otto &#60;otto@example.com&#62;") || shown.contains("Otto &lt;otto@example.com&gt;")
    );
    assert!(shown.contains("Issue a key") && !shown.contains("/console/users"), "{shown}");
    let csrf = shown.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(otto.post(&keys, &csrf, "do=issue&kind=secret").status, 200);
    assert_eq!(otto.get("/console/users").status, 403);
    assert_eq!(otto.post("/console/users", &csrf, "do=add").status, 403);
    let another = format!("what=application&name=New&parent={}", organization(&server, &other));
    assert_eq!(otto.post("/console/environments", &csrf, &another).status, 404);
    assert_eq!(otto.post("/console/environments", &csrf, "what=organization&name=New").status, 403);

    let mut vera = Browser::sign_in(&server, &viewer_token);
    let shown = page(&vera.get(&keys));
    assert!(shown.contains("Vera") && !shown.contains("Issue a key"), "{shown}");
    let csrf = shown.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(vera.post(&keys, &csrf, "do=issue&kind=secret").status, 403);
    // What belongs to others looks like what never was.
    let hidden = vera.get(&format!("/console/{}/keys", other.environment));
    let unknown = vera.get("/console/env_00000000000000000000000000/keys");
    assert_eq!((hidden.status, page(&hidden)), (404, page(&unknown)));
    let listed = page(&vera.get("/console/environments"));
    assert!(listed.contains(&own.environment) && !listed.contains(&other.environment), "{listed}");

    admin.delete(&format!("/admin/v1/users/{viewer}")).data(200);
    let signed_out = vera.get(&keys);
    assert_eq!(signed_out.status, 303, "the session ends with the token");
    assert!(signed_out.headers.get("location").unwrap().starts_with("/console/sign-in"));
}

#[test]
fn the_audit_log_has_who_did_what() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let (ada_id, _, ada) =
        user(&mut admin, &json!({"name": "Ada", "email": "ada@example.com", "role": "operator"}));
    let mut client = server.client(&ada);
    let key = client.post(&tenant.path("/keys"), &json!({"kind": "secret"})).data(201);
    assert_eq!(client.get("/admin/v1/audit-log").failure(403), "forbidden");
    let payment = "pay_00000000000000000000000000";
    assert_eq!(client.get(&tenant.path(&format!("/payments/{payment}"))).failure(404), "not_found");
    assert_eq!(server.client("wrong").get("/admin/v1/organizations").failure(401), "unauthenticated");
    let mut browser = Browser::sign_in(&server, &ada);
    assert_eq!(browser.get("/console/audit-log").status, 403);

    let mut entries = |query: &str| {
        let listed = admin.get(&format!("/admin/v1/audit-log?{query}")).data(200);
        listed["items"].as_array().unwrap().clone()
    };
    let of_ada = entries(&format!("userId={ada_id}"));
    let actions: Vec<_> = of_ada.iter().map(|entry| text(&entry["action"])).collect();
    let expected = ["access.refuse", "session.begin", "access.refuse", "key.issue"];
    assert_eq!(actions, expected, "newest first, and nothing of a payment that does not exist");
    let issued = of_ada.last().unwrap();
    assert_eq!(issued["subject"], key["id"]);
    assert_eq!((&issued["actorKind"], &issued["actor"]), (&json!("user"), &json!("Ada <ada@example.com>")));
    assert_eq!(
        (&issued["address"], &issued["environmentId"]),
        (&json!("127.0.0.1"), &json!(tenant.environment))
    );
    assert!(!issued.to_string().contains(&text(&key["key"])));
    let created = entries("action=user.create");
    assert_eq!((created.len(), &created[0]["actorKind"]), (1, &json!("bootstrap")));
    let refused = entries("action=access.refuse");
    assert!(refused.iter().any(|entry| entry["actorKind"] == json!("anonymous")), "{refused:?}");

    let exported = page(&admin.get("/admin/v1/audit-log.jsonl"));
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["action"], json!("audit_log.export"));
    let audit = admin.get("/admin/v1/audit").data(200);
    assert_eq!((&audit["clean"], &audit["auditLog"]["problem"]), (&json!(true), &Value::Null));
    assert_eq!(audit["auditLog"]["entries"], lines[0]["sequence"]);
    assert_eq!(audit["auditLog"]["head"], lines[0]["hash"]);
    let measured = format!(
        "tollgate_audit_log_entries{{hash=\"{}\"}} {}",
        text(&audit["auditLog"]["head"]),
        audit["auditLog"]["entries"]
    );
    let metrics = page(&server.client("").get("/metrics"));
    assert!(metrics.lines().any(|line| line == measured), "{measured}\n{metrics}");
    assert_eq!(admin.post("/admin/v1/audit-log/1/accept", &Value::Null).failure(404), "not_found");
}

#[test]
fn a_role_changes_in_place_and_people_keep_their_own_tokens() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let ada = json!({"name": "Ada", "email": "ada@example.com", "role": "viewer"});
    let (id, token_id, token) = user(&mut admin, &ada);
    let path = format!("/admin/v1/users/{id}");
    let mut client = server.client(&token);
    assert_eq!(client.post(&tenant.path("/keys"), &json!({"kind": "secret"})).failure(403), "forbidden");
    let limit = json!([organization(&server, &tenant)]);
    let change = json!({"name": "Ada King", "role": "operator", "organizations": limit});
    let headers = [("content-type", "application/json")];
    let mut patch = |body: &Value| admin.send("PATCH", &path, &headers, body.to_string().as_bytes());
    let changed = patch(&change).data(200);
    for field in ["name", "role", "organizations"] {
        assert_eq!(changed[field], change[field], "{changed}");
    }
    client.post(&tenant.path("/keys"), &json!({"kind": "secret"})).data(201);
    assert_eq!(patch(&json!({"role": "admin"})).faulty_fields(), ["organizations"]);
    assert_eq!(
        patch(&json!({"role": "owner", "organizations": []})).faulty_fields(),
        ["role", "organizations"]
    );
    let everywhere = patch(&json!({"organizations": null})).data(200);
    assert_eq!((&everywhere["organizations"], &everywhere["role"]), (&Value::Null, &json!("operator")));

    // Their own account: a token of their making does not outlive the one that made it.
    let mine = client.get("/admin/v1/account").data(200);
    assert_eq!(mine["user"]["id"], json!(id));
    assert_eq!(server.admin().get("/admin/v1/account").data(200)["user"], Value::Null);
    let asked = json!({"name": "laptop", "lifetimeSeconds": 366 * 86_400});
    let made = client.post("/admin/v1/account/tokens", &asked).data(201);
    let first = mine["user"]["tokens"][0]["expiresAt"].clone();
    assert!(made["expiresAt"].as_str() <= first.as_str(), "{made} outlives {first}");
    let mut with_own = server.client(made["token"].as_str().unwrap());
    let (_, other_token, _) =
        user(&mut server.admin(), &json!({"name": "Eve", "email": "eve@example.com", "role": "viewer"}));
    let revoke =
        |client: &mut Client, token: &str| client.delete(&format!("/admin/v1/account/tokens/{token}"));
    assert_eq!(revoke(&mut with_own, &other_token).failure(404), "not_found");
    revoke(&mut with_own, &token_id).data(200);
    assert_eq!(client.get("/admin/v1/account").failure(401), "unauthenticated");
    assert_eq!(server.admin().post("/admin/v1/account/tokens", &asked).failure(404), "not_found");
    wait_until("the last use is written", Duration::from_mins(2), || {
        let user = with_own.get("/admin/v1/account").data(200)["user"].clone();
        user["lastUsedAt"].is_string() && user["tokens"][0]["lastUsedAt"].is_string()
    });

    let mut browser = Browser::sign_in(&server, with_own.credential.as_str());
    let shown = page(&browser.get("/console/account"));
    assert!(shown.contains("Ada King") && shown.contains("laptop"), "{shown}");
    let listed = server.admin().get("/admin/v1/audit-log?action=key.issue").data(200);
    assert_eq!(listed["items"][0]["tokenId"], json!(token_id));
}

#[test]
fn refusals_and_lists_of_one_operator_do_not_flood_the_audit_log() {
    let server = Start::serve().run();
    let mut admin = server.admin();
    let tenant = Tenant::create(&mut admin);
    let vera = json!({"name": "Vera", "email": "vera@example.com", "role": "viewer"});
    let (_, _, token) = user(&mut admin, &vera);
    let mut client = server.client(&token);
    let began = std::time::Instant::now();
    for _ in 0..200 {
        assert_eq!(client.get("/admin/v1/users").failure(403), "forbidden");
    }
    client.get(&tenant.path("/transactions?search=ada&status=failed")).data(200);
    let mut entries = |action: &str| {
        let listed = admin.get(&format!("/admin/v1/audit-log?limit=200&action={action}")).data(200);
        listed["items"].as_array().unwrap().clone()
    };
    // Every one is counted, in a few entries.
    wait_until("all are counted", Duration::from_secs(120), || {
        let refused = entries("access.refuse");
        let left_out = refused.iter().filter_map(|entry| entry["after"]["leftOut"].as_u64()).sum::<u64>();
        let rows = u64::try_from(refused.len()).unwrap();
        assert!(rows <= 22 + began.elapsed().as_secs(), "{rows} entries");
        rows + left_out == 200
    });
    let listed = entries("payment.list");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["after"], json!({"search": true, "status": "failed"}));
    assert_eq!(listed[0]["environmentId"], json!(tenant.environment));
    for (path, action) in [("/events", "event.list"), ("/approvals", "approval.list")] {
        client.get(&tenant.path(path)).data(200);
        assert_eq!(entries(action).len(), 1, "{action}");
    }
    let mut browser = Browser::sign_in(&server, &token);
    for (page, action) in [("events", "event.list"), ("approvals", "approval.list")] {
        assert_eq!(browser.get(&format!("/console/{}/{page}", tenant.environment)).status, 200);
        assert_eq!(entries(action).len(), 2, "{action}");
    }
    // Nor do tokens that people make for themselves.
    let mut make = || client.post("/admin/v1/account/tokens", &json!({"name": "laptop"}));
    let made: Vec<_> = (0..19).map(|_| text(&make().data(201)["id"])).collect();
    for id in made {
        server.client(&token).delete(&format!("/admin/v1/account/tokens/{id}")).data(200);
    }
    make().data(201);
    let refused = make();
    assert_eq!(refused.failure(429), "rate_limited");
    assert!(refused.headers.contains_key("retry-after"), "{:?}", refused.headers);
}

#[test]
fn admin_tokens_are_generated_and_guessing_is_slow_everywhere() {
    let chosen = Start::serve()
        .without("TOLLGATE_ALLOW_WEAK_ADMIN_TOKEN")
        .with("TOLLGATE_ADMIN_TOKEN", "summer-holiday-24");
    let mut refused = chosen.spawn();
    assert!(!refused.wait_end(Duration::from_secs(150)).success());
    assert!(refused.log().contains("tollgate generate admin-token"), "{}", refused.log());

    let server = Start::serve().run();
    let mut client = server.client("a wrong token");
    let answers: Vec<_> = (0..40).map(|_| client.get("/admin/v1/organizations").status).collect();
    let let_through = answers.iter().filter(|status| **status == 401).count();
    assert!((10..40).contains(&let_through), "{answers:?}");
    assert!(answers.contains(&429), "{answers:?}");
    // The same allowance at the console, which is used up; and a right one is never refused for the wrong ones.
    let sign_in = |token: &str| {
        let sent = format!("token={token}");
        server.client("").send("POST", "/console/sign-in", &[FORM], sent.as_bytes()).status
    };
    // The slower the machine, the more are let through meanwhile.
    assert!((0..40).any(|_| sign_in("another") == 429), "nobody was limited");
    server.admin().get("/admin/v1/organizations").data(200);
}
