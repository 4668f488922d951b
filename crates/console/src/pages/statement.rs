//! The organization's monthly statement.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    Currency,
    statement::{Month, Part, StatementRow},
};
use tollgate_engine::{Audited, EnvironmentStatement, Statement};

use crate::{
    layout::{
        format::{amount, grouped},
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::signed_in::SignedIn,
};

/// A number of something, and its amounts.
struct PartView {
    count: String,
    principal: String,
    platform: String,
    organization: String,
}

impl PartView {
    fn of(part: Part, currency: Currency) -> Self {
        let sign = if part.count < 0 { "−" } else { "" };
        Self {
            count: format!("{sign}{}", grouped(&part.count.unsigned_abs().to_string())),
            principal: amount(part.principal, currency),
            platform: amount(part.platform_fees, currency),
            organization: amount(part.organization_fees, currency),
        }
    }
}

struct RowView {
    provider: String,
    method: &'static str,
    currency: String,
    is_total: bool,
    payments: PartView,
    refunds: PartView,
    lost: PartView,
    held: String,
    platform: String,
    organization: String,
}

impl RowView {
    fn of(provider: &str, method: &'static str, currency: Currency, row: &StatementRow) -> Self {
        Self {
            provider: provider.to_owned(),
            method,
            currency: currency.to_string(),
            is_total: false,
            payments: PartView::of(row.payments, currency),
            refunds: PartView::of(row.refunds, currency),
            lost: PartView::of(row.lost, currency),
            held: amount(row.disputes_held, currency),
            platform: amount(row.platform_fees(), currency),
            organization: amount(row.organization_fees(), currency),
        }
    }
}

struct EnvironmentView {
    name: String,
    id: String,
    rows: Vec<RowView>,
}

impl EnvironmentView {
    fn of(one: &EnvironmentStatement) -> Self {
        let rows = one.rows.iter().map(|((provider, method, currency), row)| {
            RowView::of(provider, method.as_str(), *currency, row)
        });
        let totals = |totals: &BTreeMap<Currency, StatementRow>| {
            let total = totals.iter().map(|(currency, row)| RowView {
                is_total: true,
                ..RowView::of("Total", "", *currency, row)
            });
            total.collect::<Vec<_>>()
        };
        Self {
            name: format!("{} / {}", one.application.name, one.environment.name.as_str()),
            id: one.environment.id.to_string(),
            rows: rows.chain(totals(&one.totals)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "statement.html")]
struct StatementPage {
    frame: Frame,
    organization: String,
    month: String,
    previous: String,
    next: Option<String>,
    is_complete: bool,
    environments: Vec<EnvironmentView>,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let frame = signed_in.frame("Statement", "statement").await?;
    let statement = read(&signed_in).await?;
    let now = Month::of(signed_in.console.engine.clock().now());
    page::render(&StatementPage {
        organization: statement.organization.name.clone(),
        month: statement.month.to_string(),
        previous: statement.month.previous().to_string(),
        next: (statement.month < now).then(|| statement.month.next().to_string()),
        is_complete: statement.is_complete,
        environments: statement.environments.iter().map(EnvironmentView::of).collect(),
        frame,
    })
}

pub(crate) async fn export(signed_in: SignedIn) -> Result<Response, PageError> {
    let statement = read(&signed_in).await?;
    let exported =
        Audited::new("statement.export", statement.month).in_organization(statement.organization.id);
    signed_in.console.engine.record_repeatable(&signed_in.origin(), exported).await?;
    let name = format!("statement-{}.csv", statement.month);
    Ok(page::file(&name, "text/csv; charset=utf-8", statement.csv()))
}

/// The statement of the organization that the environment belongs to.
async fn read(signed_in: &SignedIn) -> Result<Statement, PageError> {
    let environment = signed_in.environment()?;
    let organization = signed_in.view(environment)?.environment.organization;
    let engine = &signed_in.console.engine;
    engine.statement(organization, signed_in.month()?).await?.ok_or(PageError::Missing)
}
