//! Where settings come from: the environment first, then a TOML file, then the defaults.

mod key_source;
mod single_sign_on;

use std::{
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use tollgate_configuration::built_in_fee_rules;
use tollgate_console::ConsoleTokens;
use tollgate_domain::{address_range::AddressRange, card_fee::Rules};
use tollgate_engine::{DEFAULT_REQUEST_DEADLINE, Options, OutboxOptions, ResolverOptions};
use tollgate_oidc::OidcSettings;
use tollgate_server::{Limits, TlsFiles};
use tollgate_store::DatabaseUrl;
use tollgate_vault::{AdminToken, MasterKey, Secret};

use self::key_source::KeySource;
use crate::{cli::fees::read_rules, failure::Failure};

const FEE_RULES: &str = "TOLLGATE_FEE_RULES";

const DEFAULT_LISTEN: &str = "127.0.0.1:8080";
const DEFAULT_DATA_DIR: &str = "tollgate-data";
const DEFAULT_LOG: &str = "info";
/// The name that every program has for it.
const COLLECTOR: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const ALLOW_OTHER_PROVIDER_HOSTS: &str = "TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS";

/// The file's shape; a name it does not know is refused rather than ignored.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    admin_listen: Option<String>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    trusted_proxies: Option<Vec<String>>,
    data_dir: Option<PathBuf>,
    database_url: Option<String>,
    admin_token: Option<String>,
    master_key: Option<String>,
    master_key_command: Option<String>,
    master_key_previous: Option<String>,
    master_key_previous_command: Option<String>,
    metrics_token: Option<String>,
    oidc_issuer: Option<String>,
    oidc_client_id: Option<String>,
    oidc_client_secret: Option<String>,
    oidc_acr_values: Option<String>,
    oidc_amr_values: Option<String>,
    oidc_max_age_seconds: Option<u64>,
    console_url: Option<String>,
    console_sso_only: Option<bool>,
    console_allow_admin_token: Option<bool>,
    log: Option<String>,
    otlp_endpoint: Option<String>,
    first_page: Option<bool>,
    public_url: Option<String>,
    provider_timeout_ms: Option<u64>,
    provider_deadline_ms: Option<u64>,
    request_deadline_ms: Option<u64>,
    fee_rules: Option<PathBuf>,
    resolver_poll_ms: Option<u64>,
    resolver_lease_ms: Option<u64>,
    resolver_first_check_ms: Option<u64>,
    resolver_first_retry_ms: Option<u64>,
    events_poll_ms: Option<u64>,
    events_lease_ms: Option<u64>,
    events_timeout_ms: Option<u64>,
    events_first_retry_ms: Option<u64>,
    events_span_ms: Option<u64>,
    events_digest_poll_ms: Option<u64>,
    allow_private_endpoints: Option<bool>,
    allow_other_provider_hosts: Option<bool>,
    allow_weak_master_key: Option<bool>,
    allow_weak_admin_token: Option<bool>,
    max_connections: Option<u64>,
    max_connections_per_address: Option<u64>,
    head_timeout_ms: Option<u64>,
}

/// The settings, checked as far as they can be without starting.
#[derive(Debug)]
pub(crate) struct ServerSettings {
    pub(crate) listen: String,
    /// Where operators are served, if not where callers are.
    pub(crate) admin_listen: Option<String>,
    pub(crate) tls: Option<TlsFiles>,
    /// Whose `X-Forwarded-For` is believed.
    pub(crate) trusted_proxies: Vec<AddressRange>,
    pub(crate) data_dir: PathBuf,
    pub(crate) database: DatabaseUrl,
    pub(crate) admin_token: Option<Secret>,
    pub(crate) master_key: Option<KeySource>,
    /// The key that is being rotated away from, or to.
    master_key_previous: Option<KeySource>,
    /// What opens the metrics from elsewhere than this machine and the admin listener.
    metrics_token: Option<Secret>,
    pub(crate) log: String,
    /// Where traces are sent, if anywhere.
    pub(crate) collector: Option<String>,
    /// Whether `/` shows people what runs here; the sandbox always does.
    pub(crate) first_page: bool,
    /// Where the service is reached from outside, if not at the address it listens on.
    public_url: Option<String>,
    /// Where operators reach the console, if not below the public URL.
    console_url: Option<String>,
    /// Who else says who an operator is.
    pub(crate) single_sign_on: Option<OidcSettings>,
    /// Which tokens open the console beside it.
    pub(crate) console_tokens: ConsoleTokens,
    pub(crate) providers: tollgate_providers::ProviderSettings,
    /// For a database that was created with a master key that is refused by now.
    allow_weak_master_key: bool,
    /// For tests and an upgrade: a token that was not generated.
    allow_weak_admin_token: bool,
    request_deadline: Duration,
    /// What networks and laws say about card fees.
    pub(crate) fee_rules: Arc<Rules>,
    resolver: ResolverOptions,
    outbox: OutboxOptions,
    pub(crate) limits: Limits,
}

