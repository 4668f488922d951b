//! Connections: accepted within bounds, kept alive, and let finish when the service stops.

use std::{convert::Infallible, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use http::{HeaderValue, Request, Response, header};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::{debug, info, warn};

use crate::{
    app::App,
    response::event_bodies::ApiEventBodies,
    transport::{
        connections::{ConnectionSlot, Connections, OpenConnection},
        edge::{Edge, ServedTo},
        poll_on_wake::PollOnWake,
        stream::{AnswerBody, ArrivingBody, ConnectionStream, MAX_HEAD},
        tls::Tls,
    },
};

/// How many connections are closed where the system gives no more.
const ROOM_AT_ONCE: usize = 64;
/// How long to wait for the place of a connection that was just closed for a new one.
const ROOM_PAUSE: Duration = Duration::from_millis(50);

/// The most that a connection buffers of what it reads, and of what it writes.
const MAX_BUFFER: usize = 2 * MAX_HEAD;

/// Browsers that came once by TLS come by nothing else for a year.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Of so many connections one may wait for the rest of a request's body. Those of honest callers wait for moments.
const WAITING_SHARE: usize = 10;

/// Operators are few, and must not be kept out by callers who are many.
const MAX_ADMIN_CONNECTIONS: usize = 256;
/// No address of theirs has more than a quarter of that.
const MAX_ADMIN_CONNECTIONS_PER_ADDRESS: usize = MAX_ADMIN_CONNECTIONS / 4;

/// Bounds of the transport.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Open connections. Beyond this, one without a complete request is closed for each new one.
    pub most_connections: usize,
    /// Open connections from one client address (for IPv6, one network of 64 bits).
    pub most_per_address: usize,
    /// How long a connection may take to send its first byte, and then a request's whole head.
    pub head_arrival: Duration,
    /// How long a connection may stay idle between two requests.
    pub idle: Duration,
    /// How long requests under way may take once the service stops.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            most_connections: 10_000,
            most_per_address: 2_500,
            head_arrival: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            drain: Duration::from_secs(30),
        }
    }
}

/// Where connections come in.
#[derive(Debug)]
pub struct Listeners {
    /// For callers, and for operators where they have no listener of their own.
    pub main: TcpListener,
    /// For operators: with it, their API and pages answer nowhere else.
    pub admin: Option<TcpListener>,
    /// Spoken on both.
    pub tls: Option<Arc<Tls>>,
}

/// Serves until `stop` resolves, then finishes what was started.
pub async fn serve(listeners: Listeners, app: App, limits: Limits, stop: impl Future<Output = ()>) {
    let edge = Edge::new(app);
    let follower = tokio::spawn(Arc::clone(edge.app().engine().directory()).follow());
    let (stopping, stopped) = watch::channel(false);
    let mut background = background(edge.app(), &stopped);
    let Listeners { main, admin, tls } = listeners;
    if let Some(tls) = &tls {
        background.spawn(Arc::clone(tls).reload_until(stopped.clone()));
    }
    let served_to = if admin.is_some() { ServedTo::Callers } else { ServedTo::Everybody };
    let admin_limits = Limits {
        most_connections: limits.most_connections.min(MAX_ADMIN_CONNECTIONS),
        most_per_address: limits.most_per_address.min(MAX_ADMIN_CONNECTIONS_PER_ADDRESS),
        ..limits
    };
    let admin =
        admin.map(|listener| Listener::new(listener, tls.clone(), ServedTo::Operators, admin_limits, &edge));
    let all_listeners = [Some(Listener::new(main, tls, served_to, limits, &edge)), admin];
    let mut accepting = JoinSet::new();
    let mut permits = Vec::new();
    for listener in all_listeners.into_iter().flatten() {
        permits.push((Arc::clone(&listener.permits), listener.limits.most_connections));
        accepting.spawn(listener.accept_until(Arc::clone(&edge), stopped.clone()));
    }

    stop.await;
    info!("shutting down: finishing requests in progress");
    stopping.send_replace(true);
    let drained = async {
        while accepting.join_next().await.is_some() {}
        for (permits, all) in permits {
            // Every connection holds a permit: all of them back means none is left.
            let _ = permits.acquire_many(u32::try_from(all).unwrap_or(u32::MAX)).await;
        }
    };
    if timeout(limits.drain, drained).await.is_err() {
        warn!("some requests did not finish in time and were aborted");
    }
    // What is not finished in time, another node or the next start takes over.
    if timeout(limits.drain, async { while background.join_next().await.is_some() {} }).await.is_err() {
        warn!("background work did not finish in time and was aborted");
    }
    follower.abort();
}

