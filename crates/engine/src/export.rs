//! Payments as a table for a spreadsheet.

use std::collections::HashMap;

use tollgate_domain::{
    Currency, Minor, PaymentMethod, ServiceReference,
    fee::FeeSnapshot,
    id::{EnvironmentId, PaymentId, TransactionId},
    transaction::Transaction,
};

use crate::{
    card::ReadError,
    engine::Engine,
    ports::{CardPayment, PaymentCustomer, SearchCursor, TransactionFilter},
    search::{FoundPayment, PaymentSearch},
};

/// An export reads so many at a time, as often as this at most, and ends with so many lines.
const SLICE: u32 = 1_000;
const MAX_SLICES: usize = 100;
const MAX_ROWS: usize = 20_000;
/// And no more text than this: metadata can be long.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// What an export has of a payment. Amounts in minor units are exact for programs, those with decimals are for people.
const COLUMNS: [&str; 27] = [
    "serviceReference",
    "createdAt",
    "updatedAt",
    "status",
    "paymentMethod",
    "provider",
    "channel",
    "currency",
    "amountMinor",
    "platformFeeMinor",
    "organizationFeeMinor",
    "feeMinor",
    "totalDebitMinor",
    "refundedMinor",
    "amount",
    "platformFee",
    "organizationFee",
    "fee",
    "totalDebit",
    "refunded",
    "customerName",
    "customerEmail",
    "externalCustomerId",
    "providerReference",
    "failureCode",
    "description",
    "metadata",
];

/// A cell for each of the [`COLUMNS`].
type Line = [String; COLUMNS.len()];

/// Where an export goes on, in whichever list it reads.
#[derive(Default)]
struct Places {
    found: Option<SearchCursor>,
    unpaid: Option<PaymentId>,
    transaction: Option<TransactionId>,
}

impl Engine {
    /// The latest payments that fit, as CSV: as many as a spreadsheet takes.
    pub async fn export_payments(
        &self,
        environment: EnvironmentId,
        search: &PaymentSearch,
    ) -> Result<String, ReadError> {
        let mut text = String::new();
        write_line(&mut text, &COLUMNS);
        let (mut places, mut lines) = (Places::default(), 0_usize);
        for _ in 0..MAX_SLICES {
            let (found, is_last) = self.export_slice(environment, search, &mut places).await?;
            let references: Vec<_> = found.iter().map(FoundPayment::reference).collect();
            let customers = self.customers_of(environment, &references).await?;
            let customers: HashMap<_, _> = customers.iter().map(|one| (one.reference, one)).collect();
            for payment in &found {
                let customer = customers.get(&payment.reference()).copied();
                write_line(&mut text, &line(payment, customer));
            }
            lines = lines.saturating_add(found.len());
            if is_last || lines >= MAX_ROWS || text.len() >= MAX_BYTES {
                break;
            }
        }
        Ok(text)
    }

    /// The next payments, and whether they are the last.
    async fn export_slice(
        &self,
        environment: EnvironmentId,
        search: &PaymentSearch,
        places: &mut Places,
    ) -> Result<(Vec<FoundPayment>, bool), ReadError> {
        let full = usize::try_from(SLICE).unwrap_or(usize::MAX);
        if !search.text.is_empty() {
            let (found, next) = self.search_payments(environment, search, places.found, full).await?;
            places.found = next;
            return Ok((found, next.is_none()));
        }
        if search.preparation.is_some() {
            let (found, next) = self.unpaid_payments(environment, search, places.unpaid, full).await?;
            places.unpaid = next;
            return Ok((found, next.is_none()));
        }
        let filter = TransactionFilter::from(search);
        let slice = self.transactions(environment, &filter, places.transaction, SLICE).await?;
        places.transaction = slice.last().map(|transaction| transaction.id);
        let is_last = slice.len() < full;
        Ok((slice.into_iter().map(|it| FoundPayment::Transaction(Box::new(it))).collect(), is_last))
    }
}