impl ServerSettings {
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Failure> {
        let file = file.map_or_else(|| Ok(File::default()), read)?;
        let outbox = outbox(&file)?;
        let (tls, trusted_proxies) = (tls(&file)?, trusted_proxies(&file)?);
        let limits = limits(&file)?;
        let single_sign_on = single_sign_on::settings(&file)?;
        let console_tokens = single_sign_on::console_tokens(&file, single_sign_on.is_some())?;
        let providers = providers(&file)?;
        let resolver = resolver(&file, &providers)?;
        let data_dir = text("TOLLGATE_DATA_DIR")?
            .map(PathBuf::from)
            .or(file.data_dir)
            .unwrap_or_else(|| PathBuf::from(DEFAULT_DATA_DIR));
        let database = match text("TOLLGATE_DATABASE_URL")?.or(file.database_url) {
            Some(url) => url.parse()?,
            None => format!("sqlite:{}", data_dir.join("tollgate.db").display()).parse()?,
        };
        Ok(Self {
            outbox,
            listen: text("TOLLGATE_LISTEN")?.or(file.listen).unwrap_or_else(|| DEFAULT_LISTEN.to_owned()),
            admin_listen: text("TOLLGATE_ADMIN_LISTEN")?.or(file.admin_listen),
            tls,
            trusted_proxies,
            data_dir,
            database,
            admin_token: text("TOLLGATE_ADMIN_TOKEN")?.or(file.admin_token).map(Secret::new),
            master_key: KeySource::read("TOLLGATE_MASTER_KEY", file.master_key, file.master_key_command)?,
            master_key_previous: KeySource::read(
                "TOLLGATE_MASTER_KEY_PREVIOUS",
                file.master_key_previous,
                file.master_key_previous_command,
            )?,
            metrics_token: text("TOLLGATE_METRICS_TOKEN")?.or(file.metrics_token).map(Secret::new),
            log: text("TOLLGATE_LOG")?.or(file.log).unwrap_or_else(|| DEFAULT_LOG.to_owned()),
            collector: text(COLLECTOR)?
                .or(file.otlp_endpoint)
                .as_deref()
                .map(|text| base_url(COLLECTOR, text))
                .transpose()?,
            first_page: flag("TOLLGATE_FIRST_PAGE", file.first_page, false)?,
            public_url: text("TOLLGATE_PUBLIC_URL")?
                .or(file.public_url)
                .as_deref()
                .map(|text| base_url("TOLLGATE_PUBLIC_URL", text))
                .transpose()?,
            console_url: text("TOLLGATE_CONSOLE_URL")?
                .or(file.console_url)
                .as_deref()
                .map(|text| base_url("TOLLGATE_CONSOLE_URL", text))
                .transpose()?,
            single_sign_on,
            console_tokens,
            providers,
            allow_weak_master_key: flag("TOLLGATE_ALLOW_WEAK_MASTER_KEY", file.allow_weak_master_key, false)?,
            allow_weak_admin_token: flag(
                "TOLLGATE_ALLOW_WEAK_ADMIN_TOKEN",
                file.allow_weak_admin_token,
                false,
            )?,
            request_deadline: millis(
                "TOLLGATE_REQUEST_DEADLINE_MS",
                file.request_deadline_ms,
                DEFAULT_REQUEST_DEADLINE,
            )?,
            fee_rules: fee_rules(file.fee_rules)?,
            resolver,
            limits,
        })
    }

    /// How the engine behaves when it is served at this address.
    pub(crate) fn engine_options(&self, address: SocketAddr) -> Options {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let public_url = self.public_url.clone().unwrap_or_else(|| format!("{scheme}://{address}"));
        Options {
            request_deadline: self.request_deadline,
            allow_other_provider_hosts: self.providers.allow_other_hosts,
            fee_rules: Arc::clone(&self.fee_rules),
            resolver: self.resolver,
            outbox: self.outbox,
            ..Options::at(public_url)
        }
    }

