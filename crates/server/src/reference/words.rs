//! The fields that hold one of a few words, taken from the types that have them.

use std::borrow::Cow;

use serde_json::json;
use tollgate_domain as domain;
use tollgate_engine::ports::ProviderEventState as EventState;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{reference::scalars::schema, response::error_code::ErrorCode};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $words:expr;)*) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    let words: Vec<&'static str> = $words.into_iter().collect();
                    schema(json!({"type": "string", "enum": words}))
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    Cow::Borrowed(stringify!($name))
                }
            }
        )*
    };
}

words! {
    /// What failures are told apart by.
    ErrorCodeWord = ErrorCode::ALL.iter().map(|code| code.as_str());
    /// What a payment is made with.
    PaymentMethod = domain::PaymentMethod::ALL.map(domain::PaymentMethod::as_str);
    /// Which of the two card flows.
    Flow = domain::Flow::ALL.map(domain::Flow::as_str);
    /// What is known of whoever did something.
    ActorKind = domain::audit_log::ActorKind::WORDS;
    /// What people decide on.
    ApprovalKind = ["transfer", "refund", "funds", "configuration"];
    MovementCause = domain::ledger::Cause::ALL.map(domain::ledger::Cause::as_str);
    /// How a place of a document differs. `reordered`: the entries of a list are in another order. `secret`: a different secret looks the same behind its mask.
    DifferenceKind = ["added", "removed", "changed", "reordered", "secret"];
    /// Where an approval stands.
    ApprovalState = domain::approval::ApprovalState::ALL.map(domain::approval::ApprovalState::as_str);
    /// What a user may do.
    Role = domain::people::Role::ALL.map(domain::people::Role::as_str);
    /// The rail a payment takes.
    Channel = domain::Channel::ALL.map(domain::Channel::as_str);
    /// The channel fees are configured by.
    FeeChannel = domain::Channel::ALL.map(domain::Channel::fee_channel);
    /// Where a transaction stands.
    TransactionStatus = domain::transaction::Status::ALL.map(domain::transaction::Status::as_str);
    /// When the money of a card payment is taken: as soon as the customer pays, or when it is captured.
    Capture = domain::hold::CaptureMode::ALL.map(domain::hold::CaptureMode::as_str);
    /// What was asked for of a payment that is authorized, or of a transfer.
    PendingAction = ["capture", "void", "cancel"];
    /// Where a refund stands.
    RefundStatus = domain::refund::RefundStatus::ALL.map(domain::refund::RefundStatus::as_str);
    /// How much of the service fee a refund gives back.
    FeeRefund = domain::refund::FeeRefund::ALL.map(domain::refund::FeeRefund::as_str);
    /// Why a payment is refunded.
    RefundReason = domain::refund::RefundReason::ALL.map(domain::refund::RefundReason::as_str);
    /// Who started a refund.
    RefundOrigin = domain::refund::RefundOrigin::ALL.map(domain::refund::RefundOrigin::as_str);
    /// Where a preparation stands.
    PreparationStatus = domain::card::Preparation::ALL.map(domain::card::Preparation::as_str);
    /// Where a card payment stands: its preparation until somebody pays, then its transaction.
    PaymentStatus = domain::card::Preparation::ALL.map(domain::card::Preparation::as_str)
        .into_iter()
        .chain(domain::transaction::Status::ALL.map(domain::transaction::Status::as_str));
    /// What became of a try to charge a card.
    AttemptState = domain::card::AttemptState::ALL.map(domain::card::AttemptState::as_str);
    /// A bank account's kind.
    BankAccountType = domain::ach::BankAccountType::ALL.map(domain::ach::BankAccountType::as_str);
    /// What kind of failure it is.
    FailureKind = ["return", "failure"];
    /// Whom a transfer pays.
    RecipientKind = domain::ach::RecipientKind::ALL.map(domain::ach::RecipientKind::as_str);
    /// A network that carries transfers.
    TransferRail = domain::ach::TransferRail::ALL.map(domain::ach::TransferRail::as_str);
    /// What a transfer is for.
    TransferPurpose = domain::ach::TransferPurpose::ALL.map(domain::ach::TransferPurpose::as_str);
    /// What a key may do.
    KeyKind = domain::tenant::KeyKind::ALL.map(domain::tenant::KeyKind::as_str);
    /// An endpoint that a key can be limited to.
    KeyEndpoint = domain::key_scope::Endpoint::ALL.map(domain::key_scope::Endpoint::as_str);
    /// Whether a key opens anything.
    KeyStatus = ["live", "expired", "revoked"];
    /// What was done to a key.
    KeyAction = ["issued", "rotated", "revoked"];
    /// How a customer token is sealed.
    TokenType = ["JWE"];
    /// How a provider and our books disagree.
    ExceptionKind = domain::card::DiscrepancyKind::ALL.map(domain::card::DiscrepancyKind::as_str);
    /// What became of a provider's event.
    ProviderEventState = EventState::ALL.map(EventState::as_str);
    /// What happened.
    EventKind = domain::event::EventKind::ALL.map(domain::event::EventKind::as_str);
    /// What an endpoint can ask for: a kind of event, or all.
    EventName = domain::event::EventKind::ALL
        .map(domain::event::EventKind::as_str)
        .into_iter()
        .chain([domain::event::EventFilter::EVERYTHING]);
    /// Where a delivery stands.
    DeliveryState = tollgate_engine::ports::DeliveryState::ALL.map(tollgate_engine::ports::DeliveryState::as_str);
    /// A provider's wire.
    Adapter = tollgate_configuration::Adapter::ALL.map(tollgate_configuration::Adapter::as_str);
    /// Why money moved in a wallet.
    PostingCause = domain::ledger::PostingCause::ALL.map(domain::ledger::PostingCause::as_str);
    /// An account of a wallet.
    LedgerAccount = domain::ledger::Account::ALL.map(domain::ledger::Account::as_str);
    /// Why something was posted to the books of card payments.
    CardPostingKind = domain::books::CardPostingKind::ALL.map(domain::books::CardPostingKind::as_str);
    /// An account in the books of card payments.
    CardAccount = domain::books::Amounts::default().accounts().map(|(name, _)| name);
    /// The outcome of a rule.
    RuleOutcome = ["disabled", "matched", "failed", "not_tried"];
    /// What became of a target of a route; `selected` is the one the payment is at.
    RouteOutcome = domain::routing::RouteOutcome::ALL.map(domain::routing::RouteOutcome::as_str)
        .into_iter()
        .chain(["selected"]);
    /// Whether a provider gets new work on this node.
    CircuitStatus = tollgate_engine::CircuitStatus::ALL;
    /// What an operator decides about a circuit.
    CircuitDecision = ["open", "closed", "automatic"];
    /// What a circuit has become.
    CircuitChange = ["open", "closed"];
    /// How a condition compares.
    ConditionOp = ["eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte", "exists", "startsWith"];
    /// Whose layer of the fee.
    FeeScope = ["platform", "organization"];
    /// Which bound had the last word.
    FeeBound = ["minimum", "cap"];
}
