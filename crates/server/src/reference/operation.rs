//! One operation of the document: what it is for, what it takes, what it answers.

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::{
    reference::{
        examples::{Example, Examples},
        failures::FailureResponses,
        parameters, samples,
        schemas::Schemas,
    },
    response::error_code::ErrorCode,
    router::Operation,
};

/// The groups of the document, in their order.
pub(crate) const TAGS: &[(&str, &str)] = &[
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

/// What a caller has to present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Nothing.
    None,
    /// A secret key.
    SecretKey,
    /// Either kind of key.
    AnyKey,
    /// An operator's personal token, or the admin token.
    AdminToken,
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

/// An answer that is no failure.
struct Success {
    status: StatusCode,
    content_type: &'static str,
    schema: Value,
    headers: Vec<(&'static str, &'static str)>,
}

/// An operation as its reader sees it.
pub(crate) struct Described {
    name: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    credential: Credential,
    body: Option<Value>,
    parameters: Vec<Value>,
    successes: Vec<Success>,
    failures: Vec<ErrorCode>,
    has_store: bool,
}

/// Describes the operation of this name in the router.
pub(crate) fn operation(
    name: &'static str,
    tag: &'static str,
    credential: Credential,
    summary: &'static str,
) -> Described {
    Described {
        name,
        tag,
        summary,
        description: "",
        credential,
        body: None,
        parameters: Vec::new(),
        successes: Vec::new(),
        failures: Vec::new(),
        has_store: true,
    }
}

impl Described {
    /// More than the summary says.
    pub(crate) fn says(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Takes a JSON body.
    pub(crate) fn takes<T: ToSchema>(self, schemas: &mut Schemas, example: Value) -> Self {
        self.takes_body(schemas.reference::<T>(), true, example)
    }

    /// Takes the same body as another operation but for some fields.
    pub(crate) fn takes_without<T: ToSchema>(
        self,
        schemas: &mut Schemas,
        name: &str,
        fields: &[&str],
        example: Value,
    ) -> Self {
        self.takes_body(schemas.reference_without::<T>(name, fields), true, example)
    }

    /// Takes a JSON body that may be left out.
    pub(crate) fn may_take<T: ToSchema>(self, schemas: &mut Schemas, example: Value) -> Self {
        self.takes_body(schemas.reference::<T>(), false, example)
    }

    fn takes_body(mut self, schema: Value, required: bool, example: Value) -> Self {
        let content = Map::from_iter([("schema".to_owned(), schema), ("example".to_owned(), example)]);
        self.body = Some(json!({"required": required, "content": {"application/json": content}}));
        let unreadable = [
            ErrorCode::InvalidBody,
            ErrorCode::CardDataNotAllowed,
            ErrorCode::ServerBusy,
            ErrorCode::RequestTimeout,
            ErrorCode::BodyTooLarge,
            ErrorCode::UnsupportedMediaType,
        ];
        self.fails(&unreadable)
    }

    /// Takes whatever a provider sends, as it is.
    pub(crate) fn takes_raw(mut self) -> Self {
        let content = json!({"schema": {"type": "object", "additionalProperties": true}});
        self.body = Some(json!({"required": true, "content": {"application/json": content}}));
        self.fails(&[
            ErrorCode::InvalidBody,
            ErrorCode::ServerBusy,
            ErrorCode::RequestTimeout,
            ErrorCode::BodyTooLarge,
        ])
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

    /// Answers data in the envelope.
    pub(crate) fn answers<T: ToSchema>(self, schemas: &mut Schemas, status: StatusCode) -> Self {
        let schema = schemas.envelope_of::<T>();
        self.succeeds(status, "application/json", schema)
    }

    /// Answers one of two shapes in the envelope.
    pub(crate) fn answers_either<T: ToSchema, U: ToSchema>(
        self,
        schemas: &mut Schemas,
        name: &'static str,
    ) -> Self {
        let schema = schemas.envelope_of_either::<T, U>(name);
        self.succeeds(StatusCode::OK, "application/json", schema)
    }

    /// Answers a slice of a list in the envelope.
    pub(crate) fn lists<T: ToSchema>(self, schemas: &mut Schemas) -> Self {
        let schema = schemas.envelope_of_list::<T>();
        self.succeeds(StatusCode::OK, "application/json", schema)
    }

    /// Answers something that is in no envelope.
    pub(crate) fn answers_bare(self, content_type: &'static str, schema: Value) -> Self {
        self.succeeds(StatusCode::OK, content_type, schema)
    }

    fn succeeds(mut self, status: StatusCode, content_type: &'static str, schema: Value) -> Self {
        let headers = vec![("Request-Id", "RequestId")];
        self.successes.push(Success { status, content_type, schema, headers });
        self
    }

    /// The last answer carries this header too.
    pub(crate) fn carrying(mut self, name: &'static str, component: &'static str) -> Self {
        if let Some(last) = self.successes.last_mut() {
            last.headers.push((name, component));
        }
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

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// As the document has it, at the path and method that the router gives it.
    pub(crate) fn render(
        self,
        route: &Operation,
        failures: &mut FailureResponses,
        examples: &Examples,
    ) -> Value {
        let example = examples.of_operation(self.name);
        let mut codes = self.failures;
        codes.extend(self.credential.failures());
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
        let mut responses: Map<String, Value> = self
            .successes
            .iter()
            .map(|success| (success.status.as_str().to_owned(), success.render(example)))
            .collect();
        responses.extend(failures.references(&codes));
        let mut rendered = Map::new();
        let mut put = |name: &str, value: Value| rendered.insert(name.to_owned(), value);
        put("operationId", self.name.into());
        put("tags", json!([self.tag]));
        put("summary", self.summary.into());
        if !self.description.is_empty() {
            put("description", self.description.into());
        }
        put("security", self.credential.security());
        if !path.is_empty() || !self.parameters.is_empty() {
            put("parameters", path.into_iter().chain(self.parameters).collect());
        }
        if let Some(mut body) = self.body {
            if let (Some(content), Some(sent)) =
                (body.pointer_mut("/content/application~1json"), example.and_then(Example::body))
            {
                content["example"] = sent.clone();
            }
            put("requestBody", body);
        }
        put("responses", responses.into());
        if let Some(samples) = example.and_then(|example| samples::of_operation(route, example)) {
            put("x-codeSamples", samples);
        }
        rendered.into()
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
