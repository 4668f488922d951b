//! `/admin/v1/organizations/<id>/applications`.

use tollgate_domain::tenant::Application;

use crate::{admin_api::organizations::NameBody, prelude::*};

responses! {
    ApplicationResponse as Application {
        id: String,
        organization_id: String,
        name: String,
        created_at: Moment,
    }
}

impl From<Application> for ApplicationResponse {
    fn from(application: Application) -> Self {
        let Application { id, organization, name, created_at } = application;
        let (id, organization_id) = (id.to_string(), organization.to_string());
        Self { id, organization_id, name, created_at: Moment(created_at) }
    }
}

pub(crate) async fn create(operator: Operator, body: JsonBody<NameBody>) -> Created<ApplicationResponse> {
    let organization = operator.path("organization")?;
    let NameBody { name } = body.read(&operator).await?;
    let application = operator.app.engine.create_application(organization, name, &operator.origin).await?;
    respond::created(&ApplicationResponse::from(application))
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<ApplicationResponse>> {
    let (page, limit) = operator.page()?;
    let applications = operator.app.engine.applications(operator.path("organization")?, page).await?;
    respond::ok(&ListResponse::slice(applications, limit, ApplicationResponse::from, |it| it.id))
}
