//! `/admin/v1/environments/<id>/keys`.

use std::time::Duration;

use axum::body::Body;
use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_engine::{
    KeyError, NewKey,
    ports::{ChangeOrigin, KeyChange},
};
use utoipa::ToSchema;

use crate::{
    admin_api::{
        operator::{Operator, not_found_here},
        paging::ListResponse,
    },
    json::{text::JsonText, timestamp::rfc3339},
    reference::{scalars, words},
    request::{
        body,
        fields::{self, FieldErrors, Raw},
    },
    response::{
        error::ApiError,
        error_code::ErrorCode,
        respond::{self, ApiResult},
    },
};

/// A day, in which every instance of the caller's backend can be given the new key.
const DEFAULT_GRACE_SECONDS: u64 = 86_400;
const MAX_GRACE_SECONDS: u64 = 90 * 86_400;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Key)]
pub(crate) struct KeyResponse {
    id: String,
    #[schema(value_type = words::KeyKind)]
    kind: &'static str,
    #[schema(value_type = words::KeyStatus)]
    status: &'static str,
    last_four: String,
    #[schema(value_type = scalars::Moment)]
    created_at: String,
    #[schema(value_type = Option<scalars::Moment>, required)]
    expires_at: Option<String>,
    #[schema(value_type = Option<scalars::Moment>, required)]
    revoked_at: Option<String>,
    #[schema(required)]
    replaced_by: Option<String>,
    /// Who did what to it, the oldest first. Keys issued by release 0.1.0 have no entry for that.
    changes: Vec<KeyChangeResponse>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyChange)]
pub(crate) struct KeyChangeResponse {
    #[schema(value_type = words::KeyAction)]
    action: &'static str,
    /// As they name themselves.
    by: String,
    #[schema(value_type = scalars::Moment)]
    at: String,
    request_id: String,
}

impl KeyChangeResponse {
    fn of(change: &KeyChange) -> Self {
        let ChangeOrigin { actor, request, at, .. } = &change.origin;
        let (by, request_id) = (actor.clone(), request.clone());
        Self { action: change.action.as_str(), by, at: rfc3339(*at), request_id }
    }
}

/// The one answer that shows a key.
#[derive(Serialize, ToSchema)]
#[schema(as = NewKey)]
pub(crate) struct NewKeyResponse<'a> {
    key: &'a str,
    #[serde(flatten)]
    record: KeyResponse,
}

impl KeyResponse {
    fn of(record: &KeyRecord, now: Timestamp, changes: &[KeyChange]) -> Self {
        let changes = changes.iter().filter(|change| change.key == record.id);
        let status = match record.revoked_at {
            Some(_) => "revoked",
            None if record.is_live(now) => "live",
            None => "expired",
        };
        Self {
            id: record.id.to_string(),
            kind: record.kind.as_str(),
            status,
            last_four: record.last_four.clone(),
            created_at: rfc3339(record.created_at),
            expires_at: record.expires_at.map(rfc3339),
            revoked_at: record.revoked_at.map(rfc3339),
            replaced_by: record.replaced_by.map(|id| id.to_string()),
            changes: changes.map(KeyChangeResponse::of).collect(),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[schema(as = KeyRequest)]
pub(crate) struct IssueBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = words::KeyKind, required)]
    kind: Raw<'a>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyRotationRequest)]
pub(crate) struct RotateBody<'a> {
    /// How long the old key goes on opening; a day where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<u64>, maximum = 7_776_000)]
    grace_seconds: Raw<'a>,
}

pub(crate) async fn issue(operator: Operator, body: Body) -> ApiResult {
    let environment = operator.path("environment")?;
    let body = body::read_json(&operator.headers, body, body::CLIENT_LIMIT).await?;
    let new = operator.app.engine.issue_key(environment, read_kind(&body)?, operator.origin.clone()).await?;
    shown_once(&operator, environment, &new).await
}

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let (page, limit) = operator.page()?;
    let environment = operator.path("environment")?;
    let engine = &operator.app.engine;
    let keys = engine.keys(environment, page).await?;
    let changes = engine.key_changes(environment, &keys).await?;
    let now = engine.clock().now();
    respond::ok(&ListResponse::slice(keys, limit, |it| KeyResponse::of(&it, now, &changes), |it| it.id))
}

pub(crate) async fn rotate(operator: Operator, body: Body) -> ApiResult {
    let (environment, key) = path(&operator)?;
    let body = body::read_json_or_nothing(&operator.headers, body, body::CLIENT_LIMIT).await?;
    let grace = read_grace(&body)?;
    let new = operator.app.engine.rotate_key(environment, key, grace, operator.origin.clone()).await?;
    shown_once(&operator, environment, &new).await
}

pub(crate) async fn revoke(operator: Operator) -> ApiResult {
    let (environment, key) = path(&operator)?;
    let record = operator.app.engine.revoke_key(environment, key, operator.origin.clone()).await?;
    respond::ok(&with_changes(&operator, environment, &record).await)
}

fn path(operator: &Operator) -> Result<(EnvironmentId, KeyId), ApiError> {
    Ok((operator.path("environment")?, operator.path("key")?))
}

async fn shown_once(operator: &Operator, environment: EnvironmentId, new: &NewKey) -> ApiResult {
    let record = with_changes(operator, environment, &new.record).await;
    respond::created(&NewKeyResponse { key: new.key.expose(), record })
}

async fn with_changes(operator: &Operator, environment: EnvironmentId, record: &KeyRecord) -> KeyResponse {
    let engine = &operator.app.engine;
    // The change is made: a key that was issued is shown, also where who did it cannot be read right now.
    let changes = engine.key_changes(environment, std::slice::from_ref(record)).await.unwrap_or_default();
    KeyResponse::of(record, engine.clock().now(), &changes)
}

fn read_kind(body: &[u8]) -> Result<KeyKind, ApiError> {
    let body: IssueBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let kind = match body.kind.map(JsonText::of) {
        Some(JsonText::String(text)) => KeyKind::parse(&text),
        _ => None,
    };
    let kind = kind.or_else(|| errors.add("kind", "must be one of: secret, publishable"));
    fields::complete(errors, kind)
}

fn read_grace(body: &[u8]) -> Result<Duration, ApiError> {
    let body: RotateBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let (usual, longest) = (DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS);
    let seconds = fields::whole_number("graceSeconds", body.grace_seconds, usual, longest, &mut errors);
    fields::complete(errors, seconds.map(Duration::from_secs))
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
