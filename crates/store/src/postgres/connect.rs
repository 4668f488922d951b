//! From a URL to a way of connecting, with or without TLS.
//!
//! `sslmode` decides: `disable` is plain, `require` and `verify-full` are TLS with the server's certificate and name
//! verified. Without it, connections to this machine (loopback or a Unix socket) are plain and all others are TLS:
//! there is no mode that encrypts without knowing to whom. The system's root certificates are trusted, and those in
//! the PEM file that `sslrootcert` names.
//!
//! Whatever the URL says, only servers that take writes are used: given several hosts, the one that does is found. The host
//! that was found last is asked first; where it fails or says nothing, the others are asked as well, all at once. A host
//! that accepts connections and then says nothing, as a paused machine does, must not keep us from the new leader.

use std::{
    net::IpAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::Connect;
use futures_util::{
    FutureExt as _,
    future::BoxFuture,
    stream::{FuturesUnordered, StreamExt as _},
};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{
    Client, Config, Connection, Error, Socket,
    config::{Host, SslMode, TargetSessionAttrs},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresSettings;
use crate::{DatabaseUrl, InvalidDatabaseUrl, OpenError};

/// How long a node may leave a transaction alone before the server ends it: all others who want the same wallet wait as long
/// when a node is paused or cut off half way. A node that was only slow tries again.
const IDLE_LIMIT: Duration = Duration::from_millis(1_500);

/// How often a quiet connection is checked, so that one to a vanished server is noticed in half a minute.
const KEEPALIVE_IDLE_SECONDS: u64 = 15;
const KEEPALIVE_INTERVAL_SECONDS: u64 = 5;
const KEEPALIVE_RETRIES: u32 = 3;

/// How long the host that was found last is asked alone.
const HEAD_START: Duration = Duration::from_millis(250);
/// How long a host that says nothing is waited for once another has answered, if only that it takes no writes.
const SILENT_LIMIT: Duration = Duration::from_millis(1_500);

/// All that is needed to make a connection.
#[derive(Clone)]
pub(super) struct Connector {
    /// One for each host, in the order of the URL.
    hosts: Vec<Config>,
    tls: MakeRustlsConnect,
    /// The host that took writes last.
    found: Arc<AtomicUsize>,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    pub(super) fn new(url: &DatabaseUrl, settings: &PostgresSettings) -> Result<Self, OpenError> {
        let wanted = Wanted::parse(url.postgres_url().unwrap_or_default())?;
        let mut hosts = one_by_one(&wanted.config);
        for config in &mut hosts {
            if config.get_application_name().is_none() {
                let url = settings.node_url.as_deref();
                config.application_name(
                    url.map_or_else(|| "tollgate".to_owned(), |url| format!("tollgate {url}")),
                );
            }
            if config.get_connect_timeout().is_none() {
                config.connect_timeout(settings.connect_timeout);
            }
            config
                .keepalives(true)
                .keepalives_idle(Duration::from_secs(KEEPALIVE_IDLE_SECONDS))
                .keepalives_interval(Duration::from_secs(KEEPALIVE_INTERVAL_SECONDS))
                .keepalives_retries(KEEPALIVE_RETRIES)
                .tcp_user_timeout(settings.statement_timeout.saturating_mul(2))
                .target_session_attrs(TargetSessionAttrs::ReadWrite);
            let limit = settings.statement_timeout.as_millis();
            let idle = settings.statement_timeout.min(IDLE_LIMIT).as_millis();
            // The second ends what a vanished node has left open, so that its locks are not held for long. And the server is
            // not to compile plans: all statements are short, and those that forbid a way of planning look costly to it.
            let limits = format!(
                "-c statement_timeout={limit} -c idle_in_transaction_session_timeout={idle} -c jit=off"
            );
            let options =
                config.get_options().map_or_else(|| limits.clone(), |given| format!("{given} {limits}"));
            config.options(options).ssl_mode(if wanted.encrypted {
                SslMode::Require
            } else {
                SslMode::Disable
            });
        }
        let roots = if wanted.encrypted { roots(wanted.root_file.as_ref())? } else { RootCertStore::empty() };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| OpenError::Tls { reason: error.to_string() })?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { hosts, tls: MakeRustlsConnect::new(tls), found: Arc::default() })
    }

    /// Finds a host that takes writes, and connects to it.
    pub(super) async fn connect(&self) -> Result<Connected, Error> {
        let first = self.found.load(Ordering::Relaxed);
        let (alone, others): (Vec<_>, Vec<_>) =
            self.hosts.iter().enumerate().partition(|(place, _)| *place == first);
        let ask = |(place, host): (usize, &Config)| {
            let (host, tls) = (host.clone(), self.tls.clone());
            async move { (place, host.connect(tls).await) }
        };
        let (mut asked, mut others) =
            (alone.into_iter().map(ask).collect::<FuturesUnordered<_>>(), Some(others));
        let mut failed = None;
        loop {
            let limit = match (&others, &failed) {
                (Some(_), _) => HEAD_START,
                (None, Some(_)) => SILENT_LIMIT,
                // Whoever wants the connection decides how long to wait.
                (None, None) => Duration::MAX,
            };
            match timeout(limit, asked.next()).await {
                Ok(Some((place, Ok(connected)))) => {
                    self.found.store(place, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok(Some((_, Err(error)))) => failed = Some(error),
                Ok(None) | Err(_) if others.is_some() => {}
                Ok(None) | Err(_) => match failed {
                    Some(error) => return Err(error),
                    // There is no host, which no URL can say.
                    None => std::future::pending().await,
                },
            }
            asked.extend(others.take().into_iter().flatten().map(ask));
        }
    }
}

/// A client, and what has to be driven for it to work.
type Connected = (Client, Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

impl Connect for Connector {
    fn connect(&self, _: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        async {
            let (client, connection) = Self::connect(self).await?;
            let driven = tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::warn!(
                        error = super::fault::describe(&error),
                        "a connection to the database broke"
                    );
                }
            });
            Ok((client, driven))
        }
        .boxed()
    }
}

