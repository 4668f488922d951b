//! `/admin/v1/organizations/<id>/statement`: what an organization earned in a month, as data and as a table.

use tollgate_domain::{
    Currency,
    statement::{Month, Part, StatementRow},
};
use tollgate_engine::{Audited, EnvironmentStatement, Statement};

use crate::prelude::*;

pub(crate) const CSV: &str = "text/csv; charset=utf-8";

responses! {
    /// What was earned in a month (UTC), in every environment of an organization.
    StatementResponse as Statement {
        organization_id: String,
        organization_name: String,
        month: MonthText,
        from: Moment,
        /// The first moment after the month.
        until: Moment,
        /// False while payments from before card payments were posted to the ledger are still being posted.
        complete: bool,
        /// Environments in which anything was posted that month.
        environments: Vec<EnvironmentStatementResponse>,
    }

    EnvironmentStatementResponse as EnvironmentStatement {
        application_id: String,
        application_name: String,
        environment_id: String,
        environment_name: String,
        /// By provider, payment method and currency.
        rows: Vec<RowResponse>,
        /// By currency.
        totals: Vec<TotalResponse>,
    }

    RowResponse as StatementRow {
        provider: String,
        payment_method: words::PaymentMethod,
        #[serde(flatten)]
        total: TotalResponse,
    }

    TotalResponse as StatementTotal {
        currency: CurrencyCode,
        /// Card payments that succeeded, and bank transfers that settled.
        payments: PartResponse,
        /// Refunds less those that came back, and bank transfers that were returned.
        refunds: PartResponse,
        disputes_lost: PartResponse,
        disputes_opened: SignedCount,
        /// How much more is held for open disputes at the end of the month than at its beginning.
        disputes_held_minor: SignedMinorUnits,
        /// Earned on payments, less what was given back or lost.
        platform_fees_minor: SignedMinorUnits,
        /// Earned on payments, less what was given back or lost.
        organization_fees_minor: SignedMinorUnits,
        /// How much more the provider owes for card payments, before its own charges and payouts.
        due_from_provider_minor: SignedMinorUnits,
    }

    PartResponse as StatementPart {
        count: SignedCount,
        principal_minor: SignedMinorUnits,
        platform_fees_minor: SignedMinorUnits,
        organization_fees_minor: SignedMinorUnits,
    }
}

pub(crate) async fn read(operator: Operator) -> Done<StatementResponse> {
    let statement = find(&operator).await?;
    respond::ok(&StatementResponse {
        organization_id: statement.organization.id.to_string(),
        organization_name: statement.organization.name.clone(),
        month: statement.month.into(),
        from: Moment(statement.month.start()),
        until: Moment(statement.month.end()),
        complete: statement.is_complete,
        environments: statement.environments.iter().map(environment).collect(),
    })
}

pub(crate) async fn export(operator: Operator) -> ApiResult {
    let statement = find(&operator).await?;
    let organization = statement.organization.id;
    let audited = Audited::new("statement.export", statement.month).in_organization(organization);
    operator.app.engine.record_repeatable(&operator.origin, audited).await?;
    Ok(respond::file(CSV, statement.csv()))
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
        payment_method: method.as_str().into(),
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
        currency: currency.into(),
        payments: part(row.payments),
        refunds: part(row.refunds),
        disputes_lost: part(row.lost),
        disputes_opened: row.disputes_opened.into(),
        disputes_held_minor: row.disputes_held.into(),
        platform_fees_minor: row.platform_fees().into(),
        organization_fees_minor: row.organization_fees().into(),
        due_from_provider_minor: row.due_from_provider.into(),
    }
}

fn part(part: Part) -> PartResponse {
    PartResponse {
        count: part.count.into(),
        principal_minor: part.principal.into(),
        platform_fees_minor: part.platform_fees.into(),
        organization_fees_minor: part.organization_fees.into(),
    }
}
