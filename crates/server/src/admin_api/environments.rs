//! `/admin/v1/applications/<id>/environments` and `/admin/v1/environments/<id>`.

use tollgate_domain::tenant::Environment;

use crate::prelude::*;

responses! {
    EnvironmentResponse as Environment {
        id: String,
        application_id: String,
        organization_id: String,
        name: String,
        created_at: Moment,
    }
}

requests! {
    EnvironmentBody as EnvironmentRequest {
        name: scalars::EnvironmentNameInput,
    }
}

impl From<Environment> for EnvironmentResponse {
    fn from(environment: Environment) -> Self {
        Self {
            id: environment.id.to_string(),
            application_id: environment.application.to_string(),
            organization_id: environment.organization.to_string(),
            name: environment.name.to_string(),
            created_at: Moment(environment.created_at),
        }
    }
}

pub(crate) async fn create(
    operator: Operator,
    body: JsonBody<EnvironmentBody>,
) -> Created<EnvironmentResponse> {
    let application = operator.path("application")?;
    let EnvironmentBody { name } = body.read(&operator).await?;
    let environment = operator.app.engine.create_environment(application, name, &operator.origin).await?;
    respond::created(&EnvironmentResponse::from(environment))
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<EnvironmentResponse>> {
    let (page, limit) = operator.page()?;
    let environments = operator.app.engine.environments(operator.path("application")?, page).await?;
    respond::ok(&ListResponse::slice(environments, limit, EnvironmentResponse::from, |it| it.id))
}

pub(crate) async fn read(operator: Operator) -> Done<EnvironmentResponse> {
    let environment = operator.app.engine.environment(operator.path("environment")?).await?;
    respond::ok(&EnvironmentResponse::from(environment.ok_or_else(not_found_here)?))
}
