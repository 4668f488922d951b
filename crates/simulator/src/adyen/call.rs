//! One API call: how it is read and authenticated, and how this provider words what all can say.

use super::prelude::*;
use crate::api::{ApiRequest, ReadCall};
use crate::query::Query;
use http::{HeaderMap, HeaderValue};

#[derive(Debug)]
pub(crate) struct Call {
    pub(super) operation: &'static str,
    pub(super) id: String,
    pub(super) body: Map<String, Value>,
    pub(super) query: Query,
    pub(super) context: Context,
}

impl Call {
    /// The fields of the body, checked against those that the operation knows.
    pub(super) fn fields(&self) -> Answer<Fields<'_>> {
        let fields = Fields::of(&self.body);
        let of_operation = |part: &'static str| part.strip_prefix(self.operation)?.strip_prefix(':');
        fields.check(include_str!("fields.txt").split("\n\n").find_map(of_operation).unwrap_or_default())?;
        match fields.string("merchantAccount")? {
            Some(merchant) if merchant != self.context.merchant() => Err(Error::of("901")),
            _ => Ok(fields),
        }
    }

    /// What was asked for, with what the answer adds.
    pub(super) fn echo(&self, own: Value) -> Value {
        let hidden = |name: &str| ["applicationInfo", "enhancedSchemeData"].contains(&name);
        let shown = self.body.clone().into_iter().filter(|(name, _)| !hidden(name));
        merged(shown.collect(), own)
    }
}

/// Checks the server's key, and on the Management API what it may do there.
fn authenticate(config: &Config, key: Option<&str>, path: &str) -> Answer<()> {
    let role = key.and_then(|key| key.strip_prefix(config.adyen.api_key.as_str()));
    let managed = path.strip_prefix("/v3/");
    let merchant = managed.and_then(|rest| rest.strip_prefix("merchants/")?.split('/').next());
    let is_own = merchant.is_none_or(|merchant| merchant == config.adyen.merchant_account);
    match (role, managed) {
        (Some("" | "_checkout"), None) => Ok(()),
        (Some(""), Some(_)) if is_own => Ok(()),
        (Some("" | "_checkout"), Some(_)) => Err(Error::of("00_403")),
        (_, Some(_)) => Err(Error::of("00_401")),
        (_, None) => Err(Error::of("000")),
    }
}

/// Checks the browser's key. Pages on this machine may always use it, others where their origin is allowed.
fn authenticate_page(api: &Api<Adyen>, request: &ApiRequest) -> Answer<()> {
    let origin = request.header("origin").unwrap_or("http://localhost");
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    let is_at = |at: &str| host == at || host.strip_prefix(at).is_some_and(|rest| rest.starts_with(':'));
    let is_local = ["localhost", "127.0.0.1", "[::1]"].into_iter().any(is_at);
    let is_allowed = is_local || api.state().origins.values().any(|allowed| allowed == origin);
    if is_allowed && request.query().get("clientKey") == Some(&api.services().config.adyen.client_key) {
        return Ok(());
    }
    Err(Error::of("901").saying("Invalid client key, or an origin that is not allowed for it"))
}

#[derive(Debug)]
pub(crate) struct Adyen;

impl Provider for Adyen {
    const WIRE: Wire = Wire::Adyen;
    const KEY_KEPT_SECONDS: Option<i64> = Some(7 * 24 * 60 * 60);
    type State = State;
    type Call = Call;
    type Error = Error;

    fn read(api: &Api<Self>, request: &ApiRequest) -> Answer<ReadCall<Call>> {
        let path = request.parts.uri.path();
        match request.operation {
            // The bank knows its customer by the password.
            "checkout.authenticate" => {}
            operation if operation.starts_with("browser.") => authenticate_page(api, request)?,
            _ => authenticate(&api.services().config, request.header("x-api-key"), path)?,
        }
        let unreadable = Error { status: StatusCode::BAD_REQUEST, ..Error::invalid("This is not JSON") };
        let body = request.json_fields().ok_or(unreadable)?;
        let is_checkout_post = request.parts.method == Method::POST && path.starts_with("/v72/");
        let key = request.header("idempotency-key").filter(|_| is_checkout_post).map(str::to_owned);
        if key.as_ref().is_some_and(|key| key.len() > 64) {
            return Err(Error::invalid("The idempotency key has more than 64 characters."));
        }
        let (id, query, context) = (request.id.clone(), request.query(), Context::new(api.services()));
        let call = Call { operation: request.operation, id, body, query, context };
        // What is sent under a key, and where, is not compared: the first answer is repeated.
        Ok(ReadCall { call, key, fingerprint: String::new() })
    }

    fn success_status(operation: &str) -> StatusCode {
        match operation {
            "allowed_origins.delete" | "apple_pay_domains.add" | "webhooks.delete" => StatusCode::NO_CONTENT,
            "payments.create" | "allowed_origins.create" | "webhooks.create" => StatusCode::OK,
            _ if operation.ends_with(".create") || operation == "cancels.by_reference" => StatusCode::CREATED,
            _ => StatusCode::OK,
        }
    }

    fn add_headers(request: &ApiRequest, replay_of: Option<&str>, headers: &mut HeaderMap) {
        if let Some(key) = request.parts.headers.get("idempotency-key") {
            headers.insert("idempotency-key", key.clone());
        }
        let id = replay_of.unwrap_or(&request.request_id).trim_start_matches("req_").to_uppercase();
        if let Some(id) = id.get(..16).and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert("pspreference", id);
        }
    }

    fn server_error(status: StatusCode) -> Error {
        Error::plain(status, "An internal error occurred (simulated).")
    }

    fn simulated_refusal(_: &str, code: Option<&str>) -> Error {
        Error::of(code.unwrap_or("702"))
    }

    fn rate_limited() -> Error {
        Error::plain(StatusCode::TOO_MANY_REQUESTS, "Too many requests (simulated).")
    }

    fn key_in_use(_: &str) -> Error {
        Error::of("704")
    }
}
