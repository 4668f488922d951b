//! Organizations, applications and environments: the way in, and making new ones.

use askama::Template;
use axum::response::{IntoResponse as _, Redirect, Response};
use tollgate_domain::{
    id::{ApplicationId, OrganizationId},
    people::{Permission, Place},
    tenant::EnvironmentName,
};
use tollgate_engine::ports::Page as Slice;

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// More are found by their id through the admin API.
const MOST: u32 = 200;
const MAX_NAME_LENGTH: usize = 120;

struct OrganizationView {
    id: String,
    name: String,
    applications: Vec<ApplicationView>,
}

struct ApplicationView {
    id: String,
    name: String,
    environments: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "environments.html")]
struct EnvironmentsPage {
    frame: Frame,
    organizations: Vec<OrganizationView>,
}

/// Straight to the environment where there is only one.
pub(crate) async fn enter(signed_in: SignedIn) -> Page {
    let organizations = organizations(&signed_in).await?;
    let environments: Vec<&String> = organizations
        .iter()
        .flat_map(|organization| &organization.applications)
        .flat_map(|application| application.environments.iter().map(|(id, _)| id))
        .collect();
    match environments.as_slice() {
        [only] => Ok(Redirect::to(&format!("/console/{only}")).into_response()),
        _ => Ok(Redirect::to("/console/environments").into_response()),
    }
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let organizations = organizations(&signed_in).await?;
    let frame = signed_in.service_frame("Environments", "").await?;
    page::render(&EnvironmentsPage { frame, organizations })
}

async fn organizations(signed_in: &SignedIn) -> Result<Vec<OrganizationView>, PageError> {
    let engine = &signed_in.console.engine;
    let mut views = Vec::new();
    let all = Slice { after: None, limit: MOST };
    for organization in engine.organizations_seen_by(&signed_in.identity, all).await? {
        let mut applications = Vec::new();
        for application in engine.applications(organization.id, Slice { after: None, limit: MOST }).await? {
            let environments =
                engine.environments(application.id, Slice { after: None, limit: MOST }).await?;
            applications.push(ApplicationView {
                id: application.id.to_string(),
                name: application.name,
                environments: environments
                    .iter()
                    .map(|environment| (environment.id.to_string(), environment.name.as_str().to_owned()))
                    .collect(),
            });
        }
        views.push(OrganizationView {
            id: organization.id.to_string(),
            name: organization.name,
            applications,
        });
    }
    Ok(views)
}

pub(crate) async fn create(form: Submitted) -> Result<Response, PageError> {
    let engine = &form.signed_in.console.engine;
    let name = form.field("name").to_owned();
    if name.is_empty() || name.chars().count() > MAX_NAME_LENGTH {
        return Err(PageError::Refused("Enter a name of 1 to 120 characters.".to_owned()));
    }
    let parent = form.field("parent");
    let origin = form.signed_in.origin();
    let require = |permission, place| form.signed_in.require(permission, place);
    let said = match form.field("what") {
        "organization" => {
            require(Permission::CreateOrganizations, Place::Service)?;
            format!("{} created.", engine.create_organization(name, &origin).await?.name)
        }
        "application" => {
            let parent: OrganizationId = parent.parse().map_err(|_| PageError::Missing)?;
            require(Permission::Configure, Place::Organization(parent))?;
            format!("{} created.", engine.create_application(parent, name, &origin).await?.name)
        }
        "environment" => {
            let parent: ApplicationId = parent.parse().map_err(|_| PageError::Missing)?;
            let known = engine.application(parent).await?.ok_or(PageError::Missing)?;
            require(Permission::Configure, Place::Organization(known.organization))?;
            let name = EnvironmentName::parse(&name).ok_or_else(|| {
                PageError::Refused(
                    "An environment's name is 1 to 32 lower-case letters and digits, such as test or live."
                        .to_owned(),
                )
            })?;
            let environment = engine.create_environment(parent, name, &origin).await?;
            format!("{} is there: {}.", environment.name.as_str(), environment.id)
        }
        _ => return Err(PageError::Refused("Unknown action.".to_owned())),
    };
    Ok(form.signed_in.back("/console/environments", &said))
}
