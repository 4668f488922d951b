//! Looking for what an operator would want to know before it hurts: a disk that lies, clocks apart, providers that lack
//! something, stuck work.

mod disputes;
mod environment;
mod master_key;
mod providers;
mod returns;

use std::{borrow::Cow, time::Duration};

use async_trait::async_trait;
use tollgate_domain::{Timestamp, id::EnvironmentId};

use crate::{
    engine::Engine,
    ports::{Backlog, ClockStanding, Diagnosis, Durability, StoreError},
};
pub use providers::ProviderReadiness;
pub(crate) use returns::KnownReturnRates;

/// No disk that keeps what it confirms answers faster, in microseconds.
const HONEST_SYNC_MICROS: u64 = 20;
/// Every payment waits for its disk at least once.
const SLOW_SYNC_MICROS: u64 = 50_000;
/// The oldest PostgreSQL the store is tested with.
const OLDEST_SERVER: u32 = 140_000;
const NOTABLE_SKEW: Duration = Duration::from_secs(1);
/// Webhooks' signatures are good for five minutes; beyond a minute this server is not ready.
const HARMFUL_SKEW: Duration = Duration::from_secs(10);
const LATE: Duration = Duration::from_mins(2);
const VERY_LATE: Duration = Duration::from_mins(30);
/// Environments looked at one by one.
const MAX_ENVIRONMENTS: usize = 200;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// As it should be.
    Ok,
    /// Somebody should look.
    Warning,
    /// Something does not work, or money is at risk.
    Problem,
}

impl CheckStatus {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// The part of an environment that a check is about: where the console shows it, and where its menu counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// Payments and transfers that wait.
    Waiting,
    /// Routes and fees.
    Routing,
    Wallets,
    /// Transfers and configuration changes that wait for people's approval.
    Approvals,
    Providers,
    /// Addresses that events are sent to.
    Endpoints,
    /// Events that were not delivered.
    Deliveries,
    Disputes,
    /// Discrepancies with a provider.
    Exceptions,
    Keys,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What: `disk`, `clock`, `providers`.
    pub name: &'static str,
    /// Whose, where it is one environment's.
    pub environment: Option<EnvironmentId>,
    /// How it stands.
    pub status: CheckStatus,
    /// What was found, in a sentence.
    pub finding: String,
    /// What to do about it.
    pub advice: Option<Cow<'static, str>>,
    /// Where in the environment, if anywhere.
    pub area: Option<Area>,
    /// How many things it is about.
    pub count: u32,
}

impl Check {
    pub fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            environment: None,
            status: CheckStatus::Ok,
            finding: finding.into(),
            advice: None,
            area: None,
            count: 1,
        }
    }

    fn warning(name: &'static str, finding: impl Into<String>, advice: impl Into<Cow<'static, str>>) -> Self {
        Self { status: CheckStatus::Warning, advice: Some(advice.into()), ..Self::ok(name, finding) }
    }

    pub fn problem(
        name: &'static str,
        finding: impl Into<String>,
        advice: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { status: CheckStatus::Problem, ..Self::warning(name, finding, advice) }
    }

    fn of(self, environment: EnvironmentId) -> Self {
        Self { environment: Some(environment), ..self }
    }

    fn about(self, area: Area, count: u32) -> Self {
        Self { area: Some(area), count, ..self }
    }
}

/// A check of something that the engine knows nothing of.
#[async_trait]
pub trait ExternalCheck: Send + Sync + 'static {
    async fn check(&self) -> Check;
}

impl Engine {
    /// Looks at everything. A store that does not respond is a finding, not a failure.
    pub async fn run_checks(&self) -> Vec<Check> {
        let asked_at = self.clock.now();
        let mut checks = match self.store.diagnose(asked_at).await {
            Ok(diagnosis) => {
                let mut checks = store_checks(&diagnosis, asked_at, self.clock.standing());
                checks.extend(other_addresses(&self.options.public_url, &diagnosis.node_urls));
                checks
            }
            Err(error) => vec![unreachable(&error)],
        };
        checks.extend(self.settings_checks());
        checks.extend(self.master_key_check().await);
        let snapshot = self.directory.snapshot();
        let environments = snapshot.environments();
        if environments.len() > MAX_ENVIRONMENTS {
            let finding =
                format!("checked the first {MAX_ENVIRONMENTS} of {} environments", environments.len());
            checks.push(Check::warning(
                "environments",
                finding,
                "check the others with `tollgate providers`",
            ));
        }
        for view in environments.into_iter().take(MAX_ENVIRONMENTS) {
            checks.extend(self.environment_checks(view).await);
        }
        checks
    }

