//! People: personal tokens at the admin API and at the console.

use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, Start, Tenant};

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
    let expected = ["access.refuse", "session.begin", "payment.view", "access.refuse", "key.issue"];
    assert_eq!(actions, expected, "newest first");
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
}
