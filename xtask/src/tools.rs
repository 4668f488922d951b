//! The tools the tests need, installed where that can be done without asking.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo;
use crate::step::Outcome;

/// Packages of PyPI: the one brings the schema of workflows, the other knows their weaknesses.
const LINTERS: [&str; 2] = ["check-jsonschema==0.39.0", "zizmor==1.32.0"];
const LINTERS_FOLDER: &str = "target/workflow-linters";

/// What packs the Python SDK as PyPI wants it: a wheel, and its source.
const PACKER: [&str; 1] = ["build==1.6.1"];
const PACKER_FOLDER: &str = "target/sdk-packer";

const DEBIAN_POSTGRES: &str = "/usr/lib/postgresql";

/// What Debian 12 has. The TypeScript SDK's own tests need 20, and are skipped where there is less.
const NODE_MAJOR_MIN: u32 = 18;

/// Names a browser for the tests where it is not in PATH by one of these names.
const BROWSER_VARIABLE: &str = "TOLLGATE_TEST_CHROMIUM";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// rustfmt and clippy are components of the toolchain and not part of every installation.
pub(crate) fn ensure_cargo_components() -> Outcome<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if succeeds(cargo::command().args([subcommand, "--version"])) {
            continue;
        }
        println!("{component} is missing: adding it with rustup");
        let added = Command::new("rustup").args(["component", "add", component]).status();
        if !added.is_ok_and(|status| status.success()) {
            return Err(format!(
                "{component} is missing: install it with `rustup component add {component}`"
            ));
        }
    }
    Ok(())
}

/// Building it takes some minutes, so nobody but `audit` asks for it.
pub(crate) fn ensure_cargo_deny() -> Outcome<()> {
    if succeeds(cargo::command().args(["deny", "--version"])) {
        return Ok(());
    }
    println!("cargo-deny is missing: building it takes some minutes");
    let installed = cargo::command().args(["install", "--locked", "cargo-deny"]).status();
    if installed.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err("cargo-deny is missing: install it with `cargo install --locked cargo-deny`".to_owned())
}

/// The directory that holds `postgres` and `initdb`. Debian's package also starts a cluster of its own; that one
/// is not ours and is left alone.
pub(crate) fn ensure_postgres() -> Outcome<PathBuf> {
    if let Some(found) = find_postgres() {
        println!("PostgreSQL: {}", found.display());
        return Ok(found);
    }
    let wanted =
        "install the PostgreSQL server (Debian: `apt-get install postgresql`), or put its `bin` in PATH";
    install("PostgreSQL", &["postgresql"], wanted)?;
    find_postgres().ok_or_else(|| format!("PostgreSQL was installed and still not found: {wanted}"))
}

/// What keeps a PostgreSQL cluster, and what its nodes agree by. Debian's packages may start an etcd of their own; that one
/// is not ours and is left alone.
pub(crate) fn ensure_patroni() -> Outcome<()> {
    let runs = || ["patroni", "etcd"].iter().all(|program| succeeds(Command::new(program).arg("--version")));
    if runs() {
        return Ok(());
    }
    let wanted = "install both (Debian: `apt-get install patroni etcd-server`)";
    install("Patroni or etcd", &["patroni", "etcd-server"], wanted)?;
    if runs() {
        Ok(())
    } else {
        Err(format!("Patroni or etcd was installed and still does not run: {wanted}"))
    }
}

/// The template engine that Helm is built on, for the chart.
pub(crate) fn ensure_go() -> Outcome<()> {
    if succeeds(Command::new("go").arg("version")) {
        return Ok(());
    }
    install("Go", &["golang-go"], "install Go (Debian: `apt-get install golang-go`)")
}

/// What counts instructions.
pub(crate) fn ensure_valgrind() -> Outcome<()> {
    if succeeds(Command::new("valgrind").arg("--version")) {
        return Ok(());
    }
    install("valgrind", &["valgrind"], "install valgrind (Debian: `apt-get install valgrind`)")
}

/// What makes a new Debian in a folder.
pub(crate) fn ensure_debootstrap() -> Outcome<()> {
    if succeeds(Command::new("debootstrap").arg("--version")) {
        return Ok(());
    }
    install("debootstrap", &["debootstrap"], "install it (Debian: `apt-get install debootstrap`)")
}

/// What makes the clocks of processes wrong.
pub(crate) fn ensure_faketime() -> Outcome<()> {
    if succeeds(Command::new("faketime").arg("--version")) {
        return Ok(());
    }
    install("libfaketime", &["faketime"], "install it (Debian: `apt-get install faketime`)")
}

/// A Python that can make virtual environments: the providers' official client libraries run in one.
pub(crate) fn ensure_python() -> Outcome<()> {
    let makes_environments = || succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]));
    if makes_environments() {
        return Ok(());
    }
    let wanted = "install Python 3 with its venv module (Debian: `apt-get install python3 python3-venv`)";
    install("Python's venv", &["python3", "python3-venv"], wanted)?;
    if makes_environments() {
        Ok(())
    } else {
        Err(format!("Python's venv was installed and still not found: {wanted}"))
    }
}

/// What judges the workflows of the hosted CI: a folder with its programs.
pub(crate) fn ensure_workflow_linters() -> Outcome<PathBuf> {
    ensure_from_pypi(&LINTERS, LINTERS_FOLDER)
}

