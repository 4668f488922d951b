//! Callers that go on while versions change: each payment is asked for until it is answered, and everything that was answered is kept.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Answer, BANK_WAIT_TIMEOUT, COMPONENT, Client, Desk, TRANSFERS};

const CALLERS: usize = 4;
const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const PAUSE: Duration = Duration::from_millis(40);

/// What callers saw.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) requests: u64,
    /// 503 with `Retry-After`.
    pub(super) again: u64,
    /// No connection, or none that lasted until the answer, while no node was there.
    pub(super) unreached: u64,
    pub(super) failures: Vec<String>,
}

/// What was answered: references, each with what kind of payment it is.
#[derive(Debug, Default)]
pub(super) struct Paid {
    pub(super) transfers: Vec<String>,
    pub(super) cards: Vec<String>,
    /// Each with the card payment that it belongs to.
    pub(super) refunds: Vec<(String, String)>,
}

pub(super) struct Load {
    desk: Desk,
    /// Where the browser of who pays at Stripe goes.
    providers: SocketAddr,
    /// What the first version cannot do is not asked for.
    refunds: bool,
    /// Where callers are sent, in turn.
    nodes: Mutex<Vec<SocketAddr>>,
    /// No node is there, as on SQLite between the old and the new one.
    pub(super) is_down: AtomicBool,
    is_over: AtomicBool,
    next: AtomicU64,
    tally: Mutex<Tally>,
    pub(super) paid: Mutex<Paid>,
}

impl Load {
    pub(super) fn new(desk: &Desk, providers: SocketAddr) -> Arc<Self> {
        let document = Client::new(desk.server, "").get("/openapi.json").body;
        Arc::new(Self {
            desk: desk.clone(),
            providers,
            refunds: String::from_utf8(document).unwrap().contains("/refunds\""),
            nodes: Mutex::new(vec![desk.server]),
            is_down: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            next: AtomicU64::new(0),
            tally: Mutex::default(),
            paid: Mutex::default(),
        })
    }

    pub(super) fn send_to(&self, nodes: &[SocketAddr]) {
        *self.nodes.lock().unwrap() = nodes.to_vec();
    }

    /// Runs callers until [`Running::end`].
    pub(super) fn start(self: &Arc<Self>) -> Running {
        self.is_over.store(false, Ordering::SeqCst);
        let caller = |_| {
            let load = Arc::clone(self);
            thread::spawn(move || {
                while !load.is_over.load(Ordering::SeqCst) {
                    load.pay(load.next.fetch_add(1, Ordering::SeqCst));
                }
            })
        };
        Running { load: Arc::clone(self), threads: (0..CALLERS).map(caller).collect() }
    }

    /// Sends a request until it is answered with something else than "try again".
    fn call(&self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let deadline = Instant::now() + BANK_WAIT_TIMEOUT;
        loop {
            assert!(Instant::now() < deadline, "{path} was not answered in time");
            let node = {
                let (nodes, mut tally) = (self.nodes.lock().unwrap(), self.tally.lock().unwrap());
                tally.requests += 1;
                nodes[usize::try_from(tally.requests).unwrap() % nodes.len()]
            };
            let was_down = self.is_down.load(Ordering::SeqCst);
            let sent = Client::new(node, &self.desk.secret).try_send("POST", path, &[JSON], body.as_bytes());
            let is_down = was_down || self.is_down.load(Ordering::SeqCst);
            match sent {
                Ok(answer) if answer.status == 503 && answer.headers.contains_key("retry-after") => {
                    self.tally.lock().unwrap().again += 1;
                }
                Ok(answer) => return answer,
                Err(_) if is_down => self.tally.lock().unwrap().unreached += 1,
                // What a load balancer does, which heard of it later than the node left.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && self.has_left(node) => {}
                Err(error) => self.failed(&format!("{path} at {node}: {error}")),
            }
            thread::sleep(PAUSE);
        }
    }

    fn has_left(&self, node: SocketAddr) -> bool {
        !self.nodes.lock().unwrap().contains(&node)
    }