    fn settings_checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        let url = &self.options.public_url;
        checks.push(if url.starts_with("https://") {
            Check::ok("address", format!("reached at {url}"))
        } else {
            let advice = "set TOLLGATE_PUBLIC_URL to the https address in front of this server: providers send webhooks there";
            Check::warning("address", format!("reached at {url}, which is not https"), advice)
        });
        if self.options.outbox.allow_private {
            let advice = "leave TOLLGATE_ALLOW_PRIVATE_ENDPOINTS unset in production: an endpoint's owner could have this server call addresses inside your network";
            checks.push(Check::warning(
                "events",
                "events may go to private addresses and over plain http",
                advice,
            ));
        }
        if self.options.allow_other_provider_hosts {
            let advice = "leave TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS unset in production: whoever may change the configuration could have credentials and bank details sent elsewhere";
            checks.push(Check::warning("providers", "providers may be configured at any host", advice));
        }
        let dropped = self.dropped_requests();
        if dropped > 0 {
            let advice = "the database was too slow for the request log; payments did not wait for it";
            let finding =
                format!("{dropped} calls are missing in the request log of this node since it started");
            checks.push(Check::warning("requests", finding, advice));
        }
        checks
    }
}

fn unreachable(error: &StoreError) -> Check {
    let advice = "check that the database is up and /readyz returns 200; see the server log";
    Check::problem("database", format!("the database is not responding: {error}"), advice)
}

fn store_checks(diagnosis: &Diagnosis, asked_at: Timestamp, clock: ClockStanding) -> Vec<Check> {
    let schema = format!("{}, schema version {}", diagnosis.software, diagnosis.schema_version);
    let mut checks = vec![Check::ok("database", schema)];
    checks.extend(match &diagnosis.durability {
        Durability::File { journal_mode, synchronous, sync_micros, keeps_deleted } => {
            let mut checks = file_checks(journal_mode, *synchronous, sync_micros);
            if *keeps_deleted {
                let finding = "deleted keys and personal data are still in the database's write-ahead log";
                let advice = "somebody reads the database file, such as a backup; they are removed within seconds of its end";
                checks.push(Check::warning("erasure", finding, advice));
            }
            checks
        }
        Durability::Server { .. } => server_checks(&diagnosis.durability),
    });
    // A file has no clock of its own.
    if clock.is_settling || matches!(diagnosis.durability, Durability::Server { .. }) {
        checks.push(clock_check(clock));
    }
    checks.extend(diagnosis.backlog.iter().map(|backlog| backlog_check(*backlog, asked_at)));
    checks
}

/// A caller who repeats a request gets other addresses from another node, and webhooks are signed for one of them.
fn other_addresses(own: &str, node_urls: &[String]) -> Option<Check> {
    // The database keeps only the beginning of a long one.
    let others: Vec<&str> =
        node_urls.iter().map(String::as_str).filter(|url| !own.starts_with(*url)).collect();
    let finding = format!("this node is reached at {own}, others of this database at {}", others.join(", "));
    let advice = "set TOLLGATE_PUBLIC_URL to the same address on every node";
    (!others.is_empty()).then(|| Check::warning("address", finding, advice))
}

