//! Several nodes on one database: what one is told, all know within a second.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio_postgres::NoTls;

use crate::support::{
    Client, Database, FIRST_MARKER, Key, Server, Start, Tenant, alone, marked_document, quote, quoted_marker,
    sole_marker, wait_until,
};

/// The promise to users. Half of all changes at least are as fast as that here; each single one may meet a machine that does
/// nothing for seconds.
const PROMISE: Duration = Duration::from_secs(1);

struct Nodes {
    // The promise is one of nodes, not of a processor that another test of this suite keeps busy.
    _alone: MutexGuard<'static, ()>,
    a: Server,
    b: Server,
    tenant: Tenant,
    witness: Witness,
    // Dropped last: the servers are gone by then.
    database: Database,
}

impl Nodes {
    fn start() -> Self {
        let alone = alone();
        let database = Database::create();
        let start = || Start::serve().with("TOLLGATE_DATABASE_URL", &database.url);
        let (a, b) = (start().run(), start().run());
        let tenant = Tenant::create(&mut a.admin());
        tenant.configure(&mut a.admin(), FIRST_MARKER);
        let witness = Witness::start(&database);
        Self { _alone: alone, a, b, tenant, witness, database }
    }

    /// Asks continuously from the moment a change is answered on the other node. Gives how long it took the nodes.
    #[track_caller]
    fn within_promise(&self, what: &str, mut is_true: impl FnMut() -> bool) -> Duration {
        self.witness.begin();
        let answered = Instant::now();
        while !is_true() {
            assert!(answered.elapsed() < PROMISE * 60, "never: {what}");
            // Without a pause, asking would keep the processor from the very database the answer waits for.
            thread::sleep(Duration::from_millis(1));
        }
        let took = answered.elapsed();
        // A database that answers nobody for a while, on a machine busy with other things, is not the node's doing.
        took.saturating_sub(self.witness.longest_wait())
    }

    /// A key that both nodes know.
    fn key(&self) -> Key {
        self.timed_key().0
    }

    /// The same, and how long it took until the other node knew it.
    fn timed_key(&self) -> (Key, Duration) {
        let key = self.tenant.issue(&mut self.a.admin());
        let mut client = self.b.client(&key.key);
        let took =
            self.within_promise("a new key opens on the other node", || quote(&mut client).status == 200);
        (key, took)
    }

    /// Ends every connection of both nodes to the database, the listening ones included.
    fn cut_off(&self) {
        self.database.on_server(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND application_name = 'tollgate'",
            self.database.name()
        ));
    }

    fn listeners(&self) -> usize {
        let query =
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
        self.database.texts(query).len()
    }
}

/// Asks the database itself all the while. Where a node is late, it tells whether the database was.
struct Witness {
    /// When the question under way was asked, and the longest wait for an answer so far.
    waits: Arc<Mutex<(Option<Instant>, Duration)>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Witness {
    fn start(database: &Database) -> Self {
        let (waits, over) = (Arc::new(Mutex::new((None, Duration::ZERO))), Arc::new(AtomicBool::new(false)));
        let (noted, ended, url) = (Arc::clone(&waits), Arc::clone(&over), database.url.clone());
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                tokio::spawn(connection);
                while !ended.load(Ordering::Relaxed) {
                    let asked = Instant::now();
                    noted.lock().unwrap().0 = Some(asked);
                    client.query_one("SELECT version FROM directory", &[]).await.unwrap();
                    note_answer(&noted, asked);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            });
        });
        Self { waits, over, thread: Some(thread) }
    }

    fn begin(&self) {
        self.waits.lock().unwrap().1 = Duration::ZERO;
    }

    fn longest_wait(&self) -> Duration {
        let (under_way, longest) = *self.waits.lock().unwrap();
        under_way.map_or(longest, |asked| longest.max(asked.elapsed()))
    }
}

fn note_answer(waits: &Mutex<(Option<Instant>, Duration)>, asked: Instant) {
    let mut waits = waits.lock().unwrap();
    *waits = (None, waits.1.max(asked.elapsed()));
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Judges how long several changes of one kind took.
#[track_caller]
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    println!(
        "{what}: {} times, median {:?}, slowest {:?}",
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1]
    );
    assert!(times[times.len() / 2] <= PROMISE, "{what}: {times:?}");
}

