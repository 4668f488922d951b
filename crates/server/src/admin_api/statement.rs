//! `/admin/v1/organizations/<id>/statement`: what an organization earned in a month, as data and as a table.

use axum::{body::Body, response::Response};
use http::{HeaderValue, header};
use serde::Serialize;
use tollgate_domain::{
    Currency,
    statement::{Month, Part, StatementRow},
};
use tollgate_engine::{Audited, EnvironmentStatement, Statement};
use utoipa::ToSchema;

use crate::{
    admin_api::operator::{Operator, not_found_here},
    json::timestamp::rfc3339,
    reference::{scalars, words},
    response::{
        error::ApiError,
        respond::{self, ApiResult},
    },
};

pub(crate) const CSV: &str = "text/csv; charset=utf-8";

/// What was earned in a month (UTC), in every environment of an organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Statement)]
pub(crate) struct StatementResponse {
    organization_id: String,
    organization_name: String,
    #[schema(value_type = scalars::MonthText)]
    month: String,
    #[schema(value_type = scalars::Moment)]
    from: String,
    /// The first moment after the month.
    #[schema(value_type = scalars::Moment)]
    until: String,
    /// False while payments from before card payments were posted to the ledger are still being posted.
    complete: bool,
    /// Environments in which anything was posted that month.
    environments: Vec<EnvironmentStatementResponse>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EnvironmentStatement)]
pub(crate) struct EnvironmentStatementResponse {
    application_id: String,
    application_name: String,
    environment_id: String,
    environment_name: String,
    /// By provider, payment method and currency.
    rows: Vec<RowResponse>,
    /// By currency.
    totals: Vec<TotalResponse>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatementRow)]
pub(crate) struct RowResponse {
    provider: String,
    #[schema(value_type = words::PaymentMethod)]
    payment_method: &'static str,
    #[serde(flatten)]
    total: TotalResponse,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatementTotal)]
pub(crate) struct TotalResponse {
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    /// Card payments that succeeded, and bank transfers that settled.
    payments: PartResponse,
    /// Refunds less those that came back, and bank transfers that were returned.
    refunds: PartResponse,
    disputes_lost: PartResponse,
    #[schema(value_type = scalars::SignedCount)]
    disputes_opened: String,
    /// How much more is held for open disputes at the end of the month than at its beginning.
    #[schema(value_type = scalars::SignedMinorUnits)]
    disputes_held_minor: String,
    /// Earned on payments, less what was given back or lost.
    #[schema(value_type = scalars::SignedMinorUnits)]
    platform_fees_minor: String,
    /// Earned on payments, less what was given back or lost.
    #[schema(value_type = scalars::SignedMinorUnits)]
    organization_fees_minor: String,
    /// How much more the provider owes for card payments, before its own charges and payouts.
    #[schema(value_type = scalars::SignedMinorUnits)]
    due_from_provider_minor: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StatementPart)]
pub(crate) struct PartResponse {
    #[schema(value_type = scalars::SignedCount)]
    count: String,
    #[schema(value_type = scalars::SignedMinorUnits)]
    principal_minor: String,
    #[schema(value_type = scalars::SignedMinorUnits)]
    platform_fees_minor: String,
    #[schema(value_type = scalars::SignedMinorUnits)]
    organization_fees_minor: String,
}

pub(crate) async fn read(operator: Operator) -> ApiResult {
    let statement = find(&operator).await?;
    respond::ok(&StatementResponse {
        organization_id: statement.organization.id.to_string(),
        organization_name: statement.organization.name.clone(),
        month: statement.month.to_string(),
        from: rfc3339(statement.month.start()),
        until: rfc3339(statement.month.end()),
        complete: statement.is_complete,
        environments: statement.environments.iter().map(environment).collect(),
    })
}

pub(crate) async fn export(operator: Operator) -> ApiResult {
    let statement = find(&operator).await?;
    let organization = statement.organization.id;
    let audited = Audited::new("statement.export", statement.month).in_organization(organization);
    operator.app.engine.record_repeatable(&operator.origin, audited).await?;
    let mut response = Response::new(Body::from(statement.csv()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CSV));
    Ok(response)
}

/// The month asked for, by default the one that is not over.
async fn find(operator: &Operator) -> Result<Statement, ApiError> {
    let organization = operator.path("organization")?;
    let rule = "must be a month of the form 2026-11";
    let mut query = operator.query();
    let month = query.value_as("month", rule, Month::parse);
    query.finish()?;
    let engine = &operator.app.engine;
    let month = month.unwrap_or_else(|| Month::of(engine.clock().now()));
    engine.statement(organization, month).await?.ok_or_else(not_found_here)
}

fn environment(one: &EnvironmentStatement) -> EnvironmentStatementResponse {
    let rows = one.rows.iter().map(|((provider, method, currency), row)| RowResponse {
        provider: provider.clone(),
        payment_method: method.as_str(),
        total: total(*currency, row),
    });
    EnvironmentStatementResponse {
        application_id: one.application.id.to_string(),
        application_name: one.application.name.clone(),
        environment_id: one.environment.id.to_string(),
        environment_name: one.environment.name.as_str().to_owned(),
        rows: rows.collect(),
        totals: one.totals.iter().map(|(currency, row)| total(*currency, row)).collect(),
    }
}

fn total(currency: Currency, row: &StatementRow) -> TotalResponse {
    TotalResponse {
        currency: currency.to_string(),
        payments: part(row.payments),
        refunds: part(row.refunds),
        disputes_lost: part(row.lost),
        disputes_opened: row.disputes_opened.to_string(),
        disputes_held_minor: row.disputes_held.to_string(),
        platform_fees_minor: row.platform_fees().to_string(),
        organization_fees_minor: row.organization_fees().to_string(),
        due_from_provider_minor: row.due_from_provider.to_string(),
    }
}

fn part(part: Part) -> PartResponse {
    PartResponse {
        count: part.count.to_string(),
        principal_minor: part.principal.to_string(),
        platform_fees_minor: part.platform_fees.to_string(),
        organization_fees_minor: part.organization_fees.to_string(),
    }
}
