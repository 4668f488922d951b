//! `/admin/v1/environments/<id>/keys`.

use std::time::Duration;

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    key_scope::KeyScope,
    tenant::KeyRecord,
};
use tollgate_engine::{KeyError, KeyRequest, NewKey, RotationRequest, ports::KeyChange};

use crate::prelude::*;

/// A day, in which every instance of the caller's backend can be given the new key.
const DEFAULT_GRACE: Duration = Duration::from_hours(24);
const MAX_GRACE_SECONDS: u64 = 90 * 86_400;
const MAX_NAME_LENGTH: usize = 80;

type Grace = scalars::Seconds<MAX_GRACE_SECONDS>;
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

requests! {
    IssueBody as KeyRequest {
        kind: words::KeyKind,
        /// What people call it.
        name: Option<NameText>,
        /// The only endpoints it may call; a publishable key opens no others than the two that prepare card payments.
        allowed_endpoints: Option<scalars::KeyEndpoints>,
        /// The only addresses it may be used from: up to 50 of IPv4 or IPv6, such as `203.0.113.7` or `10.0.0.0/8`.
        allowed_ip_ranges: Option<scalars::IpRanges>,
        /// From this moment on it is refused; omitted, never.
        expires_at: Option<scalars::Expiry>,
    } => |form| {
        if let (Some(kind), Some(Some(endpoints))) = (kind, &allowed_endpoints)
            && endpoints.iter().any(|endpoint| !endpoint.opens_for(kind))
        {
            form.errors.add::<()>("allowedEndpoints", "names an endpoint that a publishable key cannot call");
        }
    }

    RotateBody as KeyRotationRequest {
        /// How long the old key goes on opening; a day where it is left out.
        grace_seconds: Option<Grace>,
        /// Another name than the old key's.
        name: Option<NameText>,
        /// Other endpoints than the old key's.
        allowed_endpoints: Option<scalars::KeyEndpoints>,
        /// Other addresses than the old key's.
        allowed_ip_ranges: Option<scalars::IpRanges>,
        /// When the new key ends. Omitted, it lives as long as the old one was issued for.
        expires_at: Option<scalars::Expiry>,
    }
}

pub(crate) async fn issue(operator: Operator, body: JsonBody<IssueBody>) -> Created<NewKeyResponse<'static>> {
    let environment = operator.path("environment")?;
    let body = body.read(&operator).await?;
    let scope = KeyScope { endpoints: body.allowed_endpoints, addresses: body.allowed_ip_ranges };
    let request = KeyRequest { kind: body.kind, name: body.name, scope, expires_at: body.expires_at };
    let new = operator.app.engine.issue_key(environment, request, operator.origin.clone()).await?;
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
    body: OptionalBody<RotateBody>,
) -> Created<NewKeyResponse<'static>> {
    let (environment, key) = path(&operator)?;
    let body = body.read(&operator).await?;
    let rotation = RotationRequest {
        grace: body.grace_seconds.unwrap_or(DEFAULT_GRACE),
        name: body.name,
        endpoints: body.allowed_endpoints,
        addresses: body.allowed_ip_ranges,
        expires_at: body.expires_at,
    };
    let new = operator.app.engine.rotate_key(environment, key, rotation, operator.origin.clone()).await?;
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