/// What goes on beside the requests, until the service stops: resolving payments, and delivering events.
fn background(app: &App, stopped: &watch::Receiver<bool>) -> JoinSet<()> {
    let mut work = JoinSet::new();
    let engine = || Arc::clone(app.engine());
    work.spawn(engine().resolve_until(stopped.clone()));
    work.spawn(engine().index_until(stopped.clone()));
    work.spawn(engine().report_circuits_until(stopped.clone()));
    work.spawn(engine().log_requests_until(stopped.clone()));
    work.spawn(engine().retain_until(stopped.clone()));
    if let Some(courier) = &app.courier {
        work.spawn(engine().deliver_until(Arc::clone(courier), Arc::new(ApiEventBodies), stopped.clone()));
    }
    work
}

/// Why a connection is closed before its peer closes it.
enum Interruption {
    Stop,
    Evicted,
    Timeout,
}

/// How the connections of a listener are served.
#[derive(Clone)]
struct ConnectionConfig {
    edge: Arc<Edge>,
    tls: Option<Arc<Tls>>,
    served_to: ServedTo,
    limits: Limits,
}

/// Serves one connection until it is closed, stopped or timed out.
async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    open: &Arc<OpenConnection>,
    config: ConnectionConfig,
    mut stopped: watch::Receiver<bool>,
) {
    let limits = config.limits;
    // Until something arrives, a connection costs no more than its socket.
    let arrived = tokio::select! {
        biased;
        ready = stream.readable() => ready.is_ok(),
        _ = stopped.wait_for(|stopped| *stopped) => false,
        () = open.evicted() => false,
        () = sleep(limits.head_arrival) => false,
    };
    if !arrived {
        debug!(%peer, "connection closed before any request");
        return;
    }
    let Some(tls) = config.tls.clone() else {
        return Box::pin(serve_http(stream, peer, Arc::clone(open), config, stopped)).await;
    };
    let accepted = tokio::select! {
        biased;
        accepted = Box::pin(tls.accept(stream, limits.head_arrival)) => accepted,
        () = open.evicted() => return debug!(%peer, "connection closed to make room for another"),
    };
    match accepted {
        Ok(stream) => Box::pin(serve_http(stream, peer, Arc::clone(open), config, stopped)).await,
        Err(error) => debug!(%peer, %error, "TLS handshake failed"),
    }
}

async fn serve_http(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    peer: SocketAddr,
    open: Arc<OpenConnection>,
    config: ConnectionConfig,
    mut stopped: watch::Receiver<bool>,
) {
    let ConnectionConfig { edge, served_to, limits, tls } = config;
    let is_encrypted = tls.is_some();
    let (refusing, watched, own) = (Arc::clone(&edge), Arc::clone(&open), Arc::clone(&open));
    let io = ConnectionStream::new(stream, Arc::clone(&open), move |status, head: &str| {
        refusing.refuse_head(status, head)
    });
    let service = service_fn(move |request: Request<Incoming>| {
        let (edge, open) = (Arc::clone(&edge), Arc::clone(&open));
        async move {
            open.activity().request_began();
            let request = request.map(|body| ArrivingBody::new(body, Arc::clone(&open)));
            let Ok(mut answer) = edge.answer(peer.ip(), served_to, request).await;
            if is_encrypted {
                answer.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
            }
            Ok::<Response<AnswerBody>, Infallible>(answer.map(|body| AnswerBody::new(body, open)))
        }
    });
    // Answers are small: one buffer and one plain write cost less than gathering two.
    let mut http = http1::Builder::new();
    http.keep_alive(true).writev(false).max_header_size(MAX_HEAD).max_buf_size(MAX_BUFFER);
    let connection = http.serve_connection(TokioIo::new(io), service);
    tokio::pin!(connection);
    let interruption = PollOnWake::new(async move {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => Interruption::Stop,
            () = watched.evicted() => Interruption::Evicted,
            () = watched.activity().stalls(limits.head_arrival, limits.idle) => Interruption::Timeout,
        }
    });
    let interruption = tokio::select! {
        biased;
        ended = connection.as_mut() => {
            if let Err(error) = ended {
                debug!(%peer, %error, "connection ended early");
            }
            return;
        }
        interruption = interruption => interruption,
    };
    let has_request = own.activity().has_request();
    match interruption {
        Interruption::Timeout => debug!(%peer, "connection idle for too long"),
        Interruption::Evicted if !has_request => debug!(%peer, "connection closed to make room for another"),
        Interruption::Stop | Interruption::Evicted => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                _ = connection => {}
                () = own.activity().stalls(limits.head_arrival, limits.head_arrival) => {}
            }
        }
    }
}

