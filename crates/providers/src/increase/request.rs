//! What is sent. Every byte follows from the order, the account and the configured source of funds, so that a repeated
//! request is the same request.

use serde_json::{Map, Value, json};
use tollgate_domain::{
    Channel, Currency,
    ach::{BankAccountType, RecipientKind, TransferOrder},
};
use tollgate_engine::ports::{BankAccount, CallError, OrderFault};

use super::rejection;
use crate::transfer_text::{check_remittance, description, entry_description, holder, remittance};

/// Cents; more does not fit into an entry.
const AMOUNT_MAX: u64 = 9_999_999_999;

const DESCRIPTOR_MAX: usize = 200;
const INDIVIDUAL_NAME_MAX: usize = 22;
const INDIVIDUAL_ID_MAX: usize = 15;
const ADDENDUM_MAX: usize = 80;
const CREDITOR_NAME_MAX: usize = 140;
const REMITTANCE_MAX: usize = 140;

/// Refuses what the order's rail cannot carry.
pub(super) fn check(order: &TransferOrder) -> Result<(), OrderFault> {
    let is_instant = order.channel == Channel::Instant;
    check_remittance(order, if is_instant { REMITTANCE_MAX } else { ADDENDUM_MAX })
}

/// A transfer by ACH. Its amount is above zero, which pushes money to the customer; below zero it would pull.
pub(super) fn ach(
    order: &TransferOrder,
    account: &BankAccount,
    funding_account: &str,
    company_name: Option<&str>,
) -> Result<Value, CallError> {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("account_id", funding_account.into());
    put("amount", amount(order)?.into());
    put("statement_descriptor", description(order, DESCRIPTOR_MAX).into());
    put("account_number", account.account_number.expose().into());
    put("routing_number", account.routing_number.expose().into());
    put("funding", funding(order.account_type).into());
    put("standard_entry_class_code", entry_class(order.recipient_kind).into());
    // Left out, it would mean the same day.
    put("preferred_effective_date", json!({ "settlement_schedule": schedule(order.channel) }));
    if let Some(name) = company_name {
        put("company_name", name.into());
    }
    if let Some(text) = entry_description(order) {
        put("company_entry_description", text.into());
    }
    if let Some(name) = holder(order, INDIVIDUAL_NAME_MAX) {
        put("individual_name", name.into());
    }
    if let Some(id) = individual_id(order) {
        put("individual_id", id.into());
    }
    if let Some(text) = remittance(order, ADDENDUM_MAX) {
        let entries = json!([{ "payment_related_information": text }]);
        put("addenda", json!({ "category": "freeform", "freeform": { "entries": entries } }));
    }
    Ok(body.into())
}

/// A payment by RTP or FedNow. The company is who the receiver sees as the payer; by FedNow it has to be named.
pub(super) fn instant(
    order: &TransferOrder,
    account: &BankAccount,
    source_account_number: &str,
    company_name: Option<&str>,
) -> Result<Value, CallError> {
    let name = holder(order, CREDITOR_NAME_MAX).ok_or_else(rejection::name_not_writable)?;
    let told = remittance(order, REMITTANCE_MAX).unwrap_or_else(|| description(order, REMITTANCE_MAX));
    let mut body = json!({
        "source_account_number_id": source_account_number,
        "amount": amount(order)?,
        "creditor_name": name,
        "unstructured_remittance_information": told,
        "account_number": account.account_number.expose(),
        "routing_number": account.routing_number.expose(),
    });
    if let (Some(company), Some(fields)) = (company_name, body.as_object_mut()) {
        fields.insert("debtor_name".to_owned(), company.into());
    }
    Ok(body)
}

fn amount(order: &TransferOrder) -> Result<u64, CallError> {
    if order.currency != Currency::USD {
        return Err(rejection::amount_not_carried("This provider only supports US dollars."));
    }
    let amount = order.fee.principal.minor();
    if (1..=AMOUNT_MAX).contains(&amount) {
        return Ok(amount);
    }
    Err(rejection::amount_not_carried("The amount exceeds the provider's limit."))
}

const fn funding(kind: BankAccountType) -> &'static str {
    match kind {
        BankAccountType::Checking => "checking",
        BankAccountType::Savings => "savings",
    }
}

const fn entry_class(recipient: RecipientKind) -> &'static str {
    match recipient {
        RecipientKind::Individual => "prearranged_payments_and_deposit",
        RecipientKind::Business => "corporate_credit_or_debit",
    }
}

fn schedule(channel: Channel) -> &'static str {
    if channel == Channel::SameDayAch { "same_day" } else { "future_dated" }
}

