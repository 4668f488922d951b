//! `POST /webhooks/v1/<environment id>/<provider>`: what providers tell us.

use axum::{
    body::Body,
    extract::{Request, State},
};
use serde::Serialize;
use tollgate_engine::{WebhookError, ports::SignatureError};
use utoipa::ToSchema;

use crate::{
    app::SharedApp,
    request::{body, context::RequestContext, location::Location},
    response::{
        error::{ApiError, not_found_here},
        error_code::ErrorCode,
        respond::{self, ApiResult},
    },
};

#[derive(Serialize, ToSchema)]
#[schema(as = WebhookReceipt)]
pub(crate) struct WebhookResponse {
    received: bool,
}

pub(crate) async fn handle(State(app): State<SharedApp>, request: Request<Body>) -> ApiResult {
    let (mut parts, body) = request.into_parts();
    let context = RequestContext::of(&parts)?;
    let location = Location::of(&mut parts, &app).await?;
    let body = body::read_raw(&parts.headers, body, body::WEBHOOK_LIMIT).await?;
    let environment = location.path("environment")?;
    let provider: String = location.path("provider")?;
    let headers: Vec<_> = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let request = context.id.to_string();
    app.engine.receive_webhook(environment, &provider, &headers, &body, &request).await?;
    respond::ok(&WebhookResponse { received: true })
}

impl From<WebhookError> for ApiError {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::Missing => not_found_here(),
            WebhookError::SignatureError(SignatureError::NoSecret) => Self::new(
                ErrorCode::ProviderNotConfigured,
                "This provider's webhook secret is not configured, so its webhooks cannot be verified.",
            ),
            WebhookError::SignatureError(why) => Self::unauthenticated(format!("Webhook rejected: {why}.")),
            WebhookError::Unreadable(_) => Self::malformed("The event is signed but unreadable."),
            WebhookError::InvalidName => Self::malformed(
                "The event is signed, but its ID and type must be 1 to 255 bytes without NUL.",
            ),
            WebhookError::Store(error) => error.into(),
        }
    }
}