/// What packs the Python SDK: a folder with its programs.
pub(crate) fn ensure_python_packer() -> Outcome<PathBuf> {
    ensure_from_pypi(&PACKER, PACKER_FOLDER)
}

/// Packages of PyPI in an environment of their own, which is made anew when others are asked for.
fn ensure_from_pypi(packages: &[&str], folder: &str) -> Outcome<PathBuf> {
    let programs = Path::new(folder).join("bin");
    let asked = Path::new(folder).join("asked");
    if std::fs::read_to_string(&asked).is_ok_and(|installed| installed == packages.join(" ")) {
        return Ok(programs);
    }
    println!("installing {}", packages.join(" and "));
    let made = Command::new("python3").args(["-m", "venv", "--clear", folder]).status();
    let pip = || Command::new(programs.join("pip")).args(["install", "--quiet"]).args(packages).status();
    if !made.is_ok_and(|status| status.success()) || !pip().is_ok_and(|status| status.success()) {
        return Err(format!("{} could not be installed with pip in {folder}", packages.join(" and ")));
    }
    std::fs::write(&asked, packages.join(" ")).map_err(|error| format!("{}: {error}", asked.display()))?;
    Ok(programs)
}

/// A Node.js that can install packages: what drives the browser in tests runs on it.
pub(crate) fn ensure_node() -> Outcome<()> {
    let runs = || {
        let answer = Command::new("node").arg("--version").stdin(Stdio::null()).output();
        let recent = answer.is_ok_and(|output| major(&output.stdout) >= Some(NODE_MAJOR_MIN));
        recent && succeeds(Command::new("npm").arg("--version"))
    };
    if runs() {
        return Ok(());
    }
    let wanted = format!(
        "install Node.js {NODE_MAJOR_MIN} or newer with npm (Debian 12 or newer: `apt-get install nodejs npm`)"
    );
    install("Node.js with npm", &["nodejs", "npm"], &wanted)?;
    if runs() { Ok(()) } else { Err(format!("Node.js was installed and still not found: {wanted}")) }
}

/// A browser for the tests of what customers see.
pub(crate) fn ensure_browser() -> Outcome<()> {
    let named = std::env::var_os(BROWSER_VARIABLE);
    let is_there = || match &named {
        Some(program) => succeeds(Command::new(program).arg("--version")),
        None => BROWSERS.iter().any(|name| succeeds(Command::new(name).arg("--version"))),
    };
    if is_there() {
        return Ok(());
    }
    if let Some(program) = &named {
        return Err(format!("{BROWSER_VARIABLE} names {}, which does not run", program.display()));
    }
    let wanted =
        format!("install Chromium (Debian: `apt-get install chromium`), or name one in {BROWSER_VARIABLE}");
    install("Chromium", &["chromium"], &wanted)?;
    if is_there() { Ok(()) } else { Err(format!("Chromium was installed and still not found: {wanted}")) }
}

/// Reads `v20.11.1`.
fn major(version: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(version).ok()?;
    text.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Installs Debian packages where that can be done without asking.
fn install(what: &str, packages: &[&str], wanted: &str) -> Outcome<()> {
    let apt: &[&str] = if !succeeds(Command::new("apt-get").arg("--version")) {
        return Err(format!("{what} is missing: {wanted}"));
    } else if is_root() {
        &["apt-get"]
    } else if succeeds(Command::new("sudo").args(["-n", "true"])) {
        &["sudo", "-n", "apt-get"]
    } else {
        return Err(format!("{what} is missing and installing it needs root: {wanted}"));
    };
    println!("{what} is missing: updating the package lists");
    run_apt(apt, &["update"])?;
    println!("{what} is missing: installing {}", packages.join(" and "));
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    run_apt(apt, &arguments)
}

/// Whether we act as root, for whom PostgreSQL refuses to run.
pub(crate) fn is_root() -> bool {
    let answer = Command::new("id").arg("-u").output();
    answer.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn run_apt(apt: &[&str], arguments: &[&str]) -> Outcome<()> {
    let Some((program, prefix)) = apt.split_first() else { return Ok(()) };
    let status = Command::new(program)
        .args(prefix)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("`{} {}` failed", apt.join(" "), arguments.join(" "))),
    }
}

/// Debian keeps the server out of PATH, one directory per major version; the newest comes first.
fn find_postgres() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN_POSTGRES).into_iter().flatten().flatten();
    let mut installed: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((version(&entry.file_name())?, entry.path().join("bin"))))
        .filter(|(_, directory)| holds_server(directory))
        .collect();
    installed.sort();
    let newest = installed.pop().map(|(_, directory)| directory);
    newest.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|directory| holds_server(directory))
    })
}

fn version(name: &OsStr) -> Option<u32> {
    name.to_str()?.parse().ok()
}

fn holds_server(directory: &Path) -> bool {
    ["postgres", "initdb"].iter().all(|program| directory.join(program).is_file())
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_node() {
        assert_eq!(major(b"v20.11.1\n"), Some(20));
        assert_eq!(major(b"v9.0.0"), Some(9));
        assert_eq!(major(b"node: not found"), None);
        assert!(major(b"") < Some(NODE_MAJOR_MIN));
    }
}
