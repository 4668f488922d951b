//! The document as a whole.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    reference::{
        descriptions,
        examples::Examples,
        failures::{self, FailureResponses},
        operations,
    },
    types::{
        scalars,
        schemas::{Schemas, WARNINGS},
    },
};

/// The groups of the document, in their order.
const TAGS: &[(&str, &str)] = &[
    ("Fees", "The cost of a payment before it is made."),
    ("Card payments", "Hosted checkout and embedded components."),
    ("Bank transfers", "ACH: customer tokens, previews, transfers."),
    ("Refunds", "Card payments given back, in whole or in part."),
    ("Transactions", "Transactions and wallet balances."),
    ("Tenants", "Organizations, applications, environments and their keys. For operators."),
    ("People", "Users, their roles and personal tokens. For admins."),
    ("Configuration", "Providers, routing, fees and settings of an environment. For operators."),
    ("Wallets", "Funds of an environment and their ledger. For operators."),
    ("Events", "Webhook events, endpoints and deliveries. For operators."),
    ("Operations", "Payments with their timelines, exceptions, provider events, audit. For operators."),
    ("Service", "Endpoints for providers, customers and monitoring."),
];

const ABOUT: &str = "\
One API in front of card and bank-transfer providers: it routes payments, adds fees, and records what became of them.

Every answer is an envelope: `{\"success\":true,\"data\":{…},\"message\":null}`, or a failure with `error.code`, \
`error.requestId` and every faulty field in `error.details`. Every answer carries `Request-Id`; an `X-Request-Id` of \
your own is recorded beside it. Amounts are whole numbers of minor units: strings of digits in answers, strings or \
JSON integers in requests. A field that a request does not know is ignored and named in the answer's `warnings`; \
with `settings.strictFields`, as in the sandbox, it is refused.

The paths below `/client/v1` take an API key, those below `/admin/v1` an operator's personal token or the admin token, both as \
`Authorization: Bearer …`.

Guides, concepts and everything for operators: [the documentation](/docs/overview).";

/// The document, made from the router and what is said of each of its operations.
pub(crate) fn document() -> Value {
    let mut schemas = Schemas::default();
    let examples = Examples::recorded();
    let (mut paths, mut responses) = (Map::new(), FailureResponses::default());
    for operation in operations::all(&mut schemas) {
        let (path, method, rendered) = operation.render(&mut responses, &examples);
        paths.entry(path).or_insert_with(|| json!({}))[method] = rendered;
    }
    schemas.put("Failure", failures::schema());
    schemas.put(WARNINGS, failures::warnings_schema());
    schemas.put("FailureDetail", failures::detail_schema());
    schemas.put("FaultyField", failures::faulty_field_schema());
    schemas.put("ErrorCode", failures::code_schema());
    schemas.reference::<scalars::CurrencyInput>();
    let tags = TAGS.iter().map(|(name, description)| json!({"name": name, "description": description}));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tollgate",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": tags.collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": schemas.render(),
            "responses": responses.render(),
            "headers": headers(),
            "examples": failures::examples(&examples),
            "securitySchemes": security_schemes(),
        },
    });
    while prune(&mut document) {}
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        descriptions::describe(schemas);
    }
    document
}

/// Takes out the schemas that nothing refers to, and says whether there were any: those that were flattened into others.
fn prune(document: &mut Value) -> bool {
    let mut references = BTreeSet::new();
    collect_references(document, &mut references);
    let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) else {
        return false;
    };
    let before = schemas.len();
    schemas.retain(|name, _| references.contains(&format!("#/components/schemas/{name}")));
    schemas.len() < before
}

/// Every place that something in this part of the document refers to.
pub(crate) fn collect_references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| collect_references(value, found));
        }
        _ => {}
    }
}

fn headers() -> Value {
    let header = |description: &str, schema: &Value| json!({"description": description, "schema": schema});
    let request_id = json!({
        "description": "The request ID, also in the log.",
        "required": true,
        "schema": {"type": "string", "pattern": "^req_[0-9a-z]{26}$"},
    });
    json!({
        "RequestId": request_id,
        "IdempotentReplayed": header("Set on a replayed response.", &json!({"type": "string", "enum": ["true"]})),
        "RetryAfter": header("Seconds to wait before retrying.", &json!({"type": "integer", "minimum": 1})),
        "ETag": header("The version, for `If-Match`.", &json!({"type": "string", "pattern": "^\"[0-9]+\"$"})),
    })
}

fn security_schemes() -> Value {
    let scheme = |description: &str| json!({"type": "http", "scheme": "bearer", "description": description});
    json!({
        "secretKey": scheme("A secret key of an environment (`sk_…`). For backends only."),
        "publishableKey": scheme("A publishable key of an environment (`pk_…`): can only prepare card payments."),
        "adminToken": scheme("A personal token of a user (`pat_…`), or the admin token."),
    })
}
