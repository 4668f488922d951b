//! Python with the libraries that some tests ask.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A Python with the libraries of a folder of `tests`: made once, and kept.
pub fn python(folder: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{folder}-python"));
    let python = place.join("bin/python");
    let file = format!("{}/tests/{folder}/requirements.txt", env!("CARGO_MANIFEST_DIR"));
    let requirements = std::fs::read_to_string(&file).unwrap();
    let stamp = place.join("requirements-installed.txt");
    // One maker at a time; whoever waits finds it made.
    let lock = std::fs::File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements) {
        return python;
    }
    let run = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place));
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", &file];
    run(Command::new(&python).args(pip));
    std::fs::write(stamp, requirements).unwrap();
    python
}
