//! Callers that write without pause, ask again with the same key until they are answered, and keep a record of it all.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tollgate_bench::Fault;
use tollgate_bench::http::{self, Connection};

use crate::cluster::TOLLGATES;
use crate::readiness::Readiness;
use crate::record::{Entry, Kind, Outcome, Record, Told, promise};

const TRANSFERS: &str = "/client/v1/ach/transfers";
const COMPONENT: &str = "/client/v1/payments/component";
const TRANSFER_WRITERS: usize = 4;
const CARD_WRITERS: usize = 2;
/// A request without an answer is given up after this long, and asked again at the other node.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// Between two requests of a caller.
const PAUSE: Duration = Duration::from_millis(50);
/// How often a caller asks again before that is a failure of the drill.
const MAX_TRIES: usize = 3_000;
/// Confirmations of one payment while its outcome is not known yet; the books are compared in the end.
const MAX_CONFIRMATIONS: usize = 20;

/// A bank on all rails, and one on none: what is sent there is refused.
const GOOD_BANK: &str = "021000021";
const REFUSED_BANK: &str = "790000051";
const REFUSED_EVERY: u64 = 13;
/// Which of a writer's keys are asked for once more, at the other node.
const REPLAYED_EVERY: u64 = 3;
const FIRST_AMOUNT: u64 = 1_000;

/// What the callers share.
pub(crate) struct Load {
    pub(crate) tollgates: [SocketAddr; TOLLGATES],
    pub(crate) secret_key: String,
    pub(crate) customer_token: String,
    pub(crate) record: Arc<Record>,
    pub(crate) next: AtomicU64,
    pub(crate) is_over: AtomicBool,
}

/// The callers, which run until they are stopped.
pub(crate) struct Writers {
    load: Arc<Load>,
    tasks: JoinSet<Result<(), Fault>>,
    readiness: Arc<Readiness>,
}

impl Writers {
    pub(crate) fn start(load: Load) -> Self {
        let load = Arc::new(load);
        let readiness = Readiness::watch(load.tollgates);
        let mut tasks = JoinSet::new();
        for writer in 0..TRANSFER_WRITERS {
            tasks.spawn(make_transfers(Caller::new(&load, &readiness, writer)));
        }
        for writer in 0..CARD_WRITERS {
            tasks.spawn(make_payments(Caller::new(&load, &readiness, writer)));
        }
        Self { load, tasks, readiness }
    }

    /// Lets everybody finish what they have begun.
    pub(crate) async fn stop(mut self) -> Result<(), Fault> {
        self.load.is_over.store(true, Ordering::Relaxed);
        while let Some(done) = self.tasks.join_next().await {
            done??;
        }
        self.readiness.stop();
        Ok(())
    }
}

/// One caller, who turns to the other node when one does not answer or is not ready.
struct Caller {
    load: Arc<Load>,
    readiness: Arc<Readiness>,
    tollgate: usize,
    connections: [Option<Connection>; TOLLGATES],
}

impl Caller {
    fn new(load: &Arc<Load>, readiness: &Arc<Readiness>, writer: usize) -> Self {
        let (load, readiness) = (Arc::clone(load), Arc::clone(readiness));
        Self { load, readiness, tollgate: writer % TOLLGATES, connections: [None, None] }
    }

    fn is_over(&self) -> bool {
        self.load.is_over.load(Ordering::Relaxed)
    }

    fn number(&self) -> u64 {
        self.load.next.fetch_add(1, Ordering::Relaxed)
    }

    fn turn_to_the_other(&mut self) {
        self.tollgate = (self.tollgate + 1) % TOLLGATES;
    }

