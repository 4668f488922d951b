//! The variable parts of addresses, and headers that callers may send.

use serde_json::{Map, Value, json};
use tollgate_domain::id::{
    ApplicationId, ApprovalId, EndpointId, EnvironmentId, EventId, ExceptionId, KeyId, OrganizationId,
    PaymentId, PostingId, RefundId, RequestId, TokenId, TransactionId, TransferId, UserId,
};
use utoipa::{PartialSchema, ToSchema};

use crate::{
    request::location::{DEFAULT_LIMIT, MAX_LIMIT},
    types::{scalars, words},
};

/// The digits of an id: 26 of base 32, the first of which has three bits.
const ID_DIGITS: &str = "[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}";

/// The parameters of a path, in its order.
pub(crate) fn of_path(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(path_parameter).collect()
}

fn path_parameter(name: &str) -> Value {
    let (description, schema) = match name {
        "organization" => ("The organization's id.", id(&[OrganizationId::PREFIX])),
        "application" => ("The application's id.", id(&[ApplicationId::PREFIX])),
        "environment" => ("The environment's id.", id(&[EnvironmentId::PREFIX])),
        "key" => ("The key's id, not the key.", id(&[KeyId::PREFIX])),
        "user" => ("The user's id.", id(&[UserId::PREFIX])),
        "token" => ("The token's id, not the token.", id(&[TokenId::PREFIX])),
        "endpoint" => ("The event endpoint's id.", id(&[EndpointId::PREFIX])),
        "event" => ("The event's id.", id(&[EventId::PREFIX])),
        "approval" => ("The approval's id.", id(&[ApprovalId::PREFIX])),
        "exception" => ("The exception's id.", id(&[ExceptionId::PREFIX])),
        "reference" => ("The payment's `serviceReference`.", id(&[PaymentId::PREFIX, TransferId::PREFIX])),
        "refund" => ("The refund's `refundReference`.", id(&[RefundId::PREFIX])),
        "currency" => ("The wallet's currency.", reference::<scalars::CurrencyInput>()),
        "entry" => ("The `sequence` of an entry of the audit log.", version()),
        "version" => ("The version's number.", version()),
        "provider" => {
            ("The provider's name in the configuration.", json!({"type": "string", "minLength": 1}))
        }
        _ => ("", json!({"type": "string"})),
    };
    json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema})
}

/// An id with one of these prefixes.
fn id(prefixes: &[&str]) -> Value {
    let prefix = match prefixes {
        [only] => (*only).to_owned(),
        several => format!("({})", several.join("|")),
    };
    // The format tells which kind of id it is, to generators of test data among others.
    let format = format!("{}-id", prefixes.join("-or-"));
    json!({"type": "string", "format": format, "pattern": format!("^{prefix}_{ID_DIGITS}$")})
}

fn version() -> Value {
    json!({"type": "integer", "minimum": 0, "maximum": u64::MAX})
}

fn reference<T: ToSchema>() -> Value {
    json!({"$ref": format!("#/components/schemas/{}", T::name())})
}

/// An empty one counts as left out.
fn query(name: &str, description: &str, schema: Value) -> Value {
    let pairs = [
        ("name", name.into()),
        ("in", "query".into()),
        ("description", description.into()),
        ("schema", schema),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

/// The caller's name for a business action, which is done once.
pub(crate) fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key", "in": "header",
        "description": "Makes the request repeatable: the same key with the same request returns the first result.",
        "schema": {"type": "string", "minLength": 8, "maxLength": 160, "pattern": "^[!-~]+$"},
    })
}

