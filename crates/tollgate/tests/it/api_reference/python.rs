//! Pythons with packages: made once and kept.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The folder of the programs that the packages of this list bring along.
pub fn programs(requirements: &str) -> PathBuf {
    let file = format!("{}/{requirements}", super::SCRIPTS);
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(requirements.replace(".txt", "-python"));
    let wanted = fs::read_to_string(&file).unwrap();
    let stamp = place.join("installed.txt");
    // One maker at a time; whoever waits finds it made.
    let lock = File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return place.join("bin");
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(Command::new(place.join("bin/python")).args(install).arg(file));
    fs::write(stamp, wanted).unwrap();
    place.join("bin")
}

/// Runs a program that must succeed.
#[track_caller]
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    output
}
