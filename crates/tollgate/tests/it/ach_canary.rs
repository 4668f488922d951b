//! A bank's and an account's number are in no log, answer, timeline or database, in any form, whatever became of the
//! transfer; of the account's number the last four digits are all that is ever shown.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    Answer, BankRail, BankStore, BankWorld, Client, Desk, On, REFUSED_BANK, SLOW_BANK, TRANSFERS,
    on_alternate_rails,
};

const ROUTING: &str = "283917460";
const ACCOUNTS: [&str; 4] = ["48271936550217", "93715520846631", "62840917735508", "17369952204874"];
const CORRECTED: &str = "50618274937746";
/// Shown to whoever is to correct it: which bank it is, is no secret.
const CORRECTED_BANK: &str = "122105155";

/// A number and the forms in which it might hide, its last four digits aside.
struct Canary {
    name: &'static str,
    forms: Vec<Vec<u8>>,
}

impl Canary {
    fn account(number: &'static str) -> Self {
        Self::new(number, &number[..number.len() - 4])
    }

    fn new(name: &'static str, part: &str) -> Self {
        let bytes = part.as_bytes();
        let hex = hex(bytes);
        let list: Vec<_> = bytes.iter().map(u8::to_string).collect();
        let mut forms = vec![bytes.to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
        forms.extend([list.join(", ").into_bytes(), list.join(",").into_bytes()]);
        // The letters of digits are the same in both alphabets of base64.
        forms.extend((0..3).map(|shift| base64(bytes, shift)));
        forms.dedup();
        Self { name, forms }
    }

    fn is_in(&self, text: &[u8]) -> bool {
        self.forms.iter().any(|form| contains(text, form))
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
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
fn base64(bytes: &[u8], shift: usize) -> Vec<u8> {
    let letters: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*b"+/").collect();
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let groups = bits[[0, 4, 2][shift]..].chunks_exact(6);
    groups.map(|group| letters[group.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit))]).collect()
}

/// Everything that was said.
struct Heard {
    canaries: Vec<Canary>,
    looked_at: usize,
}

impl Heard {
    fn new() -> Self {
        let mut canaries: Vec<_> = ACCOUNTS.into_iter().chain([CORRECTED]).map(Canary::account).collect();
        canaries.push(Canary::new(ROUTING, ROUTING));
        // Wrong in its last digit, so that it is refused; one too long to be an account's.
        canaries.push(Canary::new("a wrong routing number", "617482931"));
        canaries.push(Canary::new("too long an account number", "826405513790264881"));
        Self { canaries, looked_at: 0 }
    }

    #[track_caller]
    fn check(&mut self, place: &str, text: &[u8]) {
        self.looked_at += text.len();
        for canary in &self.canaries {
            assert!(!canary.is_in(text), "{} is in {place}", canary.name);
        }
    }

    #[track_caller]
    fn note(&mut self, answer: Answer) -> Answer {
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        self.check(&format!("an answer: {said}"), &answer.body);
        self.check("the headers of an answer", format!("{:?}", answer.headers).as_bytes());
        answer
    }
}

fn body(desk: &Desk, key: &str, account: &str) -> Value {
    let mut body = desk.body(key, 10_000);
    body["routingNumber"] = json!(ROUTING);
    body["accountNumber"] = json!(account);
    body
}

