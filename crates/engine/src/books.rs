//! The books of card payments: monthly statements, and payments from before there were books.

use std::collections::BTreeMap;

use tollgate_domain::{
    Currency, PaymentMethod, Timestamp,
    books::{CardPosting, PaymentRecords, unposted},
    id::{EnvironmentId, OrganizationId, PaymentId, PostingId},
    statement::{self, Month, StatementKey, StatementRow},
    tenant::{Application, Environment, Organization},
    transaction::Dispute,
};

use crate::{
    engine::Engine,
    ports::{CardPayment, NewCardPosting, Page, StoreError},
};

/// Payments posted one after the other before others get their turn.
const BATCH: u32 = 200;
/// Environments and applications read at once.
const SLICE: u32 = 200;

/// An organization's month.
#[derive(Debug, Clone)]
pub struct Statement {
    pub organization: Organization,
    pub month: Month,
    /// Whether all payments from before there were books are posted; until then the month may gain.
    pub is_complete: bool,
    /// Environments in which something was posted.
    pub environments: Vec<EnvironmentStatement>,
}

/// An environment's month.
#[derive(Debug, Clone)]
pub struct EnvironmentStatement {
    pub application: Application,
    pub environment: Environment,
    pub rows: BTreeMap<StatementKey, StatementRow>,
    /// By currency.
    pub totals: BTreeMap<Currency, StatementRow>,
}

impl Engine {
    /// What was earned in a month, in all environments of an organization; `None` if there is no such organization.
    pub async fn statement(
        &self,
        organization: OrganizationId,
        month: Month,
    ) -> Result<Option<Statement>, StoreError> {
        let Some(organization) = self.store.organization(organization).await? else { return Ok(None) };
        let is_complete = self.store.unposted_payments(1).await?.is_empty();
        let mut environments = Vec::new();
        let mut after = None;
        loop {
            let applications = self.store.applications(organization.id, Page { after, limit: SLICE }).await?;
            let Some(last) = applications.last().map(|application| application.id) else { break };
            after = Some(last);
            for application in applications {
                environments.extend(self.environment_statements(&application, month).await?);
            }
        }
        Ok(Some(Statement { organization, month, is_complete, environments }))
    }

    async fn environment_statements(
        &self,
        application: &Application,
        month: Month,
    ) -> Result<Vec<EnvironmentStatement>, StoreError> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let environments = self.store.environments(application.id, Page { after, limit: SLICE }).await?;
            let Some(last) = environments.last().map(|environment| environment.id) else { return Ok(found) };
            after = Some(last);
            for environment in environments {
                let lines = self.store.statement(environment.id, month).await?;
                let rows = statement::rows(&lines);
                if !rows.is_empty() {
                    let totals = statement::totals(&rows);
                    let application = application.clone();
                    found.push(EnvironmentStatement { application, environment, rows, totals });
                }
            }
        }
    }

    /// Disputes that are not decided, those whose evidence is wanted next first.
    pub async fn open_disputes(
        &self,
        environment: EnvironmentId,
        limit: u32,
    ) -> Result<Vec<(PaymentId, Dispute)>, StoreError> {
        self.store.open_disputes(environment, limit).await
    }

    /// Posts some of the payments from before there were books, and says whether there may be more. They are listed first,
    /// once for each start of a node.
    pub async fn post_earlier_payments(&self, is_listed: &mut bool) -> Result<bool, StoreError> {
        if !*is_listed {
            self.store.list_unposted_payments(self.clock.now()).await?;
            *is_listed = true;
        }
        let earlier = self.store.unposted_payments(BATCH).await?;
        for (environment, id) in &earlier {
            self.post_earlier_payment(*environment, *id).await?;
        }
        Ok(!earlier.is_empty())
    }

    /// A payment that changes meanwhile stays on the list, and is posted next time.
    async fn post_earlier_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<(), StoreError> {
        let payment = self.store.payment(environment, id).await?;
        let payment = payment.ok_or_else(|| StoreError::Broken("an unposted payment is gone".to_owned()))?;
        let posted = self.store.card_postings(environment, id).await?;
        let posted: Vec<CardPosting> = posted.into_iter().map(|posted| posted.posting).collect();
        let records = PaymentRecords {
            fee: &payment.amounts(),
            status: payment.transaction.as_ref().map(|transaction| transaction.state.status),
            refunds: &payment.refunds,
            disputes: &payment.disputes,
        };
        let mut postings = Vec::new();
        for posting in unposted(records, &posted) {
            let at = moment_of(&payment, &posting);
            postings.push(NewCardPosting { id: PostingId::new(at, self.random()?), at, posting });
        }
        self.store.post_payment(environment, id, payment.revision, &postings).await?;
        Ok(())
    }
}