fn file_checks(journal_mode: &str, synchronous: u32, sync_micros: &[u64]) -> Vec<Check> {
    let mut checks = Vec::new();
    if !journal_mode.eq_ignore_ascii_case("wal") || synchronous < 2 {
        let finding = format!(
            "journal mode {journal_mode}, synchronous {synchronous}: a commit does not wait for the disk"
        );
        checks.push(Check::problem("disk", finding, "restart the server; the file's settings were changed"));
    }
    let mut sorted = sync_micros.to_vec();
    sorted.sort_unstable();
    let Some(median) = sorted.get(sorted.len() / 2).copied() else {
        let advice = "allow the server to write to the folder of its database";
        checks.push(Check::warning("disk", "disk latency could not be measured", advice));
        return checks;
    };
    checks.push(if median < HONEST_SYNC_MICROS {
        let finding = format!("fsync takes {median} µs, faster than a durable disk can");
        let advice = "the disk or hypervisor seems to ignore fsync: a power loss would lose acknowledged payments. Use a disk that honors fsync";
        Check::problem("disk", finding, advice)
    } else if median > SLOW_SYNC_MICROS {
        let finding = format!("fsync takes {} ms", median / 1_000);
        Check::warning("disk", finding, "every payment waits for it at least twice; use a faster disk")
    } else {
        Check::ok("disk", format!("fsync takes {median} µs"))
    });
    checks
}

fn server_checks(durability: &Durability) -> Vec<Check> {
    let Durability::Server {
        version_number,
        fsync,
        synchronous_commit,
        full_page_writes,
        synchronous_standbys,
        in_recovery,
    } = durability
    else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    if *version_number < OLDEST_SERVER {
        let finding = format!("server version {}", version_number / 10_000);
        checks.push(Check::problem("version", finding, "use PostgreSQL 14 or newer"));
    }
    if *in_recovery {
        let advice = "point TOLLGATE_DATABASE_URL at the primary (target_session_attrs=read-write finds it)";
        checks.push(Check::problem("database", "the database is a read-only standby", advice));
    }
    let unsafe_setting = match (*fsync, synchronous_commit.as_str(), *full_page_writes) {
        (false, _, _) => Some("fsync is off: a machine crash can lose or corrupt data"),
        (_, "off", _) => Some("synchronous_commit is off: a crash loses payments that were acknowledged"),
        (_, _, false) => Some("full_page_writes is off: a crash can corrupt pages"),
        _ => None,
    };
    checks.push(match unsafe_setting {
        Some(finding) => {
            Check::problem("durability", finding, "set fsync, full_page_writes and synchronous_commit to on")
        }
        None => Check::ok("durability", format!("fsync on, synchronous_commit {synchronous_commit}")),
    });
    let standbys = synchronous_standbys.trim();
    checks.push(match (standbys, synchronous_commit.as_str()) {
        ("", _) => Check::warning(
            "standby",
            "no synchronous standby confirms commits",
            "losing the disk loses everything since the last backup or archived WAL; set synchronous_standby_names",
        ),
        (_, "local" | "remote_write") => Check::warning(
            "standby",
            format!("commits do not wait for the disks of {standbys}"),
            "set synchronous_commit to on",
        ),
        _ => Check::ok("standby", format!("commits are confirmed by {standbys}")),
    });
    checks
}

fn clock_check(clock: ClockStanding) -> Check {
    let apart = Duration::from_millis(clock.machine_ahead.unsigned_abs());
    let finding = format!("this server's clock and the database's are {} ms apart", apart.as_millis());
    let advice = "run a time service (chrony, systemd-timesyncd) on both machines";
    if clock.is_off() {
        let finding = format!("{finding}: this server is not ready");
        Check::problem("clock", finding, advice)
    } else if apart >= HARMFUL_SKEW {
        Check::problem("clock", finding, advice)
    } else if clock.is_settling {
        let finding = "the database's clock jumped in the last ten minutes; until it has settled, nothing in doubt is given up";
        Check::warning("clock", finding, advice)
    } else if apart >= NOTABLE_SKEW {
        Check::warning("clock", finding, advice)
    } else {
        Check::ok("clock", finding)
    }
}

