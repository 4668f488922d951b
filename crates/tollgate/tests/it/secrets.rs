//! No secret is in any log, output, answer or database, in any form, however talkative the log is.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::{Answer, Client, Database, Key, QUOTE, Server, Start, Tenant};

const MASTER_KEY: &str = "mk-canary-Zq81vKx0PdW7LtYb53RmHs29uEfG";
const ADMIN_TOKEN: &str = "at-canary-Nw64cJr8XbA2VoTi97QkMg05yDhS";
const CREDENTIALS: [&str; 5] = [
    "cr-canary-1-Ge73nPz5UaL8FvCw16XjRd42",
    "cr-canary-2-Bh29tMq6YsK3OiEx85NcVf71",
    "cr-canary-3-Dy50wTu9HgR4ZpAl27JkSb68",
    "cr-canary-4-Lm14xVi3QcF6EoWn98GtPz05",
    "cr-canary-5-Kr87aNd2JhY1UbXs46OvMe39",
];
/// Sent in places where no secret belongs, and refused there.
const MISPLACED: &str = "mp-canary-Tf36kHy9EwQ0CzRb71LgUj58";
const WRONG_TOKEN: &str = "wt-canary-Sx25dPo7NaV4MiKf80BqGr13";

/// A text and the forms in which it might hide. The middle of the text is looked for, so that a part of it shown
/// with its ends cut off counts, and the four characters of a mask do not.
pub struct Canary {
    pub name: String,
    forms: Vec<Vec<u8>>,
}

impl Canary {
    pub fn new(secret: &str) -> Self {
        let bytes = secret.as_bytes();
        let middle = &bytes[bytes.len() / 2 - 8..bytes.len() / 2 + 8];
        let hex = hex(middle);
        let list: Vec<_> = middle.iter().map(u8::to_string).collect();
        let mut forms = vec![middle.to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
        forms.extend([list.join(", ").into_bytes(), list.join(",").into_bytes()]);
        for alphabet in [b"+/", b"-_"] {
            forms.extend((0..3).map(|shift| base64(middle, shift, *alphabet)));
        }
        Self { name: secret.to_owned(), forms }
    }

    pub fn is_in(&self, text: &[u8]) -> bool {
        self.forms.iter().any(|form| contains(text, form))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    // By the first byte first: the texts are large.
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == part[0]) {
        if rest[at..].starts_with(part) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// The base64 of bytes that begin `shift` bytes into a group of three, without the letters their neighbors share.
fn base64(bytes: &[u8], shift: usize, last_two: [u8; 2]) -> Vec<u8> {
    let mut letters: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').collect();
    letters.extend(last_two);
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let skipped = [0, 4, 2][shift];
    let groups = bits[skipped..].chunks_exact(6);
    groups.map(|group| letters[group.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit))]).collect()
}

/// Everything a session said, other than the answers that show a new key.
#[derive(Default)]
struct Heard {
    answers: Vec<Vec<u8>>,
    canaries: Vec<Canary>,
}

impl Heard {
    fn note(&mut self, answer: Answer) -> Answer {
        let mut said = answer.body.clone();
        said.extend(format!("{:?}", answer.headers).into_bytes());
        self.answers.push(said);
        answer
    }

    fn key(&mut self, answer: &Answer) -> Key {
        let key = Key::of(answer);
        self.canaries.push(Canary::new(&key.key));
        key
    }

    #[track_caller]
    fn check(&self, place: &str, text: &[u8]) {
        for canary in &self.canaries {
            assert!(!canary.is_in(text), "{} is in {place}", canary.name);
        }
    }

