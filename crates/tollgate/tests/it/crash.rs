//! `kill -9` in the midst of configuration changes: what was acknowledged is there, and whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rand::RngExt;

use crate::support::{
    Client, Database, FIRST_MARKER, Server, Start, Tenant, marked_document, quoted_marker, randomness, seed,
    sole_marker,
};

const KILLS: u64 = 18;

/// What the writers know of their changes.
#[derive(Debug, Default)]
struct Ledger {
    /// Marker by version.
    acknowledged: BTreeMap<u64, u64>,
    /// Markers sent whose answer never came.
    unanswered: BTreeSet<u64>,
}

/// What a restarted server says.
#[derive(Debug, Clone)]
struct Found {
    version: u64,
    document: String,
    history: BTreeSet<u64>,
    quoted: u64,
}

impl Ledger {
    /// Nothing acknowledged is lost, nothing is mixed, nothing comes from nowhere. `template` is the document of
    /// [`FIRST_MARKER`] as the server shows it.
    fn check(&self, found: &Found, template: &str) -> Result<(), String> {
        let marker = sole_marker(&found.document)?;
        if found.document != shown(template, marker) {
            return Err(format!("not the document that was sent: {}", found.document));
        }
        let (&last, &last_marker) = self.acknowledged.last_key_value().ok_or("nothing was acknowledged")?;
        if found.version < last {
            return Err(format!("version {last} was acknowledged, and {} is in force", found.version));
        }
        if found.version == last && marker != last_marker {
            return Err(format!("version {last} was acknowledged with {last_marker} and has {marker}"));
        }
        if found.version > last && !self.unanswered.contains(&marker) {
            return Err(format!("version {} has {marker}, which nobody waits for", found.version));
        }
        if let Some(lost) = self.acknowledged.keys().find(|version| !found.history.contains(version)) {
            return Err(format!("the history lacks version {lost}, which was acknowledged"));
        }
        if !found.history.iter().copied().eq(1..=found.version) {
            return Err(format!("the history has gaps or more than {}: {:?}", found.version, found.history));
        }
        if found.quoted != marker {
            return Err(format!("quotes use {}, and {marker} is in force", found.quoted));
        }
        Ok(())
    }
}

/// How a server shows the document with this marker, secrets masked to their last four characters.
fn shown(template: &str, marker: u64) -> String {
    let tail = |marker: u64| format!("********{:04}", marker % 10_000);
    template
        .replace(&FIRST_MARKER.to_string(), &marker.to_string())
        .replace(&tail(FIRST_MARKER), &tail(marker))
}

/// Changes the configuration until the server is gone.
fn write(mut admin: Client, tenant: &Tenant, next: &AtomicU64, ledger: &Mutex<Ledger>) {
    loop {
        let marker = next.fetch_add(1, Ordering::Relaxed);
        let body = marked_document(marker).to_string();
        ledger.lock().unwrap().unanswered.insert(marker);
        let sent = admin.try_send(
            "PUT",
            &tenant.path("/config"),
            &[("content-type", "application/json")],
            body.as_bytes(),
        );
        let Ok(answer) = sent else { return };
        let version = answer.data(200)["version"].as_u64().unwrap();
        let mut ledger = ledger.lock().unwrap();
        ledger.unanswered.remove(&marker);
        let before = ledger.acknowledged.insert(version, marker);
        assert_eq!(before, None, "version {version} was acknowledged twice");
    }
}

