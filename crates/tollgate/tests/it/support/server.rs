//! The real binary as a child process, on a port of its own and in a folder of its own.

use std::{
    env,
    fs::{self, File},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use super::client::Client;

/// Names the binary to try, where it is not the one that was built for the tests.
pub const BINARY: &str = "TOLLGATE_TEST_BINARY";

pub fn binary() -> String {
    env::var(BINARY).unwrap_or_else(|_| env!("CARGO_BIN_EXE_tollgate").to_owned())
}

pub const MASTER_KEY: &str = "a master key for tests, long enough to be taken";
pub const ADMIN_TOKEN: &str = "an admin token for tests";

/// How to start a server.
pub struct Start {
    binary: Option<PathBuf>,
    data_dir: Option<PathBuf>,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    ignores_file_size_limits: bool,
}

impl Start {
    /// No arguments: the sandbox.
    pub fn sandbox() -> Self {
        Self {
            binary: None,
            data_dir: None,
            arguments: Vec::new(),
            variables: Vec::new(),
            ignores_file_size_limits: false,
        }
    }

    /// Any other command.
    pub fn command(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { arguments, ..Self::sandbox() }
    }

    /// `serve`, with a master key and an admin token, and with providers on this machine allowed: they are simulated.
    pub fn serve() -> Self {
        let start = Self { arguments: vec!["serve".to_owned()], ..Self::sandbox() };
        let start = start.with("TOLLGATE_MASTER_KEY", MASTER_KEY).with("TOLLGATE_ADMIN_TOKEN", ADMIN_TOKEN);
        let start = start.with("TOLLGATE_ALLOW_WEAK_ADMIN_TOKEN", "true");
        start.with("TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS", "true")
    }

    /// Another binary than the one to try.
    pub fn of(mut self, binary: &Path) -> Self {
        self.binary = Some(binary.to_owned());
        self
    }

    /// In this folder rather than one of its own.
    pub fn within(mut self, data_dir: &Path) -> Self {
        self.data_dir = Some(data_dir.to_owned());
        self
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    /// A file that may not grow any further is an error, as a full disk is, instead of the end of the process.
    pub fn ignoring_file_size_limits(mut self) -> Self {
        self.ignores_file_size_limits = true;
        self
    }

    /// Starts and waits until it is ready.
    pub fn run(self) -> Server {
        let mut server = self.spawn();
        server.wait_ready();
        server
    }

    /// Starts without waiting.
    pub fn spawn(self) -> Server {
        let (data_dir, owned) = match self.data_dir {
            Some(data_dir) => (data_dir, None),
            None => {
                let owned = tempfile::tempdir().unwrap();
                (owned.path().join("data"), Some(owned))
            }
        };
        fs::create_dir_all(&data_dir).unwrap();
        let log = data_dir.join(format!("log-{:?}-{}", thread::current().id(), unique()));
        let binary = &self.binary.unwrap_or_else(|| binary().into());
        let mut command = Command::new(if self.ignores_file_size_limits { Path::new("sh") } else { binary });
        if self.ignores_file_size_limits {
            command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(binary);
        }
        for name in
            ["LISTEN", "DATA_DIR", "DATABASE_URL", "ADMIN_TOKEN", "MASTER_KEY", "MASTER_KEY_PREVIOUS", "LOG"]
        {
            command.env_remove(format!("TOLLGATE_{name}"));
        }
        command
            .args(&self.arguments)
            .env("TOLLGATE_LISTEN", "127.0.0.1:0")
            .env("TOLLGATE_DATA_DIR", &data_dir);
        command.envs(self.variables);
        command.stdin(Stdio::null()).stdout(File::create(log.with_extension("out")).unwrap());
        command.stderr(File::create(&log).unwrap());
        let child = command.spawn().unwrap();
        Server { child, data_dir, log, address: None, _owned: owned }
    }
}

/// Distinguishes the logs of servers that share a folder.
fn unique() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// A running server. Dropped, it is killed.
pub struct Server {
    child: Child,
    pub data_dir: PathBuf,
    log: PathBuf,
    address: Option<SocketAddr>,
    _owned: Option<TempDir>,
}

impl Server {
    /// Waits until `/readyz` answers 200.
    #[track_caller]
    pub fn wait_ready(&mut self) {
        wait_until("the server is ready", Duration::from_secs(180), || {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server ended with {status}:\n{}", self.log());
            }
            let Some(address) = self.find_address() else { return false };
            let answer = Client::new(address, "").try_send("GET", "/readyz", &[], b"");
            answer.is_ok_and(|answer| answer.status == 200)
        });
    }

    /// Waits until it says where it listens.
    #[track_caller]
    pub fn wait_listening(&mut self) {
        wait_until("it listens", Duration::from_secs(120), || self.find_address().is_some());
    }

    /// The address the log says it listens on.
    fn find_address(&mut self) -> Option<SocketAddr> {
        if self.address.is_none() {
            let log = self.log();
            let line = log.lines().find(|line| line.contains("\"listening\""))?;
            let json: Value = serde_json::from_str(line).ok()?;
            self.address = json["address"].as_str().and_then(|address| address.parse().ok());
        }
        self.address
    }

    pub fn address(&self) -> SocketAddr {
        self.address.expect("the server is not ready")
    }

    pub fn client(&self, credential: &str) -> Client {
        Client::new(self.address(), credential)
    }

    /// A client with the admin token of [`Start::serve`].
    pub fn admin(&self) -> Client {
        self.client(ADMIN_TOKEN)
    }

    /// The sandbox's own notes.
    pub fn sandbox_json(&self) -> Value {
        serde_json::from_slice(&fs::read(self.data_dir.join("sandbox.json")).unwrap()).unwrap()
    }

    /// A client with one of the sandbox's credentials: `secretKey`, `publishableKey` or `adminToken`.
    pub fn sandbox_client(&self, credential: &str) -> Client {
        self.client(self.sandbox_json()[credential].as_str().unwrap())
    }

    /// A path below the sandbox's environment.
    pub fn sandbox_path(&self, rest: &str) -> String {
        format!("/admin/v1/environments/{}{rest}", self.sandbox_json()["environmentId"].as_str().unwrap())
    }

    /// Lets the sandbox's environment ignore fields that a request does not know, as others do, instead of refusing them.
    pub fn ignore_unknown_fields(&self) {
        let (mut admin, path) = (self.sandbox_client("adminToken"), self.sandbox_path("/config"));
        let mut document = admin.get(&path).data(200);
        document["settings"]["strictFields"] = false.into();
        admin.configure(&path, &document);
    }

    /// What it wrote to standard error.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// What it wrote to standard output.
    pub fn output(&self) -> String {
        fs::read_to_string(self.log.with_extension("out")).unwrap_or_default()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: no chance to tidy up.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM, and how it ended.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal_terminate();
        self.wait_end(Duration::from_secs(120))
    }

    pub fn signal_terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the process to end by itself.
    #[track_caller]
    pub fn wait_end(&mut self, most: Duration) -> ExitStatus {
        let mut ended = None;
        wait_until("the server has ended", most, || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        ended.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        if thread::panicking() {
            let log = self.log();
            let tail: Vec<_> = log.lines().rev().take(20).collect();
            eprintln!("the server's last words:\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Waits for something to become true, within bounds.
#[track_caller]
pub fn wait_until(what: &str, most: Duration, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + most;
    while !is_true() {
        assert!(Instant::now() < deadline, "not within {most:?}: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
