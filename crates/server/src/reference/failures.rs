//! Failures in the document: one schema, an example for each code, a response for each status.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{reference::examples::Examples, response::error_code::ErrorCode};

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "description": "The envelope of a failure.",
        "required": ["success", "data", "message", "error"],
        "properties": {
            "success": {"type": "boolean", "const": false},
            "data": {"type": "null"},
            "message": {"type": "string", "description": "A human-readable message."},
            "error": {"$ref": "#/components/schemas/FailureDetail"},
            "warnings": {"$ref": "#/components/schemas/Warnings"},
        },
    })
}

pub(crate) fn warnings_schema() -> Value {
    json!({
        "type": "array",
        "items": {"type": "string"},
        "description": "Only where the request had fields that nothing reads: what each of them is, and which was probably meant.",
    })
}

/// What programs read of a failure.
pub(crate) fn detail_schema() -> Value {
    json!({
        "type": "object",
        "required": ["code", "requestId", "details", "docs"],
        "properties": {
            "code": {"$ref": "#/components/schemas/ErrorCode"},
            "requestId": {"type": "string", "description": "As in the `Request-Id` header."},
            "details": {
                "type": "array",
                "description": "Every invalid field; empty if none.",
                "items": {"$ref": "#/components/schemas/FaultyField"},
            },
            "serviceReference": {
                "type": "string",
                "description": "The related payment, if one is recorded: a rejected transfer, or a preparation that cannot be paid.",
            },
            "feeDecision": {
                "$ref": "#/components/schemas/FeeDecision",
                "description": "With `fee_changed`: what is decided for the card now.",
            },
            "totalDebitMinor": {"type": "string", "description": "With `fee_changed`: the total to agree to."},
            "docs": {"type": "string", "description": "Where the code is explained, on this server."},
        },
    })
}

/// What failures are told apart by.
pub(crate) fn code_schema() -> Value {
    let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({"type": "string", "enum": codes})
}

pub(crate) fn faulty_field_schema() -> Value {
    json!({
        "type": "object",
        "required": ["field", "message"],
        "properties": {
            "field": {"type": "string", "description": "Its path in the request."},
            "message": {"type": "string", "description": "What is wrong with it."},
        },
    })
}

/// The responses that operations share: one for each set of codes under one status.
#[derive(Default)]
pub(crate) struct FailureResponses(BTreeMap<String, Value>);

impl FailureResponses {
    /// The responses of these failures, by status.
    pub(crate) fn references(&mut self, codes: &[ErrorCode]) -> Map<String, Value> {
        let mut references = Map::new();
        for (status, codes) in by_status(codes) {
            let names: Vec<_> = codes.iter().map(|code| code.as_str()).collect();
            let name = names.join("-or-");
            references.insert(status.to_string(), json!({"$ref": format!("#/components/responses/{name}")}));
            self.0.entry(name).or_insert_with(|| response(&codes));
        }
        references
    }

    pub(crate) fn render(self) -> Value {
        self.0.into_iter().collect::<Map<_, _>>().into()
    }
}

fn by_status(codes: &[ErrorCode]) -> BTreeMap<u16, Vec<ErrorCode>> {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in ErrorCode::ALL.iter().filter(|code| codes.contains(code)) {
        by_status.entry(code.status().as_u16()).or_default().push(*code);
    }
    by_status
}

fn response(codes: &[ErrorCode]) -> Value {
    let lines: Vec<_> =
        codes.iter().map(|code| format!("`{}`: {} {}", code.as_str(), code.when(), code.remedy())).collect();
    let examples: Map<_, _> = codes
        .iter()
        .map(|code| {
            let reference = format!("#/components/examples/{}", code.as_str());
            (code.as_str().to_owned(), json!({"$ref": reference}))
        })
        .collect();
    let header = |name: &str| json!({"$ref": format!("#/components/headers/{name}")});
    let mut headers = Map::new();
    headers.insert("Request-Id".to_owned(), header("RequestId"));
    if codes.iter().any(|code| waits(*code)) {
        headers.insert("Retry-After".to_owned(), header("RetryAfter"));
    }
    if codes.contains(&ErrorCode::ProviderRejected) {
        headers.insert("Idempotent-Replayed".to_owned(), header("IdempotentReplayed"));
    }
    json!({
        "description": lines.join("\n\n"),
        "headers": headers,
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Failure"},
            "examples": examples,
        }},
    })
}

/// True if the caller is told when to come back.
fn waits(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::RateLimited
            | ErrorCode::ServerBusy
            | ErrorCode::ProviderUnavailable
            | ErrorCode::StoreUnavailable
            | ErrorCode::OutcomeUnknown
    )
}

/// An example of each failure: a recorded answer, or one made up where a sandbox does not fail so.
pub(crate) fn examples(recorded: &Examples) -> Map<String, Value> {
    let example = |code: ErrorCode| {
        let value = recorded.of_failure(code.as_str()).cloned().unwrap_or_else(|| made_up(code));
        json!({"summary": code.when(), "value": value})
    };
    ErrorCode::ALL.iter().map(|code| (code.as_str().to_owned(), example(*code))).collect()
}

fn made_up(code: ErrorCode) -> Value {
    json!({
        "success": false,
        "data": null,
        "message": code.when(),
        "error": {
            "code": code.as_str(),
            "requestId": "req_01ka0000000000000000000000",
            "details": [],
            "docs": code.docs(),
        },
    })
}