/// Quotes until the server is gone. No quote may mix two configurations.
fn read(mut client: Client, quotes: &AtomicU64) {
    let body = r#"{"amountMinor":"5000","currency":"EUR"}"#;
    while let Ok(answer) = client.try_send(
        "POST",
        crate::support::QUOTE,
        &[("content-type", "application/json")],
        body.as_bytes(),
    ) {
        sole_marker(&answer.data(200).to_string()).unwrap();
        quotes.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads what is in force. On PostgreSQL a change can be committed after its sender was killed, so what is read at
/// several moments counts only if the version stood still meanwhile.
fn survey(server: &Server, tenant: &Tenant, key: &str) -> Found {
    let mut admin = server.admin();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (version, document) = in_force(&mut admin, tenant);
        let history = tenant.history(&mut admin);
        let quoted = quoted_marker(&mut server.client(key));
        let stood_still = in_force(&mut admin, tenant).0 == version;
        let in_step = sole_marker(&document).is_ok_and(|marker| marker == quoted);
        if stood_still && (in_step || Instant::now() > deadline) {
            return Found { version, document, history, quoted };
        }
    }
}

fn in_force(admin: &mut Client, tenant: &Tenant) -> (u64, String) {
    let answer = admin.get(&tenant.path("/config"));
    let version = answer.headers["etag"].trim_matches('"').parse().unwrap();
    (version, answer.data(200).to_string())
}

/// Kills and restarts a server again and again, with writers and readers at work each time.
fn kill_again_and_again(start: impl Fn() -> Start) {
    let seed = seed();
    let mut random = randomness(seed, 0);
    let mut server = start().run();
    let tenant = Tenant::create(&mut server.admin());
    let key = tenant.issue(&mut server.admin()).key;
    let version = tenant.configure(&mut server.admin(), FIRST_MARKER);
    let (_, template) = in_force(&mut server.admin(), &tenant);
    let ledger = Mutex::new(Ledger::default());
    ledger.lock().unwrap().acknowledged.insert(version, FIRST_MARKER);
    let (next, quotes, mut saved) = (AtomicU64::new(FIRST_MARKER + 1), AtomicU64::new(0), 0);
    for kill in 1..=KILLS {
        let pause = Duration::from_millis(random.random_range(10..150));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| write(server.admin(), &tenant, &next, &ledger));
            }
            for _ in 0..2 {
                scope.spawn(|| read(server.client(&key), &quotes));
            }
            thread::sleep(pause);
            server.signal("KILL");
        });
        server.wait_end(Duration::from_secs(120));
        server = start().run();
        let found = survey(&server, &tenant, &key);
        let mut ledger = ledger.lock().unwrap();
        let verdict = ledger.check(&found, &template);
        assert_eq!(verdict, Ok(()), "after kill {kill}, {pause:?} into the work, seed {seed}");
        check_newest(&mut server.admin(), &tenant, &mut ledger, &found, &template, &mut saved);
    }
    let ledger = ledger.into_inner().unwrap();
    println!(
        "{KILLS} kills: {} changes acknowledged, {saved} committed though their answer was cut off, {} undone, {quotes:?} quotes",
        ledger.acknowledged.len(),
        ledger.unanswered.len(),
    );
    assert!(!ledger.unanswered.is_empty() || saved > 0, "no kill came in the midst of a change");
}

/// Reads the newest versions one by one: what was acknowledged has its own document, and what nobody was told of was
/// sent by someone who got no answer. From then on it counts as acknowledged: it must not vanish again.
fn check_newest(
    admin: &mut Client,
    tenant: &Tenant,
    ledger: &mut Ledger,
    found: &Found,
    template: &str,
    saved: &mut u64,
) {
    for version in found.version.saturating_sub(9).max(1)..=found.version {
        let document = admin.get(&tenant.path(&format!("/config/versions/{version}"))).data(200).to_string();
        let marker = sole_marker(&document).unwrap();
        assert_eq!(document, shown(template, marker));
        let known = *ledger.acknowledged.entry(version).or_insert(marker);
        assert_eq!(known, marker, "version {version} has another document than the acknowledged one");
        *saved += u64::from(ledger.unanswered.remove(&marker));
    }
}

#[test]
fn sqlite_keeps_every_acknowledged_configuration_whole_through_kills() {
    let folder = tempfile::tempdir().unwrap();
    kill_again_and_again(|| Start::serve().within(&folder.path().join("data")));
}

#[test]
fn postgres_keeps_every_acknowledged_configuration_whole_through_kills() {
    let database = Database::create();
    kill_again_and_again(|| Start::serve().with("TOLLGATE_DATABASE_URL", &database.url));
}

#[test]
fn the_check_would_notice_mixtures_losses_and_inventions() {
    let text = |marker: u64| marked_document(marker).to_string();
    let template = text(FIRST_MARKER);
    let [one, two, three] = [1, 2, 3].map(|number| FIRST_MARKER + number);
    let ledger = Ledger { acknowledged: [(1, FIRST_MARKER), (2, one)].into(), unanswered: [two].into() };
    let good = Found { version: 2, document: text(one), history: [1, 2].into(), quoted: one };
    let verdict = |found: &Found| ledger.check(found, &template);
    assert_eq!(verdict(&good), Ok(()));
    let saved = Found { version: 3, document: text(two), history: [1, 2, 3].into(), quoted: two };
    assert_eq!(verdict(&saved), Ok(()));

    let mixture = text(one).replacen(&one.to_string(), &two.to_string(), 1);
    for (fault, found) in [
        ("a mixture", Found { document: mixture, ..good.clone() }),
        ("not the document", Found { document: text(one).replace("\"CHF\"", "\"DKK\""), ..good.clone() }),
        (
            "version 2 was acknowledged, and 1",
            Found { version: 1, document: template.clone(), history: [1].into(), quoted: FIRST_MARKER },
        ),
        ("was acknowledged with", Found { document: text(two), quoted: two, ..good.clone() }),
        ("nobody waits for", Found { document: text(three), quoted: three, ..saved.clone() }),
        ("the history lacks version 1", Found { history: [2].into(), ..good.clone() }),
        ("the history has gaps", Found { version: 4, history: [1, 2, 4].into(), ..saved.clone() }),
        ("quotes use", Found { quoted: FIRST_MARKER, ..good.clone() }),
    ] {
        let error = verdict(&found).expect_err(fault);
        assert!(error.contains(fault), "{error}");
    }
}