/// Transfers of every end, and requests that never become one.
fn use_numbers(world: &BankWorld, heard: &mut Heard) -> String {
    let (desk, simulator) = (&world.desk, &world.simulator);
    // Taken, corrected, settled and sent back.
    let taken = heard.note(desk.transfer(&body(desk, "taken by the provider", ACCOUNTS[0]))).data(201);
    let reference = taken["transaction"]["serviceReference"].as_str().unwrap();
    desk.wait_status(reference, "processing");
    let id = simulator.sole(reference).id;
    simulator.simulate(&id, "submit", &json!({}));
    simulator.correct(&id, CORRECTED, CORRECTED_BANK);
    desk.wait(reference, "corrected", || {
        desk.transaction(reference)["transfer"]["notificationsOfChange"] != json!([])
    });
    simulator.simulate(&id, "settle", &json!({}));
    desk.wait_status(reference, "succeeded");
    simulator.simulate(&id, "return", &simulator.rail.returned("no_account", "R03"));
    desk.wait_status(reference, "failed");
    heard.note(desk.transfer(&body(desk, "taken by the provider", ACCOUNTS[0]))).data(200);
    heard.note(desk.transfer(&body(desk, "taken by the provider", ACCOUNTS[1]))).failure(409);
    // Instant, taken and not.
    let mut instant = body(desk, "taken at once", ACCOUNTS[1]);
    instant["metadata"] = json!({"speed": "instant"});
    heard.note(desk.transfer(&instant)).data(201);
    instant["idempotencyKey"] = json!("not taken at once");
    instant["routingNumber"] = json!(SLOW_BANK);
    heard.note(desk.transfer(&instant)).failure(422);
    // Refused by the provider, whose words may repeat the numbers.
    let mut refused = body(desk, "refused by the provider", ACCOUNTS[2]);
    refused["routingNumber"] = json!(REFUSED_BANK);
    heard.note(desk.transfer(&refused)).failure(422);
    heard.note(desk.transfer(&refused)).failure(422);
    // Never valid.
    let mut wrong = body(desk, "never valid", ACCOUNTS[3]);
    wrong["routingNumber"] = json!("617482931");
    heard.note(desk.transfer(&wrong)).failure(400);
    wrong["accountNumber"] = json!("826405513790264881");
    heard.note(desk.transfer(&wrong)).failure(400);
    wrong["accountNumber"] = json!(93_715_520_846_631_u64);
    heard.note(desk.transfer(&wrong)).failure(400);
    let json = [("content-type", "application/json")];
    for broken in [
        format!("{{\"accountNumber\": {} x", ACCOUNTS[0]),
        format!("{{\"accountNumber\":\"{}\",\"accountNumber\":\"{ROUTING}\"}}", ACCOUNTS[1]),
        format!("\"{}\"", ACCOUNTS[2]),
    ] {
        heard.note(desk.client().send("POST", TRANSFERS, &json, broken.as_bytes())).failure(400);
    }
    let whole = body(desk, "by nobody", ACCOUNTS[0]).to_string();
    heard.note(Client::new(desk.server, "").send("POST", TRANSFERS, &json, whole.as_bytes())).failure(403);
    heard
        .note(desk.client().send("POST", TRANSFERS, &[("content-type", "text/plain")], whole.as_bytes()))
        .failure(415);
    // Nobody knows its outcome.
    simulator.fault(&simulator.rail.operation("create"), "timeout_after", 100, 1_000);
    simulator.fault(&simulator.rail.operation("list"), "error_before", 1_000, 0);
    simulator.send_no_webhooks();
    let pending = heard.note(desk.transfer(&body(desk, "nobody knows", ACCOUNTS[3]))).data(201);
    assert_eq!(pending["transaction"]["status"], "pending");
    pending["transaction"]["serviceReference"].as_str().unwrap().to_owned()
}

/// What callers and operators can read.
fn read_everything(desk: &Desk, heard: &mut Heard) {
    let listed = heard.note(desk.client().get("/client/v1/transactions?limit=100")).data(200);
    let references: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["serviceReference"].as_str().unwrap())
        .collect();
    assert!(references.len() >= 4, "{references:?}");
    for reference in references {
        heard.note(desk.read(reference)).data(200);
        heard.note(desk.admin().get(&desk.path(&format!("/transactions/{reference}")))).data(200);
    }
    for list in
        ["transactions", "transfers/waiting", "provider-events", "exceptions", "wallets/USD/ledger", "config"]
    {
        heard.note(desk.admin().get(&desk.path(&format!("/{list}")))).data(200);
    }
    heard.note(desk.admin().get("/admin/v1/audit")).data(200);
    heard.note(Client::new(desk.server, "").get("/metrics"));
}

