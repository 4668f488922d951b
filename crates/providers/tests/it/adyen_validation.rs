//! Every exchange of the Adyen adapter with its simulator, and every webhook, against the provider's published OpenAPI documents:
//! requests, answers and notifications of all flows, judged by a validator that this project did not write. `validators` says where
//! the documents come from.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::child::place;
use crate::validators::{documents, validators};
use crate::wires::recorded_of_adyen;

const JUDGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validators/document.mjs");

/// The faults that are found, and what was judged.
fn judge(documents: &Path, lines: &str) -> (Vec<String>, Value) {
    let recording = place("adyen.recording");
    std::fs::write(&recording, lines).unwrap();
    let mut command = Command::new("node");
    command.arg(JUDGE).arg(recording).env("MODULES", validators());
    for name in ["adyen-checkout", "adyen-webhooks"] {
        command.arg(documents.join(format!("{name}.openapi.json")));
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<_> = said.lines().map(str::to_owned).collect();
    let judged = lines.pop().unwrap();
    (lines, serde_json::from_str(&judged).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_adyen_exchange_and_webhook_fits_the_published_documents() {
    let Some(documents) = documents() else { return };
    let lines = recorded_of_adyen().await;
    let both = lines.clone();
    let (faults, judged) = {
        let documents = documents.clone();
        tokio::task::spawn_blocking(move || judge(&documents, &both)).await.unwrap()
    };
    assert_eq!(faults, Vec::<String>::new(), "{judged}");
    for kind in ["requests", "answers", "webhooks"] {
        assert!(judged[kind].as_u64().unwrap() >= 30, "{judged}");
    }
    println!("judged by the published documents: {judged}");

    // The validator can say no.
    for (place, from, to) in [
        ("body", "returnUrl", "returnURL"),
        ("body", r#""value":2000"#, r#""value":"2000""#),
        ("answer", "sessionData", "sessionDatum"),
        ("webhook", "pspReference", "pspreference"),
        ("webhook", r#""success":"true""#, r#""success":true"#),
    ] {
        let is_it = |line: &Value| line[place].as_str().is_some_and(|text| text.contains(from));
        let all = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut wrong = all.into_iter().find(is_it).unwrap_or_else(|| panic!("no {place} has {from}"));
        wrong[place] = wrong[place].as_str().unwrap().replace(from, to).into();
        let documents = documents.clone();
        let found = tokio::task::spawn_blocking(move || judge(&documents, &wrong.to_string())).await.unwrap();
        assert!(!found.0.is_empty(), "{place}: {from} as {to}");
    }
}