/// When what is posted late took place, as far as it was recorded.
fn moment_of(payment: &CardPayment, posting: &CardPosting) -> Timestamp {
    let transaction = payment.transaction.as_ref();
    let recorded = transaction.map_or(payment.order.created_at, |transaction| transaction.created_at);
    let Some(subject) = &posting.subject else { return recorded };
    let refund = payment.refunds.iter().find(|refund| refund.id.to_string() == *subject);
    refund.map_or_else(
        || transaction.map_or(recorded, |transaction| transaction.updated_at),
        |refund| refund.updated_at,
    )
}

impl Statement {
    /// The statement as a table for spreadsheets, with amounts in whole units of their currency.
    pub fn csv(&self) -> String {
        let mut text = CSV_COLUMNS.join(",");
        text.push_str("\r\n");
        for one in &self.environments {
            for ((provider, method, currency), row) in &one.rows {
                text.push_str(&self.csv_line(one, provider, *method, *currency, row));
            }
        }
        text
    }

    fn csv_line(
        &self,
        one: &EnvironmentStatement,
        provider: &str,
        method: PaymentMethod,
        currency: Currency,
        row: &StatementRow,
    ) -> String {
        let mut cells = vec![
            self.month.to_string(),
            quoted(&self.organization.name),
            quoted(&one.application.name),
            quoted(one.environment.name.as_str()),
            one.environment.id.to_string(),
            quoted(provider),
            method.as_str().to_owned(),
            currency.to_string(),
        ];
        for part in [row.payments, row.refunds, row.lost] {
            cells.push(part.count.to_string());
            let amounts = [part.principal, part.platform_fees, part.organization_fees];
            cells.extend(amounts.map(|amount| decimal(amount, currency)));
        }
        cells.push(row.disputes_opened.to_string());
        let sums = [row.disputes_held, row.platform_fees(), row.organization_fees(), row.due_from_provider];
        cells.extend(sums.map(|amount| decimal(amount, currency)));
        let mut line = cells.join(",");
        line.push_str("\r\n");
        line
    }
}

const CSV_COLUMNS: [&str; 25] = [
    "month",
    "organization",
    "application",
    "environment",
    "environment_id",
    "provider",
    "payment_method",
    "currency",
    "payments",
    "payments_principal",
    "payments_platform_fees",
    "payments_organization_fees",
    "refunds",
    "refunds_principal",
    "refunds_platform_fees",
    "refunds_organization_fees",
    "disputes_lost",
    "disputes_lost_principal",
    "disputes_lost_platform_fees",
    "disputes_lost_organization_fees",
    "disputes_opened",
    "disputes_held",
    "platform_fees_earned",
    "organization_fees_earned",
    "due_from_provider",
];

/// A text that no spreadsheet takes for a formula or for more than one cell.
fn quoted(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

/// `-12.34`.
fn decimal(minor: i128, currency: Currency) -> String {
    let places = usize::from(currency.exponent());
    let digits = format!("{:0>width$}", minor.unsigned_abs(), width = places.saturating_add(1));
    let sign = if minor < 0 { "-" } else { "" };
    match digits.split_at_checked(digits.len().saturating_sub(places)) {
        Some((whole, part)) if places > 0 => format!("{sign}{whole}.{part}"),
        _ => format!("{sign}{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_plain_text_and_exact_numbers() {
        assert_eq!(quoted("Shop \"A\", Ltd"), "\"Shop \"\"A\"\", Ltd\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
        let jpy = Currency::parse("JPY").unwrap();
        for (minor, currency, text) in [
            (0, Currency::USD, "0.00"),
            (-5, Currency::USD, "-0.05"),
            (123_456, Currency::USD, "1234.56"),
            (-7, jpy, "-7"),
        ] {
            assert_eq!(decimal(minor, currency), text);
        }
    }
}
