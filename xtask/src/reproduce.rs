//! Whether a release is the same bytes wherever it is built.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo;
use crate::step::{Outcome, step};

/// Builds the newest commit twice, in folders of different names, and compares the binaries.
pub(crate) fn run() -> Outcome<()> {
    let mut digests = Vec::new();
    for name in ["one", "a-folder-with-another-name"] {
        let folder =
            std::env::temp_dir().join(format!("tollgate-reproduce-{}", std::process::id())).join(name);
        let digest = step(name, || digest_of_build(&folder));
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        digests.push(digest?);
    }
    for digest in &digests {
        println!("{digest}");
    }
    digests.dedup();
    if digests.len() == 1 { Ok(()) } else { Err("the two builds differ".to_owned()) }
}

fn digest_of_build(folder: &Path) -> Outcome<String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let cloned = Command::new("git").args(["clone", "--quiet", "--local", "."]).arg(folder).status();
    if !cloned.is_ok_and(|status| status.success()) {
        return Err("the repository could not be cloned".to_owned());
    }
    let binary = cargo::build_for_release(folder)?;
    let output = Command::new("sha256sum").arg(binary).output();
    let output = output.map_err(|error| format!("sha256sum could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().next().map(str::to_owned).ok_or_else(|| "sha256sum printed nothing".to_owned())
}