/// The log, the output and the database, with its write-ahead log while the server runs.
fn look_through(world: &BankWorld, heard: &mut Heard) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(&world.server.data_dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            heard.check(&name, &fs::read(&path).unwrap());
            names.push(name);
        }
    }
    if let BankStore::Postgres(database) = &world.store {
        let tables = database
            .texts("SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'");
        for table in tables {
            for row in database.texts(&format!("SELECT whole::text FROM \"{table}\" AS whole")) {
                heard.check(&format!("the table {table}: {row}"), row.as_bytes());
            }
            names.push(table);
        }
    }
    names
}

/// How many transfers still have their bank details sealed beside them.
fn sealed(world: &BankWorld) -> usize {
    let query = "SELECT sealed_account FROM transfers WHERE sealed_account IS NOT NULL";
    match &world.store {
        BankStore::Sqlite(folder) => {
            let store = rusqlite::Connection::open(folder.path().join("data/tollgate.db")).unwrap();
            let mut statement = store.prepare(query).unwrap();
            statement.query_map([], |row| row.get::<_, String>(0)).unwrap().count()
        }
        BankStore::Postgres(database) => database.texts(query).len(),
    }
}

fn no_number_is_anywhere(on: On, rail: BankRail) {
    fn talkative(store: &BankStore) -> crate::support::Start {
        store.serve().with("TOLLGATE_LOG", "trace")
    }
    let mut world = BankWorld::start_as(on, rail, talkative);
    let mut heard = Heard::new();
    let reference = use_numbers(&world, &mut heard);
    read_everything(&world.desk, &mut heard);
    let names = look_through(&world, &mut heard).join(", ");
    let expected: &[&str] = match on {
        On::Sqlite => &["tollgate.db", "tollgate.db-wal", "log-"],
        On::Postgres => &["transfers", "timeline", "log-"],
    };
    for name in expected {
        assert!(names.contains(name), "{name} was not looked at: {names}");
    }
    assert!(world.server.log().contains("\"level\":\"TRACE\""), "the log is as talkative as it can be");
    // Stopped in order, with one transfer still unknown: its details are there, but only sealed.
    assert!(world.server.terminate().success());
    assert_eq!(sealed(&world), 1);
    look_through(&world, &mut heard);
    world.simulator.clear_faults();
    world.serve_again(talkative);
    world.desk.wait_status(&reference, "processing");
    read_everything(&world.desk, &mut heard);
    assert!(world.server.terminate().success());
    assert_eq!(sealed(&world), 0, "once the provider has it, only the last four digits are left");
    look_through(&world, &mut heard);
    println!("{on:?}, {rail:?}: looked for {} numbers in {} bytes", heard.canaries.len(), heard.looked_at);
}

#[test]
fn the_search_would_find_a_number_in_every_form() {
    let canary = Canary::account(ACCOUNTS[0]);
    let number = ACCOUNTS[0];
    let hex = hex(number.as_bytes());
    let mut hidden = vec![
        format!("{{\"accountNumber\":\"{number}\"}}"),
        format!("\\x{hex}"),
        hex.to_uppercase(),
        format!("{:?}", number.as_bytes()),
        number[..10].to_owned(),
    ];
    for before in ["", "a", "ab"] {
        hidden.push(String::from_utf8(base64(format!("{before}{number}").as_bytes(), 0)).unwrap());
    }
    for text in &hidden {
        assert!(canary.is_in(text.as_bytes()), "{text}");
    }
    for text in ["", "********0217", "0217", ROUTING, ACCOUNTS[1]] {
        assert!(!canary.is_in(text.as_bytes()), "{text}");
    }
    assert_eq!(base64(b"Many hands>?", 0), b"TWFueSBoYW5kcz4/");
}

on_alternate_rails! { no_number_is_anywhere }
