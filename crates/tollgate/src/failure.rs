//! Why a command stopped, in a sentence for whoever started it.

use std::{fmt, io, path::Path};

use serde_json::{Value, json};
use tollgate_vault::RandomnessUnavailable;

/// A sentence that says what is wrong and what to do, and the fields at fault where there are some.
#[derive(Debug)]
pub(crate) struct Failure(Box<Reason>);

#[derive(Debug, Default)]
struct Reason {
    sentence: String,
    /// The server's word for it.
    code: Option<String>,
    status: Option<u16>,
    details: Vec<(String, String)>,
    for_programs: bool,
}

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(Box::new(Reason { sentence: sentence.into(), ..Reason::default() }))
    }

    /// A sentence, and what is at fault, each with its own.
    pub(crate) fn with_details(sentence: impl Into<String>, details: Vec<(String, String)>) -> Self {
        Self(Box::new(Reason { sentence: sentence.into(), details, ..Reason::default() }))
    }

    /// Something about a file or folder did not work.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(format!("cannot {doing} {}: {error}", path.display()))
    }

    /// What a server answered in its envelope.
    pub(crate) fn answered(status: u16, envelope: &Value) -> Self {
        let text = |at: &str| envelope.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let details = envelope.pointer("/error/details").and_then(Value::as_array);
        let details = details.into_iter().flatten().map(|detail| {
            let part = |name: &str| detail.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            (part("field"), part("message"))
        });
        Self(Box::new(Reason {
            sentence: text("/message").unwrap_or_else(|| "the server rejected the request".to_owned()),
            code: text("/error/code"),
            status: Some(status),
            details: details.collect(),
            for_programs: false,
        }))
    }

    /// The server's word for what is wrong.
    pub(crate) fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// What is wrong, without the fields.
    pub(crate) fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// How many fields are at fault.
    pub(crate) fn errors(&self) -> usize {
        self.0.details.len()
    }

    /// The same with another sentence.
    pub(crate) fn saying(mut self, sentence: impl Into<String>) -> Self {
        self.0.sentence = sentence.into();
        self
    }

    /// Another sentence where the server says that there is no such thing.
    pub(crate) fn if_missing(self, sentence: impl FnOnce() -> String) -> Self {
        if self.0.status == Some(404) { self.saying(sentence()) } else { self }
    }

    /// The same as `{"error":{"code","message","details"}}`.
    pub(crate) fn for_programs(mut self) -> Self {
        self.0.for_programs = true;
        self
    }

    fn to_json(&self) -> Value {
        let Reason { sentence, code, details, .. } = &*self.0;
        let details = details.iter().map(|(field, message)| json!({ "field": field, "message": message }));
        json!({ "error": { "code": code, "message": sentence, "details": details.collect::<Vec<_>>() } })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.for_programs {
            return write!(f, "{}", self.to_json());
        }
        write!(f, "tollgate: {}", self.0.sentence)?;
        for (field, message) in &self.0.details {
            write!(f, "\n  {field}: {message}")?;
        }
        Ok(())
    }
}

macro_rules! failure_from {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        }
    )*};
}

failure_from!(
    RandomnessUnavailable,
    tollgate_store::OpenError,
    tollgate_store::InvalidDatabaseUrl,
    tollgate_engine::StartError,
    tollgate_providers::SetupError,
    tollgate_engine::TenantError,
    tollgate_engine::KeyError,
    tollgate_engine::ConfigureError,
    tollgate_engine::MoveError,
    tollgate_vault::MasterKeyError,
    tollgate_vault::AdminTokenError,
);