/// Puts a configuration on A and times how long B takes to quote by it.
fn time_change(nodes: &Nodes, client: &mut Client, marker: u64) -> Duration {
    nodes.tenant.configure(&mut nodes.a.admin(), marker);
    nodes.within_promise("a configuration is in force on the other node", || quoted_marker(client) == marker)
}

#[test]
fn a_configuration_is_in_force_on_the_other_node_within_a_second() {
    let nodes = Nodes::start();
    let mut client = nodes.b.client(&nodes.key().key);
    report(
        "configurations",
        (1..=20).map(|number| time_change(&nodes, &mut client, FIRST_MARKER + number)).collect(),
    );
}

#[test]
fn a_revoked_key_is_refused_on_the_other_node_within_a_second() {
    let nodes = Nodes::start();
    let revoke = |_| {
        let (key, opened) = nodes.timed_key();
        let mut client = nodes.b.client(&key.key);
        nodes.a.admin().delete(&nodes.tenant.path(&format!("/keys/{}", key.id))).data(200);
        let took = nodes.within_promise("a revoked key is refused on the other node", || {
            quote(&mut client).status != 200
        });
        assert_eq!(quote(&mut client).failure(401), "unauthenticated");
        (opened, took)
    };
    let (opened, revoked) = (0..10).map(revoke).unzip();
    report("new keys", opened);
    report("revocations", revoked);
}

#[test]
fn changes_arrive_within_a_second_though_every_connection_was_just_ended() {
    let nodes = Nodes::start();
    let mut client = nodes.b.client(&nodes.key().key);
    let mut times = Vec::new();
    for number in 1..=5 {
        wait_until("both nodes listen", Duration::from_secs(120), || nodes.listeners() == 2);
        nodes.cut_off();
        times.push(time_change(&nodes, &mut client, FIRST_MARKER + number));
    }
    report("configurations after a cut", times);
    let mut times = Vec::new();
    for _ in 0..3 {
        let key = nodes.key();
        let mut client = nodes.b.client(&key.key);
        wait_until("both nodes listen", Duration::from_secs(120), || nodes.listeners() == 2);
        nodes.cut_off();
        nodes.a.admin().delete(&nodes.tenant.path(&format!("/keys/{}", key.id))).data(200);
        times.push(nodes.within_promise("a revoked key is refused", || quote(&mut client).status == 401));
    }
    report("revocations after a cut", times);
}

#[test]
fn a_rotated_key_dies_at_once_or_lives_out_its_grace_on_both_nodes() {
    let nodes = Nodes::start();
    let rotate = |key: &Key, body: &Value| {
        Key::of(&nodes.a.admin().post(&nodes.tenant.path(&format!("/keys/{}/rotate", key.id)), body))
    };
    let status = |key: &Key| [&nodes.a, &nodes.b].map(|node| quote(&mut node.client(&key.key)).status);

    let old = nodes.key();
    let new = rotate(&old, &json!({"graceSeconds": 0}));
    let died = nodes.within_promise("the old key dies", || status(&old) == [401, 401]);
    let opened = nodes.within_promise("the new key opens", || status(&new) == [200, 200]);

    let asked = Instant::now();
    let newer = rotate(&new, &json!({"graceSeconds": 3}));
    let newer_opened = nodes.within_promise("the newer key opens", || status(&newer) == [200, 200]);
    report("rotations", vec![died, opened, newer_opened]);
    while asked.elapsed() < Duration::from_secs(2) {
        let found = status(&new);
        // An answer that comes after the end of the grace says nothing about the time before it.
        if asked.elapsed() < Duration::from_secs(3) {
            assert_eq!(found, [200, 200], "within its grace, {:?} after its rotation", asked.elapsed());
        }
    }
    wait_until("the grace ends", Duration::from_secs(120), || status(&new) == [401, 401]);
    assert_eq!(status(&newer), [200, 200]);
}

