//! Starting a node: store, engine, listener; and serving until told to stop.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tollgate_console::Console;
use tollgate_courier::HttpCourier;
use tollgate_engine::{Check, DatabaseClock, Engine, ExternalCheck, StartError, SystemClock, ports::Store};
use tollgate_oidc::Issuer;
use tollgate_providers::Providers;
use tollgate_server::{ApiEventBodies, App, Limits, Listeners, Tls};
use tollgate_store::{DatabaseUrl, OpenError, Options};
use tollgate_vault::{AdminToken, MasterKey};
use tracing::{info, warn};

use crate::{failure::Failure, settings::ServerSettings};

/// How often, and how far apart, a database server that does not answer yet is tried at start.
const OPEN_TRIES: u32 = 30;
const OPEN_PAUSE: Duration = Duration::from_secs(2);

/// Open files that are not connections of callers: the database, providers, receivers of events.
const OTHER_FILES: usize = 512;

/// Binds the address, so that a port already taken is told before anything else happens.
pub(crate) async fn bind(listen: &str, setting: &str) -> Result<(TcpListener, SocketAddr), Failure> {
    let taken = |error| {
        Failure::new(format!("cannot listen on {listen}: {error}; choose another address with {setting}"))
    };
    let listener = TcpListener::bind(listen).await.map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    Ok((listener, address))
}

/// Everything this node listens on; `main` is bound already.
pub(crate) async fn listeners(settings: &ServerSettings, main: TcpListener) -> Result<Listeners, Failure> {
    let admin = match &settings.admin_listen {
        Some(listen) => Some(bind(listen, "TOLLGATE_ADMIN_LISTEN").await?.0),
        None => None,
    };
    let tls = settings.tls.clone().map(Tls::load).transpose();
    let tls = tls.map_err(|error| {
        Failure::new(format!("{error}; check TOLLGATE_TLS_CERTIFICATE and TOLLGATE_TLS_KEY"))
    })?;
    Ok(Listeners { main, admin, tls: tls.map(Arc::new) })
}

/// Opens the store and starts the engine on it.
pub(crate) async fn engine(
    settings: &ServerSettings,
    address: SocketAddr,
    master_key: &MasterKey,
) -> Result<Engine, Failure> {
    let adapters = Arc::new(Providers::new(settings.providers.clone())?);
    let options = settings.engine_options(address);
    let store = open(&settings.database, Some(&options.public_url)).await?;
    let clock = DatabaseClock::start(&*store, Arc::new(SystemClock)).await.map_err(StartError::Store)?;
    let clock = Arc::new(clock);
    tokio::spawn(Arc::clone(&clock).follow(Arc::clone(&store)));
    Ok(Engine::start(store, clock, master_key, adapters, options).await?)
}

/// Puts HTTP, the operator's pages and a courier of events around the engine.
pub(crate) fn app(
    settings: &ServerSettings,
    engine: Engine,
    admin_token: AdminToken,
    is_sandbox: bool,
) -> Result<App, Failure> {
    let courier = HttpCourier::new(settings.courier())
        .map_err(|error| Failure::new(format!("cannot set up TLS for webhook deliveries: {error}")))?;
    let app = App::new(engine, admin_token)
        .with_courier(Arc::new(courier))
        .with_trusted_proxies(settings.trusted_proxies.clone());
    let app = match settings.metrics_token()? {
        Some(token) => app.with_metrics_token(token),
        None => app,
    };
    let app = if is_sandbox { app.with_loopback_origins() } else { app };
    let engine = Arc::clone(app.engine());
    let console_url = settings.console_url(engine.public_url()).to_owned();
    let is_https = console_url.starts_with("https://");
    let console = Console::new(Arc::clone(&engine), admin_token, Arc::new(ApiEventBodies), is_https)
        .reached_at(&console_url);
    let console = if is_sandbox { console.for_sandbox() } else { console };
    let console = console.with_tokens(settings.console_tokens);
    let (app, console) = match &settings.single_sign_on {
        None => (app, console),
        Some(single_sign_on) => {
            let issuer = Issuer::new(single_sign_on.clone())
                .map_err(|error| Failure::new(format!("cannot set up TLS for single sign-on: {error}")))?;
            let issuer = Arc::new(issuer);
            let check = IssuerCheck { issuer: Arc::clone(&issuer), engine };
            (app.with_external_check(Arc::new(check)), console.with_single_sign_on(issuer, &console_url))
        }
    };
    Ok(app.with_console("/console", tollgate_console::router(console)))
}

/// What the doctor says of the issuer.
struct IssuerCheck {
    issuer: Arc<Issuer>,
    engine: Arc<Engine>,
}

#[async_trait]
impl ExternalCheck for IssuerCheck {
    async fn check(&self) -> Check {
        let name = "sign-on";
        match self.issuer.check(self.engine.clock().now()).await {
            Ok(()) => Check::ok(name, format!("single sign-on with {}", self.issuer.name())),
            Err(error) => {
                let advice = "until it can be asked, operators sign in with tokens; check the TOLLGATE_OIDC settings and the way to the issuer";
                Check::problem(name, format!("single sign-on does not work: {error}"), advice)
            }
        }
    }
}

/// Services start in any order: a database server that is not there yet is waited for, within bounds.
pub(crate) async fn open(
    database: &DatabaseUrl,
    public_url: Option<&str>,
) -> Result<Arc<dyn Store>, Failure> {
    let mut options = Options::default();
    options.postgres.node_url = public_url.map(str::to_owned);
    let mut tries = 0;
    loop {
        match tollgate_store::open(database, &options).await {
            Ok(store) => return Ok(store),
            Err(OpenError::Server { reason, .. }) if tries < OPEN_TRIES => {
                tries += 1;
                warn!(%database, reason, "database not responding yet; retrying");
                sleep(OPEN_PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Serves until told to stop, then finishes what was started.
pub(crate) async fn serve(listeners: Listeners, app: App, limits: Limits) -> Result<(), Failure> {
    let stop = stop_signal()?;
    let limits = within_open_files(limits);
    let admin = listeners.admin.as_ref().and_then(|listener| listener.local_addr().ok());
    if let Ok(address) = listeners.main.local_addr() {
        info!(%address, admin_address = admin.map(tracing::field::display), tls = listeners.tls.is_some(), "listening");
    }
    tollgate_server::serve(listeners, app, limits, stop).await;
    info!("stopped");
    Ok(())
}

/// The limits that this process' open files allow, after asking for as many as it may have.
fn within_open_files(limits: Limits) -> Limits {
    let allowed = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: allowed.maximum, ..allowed };
    // A system that says no is heard below.
    let _ = setrlimit(Resource::Nofile, wanted);
    let Some(files) = getrlimit(Resource::Nofile).current else { return limits };
    let most = usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(OTHER_FILES).max(1);
    if limits.most_connections <= most {
        return limits;
    }
    warn!(
        files,
        connections = most,
        "the system allows fewer open files than TOLLGATE_MAX_CONNECTIONS needs; raise the limit (ulimit -n)"
    );
    Limits {
        most_connections: most,
        most_per_address: limits.most_per_address.min(most.div_ceil(4)),
        ..limits
    }
}

/// Resolves on SIGINT or SIGTERM.
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let cannot = |error| Failure::new(format!("cannot listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
