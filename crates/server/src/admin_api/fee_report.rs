//! `/admin/v1/environments/<id>/fee-report`: what card fees with a kind came to in a month, as data and as a table.

use std::collections::BTreeMap;

use tollgate_domain::{id::EnvironmentId, statement::Month};
use tollgate_engine::{Audited, FeeReportKey, FeeReportRow, fee_report_csv};

use crate::{admin_api::statement::CSV, prelude::*};

responses! {
    /// The card fees with a kind of a month (UTC), by card and place, beside what the cards cost and what was allowed.
    FeeReportResponse as FeeReport {
        environment_id: String,
        month: MonthText,
        rows: Vec<FeeReportRowResponse>,
    }

    FeeReportRowResponse as FeeReportRow {
        kind: words::FeeKind,
        currency: CurrencyCode,
        provider: String,
        /// Null where the provider does not describe what was paid with.
        brand: Option<String>,
        /// Whose money the cards spend: `credit`, `debit`, `prepaid` or `unknown`.
        funding: Option<String>,
        /// Where the payers were, such as `US-GA`; null where nobody said.
        place: Option<String>,
        payments: SignedCount,
        principal_minor: SignedMinorUnits,
        /// As charged.
        fee_minor: SignedMinorUnits,
        /// What refunds have given back of it, in whichever month.
        refunded_fee_minor: SignedMinorUnits,
        /// What accepting these cards cost; null where that is not recorded of each payment.
        cost_minor: Option<SignedMinorUnits>,
        /// The most that was allowed in all; null where nothing limits the fee of one of the payments.
        cap_minor: Option<SignedMinorUnits>,
    }
}

pub(crate) async fn read(operator: Operator) -> Done<FeeReportResponse> {
    let (environment, month, rows) = find(&operator).await?;
    respond::ok(&FeeReportResponse {
        environment_id: environment.to_string(),
        month: month.into(),
        rows: rows.iter().map(|(key, row)| shown(key, row)).collect(),
    })
}

pub(crate) async fn export(operator: Operator) -> ApiResult {
    let (environment, month, rows) = find(&operator).await?;
    let audited = Audited::new("fee_report.export", month).in_environment(environment);
    operator.app.engine.record_repeatable(&operator.origin, audited).await?;
    Ok(respond::file(CSV, fee_report_csv(month, &rows)))
}

type Rows = BTreeMap<FeeReportKey, FeeReportRow>;

/// The month asked for, by default the one that is not over.
async fn find(operator: &Operator) -> Result<(EnvironmentId, Month, Rows), ApiError> {
    let environment = operator.path("environment")?;
    let mut query = operator.query();
    let month = query.value_as("month", "must be a month of the form 2026-11", Month::parse);
    query.finish()?;
    let engine = &operator.app.engine;
    let month = month.unwrap_or_else(|| Month::of(engine.clock().now()));
    let rows = engine.fee_report(environment, month).await?.ok_or_else(not_found_here)?;
    Ok((environment, month, rows))
}

fn shown(key: &FeeReportKey, row: &FeeReportRow) -> FeeReportRowResponse {
    FeeReportRowResponse {
        kind: key.kind.as_str().into(),
        currency: key.currency.into(),
        provider: key.provider.clone(),
        brand: key.brand.clone(),
        funding: key.funding.clone(),
        place: key.place.clone(),
        payments: row.payments.into(),
        principal_minor: row.principal.into(),
        fee_minor: row.fee.into(),
        refunded_fee_minor: row.refunded_fee.into(),
        cost_minor: row.cost.map(Into::into),
        cap_minor: row.cap.map(Into::into),
    }
}
