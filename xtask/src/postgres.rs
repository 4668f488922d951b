//! A PostgreSQL that lives as long as the tests and leaves nothing behind.

use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::step::Outcome;
use crate::tools;

/// Where tests find the server's address.
pub(crate) const URL_VARIABLE: &str = "TOLLGATE_TEST_POSTGRES_URL";

const SUPERUSER: &str = "postgres";
const READY_WITHIN: Duration = Duration::from_secs(30);
const STOPPED_WITHIN: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(20);

/// Waits for its input to end. A line saying `done` means we have cleaned up ourselves; the end of input without
/// it means we were killed, by Ctrl-C or otherwise, and the cleaning is left to this script. The server's own
/// pid file is the source of the pid: it exists exactly as long as the server runs.
const WATCHDOG: &str = r#"
read -r line && [ "$line" = done ] && exit 0
directory=$1
pid_file=$directory/data/postmaster.pid
# The killed parent may have been between `initdb` and the server's start.
sleep 0.2
if [ -f "$pid_file" ]; then
    kill -INT "$(head -n 1 "$pid_file")"
    tries=0
    while [ -f "$pid_file" ] && [ "$tries" -lt 150 ]; do sleep 0.1; tries=$((tries + 1)); done
    [ -f "$pid_file" ] && kill -QUIT "$(head -n 1 "$pid_file")"
fi
rm -rf -- "$directory"
"#;

/// A running server. Dropping it stops the server and deletes its files.
pub(crate) struct Postgres {
    directory: PathBuf,
    port: u16,
    server: Option<Child>,
    watchdog: Option<Child>,
}

/// The user the server runs as when we are root, for whom PostgreSQL refuses to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    user: u32,
    group: u32,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.user, self.group)
    }
}

impl Postgres {
    /// Creates a cluster in a fresh directory and starts it on a free port of the loopback interface.
    pub(crate) fn start(binaries: &Path) -> Outcome<Self> {
        Self::start_with(binaries, "fsync=on")
    }

    /// The same, where a commit does not wait for the disk. It survives everything that tests do to processes; only a
    /// power cut could lose something.
    pub(crate) fn start_without_sync(binaries: &Path) -> Outcome<Self> {
        Self::start_with(binaries, "fsync=off")
    }

