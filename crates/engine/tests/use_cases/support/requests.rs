//! What callers and operators ask for.

use tollgate_domain::{
    Currency, Flow, Minor, PaymentMethod, Principal,
    ach::{BankAccountType, RecipientKind},
    card_fee::PaymentFacts,
    customer::Customer,
    hold::CaptureMode,
    ledger::Cause,
    metadata::Metadata,
    tenant::KeyKind,
};
use tollgate_engine::{
    Bank, ConfirmBody, MoveOrder, Origin, PrepareRequest, QuoteRequest, TransferRequest, ports::BankAccount,
};
use tollgate_vault::Secret;

use super::world::World;

pub(crate) fn origin() -> Origin {
    Origin::system("a test", "req_config")
}

pub(crate) fn move_order(cause: Cause, amount: u64, reference: &str) -> MoveOrder {
    MoveOrder {
        currency: Currency::USD,
        cause,
        amount: Minor::new(amount).unwrap(),
        reference: reference.to_owned(),
    }
}

pub(crate) fn quote_request(method: PaymentMethod, flow: Option<Flow>, amount: u64) -> QuoteRequest {
    let (principal, currency) = (Principal::new(amount).unwrap(), Currency::USD);
    let (metadata, card_fee) = (Metadata::default(), PaymentFacts::default());
    QuoteRequest { principal, currency, method, flow, metadata, card_fee }
}

pub(crate) fn card_request(flow: Flow, amount: u64) -> PrepareRequest {
    PrepareRequest {
        quote: quote_request(PaymentMethod::WebCard, Some(flow), amount),
        flow,
        description: None,
        customer_name: None,
        customer_email: None,
        metadata: "{}".to_owned(),
        capture: CaptureMode::Automatic,
        success_url: None,
        cancel_url: None,
        idempotency_key: None,
        caller: KeyKind::Secret,
    }
}

/// A transfer with this idempotency key.
pub(crate) fn transfer_request(world: &World, key: &str, amount: u64) -> TransferRequest {
    let customer = Customer {
        external_id: "customer".to_owned(),
        email: "ada@example.com".to_owned(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        phone: None,
        metadata: "{}".to_owned(),
    };
    let (engine, view) = (world.engine(), world.view());
    let token = engine.issue_token(&view, &customer).unwrap().token;
    TransferRequest {
        idempotency_key: key.to_owned(),
        quote: quote_request(PaymentMethod::Ach, None, amount),
        token: engine.open_token(&view, &token),
        bank: Bank {
            account: BankAccount {
                routing_number: Secret::new("021000021"),
                account_number: Secret::new("000123456789"),
            },
            account_type: BankAccountType::Checking,
            bank_name: "A Bank".to_owned(),
            account_name: "Ada Lovelace".to_owned(),
        },
        description: None,
        metadata: "{}".to_owned(),
        remittance: None,
        recipient_kind: RecipientKind::Individual,
        purpose: None,
        statement_descriptor: None,
        key: None,
    }
}

pub(crate) fn charge_of(source: &str) -> ConfirmBody {
    ConfirmBody::Charge { source: Secret::new(source), verification: None, buyer_email: None }
}

pub(crate) fn look_at(intent: &str) -> ConfirmBody {
    ConfirmBody::Look { payment_intent: intent.to_owned(), client_status: None }
}