#[test]
fn concurrent_changes_from_both_nodes_all_have_their_version_and_end_alike() {
    let nodes = Nodes::start();
    let key = nodes.key();
    let before = nodes.tenant.history(&mut nodes.a.admin());
    let write = |number: u64| {
        let node = if number.is_multiple_of(2) { &nodes.a } else { &nodes.b };
        nodes.tenant.configure(&mut node.admin(), FIRST_MARKER + number)
    };
    let versions: BTreeSet<u64> = thread::scope(|scope| {
        let writers: Vec<_> = (1..=20)
            .map(|number| {
                scope.spawn({
                    let write = &write;
                    move || write(number)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(versions.len(), 20, "two changes were acknowledged with one version: {versions:?}");
    let history = nodes.tenant.history(&mut nodes.b.admin());
    assert_eq!(history.difference(&before).copied().collect::<BTreeSet<_>>(), versions);
    let read = |node: &Server| {
        let answer = node.admin().get(&nodes.tenant.path("/config"));
        (answer.headers["etag"].clone(), answer.data(200))
    };
    let last = read(&nodes.a);
    assert_eq!(read(&nodes.b), last);
    assert_eq!(last.0, format!("\"{}\"", versions.last().unwrap()));
    let marker = sole_marker(&last.1.to_string()).unwrap();
    for node in [&nodes.a, &nodes.b] {
        nodes.within_promise("quotes use the last one", || {
            quoted_marker(&mut node.client(&key.key)) == marker
        });
    }
}

#[test]
fn what_belongs_to_another_organization_looks_like_what_never_existed() {
    let nodes = Nodes::start();
    let (mine, my_key) = (&nodes.tenant, nodes.key());
    let theirs = Tenant::create(&mut nodes.b.admin());
    theirs.configure(&mut nodes.b.admin(), FIRST_MARKER + 1);
    let their_key = theirs.issue(&mut nodes.b.admin());
    nodes.within_promise("their key opens", || quote(&mut nodes.a.client(&their_key.key)).status == 200);

    // Each key quotes by its own environment's configuration, on either node.
    for node in [&nodes.a, &nodes.b] {
        nodes.within_promise("mine is mine", || quoted_marker(&mut node.client(&my_key.key)) == FIRST_MARKER);
        nodes.within_promise("theirs is theirs", || {
            quoted_marker(&mut node.client(&their_key.key)) == FIRST_MARKER + 1
        });
    }
    // Their key in my environment, and an id that was never given, are refused alike.
    let no_key = flipped(&their_key.id);
    let no_environment = flipped(&theirs.environment);
    for node in [&nodes.a, &nodes.b] {
        let mut admin = node.admin();
        let body = json!({"graceSeconds": 0});
        let rotated = |key: &str| mine.path(&format!("/keys/{key}/rotate"));
        let refusals = [
            admin.delete(&mine.path(&format!("/keys/{}", their_key.id))),
            admin.delete(&mine.path(&format!("/keys/{no_key}"))),
            admin.post(&rotated(&their_key.id), &body),
            admin.post(&rotated(&no_key), &body),
            admin.get(&format!("/admin/v1/environments/{no_environment}/config")),
            admin.put(
                &format!("/admin/v1/environments/{no_environment}/config"),
                &marked_document(FIRST_MARKER),
            ),
            admin.get(&mine.path("/config/versions/2")),
        ];
        let seen: BTreeSet<_> = refusals
            .iter()
            .map(|answer| (answer.failure(404), answer.json()["message"].as_str().unwrap().to_owned()))
            .collect();
        assert_eq!(seen.len(), 1, "{seen:?}");
        let listed = admin.get(&mine.path("/keys")).data(200).to_string();
        assert!(listed.contains(&my_key.id) && !listed.contains(&their_key.id), "{listed}");
    }
    assert_eq!(quote(&mut nodes.a.client(&their_key.key)).status, 200, "their key was not touched");
}

/// An id of the same form that belongs to nothing.
fn flipped(id: &str) -> String {
    let (rest, last) = id.split_at(id.len() - 1);
    format!("{rest}{}", if last == "0" { "1" } else { "0" })
}
