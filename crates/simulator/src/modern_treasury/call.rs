//! One API call: how it is read and authenticated, and how this provider words what all can say.

use super::prelude::*;
use crate::api::{ApiRequest, ReadCall};
use crate::query::Query;
use data_encoding::BASE64;
use http::HeaderMap;

#[derive(Debug)]
pub(crate) struct Call {
    pub(super) id: String,
    pub(super) key: Option<String>,
    pub(super) body: Map<String, Value>,
    pub(super) query: Query,
    pub(super) context: Context,
}

#[derive(Debug)]
pub(crate) struct ModernTreasury;

/// The API key of the call, if it is one of the organization's. There are three: the one that tests are told, another one
/// of the same side (`…_second`), and one of the live side (`…_live`).
fn api_key(api: &Api<ModernTreasury>, request: &ApiRequest) -> Option<String> {
    let keys = &api.services().config.modern_treasury;
    let pair = request.header(header::AUTHORIZATION.as_str())?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(BASE64.decode(pair.as_bytes()).ok()?).ok()?;
    let (organization, key) = pair.split_once(':')?;
    let side = key.strip_prefix(keys.api_key.as_str())?;
    let is_known = organization == keys.organization_id && ["", "_second", "_live"].contains(&side);
    is_known.then(|| key.to_owned())
}

impl Provider for ModernTreasury {
    const WIRE: Wire = Wire::ModernTreasury;
    const KEY_KEPT_SECONDS: Option<i64> = Some(24 * 60 * 60);
    type State = State;
    type Call = Call;
    type Error = Error;

    fn read(api: &Api<Self>, request: &ApiRequest) -> Answer<ReadCall<Call>> {
        let no_key = || Error::new("invalid_key", "The API key is invalid.");
        let api_key = api_key(api, request).ok_or_else(no_key)?;
        let malformed = || Error::new("parameter_invalid", "The body is not a JSON object.");
        let body = request.json_fields().ok_or_else(malformed)?;
        let is_live = api_key.ends_with("_live");
        let context = Context::new(api.services(), is_live);
        // Only what makes something keeps its answer, per API key and whatever it was that was made.
        let given = request.header("idempotency-key").filter(|_| request.parts.method == Method::POST);
        let kept_under = given.map(|given| format!("{api_key} {given}"));
        let (id, key, query) = (request.id.clone(), given.map(str::to_owned), request.query());
        let call = Call { id, key, body, query, context };
        Ok(ReadCall { call, key: kept_under, fingerprint: String::new() })
    }

    fn success_status(operation: &str) -> StatusCode {
        if operation.ends_with(".create") { StatusCode::CREATED } else { StatusCode::OK }
    }

    fn add_headers(_: &ApiRequest, _: Option<&str>, _: &mut HeaderMap) {}

    fn server_error(status: StatusCode) -> Error {
        Error::server(status)
    }

    fn simulated_refusal(_: &str, code: Option<&str>) -> Error {
        Error::new(code.unwrap_or("parameter_invalid"), "Rejected (simulated).")
    }

    fn rate_limited() -> Error {
        Error::new("too_many_requests", "Too many requests (simulated).")
    }

    fn key_in_use(_: &str) -> Error {
        Error::new("conflict", "A request with the same idempotency key is in progress.")
    }
}