    /// One request, recorded with its outcome.
    async fn ask(&mut self, wanted: &Wanted) -> Result<Outcome, Fault> {
        let Wanted { kind, path, body, .. } = wanted;
        let request =
            http::request("POST", path, Some(&self.load.secret_key), Some(body.to_string().as_bytes()));
        let sent = self.load.record.now();
        let (readiness, tollgate) = (Arc::clone(&self.readiness), self.tollgate);
        let outcome = tokio::select! {
            asked = tokio::time::timeout(ANSWERED_WITHIN, self.exchange(&request)) => match asked {
                Ok(Ok((status, answer))) => read(*kind, status, &answer),
                Ok(Err(fault)) => Outcome::Lost(fault.to_string()),
                Err(_) => Outcome::Lost("no answer in time".to_owned()),
            },
            () = readiness.only_others(tollgate) => Outcome::Lost("the node is not ready".to_owned()),
        };
        if matches!(outcome, Outcome::Lost(_))
            && let Some(connection) = self.connections.get_mut(self.tollgate)
        {
            *connection = None;
        }
        self.load.record.add(Entry {
            kind: *kind,
            key: wanted.key.clone(),
            amount: wanted.amount,
            tollgate: self.tollgate,
            sent,
            at: self.load.record.now(),
            outcome: outcome.clone(),
        })?;
        if matches!(outcome, Outcome::Lost(_) | Outcome::Unclear(_)) {
            self.turn_to_the_other();
        }
        Ok(outcome)
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<(u16, Value), Fault> {
        let address = self.load.tollgates.get(self.tollgate).ok_or("no such node")?;
        let connection = match self.connections.get_mut(self.tollgate).ok_or("no such node")? {
            Some(connection) => connection,
            none => none.insert(Connection::open(*address).await?),
        };
        let answer = connection.exchange(request).await?;
        Ok((answer.status, serde_json::from_slice(answer.body)?))
    }

    /// Asks until the answer is a definite one.
    async fn ask_until_answered(&mut self, wanted: &Wanted) -> Result<Outcome, Fault> {
        for _ in 0..MAX_TRIES {
            let outcome = self.ask(wanted).await?;
            if !matches!(outcome, Outcome::Lost(_) | Outcome::Unclear(_)) {
                return Ok(outcome);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(format!("{} was never answered", wanted.key).into())
    }
}

/// A request that can be repeated.
struct Wanted {
    kind: Kind,
    key: String,
    amount: u64,
    path: String,
    body: Value,
}

async fn make_transfers(mut caller: Caller) -> Result<(), Fault> {
    while !caller.is_over() {
        let number = caller.number();
        let (key, amount) = (format!("transfer-{number}"), FIRST_AMOUNT + number);
        let bank = if number.is_multiple_of(REFUSED_EVERY) { REFUSED_BANK } else { GOOD_BANK };
        let body = json!({
            "idempotencyKey": key, "amountMinor": amount.to_string(), "currency": "USD",
            "customerToken": caller.load.customer_token, "routingNumber": bank,
            "accountNumber": "000123456789", "bankAccountType": "checking", "bankName": "First Bank",
            "accountName": "Ada Lovelace",
        });
        let wanted = Wanted { kind: Kind::Transfer, key, amount, path: TRANSFERS.to_owned(), body };
        caller.ask_until_answered(&wanted).await?;
        if number.is_multiple_of(REPLAYED_EVERY) {
            caller.turn_to_the_other();
            caller.ask_until_answered(&wanted).await?;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

async fn make_payments(mut caller: Caller) -> Result<(), Fault> {
    while !caller.is_over() {
        let number = caller.number();
        let (key, amount) = (format!("payment-{number}"), FIRST_AMOUNT + number);
        let body = json!({"amountMinor": amount.to_string(), "currency": "USD"});
        let wanted =
            Wanted { kind: Kind::Preparation, key: key.clone(), amount, path: COMPONENT.to_owned(), body };
        // A preparation has no key: one without an answer is not repeated, and nobody pays it.
        let Outcome::Told(prepared) = caller.ask(&wanted).await? else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let path = format!("{COMPONENT}/{}/confirm", prepared.reference);
        let body = json!({"sourceId": "cnon:card-nonce-ok"});
        let wanted = Wanted { kind: Kind::Confirmation, key, amount, path, body };
        for _ in 0..MAX_CONFIRMATIONS {
            let outcome = caller.ask_until_answered(&wanted).await?;
            tokio::time::sleep(PAUSE).await;
            if !matches!(outcome, Outcome::Told(told) if told.status == "pending") {
                break;
            }
        }
    }
    Ok(())
}

fn read(kind: Kind, status: u16, answer: &Value) -> Outcome {
    let data = answer.get("data").unwrap_or(&Value::Null);
    if (200..300).contains(&status) {
        let transaction = data.get("transaction").unwrap_or(data);
        let text = |name: &str| transaction.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        return Outcome::Told(Told {
            reference: text("serviceReference"),
            promise: promise(transaction),
            status: text("status"),
            is_first: kind != Kind::Transfer || data.get("replayed") == Some(&Value::Bool(false)),
        });
    }
    let code = answer.pointer("/error/code").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{status} {code}");
    // Too late, in conflict with another request, too early, too often: nothing is said about the outcome.
    if status < 500 && ![408, 409, 425, 429].contains(&status) {
        Outcome::Refused(text)
    } else {
        Outcome::Unclear(text)
    }
}
