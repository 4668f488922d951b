//! Which Tollgate nodes are ready, as a load balancer finds out: it asks each of them, and sends requests to those that answer.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tollgate_bench::Fault;
use tollgate_bench::http::{self, Connection};

use crate::cluster::TOLLGATES;

const PATH: &str = "/readyz";
const INTERVAL: Duration = Duration::from_millis(250);
const ANSWERED_WITHIN: Duration = Duration::from_millis(500);
/// A node is not ready after so many failures in a row.
const FAILURES: u32 = 2;

/// Knows which nodes are ready.
pub(crate) struct Readiness {
    nodes: watch::Receiver<[bool; TOLLGATES]>,
    tasks: Mutex<JoinSet<()>>,
}

impl Readiness {
    pub(crate) fn watch(addresses: [SocketAddr; TOLLGATES]) -> Arc<Self> {
        let (sender, nodes) = watch::channel([true; TOLLGATES]);
        let sender = Arc::new(sender);
        let mut tasks = JoinSet::new();
        for (node, address) in addresses.into_iter().enumerate() {
            tasks.spawn(ask_again_and_again(node, address, Arc::clone(&sender)));
        }
        Arc::new(Self { nodes, tasks: Mutex::new(tasks) })
    }

    pub(crate) fn stop(&self) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    /// Waits until this node is not ready and another one is.
    pub(crate) async fn only_others(&self, node: usize) {
        let mut nodes = self.nodes.clone();
        if nodes.wait_for(|nodes| are_only_others(nodes, node)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn are_only_others(nodes: &[bool], node: usize) -> bool {
    nodes.get(node) == Some(&false) && nodes.contains(&true)
}

async fn ask_again_and_again(node: usize, address: SocketAddr, nodes: Arc<watch::Sender<[bool; TOLLGATES]>>) {
    let mut failures = 0_u32;
    let mut connection = None;
    loop {
        let asked = tokio::time::timeout(ANSWERED_WITHIN, ask(address, &mut connection)).await;
        if matches!(asked, Ok(Ok(200))) {
            failures = 0;
        } else {
            failures = failures.saturating_add(1);
            connection = None;
        }
        let is_ready = failures < FAILURES;
        nodes.send_if_modified(|nodes| match nodes.get_mut(node) {
            Some(known) if *known != is_ready => {
                *known = is_ready;
                true
            }
            _ => false,
        });
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn ask(address: SocketAddr, connection: &mut Option<Connection>) -> Result<u16, Fault> {
    let connection = match connection {
        Some(connection) => connection,
        none => none.insert(Connection::open(address).await?),
    };
    Ok(connection.exchange(&http::request("GET", PATH, None, None)).await?.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_left_only_for_one_that_is_ready() {
        assert!(are_only_others(&[true, false], 1));
        assert!(!are_only_others(&[true, false], 0));
        assert!(!are_only_others(&[true, true], 0) && !are_only_others(&[false, false], 0));
    }
}
