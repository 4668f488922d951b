//! What a list of payments comes to, in a sentence for each method and currency. Money in and money out stand apart.

use std::collections::BTreeMap;

use tollgate_domain::{Currency, Minor, PaymentMethod, transaction::Status};
use tollgate_engine::{FoundPayment, ports::TransactionTotal};

use crate::layout::format::{count, money};

/// What payments of one method and currency come to.
#[derive(Default)]
struct Sum {
    count: u64,
    principal: u128,
    paid: u64,
    paid_principal: u128,
    fees: u128,
    refunded: u128,
}

pub(crate) fn too_many(most: u32) -> String {
    format!("More than {} payments: choose a shorter time to see what they come to.", count(most.into()))
}

/// What they come to.
pub(crate) fn sentences(totals: &[TransactionTotal]) -> Vec<String> {
    let mut sums: BTreeMap<(&str, String), (PaymentMethod, Currency, Sum)> = BTreeMap::new();
    for total in totals {
        let key = (total.method.as_str(), total.currency.to_string());
        let (_, _, sum) = sums.entry(key).or_insert((total.method, total.currency, Sum::default()));
        sum.count = sum.count.saturating_add(total.count);
        sum.principal = sum.principal.saturating_add(total.principal_minor);
        sum.refunded = sum.refunded.saturating_add(total.refunded_minor);
        if matches!(total.status, Status::Succeeded | Status::Refunded) {
            sum.paid = sum.paid.saturating_add(total.count);
            sum.paid_principal = sum.paid_principal.saturating_add(total.principal_minor);
            let fees = total.total_debit_minor.saturating_sub(total.principal_minor);
            sum.fees = sum.fees.saturating_add(fees);
        }
    }
    // Cards first, as everywhere.
    sums.into_values().rev().map(|(method, currency, sum)| sum.sentence(method, currency)).collect()
}

/// The same of payments that were read.
pub(crate) fn of_found(found: &[FoundPayment]) -> Vec<String> {
    let total = |found: &FoundPayment| {
        let (method, currency, status, amounts, refunded) = match found {
            FoundPayment::Transaction(it) => {
                let amounts = it.state.amounts(&it.fee);
                (it.reference.method(), it.currency, it.state.status, amounts, it.state.refunded)
            }
            FoundPayment::Preparation(it) => {
                (PaymentMethod::WebCard, it.order.currency, Status::Pending, it.order.fee, Minor::ZERO)
            }
        };
        TransactionTotal {
            method,
            currency,
            status,
            count: 1,
            principal_minor: amounts.principal.minor().into(),
            total_debit_minor: amounts.total_debit.get().into(),
            refunded_minor: refunded.get().into(),
        }
    };
    sentences(&found.iter().map(total).collect::<Vec<_>>())
}

impl Sum {
    fn sentence(&self, method: PaymentMethod, currency: Currency) -> String {
        let amount = |minor: u128| money(i128::try_from(minor).unwrap_or(i128::MAX), currency);
        let (one, many, paid) = match method {
            PaymentMethod::WebCard => ("card payment", "card payments", "paid"),
            PaymentMethod::Ach => ("bank transfer", "bank transfers", "paid out"),
        };
        let noun = if self.count == 1 { one } else { many };
        let mut text = format!("{} {noun}, {}", count(self.count), amount(self.principal));
        if self.paid > 0 {
            let part = if self.paid == self.count {
                format!(": {paid}")
            } else {
                format!(": {} {paid}, {}", count(self.paid), amount(self.paid_principal))
            };
            text = format!("{text}{part}, with {} of fees", amount(self.fees));
        }
        if self.refunded > 0 {
            text = format!("{text}; {} refunded", amount(self.refunded));
        }
        format!("{text}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_in_and_money_out_stand_apart() {
        use PaymentMethod::{Ach, WebCard};
        let total = |method, status, count, principal_minor: u128, fees: u128, refunded_minor| {
            let total_debit_minor = principal_minor + fees;
            let currency = Currency::USD;
            TransactionTotal {
                method,
                currency,
                status,
                count,
                principal_minor,
                total_debit_minor,
                refunded_minor,
            }
        };
        let totals = [
            total(Ach, Status::Succeeded, 1, 5_000, 100, 0),
            total(WebCard, Status::Failed, 2, 25_000, 900, 0),
            total(WebCard, Status::Succeeded, 9, 1_125_000, 4_104, 2_575),
            total(WebCard, Status::Refunded, 1, 10_000, 300, 10_300),
        ];
        assert_eq!(
            sentences(&totals),
            [
                "12 card payments, 11,600.00 USD: 10 paid, 11,350.00 USD, with 44.04 USD of fees; 128.75 USD refunded.",
                "1 bank transfer, 50.00 USD: paid out, with 1.00 USD of fees.",
            ]
        );
        assert_eq!(sentences(&totals[1..2]), ["2 card payments, 250.00 USD."]);
        assert_eq!(sentences(&[]), [""; 0]);
    }
}
