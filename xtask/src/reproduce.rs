//! Whether a release is the same bytes wherever it is built.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::cargo;
use crate::step::{Outcome, step};

/// Where one of the two equal binaries is left.
const FOLDER: &str = "target/reproduce";

/// Builds the newest commit twice, in folders of different names, and compares the binaries.
pub(crate) fn run() -> Outcome<()> {
    warn_of_changes()?;
    let kept = Path::new(FOLDER).join("tollgate");
    let within = |error: io::Error| format!("{FOLDER}: {error}");
    if kept.exists() {
        fs::remove_file(&kept).map_err(within)?;
    }
    fs::create_dir_all(FOLDER).map_err(within)?;
    let half = Path::new(FOLDER).join("half");
    let mut digests = Vec::new();
    for name in ["one", "a-folder-with-another-name"] {
        let folder =
            std::env::temp_dir().join(format!("tollgate-reproduce-{}", std::process::id())).join(name);
        let digest = step(name, || {
            let binary = build(&folder)?;
            fs::copy(&binary, &half).map_err(within)?;
            digest_of(&binary)
        });
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        digests.push(digest?);
    }
    for digest in &digests {
        println!("{digest}");
    }
    digests.dedup();
    if digests.len() > 1 {
        return Err("the two builds differ".to_owned());
    }
    fs::rename(&half, &kept).map_err(within)?;
    println!("{path} (make package ARGS={path} packages it)", path = kept.display());
    Ok(())
}

/// Says what is not in the builds.
fn warn_of_changes() -> Outcome<()> {
    let output = Command::new("git").args(["status", "--porcelain"]).output();
    let output = output.map_err(|error| format!("git could not be started: {error}"))?;
    let changes = String::from_utf8_lossy(&output.stdout);
    if !changes.is_empty() {
        println!("warning: the newest commit is built, without these changes:\n{}", changes.trim_end());
    }
    Ok(())
}

fn build(folder: &Path) -> Outcome<PathBuf> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let cloned = Command::new("git").args(["clone", "--quiet", "--local", "."]).arg(folder).status();
    if !cloned.is_ok_and(|status| status.success()) {
        return Err("the repository could not be cloned".to_owned());
    }
    cargo::build_for_release(folder)
}

fn digest_of(binary: &Path) -> Outcome<String> {
    let output = Command::new("sha256sum").arg(binary).output();
    let output = output.map_err(|error| format!("sha256sum could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().next().map(str::to_owned).ok_or_else(|| "sha256sum printed nothing".to_owned())
}