pub(crate) fn limit() -> Value {
    let schema = json!({"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT});
    query("limit", "Maximum number of results.", schema)
}

/// For lists that begin with the oldest.
pub(crate) fn after(prefix: &str) -> [Value; 2] {
    [query("after", "The previous page's `nextCursor`.", id(&[prefix])), limit()]
}

/// For lists that begin with the newest.
pub(crate) fn before(prefix: &str) -> [Value; 2] {
    [query("before", "The previous page's `nextCursor`.", id(&[prefix])), limit()]
}

/// What transactions can be picked by.
pub(crate) fn transactions() -> Vec<Value> {
    let moment = || json!({"type": "string", "format": "date-time"});
    let mut parameters = vec![
        query("status", "Only this status.", inline::<words::TransactionStatus>()),
        query("paymentMethod", "Only this method.", inline::<words::PaymentMethod>()),
        query("provider", "Only this provider.", json!({"type": "string"})),
        query(
            "partlyRefunded",
            "`true`: only those that are paid and were refunded in part.",
            json!({"type": "boolean"}),
        ),
        query(
            "disputed",
            "`true`: only those with a dispute, whatever became of it.",
            json!({"type": "boolean"}),
        ),
        query("createdFrom", "Only from this time on.", moment()),
        query("createdBefore", "Only before this time.", moment()),
    ];
    parameters.extend(before(TransactionId::PREFIX));
    parameters
}

/// The same for operators, who can search.
pub(crate) fn searched_transactions() -> Vec<Value> {
    let mut parameters = transactions();
    parameters.push(search());
    parameters
}

pub(crate) fn exported_transactions() -> Vec<Value> {
    let name = |parameter: &Value| parameter.get("name").and_then(Value::as_str).map(str::to_owned);
    let is_place =
        |parameter: &Value| name(parameter).is_some_and(|name| name == "before" || name == "limit");
    searched_transactions().into_iter().filter(|parameter| !is_place(parameter)).collect()
}

fn search() -> Value {
    let about = "Only those found by this text: a reference or its beginning, an amount such as `1044.44 USD`, the customer's \
                 name or e-mail address, a word of the description, a value of the metadata, the last four digits of a card or bank \
                 account, a card's network, funding or country (`visa debit`, `country=FR`), or the ID of a request, an event, a refund, a dispute or of something at the provider.";
    query("search", about, json!({"type": "string"}))
}

/// What prepared payments can be picked by.
pub(crate) fn payments() -> Vec<Value> {
    let mut parameters = vec![
        query("status", "Only this status.", inline::<words::PreparationStatus>()),
        query("waiting", "Only pending ones.", json!({"type": "boolean"})),
        search(),
    ];
    parameters.extend(before(PaymentId::PREFIX));
    parameters
}

pub(crate) fn audit() -> [Value; 1] {
    let about = "Verifies everything, whatever was verified before, and that it has not changed since.";
    [query("full", about, json!({"type": "boolean"}))]
}

pub(crate) fn month() -> [Value; 1] {
    let schema = json!({"type": "string", "pattern": "^(19[7-9][0-9]|[2-8][0-9]{3})-(0[1-9]|1[0-2])$", "example": "2026-11"});
    [query("month", "A calendar month in UTC; the current one if omitted.", schema)]
}

/// What approvals can be picked by.
pub(crate) fn approvals() -> Vec<Value> {
    let mut parameters = vec![query("state", "Only in this state.", inline::<words::ApprovalState>())];
    parameters.extend(before(ApprovalId::PREFIX));
    parameters
}

/// What exceptions can be picked by.
pub(crate) fn exceptions() -> Vec<Value> {
    let mut parameters = vec![query("open", "Only open ones.", json!({"type": "boolean"}))];
    parameters.extend(before(ExceptionId::PREFIX));
    parameters
}

/// What providers' events can be picked by.
pub(crate) fn provider_events() -> Vec<Value> {
    let cursor = "The previous page's `nextCursor`, or an RFC 3339 timestamp.";
    vec![
        query("state", "Only this state.", inline::<words::ProviderEventState>()),
        query("before", cursor, json!({"type": "string", "format": "event-cursor"})),
        limit(),
    ]
}

/// What calls can be picked by.
pub(crate) fn requests() -> Vec<Value> {
    let mut parameters = vec![
        query("failed", "Only calls that failed.", json!({"type": "boolean"})),
        query("code", "Only this error code.", json!({"type": "string"})),
        query("endpoint", "Only this endpoint, as `endpoint` shows it.", json!({"type": "string"})),
        query("keyId", "Only calls with this key.", id(&[KeyId::PREFIX])),
        query("reference", "Only calls about this payment.", json!({"type": "string"})),
        query("requestId", "Only this call.", id(&[RequestId::PREFIX])),
    ];
    parameters.extend(before(RequestId::PREFIX));
    parameters
}

/// What events can be picked by.
pub(crate) fn events() -> Vec<Value> {
    let forwards = "The previous page's `nextCursor`, oldest first; not together with `before`.";
    let mut parameters = vec![
        query("type", "Only this type.", inline::<words::EventKind>()),
        query("reference", "Only this payment.", id(&[PaymentId::PREFIX, TransferId::PREFIX])),
        query("after", forwards, id(&[EventId::PREFIX])),
    ];
    parameters.extend(before(EventId::PREFIX));
    parameters
}

/// What entries of the audit log can be picked by.
pub(crate) fn audit_log() -> Vec<Value> {
    let moment = || json!({"type": "string", "format": "date-time"});
    vec![
        query("userId", "Only what this user did.", id(&[UserId::PREFIX])),
        query("action", "Only this action.", json!({"type": "string"})),
        query("environmentId", "Only in this environment.", id(&[EnvironmentId::PREFIX])),
        query("subject", "Only what was done to this.", json!({"type": "string"})),
        query("from", "Only from this time on.", moment()),
        query("until", "Only before this time.", moment()),
        query("before", "The previous page's `nextCursor`.", version()),
    ]
}

/// What deliveries can be picked by.
pub(crate) fn deliveries() -> Vec<Value> {
    let cursor = json!({
        "type": "string", "pattern": format!("^{}_{ID_DIGITS},{}_{ID_DIGITS}$", EventId::PREFIX, EndpointId::PREFIX),
    });
    vec![
        query("endpointId", "Only this endpoint.", id(&[EndpointId::PREFIX])),
        query("eventId", "Only this event.", id(&[EventId::PREFIX])),
        query("state", "Only this state.", inline::<words::DeliveryState>()),
        query("before", "The previous page's `nextCursor`.", cursor),
        limit(),
    ]
}

pub(crate) fn postings() -> [Value; 2] {
    before(PostingId::PREFIX)
}

pub(crate) fn versions() -> [Value; 2] {
    let number = version();
    [query("before", "The previous page's `nextCursor`.", number), limit()]
}

fn inline<T: PartialSchema>() -> Value {
    serde_json::to_value(T::schema()).unwrap_or_default()
}

pub(crate) fn if_match() -> Value {
    let description = "The `ETag` of the version the change is based on; `*` or omitted for any.";
    let schema = json!({"type": "string", "pattern": r#"^(\*|"[0-9]{1,18}")$"#});
    json!({"name": "If-Match", "in": "header", "description": description, "schema": schema})
}

pub(crate) fn actor() -> Value {
    let description = "Who makes the change, for the audit trail, where the admin token is used: at most 120 characters. \
                       Ignored with a personal token, which says whose it is.";
    json!({"name": "Tollgate-Actor", "in": "header", "description": description, "schema": {"type": "string"}})
}
