//! What the payer is told about the fee.

use crate::{
    card_fee::{FeeDecision, FeeKind},
    currency::Currency,
    fee::FeeSnapshot,
    money::Minor,
};

/// Most texts are shorter, so that their place is made once.
const MOST_TEXTS: usize = 256;

impl FeeDecision {
    /// What is shown before the card is entered, or, once the fee is exact, before the payer agrees.
    pub fn disclosure(&self, currency: Currency, fee: &FeeSnapshot) -> String {
        let mut text = String::with_capacity(MOST_TEXTS);
        let money = |text: &mut String, amount: Minor| {
            currency.write_decimal(text, amount);
            text.push(' ');
            text.push_str(currency.code());
        };
        match (self.kind, self.fee > Minor::ZERO) {
            (FeeKind::Surcharge, false) if self.range.max > Minor::ZERO => {
                text.push_str("A surcharge of up to ");
                money(&mut text, self.range.max);
                text.push_str(
                    " applies to credit cards, not more than our cost. Debit cards and bank payments: none.",
                );
            }
            (FeeKind::Surcharge, false) => text.push_str("No surcharge."),
            (_, false) => text.push_str("No fee."),
            (kind, true) => {
                let (before_total, after_total) = match kind {
                    FeeKind::Surcharge => (
                        ", total ",
                        ". It is not more than our cost; debit cards and bank payments have none.",
                    ),
                    FeeKind::Convenience => (" for paying this way, total ", "."),
                    FeeKind::Service => (", total ", "."),
                    FeeKind::Neutral => (", the same for every way to pay, total ", "."),
                };
                text.push_str(kind.label());
                text.push(' ');
                money(&mut text, self.fee);
                text.push_str(before_total);
                money(&mut text, fee.total_debit);
                text.push_str(after_total);
            }
        }
        for sentence in &*self.sentences {
            text.push(' ');
            text.push_str(sentence);
        }
        text
    }
}