fn backlog_check(backlog: Backlog, now: Timestamp) -> Check {
    let Backlog { what, due, oldest } = backlog;
    let Some(oldest) = oldest.filter(|_| due > 0) else {
        return Check::ok("resolver", format!("no {what} are due"));
    };
    let late = now.unix_millis().saturating_sub(oldest.unix_millis());
    let late = Duration::from_millis(u64::try_from(late).unwrap_or_default());
    let count = if due >= Backlog::MOST { format!("{due} or more") } else { due.to_string() };
    let finding = format!("{count} {what} are due, the oldest for {} seconds", late.as_secs());
    let advice =
        "check that a node is running and can reach its providers; see the resolver messages in its log";
    if late >= VERY_LATE {
        Check::problem("resolver", finding, advice)
    } else if late >= LATE {
        Check::warning("resolver", finding, advice)
    } else {
        Check::ok("resolver", finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn a_disk_is_judged_by_its_median() {
        for (micros, status) in [
            (vec![1, 2, 900], CheckStatus::Problem),
            (vec![19; 9], CheckStatus::Problem),
            (vec![20; 9], CheckStatus::Ok),
            (vec![400, 500, 900_000], CheckStatus::Ok),
            (vec![60_000; 3], CheckStatus::Warning),
            (vec![], CheckStatus::Warning),
        ] {
            let checks = file_checks("wal", 2, &micros);
            assert_eq!(checks.iter().map(|check| check.status).max(), Some(status), "{micros:?}");
        }
        assert_eq!(file_checks("delete", 2, &[500])[0].status, CheckStatus::Problem);
        assert_eq!(file_checks("WAL", 1, &[500])[0].status, CheckStatus::Problem);
    }

    #[test]
    fn a_server_that_may_forget_is_a_problem() {
        let server = |fsync, commit: &str, standbys: &str, in_recovery| Durability::Server {
            version_number: 170_002,
            fsync,
            synchronous_commit: commit.to_owned(),
            full_page_writes: true,
            synchronous_standbys: standbys.to_owned(),
            in_recovery,
        };
        for (durability, status) in [
            (server(true, "on", "standby1", false), CheckStatus::Ok),
            (server(true, "on", "", false), CheckStatus::Warning),
            (server(true, "local", "standby1", false), CheckStatus::Warning),
            (server(true, "off", "standby1", false), CheckStatus::Problem),
            (server(false, "on", "standby1", false), CheckStatus::Problem),
            (server(true, "on", "standby1", true), CheckStatus::Problem),
        ] {
            let worst = server_checks(&durability).into_iter().map(|check| check.status).max();
            assert_eq!(worst, Some(status), "{durability:?}");
        }
    }

    #[test]
    fn nodes_with_other_addresses_are_named() {
        let own = "https://pay.example.com";
        let urls = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
        assert_eq!(other_addresses(own, &urls(&[])), None);
        assert_eq!(other_addresses(own, &urls(&[own, "https://pay.exam"])), None, "cut to length");
        let check = other_addresses(own, &urls(&[own, "https://pay2.example.com"])).unwrap();
        assert_eq!(check.status, CheckStatus::Warning);
        assert!(check.finding.ends_with("others of this database at https://pay2.example.com"), "{check:?}");
    }

    #[test]
    fn clocks_may_be_a_little_apart() {
        for (machine_ahead, is_settling, status) in [
            (0, false, CheckStatus::Ok),
            (-999, false, CheckStatus::Ok),
            (1_000, false, CheckStatus::Warning),
            (0, true, CheckStatus::Warning),
            (-10_000, false, CheckStatus::Problem),
            (60_001, true, CheckStatus::Problem),
        ] {
            let clock = ClockStanding { machine_ahead, is_settling };
            let check = clock_check(clock);
            assert_eq!(check.status, status, "{clock:?}");
            assert_eq!(check.finding.contains("not ready"), clock.is_off(), "{clock:?}");
        }
    }

    #[test]
    fn work_is_late_after_minutes() {
        let backlog = |due, oldest| Backlog { what: "transfers", due, oldest: Some(at(oldest)) };
        let now = 3_600_000;
        for (oldest, status) in
            [(now - 1_000, CheckStatus::Ok), (now - 121_000, CheckStatus::Warning), (0, CheckStatus::Problem)]
        {
            assert_eq!(backlog_check(backlog(3, oldest), at(now)).status, status);
        }
        assert_eq!(
            backlog_check(Backlog { what: "transfers", due: 0, oldest: None }, at(now)).status,
            CheckStatus::Ok
        );
    }
}
