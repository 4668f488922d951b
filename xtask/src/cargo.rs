//! Calls to cargo.

use std::io::{BufRead, BufReader, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::postgres::URL_VARIABLE;
use crate::processes;
use crate::step::Outcome;
use crate::summary::Summary;

/// How many tests of a program run at once.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// How long no test may end. The slowest takes a few minutes, and some more on a busy machine.
const SILENCE_MAX: Duration = Duration::from_mins(15);

/// The cargo that runs us. Its description of our own package is withheld from the nested call: build scripts
/// that watch those variables would otherwise rebuild on every other call.
pub(crate) fn command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

pub(crate) fn run(arguments: &[&str]) -> Outcome<()> {
    let shown = arguments.join(" ");
    println!("cargo {shown}");
    match command().args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("`cargo {shown}` failed")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// The binary as it is released: built in a folder of its own, with no path of this machine in it. Returns where it is.
pub(crate) fn build_for_release(source: &Path) -> Outcome<PathBuf> {
    let target = source.join("target/package");
    let home = match (std::env::var_os("CARGO_HOME"), std::env::var_os("HOME")) {
        (Some(cargo), _) => PathBuf::from(cargo),
        (None, Some(home)) => Path::new(&home).join(".cargo"),
        (None, None) => return Err("neither CARGO_HOME nor HOME is set".to_owned()),
    };
    let names = [(source, "/source"), (home.as_path(), "/cargo")];
    // Separated by a character that no path has, as cargo reads it.
    let rust =
        names.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())).join("\u{1f}");
    let c = names.map(|(path, name)| format!("-ffile-prefix-map={}={name}", path.display())).join(" ");
    let status = command()
        .args(["build", "--release", "--locked", "--package", "tollgate"])
        .current_dir(source)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_ENCODED_RUSTFLAGS", rust)
        .env("CFLAGS", c)
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .status();
    match status {
        Ok(status) if status.success() => Ok(target.join("release/tollgate")),
        Ok(status) => Err(format!("the release build failed: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// Clippy is a compiler, too: what it lints it also builds, so that nothing is compiled once to be linted and once more
/// to be tested. This is what `cargo clippy -- -D warnings` sets, around `cargo test` instead of `cargo check`.
fn linting() -> Command {
    let mut command = command();
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    command
}

/// Lints and builds everything that `test` runs.
pub(crate) fn build_tests() -> Outcome<()> {
    match linting().args(["test", "--workspace", "--all-features", "--no-run"]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the code has faults, or lints that `make lint` shows alone".into()),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// Runs every test of the workspace to the end and counts. The output is passed on as it comes. A run of which nothing is
/// heard for too long is killed, so that a test that hangs is a failure with a name.
pub(crate) fn test(filters: &[String], postgres_url: &str) -> Outcome<Summary> {
    let mut child = linting()
        .args(["test", "--workspace", "--all-features", "--no-fail-fast", "--"])
        .args(filters)
        .env(URL_VARIABLE, postgres_url)
        .env(THREADS_VARIABLE, threads())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    let mut summary = Summary::default();
    if let Some(output) = child.stdout.take() {
        let lines = lines_of(output);
        let mut screen = std::io::stdout().lock();
        loop {
            match lines.recv_timeout(SILENCE_MAX) {
                Ok(line) => {
                    // A closed screen must not end the tests halfway.
                    drop(screen.write_all(&line).and_then(|()| screen.flush()));
                    summary.read_line(&String::from_utf8_lossy(&line));
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let minutes = SILENCE_MAX.as_secs() / 60;
                    eprintln!(
                        "no test has ended for {minutes} minutes: killed; running: {}",
                        summary.running()
                    );
                    processes::kill_tree(&mut child);
                    break;
                }
            }
        }
    }
    let status = child.wait().map_err(|error| format!("cargo was lost: {error}"))?;
    Ok(summary.finish(status.success()))
}

/// The lines as they come. A test may print bytes that are not UTF-8, so they are not changed.
fn lines_of(output: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(1_000);
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while matches!(output.read_until(b'\n', &mut line), Ok(length) if length > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The names of a crate's integration tests: `tests/name.rs` and `tests/name/main.rs`.
pub(crate) fn integration_tests(crate_name: &str) -> Outcome<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("crates");
    let folder = root.join(crate_name).join("tests");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let tests =
        paths.filter(|path| path.join("main.rs").exists() || path.extension().is_some_and(|it| it == "rs"));
    Ok(tests.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
}

/// Three times as many tests at once as there are cores, by default: most of them wait for a lease, a kill, a browser, or
/// for their turn to run alone.
fn threads() -> String {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::env::var(THREADS_VARIABLE).unwrap_or_else(|_| (cores * 3).to_string())
}

/// Where cargo puts release binaries: beside the directory this program was built into, wherever that is.
pub(crate) fn release_directory() -> Outcome<PathBuf> {
    let program = std::env::current_exe().map_err(|error| format!("own path unknown: {error}"))?;
    let target = program.parent().and_then(|profile| profile.parent());
    target.map(|target| target.join("release")).ok_or_else(|| "the target directory was not found".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fast_test_has_the_name_of_a_slow_one() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("crates");
        let names = std::fs::read_dir(crates).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let (fast, slow): (Vec<_>, Vec<_>) =
            names.partition(|name| crate::FAST_CRATES.contains(&name.as_str()));
        let tests = |names: Vec<String>| -> Vec<String> {
            names.iter().filter_map(|name| integration_tests(name).ok()).flatten().collect()
        };
        let (fast, slow) = (tests(fast), tests(slow));
        assert!(
            fast.contains(&"use_cases".to_owned()) && slow.contains(&"it".to_owned()),
            "{fast:?} {slow:?}"
        );
        assert_eq!(
            fast.iter().find(|name| slow.contains(name)),
            None,
            "cargo tells tests by their names alone"
        );
    }
}