/// A configuration for each host of one with several.
fn one_by_one(config: &Config) -> Vec<Config> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let one = |place: usize| {
        let mut one = Config::new();
        one.ssl_negotiation(config.get_ssl_negotiation()).channel_binding(config.get_channel_binding());
        match hosts.get(place) {
            Some(Host::Tcp(name)) => drop(one.host(name)),
            #[cfg(unix)]
            Some(Host::Unix(path)) => drop(one.host_path(path)),
            None => {}
        }
        addresses.get(place).map(|address| one.hostaddr(*address));
        ports.get(place).or(ports.first()).map(|port| one.port(*port));
        config.get_user().map(|user| one.user(user));
        config.get_password().map(|password| one.password(password));
        config.get_dbname().map(|name| one.dbname(name));
        config.get_options().map(|options| one.options(options));
        config.get_application_name().map(|name| one.application_name(name));
        config.get_connect_timeout().map(|limit| one.connect_timeout(*limit));
        one
    };
    (0..hosts.len().max(addresses.len())).map(one).collect()
}

/// What a URL asks for.
#[derive(Debug)]
struct Wanted {
    config: Config,
    encrypted: bool,
    root_file: Option<PathBuf>,
}

impl Wanted {
    fn parse(url: &str) -> Result<Self, InvalidDatabaseUrl> {
        let (url, mode, root_file) = split_tls_parameters(url)?;
        let config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            InvalidDatabaseUrl::new(format!(
                "{error}; it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in the password"
            ))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(InvalidDatabaseUrl::new("it names no host"));
        }
        let encrypted = match mode.as_deref() {
            None => !is_this_machine(&config),
            Some("disable") => false,
            Some("require" | "verify-full") => true,
            Some(_) => {
                return Err(InvalidDatabaseUrl::new(
                    "sslmode must be disable, require or verify-full; the last two verify the server's certificate",
                ));
            }
        };
        Ok(Self { config, encrypted, root_file })
    }
}