    #[track_caller]
    fn check_answers(&self) {
        for answer in &self.answers {
            self.check(&String::from_utf8_lossy(answer), answer);
        }
    }
}

fn configuration() -> Value {
    let [one, two, three, four, five] = CREDENTIALS;
    json!({
        "providers": {
            "cards_a": {"adapter": "stripe", "credentials": {"secretKey": one, "publishableKey": "pk_open", "webhookSecret": two}},
            "cards_b": {"adapter": "square", "credentials": {"accessToken": three, "applicationId": "open", "locationId": "open"}},
            "bank": {"adapter": "increase", "credentials": {"apiKey": four, "webhookSecret": five},
                     "funding": {"accountId": "open", "accountNumberId": "open"}},
        },
        "routing": {"web_card": {"enabled": true, "rules": [], "default": {"provider": "cards_a", "channel": "web_card"}}},
        "fees": [],
    })
}

/// Secrets where none belong: as a value of each kind of field, in a broken document, in an unknown field. Names are
/// left out: a fault that does not say which provider is missing helps nobody.
fn faulty_configurations() -> Vec<String> {
    let mut faulty = Vec::new();
    for place in [
        "/providers/cards_a/adapter",
        "/providers/cards_a/credentials",
        "/providers/cards_b/environment",
        "/providers/cards_a/baseUrl",
        "/routing/web_card/enabled",
        "/routing/web_card/default/channel",
        "/fees",
        "/providers",
    ] {
        let mut document = configuration();
        if place.ends_with("environment") || place.ends_with("baseUrl") {
            document["providers"]["cards_a"]["baseUrl"] = json!("https://x.example");
            document["providers"]["cards_b"]["environment"] = json!("sandbox");
        }
        *document.pointer_mut(place).unwrap() = json!(MISPLACED);
        faulty.push(document.to_string());
    }
    let mut document = configuration();
    document["providers"]["cards_a"]["baseUrl"] = json!(format!("https://user:{MISPLACED}@x.example"));
    faulty.push(document.to_string());
    document["providers"]["cards_a"]["credentials"]["secretKey"] = json!([MISPLACED, 5]);
    faulty.push(document.to_string());
    document["providers"]["cards_a"]["credentials"]["unknown"] = json!(MISPLACED);
    faulty.push(document.to_string());
    faulty.push(format!("{{\"providers\": {MISPLACED}"));
    faulty.push(format!("{{\"providers\": {{\"x\": {{}}, \"x\": \"{MISPLACED}\"}}}}"));
    faulty
}

/// Uses every endpoint that has to do with secrets, rightly and wrongly.
fn use_secrets(server: &Server, heard: &mut Heard) {
    let fixed = [MASTER_KEY, ADMIN_TOKEN, MISPLACED, WRONG_TOKEN];
    heard.canaries.extend(fixed.iter().chain(&CREDENTIALS).map(|secret| Canary::new(secret)));
    let mut admin = server.client(ADMIN_TOKEN);
    let tenant = Tenant::create(&mut admin);
    let config = tenant.path("/config");

    heard.note(admin.put(&config, &configuration())).data(200);
    let read = heard.note(admin.get(&config)).data(200);
    heard.note(admin.put(&config, &read)).data(200);
    heard.note(admin.get(&tenant.path("/config/versions/1"))).data(200);
    heard.note(admin.get(&tenant.path("/config/versions"))).data(200);
    for body in faulty_configurations() {
        heard
            .note(admin.send("PUT", &config, &[("content-type", "application/json")], body.as_bytes()))
            .failure(400);
    }

    let issued = admin.post(&tenant.path("/keys"), &json!({"kind": "secret"}));
    let first = heard.key(&issued);
    heard.key(&admin.post(&tenant.path("/keys"), &json!({"kind": "publishable"})));
    let rotated =
        admin.post(&tenant.path(&format!("/keys/{}/rotate", first.id)), &json!({"graceSeconds": 60}));
    let second = heard.key(&rotated);
    let body = json!({"amountMinor": "500", "currency": "USD"});
    for key in [&first, &second] {
        heard.note(server.client(&key.key).post(QUOTE, &body)).data(200);
    }
    heard.note(admin.get(&tenant.path("/keys"))).data(200);
    heard.note(admin.delete(&tenant.path(&format!("/keys/{}", first.id)))).data(200);
    heard.note(server.client(&first.key).post(QUOTE, &body)).failure(401);
    use_wrongly(server, heard, &tenant, &second.key);
}

fn use_wrongly(server: &Server, heard: &mut Heard, tenant: &Tenant, key: &str) {
    let mut client = server.client(key);
    for metadata in [json!({"note": key}), json!({key: 1}), json!({"deep": [{"note": format!("see {key}")}]})]
    {
        let body = json!({"amountMinor": "500", "currency": "USD", "metadata": metadata});
        assert_eq!(heard.note(client.post(QUOTE, &body)).faulty_fields(), ["metadata"]);
    }
    for body in [
        json!({"amountMinor": key, "currency": key, "paymentMethod": key, "flow": key}),
        json!(key),
        json!([key]),
    ] {
        heard.note(client.post(QUOTE, &body)).failure(400);
    }
    heard.note(client.send("POST", QUOTE, &[("content-type", key)], b"{}")).failure(415);
    heard.note(client.send("POST", &format!("{QUOTE}?key={key}"), &[], b"{}")).failure(415);
    heard.note(server.client(ADMIN_TOKEN).get(&tenant.path(&format!("/keys?after={key}")))).failure(400);
    heard.note(server.client(ADMIN_TOKEN).post(&tenant.path("/keys"), &json!({"kind": key}))).failure(400);
    // Wrong in each way: unknown, mistyped, of the other API, of another scheme.
    let typed = format!("{key}x");
    for credential in [WRONG_TOKEN, ADMIN_TOKEN, &typed] {
        heard.note(server.client(credential).post(QUOTE, &json!({}))).failure(401);
    }
    for credential in [WRONG_TOKEN, key, &typed] {
        heard.note(server.client(credential).get(&tenant.path("/config"))).failure(401);
    }
    for scheme in ["Basic", "Token"] {
        let authorization = format!("{scheme} {key}");
        let mut bare = Client::new(server.address(), "");
        heard.note(bare.send("POST", QUOTE, &[("authorization", &authorization)], b"{}")).failure(401);
    }
    for path in ["/metrics", "/readyz", "/healthz"] {
        heard.note(server.client("").get(path));
    }
}

fn start() -> Start {
    let start = Start::serve().with("TOLLGATE_LOG", "trace");
    start.with("TOLLGATE_MASTER_KEY", MASTER_KEY).with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN)
}

