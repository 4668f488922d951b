//! Everything that goes between the adapters and the simulator, judged by the types of the providers' official libraries.
//!
//! The simulator has our reading of a provider's API, so it cannot find a misreading. The libraries carry the provider's
//! own types of every parameter and answer of the version they are made for, and need no account. Each test runs every
//! flow of an adapter and every route of its simulator, records requests, answers and webhooks, and hands them to a judge
//! (`tests/wires`): an unknown or removed parameter, a wrong word, a missing field, a number as text, a field the
//! provider does not have.
//!
//! What is judged must not become less: every parameter that an adapter's sources name has to be sent, every event that it
//! needs has to arrive, and what each call was sent, with every value that the library lists, is written down beside the
//! judges (`tests/wires/judged`). A new parameter or value shows there: `TOLLGATE_UPDATE_DOCS=1 cargo test -p
//! tollgate-providers --test it wires`.
//!
//! The libraries' versions are those of the simulator's own tests. `make wires-latest` judges by the newest ones instead,
//! and prints what they changed.

mod adyen;
mod increase;
mod modern_treasury;
mod planted;
mod recording;
mod square;
mod stripe;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tollgate_configuration::Adapter;
use tollgate_providers::ProviderSettings;

use crate::child::{installed, place, run};
use planted::Plants;
use recording::Recording;

const JUDGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wires");
/// The one place where the libraries' versions are.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../simulator/tests/sdk");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const ROUTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../simulator/src");
/// Set to write the lists of what is judged instead of comparing them.
const UPDATE_VARIABLE: &str = "TOLLGATE_UPDATE_DOCS";
/// What `cargo xtask test` repeats at its end; the rest of the line follows.
const NOTE: &str = "NOTE: ";
/// Set by `make wires-latest`.
const LATEST_VARIABLE: &str = "TOLLGATE_WIRES_LATEST";
/// Increase's own package has versions that begin with 0; the 1.0.0 of that name is not theirs.
const NEWEST: [&str; 4] = ["stripe@latest", "square@latest", "@adyen/api-library@latest", "increase@0"];

/// Every exchange and webhook of the Adyen adapter's flows, a line of JSON each.
pub(crate) async fn recorded_of_adyen() -> String {
    adyen::record().await.lines()
}

/// Which libraries judge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Libraries {
    Pinned,
    Latest,
}

impl Libraries {
    fn asked_for() -> Self {
        if std::env::var_os(LATEST_VARIABLE).is_some() { Self::Latest } else { Self::Pinned }
    }

    /// The folder of the Node libraries.
    fn node(self) -> PathBuf {
        let ci = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
        let folder = installed(self.folder("wires-node"), &format!("{PINS}/package-lock.json"), |folder| {
            for file in ["package.json", "package-lock.json"] {
                std::fs::copy(format!("{PINS}/{file}"), folder.join(file)).unwrap();
            }
            run(Command::new("npm").args(ci).current_dir(folder));
        });
        if self == Self::Latest {
            static NEWEST_INSTALLED: std::sync::Once = std::sync::Once::new();
            NEWEST_INSTALLED.call_once(|| {
                let install =
                    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
                run(Command::new("npm").args(install).args(NEWEST).current_dir(&folder));
            });
        }
        folder
    }

    /// A Python with the library of Modern Treasury, whose newest types are in that language.
    fn python(self) -> PathBuf {
        let pins = format!("{PINS}/requirements.txt");
        let folder = installed(self.folder("wires-python"), &pins, |folder| {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder));
            let text = std::fs::read_to_string(&pins).unwrap();
            let pin = text.lines().find(|line| line.starts_with("modern-treasury==")).unwrap();
            install_python(folder, pin);
        });
        if self == Self::Latest {
            static NEWEST_INSTALLED: std::sync::Once = std::sync::Once::new();
            NEWEST_INSTALLED.call_once(|| install_python(&folder, "modern-treasury"));
        }
        folder.join("bin/python")
    }

    fn folder(self, name: &str) -> &str {
        match (self, name) {
            (Self::Pinned, name) => name,
            (Self::Latest, "wires-node") => "wires-node-latest",
            (Self::Latest, _) => "wires-python-latest",
        }
    }

    /// Runs an adapter's judge; what it prints.
    fn judge(self, adapter: Adapter, input: &str) -> String {
        let mut command = if adapter == Adapter::ModernTreasury {
            let mut command = Command::new(self.python());
            command.arg(format!("{JUDGES}/judge.py")).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        } else {
            let mut command = Command::new("node");
            command.arg(format!("{JUDGES}/judge.mjs")).arg(adapter.as_str()).env("MODULES", self.node());
            command
        };
        let output = command.arg(input).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}\n{errors}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn install_python(folder: &Path, package: &str) {
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", package];
    run(Command::new(folder.join("bin/python")).args(install));
}

