//! `/admin/v1/applications/<id>/environments` and `/admin/v1/environments/<id>`.

use serde::Deserialize;
use tollgate_domain::tenant::{Environment, EnvironmentName};
use utoipa::ToSchema;

use crate::{json::text::JsonText, prelude::*};

responses! {
    EnvironmentResponse as Environment {
        id: String,
        application_id: String,
        organization_id: String,
        name: String,
        created_at: Moment,
    }
}

#[derive(Deserialize, ToSchema)]
#[schema(as = EnvironmentRequest)]
pub(crate) struct EnvironmentBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = scalars::EnvironmentNameInput, required)]
    name: Raw<'a>,
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
    body: JsonBody<EnvironmentBody<'static>>,
) -> Created<EnvironmentResponse> {
    let application = operator.path("application")?;
    let body = body.bytes(&operator.headers).await?;
    let environment =
        operator.app.engine.create_environment(application, read_name(&body)?, &operator.origin).await?;
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

fn read_name(body: &[u8]) -> Result<EnvironmentName, ApiError> {
    const RULE: &str = "must be 1 to 32 characters a-z and 0-9, starting with a letter, such as test or live";
    let body: EnvironmentBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let name = match body.name.map(JsonText::of) {
        None => errors.add("name", "is required"),
        Some(JsonText::String(text)) => EnvironmentName::parse(&text).or_else(|| errors.add("name", RULE)),
        Some(_) => errors.add("name", RULE),
    };
    fields::complete(errors, name)
}
