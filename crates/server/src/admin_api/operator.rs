//! What every admin handler begins with: an operator who may do what is asked, the request's path and query.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use http::{HeaderMap, request::Parts};
use tollgate_domain::{
    id::{ApplicationId, EnvironmentId, OrganizationId},
    people::{Denied, Identity, Permission, Place},
};
use tollgate_engine::Origin;

use crate::{
    app::SharedApp,
    request::{
        auth::identify_operator,
        context::RequestContext,
        location::{Location, QueryReader},
    },
    response::{error::ApiError, error_code::ErrorCode},
};

pub(crate) use crate::response::error::not_found_here;

/// Who the holder of the admin token says they are; recorded with what they change. Users cannot choose their name.
const ACTOR_HEADER: &str = "tollgate-actor";
const MAX_ACTOR_LENGTH: usize = 120;

/// An operator, let through.
pub(crate) struct Operator {
    pub(crate) app: SharedApp,
    pub(crate) identity: Identity,
    /// For the history: who, and in which request.
    pub(crate) origin: Origin,
    pub(crate) headers: HeaderMap,
    pub(crate) location: Location,
}

impl FromRequestParts<SharedApp> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        let context = RequestContext::of(parts)?;
        let identity = identify_operator(app, &parts.headers, &context)?;
        // The router puts there what its table says of the operation.
        let permission = parts.extensions.get::<Permission>().copied();
        let permission = permission.ok_or_else(|| ApiError::internal("operation without permission"))?;
        let location = Location::of(parts, app).await?;
        let place = match identity.organizations() {
            Some(_) => place(&location, app).await?,
            // Nothing is hidden from those who see everything, so that nothing needs to be looked up.
            None => Place::Service,
        };
        identity.check(permission, place).map_err(denied)?;
        Ok(Self {
            app: app.clone(),
            origin: Origin {
                actor: identity.actor(given_name(&parts.headers)),
                request: context.id.to_string(),
            },
            identity,
            headers: parts.headers.clone(),
            location,
        })
    }
}

/// Where what the path names belongs.
async fn place(location: &Location, app: &SharedApp) -> Result<Place, ApiError> {
    let organization = if location.has("organization") {
        location.path::<OrganizationId>("organization").ok()
    } else if location.has("environment") {
        let id = location.path::<EnvironmentId>("environment").ok();
        let snapshot = app.engine.directory().snapshot();
        id.and_then(|id| snapshot.environment(id).map(|view| view.environment.organization))
    } else if location.has("application") {
        match location.path::<ApplicationId>("application") {
            Ok(id) => app.engine.application(id).await?.map(|application| application.organization),
            Err(_) => None,
        }
    } else {
        return Ok(Place::Service);
    };
    Ok(organization.map_or(Place::Nowhere, Place::Organization))
}

fn denied(why: Denied) -> ApiError {
    match why {
        Denied::Hidden => not_found_here(),
        Denied::Role => ApiError::new(
            ErrorCode::Forbidden,
            "Your role does not allow this; ask somebody whose role does, or an admin for another role.",
        ),
        Denied::Limited => ApiError::new(
            ErrorCode::Forbidden,
            "This covers every organization, and your role is limited to some; ask somebody whose role is not.",
        ),
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

fn given_name(headers: &HeaderMap) -> Option<&str> {
    let named =
        headers.get(ACTOR_HEADER).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::trim);
    named.filter(|name| !name.is_empty() && name.chars().count() <= MAX_ACTOR_LENGTH)
}