    fn start_with(binaries: &Path, setting: &str) -> Outcome<Self> {
        let account = if tools::is_root() { Some(unprivileged_account()?) } else { None };
        let directory = fresh_directory(account)?;
        let watchdog = start_watchdog(&directory);
        // From here on dropping this value cleans up, also when one of the next steps fails.
        let mut postgres = Self { directory, port: 0, server: None, watchdog: Some(watchdog?) };
        postgres.create_cluster(binaries, account)?;
        // Between our look for a free port and the server's bind another process may take it.
        let mut last_fault = String::new();
        for _ in 0..3 {
            match postgres.start_server(binaries, account, setting) {
                Ok(()) => {
                    println!("listening on 127.0.0.1:{}", postgres.port);
                    return Ok(postgres);
                }
                Err(fault) => last_fault = fault,
            }
        }
        Err(last_fault)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://{SUPERUSER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops the server and deletes its files; the name says at the call what dropping would do silently.
    pub(crate) fn stop(self) {
        drop(self);
    }

    fn create_cluster(&self, binaries: &Path, account: Option<Account>) -> Outcome<()> {
        // Losing a half-made throw-away cluster in a power cut is no loss.
        let output = self
            .command(&binaries.join("initdb"), account)
            .args(["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"])
            .arg(format!("--username={SUPERUSER}"))
            .arg("--pgdata")
            .arg(self.data())
            .output()
            .map_err(|error| format!("initdb could not be started: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("initdb failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }

    fn start_server(&mut self, binaries: &Path, account: Option<Account>, setting: &str) -> Outcome<()> {
        self.port = free_port()?;
        let log_path = self.directory.join("server.log");
        let log = File::create(&log_path).map_err(|error| format!("{}: {error}", log_path.display()))?;
        let server = self
            .command(&binaries.join("postgres"), account)
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(&self.directory)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", setting])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("postgres could not be started: {error}"))?;
        let server = self.server.insert(server);

        let deadline = Instant::now() + READY_WITHIN;
        let pid_file = self.directory.join("data/postmaster.pid");
        let fault = loop {
            if fs::read_to_string(&pid_file).is_ok_and(|text| is_ready(&text)) {
                return Ok(());
            }
            match server.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(POLL),
                Ok(None) => break format!("postgres was not ready within {} s", READY_WITHIN.as_secs()),
                Ok(Some(status)) => break format!("postgres ended at once ({status})"),
                Err(error) => break format!("postgres was lost: {error}"),
            }
        };
        self.stop_server();
        Err(format!("{fault}: {}", fs::read_to_string(&log_path).unwrap_or_default().trim()))
    }

    /// A command of PostgreSQL, away from our terminal: Ctrl-C reaches it through the watchdog, in order.
    fn command(&self, program: &Path, account: Option<Account>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.directory)
            .env("HOME", &self.directory)
            .process_group(0)
            .stdin(Stdio::null());
        // Settings meant for the caller's own clusters must not reach this one.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some(account) = account {
            command.uid(account.user).gid(account.group);
        }
        command
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// SIGINT asks PostgreSQL for a fast shutdown: connections are cut, files are left consistent.
    fn stop_server(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        drop(Command::new("kill").args(["-INT", &server.id().to_string()]).stderr(Stdio::null()).status());
        let deadline = Instant::now() + STOPPED_WITHIN;
        while matches!(server.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                drop(server.kill());
                break;
            }
            std::thread::sleep(POLL);
        }
        drop(server.wait());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop_server();
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            eprintln!("{} could not be deleted: {error}", self.directory.display());
        }
        if let Some(mut watchdog) = self.watchdog.take() {
            if let Some(mut input) = watchdog.stdin.take() {
                drop(input.write_all(b"done\n"));
            }
            drop(watchdog.wait());
        }
    }
}

fn start_watchdog(directory: &Path) -> Outcome<Child> {
    Command::new("sh")
        .args(["-c", WATCHDOG, "tollgate-postgres-watchdog"])
        .arg(directory)
        .process_group(0)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("sh could not be started: {error}"))
}

/// Creating fails if the name is taken, so nobody can prepare the directory before us.
fn fresh_directory(account: Option<Account>) -> Outcome<PathBuf> {
    let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let name = format!("tollgate-postgres-{}-{}", std::process::id(), moment.as_millis());
    let directory = std::env::temp_dir().join(name);
    let created = DirBuilder::new().mode(0o700).create(&directory).and_then(|()| match account {
        Some(account) => chown(&directory, Some(account.user), Some(account.group)),
        None => Ok(()),
    });
    match created {
        Ok(()) => Ok(directory),
        Err(error) => Err(format!("{}: {error}", directory.display())),
    }
}

fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

pub(crate) fn unprivileged_account() -> Outcome<Account> {
    let accounts = fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
    ["postgres", "nobody"]
        .iter()
        .find_map(|name| find_account(&accounts, name))
        .ok_or_else(|| "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`".into())
}

fn find_account(accounts: &str, name: &str) -> Option<Account> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        let user = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        Some(Account { user, group })
    })
}

/// The eighth line of the server's pid file is its state.
fn is_ready(pid_file: &str) -> bool {
    pid_file.lines().nth(7).is_some_and(|state| state.trim() == "ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_an_account_by_its_exact_name() {
        let accounts =
            "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:103:,,,:/var:/bin/sh";
        assert_eq!(find_account(accounts, "postgres"), Some(Account { user: 101, group: 103 }));
        assert_eq!(find_account(accounts, "nobody"), None);
    }

    #[test]
    fn is_ready_only_when_the_server_says_so() {
        let starting = "812\n/tmp/d/data\n1700000000\n40123\n/tmp/d\n127.0.0.1\n  1234 5\nstarting\n";
        assert!(!is_ready(""));
        assert!(!is_ready(starting));
        assert!(is_ready(&starting.replace("starting", "ready   ")));
    }
}
