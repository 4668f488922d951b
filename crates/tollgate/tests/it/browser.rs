//! Card payments as customers make them: a real browser, the providers' pages and scripts of the simulator, a shop on
//! another port. What they do is in `tests/browser/cases.mjs`. And the console and the playground as people use them: that
//! is in `tests/browser/console.mjs`.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Server, Start, alone};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");

/// Seconds on two idle cores; this is for busy ones, and bounds what hangs.
const CASE_MAX: Duration = Duration::from_mins(5);

#[test]
fn customers_pay_by_card_in_a_real_browser() {
    let _turn = alone();
    drive("run.mjs", &Start::sandbox().run(), "browser-screenshots");
}

#[test]
fn operators_find_their_way_in_a_real_browser() {
    let _turn = alone();
    drive("console.mjs", &Start::sandbox().run(), "console-screenshots");
}

/// What they see and pay is in `tests/browser/card_fees.mjs`.
#[test]
fn payers_agree_to_a_card_fee_in_a_real_browser() {
    let _turn = alone();
    drive("card_fees.mjs", &Start::sandbox().run(), "card-fee-screenshots");
}

/// What they do, and the issuer, is in `tests/browser/single_sign_on.mjs`.
#[test]
fn operators_sign_in_with_an_issuer_in_a_real_browser() {
    let _turn = alone();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // Another name than the console's, so that it is another site to the browser.
    let issuer = format!("http://localhost:{port}");
    let server = Start::sandbox()
        .with("TOLLGATE_OIDC_ISSUER", &issuer)
        .with("TOLLGATE_OIDC_CLIENT_ID", "console")
        .with("TOLLGATE_OIDC_CLIENT_SECRET", "a secret of the browser's test")
        .run();
    let variables = [("ISSUER", issuer.as_str())];
    drive_with("single_sign_on.mjs", &server, "single-sign-on-screenshots", &variables);
}

/// Runs a script of cases in the browser; its screenshots go into a folder of their own.
pub fn drive(script: &str, server: &Server, screenshots: &str) {
    drive_with(script, server, screenshots, &[]);
}

/// The same with more for the script to know.
pub fn drive_with(script: &str, server: &Server, screenshots: &str, variables: &[(&str, &str)]) {
    let started = Instant::now();
    let modules = modules();
    let screenshots = Path::new(env!("CARGO_TARGET_TMPDIR")).join(screenshots);
    // Pictures of an earlier run would only mislead.
    drop(fs::remove_dir_all(&screenshots));
    println!("screenshots (all of them with TOLLGATE_TEST_PICTURES=1): {}", screenshots.display());
    let driver = Driver::start(script, server, &modules, &screenshots, variables);

    let (mut passed, mut failed, mut sum) = (0, Vec::new(), Value::Null);
    while let Some(line) = driver.next_line(Instant::now() + CASE_MAX) {
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        match (said["case"].as_str(), said["passed"].as_bool()) {
            (None, _) => sum = said,
            (Some(case), Some(true)) => {
                passed += 1;
                println!("{case}: {} ms", said["ms"]);
            }
            (Some(case), _) => {
                failed.push(format!("{case}: {}", said["error"].as_str().unwrap_or(&line)));
            }
        }
    }
    println!("{passed} cases in {:?}", started.elapsed());
    assert!(failed.is_empty(), "{}\nscreenshots: {}", failed.join("\n"), screenshots.display());
    assert_eq!((&sum["cases"], &sum["failed"]), (&passed.into(), &0.into()), "the run was cut short: {sum}");
    assert!(passed > 0);
}

/// The script that drives the browser. Dropped, it is ended, and the browser with it.
struct Driver {
    child: Child,
    lines: Receiver<String>,
    /// While this is open, the script goes on; should we be killed, it ends.
    _input: Option<ChildStdin>,
    /// The browser's profile, and whatever else it likes to keep.
    _home: TempDir,
}

impl Driver {
    fn start(
        script: &str,
        server: &Server,
        modules: &Path,
        screenshots: &Path,
        variables: &[(&str, &str)],
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new("node")
            .arg(format!("{SCRIPTS}/{script}"))
            .env("CHROMIUM", chromium())
            .env("MODULES", modules)
            .env("SCREENSHOTS", screenshots)
            .env("TOLLGATE_NOTES", server.data_dir.join("sandbox.json"))
            .envs(variables.iter().copied())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, lines) = (child.stdin.take(), read_lines(child.stdout.take().unwrap()));
        Self { child, lines, _input: input, _home: home }
    }

    /// The next line of its output, or nothing after the last.
    #[track_caller]
    fn next_line(&self, deadline: Instant) -> Option<String> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("a case was not done within {CASE_MAX:?}"),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The browser hangs on a pipe of the script's, and goes when that is cut.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn read_lines(output: ChildStdout) -> Receiver<String> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    told
}

/// The browser: the one `TOLLGATE_TEST_CHROMIUM` names, or the first there is in PATH.
fn chromium() -> PathBuf {
    if let Some(named) = env::var_os("TOLLGATE_TEST_CHROMIUM") {
        return named.into();
    }
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    let path = env::var_os("PATH").unwrap_or_default();
    let places: Vec<_> = env::split_paths(&path).collect();
    let mut programs = names.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    programs
        .find(|program| program.is_file())
        .expect("Chromium is not installed: run the tests with `make test`, which installs it")
}

/// Where the packages the script needs are.
pub(crate) fn modules() -> PathBuf {
    npm_modules(SCRIPTS, "browser-modules")
}

/// Where the packages of a folder's `package.json` are: installed once and kept.
pub fn npm_modules(folder: &str, name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let wanted = fs::read_to_string(format!("{folder}/package-lock.json")).unwrap();
    let stamp = place.join("installed.json");
    fs::create_dir_all(&place).unwrap();
    // One installer at a time; whoever waits finds it done.
    let lock = File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return place;
    }
    for file in ["package.json", "package-lock.json"] {
        fs::copy(format!("{folder}/{file}"), place.join(file)).unwrap();
    }
    let output = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"])
        .current_dir(&place)
        .output()
        .expect("npm is not installed: run the tests with `make test`, which installs it");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "npm ci\n{}\n{}", text(&output.stdout), text(&output.stderr));
    fs::write(stamp, wanted).unwrap();
    place
}
