//! `/admin/v1/organizations/<id>/applications`.

use axum::body::Body;
use serde::Serialize;
use tollgate_domain::tenant::Application;
use utoipa::ToSchema;

use crate::{
    admin_api::{operator::Operator, organizations::read_name, paging::ListResponse},
    json::timestamp::rfc3339,
    reference::scalars,
    request::body,
    response::respond::{self, ApiResult},
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Application)]
pub(crate) struct ApplicationResponse {
    id: String,
    organization_id: String,
    name: String,
    #[schema(value_type = scalars::Moment)]
    created_at: String,
}

impl From<Application> for ApplicationResponse {
    fn from(application: Application) -> Self {
        let Application { id, organization, name, created_at } = application;
        let (id, organization_id) = (id.to_string(), organization.to_string());
        Self { id, organization_id, name, created_at: rfc3339(created_at) }
    }
}

pub(crate) async fn create(operator: Operator, body: Body) -> ApiResult {
    let organization = operator.path("organization")?;
    let body = body::read_json(&operator.headers, body, body::CLIENT_LIMIT).await?;
    let (engine, name) = (&operator.app.engine, read_name(&body)?);
    let application = engine.create_application(organization, name, &operator.origin).await?;
    respond::created(&ApplicationResponse::from(application))
}

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let (page, limit) = operator.page()?;
    let applications = operator.app.engine.applications(operator.path("organization")?, page).await?;
    respond::ok(&ListResponse::slice(applications, limit, ApplicationResponse::from, |it| it.id))
}
