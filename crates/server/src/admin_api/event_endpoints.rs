//! `/admin/v1/environments/<id>/event-endpoints`: who is told what happens.

use std::{borrow::Cow, time::Duration};

use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tollgate_domain::{
    event::EventFilter,
    id::{EndpointId, EnvironmentId},
    people::Permission,
};
use tollgate_engine::{
    CreatedEndpoint, DescriptionChange, EndpointChange, EndpointError, EndpointUrl, Engine, NewEndpoint,
    ports::Endpoint,
};
use tracing::info;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{json::text::JsonText, prelude::*};

const MAX_DESCRIPTION_LENGTH: usize = 500;

type Grace = scalars::Seconds<MAX_GRACE_SECONDS>;
type DescriptionText = scalars::Prose<MAX_DESCRIPTION_LENGTH>;

/// A day, in which every instance of the receiver can be given the new secret.
const DEFAULT_GRACE: Duration = Duration::from_hours(24);
const MAX_GRACE_SECONDS: u64 = 30 * 86_400;
/// More names than there are events, in a list that is read whole.
const MAX_NAMES: usize = 64;

responses! {
    EndpointResponse as EventEndpoint {
        id: String,
        url: String,
        description: Option<String>,
        events: Vec<words::EventName>,
        enabled: bool,
        /// Why nothing is sent there, in words.
        disabled_reason: Option<String>,
        /// Deliveries that failed since one last succeeded.
        failures: u32,
        /// Left alone until then because it did not answer.
        rests_until: Option<Moment>,
        /// When the secrets that were rotated away cease to sign, the latest first.
        old_secrets_until: Vec<Moment>,
        created_at: Moment,
        updated_at: Moment,
    }

    /// The one answer that shows a secret.
    EndpointMadeResponse<'a> as NewEventEndpoint {
        secret: &'a str,
        #[serde(flatten)]
        endpoint: EndpointResponse,
    }
}

impl EndpointResponse {
    fn of(endpoint: &Endpoint, engine: &Engine) -> Self {
        let now = engine.clock().now();
        let mut ends: Vec<_> = endpoint.secrets.iter().filter_map(|secret| secret.until).collect();
        ends.retain(|until| *until > now);
        ends.sort_unstable_by(|one, other| other.cmp(one));
        Self {
            id: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            events: endpoint.filter.names().into_iter().map(Into::into).collect(),
            enabled: endpoint.disabled.is_none(),
            disabled_reason: endpoint.disabled.clone(),
            failures: endpoint.failures,
            rests_until: endpoint.rests_until.filter(|until| *until > now).map(Moment),
            old_secrets_until: ends.into_iter().map(Moment).collect(),
            created_at: Moment(endpoint.created_at),
            updated_at: Moment(endpoint.updated_at),
        }
    }
}

/// Not every field is of one type, so each is looked at by its own rule.
#[derive(Deserialize, ToSchema)]
#[schema(as = EventEndpointChange)]
pub(crate) struct EndpointBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::EndpointUrlInput>)]
    url: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::EventNamesInput>)]
    events: Raw<'a>,
    /// Null counts: it takes the description away.
    #[serde(borrow, default, deserialize_with = "given")]
    #[schema(value_type = Option<DescriptionText>, inline)]
    description: Option<&'a RawValue>,
    #[serde(borrow)]
    #[schema(value_type = Option<bool>)]
    enabled: Raw<'a>,
}

/// The same body for a new endpoint, which must say where and what.
pub(crate) struct NewEndpointBody;

impl PartialSchema for NewEndpointBody {
    fn schema() -> RefOr<Schema> {
        scalars::schema(json!({
            "type": "object",
            "required": ["url", "events"],
            "properties": {
                "url": scalars::EndpointUrlInput::schema(),
                "events": scalars::EventNamesInput::schema(),
                "description": {"oneOf": [{"type": "null"}, DescriptionText::schema()]},
            },
        }))
    }
}

impl ToSchema for NewEndpointBody {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("EventEndpointRequest")
    }
}

requests! {
    RotateBody as SecretRotationRequest {
        /// How long the old secret goes on signing beside the new one; a day where it is left out.
        grace_seconds: Option<Grace>,
    }
}

responses! {
    RemovedResponse as EventEndpointRemoved {
        removed: bool,
    }
}

pub(crate) async fn create(
    operator: Operator,
    body: JsonBody<NewEndpointBody>,
) -> Created<EndpointMadeResponse<'static>> {
    let environment = operator.known_environment()?;
    let body = body.bytes(&operator.headers).await?;
    let new = read_new(&body, &operator.app.engine)?;
    admit_filter(&operator, Some(&new.filter)).await?;
    let made = operator.app.engine.add_endpoint(environment, new, &operator.origin).await?;
    noted(&operator, made.endpoint.id, "event endpoint added");
    respond::created(&shown_once(&operator, &made))
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<EndpointResponse>> {
    let endpoints = operator.app.engine.endpoints(operator.known_environment()?).await?;
    let items =
        endpoints.iter().map(|endpoint| EndpointResponse::of(endpoint, &operator.app.engine)).collect();
    respond::ok(&ListResponse::whole(items))
}

pub(crate) async fn read(operator: Operator) -> Done<EndpointResponse> {
    let (environment, endpoint) = path(&operator)?;
    let endpoint = operator.app.engine.endpoint(environment, endpoint).await?;
    respond::ok(&EndpointResponse::of(&endpoint, &operator.app.engine))
}

pub(crate) async fn change(
    operator: Operator,
    body: JsonBody<EndpointBody<'static>>,
) -> Done<EndpointResponse> {
    let (environment, endpoint) = path(&operator)?;
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let change = read_change(&body, engine)?;
    admit_filter(&operator, change.filter.as_ref()).await?;
    let changed = engine.change_endpoint(environment, endpoint, &change, &operator.origin).await?;
    noted(&operator, endpoint, "event endpoint changed");
    respond::ok(&EndpointResponse::of(&changed, engine))
}

