//! The guides' programs, run as a reader would run them: each language of each guide against a sandbox.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

use crate::{
    sdks,
    support::{Start, alone},
};

const GUIDES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// What each guide's programs print in the end, whatever the language.
const EXPECTED: [(&str, &[&str]); 4] = [
    ("first-payment", &["succeeded"]),
    ("hosted-checkout", &["/simulator/stripe/", "prepared"]),
    ("bank-transfer", &["processing"]),
    ("capture-later", &["authorized", "succeeded"]),
];

/// Guides that are a page and its backend: what each pays with, and how the browser's part of it is played.
const PAGES: [(&str, &str); 3] = [
    ("stripe-elements", "4242424242424242"),
    ("square-web-payments", "4111111111111111"),
    ("adyen-drop-in", "4111111111111111"),
];

/// The one block of a language in a guide.
fn block(guide: &str, language: &str) -> String {
    let text = fs::read_to_string(format!("{GUIDES}/{guide}.md")).unwrap();
    let fence = format!("```{language}\n");
    let mut blocks = text.split(&fence).skip(1);
    let block = blocks.next().unwrap_or_else(|| panic!("{guide} has no {language}"));
    assert!(blocks.next().is_none(), "{guide} has {language} twice");
    block.split_once("```").unwrap().0.to_owned()
}

/// A guide that is not listed above is not run, and must not go unnoticed.
#[test]
fn every_guide_is_run() {
    let mut names: Vec<String> = fs::read_dir(GUIDES)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let known = EXPECTED.iter().map(|(name, _)| *name).chain(PAGES.map(|(name, _)| name));
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn the_guides_pages_are_paid_on_in_a_real_browser() {
    let _turn = alone();
    let server = Start::sandbox().run();
    let folder = sdks::folder_with_the_typescript_sdk();
    for (guide, _) in PAGES {
        let place = folder.path().join(guide);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("page.html"), block(guide, "html")).unwrap();
        fs::write(place.join("server.mjs"), block(guide, "javascript")).unwrap();
    }
    let pages = PAGES.map(|(guide, card)| format!("{guide}={card}")).join(",");
    let variables = [("GUIDES", folder.path().to_str().unwrap()), ("PAGES", pages.as_str())];
    crate::browser::drive_with("guides.mjs", &server, "guide-screenshots", &variables);
}

#[test]
fn the_guides_programs_do_what_they_say() {
    let folder = sdks::folder_with_the_typescript_sdk();
    let programs = EXPECTED.map(|(guide, _)| {
        let program = folder.path().join(format!("{guide}.ts"));
        fs::write(&program, block(guide, "typescript")).unwrap();
        program
    });
    sdks::compile_typescript(folder.path(), &programs);
    let python_with_the_sdk = sdks::python().join("bin/python");
    let server = Start::sandbox().run();
    let notes: Value =
        serde_json::from_str(&fs::read_to_string(server.data_dir.join("sandbox.json")).unwrap()).unwrap();
    for (guide, expected) in EXPECTED {
        let run = |language: &str, mut command: Command| {
            let output = command
                .env("TOLLGATE_URL", notes["baseUrl"].as_str().unwrap())
                .env("TOLLGATE_KEY", notes["secretKey"].as_str().unwrap())
                .current_dir(folder.path())
                .output()
                .unwrap();
            check(guide, language, &output, expected);
        };
        let file = |extension: &str, text: &str| {
            let path = folder.path().join(format!("{guide}.{extension}"));
            fs::write(&path, text).unwrap();
            path
        };
        let mut shell = Command::new("bash");
        shell.args(["-eu", "-o", "pipefail"]).arg(file("sh", &block(guide, "sh")));
        run("curl", shell);
        let mut python = Command::new(&python_with_the_sdk);
        python.arg(file("py", &block(guide, "python")));
        run("Python", python);
        let mut node = Command::new("node");
        node.arg(folder.path().join(format!("{guide}.js")));
        run("TypeScript", node);
        let name = guide.replace('-', "_");
        let source = fs::read_to_string(format!("{EXAMPLES}/{name}.rs")).unwrap();
        // What our own lints want to hear is of no use to a reader.
        let source =
            source.split_inclusive("\n\n").filter(|part| !part.starts_with("#![expect")).collect::<String>();
        assert_eq!(block(guide, "rust"), source, "{guide} shows another program than examples/{name}.rs");
        run("Rust", Command::new(example(&name)));
    }
}

/// Cargo builds a package's examples with its tests, beside the folder this test is in.
fn example(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(built.is_file(), "{} is not built; run all tests of the package", built.display());
    built
}

#[track_caller]
fn check(guide: &str, language: &str, output: &Output, expected: &[&str]) {
    let said = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{guide} in {language}: {said}{told}");
    for part in expected {
        assert!(said.contains(part), "{guide} in {language} does not say `{part}`: {said}{told}");
    }
}
