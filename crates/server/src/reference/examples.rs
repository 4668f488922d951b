//! Requests and their answers as a running sandbox gave them. A test of the binary records `examples.json`, and fails when
//! the answers have another shape than those it holds.

use serde_json::{Map, Value};

pub(crate) struct Examples(Value);

/// A call of an operation, with an answer for each status.
#[derive(Clone, Copy)]
pub(crate) struct Example<'a>(&'a Value);

impl Examples {
    pub(crate) fn recorded() -> Self {
        Self(serde_json::from_str(include_str!("examples.json")).unwrap_or_default())
    }

    pub(crate) fn of_operation(&self, name: &str) -> Option<Example<'_>> {
        self.0.get("operations")?.get(name).map(Example)
    }

    /// The answer of a call that failed with this code.
    pub(crate) fn of_failure(&self, code: &str) -> Option<&Value> {
        self.0.get("failures")?.get(code)
    }
}

impl<'a> Example<'a> {
    /// With its parameters filled in.
    pub(crate) fn path(self) -> &'a str {
        self.0.get("path").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn query(self) -> Option<&'a Map<String, Value>> {
        self.0.get("query").and_then(Value::as_object)
    }

    pub(crate) fn idempotency_key(self) -> Option<&'a str> {
        self.0.get("idempotencyKey").and_then(Value::as_str)
    }

    pub(crate) fn body(self) -> Option<&'a Value> {
        self.0.get("body")
    }

    pub(crate) fn response(self, status: &str) -> Option<&'a Value> {
        self.0.get("responses")?.get(status)
    }
}