/// Takes `sslmode` and `sslrootcert` out of the URL: their meaning here is our own.
fn split_tls_parameters(url: &str) -> Result<(String, Option<String>, Option<PathBuf>), InvalidDatabaseUrl> {
    // The parameters begin at the first question mark behind the password.
    let (credentials, rest) = url.split_once('@').map_or(("", url), |(before, after)| (before, after));
    let Some((place, parameters)) = rest.split_once('?') else { return Ok((url.to_owned(), None, None)) };
    let (mut mode, mut root_file) = (None, None);
    let mut kept = Vec::new();
    for parameter in parameters.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let decoded = || {
            percent_encoding::percent_decode_str(value)
                .decode_utf8()
                .map(std::borrow::Cow::into_owned)
                .map_err(|_| InvalidDatabaseUrl::new(format!("the value of {name} is not UTF-8")))
        };
        match name {
            "sslmode" => mode = Some(decoded()?),
            "sslrootcert" => root_file = Some(PathBuf::from(decoded()?)),
            _ => kept.push(parameter),
        }
    }
    let at = if url.contains('@') { "@" } else { "" };
    let question = if kept.is_empty() { "" } else { "?" };
    Ok((format!("{credentials}{at}{place}{question}{}", kept.join("&")), mode, root_file))
}

fn is_this_machine(config: &Config) -> bool {
    let is_near = |host: &Host| match host {
        Host::Tcp(name) => {
            let bare = name.trim_start_matches('[').trim_end_matches(']');
            name == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_near) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn roots(file: Option<&PathBuf>) -> Result<RootCertStore, OpenError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (system, _) = roots.add_parsable_certificates(found.certs);
    let Some(path) = file else {
        if system == 0 {
            return Err(OpenError::Tls {
                reason:
                    "this system has no root certificates; install them (Debian: ca-certificates), or name \
                         the server's with sslrootcert=PATH in the database URL"
                        .to_owned(),
            });
        }
        return Ok(roots);
    };
    let unreadable = |reason: String| OpenError::Tls {
        reason: format!("cannot read certificates from {} (sslrootcert): {reason}", path.display()),
    };
    let mut own = 0_u32;
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
        own = own.saturating_add(1);
    }
    if own == 0 {
        return Err(unreadable("there is none in it".to_owned()));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_plain_unless_told() {
        for (url, encrypted) in [
            ("postgres://u@localhost/d", false),
            ("postgres://u@127.0.0.1:5433/d", false),
            ("postgres://u@[::1]/d", false),
            ("postgres://u@%2Frun%2Fpostgresql/d", false),
            ("postgres:///d?host=/run/postgresql", false),
            ("postgres://u@db.example/d", true),
            ("postgres://u@10.0.0.7/d", true),
            ("postgres://u@localhost,db.example/d", true),
            ("postgres://u@localhost/d?hostaddr=10.0.0.7", true),
            ("postgres://u@db.example/d?sslmode=disable", false),
            ("postgres://u@localhost/d?sslmode=require", true),
            ("postgres://u@db.example/d?sslmode=verify-full&application_name=x", true),
        ] {
            assert_eq!(Wanted::parse(url).unwrap().encrypted, encrypted, "{url}");
        }
    }

    #[test]
    fn our_parameters_are_taken_out_and_others_stay() {
        let wanted = Wanted::parse(
            "postgres://u:p%3Fw@h/d?sslrootcert=%2Fetc%2Froot%20ca.pem&application_name=a&sslmode=require",
        )
        .unwrap();
        assert_eq!(wanted.root_file, Some(PathBuf::from("/etc/root ca.pem")));
        assert_eq!(wanted.config.get_application_name(), Some("a"));
        assert_eq!(wanted.config.get_password(), Some(b"p?w".as_slice()));
    }

    #[test]
    fn what_cannot_be_kept_is_refused_without_the_password() {
        for url in [
            "postgres://u:hunter2@h/d?sslmode=prefer",
            "postgres://u:hunter2@h/d?sslmode=verify-ca",
            "postgres://u:hunter2@/d",
            "postgres://u:hunter2@h/d?unheard_of=1",
            "postgres://u:hunter2@h:port/d",
        ] {
            let error = Wanted::parse(url).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