fn write_line(text: &mut String, cells: &[impl AsRef<str>; COLUMNS.len()]) {
    for (place, cell) in cells.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(cell.as_ref());
    }
    text.push_str("\r\n");
}

/// What of a line depends on whether it was paid.
struct Outcome<'a> {
    updated_at: String,
    status: &'a str,
    refunded: Minor,
    provider_reference: &'a str,
    failure: &'a str,
}

fn line(payment: &FoundPayment, customer: Option<&PaymentCustomer>) -> Line {
    match payment {
        FoundPayment::Transaction(transaction) => of_transaction(transaction, customer),
        FoundPayment::Preparation(payment) => of_preparation(payment, customer),
    }
}

fn of_transaction(transaction: &Transaction, customer: Option<&PaymentCustomer>) -> Line {
    let state = &transaction.state;
    let outcome = Outcome {
        updated_at: transaction.updated_at.rfc3339(),
        status: state.status.as_str(),
        refunded: state.refunded,
        provider_reference: state.provider_reference.as_deref().unwrap_or_default(),
        failure: state.failure.as_ref().map_or("", |failure| &failure.code),
    };
    let common = Common {
        reference: transaction.reference,
        created_at: transaction.created_at.rfc3339(),
        provider: &transaction.provider,
        channel: transaction.channel.as_str(),
        currency: transaction.currency,
        description: transaction.description.as_deref(),
        metadata: &transaction.metadata,
    };
    common.line(&state.amounts(&transaction.fee), &outcome, customer)
}

/// A payment that has not been paid: only its preparation is known.
fn of_preparation(payment: &CardPayment, customer: Option<&PaymentCustomer>) -> Line {
    let order = &payment.order;
    let outcome = Outcome {
        updated_at: String::new(),
        status: payment.progress.preparation.as_str(),
        refunded: Minor::ZERO,
        provider_reference: "",
        failure: "",
    };
    let common = Common {
        reference: ServiceReference::Card(order.id),
        created_at: order.created_at.rfc3339(),
        provider: &order.provider,
        channel: order.channel.as_str(),
        currency: order.currency,
        description: order.description.as_deref(),
        metadata: &order.metadata,
    };
    common.line(&order.fee, &outcome, customer)
}

/// What every payment has.
struct Common<'a> {
    reference: ServiceReference,
    created_at: String,
    provider: &'a str,
    channel: &'a str,
    currency: Currency,
    description: Option<&'a str>,
    metadata: &'a str,
}

impl Common<'_> {
    /// Texts that others made up are quoted.
    fn line(self, fee: &FeeSnapshot, outcome: &Outcome<'_>, customer: Option<&PaymentCustomer>) -> Line {
        let method: PaymentMethod = self.reference.method();
        let decimal = |amount: Minor| self.currency.decimal(amount);
        let known = |text: fn(&PaymentCustomer) -> &Option<String>| {
            cell(customer.and_then(|customer| text(customer).as_deref()).unwrap_or_default())
        };
        [
            self.reference.to_string(),
            self.created_at,
            outcome.updated_at.clone(),
            outcome.status.to_owned(),
            method.as_str().to_owned(),
            cell(self.provider),
            self.channel.to_owned(),
            self.currency.to_string(),
            fee.principal.to_string(),
            fee.platform.fee.to_string(),
            fee.organization.fee.to_string(),
            fee.fee.to_string(),
            fee.total_debit.to_string(),
            outcome.refunded.to_string(),
            decimal(fee.principal.into()),
            decimal(fee.platform.fee),
            decimal(fee.organization.fee),
            decimal(fee.fee),
            decimal(fee.total_debit),
            decimal(outcome.refunded),
            known(|customer| &customer.name),
            known(|customer| &customer.email),
            known(|customer| &customer.external_id),
            cell(outcome.provider_reference),
            cell(outcome.failure),
            cell(self.description.unwrap_or_default()),
            cell(self.metadata),
        ]
    }
}

/// A text as a cell: quoted, and never a formula.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formulas() {
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
        assert_eq!(cell(""), "\"\"");
    }
}