/// Judges what was recorded: nothing may be wrong, nothing may have been left out, and every planted fault is found.
async fn assert_faultless(adapter: Adapter, recording: Recording, plants: &Plants) {
    plants.plant(&recording);
    let file = place(&format!("wires-{}.jsonl", adapter.as_str()));
    std::fs::write(&file, recording.lines()).unwrap();
    let work = move || Libraries::asked_for().judge(adapter, &file.display().to_string());
    let printed = tokio::task::spawn_blocking(work).await.unwrap();
    let judged: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let (planted, faults): (Vec<Value>, Vec<Value>) =
        judged["faults"].as_array().unwrap().iter().cloned().partition(|fault| fault["plant"].is_number());
    let shapes = &judged["shapes"];
    let summary = format!(
        "{}, judged by {}: {} shapes of requests, {} of answers, {} of webhooks, {} faults",
        adapter.as_str(),
        judged["package"].as_str().unwrap(),
        shapes["requests"],
        shapes["answers"],
        shapes["webhooks"],
        faults.len()
    );
    // Past the harness, which keeps what a passing test prints.
    std::io::stdout().write_all(format!("{NOTE}{summary}\n").as_bytes()).unwrap();
    let text = |fault: &Value, field: &str| fault[field].as_str().unwrap_or_default().to_owned();
    let report = faults.iter().fold(String::new(), |mut report, fault| {
        let (call, side, field) = (text(fault, "call"), text(fault, "side"), text(fault, "field"));
        writeln!(report, "{} {call} {side} {field}: {}", adapter.as_str(), text(fault, "problem")).unwrap();
        report
    });
    assert!(faults.is_empty(), "{summary}\n{report}");
    plants.assert_found(&planted);
    let names = |field: &str| -> BTreeSet<String> {
        judged[field].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let routes = operations_of_routes(adapter);
    let left_out: Vec<_> = routes.difference(&names("answered")).cloned().collect();
    assert!(left_out.is_empty(), "routes of the simulator that were not judged: {left_out:?}");
    let called = operations_in_sources(adapter, &routes);
    let left_out: Vec<_> = called.difference(&names("sent")).cloned().collect();
    assert!(left_out.is_empty(), "calls of the adapter that were not judged: {left_out:?}");
    let left_out: Vec<_> = needed_events(adapter).difference(&names("webhooks")).cloned().collect();
    assert!(left_out.is_empty(), "events the adapter needs that were not judged: {left_out:?}");
    let judged = names("judged");
    let sent: BTreeSet<&str> = judged.iter().flat_map(|line| words_of(line)).collect();
    let sources = sources(adapter);
    let left_out: Vec<_> = parameters(&sources)
        .into_iter()
        .filter(|name| !name.starts_with(PREVIEWED) && words_of(name).any(|word| !sent.contains(word)))
        .collect();
    assert!(left_out.is_empty(), "parameters in the adapter's sources that were not judged: {left_out:?}");
    if Libraries::asked_for() == Libraries::Pinned {
        assert_as_written(adapter, &judged);
    }
}

/// Judges what was recorded by the types of a preview, which has little of the rest.
async fn assert_preview_faultless(name: &'static str, recording: &Recording) {
    let file = place(&format!("wires-{name}.jsonl"));
    std::fs::write(&file, recording.lines()).unwrap();
    let judge = move || {
        let mut command = Command::new("node");
        command.arg(format!("{JUDGES}/judge.mjs")).arg(name).arg(file);
        let output = command.env("MODULES", Libraries::Pinned.node()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let printed = tokio::task::spawn_blocking(judge).await.unwrap();
    let judged: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    // The library is of a preview before the one that is judged: of an answer it does not know what came with later releases.
    let newer = ["payment_record", "latest_charge.payment_method_details.card.electronic_commerce_indicator"];
    let faults: Vec<_> = judged["faults"].as_array().unwrap().iter().collect();
    let is_newer =
        |fault: &&&Value| fault["side"] == "answer" && newer.iter().any(|field| fault["field"] == *field);
    let faults: Vec<_> = faults.iter().filter(|fault| !is_newer(fault)).collect();
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    assert!(judged["shapes"]["requests"].as_u64() > Some(2), "{judged}");
}

/// Parameters of previews, which a test of their own judges.
const PREVIEWED: &str = "amount_details[surcharge]";

/// Compares what was judged with the list of it.
fn assert_as_written(adapter: Adapter, judged: &BTreeSet<String>) {
    let file = format!("{JUDGES}/judged/{}.txt", adapter.as_str());
    let lines = judged.iter().fold(String::new(), |text, line| text + line + "\n");
    if std::env::var_os(UPDATE_VARIABLE).is_some() {
        std::fs::write(file, lines).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let written: BTreeSet<String> = written.lines().map(str::to_owned).collect();
    let (new, gone): (Vec<_>, Vec<_>) =
        (judged.difference(&written).collect(), written.difference(judged).collect());
    assert!(
        new.is_empty() && gone.is_empty(),
        "{file} is out of date.\nnew: {new:#?}\nno longer judged: {gone:#?}\nIf that is right, write it with \
         {UPDATE_VARIABLE}=1."
    );
}

/// The names in `call request line_items[].price_data` or `line_items[0][price_data`.
fn words_of(place: &str) -> impl Iterator<Item = &str> {
    let words = place.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    words.filter(|word| word.starts_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// The events without which an adapter learns something late.
fn needed_events(adapter: Adapter) -> BTreeSet<String> {
    let sources = sources(adapter);
    let Some((_, list)) = sources.split_once("const NEEDED_EVENTS: ") else { return BTreeSet::new() };
    let list = list.split_once("= [").unwrap().1.split_once("];").unwrap().0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What the sources name as a parameter: a form's or query's, or a field of a JSON body.
fn parameters(sources: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let literal =
        |text: &str| text.strip_prefix('"').and_then(|text| text.split('"').next()).map(str::to_owned);
    for call in [".with(", ".with_some(", ".with_all(", ".append_pair(", " put("] {
        for rest in sources.split(call).skip(1) {
            let rest = rest.trim_start();
            names.extend(literal(rest.strip_prefix("&format!(").unwrap_or(rest)));
        }
    }
    // `"name":` in `json!`, and `insert("name".to_owned(), …)`, unlike a header's.
    for end in ["\":", "\".to_owned(), "] {
        let pieces: Vec<_> = sources.split(end).collect();
        for piece in &pieces[..pieces.len() - 1] {
            let name = piece.rsplit('"').next().unwrap();
            let is_inserted = end == "\":"
                || piece.trim_end_matches(name).trim_end_matches('"').trim_end().ends_with("insert(");
            let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            names.extend(Some(name.to_owned()).filter(|_| is_name && is_inserted));
        }
    }
    // The caller's own names are no parameters, nor is a number.
    let of_ours = |name: String| match name.split_once("metadata[") {
        Some((before, _)) => format!("{before}metadata"),
        None => name.split("[{").next().unwrap().to_owned(),
    };
    names.into_iter().map(of_ours).collect()
}

#[test]
fn parameters_are_found_in_sources() {
    let source = r#"Form::new().with("a[b]", x).with_some(
            "c", y).with(&format!("d[{number}]"), z); put("e", f); x.with("metadata[k]", l); json!({ "g": { "h": 1 } });
        headers.insert("not-this", 1); body.insert(
            "i".to_owned(), json!(1)); names.push("nor-this".to_owned(), 2); query.append_pair("j", "1");"#;
    let found = parameters(source);
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        ["a[b]", "c", "d", "e", "g", "h", "i", "j", "metadata"]
    );
}

/// The operations in the simulator's table of routes.
fn operations_of_routes(adapter: Adapter) -> BTreeSet<String> {
    let source = std::fs::read_to_string(format!("{ROUTES}/{}.rs", adapter.as_str())).unwrap();
    let table = source.split("const ROUTES").nth(1).and_then(|rest| rest.split("];").next()).unwrap();
    // Each row has a path and an operation between quotes.
    let quoted = table.split('"').skip(1).step_by(2);
    let operations: BTreeSet<_> = quoted.skip(1).step_by(2).map(str::to_owned).collect();
    assert!(operations.iter().all(|operation| !operation.contains('/')), "{operations:?}");
    assert!(operations.len() > 5, "{operations:?}");
    operations
}

/// Those of these operations that the adapter's sources name.
fn operations_in_sources(adapter: Adapter, known: &BTreeSet<String>) -> BTreeSet<String> {
    let sources = sources(adapter);
    known.iter().filter(|operation| sources.contains(&format!("\"{operation}\""))).cloned().collect()
}

/// An adapter's sources without their tests.
fn sources(adapter: Adapter) -> String {
    let folder = Path::new(SOURCES).join(adapter.as_str());
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(folder.with_extension("rs"));
    let is_tests = |file: &PathBuf| file.file_stem().unwrap().to_string_lossy().ends_with("_tests");
    files.retain(|file| !is_tests(file));
    let read = |file: &PathBuf| {
        let source = std::fs::read_to_string(file).unwrap();
        source.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned()
    };
    files.iter().map(read).collect()
}

#[test]
fn the_api_versions_are_those_of_the_libraries() {
    let node = Libraries::Pinned.node();
    let settings = ProviderSettings::default();
    let version = std::fs::read_to_string(node.join("node_modules/stripe/esm/apiVersion.d.ts")).unwrap();
    assert!(version.contains(&format!("\"{}\"", settings.stripe_version)), "{version}");
    let client = std::fs::read_to_string(node.join("node_modules/square/BaseClient.js")).unwrap();
    assert!(client.contains(&format!("\"{}\"", settings.square_version)));
}

/// What a library says about one parameter or answer field of a call.
#[derive(Default)]
struct Field {
    is_required: bool,
    /// The values it can have, where they are listed.
    values: BTreeSet<String>,
}

/// A judge's lines: `call parameter: name`, with ` (required)` or ` = value | value` behind it.
fn fields(lines: &str) -> BTreeMap<String, Field> {
    let mut fields = BTreeMap::<String, Field>::new();
    for line in lines.lines() {
        if let Some((place, values)) = line.split_once(" = ") {
            let values = values.split(" | ").map(str::to_owned);
            fields.entry(place.to_owned()).or_default().values.extend(values);
        } else {
            let place = line.trim_end_matches(" (required)");
            fields.entry(place.to_owned()).or_default().is_required |= place != line;
        }
    }
    fields
}

/// What changed from the pinned library to the newest, a sentence each.
fn changes(pinned: &BTreeMap<String, Field>, newest: &BTreeMap<String, Field>) -> Vec<String> {
    let mut changes = Vec::new();
    for (place, before) in pinned {
        let Some(after) = newest.get(place) else {
            changes.push(format!("removed: {place}"));
            continue;
        };
        if before.is_required != after.is_required {
            let now = if after.is_required { "now required" } else { "no longer required" };
            changes.push(format!("{now}: {place}"));
        }
        for value in before.values.difference(&after.values) {
            changes.push(format!("value removed: {place} can no longer be {value}"));
        }
        for value in after.values.difference(&before.values) {
            changes.push(format!("value added: {place} can be {value}"));
        }
    }
    let is_new = |place: &&String| !pinned.contains_key(*place);
    for (place, field) in newest.iter().filter(|(place, _)| is_new(place)) {
        changes.push(format!("added: {place}{}", if field.is_required { " (required)" } else { "" }));
    }
    changes
}

#[test]
fn a_change_of_a_library_is_said_in_words() {
    let pinned = fields(
        "a.create parameter: x\na.create parameter: y (required)\na.create parameter: kind = card | old",
    );
    let newest =
        fields("a.create parameter: x (required)\na.create parameter: kind = card | new\na.create answer: z");
    assert_eq!(
        changes(&pinned, &newest),
        [
            "value removed: a.create parameter: kind can no longer be old",
            "value added: a.create parameter: kind can be new",
            "now required: a.create parameter: x",
            "removed: a.create parameter: y",
            "added: a.create answer: z",
        ]
    );
    assert!(changes(&newest, &newest).is_empty());
}

/// Prints what the newest libraries changed about the parameters and answer fields of our calls. Part of `make wires-latest`.
#[test]
#[ignore = "installs the newest libraries; run by `make wires-latest`"]
fn what_the_newest_libraries_changed() {
    let mut report = String::new();
    for adapter in Adapter::ALL {
        let [pinned, newest] = [Libraries::Pinned, Libraries::Latest].map(|libraries| {
            let printed = libraries.judge(adapter, "--fields");
            let (library, lines) = printed.split_once('\n').unwrap();
            (library.to_owned(), fields(lines))
        });
        let changes = changes(&pinned.1, &newest.1);
        writeln!(report, "\n{}: pinned is {}, newest is {}", adapter.as_str(), pinned.0, newest.0).unwrap();
        if changes.is_empty() {
            let count = newest.1.len();
            writeln!(
                report,
                "  nothing changed in the {count} parameters, answer and webhook fields of our calls"
            )
            .unwrap();
        }
        for change in changes {
            writeln!(report, "  {change}").unwrap();
        }
    }
    report.push_str(
        "\nBefore a newer library is pinned: stop sending what was removed, send what is now required, and look for code that \
         reads removed fields or values.",
    );
    println!("{report}");
}
