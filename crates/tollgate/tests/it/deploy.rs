//! The files of `deploy/`: what they name exists.

use std::{collections::BTreeSet, env, fs, process::Command};

use serde_json::{Value, json};

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
    let files: Vec<_> = files.iter().map(|file| format!("{DEPLOY}/{file}")).collect();
    documents_at(&files)
}

fn documents_at(files: &[String]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deploy/read.py");
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

/// The chart with these values over its own; `Err`: what its schema or its templates say against them.
fn rendered(values: &Value) -> Result<String, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deploy/render.py");
    let chart = format!("{DEPLOY}/chart");
    let output =
        Command::new(python("deploy")).args([script, &*chart, &*values.to_string()]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if output.status.success() { Ok(String::from_utf8(output.stdout).unwrap()) } else { Err(said) }
}

/// What a pod's container has as this setting.
fn setting<'a>(pod: &'a Value, name: &str) -> Option<&'a str> {
    let settings = pod["containers"][0]["env"].as_array().unwrap();
    settings.iter().find(|setting| setting["name"] == name).map(|setting| setting["value"].as_str().unwrap())
}

#[test]
fn manifests_are_what_the_chart_renders() {
    for (file, store) in MANIFESTS.iter().zip(["postgresql", "sqlite"]) {
        let head = "# For those without Helm: what deploy/chart renders with its own values";
        let made = format!("{head}, store: {store}.\n{}", rendered(&json!({"store": store})).unwrap());
        if env::var_os("TOLLGATE_UPDATE_DOCS").is_some() {
            fs::write(format!("{DEPLOY}/{file}"), &made).unwrap();
        }
        assert!(text(file) == made, "{file}: run this test with TOLLGATE_UPDATE_DOCS=1");
    }
}

#[test]
fn the_chart_takes_other_values_and_refuses_wrong_ones() {
    let digest = format!("sha256:{}", "0f".repeat(32));
    let values = json!({
        "store": "postgresql", "replicas": 5, "trustedProxies": "10.0.0.7",
        "image": {"repository": "ghcr.example/tollgate", "digest": digest},
        "settings": {"TOLLGATE_LOG": "info,tollgate_store=\"debug\""},
        "nodeSelector": {"disk": "fast"},
        "probes": {"liveness": {"periodSeconds": 30}},
        "networkPolicy": {"operators": ["staff"], "collector": {"namespace": ""}},
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rendered.yaml");
    fs::write(&file, rendered(&values).unwrap()).unwrap();
    let objects = documents_at(&[file.to_str().unwrap().to_owned()]);
    let of_kind = |kind: &str| objects.iter().find(|object| object["kind"] == kind).unwrap();
    let nodes = &of_kind("Deployment")["spec"];
    assert_eq!(nodes["replicas"], 5);
    let pod = &nodes["template"]["spec"];
    assert_eq!(pod["containers"][0]["image"], format!("ghcr.example/tollgate@{digest}"));
    assert_eq!(pod["nodeSelector"]["disk"], "fast");
    let alive = &pod["containers"][0]["livenessProbe"];
    assert_eq!((&alive["periodSeconds"], &alive["timeoutSeconds"]), (&json!(30), &json!(3)));
    // In the pod itself: a ConfigMap that changes starts no node anew.
    assert!(objects.iter().all(|object| object["kind"] != "ConfigMap"));
    assert_eq!(setting(pod, "TOLLGATE_LOG"), Some("info,tollgate_store=\"debug\""));
    assert_eq!(setting(pod, "TOLLGATE_TRUSTED_PROXIES"), Some("10.0.0.7"));
    assert_eq!(setting(pod, "TOLLGATE_PUBLIC_URL"), Some("https://pay.example.com"));
    let policy = of_kind("NetworkPolicy")["spec"].to_string();
    assert!(policy.contains("staff") && !policy.contains("4318") && policy.contains("5432"), "{policy}");
    let open = rendered(&json!({"networkPolicy": {"enabled": false}})).unwrap();
    assert!(!open.contains("kind: NetworkPolicy"), "{open}");
    for (wrong, field) in [
        (json!({"store": "mysql"}), "store"),
        (json!({"replicas": 0}), "replicas"),
        (json!({"image": {"digest": "latest"}}), "digest"),
        (json!({"settings": {"TOLLGATE_MASTER_KEY": "in plain sight"}}), "settings"),
        (json!({"settings": {"TOLLGATE_LISTEN": "twice"}}), "settings"),
        (json!({"storrage": {}}), "storrage"),
        (json!({"probes": {"readiness": {"timeoutSeconds": 0}}}), "readiness"),
    ] {
        let said = rendered(&wrong).unwrap_err();
        assert!(said.contains(field), "{wrong}: {said}");
    }
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
        // As the image has it.
        let user = &pod["securityContext"]["runAsUser"];
        assert!(text("image-root.sh").contains(&format!("tollgate:x:{user}:{user}:")));
        assert!(text("Containerfile").contains(&format!("\nUSER {user}:{user}\n")));
        let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("{pod}") };
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
        let path = |probe: &str| container[probe]["httpGet"]["path"].as_str().unwrap().to_owned();
        assert_eq!((path("livenessProbe"), path("readinessProbe")), ("/healthz".into(), "/readyz".into()));
        let secret = container["envFrom"].as_array().unwrap().iter().any(|it| it["secretRef"].is_object());
        assert!(secret, "secrets come from a Secret");
        assert_eq!(setting(pod, "TOLLGATE_TRUSTED_PROXIES"), None, "no range of pods is believed");
        assert_eq!(container["readinessProbe"]["httpGet"]["scheme"], "HTTPS", "traffic to pods is encrypted");
        let ports = container["ports"].as_array().unwrap();
        assert!(ports.iter().any(|port| port["name"] == "admin"), "operators have a listener of their own");
    }
    assert!(objects.iter().all(|object| object["kind"] != "Secret"), "no secret is in a file");
    let text = MANIFESTS.map(text).concat();
    let words = text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
    for name in words.filter(|word| word.starts_with("TOLLGATE_")) {
        assert!(settings.contains(&format!("`{name}`")), "{name} is no setting");
    }
}

#[test]
fn an_ingress_is_told_every_path_of_callers_customers_and_providers() {
    let production = include_str!("../../../../docs/production.md");
    let (nginx, kubernetes) = production.split_once("### Kubernetes").unwrap();
    let manifests = MANIFESTS.map(text);
    let texts = [nginx, kubernetes].into_iter().chain(manifests.iter().map(String::as_str));
    for (number, text) in texts.enumerate() {
        for path in ["/client/v1", "/webhooks/v1", "/checkout", "/tollgate.js", "/scripts", "/csp-reports"] {
            assert!(text.contains(path), "text {number} does not name {path}");
        }
    }
}