/// The caller's own name for the customer, if it fits whole: a part of it would be somebody else's.
fn individual_id(order: &TransferOrder) -> Option<&str> {
    let id = order.external_customer_id.as_str();
    let fits =
        (1..=INDIVIDUAL_ID_MAX).contains(&id.len()) && id.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    (fits && !id.trim().is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{
        Principal, Timestamp,
        ach::TransferPurpose,
        fee::FeeEntry,
        id::{EnvironmentId, TransferId},
    };
    use tollgate_engine::ports::RejectionKind;
    use tollgate_vault::Secret;

    use super::*;

    fn order(channel: Channel, amount: u64) -> TransferOrder {
        TransferOrder {
            environment: EnvironmentId::from_bytes([1; 16]),
            id: TransferId::from_bytes([2; 16]),
            provider: "one".to_owned(),
            adapter: "increase".to_owned(),
            account: None,
            channel,
            rail: None,
            matched: None,
            route: tollgate_domain::routing::RouteProgress::default(),
            config_version: 1,
            currency: Currency::USD,
            fee: FeeEntry::default().assess(Principal::new(amount).unwrap()),
            external_customer_id: "cust_42".to_owned(),
            customer_name: "Ada Example".to_owned(),
            customer_email: "ada@example.com".to_owned(),
            bank_name: "Bank".to_owned(),
            account_name: "Señora María-José Núñez".to_owned(),
            account_type: BankAccountType::Savings,
            last_four: "6789".to_owned(),
            description: Some("Café – June".to_owned()),
            metadata: "{}".to_owned(),
            remittance: Some(r#""Invoice №7""#.to_owned()),
            recipient_kind: RecipientKind::Individual,
            purpose: None,
            statement_descriptor: None,
            request: "req".to_owned(),
            created_at: Timestamp::from_unix_millis(0),
        }
    }

    fn account() -> BankAccount {
        BankAccount { routing_number: Secret::new("021000021"), account_number: Secret::new("000123456789") }
    }

    #[test]
    fn the_most_that_can_be_in_a_transfer_by_ach() {
        let body = ach(&order(Channel::SameDayAch, 12_345), &account(), "account_1", Some("Acme")).unwrap();
        let expected = json!({
            "account_id": "account_1",
            "amount": 12_345,
            "statement_descriptor": "Cafe - June",
            "account_number": "000123456789",
            "routing_number": "021000021",
            "funding": "savings",
            "standard_entry_class_code": "prearranged_payments_and_deposit",
            "preferred_effective_date": { "settlement_schedule": "same_day" },
            "company_name": "Acme",
            "individual_name": "Senora Maria-Jose Nune",
            "individual_id": "cust_42",
            "addenda": {
                "category": "freeform",
                "freeform": { "entries": [{ "payment_related_information": "Invoice No7" }] },
            },
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn the_least_that_can_be_in_a_transfer_by_ach() {
        let mut order = order(Channel::StandardAch, 1);
        (order.description, order.remittance) = (None, None);
        (order.account_name, order.customer_name) = ("🦀".to_owned(), " ".to_owned());
        order.external_customer_id = "a_name_longer_than_fits".to_owned();
        order.account_type = BankAccountType::Checking;
        let body = ach(&order, &account(), "account_1", None).unwrap();
        let expected = json!({
            "account_id": "account_1",
            "amount": 1,
            "statement_descriptor": "Transfer",
            "account_number": "000123456789",
            "routing_number": "021000021",
            "funding": "checking",
            "standard_entry_class_code": "prearranged_payments_and_deposit",
            "preferred_effective_date": { "settlement_schedule": "future_dated" },
        });
        assert_eq!(body, expected);
        for id in ["Zoë", "", " ", "1234567890123456"] {
            order.external_customer_id = id.to_owned();
            assert_eq!(individual_id(&order), None, "{id}");
        }
    }

    #[test]
    fn whom_it_pays_and_what_for() {
        let mut order = order(Channel::StandardAch, 1);
        order.recipient_kind = RecipientKind::Business;
        order.statement_descriptor = Some("ACME FEES".to_owned());
        let body = ach(&order, &account(), "account_1", None).unwrap();
        assert_eq!(body["standard_entry_class_code"], "corporate_credit_or_debit");
        assert_eq!(body["statement_descriptor"], "ACME FEES");
        assert_eq!(body["company_entry_description"], "ACME FEES");
        (order.recipient_kind, order.purpose) = (RecipientKind::Individual, Some(TransferPurpose::Payroll));
        let body = ach(&order, &account(), "account_1", None).unwrap();
        assert_eq!(body["standard_entry_class_code"], "prearranged_payments_and_deposit");
        assert_eq!(body["statement_descriptor"], "ACME FEES");
        assert_eq!(body["company_entry_description"], "PAYROLL");
    }

    #[test]
    fn remittance_that_does_not_fit_is_refused() {
        for (channel, most) in
            [(Channel::StandardAch, 80), (Channel::SameDayAch, 80), (Channel::Instant, 140)]
        {
            let mut order = order(channel, 1);
            let mut check_text = |value: Value| {
                order.remittance = Some(value.to_string());
                check(&order)
            };
            assert_eq!(check_text(json!("x".repeat(most))), Ok(()));
            assert_eq!(check_text(json!(null)), Ok(()));
            assert_eq!(check_text(json!({ "invoice": "A-7" })), Ok(()));
            // Letters that become two when they are spelled in ASCII.
            for wrong in [
                json!("x".repeat(most + 1)),
                json!("ß".repeat(most / 2 + 1)),
                json!("paid 🦀"),
                json!({ "invoice": "x".repeat(most) }),
            ] {
                let fault = check_text(wrong).unwrap_err();
                assert_eq!(fault.field, "remittanceData");
                assert!(
                    fault.message.contains(&format!("at most {most} Latin letters")),
                    "{}",
                    fault.message
                );
            }
        }
    }

    #[test]
    fn a_real_time_payment() {
        let mut order = order(Channel::Instant, 500);
        let body = instant(&order, &account(), "account_number_1", None).unwrap();
        let expected = json!({
            "source_account_number_id": "account_number_1",
            "amount": 500,
            "creditor_name": "Senora Maria-Jose Nunez",
            "unstructured_remittance_information": "Invoice No7",
            "account_number": "000123456789",
            "routing_number": "021000021",
        });
        assert_eq!(body, expected);
        let named = instant(&order, &account(), "account_number_1", Some("Acme")).unwrap();
        assert_eq!(named["debtor_name"], "Acme");
        for (remittance, description, told) in [
            (None, Some("Café"), "Cafe"),
            (None, None, "Transfer"),
            (Some(r#"{"invoice":7}"#), None, r#"{"invoice":7}"#),
            (Some("null"), None, "Transfer"),
            (Some(r#""🦀""#), Some("🦀"), "Transfer"),
        ] {
            (order.remittance, order.description) =
                (remittance.map(str::to_owned), description.map(str::to_owned));
            let body = instant(&order, &account(), "account_number_1", None).unwrap();
            assert_eq!(body["unstructured_remittance_information"], told);
        }
        order.account_name = "🦀".to_owned();
        assert_eq!(instant(&order, &account(), "x", None).unwrap()["creditor_name"], "Ada Example");
        order.customer_name = "🦀".to_owned();
        assert_eq!(refused(instant(&order, &account(), "x", None)), "account_name_not_supported");
    }

    #[test]
    fn an_order_of_an_earlier_release_is_sent_as_that_would_have() {
        let mut order = order(Channel::StandardAch, 1);
        let long = "x".repeat(100);
        order.remittance = Some(json!(long).to_string());
        assert_eq!(remittance(&order, ADDENDUM_MAX), Some("x".repeat(80)));
        order.remittance = Some(json!({ "invoice": long }).to_string());
        assert_eq!(remittance(&order, ADDENDUM_MAX), None);
        assert!(remittance(&order, REMITTANCE_MAX).is_some());
    }

    #[test]
    fn amounts_the_wire_cannot_carry_are_not_sent() {
        for (channel, write) in [
            (Channel::StandardAch, ach as fn(&_, &_, &str, Option<&str>) -> _),
            (Channel::SameDayAch, ach),
            (Channel::Instant, instant),
        ] {
            let write = |order: &TransferOrder| write(order, &account(), "x", None);
            assert_eq!(write(&order(channel, AMOUNT_MAX)).unwrap()["amount"], AMOUNT_MAX);
            assert_eq!(refused(write(&order(channel, AMOUNT_MAX + 1))), "amount_limit");
            let mut euros = order(channel, 1);
            euros.currency = Currency::parse("EUR").unwrap();
            assert_eq!(refused(write(&euros)), "amount_limit");
        }
    }

    #[track_caller]
    fn refused(outcome: Result<Value, CallError>) -> String {
        match outcome {
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Invalid => {
                rejection.failure.code
            }
            other => panic!("{other:?}"),
        }
    }
}
