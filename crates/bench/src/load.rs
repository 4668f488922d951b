//! The load: a fixed number of connections, each sending its next request when the last one is answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Fault;
use crate::histogram::Histogram;
use crate::http::Connection;

/// How long after its end a round may still wait for answers before it is called stuck.
const GRACE: Duration = Duration::from_secs(10);

/// What is sent, and to whom.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) request: Arc<[u8]>,
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
    /// Answers with a status other than 200.
    pub(crate) refusals: u64,
    /// Connections that broke; each ends with its first fault.
    pub(crate) faults: Vec<String>,
    pub(crate) elapsed: Duration,
    pub(crate) latencies: Histogram,
}

impl Measured {
    fn new() -> Self {
        Self {
            answers: 0,
            refusals: 0,
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

    fn absorb(&mut self, other: Self) {
        self.answers += other.answers;
        self.refusals += other.refusals;
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
        tasks.spawn(drive(connection, Arc::clone(&target.request), deadline, share));
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

async fn drive(mut connection: Connection, request: Arc<[u8]>, deadline: Instant, share: u64) -> Measured {
    let mut measured = Measured::new();
    let mut before = Instant::now();
    while before < deadline && measured.answers < share {
        match connection.exchange(&request).await {
            Ok(answer) => measured.refusals += u64::from(answer.status != 200),
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
        Target { address, request: http::request("POST", path, Some("key"), Some(b"{}")).into() }
    }

    #[tokio::test]
    async fn sends_no_more_than_asked_and_counts_every_answer() {
        let target = echo_target(crate::QUOTE_PATH).await;
        let until = Until { duration: Duration::from_secs(5), requests_max: 40 };
        let measured = run(&target, 4, until).await.unwrap();
        assert!(measured.is_clean());
        assert_eq!(measured.answers, 40);
        assert!(measured.per_second() > 0);
        assert!(measured.latencies.percentile(500) > Duration::ZERO);
    }

    #[tokio::test]
    async fn an_answer_other_than_200_is_counted() {
        let target = echo_target("/elsewhere").await;
        let until = Until { duration: Duration::from_secs(5), requests_max: 6 };
        let measured = run(&target, 2, until).await.unwrap();
        assert_eq!((measured.answers, measured.refusals), (6, 6));
        assert!(!measured.is_clean());
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
