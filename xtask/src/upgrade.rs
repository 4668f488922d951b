//! Versions from the repository's history, built to upgrade from.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::step::{Outcome, step};

/// Where they are built and kept, each by its commit.
const FOLDER: &str = "target/upgrade";

/// The first release, and what the version before this one is unless another commit is given.
const FIRST_RELEASE: (&str, &str) = ("0.1.0", "32d0ca9ead3c17aee4d27e92f7d8e576c355ea0b");
const BEFORE: &str = "65fdcc4a942256c172ef70a3b8ca3de44ddfb709";

/// Names and binaries of the versions to upgrade from, as the tests read them: `name=path,…`.
pub(crate) fn versions(before: Option<&str>) -> Outcome<String> {
    let before = git(&["rev-parse", "--verify", &format!("{}^{{commit}}", before.unwrap_or(BEFORE))])?;
    let short = git(&["rev-parse", "--short", &before])?;
    let (name, first) = FIRST_RELEASE;
    let versions = [(name, first), (&short, &before)];
    let built = versions.map(|(name, commit)| {
        let binary = step(&format!("Version {name}"), || build(commit))?;
        Ok(format!("{name}={}", binary.display()))
    });
    Ok(built.into_iter().collect::<Outcome<Vec<_>>>()?.join(","))
}

fn build(commit: &str) -> Outcome<PathBuf> {
    let here = env::current_dir().map_err(|error| format!("own folder unknown: {error}"))?;
    let folder = here.join(FOLDER).join(commit);
    let binary = folder.join("tollgate");
    if binary.exists() {
        return Ok(binary);
    }
    let source = folder.join("source");
    let within = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&source).map_err(within)?;
    let archive = folder.join("source.tar");
    git(&["archive", "--output", &archive.to_string_lossy(), commit])?;
    run(Command::new("tar").arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(&source))?;
    // What both need is built once.
    let target = here.join(FOLDER).join("build");
    run(cargo::command()
        .args(["build", "--locked", "--package", "tollgate"])
        .current_dir(&source)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTC_WORKSPACE_WRAPPER"))?;
    // Whole or not at all.
    let half = folder.join("half");
    fs::copy(target.join("debug/tollgate"), &half)
        .and_then(|_| fs::rename(&half, &binary))
        .and_then(|()| fs::remove_dir_all(&source))
        .and_then(|()| fs::remove_file(&archive))
        .map_err(within)?;
    Ok(binary)
}

fn git(arguments: &[&str]) -> Outcome<String> {
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| format!("git could not be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("git {}: {} (is the whole history here?)", arguments.join(" "), said.trim()))
}

fn run(command: &mut Command) -> Outcome<()> {
    let program = Path::new(command.get_program()).display().to_string();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}
