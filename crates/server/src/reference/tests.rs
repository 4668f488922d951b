use std::{collections::BTreeSet, env, fmt::Write, fs, path::Path};

use super::{
    descriptions,
    document::{collect_references, document},
    operation::texts,
    page,
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
    let described = texts();
    let names: BTreeSet<_> = described.iter().map(|text| text.name).collect();
    let undescribed: Vec<_> = routed.difference(&names).collect();
    let unrouted: Vec<_> = names.difference(&routed).collect();
    assert!(
        undescribed.is_empty(),
        "these operations of router.rs are not described in reference/operations.txt: {undescribed:?}"
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
fn every_property_is_described() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut missing = Vec::new();
    let mut count = 0;
    for (schema, definition) in schemas {
        for (name, property) in definition["properties"].as_object().into_iter().flatten() {
            count += 1;
            if !descriptions::is_described(property.as_object().unwrap()) {
                missing.push(format!("{schema}.{name}"));
            }
        }
    }
    assert!(count > 900, "{count}");
    assert!(missing.is_empty(), "say what they are, on the type or in descriptions.txt: {missing:?}");
}

#[test]
fn every_description_is_used() {
    let text = document().to_string();
    let unused: Vec<_> =
        descriptions::table().into_values().filter(|sentence| !text.contains(sentence)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn the_document_is_the_one_in_the_repository() {
    check_snapshot("openapi.json", &format!("{:#}\n", document()));
}

#[test]
fn the_error_reference_is_the_one_in_the_repository() {
    check_snapshot("errors.md", &errors());
}

/// The error reference, with a heading for each code: `error.docs` leads to its anchor.
fn errors() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Generated from `crates/server/src/response/error_code.rs`; a test keeps it in sync.\n\n\
         A failure is `{\"success\":false,\"data\":null,\"message\":\"…\",\"error\":{\"code\",\"requestId\",\"details\",\"docs\"}}`. \
         Programs use `error.code`, people read `message`, `details` lists every invalid field, and `docs` leads to the code on \
         the server's own page `/docs/errors`. Quote `requestId` \
         (also the `Request-Id` header) when you report something. `Retry-After` comes with 429 and with a 503 that \
         goes away by itself.\n",
    );
    for code in ErrorCode::ALL {
        let (name, status, when, remedy) =
            (code.as_str(), code.status().as_u16(), code.when(), code.remedy());
        write!(page, "\n## `{name}`\n\nStatus {status}. {when}\n\n{remedy}\n").unwrap();
    }
    page
}

#[test]
fn the_examples_page_is_the_one_in_the_repository() {
    check_snapshot("api-examples.md", &examples_page());
}

/// The client API's examples as a page.
fn examples_page() -> String {
    let mut page = String::from(
        "# API examples\n\n\
         Generated from the OpenAPI document; a test keeps it in sync.\n\n\
         Every operation of the client API with a call and its answer, recorded from a sandbox: only IDs, times and tokens are \
         replaced. The programs use `TOLLGATE_URL` and `TOLLGATE_KEY`; TypeScript and Python use the [SDKs](sdks.md). The page \
         `/docs` of a server has the same calls in Go, and operators' calls. [Errors](errors.md) explains every failure.\n",
    );
    let document = document();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(samples) = operation["x-codeSamples"].as_array() else { continue };
            let method = method.to_ascii_uppercase();
            write!(page, "\n## {}\n\n`{method} {path}`\n", operation["summary"].as_str().unwrap()).unwrap();
            for sample in samples.iter().filter(|sample| sample["lang"] != "go") {
                let language = sample["lang"].as_str().unwrap().replace("curl", "sh");
                write!(page, "\n```{language}\n{}\n```\n", sample["source"].as_str().unwrap()).unwrap();
            }
            let responses = operation["responses"].as_object().unwrap();
            let answers = responses.iter().filter_map(|(status, response)| {
                response.pointer("/content/application~1json/example").map(|example| (status, example))
            });
            let (status, answer) = answers.min_by_key(|(status, _)| status.as_str() != "201").unwrap();
            write!(page, "\nAnswer, status {status}:\n\n```json\n{answer:#}\n```\n").unwrap();
        }
    }
    page
}

#[test]
fn every_operation_of_the_client_api_has_samples() {
    let document = document();
    let operations =
        document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/client/"));
    let mut count = 0;
    for operation in operations.flat_map(|(_, methods)| methods.as_object().unwrap().values()) {
        let languages = operation["x-codeSamples"].as_array().into_iter().flatten().map(|it| &it["lang"]);
        let languages: Vec<_> = languages.collect();
        assert_eq!(languages, ["curl", "typescript", "python", "go"], "{}", operation["operationId"]);
        count += 1;
    }
    assert!(count > 15, "{count}");
}

#[tokio::test]
async fn every_failure_points_to_its_place_on_the_page() {
    let page = tollgate_docs::respond("/docs/errors", None, &http::HeaderMap::new());
    let page = http_body_util::BodyExt::collect(page.into_body()).await.unwrap().to_bytes();
    let page = String::from_utf8(page.to_vec()).unwrap();
    for code in ErrorCode::ALL {
        let anchor = code.docs().strip_prefix("/docs/errors#").unwrap();
        assert_eq!(anchor, code.as_str());
        assert!(page.contains(&format!(r#"<h2 id="{anchor}">"#)), "{anchor}");
    }
    assert!(page.contains("<code>GET /client/v1/payments/&lt;reference&gt;</code>"), "{page}");
}

#[test]
fn the_page_has_a_key_only_where_one_is_given() {
    let key = tollgate_vault::Secret::new("sk_test_shown\"<");
    assert!(page::html(Some(&key)).contains("&quot;token&quot;:&quot;sk_test_shown\\&quot;&lt;&quot;"));
    assert!(!page::html(None).contains("token"));
}
