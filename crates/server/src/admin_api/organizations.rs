//! `/admin/v1/organizations`.

use tollgate_domain::tenant::Organization;
use tollgate_engine::TenantError;

use crate::prelude::*;

const MAX_NAME_LENGTH: usize = 120;

type NameText = scalars::Line<MAX_NAME_LENGTH>;

requests! {
    NameBody as NameRequest {
        name: NameText,
    }
}

responses! {
    OrganizationResponse as Organization {
        id: String,
        name: String,
        created_at: Moment,
    }
}

impl From<Organization> for OrganizationResponse {
    fn from(organization: Organization) -> Self {
        let Organization { id, name, created_at } = organization;
        Self { id: id.to_string(), name, created_at: Moment(created_at) }
    }
}

pub(crate) async fn create(operator: Operator, body: JsonBody<NameBody>) -> Created<OrganizationResponse> {
    let NameBody { name } = body.read(&operator).await?;
    let organization = operator.app.engine.create_organization(name, &operator.origin).await?;
    respond::created(&OrganizationResponse::from(organization))
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<OrganizationResponse>> {
    let (page, limit) = operator.page()?;
    let organizations = operator.app.engine.organizations_seen_by(&operator.identity, page).await?;
    respond::ok(&ListResponse::slice(organizations, limit, OrganizationResponse::from, |it| it.id))
}

impl From<TenantError> for ApiError {
    fn from(error: TenantError) -> Self {
        match error {
            TenantError::ParentMissing => not_found_here(),
            TenantError::NameTaken => {
                Self::new(ErrorCode::NameTaken, "This name is already taken; choose another.")
            }
            TenantError::Store(error) => error.into(),
            TenantError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
