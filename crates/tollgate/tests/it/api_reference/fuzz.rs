//! Schemathesis: thousands of requests made from the document, valid and not, each answer held against it.

use std::{
    env,
    fs::{self, File},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use super::{SCRIPTS, python::programs, scene::Scene};
use crate::support::alone;

/// A minute on two idle cores; this is for busy ones and for long runs, and bounds what hangs.
const WHOLE_RUN_MAX: Duration = Duration::from_hours(1);

/// Another one by `TOLLGATE_FUZZ_SEED`.
const DEFAULT_SEED: u32 = 20_261_115;

/// Random requests per operation, beside those at every boundary of its document. Another number by
/// `TOLLGATE_FUZZ_EXAMPLES`; `make fuzz` is the long run.
const DEFAULT_EXAMPLES: &str = "5";

/// The operations in parts that take about as long as each other; each has a server of its own, so that none changes the
/// configuration that another depends on.
const LANES: [(&str, &str, &[&str]); 3] = [
    ("client", "secretKey", &["Fees", "Card payments", "Bank transfers", "Refunds", "Transactions"]),
    ("tenants", "adminToken", &["Tenants", "People", "Configuration", "Wallets"]),
    ("operations", "adminToken", &["Events", "Operations", "Service"]),
];

/// A run of schemathesis against a server of its own. Dropped, both end.
struct Lane {
    name: &'static str,
    child: Child,
    report: std::path::PathBuf,
    scene: Scene,
    _facts: tempfile::NamedTempFile,
}

impl Drop for Lane {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn every_answer_keeps_to_the_document() {
    let _turn = alone();
    let started = Instant::now();
    let seed = env::var("TOLLGATE_FUZZ_SEED").unwrap_or_else(|_| DEFAULT_SEED.to_string());
    println!("TOLLGATE_FUZZ_SEED={seed}");
    // Callers' operations in every run of the tests, operators' in the long one.
    let is_long = env::var_os("TOLLGATE_FUZZ_EXAMPLES").is_some();
    let wanted = LANES.iter().take(if is_long { LANES.len() } else { 1 });
    let mut lanes: Vec<_> =
        wanted.map(|(name, credential, tags)| start(name, credential, tags, &seed)).collect();
    let tagged: Vec<_> = LANES.iter().flat_map(|(_, _, tags)| *tags).collect();
    for tag in lanes[0].scene.document["tags"].as_array().unwrap() {
        assert!(tagged.iter().any(|known| tag["name"] == **known), "no lane has the operations of {tag}");
    }
    let mut failed = Vec::new();
    for lane in &mut lanes {
        let status = loop {
            if let Some(status) = lane.child.try_wait().unwrap() {
                break status;
            }
            assert!(started.elapsed() < WHOLE_RUN_MAX, "{} was not done within {WHOLE_RUN_MAX:?}", lane.name);
            std::thread::sleep(Duration::from_millis(100));
        };
        let report = fs::read_to_string(&lane.report).unwrap_or_default();
        let count = report.lines().find(|line| line.contains(" generated,")).unwrap_or("no cases").trim();
        println!("{}: {count}, done after {:?}", lane.name, started.elapsed());
        if !status.success() {
            failed.push(format!("{}: {status}\n{report}", lane.name));
        }
    }
    assert!(failed.is_empty(), "with seed {seed}:\n{}", failed.join("\n"));
}

fn start(name: &'static str, credential: &str, tags: &[&str], seed: &str) -> Lane {
    let programs = programs("fuzz-requirements.txt");
    let scene = Scene::start();
    // The document allows fields that a request does not know.
    scene.server.ignore_unknown_fields();
    let facts = tempfile::NamedTempFile::new().unwrap();
    let known = json!({"ids": scene.ids_by_format(), "customerTokens": [scene.customer_token]});
    fs::write(facts.path(), known.to_string()).unwrap();
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("schemathesis-{name}.log"));
    let mut command = Command::new(programs.join("schemathesis"));
    command
        .args(["--config-file", &format!("{SCRIPTS}/schemathesis.toml"), "run"])
        .arg(format!("http://{}/openapi.json", scene.server.address()))
        .args([
            "--checks",
            "all",
            "--phases",
            "coverage,fuzzing",
            "--max-examples",
            &env::var("TOLLGATE_FUZZ_EXAMPLES").unwrap_or_else(|_| DEFAULT_EXAMPLES.to_owned()),
            "--continue-on-failure",
            "--seed",
            seed,
        ])
        // Python's own threads get in each other's way; the lanes are what runs side by side.
        .args(["--workers", "1"]);
    for tag in tags {
        command.args(["--include-tag", tag]);
    }
    let output = File::create(&report).unwrap();
    let child = command
        .env("CREDENTIAL", scene.server.sandbox_client(credential).credential)
        .env("FACTS", facts.path())
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", SCRIPTS)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("NO_COLOR", "1")
        .current_dir(scene.server.data_dir.as_path())
        .stdin(Stdio::null())
        .stderr(output.try_clone().unwrap())
        .stdout(output)
        .spawn()
        .unwrap();
    Lane { name, child, report, scene, _facts: facts }
}
