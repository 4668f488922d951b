//! Payments as lines of a list: whose, how, how much, how it stands, when and what for.

use std::collections::HashMap;

use tollgate_domain::{
    Channel, Currency, Minor, Timestamp,
    fee::FeeSnapshot,
    id::EnvironmentId,
    payment_card::PaymentCard,
    transaction::{Status, Transaction, TransactionState},
};
use tollgate_engine::{
    FoundPayment,
    ports::{CardPayment, PaymentCustomer},
};

use crate::{
    layout::{
        format::{When, minor, shortened},
        page::PageError,
    },
    pages::{disputes, timeline::capitalized},
    request::signed_in::SignedIn,
};

const DESCRIPTION_MAX: usize = 60;
const NAME_MAX: usize = 40;

/// How something stands: a tone and a word.
pub(crate) type Mark = (&'static str, &'static str);

/// A payment's line.
pub(crate) struct Row {
    pub(crate) link: String,
    pub(crate) reference: String,
    /// By name, e-mail address or the caller's ID; empty where nothing was said.
    pub(crate) customer: String,
    /// The card's brand or the bank, and the last four digits, as far as they are known.
    pub(crate) method: String,
    pub(crate) amount: String,
    /// Its status, then what the status alone does not say.
    pub(crate) marks: Vec<Mark>,
    pub(crate) at: When,
    pub(crate) description: String,
}

/// How a status looks.
pub(crate) fn tone(status: Status) -> &'static str {
    match status {
        Status::Succeeded => "good",
        Status::Failed => "bad",
        Status::Pending => "warn",
        Status::Processing | Status::Authorized => "cool",
        Status::Canceled | Status::Refunded => "",
    }
}

/// What a status alone does not say.
pub(crate) fn marks_beside(state: &TransactionState, prepared: &FeeSnapshot) -> Vec<Mark> {
    let captured = state.amounts(prepared).total_debit;
    let is_part = state.status != Status::Authorized && captured < state.charged(prepared).total_debit;
    let mut marks = Vec::new();
    marks.extend(is_part.then_some(("cool", "partly captured")));
    if state.refunded > Minor::ZERO && state.status != Status::Refunded {
        marks.push(("warn", "partly refunded"));
    }
    marks.extend(state.dispute.as_ref().map(disputes::mark));
    marks
}

impl Row {
    /// The lines of payments that were found, with their customers.
    pub(crate) async fn all(
        signed_in: &SignedIn,
        environment: EnvironmentId,
        found: &[FoundPayment],
        base: &str,
    ) -> Result<Vec<Self>, PageError> {
        let references: Vec<_> = found.iter().map(FoundPayment::reference).collect();
        let customers = signed_in.console.engine.customers_of(environment, &references).await?;
        let customers: HashMap<_, _> = customers.iter().map(|one| (one.reference, one)).collect();
        let row = |one: &FoundPayment| {
            let customer = customers.get(&one.reference()).copied();
            match one {
                FoundPayment::Transaction(transaction) => Self::of_transaction(transaction, customer, base),
                FoundPayment::Preparation(payment) => Self::of_preparation(payment, customer, base),
            }
        };
        Ok(found.iter().map(row).collect())
    }

    fn of_transaction(transaction: &Transaction, customer: Option<&PaymentCustomer>, base: &str) -> Self {
        let state = &transaction.state;
        let amounts = state.amounts(&transaction.fee);
        let mut marks = vec![(tone(state.status), state.status.as_str())];
        marks.extend(marks_beside(state, &transaction.fee));
        let method = match state.card.as_deref() {
            Some(card) => card_words(card),
            None => bank_words(customer),
        };
        Self {
            marks,
            method: method.unwrap_or_else(|| channel_words(transaction.channel).to_owned()),
            ..Self::new(
                &transaction.reference.to_string(),
                customer,
                (amounts.principal.into(), transaction.currency),
                transaction.created_at,
                transaction.description.as_deref(),
                base,
            )
        }
    }

    fn of_preparation(payment: &CardPayment, customer: Option<&PaymentCustomer>, base: &str) -> Self {
        let order = &payment.order;
        Self {
            marks: vec![("", payment.status())],
            method: "Card".to_owned(),
            ..Self::new(
                &order.id.to_string(),
                customer,
                (order.fee.principal.into(), order.currency),
                order.created_at,
                order.description.as_deref(),
                base,
            )
        }
    }

