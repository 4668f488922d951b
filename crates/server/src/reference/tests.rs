use std::{collections::BTreeSet, env, fmt::Write, fs, path::Path};

use super::{
    document::{collect_references, described, document},
    operation::Described,
    page,
    schemas::Schemas,
};
use crate::{response::error_code::ErrorCode, router::OPERATIONS};

/// Says how to take a change over.
const UPDATE: &str = "TOLLGATE_UPDATE_DOCS";

/// Holds a file of the repository against what the code says.
#[track_caller]
fn check_snapshot(file: &str, made: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    if env::var_os(UPDATE).is_some() {
        fs::write(&place, made).unwrap();
        return;
    }
    let kept = fs::read_to_string(&place).unwrap_or_default();
    let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    let line = differs.unwrap_or_else(|| kept.lines().count().min(made.lines().count())) + 1;
    assert!(
        kept == made,
        "the API has changed: docs/{file} is out of date from line {line} on.\nTake the change over with \
         `{UPDATE}=1 cargo test -p tollgate-server reference`, look at the difference, and commit it."
    );
}

#[test]
fn every_operation_is_described_once_and_nothing_else_is() {
    let routed: BTreeSet<_> =
        OPERATIONS.iter().filter(|route| !route.path.is_empty()).map(|route| route.name).collect();
    let described = described(&mut Schemas::default());
    let names: BTreeSet<_> = described.iter().map(Described::name).collect();
    let undescribed: Vec<_> = routed.difference(&names).collect();
    let unrouted: Vec<_> = names.difference(&routed).collect();
    assert!(
        undescribed.is_empty(),
        "these operations of router.rs are not described in reference/: {undescribed:?}"
    );
    assert!(unrouted.is_empty(), "these operations are described and not in router.rs: {unrouted:?}");
    assert_eq!(described.len(), names.len(), "an operation is described twice");
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    assert!(references.len() > 100, "{references:?}");
    for reference in &references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
    }
}

#[test]
fn the_document_is_the_one_in_the_repository() {
    check_snapshot("openapi.json", &format!("{:#}\n", document()));
}

#[test]
fn the_error_reference_is_the_one_in_the_repository() {
    check_snapshot("errors.md", &errors());
}

/// The error reference.
fn errors() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Generated from `crates/server/src/error_code.rs`; a test keeps it in sync.\n\n\
         A failure is `{\"success\":false,\"data\":null,\"message\":\"…\",\"error\":{\"code\",\"requestId\",\"details\"}}`. \
         Programs use `error.code`, people read `message`, and `details` lists every invalid field. Quote `requestId` \
         (also the `Request-Id` header) when you report something. `Retry-After` comes with 429 and with a 503 that \
         goes away by itself.\n\n\
         | Status | `error.code` | When | What to do |\n|---|---|---|---|\n",
    );
    for code in ErrorCode::ALL {
        let (status, when, remedy) = (code.status().as_u16(), code.when(), code.remedy());
        writeln!(page, "| {status} | `{}` | {when} | {remedy} |", code.as_str()).unwrap();
    }
    page
}

#[test]
fn the_page_has_a_key_only_where_one_is_given() {
    let key = tollgate_vault::Secret::new("sk_test_shown\"<");
    assert!(page::html(Some(&key)).contains("&quot;token&quot;:&quot;sk_test_shown\\&quot;&lt;&quot;"));
    assert!(!page::html(None).contains("token"));
}
