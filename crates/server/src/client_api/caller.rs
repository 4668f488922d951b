//! What the client API's handlers begin with: a key that opens an environment, the request's path and query.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::{HeaderMap, request::Parts};
use tollgate_domain::{id::KeyId, tenant::KeyKind};
use tollgate_engine::{BodyMeter, Engine, EnvironmentView};

use crate::{
    app::{App, SharedApp},
    request::{
        auth::{Access, authenticate},
        context::RequestContext,
        form::Sender,
        location::Location,
    },
    response::error::ApiError,
    types::{
        schemas::Schemas,
        signature::{Argument, Credential, Signature},
    },
};

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

/// Declares who may call, by what they have to present.
macro_rules! callers {
    ($($(#[$doc:meta])* $name:ident: $access:ident, $credential:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) Caller);

        impl FromRequestParts<SharedApp> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
                Caller::admit(parts, app, Access::$access).await.map(Self)
            }
        }

        impl Argument for $name {
            fn describe(signature: &mut Signature, _: &mut Schemas) {
                signature.credential = Credential::$credential;
            }
        }
    )*};
}

callers! {
    /// A caller with a secret key.
    Backend: SecretKey, SecretKey;
    /// A caller who may prepare card payments.
    Preparer: Preparation, AnyKey;
    /// A caller with a secret key for bank transfers.
    Payer: Transfer, SecretKey;
}

impl Sender for Caller {
    fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    fn app(&self) -> &App {
        &self.app
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