    fn new(
        reference: &str,
        customer: Option<&PaymentCustomer>,
        (principal, currency): (Minor, Currency),
        at: Timestamp,
        description: Option<&str>,
        base: &str,
    ) -> Self {
        Self {
            link: format!("{base}/payments/{reference}"),
            reference: reference.to_owned(),
            customer: customer
                .map(|customer| shortened(customer_words(customer), NAME_MAX))
                .unwrap_or_default(),
            method: String::new(),
            amount: minor(principal, currency),
            marks: Vec::new(),
            at: When::of(at),
            description: shortened(description.unwrap_or_default(), DESCRIPTION_MAX),
        }
    }
}

/// Whose it is, by the name that says most to a person.
pub(crate) fn customer_words(customer: &PaymentCustomer) -> &str {
    let names = [&customer.name, &customer.email, &customer.external_id];
    names.into_iter().flatten().map(String::as_str).find(|name| !name.is_empty()).unwrap_or_default()
}

/// `Visa ····4242`.
pub(crate) fn card_words(card: &PaymentCard) -> Option<String> {
    let brand = card.brand.as_deref().map(brand_words);
    let digits = card.last_four.as_deref().map(|digits| format!("····{digits}"));
    let words: Vec<_> = [brand, digits].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The brand as it writes itself.
pub(crate) fn brand_words(brand: &str) -> String {
    match brand {
        "amex" | "american_express" => "Amex".to_owned(),
        "mastercard" => "Mastercard".to_owned(),
        "unionpay" => "UnionPay".to_owned(),
        "jcb" => "JCB".to_owned(),
        "diners" => "Diners Club".to_owned(),
        other => capitalized(other).replace('_', " "),
    }
}

fn channel_words(channel: Channel) -> &'static str {
    if channel == Channel::WebCard { "Card" } else { "Bank transfer" }
}

/// `First Bank ····6789`.
fn bank_words(customer: Option<&PaymentCustomer>) -> Option<String> {
    let customer = customer?;
    let bank = customer.bank_name.as_deref().filter(|bank| !bank.is_empty())?;
    let digits = customer.last_four.as_deref().filter(|digits| !digits.is_empty());
    let bank = shortened(bank, NAME_MAX);
    Some(digits.map_or_else(|| bank.clone(), |digits| format!("{bank} ····{digits}")))
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{ServiceReference, id::PaymentId};

    use super::*;

    fn customer(name: Option<&str>, email: Option<&str>, bank: Option<(&str, &str)>) -> PaymentCustomer {
        PaymentCustomer {
            reference: ServiceReference::Card(PaymentId::from_bytes([1; 16])),
            name: name.map(str::to_owned),
            email: email.map(str::to_owned),
            external_id: None,
            bank_name: bank.map(|(name, _)| name.to_owned()),
            last_four: bank.map(|(_, digits)| digits.to_owned()),
        }
    }

    #[test]
    fn people_are_named_and_methods_told_by_their_last_four_digits() {
        assert_eq!(customer_words(&customer(Some("Ada"), Some("ada@example.com"), None)), "Ada");
        assert_eq!(customer_words(&customer(None, Some("ada@example.com"), None)), "ada@example.com");
        assert_eq!(customer_words(&customer(Some(""), None, None)), "");
        let bank = customer(None, None, Some(("First Bank", "6789")));
        assert_eq!(bank_words(Some(&bank)).as_deref(), Some("First Bank ····6789"));
        // As an erased transfer has it.
        assert_eq!(bank_words(Some(&customer(None, None, Some(("erased", ""))))).as_deref(), Some("erased"));
        assert_eq!(bank_words(None), None);
        let card = |brand: Option<&str>, digits: Option<&str>| {
            let (brand, last_four) = (brand.map(str::to_owned), digits.map(str::to_owned));
            card_words(&PaymentCard { brand, last_four, ..PaymentCard::default() })
        };
        assert_eq!(card(Some("visa"), Some("4242")).as_deref(), Some("Visa ····4242"));
        assert_eq!(card(Some("amex"), None).as_deref(), Some("Amex"));
        assert_eq!(card(None, Some("0005")).as_deref(), Some("····0005"));
        assert_eq!(card(None, None), None);
    }
}