    /// Where operators reach the console of a service with this public URL.
    pub(crate) fn console_url<'a>(&'a self, public_url: &'a str) -> &'a str {
        self.console_url.as_deref().unwrap_or(public_url)
    }

    /// How events are carried.
    pub(crate) fn courier(&self) -> tollgate_courier::CourierSettings {
        let usual = tollgate_courier::CourierSettings::default();
        let OutboxOptions { timeout, allow_private, .. } = self.outbox;
        let connect_timeout = usual.connect_timeout.min(timeout);
        tollgate_courier::CourierSettings { timeout, allow_private, connect_timeout }
    }

    /// The same settings for the sandbox: receivers of events and providers on this machine are allowed unless somebody
    /// decided otherwise.
    pub(crate) fn with_local_servers(mut self) -> Result<Self, Failure> {
        if self.admin_listen.is_some() || self.tls.is_some() {
            return Err(Failure::new(
                "the sandbox has one plain listener; unset TOLLGATE_ADMIN_LISTEN and TOLLGATE_TLS_CERTIFICATE, or run \
                 `tollgate serve`",
            ));
        }
        self.outbox.allow_private = flag("TOLLGATE_ALLOW_PRIVATE_ENDPOINTS", None, true)?;
        self.providers.allow_other_hosts = flag(ALLOW_OTHER_PROVIDER_HOSTS, None, true)?;
        Ok(self)
    }

    /// The master key, which production must have.
    pub(crate) fn required_master_key(&self) -> Result<MasterKey, Failure> {
        let missing = "no master key is set; set TOLLGATE_MASTER_KEY (create one with `tollgate generate master-key`), or \
                       TOLLGATE_MASTER_KEY_COMMAND to a command that prints it, and keep it safe: without it, the secrets in the database cannot be decrypted";
        let text = self.master_key.as_ref().ok_or_else(|| Failure::new(missing))?.key()?;
        let key = if self.allow_weak_master_key {
            MasterKey::from_weak_setting(&text)?
        } else {
            MasterKey::from_setting(&text)?
        };
        match &self.master_key_previous {
            // A weak key is a reason to rotate it.
            Some(previous) => Ok(key.with_previous(MasterKey::from_weak_setting(&previous.key()?)?)),
            None => Ok(key),
        }
    }

    /// What opens the metrics, if anything but the place they are asked for at does.
    pub(crate) fn metrics_token(&self) -> Result<Option<AdminToken>, Failure> {
        let token = self.metrics_token.as_ref().map(AdminToken::from_weak_setting).transpose();
        token.map_err(|error| Failure::new(format!("TOLLGATE_METRICS_TOKEN: {error}")))
    }

    /// The operator's token, which production must have.
    pub(crate) fn required_admin_token(&self) -> Result<AdminToken, Failure> {
        let missing = "no admin token is set; set TOLLGATE_ADMIN_TOKEN (create one with `tollgate generate admin-token`)";
        let text = self.admin_token.as_ref().ok_or_else(|| Failure::new(missing))?;
        self.checked_admin_token(text)
    }

    pub(crate) fn checked_admin_token(&self, text: &Secret) -> Result<AdminToken, Failure> {
        if self.allow_weak_admin_token {
            return Ok(AdminToken::from_weak_setting(text)?);
        }
        Ok(AdminToken::from_setting(text)?)
    }
}

/// The rules about card fees: those of a file, or of this release.
fn fee_rules(from_file: Option<PathBuf>) -> Result<Arc<Rules>, Failure> {
    let path = text(FEE_RULES)?.map(PathBuf::from).or(from_file);
    path.map_or_else(|| Ok(built_in_fee_rules()), |path| read_rules(&path))
}

/// The certificate of the listeners, if they speak TLS themselves.
fn tls(file: &File) -> Result<Option<TlsFiles>, Failure> {
    let (certificate, key) = ("TOLLGATE_TLS_CERTIFICATE", "TOLLGATE_TLS_KEY");
    let path = |name: &str, from_file: &Option<PathBuf>| {
        Ok::<_, Failure>(text(name)?.map(PathBuf::from).or_else(|| from_file.clone()))
    };
    match (path(certificate, &file.tls_certificate)?, path(key, &file.tls_key)?) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (None, None) => Ok(None),
        _ => Err(Failure::new(format!(
            "{certificate} and {key} belong together; set both to paths of PEM files, or neither"
        ))),
    }
}

