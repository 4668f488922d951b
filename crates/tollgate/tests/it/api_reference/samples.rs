//! The document's code samples, checked by their own languages' tools.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

use super::python::run;
use crate::sdks;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

/// Writes every sample of a language into a folder.
fn write_samples(language: &str, extension: &str, folder: &std::path::Path) -> Vec<PathBuf> {
    let document: Value = serde_json::from_slice(&fs::read(DOCUMENT).unwrap()).unwrap();
    let mut files = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.starts_with("/client/") {
            continue;
        }
        for operation in methods.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap();
            let samples =
                operation["x-codeSamples"].as_array().unwrap_or_else(|| panic!("{name} has no samples"));
            let sample = samples.iter().find(|sample| sample["lang"] == language);
            let sample = sample.unwrap_or_else(|| panic!("{name} has no sample in {language}"));
            let file = folder.join(format!("{name}.{extension}"));
            fs::write(&file, format!("{}\n", sample["source"].as_str().unwrap())).unwrap();
            files.push(file);
        }
    }
    assert!(files.len() > 15, "{files:?}");
    files
}

#[test]
fn the_samples_in_curl_are_commands() {
    let folder = tempfile::tempdir().unwrap();
    for file in write_samples("curl", "sh", folder.path()) {
        run(Command::new("bash").arg("-n").arg(file));
    }
}

#[test]
fn the_samples_in_typescript_fit_the_sdk() {
    let folder = sdks::folder_with_the_typescript_sdk();
    let files = write_samples("typescript", "ts", folder.path());
    sdks::compile_typescript(folder.path(), &files);
}

#[test]
fn the_samples_in_python_fit_the_sdk() {
    let folder = tempfile::tempdir().unwrap();
    let python = sdks::python();
    let files = write_samples("python", "py", folder.path());
    run(Command::new(python.join("bin/mypy"))
        .args(["--strict", "--cache-dir"])
        .arg(folder.path().join("cache"))
        .arg("--python-executable")
        .arg(python.join("bin/python"))
        .args(files));
}

/// Go's own tools are not part of the tests; what its formatter would change most easily is.
#[test]
fn the_samples_in_go_are_indented_by_tabs() {
    let folder = tempfile::tempdir().unwrap();
    for file in write_samples("go", "go", folder.path()) {
        let text = fs::read_to_string(&file).unwrap();
        let code: String = text.split('`').step_by(2).collect();
        assert!(text.starts_with("package main\n\nimport (\n\t\"fmt\"\n"), "{text}");
        assert!(code.lines().all(|line| !line.starts_with(' ') && line.trim_end() == line), "{text}");
        assert_eq!(text.matches('`').count() % 2, 0, "{text}");
    }
}
