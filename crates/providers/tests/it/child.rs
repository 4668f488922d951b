//! Other people's programs: installed once, run on a free port, and gone when the test is.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Beside a busy build these programs of Node take their time.
const READY_WITHIN: Duration = Duration::from_mins(4);

/// Ends the whole group when its input does, which also happens when the test itself is killed.
const KEEPER: &str = r#""$@" </dev/null & read -r _; kill -KILL 0"#;

/// A running program. Dropping it ends it and everything it started.
pub(crate) struct Running {
    keeper: Child,
    input: Option<ChildStdin>,
    log: PathBuf,
    pub(crate) port: u16,
}

impl Running {
    /// Starts a program that listens on the port it is told, and waits until it does.
    pub(crate) fn start(name: &str, program: &Path, arguments: impl Fn(u16) -> Vec<String>) -> Self {
        let port = free_port();
        let log = place(&format!("{name}-{port}.log"));
        let output = File::create(&log).unwrap();
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(program)
            .args(arguments(port))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .process_group(0)
            .spawn()
            .unwrap();
        let input = keeper.stdin.take();
        let running = Self { keeper, input, log, port };
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < READY_WITHIN, "{name} did not start: {}", running.said());
            std::thread::sleep(Duration::from_millis(50));
        }
        running
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What the program has printed.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.keeper.wait());
        drop(std::fs::remove_file(&self.log));
    }
}

/// A place in the target directory that survives the test.
pub(crate) fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Installs something into a folder once, by one test at a time; `wanted` is the file that says what.
pub(crate) fn installed(name: &str, wanted: &str, install: impl Fn(&Path)) -> PathBuf {
    let folder = place(name);
    let wanted = std::fs::read_to_string(wanted).unwrap();
    let stamp = folder.join("installed");
    let lock = File::create(folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return folder;
    }
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).unwrap();
    install(&folder);
    std::fs::write(stamp, wanted).unwrap();
    folder
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
