//! The official Python and Node libraries against the simulator, and their judgment of its signatures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tollgate_simulator::{Config, Wire};

use crate::support::start_with;

/// The folder of the scripts and their pinned requirements.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk");

/// A folder that is filled once and kept, until what was wanted changes.
fn installed(name: &str, wanted: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let stamp = place.join("installed.txt");
    // One maker at a time; whoever waits finds it made.
    let lock = std::fs::File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if !std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        install(&place);
        std::fs::write(stamp, wanted).unwrap();
    }
    place
}

/// A Python with the libraries: the one `TOLLGATE_TEST_PYTHON` names, or one made here once and kept.
fn python() -> PathBuf {
    if let Some(python) = std::env::var_os("TOLLGATE_TEST_PYTHON") {
        return python.into();
    }
    let file = format!("{SCRIPTS}/requirements.txt");
    let place = installed("sdk-python", &std::fs::read_to_string(&file).unwrap(), |place| {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(place));
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", &file];
        run(Command::new(place.join("bin/python")).args(install));
    });
    place.join("bin/python")
}

/// The libraries for Node.
fn modules() -> PathBuf {
    let lock_file = std::fs::read_to_string(format!("{SCRIPTS}/package-lock.json")).unwrap();
    installed("sdk-node", &lock_file, |place| {
        std::fs::create_dir_all(place).unwrap();
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(format!("{SCRIPTS}/{file}"), place.join(file)).unwrap();
        }
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
        run(Command::new("npm").args(install).current_dir(place));
    })
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    output
}

/// Runs a script with the libraries of its language against a simulator.
async fn check(config: Config, script: &'static str) {
    let running = start_with(config).await;
    let origin = running.origin.clone();
    let work = move || {
        let mut command = if Path::new(script).extension().is_some_and(|kind| kind == "py") {
            let mut command = Command::new(python());
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            command
        } else {
            let mut command = Command::new("node");
            command.env("MODULES", modules());
            command
        };
        run(command.arg(format!("{SCRIPTS}/{script}")).env("SIMULATOR", origin))
    };
    let output = tokio::task::spawn_blocking(work).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().last(), Some("ok"));
}

async fn check_python(script: &'static str) {
    check(at_once(Config::default()), script).await;
}

/// The scripts look at what they made right away.
fn at_once(config: Config) -> Config {
    Config { square_listed_after_ms: 0, ..config }
}

/// Stripe's library takes a host but no path, so that each provider is served alone.
async fn check_node(wire: Wire, script: &'static str) {
    check(at_once(Config { only: Some(wire), ..Config::default() }), script).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stripe_library_works_unchanged() {
    check_python("stripe_sdk.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_square_library_works_unchanged() {
    check_python("square_sdk.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_increase_library_works_unchanged() {
    check_python("increase_sdk.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stripe_library_for_node_works_unchanged() {
    check_node(Wire::Stripe, "stripe_sdk.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_square_library_for_node_works_unchanged() {
    check_node(Wire::Square, "square_sdk.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_increase_library_for_node_works_unchanged() {
    check_node(Wire::Increase, "increase_sdk.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_adyen_library_works_once_it_is_told_the_address() {
    check_python("adyen_sdk.py").await;
}

/// Adyen's library for Node calls Adyen whatever address it is given, so that it only looks at what the simulator sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_adyen_library_for_node_accepts_the_signatures() {
    check_node(Wire::Adyen, "adyen_sdk.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_modern_treasury_library_works_unchanged() {
    check_python("modern_treasury_sdk.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_modern_treasury_library_for_node_works_unchanged() {
    check_node(Wire::ModernTreasury, "modern_treasury_sdk.mjs").await;
}
