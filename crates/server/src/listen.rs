//! Connections: accepted within bounds, kept alive, and let finish when the service stops.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tracing::{debug, info, warn};

use crate::{app::App, edge::Edge};

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
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(limits.most_connections));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_arrival).keep_alive(true);

    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Some((stream, peer, permit)) = accepted else { continue };
        let edge = Arc::clone(&edge);
        let open = edge.app().metrics.connections.clone();
        let service =
            service_fn(move |request: Request<Incoming>| Arc::clone(&edge).answer(peer.ip(), request));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            open.inc();
            if let Err(error) = connection.await {
                debug!(%peer, %error, "a connection ended early");
            }
            open.dec();
            drop(permit);
        });
    }

    drop(listener);
    info!("stopping: finishing the requests under way");
    if timeout(limits.drain, graceful.shutdown()).await.is_err() {
        warn!("some requests did not finish in time and were cut off");
    }
    follower.abort();
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
