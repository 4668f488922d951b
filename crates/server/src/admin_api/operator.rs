//! What every admin handler begins with: an authenticated operator, the request's path and query.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use http::{HeaderMap, request::Parts};
use tollgate_domain::id::EnvironmentId;
use tollgate_engine::Origin;

use crate::{
    app::SharedApp,
    request::{
        auth::authenticate_admin,
        context::RequestContext,
        location::{Location, QueryReader},
    },
    response::error::ApiError,
};

pub(crate) use crate::response::error::not_found_here;

/// Who operators say they are; recorded with what they change.
const ACTOR_HEADER: &str = "tollgate-actor";
const MAX_ACTOR_LENGTH: usize = 120;

/// An operator, let through.
pub(crate) struct Operator {
    pub(crate) app: SharedApp,
    /// For the history: who, and in which request.
    pub(crate) origin: Origin,
    pub(crate) headers: HeaderMap,
    pub(crate) location: Location,
}

impl FromRequestParts<SharedApp> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        let context = RequestContext::of(parts)?;
        authenticate_admin(app, &parts.headers, &context)?;
        Ok(Self {
            app: app.clone(),
            origin: Origin { actor: actor(&parts.headers), request: context.id.to_string() },
            headers: parts.headers.clone(),
            location: Location::of(parts, app).await?,
        })
    }
}

impl Operator {
    /// A part of the path. What is not in the right form does not exist.
    pub(crate) fn path<T: FromStr>(&self, name: &str) -> Result<T, ApiError> {
        self.location.path(name)
    }

    /// The path's environment, if there is one.
    pub(crate) fn known_environment(&self) -> Result<EnvironmentId, ApiError> {
        let environment = self.path("environment")?;
        let snapshot = self.app.engine.directory().snapshot();
        snapshot.environment(environment).map(|_| environment).ok_or_else(not_found_here)
    }

    /// A reader of the query's fields.
    pub(crate) fn query(&self) -> QueryReader<'_> {
        self.location.query()
    }
}

fn actor(headers: &HeaderMap) -> String {
    let named =
        headers.get(ACTOR_HEADER).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::trim);
    let usable = named.filter(|name| !name.is_empty() && name.chars().count() <= MAX_ACTOR_LENGTH);
    usable.unwrap_or("admin").to_owned()
}