pub(crate) async fn remove(operator: Operator) -> Done<RemovedResponse> {
    let (environment, endpoint) = path(&operator)?;
    operator.app.engine.remove_endpoint(environment, endpoint, &operator.origin).await?;
    noted(&operator, endpoint, "event endpoint removed");
    respond::ok(&RemovedResponse { removed: true })
}

pub(crate) async fn rotate(
    operator: Operator,
    body: OptionalBody<RotateBody>,
) -> Created<EndpointMadeResponse<'static>> {
    let (environment, endpoint) = path(&operator)?;
    let grace = body.read(&operator).await?.grace_seconds.unwrap_or(DEFAULT_GRACE);
    let engine = &operator.app.engine;
    let made = engine.rotate_endpoint_secret(environment, endpoint, grace, &operator.origin).await?;
    noted(&operator, endpoint, "event endpoint secret rotated");
    respond::created(&shown_once(&operator, &made))
}

/// An event about the whole service can be asked for only by those who may read what it is about.
async fn admit_filter(operator: &Operator, filter: Option<&EventFilter>) -> Result<(), ApiError> {
    if filter.is_some_and(EventFilter::names_audit_log) {
        operator.require(Permission::ReadAuditLog).await
    } else {
        Ok(())
    }
}

fn path(operator: &Operator) -> Result<(EnvironmentId, EndpointId), ApiError> {
    Ok((operator.known_environment()?, operator.path("endpoint")?))
}

/// Who did it, for whoever asks later.
fn noted(operator: &Operator, endpoint: EndpointId, what: &'static str) {
    let (actor, request_id) = (&operator.origin.actor, &operator.origin.request);
    info!(request_id, actor, %endpoint, "{what}");
}

fn shown_once<'a>(operator: &Operator, made: &'a CreatedEndpoint) -> EndpointMadeResponse<'a> {
    let endpoint = EndpointResponse::of(&made.endpoint, &operator.app.engine);
    EndpointMadeResponse { secret: made.secret.expose(), endpoint }
}

fn read_new(body: &[u8], engine: &Engine) -> Result<NewEndpoint, ApiError> {
    let body: EndpointBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let url = match body.url {
        None => errors.add("url", "is required"),
        Some(raw) => url(raw, engine, &mut errors),
    };
    let filter = match body.events {
        None => errors.add("events", "is required: the event types to send, or [\"*\"] for all"),
        Some(raw) => filter(raw, &mut errors),
    };
    let description = match description(body.description, &mut errors) {
        DescriptionChange::Set(text) => Some(text),
        DescriptionChange::Keep | DescriptionChange::Clear => None,
    };
    let new = url.zip(filter).map(|(url, filter)| NewEndpoint { url, filter, description });
    fields::complete(errors, new)
}

fn read_change(body: &[u8], engine: &Engine) -> Result<EndpointChange, ApiError> {
    let body: EndpointBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let enabled = match body.enabled.map(JsonText::of) {
        None => None,
        Some(JsonText::Boolean(enabled)) => Some(enabled),
        Some(_) => errors.add("enabled", "must be true or false"),
    };
    let change = EndpointChange {
        url: body.url.and_then(|raw| url(raw, engine, &mut errors)),
        filter: body.events.and_then(|raw| filter(raw, &mut errors)),
        description: description(body.description, &mut errors),
        enabled,
    };
    fields::complete(errors, Some(change))
}

fn url(raw: &RawValue, engine: &Engine, errors: &mut FieldErrors) -> Option<EndpointUrl> {
    let JsonText::String(text) = JsonText::of(raw) else {
        return errors.add("url", "must be a string such as https://shop.example/events");
    };
    match engine.endpoint_url(&text) {
        Ok(url) => Some(url),
        Err(error) => errors.add("url", error.to_string()),
    }
}

fn filter(raw: &RawValue, errors: &mut FieldErrors) -> Option<EventFilter> {
    const RULE: &str = "must be a list of event types, or [\"*\"] for all";
    let names: Option<Vec<String>> = match JsonText::of(raw) {
        JsonText::Array(text) => serde_json::from_str(text).ok(),
        _ => None,
    };
    let Some(names) = names.filter(|names| names.len() <= MAX_NAMES) else {
        return errors.add("events", RULE);
    };
    match EventFilter::parse(names.iter().map(String::as_str)) {
        Ok(filter) => Some(filter),
        Err(error) => errors.add("events", error.to_string()),
    }
}

/// Left out it stays; null or empty takes it away.
fn description(raw: Option<&RawValue>, errors: &mut FieldErrors) -> DescriptionChange {
    let Some(raw) = raw else { return DescriptionChange::Keep };
    let text = Some(raw).filter(|raw| JsonText::of(raw) != JsonText::Null);
    let text = fields::optional_text("description", text, MAX_DESCRIPTION_LENGTH, errors);
    text.map_or(DescriptionChange::Clear, DescriptionChange::Set)
}

/// Tells a null from a field that is left out.
fn given<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

impl From<EndpointError> for ApiError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Missing => not_found_here(),
            EndpointError::TooMany => Self::new(
                ErrorCode::TooManyEndpoints,
                "This environment has reached its limit of event endpoints; remove one first.",
            ),
            EndpointError::Busy => Self::new(
                ErrorCode::EndpointBusy,
                "This endpoint is being changed by another request; try again.",
            ),
            EndpointError::Store(error) => error.into(),
            EndpointError::Seal(error) => Self::internal(error.to_string()),
            EndpointError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