    fn failed(&self, what: &str) {
        self.tally.lock().unwrap().failures.push(what.to_owned());
    }

    fn pay(&self, number: u64) {
        if number.is_multiple_of(3) {
            self.pay_by_card(number);
        } else {
            self.pay_by_transfer(number);
        }
    }

    fn pay_by_transfer(&self, number: u64) {
        let body = self.desk.body(&format!("upgrade {number:06}"), 100 + number);
        let answer = self.call(TRANSFERS, &body);
        let Some(reference) = self.taken(&answer, "/transaction/serviceReference") else { return };
        // One of many callers asks once more, perhaps another version.
        if number.is_multiple_of(4) {
            let again = self.call(TRANSFERS, &body);
            let is_same = again.status == 200
                && again.json()["data"]["replayed"] == true
                && again.json()["data"]["transaction"]["serviceReference"] == reference.as_str();
            if !is_same {
                self.failed(&format!("a repeated transfer: {again:?}"));
            }
        }
        self.paid.lock().unwrap().transfers.push(reference);
    }

    /// At both card providers in turn; some of it is given back.
    fn pay_by_card(&self, number: u64) {
        let is_stripe = number.is_multiple_of(2);
        let metadata = if is_stripe { json!({"wire": "stripe"}) } else { json!({}) };
        let order =
            json!({"amountMinor": (1_000 + number).to_string(), "currency": "USD", "metadata": metadata});
        let prepared = self.call(COMPONENT, &order);
        if prepared.status != 201 {
            return self.failed(&format!("a preparation: {prepared:?}"));
        }
        let data = prepared.json()["data"].clone();
        let reference = data["serviceReference"].as_str().unwrap().to_owned();
        let confirm = if is_stripe {
            self.confirm_intent(&data["component"])
        } else {
            json!({"sourceId": "cnon:card-nonce-ok"})
        };
        let answer = self.call(&format!("{COMPONENT}/{reference}/confirm"), &confirm);
        if self.taken(&answer, "/transaction/serviceReference").is_none() {
            return;
        }
        self.paid.lock().unwrap().cards.push(reference.clone());
        if self.refunds && number.is_multiple_of(9) {
            let body = json!({"idempotencyKey": format!("upgrade {number:06}"), "amountMinor": "300"});
            let answer = self.call(&format!("/client/v1/transactions/{reference}/refunds"), &body);
            if let Some(refund) = self.taken(&answer, "/refund/refundReference") {
                self.paid.lock().unwrap().refunds.push((refund, reference));
            }
        }
    }

    /// What the browser does with Stripe's component: what the backend then confirms with.
    fn confirm_intent(&self, component: &Value) -> Value {
        let text = |name: &str| component[name].as_str().unwrap();
        let path = format!("/stripe/v1/payment_intents/{}/confirm", text("paymentIntentId"));
        let form = format!("client_secret={}&payment_method=pm_card_visa", text("clientSecret"));
        let mut browser = Client::new(self.providers, text("publishableKey"));
        let answer = browser.send("POST", &path, &[FORM], form.as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        json!({"paymentIntentId": text("paymentIntentId"), "clientStatus": "succeeded"})
    }

    /// A reference of what was answered.
    fn taken(&self, answer: &Answer, pointer: &str) -> Option<String> {
        let text = (matches!(answer.status, 200 | 201))
            .then(|| answer.json()["data"].pointer(pointer)?.as_str().map(str::to_owned))
            .flatten();
        if text.is_none() {
            let body = String::from_utf8_lossy(&answer.body);
            self.failed(&format!("a payment: {} {body}", answer.status));
        }
        text
    }
}

/// Dropped, it has callers end.
pub(super) struct Running {
    load: Arc<Load>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Lets every caller finish what it has begun, and says what they saw.
    pub(super) fn end(mut self) -> Tally {
        self.load.is_over.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
        std::mem::take(&mut self.load.tally.lock().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.load.is_over.store(true, Ordering::SeqCst);
    }
}
