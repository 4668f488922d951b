//! `/admin/v1/environments/<id>/keys`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tollgate_domain::{
    Timestamp,
    address_range::AddressRange,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_engine::{KeyError, KeyRequest, NewKey, RotationRequest, ports::KeyChange};
use utoipa::ToSchema;

use crate::{json::text::JsonText, prelude::*};

/// A day, in which every instance of the caller's backend can be given the new key.
const DEFAULT_GRACE_SECONDS: u64 = 86_400;
const MAX_GRACE_SECONDS: u64 = 90 * 86_400;
const MAX_NAME_LENGTH: usize = 80;
const MAX_RANGES: usize = 50;

type NameText = scalars::Line<MAX_NAME_LENGTH>;

responses! {
    KeyResponse as Key {
        id: String,
        kind: words::KeyKind,
        name: Option<String>,
        /// The only endpoints it may call; null for every one that its kind opens.
        allowed_endpoints: Option<Vec<words::KeyEndpoint>>,
        /// The only addresses it may be used from; null for any.
        allowed_ip_ranges: Option<Vec<String>>,
        status: words::KeyStatus,
        last_four: String,
        created_at: Moment,
        expires_at: Option<Moment>,
        /// To the minute, and written a moment later.
        last_used_at: Option<Moment>,
        revoked_at: Option<Moment>,
        replaced_by: Option<String>,
        /// Who did what to it, the oldest first. Keys issued by release 0.1.0 have no entry for that.
        changes: Vec<KeyChangeResponse>,
    }

    KeyChangeResponse as KeyChange {
        action: words::KeyAction,
        /// As they name themselves.
        by: String,
        at: Moment,
        request_id: String,
    }
}

impl KeyChangeResponse {
    fn of(change: &KeyChange) -> Self {
        let (by, request_id) = (change.actor.clone(), change.request.clone());
        Self { action: change.action.as_str().into(), by, at: Moment(change.at), request_id }
    }
}

responses! {
    /// The one answer that shows a key.
    NewKeyResponse<'a> as NewKey {
        key: &'a str,
        #[serde(flatten)]
        record: KeyResponse,
    }
}

impl KeyResponse {
    fn of(record: &KeyRecord, now: Timestamp, changes: &[KeyChange]) -> Self {
        let changes = changes.iter().filter(|change| change.key == record.id);
        let status = match record.revoked_at {
            Some(_) => "revoked",
            None if record.is_live(now) => "live",
            None => "expired",
        };
        let endpoints = record.scope.endpoints.as_ref();
        let addresses = record.scope.addresses.as_ref();
        Self {
            id: record.id.to_string(),
            kind: record.kind.as_str().into(),
            name: record.name.clone(),
            allowed_endpoints: endpoints.map(|list| list.iter().map(|it| (*it).into()).collect()),
            allowed_ip_ranges: addresses.map(|list| list.iter().map(ToString::to_string).collect()),
            status: status.into(),
            last_four: record.last_four.clone(),
            created_at: Moment(record.created_at),
            expires_at: record.expires_at.map(Moment),
            last_used_at: record.last_used_at.map(Moment),
            revoked_at: record.revoked_at.map(Moment),
            replaced_by: record.replaced_by.map(|id| id.to_string()),
            changes: changes.map(KeyChangeResponse::of).collect(),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRequest)]
pub(crate) struct IssueBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = words::KeyKind, required)]
    kind: Raw<'a>,
    /// What people call it.
    #[serde(borrow)]
    #[schema(value_type = Option<NameText>, inline)]
    name: Raw<'a>,
    /// The only endpoints it may call; a publishable key opens no others than the two that prepare card payments.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<words::KeyEndpoint>>, min_items = 1)]
    allowed_endpoints: Raw<'a>,
    /// The only addresses it may be used from: up to 50 of IPv4 or IPv6, such as `203.0.113.7` or `10.0.0.0/8`.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 50)]
    allowed_ip_ranges: Raw<'a>,
    /// From this moment on it is refused; omitted, never.
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::Moment>)]
    expires_at: Raw<'a>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRotationRequest)]
pub(crate) struct RotateBody<'a> {
    /// How long the old key goes on opening; a day where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<u64>, maximum = 7_776_000)]
    grace_seconds: Raw<'a>,
    /// Another name than the old key's.
    #[serde(borrow)]
    #[schema(value_type = Option<NameText>, inline)]
    name: Raw<'a>,
    /// Other endpoints than the old key's.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<words::KeyEndpoint>>, min_items = 1)]
    allowed_endpoints: Raw<'a>,
    /// Other addresses than the old key's.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 50)]
    allowed_ip_ranges: Raw<'a>,
    /// When the new key ends. Omitted, it lives as long as the old one was issued for.
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::Moment>)]
    expires_at: Raw<'a>,
}

pub(crate) async fn issue(
    operator: Operator,
    body: JsonBody<IssueBody<'static>>,
) -> Created<NewKeyResponse<'static>> {
    let environment = operator.path("environment")?;
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let request = read_request(&body, engine.clock().now())?;
    let new = engine.issue_key(environment, request, operator.origin.clone()).await?;
    shown_once(&operator, environment, &new).await
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<KeyResponse>> {
    let (page, limit) = operator.page()?;
    let environment = operator.path("environment")?;
    let engine = &operator.app.engine;
    let keys = engine.keys(environment, page).await?;
    let changes = engine.key_changes(environment, &keys).await?;
    let now = engine.clock().now();
    respond::ok(&ListResponse::slice(keys, limit, |it| KeyResponse::of(&it, now, &changes), |it| it.id))
}

