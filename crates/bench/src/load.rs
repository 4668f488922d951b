//! The load: a fixed number of connections, each sending its next request when the last one is answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Fault;
use crate::histogram::Histogram;
use crate::http::Connection;
use crate::numbered::Numbered;

/// How long after its end a round may still wait for answers before it is called stuck.
const GRACE: Duration = Duration::from_secs(10);

/// What is sent, to whom, and which answer it should get.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Requests,
    /// The status every answer should have.
    pub(crate) wanted: u16,
}

/// The requests of a target.
#[derive(Clone)]
pub(crate) enum Requests {
    /// The same bytes every time.
    Same(Arc<[u8]>),
    /// Each with a number of its own.
    Numbered(Arc<Numbered>),
}

impl Target {
    /// The same request every time, to be answered with 200.
    pub(crate) fn same(address: SocketAddr, request: Vec<u8>) -> Self {
        Self { address, requests: Requests::Same(request.into()), wanted: 200 }
    }

    /// Requests with a number of their own each, to be answered with this status.
    pub(crate) fn numbered(address: SocketAddr, requests: Numbered, wanted: u16) -> Self {
        Self { address, requests: Requests::Numbered(Arc::new(requests)), wanted }
    }

    pub(crate) fn wanting(self, wanted: u16) -> Self {
        Self { wanted, ..self }
    }
}

impl Requests {
    /// The next request, made in the buffer where it has to be made.
    fn next<'a>(&'a self, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Self::Same(request) => request,
            Self::Numbered(numbered) => {
                numbered.next(buffer);
                buffer
            }
        }
    }
}

/// When a round ends: by the clock, or earlier once enough requests were sent.
#[derive(Clone, Copy)]
pub(crate) struct Until {
    pub(crate) duration: Duration,
    pub(crate) requests_max: u64,
}

impl Until {
    pub(crate) fn seconds(seconds: u64) -> Self {
        Self { duration: Duration::from_secs(seconds), requests_max: u64::MAX }
    }
}

/// What a round saw.
#[derive(Clone)]
pub(crate) struct Measured {
    /// Answers received, whatever their status.
    pub(crate) answers: u64,
    /// Answers that came in the same time and are not counted, but for the processor time they took.
    pub(crate) beside: u64,
    /// Answers with another status than wanted.
    pub(crate) refusals: u64,
    /// The first of them: its status and the beginning of its body.
    pub(crate) first_refusal: Option<String>,
    /// Connections that broke; each ends with its first fault.
    pub(crate) faults: Vec<String>,
    pub(crate) elapsed: Duration,
    pub(crate) latencies: Histogram,
}

impl Measured {
    pub(crate) fn new() -> Self {
        Self {
            answers: 0,
            beside: 0,
            refusals: 0,
            first_refusal: None,
            faults: Vec::new(),
            elapsed: Duration::ZERO,
            latencies: Histogram::new(),
        }
    }

    pub(crate) fn per_second(&self) -> u64 {
        let rate = u128::from(self.answers) * 1_000_000_000 / self.elapsed.as_nanos().max(1);
        u64::try_from(rate).unwrap_or(u64::MAX)
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.refusals == 0 && self.faults.is_empty()
    }

    /// What went wrong, in a sentence; `None` if nothing did.
    pub(crate) fn complaint(&self, what: &str) -> Option<String> {
        if self.is_clean() {
            return None;
        }
        let refusal = self.first_refusal.as_deref().unwrap_or("none");
        let fault = self.faults.first().map_or("none", String::as_str);
        Some(format!(
            "{what}: {} unwanted answers (first: {refusal}), {} broken connections (first: {fault})",
            self.refusals,
            self.faults.len(),
        ))
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        self.answers += other.answers;
        self.refusals += other.refusals;
        self.first_refusal = self.first_refusal.take().or(other.first_refusal);
        self.faults.extend(other.faults);
        self.latencies.merge(&other.latencies);
    }
}

/// Drives the target and returns when the round is over. Every connection is open before the clock starts.
pub(crate) async fn run(target: &Target, connections: u32, until: Until) -> Result<Measured, Fault> {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(Connection::open(target.address).await?);
    }
    let share = until.requests_max.div_ceil(u64::from(connections.max(1)));
    let started = Instant::now();
    let deadline = started + until.duration;
    let mut tasks = JoinSet::new();
    for connection in open {
        tasks.spawn(drive(connection, target.clone(), deadline, share));
    }
    let mut total = Measured::new();
    let all = async {
        while let Some(one) = tasks.join_next().await {
            total.absorb(one.map_err(|error| format!("a load task failed: {error}"))?);
        }
        Ok::<(), Fault>(())
    };
    match tokio::time::timeout(until.duration + GRACE, all).await {
        Ok(outcome) => outcome?,
        Err(_) => return Err(format!("{} stopped answering", target.address).into()),
    }
    total.elapsed = started.elapsed();
    Ok(total)
}

async fn drive(mut connection: Connection, target: Target, deadline: Instant, share: u64) -> Measured {
    let mut measured = Measured::new();
    let mut buffer = Vec::new();
    let mut before = Instant::now();
    while before < deadline && measured.answers < share {
        match connection.exchange(target.requests.next(&mut buffer)).await {
            Ok(answer) if answer.status == target.wanted => {}
            Ok(answer) => {
                measured.refusals += 1;
                measured.first_refusal.get_or_insert_with(|| answer.to_string());
            }
            Err(fault) => {
                measured.faults.push(fault.to_string());
                break;
            }
        }
        let after = Instant::now();
        measured.latencies.record(after - before);
        measured.answers += 1;
        before = after;
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{echo, http};

    async fn echo_target(path: &str) -> Target {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, echo::router(120)).into_future());
        Target::same(address, http::request("POST", path, Some("key"), Some(b"{}")))
    }

    #[tokio::test]
    async fn sends_no_more_than_asked_and_counts_every_answer() {
        let target = echo_target(crate::QUOTE_PATH).await;
        let until = Until { duration: Duration::from_secs(5), requests_max: 40 };
        let measured = run(&target, 4, until).await.unwrap();
        assert!(measured.is_clean());
        assert_eq!(measured.answers, 40);
        assert!(measured.per_second() > 0);
        assert!(measured.latencies.quantile(0.5) > Duration::ZERO);
    }

    #[tokio::test]
    async fn another_status_than_wanted_is_counted() {
        let target = echo_target("/elsewhere").await;
        let until = Until { duration: Duration::from_secs(5), requests_max: 6 };
        let measured = run(&target, 2, until).await.unwrap();
        assert_eq!((measured.answers, measured.refusals), (6, 6));
        let complaint = measured.complaint("echo").unwrap();
        assert!(complaint.starts_with("echo: 6 unwanted answers (first: 404"), "{complaint}");
        let wanted = run(&target.wanting(404), 2, until).await.unwrap();
        assert_eq!(wanted.complaint("echo"), None);
    }

    #[tokio::test]
    async fn the_clock_ends_a_round() {
        let target = echo_target(crate::QUOTE_PATH).await;
        let until = Until { duration: Duration::from_millis(50), requests_max: u64::MAX };
        let measured = run(&target, 2, until).await.unwrap();
        assert!(measured.is_clean() && measured.answers > 0);
        assert!(measured.elapsed >= Duration::from_millis(50) && measured.elapsed < Duration::from_secs(5));
    }
}
