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
    PaymentMethod of domain::PaymentMethod;
    Flow of domain::Flow;
    ActorKind = domain::audit_log::ActorKind::WORDS;
    ApprovalKind = ["transfer", "refund", "funds", "configuration"];
    MovementCause of domain::ledger::Cause;
    /// How a place of a document differs. `reordered`: the entries of a list are in another order. `secret`: a different secret looks the same behind its mask.
    DifferenceKind = ["added", "removed", "changed", "reordered", "secret"];
    ApprovalState of domain::approval::ApprovalState;
    Role of domain::people::Role;
    Channel of domain::Channel;
    /// The channel fees are configured by.
    FeeChannel = domain::Channel::ALL.map(domain::Channel::fee_channel);
    TransactionStatus of domain::transaction::Status;
    /// When the money of a card payment is taken: as soon as the customer pays, or when it is captured.
    Capture of domain::hold::CaptureMode;
    PendingAction = ["capture", "void", "cancel"];
    RefundStatus of domain::refund::RefundStatus;
    FeeRefund of domain::refund::FeeRefund;
    RefundReason of domain::refund::RefundReason;
    RefundOrigin of domain::refund::RefundOrigin;
    PreparationStatus of domain::card::Preparation;
    /// Where a card payment stands: its preparation until somebody pays, then its transaction.
    PaymentStatus = domain::card::Preparation::ALL.map(domain::card::Preparation::as_str)
        .into_iter()
        .chain(domain::transaction::Status::ALL.map(domain::transaction::Status::as_str));
    /// The result of a check; null where it did not apply.
    CardCheck of domain::payment_card::CheckResult;
    AttemptState of domain::card::AttemptState;
    BankAccountType of domain::ach::BankAccountType;
    FailureKind = ["return", "failure"];
    RecipientKind of domain::ach::RecipientKind;
    TransferRail of domain::ach::TransferRail;
    TransferPurpose of domain::ach::TransferPurpose;
    KeyKind of domain::tenant::KeyKind;
    KeyEndpoint of domain::key_scope::Endpoint;
    KeyStatus = ["live", "expired", "revoked"];
    KeyAction = ["issued", "rotated", "revoked"];
    TokenType = ["JWE"];
    ExceptionKind of domain::card::DiscrepancyKind;
    ProviderEventState of ports::ProviderEventState;
    EventKind of domain::event::EventKind;
    EventName = domain::event::EventKind::ALL
        .map(domain::event::EventKind::as_str)
        .into_iter()
        .chain([domain::event::EventFilter::EVERYTHING]);
    DeliveryState of ports::DeliveryState;
    Adapter of tollgate_configuration::Adapter;
    PostingCause of domain::ledger::PostingCause;
    LedgerAccount of domain::ledger::Account;
    CardPostingKind of domain::books::CardPostingKind;
    CardAccount = domain::books::Amounts::default().accounts().map(|(name, _)| name);
    RuleOutcome = ["disabled", "matched", "failed", "not_tried"];
    /// What became of a target of a route; `selected` is the one the payment is at.
    RouteOutcome = domain::routing::RouteOutcome::ALL.map(domain::routing::RouteOutcome::as_str)
        .into_iter()
        .chain(["selected"]);
    CircuitStatus = tollgate_engine::CircuitStatus::ALL;
    CircuitDecision = ["open", "closed", "automatic"];
    CircuitChange = ["open", "closed"];
    ConditionOp = ["eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte", "exists", "startsWith"];
    CardBrand of domain::card_fee::Brand;
    CardFunding of domain::card_fee::Funding;
    FeeKind of domain::card_fee::FeeKind;
    FeeReasonCode of domain::card_fee::ReasonCode;
    FeeRuleSide = ["merchant", "payer"];
    FeeScope = ["platform", "organization"];
    FeeBound = ["minimum", "cap"];
}
