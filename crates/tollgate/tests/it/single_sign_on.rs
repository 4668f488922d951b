//! Signing in to the console with an OpenID Connect issuer, and everybody who is not let in.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json};

use crate::support::{ADMIN_TOKEN, Answer, Client, Server, Start};

#[path = "../../../oidc/tests/it/issuer.rs"]
#[allow(dead_code)]
mod issuer;
#[path = "../../../oidc/tests/it/signer.rs"]
#[allow(dead_code)]
mod signer;

use issuer::{CLIENT_ID, CLIENT_SECRET, Grant, TestIssuer};
use signer::Signer;

/// Where operators open the console, behind a proxy of theirs.
const CONSOLE: &str = "https://console.example.com";
const START: &str = "/console/oidc/sign-in";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn page(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

fn with_issuer(url: &str) -> Start {
    Start::serve()
        .with("TOLLGATE_OIDC_ISSUER", url)
        .with("TOLLGATE_OIDC_CLIENT_ID", CLIENT_ID)
        .with("TOLLGATE_OIDC_CLIENT_SECRET", CLIENT_SECRET)
        .with("TOLLGATE_CONSOLE_URL", &format!("{CONSOLE}/"))
        .with("TOLLGATE_LOG", "trace")
}

/// A cookie that an answer sets, as it is sent back; empty if it is ended.
fn cookie(answer: &Answer, name: &str) -> Option<String> {
    let mut cookies = answer.headers.get("set-cookie")?.lines();
    let set = cookies.find(|cookie| cookie.starts_with(&format!("{name}=")))?;
    let pair = set.split(';').next().unwrap();
    Some(if set.contains("Max-Age=0") { String::new() } else { pair.to_owned() })
}

struct World {
    server: Server,
    issuer: TestIssuer,
    signer: Signer,
}

/// A browser that was sent to the issuer.
struct Waiting {
    cookie: String,
    query: HashMap<String, String>,
}

impl World {
    fn new() -> Self {
        let (issuer, signer) = (TestIssuer::start(), Signer::rsa("key"));
        issuer.publish(vec![signer.jwk()]);
        Self { server: with_issuer(&issuer.url).run(), issuer, signer }
    }

    fn client(&self) -> Client {
        self.server.client("")
    }

    fn start(&self, next: &str) -> Waiting {
        let answer = self.client().send("GET", &format!("{START}?next={next}"), &[], b"");
        assert_eq!(answer.status, 303, "{}", page(&answer));
        let location = answer.headers.get("location").unwrap();
        assert!(location.starts_with(&format!("{}/authorize?", self.issuer.url)), "{location}");
        let query = location.split_once('?').unwrap().1;
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Waiting { cookie: cookie(&answer, "tollgate_sign_in").unwrap(), query }
    }

    /// The issuer's answer to somebody who signed in there.
    fn code(&self, waiting: &Waiting, change: &Value) -> String {
        let now = jiff::Timestamp::now().as_second();
        let mut claims = json!({
            "iss": self.issuer.url, "sub": "subject-1", "aud": CLIENT_ID, "exp": now + 300, "iat": now,
            "nonce": waiting.query["nonce"], "email": "ada@example.com", "email_verified": true,
        });
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let (id_token, challenge) = (self.signer.token(&claims), waiting.query["code_challenge"].clone());
        self.issuer.code(Grant { id_token, challenge, user_info: None })
    }

    fn back(&self, waiting: &Waiting, query: &str) -> Answer {
        let path = format!("/console/oidc/callback?{query}");
        self.client().send("GET", &path, &[("cookie", &waiting.cookie)], b"")
    }

    /// From the start to the end, with these claims.
    fn sign_in(&self, change: &Value) -> Answer {
        let waiting = self.start("");
        let code = self.code(&waiting, change);
        self.back(&waiting, &format!("code={code}&state={}", waiting.query["state"]))
    }

    fn get(&self, session: &str, path: &str) -> Answer {
        self.client().send("GET", path, &[("cookie", session)], b"")
    }

    fn add(&self, name: &str, email: &str) -> String {
        let user = json!({"name": name, "email": email, "role": "viewer"});
        self.server.admin().post("/admin/v1/users", &user).data(201)["id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_user_signs_in_until_they_sign_out_or_are_removed() {
    let world = World::new();
    let ada = world.add("Ada Lovelace", "Ada@Example.com");
    let form = page(&world.client().send("GET", "/console/sign-in?next=/console/environments", &[], b""));
    assert!(form.contains("Sign in with single sign-on") && form.contains(START), "{form}");

    let waiting = world.start("/console/environments");
    assert_eq!(waiting.query["redirect_uri"], format!("{CONSOLE}/console/oidc/callback"));
    let code = world.code(&waiting, &json!({}));
    let query = format!("code={code}&state={}&iss={}", waiting.query["state"], world.issuer.url);
    let answer = world.back(&waiting, &query);
    assert_eq!(answer.status, 200, "{}", page(&answer));
    assert!(page(&answer).contains("content=\"0;url=/console/environments\""), "{}", page(&answer));
    assert_eq!(cookie(&answer, "tollgate_sign_in").as_deref(), Some(""));
    assert!(answer.headers["set-cookie"].lines().all(|cookie| cookie.ends_with("; Secure")));
    let session = cookie(&answer, "tollgate_session").unwrap();
    let shown = page(&world.get(&session, "/console/environments"));
    assert!(shown.contains("Ada Lovelace"), "{shown}");
    assert_eq!(world.get(&session, "/console/users").status, 403, "the role is the user's");

    // An answer is taken once, whatever code comes with it.
    let code = world.code(&waiting, &json!({}));
    let replayed = world.back(&waiting, &format!("code={code}&state={}", waiting.query["state"]));
    assert_eq!((replayed.status, cookie(&replayed, "tollgate_session")), (401, None));
    assert!(page(&replayed).contains("already used"), "{}", page(&replayed));

    let csrf = shown.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let body = format!("csrf={csrf}");
    let ended =
        world.client().send("POST", "/console/sign-out", &[("cookie", &session), FORM], body.as_bytes());
    assert_eq!(ended.status, 303);
    assert_eq!(world.get(&session, "/console/environments").status, 303, "signed out");

    let session = cookie(&world.sign_in(&json!({})), "tollgate_session").unwrap();
    assert_eq!(world.get(&session, "/console/environments").status, 200);
    world.server.admin().delete(&format!("/admin/v1/users/{ada}")).data(200);
    assert_eq!(world.get(&session, "/console/environments").status, 303, "removed");
    let refused = world.sign_in(&json!({}));
    assert_eq!(refused.status, 403);
    assert!(page(&refused).contains("no user has the address ada@example.com"), "{}", page(&refused));

    let listed = world.server.admin().get(&format!("/admin/v1/audit-log?userId={ada}")).data(200);
    let actions: Vec<_> = listed["items"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    // The page that the role does not include was refused in between.
    assert_eq!(actions, ["session.begin", "session.end", "access.refuse", "session.begin", "user.bind"]);
    assert_eq!(listed["items"][0]["after"]["subject"], json!("subject-1"));
    let checks = world.server.admin().get("/admin/v1/doctor").data(200)["checks"].clone();
    assert_eq!((&checks[0]["name"], &checks[0]["verdict"]), (&json!("sign-on"), &json!("ok")), "{checks}");
    let log = world.server.log();
    for secret in ["code-not-to-be-logged", CLIENT_SECRET, "tollgate_sign_in", &waiting.query["state"], "eyJ"]
    {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn nobody_else_gets_in_and_each_is_told_why() {
    let world = World::new();
    world.add("Ada Lovelace", "ada@example.com");
    let now = jiff::Timestamp::now().as_second();
    for (change, status, sentence) in [
        (json!({"email": "eve@example.com"}), 403, "Ask an admin to add you"),
        (json!({"email_verified": false}), 403, "ada@example.com is not verified"),
        (json!({"nonce": "another"}), 401, "could not be verified"),
        (json!({"aud": "another"}), 401, "could not be verified"),
        (json!({"exp": now - 100}), 401, "could not be verified"),
        (json!({"iss": "https://id.example.com"}), 401, "could not be verified"),
    ] {
        let answer = world.sign_in(&change);
        assert_eq!((answer.status, cookie(&answer, "tollgate_session")), (status, None), "{change}");
        assert!(page(&answer).contains(sentence), "{change}: {}", page(&answer));
    }
    // Another key under the same name.
    let (waiting, other) = (world.start(""), Signer::ec("key"));
    let id_token = other.token(&json!({}));
    let challenge = waiting.query["code_challenge"].clone();
    let code = world.issuer.code(Grant { id_token, challenge, user_info: None });
    assert_eq!(world.back(&waiting, &format!("code={code}&state={}", waiting.query["state"])).status, 401);
    // Another browser's answer, no answer, and what the issuer says by itself.
    let (own, another) = (world.start(""), world.start(""));
    let code = world.code(&another, &json!({}));
    let crossed = world.back(&own, &format!("code={code}&state={}", another.query["state"]));
    assert!(crossed.status == 401 && page(&crossed).contains("started in another browser"));
    let denied = world.back(&own, &format!("error=access_denied&state={}", own.query["state"]));
    assert!(denied.status == 401 && page(&denied).contains("answered access_denied"), "{}", page(&denied));

    let refused = world.server.admin().get("/admin/v1/audit-log?action=session.refuse").data(200);
    let refused = refused["items"].as_array().unwrap();
    assert_eq!(refused.len(), 9, "{refused:?}");
    let first = refused.last().unwrap();
    assert_eq!(
        (&first["actorKind"], &first["after"]["email"]),
        (&json!("anonymous"), &json!("eve@example.com"))
    );
    assert_eq!(first["after"]["reason"], json!("unknown user"));
}

#[test]
fn without_its_issuer_the_console_says_so_and_takes_tokens() {
    let mut world = World::new();
    world.add("Ada Lovelace", "ada@example.com");
    let session = cookie(&world.sign_in(&json!({})), "tollgate_session").unwrap();
    let data_dir = world.server.data_dir.clone();
    world.server.kill();
    let same = with_issuer(&world.issuer.url).within(&data_dir).run();
    let opened = same.client("").send("GET", "/console/environments", &[("cookie", &session)], b"");
    assert_eq!(opened.status, 200);
    drop(same);

    let server = with_issuer("http://127.0.0.1:1").within(&data_dir).run();
    let opened = server.client("").send("GET", "/console/environments", &[("cookie", &session)], b"");
    assert_eq!(opened.status, 303, "only the issuer that is trusted now vouches for sessions");
    let answer = server.client("").send("GET", START, &[], b"");
    assert_eq!((answer.status, cookie(&answer, "tollgate_sign_in")), (503, None));
    assert!(page(&answer).contains("Your identity provider is not responding"), "{}", page(&answer));
    let doctor = server.admin().get("/admin/v1/doctor").data(200);
    assert_eq!(doctor["checks"][0]["verdict"], json!("problem"), "{doctor}");
    let form = format!("token={}", ADMIN_TOKEN.replace(' ', "+"));
    let signed_in = server.client("").send("POST", "/console/sign-in", &[FORM], form.as_bytes());
    assert!(cookie(&signed_in, "tollgate_session").is_some());

    let without = Start::serve().run();
    assert_eq!(without.client("").send("GET", START, &[], b"").status, 404);
    let form = page(&without.client("").send("GET", "/console/sign-in", &[], b""));
    assert!(!form.contains("single sign-on"), "{form}");
}

#[test]
fn nobody_else_signs_in_as_a_user_who_is_bound() {
    let world = World::new();
    let ada = world.add("Ada Lovelace", "ada@example.com");
    assert!(cookie(&world.sign_in(&json!({})), "tollgate_session").is_some());
    let other = world.sign_in(&json!({"sub": "subject-2"}));
    assert_eq!((other.status, cookie(&other, "tollgate_session")), (403, None));
    assert!(page(&other).contains("belongs to another account"), "{}", page(&other));
    let listed = world.server.admin().get("/admin/v1/users").data(200);
    assert_eq!(listed["items"][0]["singleSignOn"], json!(true), "{listed}");
    assert!(cookie(&world.sign_in(&json!({})), "tollgate_session").is_some(), "still the first one's");
    // Removed and added again, the user is whoever signs in first.
    world.server.admin().delete(&format!("/admin/v1/users/{ada}")).data(200);
    world.add("Ada Lovelace", "ada@example.com");
    assert!(cookie(&world.sign_in(&json!({"sub": "subject-2"})), "tollgate_session").is_some());
}

#[test]
fn the_console_can_be_closed_to_tokens_and_demand_a_second_factor() {
    let (issuer, signer) = (TestIssuer::start(), Signer::rsa("key"));
    issuer.publish(vec![signer.jwk()]);
    let closed = || with_issuer(&issuer.url).with("TOLLGATE_CONSOLE_SSO_ONLY", "true");
    let server = closed()
        .with("TOLLGATE_OIDC_ACR_VALUES", "phr phrh")
        .with("TOLLGATE_OIDC_MAX_AGE_SECONDS", "600")
        .with("TOLLGATE_OIDC_AMR_VALUES", "mfa")
        .run();
    let url = issuer.url.clone();
    let world = World { server, issuer, signer };
    let ada = world.add("Ada Lovelace", "ada@example.com");
    let path = format!("/admin/v1/users/{ada}/tokens");
    let token = world.server.admin().post(&path, &json!({"name": "laptop"})).data(201);
    let form = page(&world.client().send("GET", "/console/sign-in", &[], b""));
    assert!(!form.contains("name=\"token\""), "{form}");
    for token in [token["token"].as_str().unwrap(), &ADMIN_TOKEN.replace(' ', "+")] {
        let sent = format!("token={token}");
        let refused = world.client().send("POST", "/console/sign-in", &[FORM], sent.as_bytes());
        assert_eq!((refused.status, cookie(&refused, "tollgate_session")), (403, None));
        assert!(page(&refused).contains("single sign-on only"), "{}", page(&refused));
    }
    let waiting = world.start("");
    assert_eq!((&waiting.query["acr_values"][..], &waiting.query["max_age"][..]), ("phr phrh", "600"));
    let now = jiff::Timestamp::now().as_second();
    for weak in [
        json!({}),
        json!({"acr": "phr", "amr": ["mfa"]}),
        json!({"acr": "pwd", "amr": ["mfa"], "auth_time": now}),
        json!({"acr": "phr", "amr": ["pwd"], "auth_time": now}),
        json!({"acr": "phr", "amr": ["mfa"], "auth_time": now - 3_600}),
    ] {
        let answer = world.sign_in(&weak);
        assert_eq!((answer.status, cookie(&answer, "tollgate_session")), (403, None), "{weak}");
        assert!(page(&answer).contains("second factor"), "{weak}: {}", page(&answer));
    }
    let strong = world.sign_in(&json!({"acr": "phrh", "amr": ["pwd", "mfa"], "auth_time": now}));
    assert!(cookie(&strong, "tollgate_session").is_some(), "{}", page(&strong));
    world.server.client(token["token"].as_str().unwrap()).get("/admin/v1/account").data(200);

    // The admin token opens it again only if a second setting says so.
    let open = with_issuer(&url)
        .with("TOLLGATE_CONSOLE_SSO_ONLY", "true")
        .with("TOLLGATE_CONSOLE_ALLOW_ADMIN_TOKEN", "true")
        .run();
    let sent = format!("token={}", ADMIN_TOKEN.replace(' ', "+"));
    assert_eq!(open.client("").send("POST", "/console/sign-in", &[FORM], sent.as_bytes()).status, 303);
    let mut without = Start::serve().with("TOLLGATE_CONSOLE_SSO_ONLY", "true").spawn();
    assert!(!without.wait_end(Duration::from_secs(150)).success());
    assert!(without.log().contains("TOLLGATE_OIDC_ISSUER"), "{}", without.log());
}
