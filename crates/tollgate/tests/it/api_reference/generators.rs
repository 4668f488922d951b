//! Clients made from the document, by two generators that know nothing of this API.

use std::{
    fs,
    process::{Command, Stdio},
};

use super::{
    SCRIPTS,
    python::{programs, run},
};
use crate::{browser::npm_modules, support::Start};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

#[test]
fn a_generated_typescript_client_compiles() {
    let modules = npm_modules(SCRIPTS, "reference-modules");
    let place = tempfile::tempdir().unwrap();
    let tool = |name: &str| modules.join("node_modules/.bin").join(name);
    run(Command::new(tool("openapi-typescript"))
        .arg(DOCUMENT)
        .arg("-o")
        .arg(place.path().join("schema.ts"))
        .stdin(Stdio::null()));
    fs::copy(format!("{SCRIPTS}/smoke.ts"), place.path().join("smoke.ts")).unwrap();
    let options =
        ["--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler", "--module", "esnext"];
    run(Command::new(tool("tsc")).args(options).arg("smoke.ts").current_dir(place.path()));
}

#[test]
fn a_generated_python_client_pays() {
    let programs = programs("client-requirements.txt");
    let place = tempfile::tempdir().unwrap();
    let generated = run(Command::new(programs.join("openapi-python-client"))
        .args(["generate", "--path", DOCUMENT, "--meta", "none", "--output-path"])
        .arg(place.path().join("tollgate_client")));
    // What it cannot make something of, it says; it has no way to type answers that are not JSON.
    let said = String::from_utf8_lossy(&generated.stderr).into_owned();
    let left_out: Vec<_> = said.lines().filter(|line| line.starts_with("WARNING parsing")).collect();
    let expected = ["/admin/v1/audit-log.jsonl within people.", "/metrics within service."];
    assert_eq!(left_out, expected.map(|one| format!("WARNING parsing GET {one}")), "{said}");
    let server = Start::sandbox().run();
    let output = run(Command::new(programs.join("python"))
        .arg(format!("{SCRIPTS}/smoke.py"))
        .env("PYTHONPATH", place.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TOLLGATE_NOTES", server.data_dir.join("sandbox.json")));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().last(), Some("ok"));
}