/// The proxies that say where a request comes from.
fn trusted_proxies(file: &File) -> Result<Vec<AddressRange>, Failure> {
    let name = "TOLLGATE_TRUSTED_PROXIES";
    let from_environment =
        text(name)?.map(|list| list.split(',').map(|item| item.trim().to_owned()).collect());
    let list: Vec<String> = from_environment.or_else(|| file.trusted_proxies.clone()).unwrap_or_default();
    let wrong = || {
        Failure::new(format!(
            "{name} must be IP addresses or ranges, such as 10.0.0.0/8, with commas between"
        ))
    };
    list.iter().map(|item| item.parse().map_err(|_| wrong())).collect()
}

/// How callers are notified: whoever took a delivery must be able to end it before somebody else takes it.
fn outbox(file: &File) -> Result<OutboxOptions, Failure> {
    let usual = OutboxOptions::default();
    let options = OutboxOptions {
        poll: millis("TOLLGATE_EVENTS_POLL_MS", file.events_poll_ms, usual.poll)?,
        lease: millis("TOLLGATE_EVENTS_LEASE_MS", file.events_lease_ms, usual.lease)?,
        timeout: millis("TOLLGATE_EVENTS_TIMEOUT_MS", file.events_timeout_ms, usual.timeout)?,
        first_retry: millis("TOLLGATE_EVENTS_FIRST_RETRY_MS", file.events_first_retry_ms, usual.first_retry)?,
        span: millis("TOLLGATE_EVENTS_SPAN_MS", file.events_span_ms, usual.span)?,
        digest_poll: millis("TOLLGATE_EVENTS_DIGEST_POLL_MS", file.events_digest_poll_ms, usual.digest_poll)?,
        allow_private: flag(
            "TOLLGATE_ALLOW_PRIVATE_ENDPOINTS",
            file.allow_private_endpoints,
            usual.allow_private,
        )?,
    };
    if options.lease < options.timeout.saturating_mul(2) {
        return Err(Failure::new(
            "TOLLGATE_EVENTS_LEASE_MS must be at least twice TOLLGATE_EVENTS_TIMEOUT_MS: a delivery must finish before \
             another node may claim it",
        ));
    }
    if options.span < options.first_retry {
        return Err(Failure::new(
            "TOLLGATE_EVENTS_SPAN_MS must be at least TOLLGATE_EVENTS_FIRST_RETRY_MS: a delivery would be given up \
             before it is tried again",
        ));
    }
    Ok(options)
}

/// When the resolver acts: whoever took something must be done with its provider calls before somebody else takes it.
fn resolver(
    file: &File,
    providers: &tollgate_providers::ProviderSettings,
) -> Result<ResolverOptions, Failure> {
    let usual = ResolverOptions::default();
    let options = ResolverOptions {
        poll: millis("TOLLGATE_RESOLVER_POLL_MS", file.resolver_poll_ms, usual.poll)?,
        lease: millis("TOLLGATE_RESOLVER_LEASE_MS", file.resolver_lease_ms, usual.lease)?,
        first_check: millis(
            "TOLLGATE_RESOLVER_FIRST_CHECK_MS",
            file.resolver_first_check_ms,
            usual.first_check,
        )?,
        first_retry: millis(
            "TOLLGATE_RESOLVER_FIRST_RETRY_MS",
            file.resolver_first_retry_ms,
            usual.first_retry,
        )?,
    };
    if options.lease <= providers.deadline.saturating_mul(2) {
        return Err(Failure::new(format!(
            "TOLLGATE_RESOLVER_LEASE_MS ({}) must be more than twice TOLLGATE_PROVIDER_DEADLINE_MS ({}): a payment's \
             calls must finish before another node may claim it",
            options.lease.as_millis(),
            providers.deadline.as_millis(),
        )));
    }
    Ok(options)
}

/// How many connections are open at once, and how long they may say nothing.
fn limits(file: &File) -> Result<Limits, Failure> {
    let (all, each) = ("TOLLGATE_MAX_CONNECTIONS", "TOLLGATE_MAX_CONNECTIONS_PER_ADDRESS");
    let usual = Limits::default();
    let most_connections = count(all, file.max_connections, usual.most_connections)?;
    let most_per_address = count(each, file.max_connections_per_address, most_connections.div_ceil(4))?;
    if most_per_address > most_connections {
        return Err(Failure::new(format!(
            "{each} ({most_per_address}) must not be above {all} ({most_connections}): one client could take every \
             connection"
        )));
    }
    let head_arrival = millis("TOLLGATE_HEAD_TIMEOUT_MS", file.head_timeout_ms, usual.head_arrival)?;
    Ok(Limits { most_connections, most_per_address, head_arrival, ..usual })
}