struct Listener {
    socket: TcpListener,
    tls: Option<Arc<Tls>>,
    served_to: ServedTo,
    limits: Limits,
    permits: Arc<Semaphore>,
    connections: Arc<Connections>,
}

struct AcceptedConnection {
    stream: TcpStream,
    peer: SocketAddr,
    place: ConnectionSlot,
    permit: OwnedSemaphorePermit,
}

impl Listener {
    fn new(
        socket: TcpListener,
        tls: Option<Arc<Tls>>,
        served_to: ServedTo,
        limits: Limits,
        edge: &Edge,
    ) -> Self {
        let App { metrics, trusted_proxies, .. } = edge.app();
        let dropped = metrics.connections_dropped.clone();
        let most_waiting = limits.most_connections.div_ceil(WAITING_SHARE);
        let connections =
            Connections::new(limits.most_per_address, most_waiting, trusted_proxies.clone(), dropped);
        let permits = Arc::new(Semaphore::new(limits.most_connections));
        Self { socket, tls, served_to, limits, permits, connections }
    }

    /// Lets connections in until the service stops, and then closes the socket.
    async fn accept_until(self, edge: Arc<Edge>, mut stopped: watch::Receiver<bool>) {
        let config =
            ConnectionConfig { edge, tls: self.tls.clone(), served_to: self.served_to, limits: self.limits };
        let until = stopped.clone();
        loop {
            let accepted_connection = tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => return,
                accepted_connection = self.accept() => accepted_connection,
            };
            let Some(accepted_connection) = accepted_connection else { continue };
            let (config, until) = (config.clone(), until.clone());
            tokio::spawn(async move {
                let open = config.edge.app().metrics.connections.clone();
                open.inc();
                serve_connection(
                    accepted_connection.stream,
                    accepted_connection.peer,
                    accepted_connection.place.connection(),
                    config,
                    until,
                )
                .await;
                open.dec();
                drop((accepted_connection.place, accepted_connection.permit));
            });
        }
    }

    async fn accept(&self) -> Option<AcceptedConnection> {
        let (stream, peer) = match self.socket.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                self.pause_after(&error).await;
                return None;
            }
        };
        let Some(place) = self.connections.admit(peer.ip()) else {
            debug!(%peer, "connection rejected: too many active connections from this address");
            return None;
        };
        let permit = self.permit().await?;
        if let Err(error) = stream.set_nodelay(true) {
            debug!(%peer, %error, "cannot set TCP_NODELAY");
        }
        Some(AcceptedConnection { stream, peer, place, permit })
    }

    /// A place among all, if need be that of a connection without a complete request. Where each has one, whoever is
    /// new waits.
    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
                return Some(permit);
            }
            self.connections.make_room();
            if let Ok(permit) = timeout(ROOM_PAUSE, Arc::clone(&self.permits).acquire_owned()).await {
                return permit.ok();
            }
        }
    }

    /// Out of file descriptors, say: accepting again at once would only spin.
    async fn pause_after(&self, error: &io::Error) {
        let of_one_connection = matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
        );
        if !of_one_connection {
            warn!(%error, "cannot accept connections; closing idle ones and retrying in a second");
            let closed = (0..ROOM_AT_ONCE).take_while(|_| self.connections.make_room()).count();
            debug!(closed, "idle connections closed");
            sleep(Duration::from_secs(1)).await;
        }
    }
}
