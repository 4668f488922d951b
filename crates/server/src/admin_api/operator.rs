//! What every admin handler begins with: an operator who may do what is asked, the request's path and query.

use std::{fmt::Display, str::FromStr, sync::Arc};

use axum::extract::FromRequestParts;
use http::{HeaderMap, StatusCode, request::Parts};
use serde_json::json;
use tollgate_domain::{
    id::{ApplicationId, EnvironmentId, OrganizationId},
    people::{Denied, Identity, Permission, Place},
};
use tollgate_engine::{Audited, BodyMeter, Origin, list_query};
use tracing::warn;

use crate::{
    app::{App, SharedApp},
    request::{
        auth::identify_operator,
        context::RequestContext,
        form::Sender,
        location::{Location, QueryReader},
    },
    response::{
        error::{ApiError, not_found_here},
        error_code::ErrorCode,
    },
    types::{
        schemas::Schemas,
        signature::{Argument, Credential, Signature},
    },
};

/// Who the holder of the admin token says they are; recorded with what they change. Users cannot choose their name.
const ACTOR_HEADER: &str = "tollgate-actor";
const MAX_ACTOR_LENGTH: usize = 120;

/// What an operation asks of an operator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requirement {
    pub(crate) operation: &'static str,
    pub(crate) permission: Permission,
}

pub(crate) struct Operator {
    pub(crate) app: SharedApp,
    pub(crate) identity: Identity,
    /// For the history: who, and in which request.
    pub(crate) origin: Origin,
    operation: &'static str,
    pub(crate) headers: HeaderMap,
    pub(crate) location: Location,
}

impl Sender for Operator {
    fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    fn app(&self) -> &App {
        &self.app
    }
}

impl Argument for Operator {
    fn describe(signature: &mut Signature, _: &mut Schemas) {
        signature.credential = Credential::AdminToken;
    }
}

impl FromRequestParts<SharedApp> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        let context = RequestContext::of(parts)?;
        // The router puts there what its table says of the operation.
        let requirement = parts.extensions.get::<Requirement>().copied();
        let requirement = requirement.ok_or_else(|| ApiError::internal("operation without permission"))?;
        let identified = identify_operator(app, &parts.headers, &context);
        let origin = origin(identified.as_ref().ok(), &parts.headers, &context);
        let admitted = admit(identified, parts, app, requirement).await;
        if let Err(error) = &admitted {
            record_refusal(app, error, &origin, requirement).await;
        }
        let (identity, location) = admitted?;
        if let Some(meter) = parts.extensions.get::<Arc<BodyMeter>>() {
            meter.recognize();
        }
        let (app, headers, operation) = (app.clone(), parts.headers.clone(), requirement.operation);
        Ok(Self { app, identity, origin, operation, headers, location })
    }
}

/// Checks that the operator may do what is asked.
async fn admit(
    identified: Result<Identity, ApiError>,
    parts: &mut Parts,
    app: &SharedApp,
    requirement: Requirement,
) -> Result<(Identity, Location), ApiError> {
    let identity = identified?;
    let location = Location::of(parts, app).await?;
    let place = match identity.organizations() {
        Some(_) => place(&location, app).await?,
        // Nothing is hidden from those who see everything, so that nothing needs to be looked up.
        None => Place::Service,
    };
    identity.check(requirement.permission, place).map_err(denied)?;
    Ok((identity, location))
}

fn origin(identity: Option<&Identity>, headers: &HeaderMap, context: &RequestContext) -> Origin {
    Origin::of(identity, given_name(headers), context.id.to_string(), Some(context.client))
}

/// Puts a refusal into the audit log, at a limited rate per operator and of all unknown callers together, so that the log cannot
/// be flooded.
async fn record_refusal(app: &SharedApp, error: &ApiError, origin: &Origin, requirement: Requirement) {
    let refused = Audited::new("access.refuse", requirement.operation).after(json!({ "code": error.code() }));
    let recorded = match error.status() {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => {
            app.engine.record_repeatable(origin, refused).await
        }
        _ => Ok(()),
    };
    if let Err(error) = recorded {
        warn!(%error, operation = requirement.operation, "refusal not recorded in the audit log");
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

    /// Refuses, and records it, unless this operator has the permission in the whole service.
    pub(crate) async fn require(&self, permission: Permission) -> Result<(), ApiError> {
        let admitted = self.identity.check(permission, Place::Service).map_err(denied);
        if let Err(error) = &admitted {
            let requirement = Requirement { permission, operation: self.operation };
            record_refusal(&self.app, error, &self.origin, requirement).await;
        }
        admitted
    }

    /// The path's environment, if there is one.
    pub(crate) fn known_environment(&self) -> Result<EnvironmentId, ApiError> {
        let environment = self.path("environment")?;
        let snapshot = self.app.engine.directory().snapshot();
        snapshot.environment(environment).map(|_| environment).ok_or_else(not_found_here)
    }

    /// Puts into the audit log that customers' data were listed or searched, before they are shown. What was searched for
    /// may name a person, who may have to be erased: only that there was a search is kept.
    pub(crate) async fn record_list(
        &self,
        action: &'static str,
        environment: EnvironmentId,
    ) -> Result<(), ApiError> {
        let listed = Audited::new(action, environment).in_environment(environment);
        let listed = listed.after(list_query(self.location.query_fields()));
        Ok(self.app.engine.record_repeatable(&self.origin, listed).await?)
    }

    /// Puts into the audit log that one of them was viewed, once it is found and before it is shown.
    pub(crate) async fn record_view(
        &self,
        action: &'static str,
        environment: EnvironmentId,
        subject: impl Display + Send,
    ) -> Result<(), ApiError> {
        let viewed = Audited::new(action, subject).in_environment(environment);
        Ok(self.app.engine.record_view(&self.origin, viewed).await?)
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
