//! The fields that hold one of a few words, taken from the types that have them.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::json;
use tollgate_domain as domain;
use tollgate_engine::ports;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::types::scalars::schema;

/// Declares fields by the type whose words they hold, or by the words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident $(of $domain:ty)? $(= $words:expr)?;)*) => {
        $(
            $(#[$doc])*
            #[derive(Serialize)]
            pub(crate) struct $name(&'static str);

            impl $name {
                /// The words, in the order of their documentation.
                pub(crate) fn all() -> Vec<&'static str> {
                    $(<$domain>::ALL.map(<$domain>::as_str).into())?
                    $($words.into_iter().collect())?
                }
            }

            impl From<&'static str> for $name {
                fn from(word: &'static str) -> Self {
                    Self(word)
                }
            }

            $(impl From<$domain> for $name {
                fn from(value: $domain) -> Self {
                    Self(value.as_str())
                }
            })?

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    schema(json!({"type": "string", "enum": Self::all()}))
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
    /// What a payment is made with.
    PaymentMethod of domain::PaymentMethod;
    /// Which of the two card flows.
    Flow of domain::Flow;
    /// What is known of whoever did something.
    ActorKind = domain::audit_log::ActorKind::WORDS;
    /// What people decide on.
    ApprovalKind = ["transfer", "refund", "funds", "configuration"];
    MovementCause of domain::ledger::Cause;
    /// How a place of a document differs. `reordered`: the entries of a list are in another order. `secret`: a different secret looks the same behind its mask.
    DifferenceKind = ["added", "removed", "changed", "reordered", "secret"];
    /// Where an approval stands.
    ApprovalState of domain::approval::ApprovalState;
    /// What a user may do.
    Role of domain::people::Role;
    /// The rail a payment takes.
    Channel of domain::Channel;
    /// The channel fees are configured by.
    FeeChannel = domain::Channel::ALL.map(domain::Channel::fee_channel);
    /// Where a transaction stands.
    TransactionStatus of domain::transaction::Status;
    /// When the money of a card payment is taken: as soon as the customer pays, or when it is captured.
    Capture of domain::hold::CaptureMode;
    /// What was asked for of a payment that is authorized, or of a transfer.
    PendingAction = ["capture", "void", "cancel"];
    /// Where a refund stands.
    RefundStatus of domain::refund::RefundStatus;
    /// How much of the service fee a refund gives back.
    FeeRefund of domain::refund::FeeRefund;
    /// Why a payment is refunded.
    RefundReason of domain::refund::RefundReason;
    /// Who started a refund.
    RefundOrigin of domain::refund::RefundOrigin;
    /// Where a preparation stands.
    PreparationStatus of domain::card::Preparation;
    /// Where a card payment stands: its preparation until somebody pays, then its transaction.
    PaymentStatus = domain::card::Preparation::ALL.map(domain::card::Preparation::as_str)
        .into_iter()
        .chain(domain::transaction::Status::ALL.map(domain::transaction::Status::as_str));
    /// What became of a try to charge a card.
    AttemptState of domain::card::AttemptState;
    /// A bank account's kind.
    BankAccountType of domain::ach::BankAccountType;
    /// What kind of failure it is.
    FailureKind = ["return", "failure"];
    /// Whom a transfer pays.
    RecipientKind of domain::ach::RecipientKind;
    /// A network that carries transfers.
    TransferRail of domain::ach::TransferRail;
    /// What a transfer is for.
    TransferPurpose of domain::ach::TransferPurpose;
    /// What a key may do.
    KeyKind of domain::tenant::KeyKind;
    /// An endpoint that a key can be limited to.
    KeyEndpoint of domain::key_scope::Endpoint;
    /// Whether a key opens anything.
    KeyStatus = ["live", "expired", "revoked"];
    /// What was done to a key.
    KeyAction = ["issued", "rotated", "revoked"];
    /// How a customer token is sealed.
    TokenType = ["JWE"];
    /// How a provider and our books disagree.
    ExceptionKind of domain::card::DiscrepancyKind;
    /// What became of a provider's event.
    ProviderEventState of ports::ProviderEventState;
    /// What happened.
    EventKind of domain::event::EventKind;
    /// What an endpoint can ask for: a kind of event, or all.
    EventName = domain::event::EventKind::ALL
        .map(domain::event::EventKind::as_str)
        .into_iter()
        .chain([domain::event::EventFilter::EVERYTHING]);
    /// Where a delivery stands.
    DeliveryState of ports::DeliveryState;
    /// A provider's wire.
    Adapter of tollgate_configuration::Adapter;
    /// Why money moved in a wallet.
    PostingCause of domain::ledger::PostingCause;
    /// An account of a wallet.
    LedgerAccount of domain::ledger::Account;
    /// Why something was posted to the books of card payments.
    CardPostingKind of domain::books::CardPostingKind;
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
