//! What every admin handler begins with: an authenticated operator, the request's path and query.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::{HeaderMap, request::Parts};
use tollgate_engine::Origin;

use crate::{app::SharedApp, auth::authenticate_admin, edge::RequestContext, error::ApiError};

/// Who operators say they are; recorded with what they change.
const ACTOR_HEADER: &str = "tollgate-actor";
const LONGEST_ACTOR: usize = 120;

/// An operator, let through.
pub(crate) struct Operator {
    pub(crate) app: SharedApp,
    /// For the history: who, and in which request.
    pub(crate) origin: Origin,
    pub(crate) headers: HeaderMap,
    params: Vec<(String, String)>,
    query: String,
}

impl FromRequestParts<SharedApp> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        let context = parts.extensions.get::<RequestContext>().copied();
        let context = context.ok_or_else(|| ApiError::internal("a request came without its context"))?;
        authenticate_admin(app, &parts.headers, &context)?;
        let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| nothing_here())?;
        Ok(Self {
            app: app.clone(),
            origin: Origin { actor: actor(&parts.headers), request: context.id.to_string() },
            headers: parts.headers.clone(),
            params: params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
        })
    }
}

impl Operator {
    /// A part of the path. What is not in the right form does not exist.
    pub(crate) fn path<T: FromStr>(&self, name: &str) -> Result<T, ApiError> {
        let value = self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        value.and_then(|value| value.parse().ok()).ok_or_else(nothing_here)
    }

    /// A part of the query, if it was given. Ids and numbers need no unescaping.
    pub(crate) fn query<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, ApiError> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        let Some((_, value)) = pairs.rfind(|(known, _)| *known == name) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| {
            let mut faults = crate::fields::Faults::default();
            faults.add::<()>(name, "is not in the form this list takes");
            faults.into_error()
        })
    }
}

/// What does not exist looks the same whether it never did or belongs elsewhere.
pub(crate) fn nothing_here() -> ApiError {
    ApiError::not_found("There is no such thing here; check the ids in the path.")
}

fn actor(headers: &HeaderMap) -> String {
    let named =
        headers.get(ACTOR_HEADER).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::trim);
    let usable = named.filter(|name| !name.is_empty() && name.chars().count() <= LONGEST_ACTOR);
    usable.unwrap_or("admin").to_owned()
}
