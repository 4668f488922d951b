//! `POST /webhooks/v1/<environment id>/<provider>`: what providers tell us.

use crate::response::respond::Done;
use axum::{
    body::Body,
    extract::{Request, State},
};
use tollgate_domain::id::EnvironmentId;
use tollgate_engine::WebhookError;
use tracing::info;

use crate::{
    app::SharedApp,
    request::{body, context::RequestContext, location::Location},
    response::{error::ApiError, respond},
    types::responses,
};

/// The same whatever the reason, so that the answer does not reveal which environments and providers exist.
const NOT_VERIFIED: &str = "This webhook was not verified: there is no such provider here, or the webhook is not signed \
                            with its secret. The server's log says why.";

responses! {
    WebhookResponse as WebhookReceipt {
        received: bool,
    }
}

pub(crate) async fn handle(State(app): State<SharedApp>, request: Request<Body>) -> Done<WebhookResponse> {
    let (mut parts, body) = request.into_parts();
    let context = RequestContext::of(&parts)?;
    let location = Location::of(&mut parts, &app).await?;
    let environment: EnvironmentId = location.path("environment")?;
    let provider: String = location.path("provider")?;
    if !app.engine.takes_webhooks(environment, &provider) {
        // Nothing is stored of a webhook that cannot be verified.
        body::skip(&parts.headers, body);
        let error = WebhookError::Missing;
        log_rejection(&app, &context, environment, &provider, &error);
        return Err(error.into());
    }
    let body = body::read_raw(&parts.headers, body, body::WEBHOOK_LIMIT).await?;
    let headers: Vec<_> = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let request = context.id.to_string();
    // In a box of its own: nothing is set aside for it while the body is awaited.
    let receiving = app.engine.receive_webhook(environment, &provider, &headers, &body, &request);
    let received = Box::pin(receiving).await;
    if let Err(reason @ (WebhookError::Missing | WebhookError::SignatureError(_))) = &received {
        log_rejection(&app, &context, environment, &provider, reason);
    }
    received?;
    respond::ok(&WebhookResponse { received: true })
}

fn log_rejection(
    app: &SharedApp,
    context: &RequestContext,
    environment: EnvironmentId,
    provider: &str,
    reason: &WebhookError,
) {
    let exists = app.engine.directory().snapshot().environment(environment).is_some();
    // A provider's name is logged only where there is an environment that may have one of that name.
    let provider = if exists { provider } else { "" };
    info!(request_id = %context.id, %environment, provider, %reason, "webhook rejected");
}

impl From<WebhookError> for ApiError {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::Missing | WebhookError::SignatureError(_) => Self::unauthenticated(NOT_VERIFIED),
            WebhookError::Store(error) => error.into(),
        }
    }
}
