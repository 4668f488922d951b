//! The files of `deploy/`: what they name exists.

use std::{collections::BTreeSet, fs, process::Command};

use serde_json::Value;

use crate::support::{Start, python};

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");

/// Findings about settings and machines, which change with a deployment and are for `tollgate doctor` after it.
const WITHOUT_ALERT: &[&str] = &[
    "API version",
    "address",
    "disk",
    "durability",
    "environments",
    "erasure",
    "fees",
    "keys",
    "live check",
    "master_key",
    "mode",
    "standby",
    "version",
];

fn text(file: &str) -> String {
    fs::read_to_string(format!("{DEPLOY}/{file}")).unwrap()
}

/// The documents of YAML files; Kubernetes objects among them are validated.
fn documents(files: &[&str]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deploy/read.py");
    let files = files.iter().map(|file| format!("{DEPLOY}/{file}"));
    let output = Command::new(python("deploy")).arg(script).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names of our metrics in a text.
fn metrics_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("tollgate_")).collect()
}

#[test]
fn dashboard_and_alerts_name_metrics_that_are_served() {
    let server = Start::sandbox().run();
    let served = String::from_utf8(server.client("").get("/metrics").body).unwrap();
    let served = metrics_in(&served);
    for file in ["grafana-dashboard.json", "alerts.yml"] {
        let text = text(file);
        let named = metrics_in(&text);
        assert!(named.len() > 15, "{file}: {named:?}");
        let unknown: Vec<_> = named.difference(&served).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}, and /metrics has no such thing");
    }
    let dashboard: Value = serde_json::from_str(&text("grafana-dashboard.json")).unwrap();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let queries = panel["targets"].as_array().cloned().unwrap_or_default();
        assert_eq!(queries.is_empty(), panel["type"] == "row", "{panel}");
    }
}

/// The names under which the doctor reports, as its sources write them.
fn doctors_names() -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src");
    let files = fs::read_dir(format!("{folder}/doctor")).unwrap().map(|file| file.unwrap().path());
    let files = files.chain([format!("{folder}/doctor.rs").into()]);
    let mut names = BTreeSet::new();
    for file in files {
        let source = fs::read_to_string(file).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        for call in ["Check::ok(", "Check::warning(", "Check::problem("] {
            let literals = source.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
            names.extend(literals.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
        // Those that are counted have their names in a table.
        let counted =
            source.split(", Area::").filter_map(|before| before.rsplit_once("(\"")?.1.strip_suffix('"'));
        names.extend(
            counted.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase())).map(str::to_owned),
        );
    }
    names
}

#[test]
fn every_finding_of_the_doctor_has_an_alert_or_needs_none() {
    let [alerts] = <[Value; 1]>::try_from(documents(&["alerts.yml"])).unwrap();
    let groups = alerts["groups"].as_array().unwrap();
    let mut names = BTreeSet::new();
    for rule in groups.iter().flat_map(|group| group["rules"].as_array().unwrap()) {
        assert!(names.insert(rule["alert"].as_str().unwrap()), "{rule}");
        assert!(["warning", "problem"].contains(&rule["labels"]["severity"].as_str().unwrap()), "{rule}");
        assert!(!rule["annotations"]["summary"].as_str().unwrap().is_empty(), "{rule}");
        assert!(rule["expr"].is_string(), "{rule}");
    }
    let doctors = groups.iter().find(|group| group["name"] == "tollgate-doctor").unwrap();
    let check = |rule: &Value| rule["labels"]["check"].as_str().unwrap().to_owned();
    let mut covered: BTreeSet<_> = doctors["rules"].as_array().unwrap().iter().map(check).collect();
    covered.extend(WITHOUT_ALERT.iter().map(|name| (*name).to_owned()));
    assert_eq!(covered, doctors_names());
}

const MANIFESTS: [&str; 2] = ["kubernetes/tollgate.yaml", "kubernetes/tollgate-sqlite.yaml"];

#[test]
fn manifests_are_valid_and_name_what_exists() {
    let settings = include_str!("../../../../docs/operating.md");
    let objects = documents(&MANIFESTS);
    let pods: Vec<_> =
        objects.iter().map(|it| &it["spec"]["template"]["spec"]).filter(|it| it.is_object()).collect();
    assert_eq!(pods.len(), 2, "a Deployment and a StatefulSet");
    for pod in pods {
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        // As deploy/Containerfile has it.
        assert!(text("Containerfile").contains(&format!("--uid {} ", pod["securityContext"]["runAsUser"])));
        let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("{pod}") };
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
        let path = |probe: &str| container[probe]["httpGet"]["path"].as_str().unwrap().to_owned();
        assert_eq!((path("livenessProbe"), path("readinessProbe")), ("/healthz".into(), "/readyz".into()));
        let secret = container["envFrom"].as_array().unwrap().iter().any(|it| it["secretRef"].is_object());
        assert!(secret, "secrets come from a Secret");
        assert_eq!(container["readinessProbe"]["httpGet"]["scheme"], "HTTPS", "traffic to pods is encrypted");
        let ports = container["ports"].as_array().unwrap();
        assert!(ports.iter().any(|port| port["name"] == "admin"), "operators have a listener of their own");
    }
    for object in objects.iter().filter(|object| object["kind"] == "ConfigMap") {
        assert!(object["data"]["TOLLGATE_TRUSTED_PROXIES"].is_null(), "no range of pods is believed");
    }
    assert!(objects.iter().all(|object| object["kind"] != "Secret"), "no secret is in a file");
    let text = MANIFESTS.map(text).concat();
    let words = text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
    for name in words.filter(|word| word.starts_with("TOLLGATE_")) {
        assert!(settings.contains(&format!("`{name}`")), "{name} is no setting");
    }
}