/// How providers are called: a deadline leaves room for a second try.
fn providers(file: &File) -> Result<tollgate_providers::ProviderSettings, Failure> {
    let usual = tollgate_providers::ProviderSettings::default();
    let attempt_timeout =
        millis("TOLLGATE_PROVIDER_TIMEOUT_MS", file.provider_timeout_ms, usual.attempt_timeout)?;
    let deadline = millis("TOLLGATE_PROVIDER_DEADLINE_MS", file.provider_deadline_ms, usual.deadline)?;
    let allow_other_hosts = flag(ALLOW_OTHER_PROVIDER_HOSTS, file.allow_other_provider_hosts, false)?;
    if attempt_timeout > deadline {
        return Err(Failure::new(format!(
            "TOLLGATE_PROVIDER_TIMEOUT_MS ({}) must not be above TOLLGATE_PROVIDER_DEADLINE_MS ({}): a single attempt \
             would exceed the overall deadline",
            attempt_timeout.as_millis(),
            deadline.as_millis(),
        )));
    }
    Ok(tollgate_providers::ProviderSettings { attempt_timeout, deadline, allow_other_hosts, ..usual })
}

/// An address without anything behind it but a path.
fn base_url(name: &str, text: &str) -> Result<String, Failure> {
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    if is_address && !text.contains(['?', '#', ' ', '@']) {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    Err(Failure::new(format!("{name} must be a URL such as https://pay.example.com, without a query")))
}

/// A time in milliseconds, at least one.
fn millis(name: &str, from_file: Option<u64>, usual: Duration) -> Result<Duration, Failure> {
    let wrong = || Failure::new(format!("{name} must be a whole number of milliseconds, 1 or more"));
    let from_environment = text(name)?.map(|text| text.parse::<u64>().map_err(|_| wrong())).transpose()?;
    match from_environment.or(from_file) {
        Some(0) => Err(wrong()),
        Some(millis) => Ok(Duration::from_millis(millis)),
        None => Ok(usual),
    }
}

/// A number of things, at least one.
fn count(name: &str, from_file: Option<u64>, usual: usize) -> Result<usize, Failure> {
    const MOST: usize = 1_000_000;
    let wrong = || Failure::new(format!("{name} must be a whole number from 1 to {MOST}"));
    let from_environment = text(name)?.map(|text| text.parse::<u64>().map_err(|_| wrong())).transpose()?;
    let Some(number) = from_environment.or(from_file) else { return Ok(usual) };
    usize::try_from(number).ok().filter(|number| (1..=MOST).contains(number)).ok_or_else(wrong)
}

/// Yes or no.
fn flag(name: &str, from_file: Option<bool>, usual: bool) -> Result<bool, Failure> {
    match text(name)?.as_deref() {
        Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(_) => Err(Failure::new(format!("{name} must be true or false"))),
        None => Ok(from_file.unwrap_or(usual)),
    }
}

fn read(path: &Path) -> Result<File, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::file("read the settings in", path, &error))?;
    toml::from_str(&text).map_err(|error| {
        // The parser's own rendering quotes the line, which may hold a secret; the place and the reason do not.
        let line = error.span().map_or(1, |span| {
            text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count() + 1
        });
        Failure::new(format!(
            "the settings in {} have an error in line {line}: {}",
            path.display(),
            error.message()
        ))
    })
}

/// A variable of the environment; an empty one counts as not set.
fn text(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        Ok(value) if value.trim().is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(Failure::new(format!("{name} is not valid Unicode"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/tollgate.env.example"));

    /// The image listens on every address of the container; a loopback address would not be reachable from outside.
    #[test]
    fn the_example_leaves_the_containers_address_alone() {
        let set: Vec<_> = EXAMPLE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name)
            .collect();
        assert!(set.contains(&"TOLLGATE_MASTER_KEY"), "{set:?}");
        assert!(!set.contains(&"TOLLGATE_LISTEN"), "{set:?}");
    }

    #[test]
    fn proxies_are_addresses_and_ranges() {
        let of = |list: &[&str]| {
            let list = list.iter().map(|item| (*item).to_owned()).collect();
            trusted_proxies(&File { trusted_proxies: Some(list), ..File::default() })
        };
        assert_eq!(of(&["10.0.0.0/8", "::1"]).unwrap().len(), 2);
        for wrong in ["proxy.internal", "", "10.0.0.0/40"] {
            assert!(of(&[wrong]).unwrap_err().to_string().contains("TOLLGATE_TRUSTED_PROXIES"), "{wrong}");
        }
    }
}
