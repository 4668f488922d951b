//! The page that shows the OpenAPI document. Its script is part of the program.

use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Value, json};
use tollgate_docs::{Keep, StaticFile};
use tollgate_vault::Secret;

const PAGE: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Tollgate API reference</title></head>
<body><script id="api-reference" type="application/json" data-url="/openapi.json" data-configuration="CONFIGURATION"></script>
<script src="/docs/reference.js?of=VERSION"></script></body></html>"#;

/// The document and its page, as they are served.
pub(crate) struct Reference {
    pub(crate) page: Bytes,
    make_document: fn() -> Value,
    document: OnceLock<StaticFile>,
}

impl Reference {
    /// With a key filled in on the page, for a sandbox.
    pub(crate) fn new(make_document: fn() -> Value, key: Option<&Secret>) -> Self {
        Self { page: html(key).into(), make_document, document: OnceLock::new() }
    }

    /// The document, which is made when it is first asked for.
    pub(crate) fn document(&self) -> &StaticFile {
        self.document.get_or_init(|| {
            StaticFile::new("application/json", Keep::Validate, (self.make_document)().to_string())
        })
    }
}

/// The page, with a key filled in if there is one.
pub(crate) fn html(key: Option<&Secret>) -> String {
    PAGE.replace("VERSION", env!("CARGO_PKG_VERSION"))
        .replace("CONFIGURATION", &escaped(&configuration(key).to_string()))
}

fn configuration(key: Option<&Secret>) -> Value {
    let preferred = "secretKey";
    let authentication = match key {
        None => json!({"preferredSecurityScheme": preferred}),
        Some(key) => json!({
            "preferredSecurityScheme": preferred,
            "securitySchemes": {preferred: {"token": key.expose()}},
        }),
    };
    json!({
        "authentication": authentication,
        "withDefaultFonts": false,
        "telemetry": false,
        "agent": {"disabled": true},
        "mcp": {"disabled": true},
        "hideClientButton": true,
        "showDeveloperTools": "never",
        // The rest stays in a menu beside these.
        "featuredClients": ["shell/curl", "node/fetch", "python/requests", "go/native"],
        "defaultHttpClient": {"targetKey": "shell", "clientKey": "curl"},
        "persistAuth": false,
        "metaData": {"title": "Tollgate API reference"},
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}