/// The log, the output and whatever else is in the server's folder. The server still runs, so the database's
/// write-ahead log is there.
fn check_files(folder: &Path, heard: &Heard) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = files
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()));
    read.map(|(name, content)| {
        heard.check(&name, &content);
        format!("{} ({} bytes)", name.rsplit('/').next().unwrap_or_default(), content.len())
    })
    .collect()
}

#[test]
fn no_secret_is_in_log_output_answers_or_the_sqlite_file() {
    let mut server = start().run();
    let mut heard = Heard::default();
    use_secrets(&server, &mut heard);
    heard.check_answers();
    let names = check_files(&server.data_dir, &heard).join(", ");
    for expected in ["tollgate.db (", "tollgate.db-wal (", "tollgate.db-shm (", "log-", ".out"] {
        assert!(names.contains(expected), "{expected} was not looked at: {names}");
    }
    // Once more when all is written: the log to its last line, and the write-ahead log folded in.
    assert!(server.terminate().success());
    println!(
        "looked for {} secrets in {}",
        heard.canaries.len(),
        check_files(&server.data_dir, &heard).join(", ")
    );
    assert!(server.log().contains("\"level\":\"TRACE\"") || server.log().contains("\"level\":\"DEBUG\""));
}

#[test]
fn no_secret_is_in_log_output_answers_or_postgres() {
    let database = Database::create();
    let mut server = start().with("TOLLGATE_DATABASE_URL", &database.url).run();
    let mut heard = Heard::default();
    use_secrets(&server, &mut heard);
    let name = "Bound and not logged";
    server.client(ADMIN_TOKEN).post("/admin/v1/organizations", &json!({"name": name})).data(201);
    heard.check_answers();
    assert!(server.terminate().success());
    // The driver would log every value it binds, secret or not.
    assert!(!server.log().contains(name));
    println!(
        "looked for {} secrets in {}",
        heard.canaries.len(),
        check_files(&server.data_dir, &heard).join(", ")
    );
    let tables = database
        .texts("SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'");
    assert!(tables.len() >= 8, "{tables:?}");
    let mut rows = 0;
    for table in tables {
        for row in database.texts(&format!("SELECT whole::text FROM \"{table}\" AS whole")) {
            heard.check(&table, row.as_bytes());
            rows += 1;
        }
    }
    assert!(rows > 10, "only {rows} rows");
}

#[test]
fn the_search_would_find_a_secret_in_every_form() {
    let canary = Canary::new(ADMIN_TOKEN);
    let hex = hex(ADMIN_TOKEN.as_bytes());
    let mut hidden = vec![
        format!("{{\"token\":\"{ADMIN_TOKEN}\"}}"),
        ADMIN_TOKEN.chars().skip(6).take(28).collect(),
        format!("\\x{hex}"),
        hex.to_uppercase(),
        format!("{:?}", ADMIN_TOKEN.as_bytes()),
    ];
    // At each place that a text can have in its groups of three bytes.
    for before in ["", "a", "ab"] {
        let text = format!("{before}{ADMIN_TOKEN}");
        hidden.push(String::from_utf8(base64(text.as_bytes(), 0, *b"+/")).unwrap());
    }
    for text in &hidden {
        assert!(canary.is_in(text.as_bytes()), "{text}");
    }
    assert_eq!(base64(b"Many hands>?", 0, *b"+/"), b"TWFueSBoYW5kcz4/");
    for text in ["", "********yDhS", MASTER_KEY, "an admin token that is another"] {
        assert!(!canary.is_in(text.as_bytes()), "{text}");
    }
}
