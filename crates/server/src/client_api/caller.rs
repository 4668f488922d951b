//! What the client API's handlers begin with: a key that opens an environment, the request's path and query.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::{HeaderMap, request::Parts};
use tollgate_domain::{id::KeyId, tenant::KeyKind};
use tollgate_engine::{BodyMeter, Engine, EnvironmentView};

use crate::{
    app::SharedApp,
    request::{
        auth::{Access, authenticate},
        context::RequestContext,
        location::Location,
    },
    response::error::ApiError,
};

/// A caller, let through.
pub(crate) struct Caller {
    pub(crate) app: SharedApp,
    /// What the key opens, as it is configured now.
    pub(crate) view: Arc<EnvironmentView>,
    pub(crate) key: KeyId,
    pub(crate) kind: KeyKind,
    pub(crate) request: String,
    pub(crate) headers: HeaderMap,
    pub(crate) location: Location,
}

/// A caller with a secret key.
pub(crate) struct Backend(pub(crate) Caller);

/// A caller who may prepare card payments.
pub(crate) struct Preparer(pub(crate) Caller);

impl FromRequestParts<SharedApp> for Backend {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        Caller::admit(parts, app, Access::SecretKey).await.map(Self)
    }
}

impl FromRequestParts<SharedApp> for Preparer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        Caller::admit(parts, app, Access::Preparation).await.map(Self)
    }
}

/// A caller with a secret key for bank transfers.
pub(crate) struct Payer(pub(crate) Caller);

impl FromRequestParts<SharedApp> for Payer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        Caller::admit(parts, app, Access::Transfer).await.map(Self)
    }
}

impl Caller {
    async fn admit(parts: &mut Parts, app: &SharedApp, access: Access) -> Result<Self, ApiError> {
        let context = RequestContext::of(parts)?;
        let (view, key, kind) = {
            let snapshot = app.engine.directory().snapshot();
            let key = authenticate(app, &snapshot, &parts.headers, &context, access)?;
            // A publishable key is in browsers: it does not authenticate a known caller.
            if key.kind == KeyKind::Secret
                && let Some(meter) = parts.extensions.get::<Arc<BodyMeter>>()
            {
                meter.recognize();
            }
            (Arc::clone(&key.environment), key.id, key.kind)
        };
        Ok(Self {
            app: Arc::clone(app),
            view,
            key,
            kind,
            request: context.id.to_string(),
            headers: parts.headers.clone(),
            location: Location::of(parts, app).await?,
        })
    }
}

/// Runs to its end what must not stop half way when the caller hangs up.
pub(crate) async fn run_to_completion<T: Send + 'static>(
    engine: &Engine,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, ApiError> {
    engine.host().run(work).await.map_err(|error| ApiError::internal(error.to_string()))
}
