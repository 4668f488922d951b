//! One operation of the document: what it is for, what it takes, what it answers.

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::{
    reference::{
        examples::{Example, Examples},
        failures::FailureResponses,
        parameters, samples,
    },
    response::error_code::ErrorCode,
    router::Operation,
    types::{
        schemas::Schemas,
        signature::{self, BodySchema, Credential, Signature, Success},
    },
};

const TEXTS: &str = include_str!("operations.txt");

/// What an operation is for, in words.
pub(crate) struct OperationText {
    pub(crate) name: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
}

/// The texts of all operations, in the document's order.
pub(crate) fn texts() -> Vec<OperationText> {
    let (mut texts, mut tag) = (Vec::<OperationText>::new(), "");
    for line in TEXTS.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            tag = heading;
        } else if let Some((text, last)) = line.strip_prefix("  ").zip(texts.last_mut()) {
            last.description = text;
        } else if let Some((name, summary)) = line.split_once(": ") {
            texts.push(OperationText { name, tag, summary, description: "" });
        }
    }
    texts
}

impl Credential {
    fn security(self) -> Value {
        match self {
            Self::None => json!([]),
            Self::SecretKey => json!([{"secretKey": []}]),
            Self::AnyKey => json!([{"secretKey": []}, {"publishableKey": []}]),
            Self::AdminToken => json!([{"adminToken": []}]),
        }
    }

    fn failures(self) -> &'static [ErrorCode] {
        match self {
            Self::None => &[],
            Self::SecretKey | Self::AnyKey => &[
                ErrorCode::Unauthenticated,
                ErrorCode::SecretKeyRequired,
                ErrorCode::KeyNotAllowed,
                ErrorCode::OriginNotAllowed,
                ErrorCode::RateLimited,
            ],
            Self::AdminToken => &[ErrorCode::Unauthenticated, ErrorCode::Forbidden, ErrorCode::RateLimited],
        }
    }
}

/// An operation as its reader sees it.
pub(crate) struct Described {
    route: &'static Operation,
    text: OperationText,
    signature: Signature,
    example: Option<Value>,
    parameters: Vec<Value>,
    failures: Vec<ErrorCode>,
    has_store: bool,
}

impl Described {
    /// What the router and the handler's signature say of an operation.
    pub(crate) fn new(route: &'static Operation, text: OperationText, schemas: &mut Schemas) -> Self {
        let signature = (route.signature)(schemas);
        let described = Self {
            route,
            text,
            signature,
            example: None,
            parameters: Vec::new(),
            failures: Vec::new(),
            has_store: true,
        };
        if described.signature.body.is_none() {
            return described;
        }
        described.fails(&[
            ErrorCode::InvalidBody,
            ErrorCode::CardDataNotAllowed,
            ErrorCode::ServerBusy,
            ErrorCode::RequestTimeout,
            ErrorCode::BodyTooLarge,
            ErrorCode::UnsupportedMediaType,
        ])
    }

    pub(crate) fn name(&self) -> &'static str {
        self.route.name
    }

    /// Takes whatever a provider sends, as it is.
    pub(crate) fn takes_raw(mut self) -> Self {
        self.signature.body = Some(BodySchema { schema: signature::any_object(), is_required: true });
        self.fails(&[
            ErrorCode::InvalidBody,
            ErrorCode::ServerBusy,
            ErrorCode::RequestTimeout,
            ErrorCode::BodyTooLarge,
        ])
    }

    /// An example of the body, where no recorded call has one.
    pub(crate) fn example(mut self, body: Value) -> Self {
        self.example = Some(body);
        self
    }

    /// Takes these fields of a query or headers, which can be faulty.
    pub(crate) fn with(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(parameters);
        self.fails(&[ErrorCode::InvalidBody])
    }

    /// Takes an idempotency key as a header.
    pub(crate) fn with_key(mut self) -> Self {
        self.parameters.push(parameters::idempotency_key());
        self
    }

    /// Takes the name of whoever changes something.
    pub(crate) fn with_actor(mut self) -> Self {
        self.parameters.push(parameters::actor());
        self
    }

    /// Answers something that is in no envelope.
    pub(crate) fn answers_bare(mut self, content_type: &'static str, schema: Value) -> Self {
        self.signature.succeeds_with(content_type, StatusCode::OK, schema);
        self
    }

    /// Can fail in these ways, beside those that its credential, path and body bring along.
    pub(crate) fn fails(mut self, codes: &[ErrorCode]) -> Self {
        self.failures.extend(codes);
        self
    }

    /// Answers out of memory, whatever the database does.
    pub(crate) fn without_store(mut self) -> Self {
        self.has_store = false;
        self
    }

    /// The path, the method, and what the document has there.
    pub(crate) fn render(
        self,
        failures: &mut FailureResponses,
        examples: &Examples,
    ) -> (&'static str, String, Value) {
        let Self { route, text, signature, parameters, failures: mut codes, .. } = self;
        let example = examples.of_operation(route.name);
        codes.extend(signature.credential.failures());
        let path = parameters::of_path(route.path);
        if !path.is_empty() {
            codes.push(ErrorCode::NotFound);
        }
        if self.has_store {
            codes.push(ErrorCode::StoreUnavailable);
            if route.method != Method::GET {
                codes.push(ErrorCode::OutcomeUnknown);
            }
        }
        codes.push(ErrorCode::Internal);
        let mut responses: Map<String, Value> = signature
            .successes
            .iter()
            .map(|success| (success.status.as_str().to_owned(), success.render(example)))
            .collect();
        responses.extend(failures.references(&codes));
        let mut rendered = Map::new();
        let mut put = |name: &str, value: Value| rendered.insert(name.to_owned(), value);
        put("operationId", route.name.into());
        put("tags", json!([text.tag]));
        put("summary", text.summary.into());
        if !text.description.is_empty() {
            put("description", text.description.into());
        }
        put("security", signature.credential.security());
        if !path.is_empty() || !parameters.is_empty() {
            put("parameters", path.into_iter().chain(parameters).collect());
        }
        if let Some(BodySchema { schema, is_required }) = signature.body {
            let sent = example.and_then(Example::body).or(self.example.as_ref());
            let mut content = Map::from_iter([("schema".to_owned(), schema)]);
            content.extend(sent.map(|body| ("example".to_owned(), body.clone())));
            put("requestBody", json!({"required": is_required, "content": {"application/json": content}}));
        }
        put("responses", responses.into());
        if let Some(samples) = example.and_then(|example| samples::of_operation(route, example)) {
            put("x-codeSamples", samples);
        }
        (route.path, route.method.as_str().to_ascii_lowercase(), rendered.into())
    }
}

impl Success {
    fn render(&self, example: Option<Example<'_>>) -> Value {
        let headers: Map<_, _> = self
            .headers
            .iter()
            .map(|(name, component)| {
                ((*name).to_owned(), json!({"$ref": format!("#/components/headers/{component}")}))
            })
            .collect();
        let description = match self.status {
            StatusCode::CREATED => "Created.",
            _ => "Done.",
        };
        let mut content = Map::from_iter([("schema".to_owned(), self.schema.clone())]);
        if let Some(response) = example.and_then(|example| example.response(self.status.as_str())) {
            content.insert("example".to_owned(), response.clone());
        }
        json!({
            "description": description,
            "headers": headers,
            "content": {self.content_type: content},
        })
    }
}
