//! Connections: accepted within bounds, kept alive, and let finish when the service stops.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::{debug, info, warn};

use crate::{app::App, edge::Edge, event_bodies::ApiEventBodies, quiet::Quiet};

/// Bounds of the transport.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections beyond this wait to be accepted.
    pub most_connections: usize,
    /// How long a connection may take to send a request's head, or stay idle between two.
    pub head_arrival: Duration,
    /// How long requests under way may take once the service stops.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            most_connections: 10_000,
            head_arrival: Duration::from_secs(75),
            drain: Duration::from_secs(30),
        }
    }
}

/// Serves until `stop` resolves, then finishes what was started.
pub async fn serve(listener: TcpListener, app: App, limits: Limits, stop: impl Future<Output = ()>) {
    let edge = Edge::new(app);
    let follower = tokio::spawn(Arc::clone(edge.app().engine().directory()).follow());
    let permits = Arc::new(Semaphore::new(limits.most_connections));
    let (stopping, stopped) = watch::channel(false);
    let mut background = background(edge.app(), &stopped);

    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Some((stream, peer, permit)) = accepted else { continue };
        let (edge, stopped) = (Arc::clone(&edge), stopped.clone());
        tokio::spawn(async move {
            let open = edge.app().metrics.connections.clone();
            open.inc();
            attend(stream, peer, edge, limits, stopped).await;
            open.dec();
            drop(permit);
        });
    }

    drop(listener);
    info!("stopping: finishing the requests under way");
    stopping.send_replace(true);
    // Every connection holds a permit: all of them back means none is left.
    let all = u32::try_from(limits.most_connections).unwrap_or(u32::MAX);
    if timeout(limits.drain, permits.acquire_many(all)).await.is_err() {
        warn!("some requests did not finish in time and were cut off");
    }
    // What is not finished in time, another node or the next start takes over.
    if timeout(limits.drain, async { while background.join_next().await.is_some() {} }).await.is_err() {
        warn!("the background work did not finish in time and was cut off");
    }
    follower.abort();
}

/// What goes on beside the requests, until told to stop: looking after payments, and telling callers.
fn background(app: &App, stopped: &watch::Receiver<bool>) -> JoinSet<()> {
    let mut work = JoinSet::new();
    let engine = || Arc::clone(app.engine());
    work.spawn(engine().resolve_until(stopped.clone()));
    work.spawn(engine().digest_until(stopped.clone()));
    if let Some(courier) = app.courier() {
        work.spawn(engine().deliver_until(Arc::clone(courier), Arc::new(ApiEventBodies), stopped.clone()));
    }
    work
}

/// Why a connection is not simply waited for any longer.
enum Interruption {
    Stop,
    Stall,
}

/// Serves one connection to its end: the peer's, the service's, or that of our patience.
async fn attend(
    stream: TcpStream,
    peer: SocketAddr,
    edge: Arc<Edge>,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    let progress = Arc::new(Progress::default());
    let watched = Arc::clone(&progress);
    let service = service_fn(move |request: Request<Incoming>| {
        let (edge, progress) = (Arc::clone(&edge), Arc::clone(&progress));
        async move {
            progress.began();
            let answer = edge.answer(peer.ip(), request).await;
            progress.ended();
            answer
        }
    });
    // Answers are small: one buffer and one plain write cost less than gathering two.
    let mut http = http1::Builder::new();
    http.keep_alive(true).writev(false);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let interruption = Quiet::new(async move {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => Interruption::Stop,
            () = watched.stalls(limits.head_arrival) => Interruption::Stall,
        }
    });
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        interruption = interruption => match interruption {
            Interruption::Stop => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            Interruption::Stall => {
                debug!(%peer, "a connection was idle for too long");
                return;
            }
        }
    };
    if let Err(error) = ended {
        debug!(%peer, %error, "a connection ended early");
    }
}

/// How far a connection has come, to tell an idle one from a busy one. One timer per connection that seldom fires
/// costs a request nothing, unlike one that is set anew for each.
#[derive(Default)]
struct Progress {
    /// Odd while a request is under way.
    steps: AtomicU64,
}

impl Progress {
    fn began(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    fn ended(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns once no request has begun or ended for `most`, and at the latest half as long again after that, while
    /// none is under way: the head of the next one does not come, or the last answer is not taken.
    async fn stalls(&self, most: Duration) {
        let (mut seen, mut unchanged) = (0, 0);
        while unchanged < 2 {
            sleep(most / 2).await;
            let steps = self.steps.load(Ordering::Relaxed);
            let idle = steps == seen && steps.is_multiple_of(2);
            unchanged = if idle { unchanged + 1 } else { 0 };
            seen = steps;
        }
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            if let Err(error) = stream.set_nodelay(true) {
                debug!(%peer, %error, "a connection keeps its delay");
            }
            Some((stream, peer, permit))
        }
        Err(error) => {
            pause_after(&error).await;
            None
        }
    }
}

/// Out of file descriptors, say: accepting again at once would only spin.
async fn pause_after(error: &io::Error) {
    let of_one_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if !of_one_connection {
        warn!(%error, "cannot accept connections; trying again in a second");
        sleep(Duration::from_secs(1)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_idle_connection_stalls_and_a_busy_one_does_not() {
        let most = Duration::from_millis(40);
        let progress = Progress::default();
        timeout(Duration::from_secs(5), progress.stalls(most)).await.unwrap();
        progress.began();
        assert!(timeout(most * 5, progress.stalls(most)).await.is_err(), "a request is under way");
        progress.ended();
        let requests = async {
            loop {
                progress.began();
                progress.ended();
                sleep(most / 8).await;
            }
        };
        tokio::select! {
            () = requests => {}
            () = progress.stalls(most) => panic!("a connection with requests on it was given up"),
            () = sleep(most * 5) => {}
        }
    }
}