pub(crate) async fn rotate(
    operator: Operator,
    body: OptionalBody<RotateBody<'static>>,
) -> Created<NewKeyResponse<'static>> {
    let (environment, key) = path(&operator)?;
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let rotation = read_rotation(&body, engine.clock().now())?;
    let new = engine.rotate_key(environment, key, rotation, operator.origin.clone()).await?;
    shown_once(&operator, environment, &new).await
}

pub(crate) async fn revoke(operator: Operator) -> Done<KeyResponse> {
    let (environment, key) = path(&operator)?;
    let record = operator.app.engine.revoke_key(environment, key, operator.origin.clone()).await?;
    respond::ok(&with_changes(&operator, environment, &record).await)
}

fn path(operator: &Operator) -> Result<(EnvironmentId, KeyId), ApiError> {
    Ok((operator.path("environment")?, operator.path("key")?))
}

async fn shown_once(
    operator: &Operator,
    environment: EnvironmentId,
    new: &NewKey,
) -> Created<NewKeyResponse<'static>> {
    let record = with_changes(operator, environment, &new.record).await;
    respond::created(&NewKeyResponse { key: new.key.expose(), record })
}

async fn with_changes(operator: &Operator, environment: EnvironmentId, record: &KeyRecord) -> KeyResponse {
    let engine = &operator.app.engine;
    // The change is made: a key that was issued is shown, also where who did it cannot be read right now.
    let changes = engine.key_changes(environment, std::slice::from_ref(record)).await.unwrap_or_default();
    KeyResponse::of(record, engine.clock().now(), &changes)
}

fn read_request(body: &[u8], now: Timestamp) -> Result<KeyRequest, ApiError> {
    let body: IssueBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let kind = match body.kind.map(JsonText::of) {
        Some(JsonText::String(text)) => KeyKind::parse(&text),
        _ => None,
    };
    let kind = kind.or_else(|| errors.add("kind", "must be one of: secret, publishable"));
    let name =
        body.name.and_then(|name| fields::required_text("name", Some(name), MAX_NAME_LENGTH, &mut errors));
    let endpoints = read_endpoints(body.allowed_endpoints, &mut errors);
    if let (Some(kind), Some(endpoints)) = (kind, &endpoints)
        && endpoints.iter().any(|endpoint| !endpoint.opens_for(kind))
    {
        errors.add::<()>(ENDPOINTS, "names an endpoint that a publishable key cannot call");
    }
    let addresses = read_ranges(body.allowed_ip_ranges, &mut errors);
    let expires_at = read_expiry(body.expires_at, now, &mut errors);
    let scope = KeyScope { endpoints, addresses };
    fields::complete(errors, kind.map(|kind| KeyRequest { kind, name, scope, expires_at }))
}

const ENDPOINTS: &str = "allowedEndpoints";

fn read_endpoints(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<Vec<Endpoint>> {
    let names = texts(raw?).filter(|names| (1..=Endpoint::ALL.len()).contains(&names.len()));
    let endpoints = names.and_then(|names| names.iter().map(|name| Endpoint::parse(name)).collect());
    let rule =
        "must be a list of endpoints as the API reference writes them, such as `POST /client/v1/payments`";
    endpoints.or_else(|| errors.add(ENDPOINTS, rule))
}

fn read_ranges(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<Vec<AddressRange>> {
    let texts = texts(raw?).filter(|texts| (1..=MAX_RANGES).contains(&texts.len()));
    let ranges = texts.and_then(|texts| texts.iter().map(|text| text.parse().ok()).collect());
    let rule = "must be a list of 1 to 50 IP addresses or ranges, such as `203.0.113.7` or `10.0.0.0/8`";
    ranges.or_else(|| errors.add("allowedIpRanges", rule))
}

fn texts(raw: &RawValue) -> Option<Vec<String>> {
    match JsonText::of(raw) {
        JsonText::Array(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn read_expiry(raw: Raw<'_>, now: Timestamp, errors: &mut FieldErrors) -> Option<Timestamp> {
    let read = fields::moment("expiresAt", Some(raw?), errors)?;
    if read <= now {
        return errors.add("expiresAt", "must be in the future");
    }
    Some(read)
}

fn read_rotation(body: &[u8], now: Timestamp) -> Result<RotationRequest, ApiError> {
    let body: RotateBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let (usual, longest) = (DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS);
    let seconds = fields::whole_number("graceSeconds", body.grace_seconds, usual, longest, &mut errors);
    let name =
        body.name.and_then(|name| fields::required_text("name", Some(name), MAX_NAME_LENGTH, &mut errors));
    let endpoints = read_endpoints(body.allowed_endpoints, &mut errors);
    let addresses = read_ranges(body.allowed_ip_ranges, &mut errors);
    let expires_at = read_expiry(body.expires_at, now, &mut errors);
    let grace = seconds.map(Duration::from_secs);
    let request = grace.map(|grace| RotationRequest { grace, name, endpoints, addresses, expires_at });
    fields::complete(errors, request)
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Missing => not_found_here(),
            KeyError::NotLive => Self::new(
                ErrorCode::KeyNotLive,
                "The key is revoked, expired or already rotated; issue a new one instead.",
            ),
            KeyError::Store(error) => error.into(),
            KeyError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
