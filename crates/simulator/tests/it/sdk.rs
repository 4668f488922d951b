//! The official Python libraries against the simulator, and their judgment of its signatures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::start;

/// The folder of the scripts and their pinned requirements.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk");

/// A Python with the libraries: the one `TOLLGATE_TEST_PYTHON` names, or one made here once and kept.
fn python() -> PathBuf {
    if let Some(python) = std::env::var_os("TOLLGATE_TEST_PYTHON") {
        return python.into();
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-python");
    let python = place.join("bin/python");
    let requirements = std::fs::read_to_string(format!("{SCRIPTS}/requirements.txt")).unwrap();
    let stamp = place.join("requirements-installed.txt");
    // One maker at a time; whoever waits finds it made.
    let lock = std::fs::File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements) {
        return python;
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
    let file = format!("{SCRIPTS}/requirements.txt");
    run(Command::new(&python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
        &file,
    ]));
    std::fs::write(stamp, requirements).unwrap();
    python
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    output
}

async fn check(script: &'static str) {
    let running = start().await;
    let origin = running.origin.clone();
    let work = move || {
        run(Command::new(python())
            .arg(format!("{SCRIPTS}/{script}"))
            .env("SIMULATOR", origin)
            .env("PYTHONDONTWRITEBYTECODE", "1"))
    };
    let output = tokio::task::spawn_blocking(work).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().last(), Some("ok"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stripe_library_works_unchanged() {
    check("stripe_sdk.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_square_library_works_unchanged() {
    check("square_sdk.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_increase_library_works_unchanged() {
    check("increase_sdk.py").await;
}
