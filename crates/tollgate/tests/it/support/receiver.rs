//! A receiver of our events: keeps what it gets, checks every signature it can, and answers what a test says.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{client::Client, server::wait_until, signature::unix_seconds};

/// Longer than anything a test waits for takes, on a machine busy with other things.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// One delivery as it came.
#[derive(Debug, Clone)]
pub struct Parcel {
    /// The path it came to, query included.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Parcel {
    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    /// The payment's or transaction's reference.
    pub fn reference(&self) -> String {
        let data = &self.json()["data"];
        let subject = if data["payment"].is_null() { &data["transaction"] } else { &data["payment"] };
        subject["serviceReference"].as_str().unwrap().to_owned()
    }

    /// Whether one of its signatures was made with this secret, as the specification says.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
        let timestamp = &self.headers["webhook-timestamp"];
        assert!(timestamp.parse::<i64>().unwrap().abs_diff(unix_seconds()) < 60);
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{}.{timestamp}.", self.id()).as_bytes());
        mac.update(&self.body);
        let expected = format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()));
        self.signatures().any(|signature| signature == expected)
    }

    pub fn signatures(&self) -> impl Iterator<Item = &str> {
        self.headers["webhook-signature"].split(' ')
    }
}

/// What a receiver answers.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: String,
    pub delay: Duration,
    gate: Option<Arc<Gate>>,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self { status, headers: String::new(), delay: Duration::ZERO, gate: None }
    }

    /// No answer at all.
    pub fn hang_up() -> Self {
        Self::status(0)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Answered when the gate is opened, and not before.
    pub fn behind(mut self, gate: &Arc<Gate>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }
}

/// Holds answers back until it is opened, for good.
#[derive(Debug, Default)]
pub struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_timeout_while(is_open, WAIT_TIMEOUT, |is_open| !*is_open).unwrap());
    }
}

/// How many deliveries are under way, from their last byte to the first one of the answer: a sender may well begin
/// the next one as soon as it has that.
#[derive(Debug, Default)]
struct UnderWay {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl UnderWay {
    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    fn end(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

type Manner = Box<dyn FnMut(&Parcel) -> Reply + Send>;

/// Dropped, it is closed.
pub struct Receiver {
    pub address: SocketAddr,
    parcels: Arc<Mutex<Vec<Parcel>>>,
    manner: Arc<Mutex<Manner>>,
    under_way: Arc<UnderWay>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// One that takes everything.
    pub fn open() -> Self {
        Self::answering(|_| Reply::status(200))
    }

    /// One that answers so.
    pub fn answering(manner: impl FnMut(&Parcel) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (parcels, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let manner: Arc<Mutex<Manner>> = Arc::new(Mutex::new(Box::new(manner)));
        let under_way = Arc::new(UnderWay::default());
        let shared = (Arc::clone(&parcels), Arc::clone(&manner), Arc::clone(&under_way));
        let ended = Arc::clone(&over);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (parcels, manner, under_way) = shared.clone();
                // Ends when the sender hangs up, which it does when it is killed.
                thread::spawn(move || receive(&stream, &parcels, &manner, &under_way));
            }
        });
        Self { address, parcels, manner, under_way, over, thread: Some(thread) }
    }

    /// Answers differently from now on.
    pub fn answer(&self, manner: impl FnMut(&Parcel) -> Reply + Send + 'static) {
        *self.manner.lock().unwrap() = Box::new(manner);
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many deliveries were under way at once, at most.
    pub fn most_at_once(&self) -> usize {
        self.under_way.most.load(Ordering::SeqCst)
    }

    /// Everything that came so far, in the order in which it came.
    pub fn parcels(&self) -> Vec<Parcel> {
        self.parcels.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.parcels.lock().unwrap().len()
    }

    pub fn forget(&self) {
        self.parcels.lock().unwrap().clear();
    }

    /// What was told of one payment, in the order in which it happened; each event once.
    pub fn told_of(&self, reference: &str) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let parcels = self.parcels().into_iter().filter(|parcel| parcel.reference() == reference);
        let mut told: Vec<_> = parcels.filter(|parcel| seen.insert(parcel.id().to_owned())).collect();
        told.sort_by(|one, other| one.id().cmp(other.id()));
        told.iter().map(Parcel::kind).collect()
    }

    /// Waits until so many deliveries have come.
    #[track_caller]
    pub fn wait_count(&self, count: usize) -> Vec<Parcel> {
        wait_until(&format!("{count} deliveries have come"), WAIT_TIMEOUT, || self.count() >= count);
        self.parcels()
    }

    /// Waits until exactly this was told of a payment.
    #[track_caller]
    pub fn wait_told(&self, reference: &str, kinds: &[&str]) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        while self.told_of(reference) != kinds {
            assert!(Instant::now() < deadline, "{reference}: {:?} is not {kinds:?}", self.told_of(reference));
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn receive(
    stream: &TcpStream,
    parcels: &Mutex<Vec<Parcel>>,
    manner: &Mutex<Manner>,
    under_way: &UnderWay,
) -> Option<()> {
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let parcel = Parcel { path, headers, body, at: Instant::now() };
    under_way.begin();
    let reply = {
        let reply = (manner.lock().unwrap())(&parcel);
        parcels.lock().unwrap().push(parcel);
        reply
    };
    thread::sleep(reply.delay);
    if let Some(gate) = &reply.gate {
        gate.pass();
    }
    under_way.end();
    let (status, headers) = (reply.status, reply.headers);
    if status == 0 {
        return None;
    }
    let answer =
        format!("HTTP/1.1 {status} Answered\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n");
    let mut writer = stream;
    writer.write_all(answer.as_bytes()).ok()
}

/// An endpoint as its operator knows it.
#[derive(Debug, Clone)]
pub struct Subscription {
    pub id: String,
    pub secret: String,
    pub path: String,
}

impl Subscription {
    /// Registers an endpoint below an environment's path.
    #[track_caller]
    pub fn create(admin: &mut Client, environment: &str, url: &str, events: &[&str]) -> Self {
        let path = format!("{environment}/event-endpoints");
        let data = admin.post(&path, &json!({"url": url, "events": events})).data(201);
        let text = |name: &str| data[name].as_str().unwrap().to_owned();
        Self { path: format!("{path}/{}", text("id")), id: text("id"), secret: text("secret") }
    }

    #[track_caller]
    pub fn read(&self, admin: &mut Client) -> Value {
        admin.get(&self.path).data(200)
    }

    #[track_caller]
    pub fn change(&self, admin: &mut Client, change: &Value) -> Value {
        let json = [("content-type", "application/json")];
        admin.send("PATCH", &self.path, &json, change.to_string().as_bytes()).data(200)
    }
}
