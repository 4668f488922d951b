//! The SDKs of this repository: built as they are published, installed in a folder of their own, and used from there
//! against a sandbox. What they do is in `sdk/typescript/test` and `sdk/python/tests`.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    api_reference::python::run,
    browser::npm_modules,
    support::{Server, Start, skipped},
};

const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk");

#[test]
fn the_generated_types_are_current() {
    run(Command::new("python3").arg(format!("{SDK}/generate.py")).arg("--check"));
}

#[test]
fn the_typescript_sdk_pays() {
    let version = Command::new("node").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    let major = version.trim_start_matches('v').split('.').next().and_then(|text| text.parse::<u32>().ok());
    if major.is_some_and(|major| major < 20) {
        return skipped(&format!("the TypeScript SDK needs Node.js 20, and this is {version}"));
    }
    let tests = typescript().join("test");
    drop(fs::remove_dir_all(&tests));
    copy(Path::new(&format!("{SDK}/typescript/test")), &tests);
    let server = Start::sandbox().run();
    // The SDKs warn of fields with typos, which the sandbox would refuse.
    server.ignore_unknown_fields();
    let output = run(Command::new("node")
        .args([
            "--test",
            "--test-reporter",
            "tap",
            "test/browser.test.mjs",
            "test/flows.test.mjs",
            "test/retries.test.mjs",
        ])
        .current_dir(tests.parent().unwrap())
        .env("TOLLGATE_NOTES", notes(&server)));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("# fail 0") && !said.contains("# pass 0"), "{said}");
}

#[test]
fn the_python_sdk_pays() {
    let python = python();
    let server = Start::sandbox().run();
    // The SDKs warn of fields with typos, which the sandbox would refuse.
    server.ignore_unknown_fields();
    let output = run(Command::new(python.join("bin/python"))
        .args(["-W", "error", "-m", "unittest", "discover", "--start-directory"])
        .arg(format!("{SDK}/python/tests"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TOLLGATE_NOTES", notes(&server)));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("\nOK") && !said.contains("Ran 0 tests"), "{said}");
}

#[test]
fn the_python_sdk_is_typed() {
    let python = python();
    run(Command::new(python.join("bin/mypy"))
        .args(["--strict", "--cache-dir"])
        .arg(python.join("mypy-cache"))
        .arg(format!("{SDK}/python/src/tollgate")));
}

#[test]
fn any_page_can_import_the_browser_part_from_the_server() {
    let server = Start::serve().run();
    let answer = server.client("").send("GET", "/tollgate.js", &[("origin", "https://shop.example")], b"");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/javascript; charset=utf-8");
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert_eq!(answer.body, fs::read(format!("{SDK}/typescript/src/browser.js")).unwrap());
}

fn notes(server: &Server) -> PathBuf {
    server.data_dir.join("sandbox.json")
}

/// A folder whose `node_modules` has the npm package.
pub fn typescript() -> PathBuf {
    let source = format!("{SDK}/typescript");
    let workshop = npm_modules(&source, "sdk-typescript");
    kept("sdk-typescript-consumer", &["typescript/src", "typescript/package.json"], |place| {
        for part in ["src", "dist"] {
            drop(fs::remove_dir_all(workshop.join(part)));
        }
        copy(Path::new(&source).join("src").as_path(), &workshop.join("src"));
        for file in ["package.json", "tsconfig.json", "README.md", "LICENSE"] {
            fs::copy(format!("{source}/{file}"), workshop.join(file)).unwrap();
        }
        let packed = run(Command::new("npm").args(["pack", "--silent"]).current_dir(&workshop));
        let packed = String::from_utf8(packed.stdout).unwrap();
        let package = workshop.join(packed.trim().lines().last().unwrap());
        fs::write(place.join("package.json"), r#"{"private":true,"type":"module"}"#).unwrap();
        let quiet = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
        run(Command::new("npm").arg("install").args(quiet).arg(package).current_dir(place));
    })
}

/// As a reader's is after `npm install`.
pub fn folder_with_the_typescript_sdk() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(typescript().join("node_modules"), folder.path().join("node_modules")).unwrap();
    fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    folder
}

/// Compiles programs that use the npm package, with all of their types, and leaves JavaScript beside them.
pub fn compile_typescript(folder: &Path, programs: &[PathBuf]) {
    let workshop = npm_modules(&format!("{SDK}/typescript"), "sdk-typescript");
    let options =
        ["--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", "node"];
    run(Command::new(workshop.join("node_modules/.bin/tsc"))
        .args(options)
        .arg("--typeRoots")
        .arg(workshop.join("node_modules/@types"))
        .args(programs)
        .current_dir(folder));
}

/// A Python environment that has the package.
pub fn python() -> PathBuf {
    kept(
        "tollgate-sdk-python",
        &["python/src", "python/pyproject.toml", "python/tests/requirements.txt"],
        |place| {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(place));
            run(Command::new(place.join("bin/python"))
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(["-r", &format!("{SDK}/python/tests/requirements.txt")])
                .arg(format!("{SDK}/python")));
        },
    )
}

/// A folder that is made once, and again when what it is made of has changed.
fn kept(name: &str, made_of: &[&str], make: impl FnOnce(&Path)) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let stamp = place.with_extension("made-of");
    fs::create_dir_all(&place).unwrap();
    // One maker at a time; whoever waits finds it made.
    let lock = File::create(place.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let mut wanted = Vec::new();
    for part in made_of {
        read(&Path::new(SDK).join(part), &mut wanted);
    }
    if !fs::read(&stamp).is_ok_and(|made_of| made_of == wanted) {
        make(&place);
        fs::write(stamp, wanted).unwrap();
    }
    place
}

/// Everything in a file, or in the files of a folder.
fn read(path: &Path, text: &mut Vec<u8>) {
    if path.is_file() {
        text.extend(fs::read(path).unwrap());
        return;
    }
    let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries.iter().filter(|entry| !entry.ends_with("__pycache__")) {
        text.extend(entry.as_os_str().as_encoded_bytes());
        read(entry, text);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        fs::copy(&entry, to.join(entry.file_name().unwrap())).unwrap();
    }
}
