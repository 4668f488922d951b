//! What is sent. Every byte follows from the order, the account and the configured source of funds, so that a repeated
//! request is the same request.

use serde_json::{Map, Value, json};
use tollgate_domain::{
    Channel, Currency,
    ach::{BankAccountType, RecipientKind, TransferOrder},
};
use tollgate_engine::ports::{BankAccount, CallError, OrderFault};

use super::rejection;
use crate::metadata::forwarded;
use crate::transfer_text::{
    ENTRY_DESCRIPTION_MAX, check_remittance, description, entry_description, holder, remittance,
};

/// Cents; more does not fit into an entry.
const AMOUNT_MAX: u64 = 9_999_999_999;
const REMITTANCE_ACH_MAX: usize = 80;
const REMITTANCE_RTP_MAX: usize = 140;
const NAME_MAX: usize = 140;

/// How money travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rail {
    Ach,
    RealTime,
}

impl Rail {
    /// The rail that carries a channel.
    pub(super) const fn of(channel: Channel) -> Option<Self> {
        match channel {
            Channel::StandardAch | Channel::SameDayAch => Some(Self::Ach),
            Channel::Instant => Some(Self::RealTime),
            Channel::WebCard => None,
        }
    }

    /// The provider's word for it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Ach => "ach",
            Self::RealTime => "rtp",
        }
    }

    const fn remittance_max(self) -> usize {
        match self {
            Self::Ach => REMITTANCE_ACH_MAX,
            Self::RealTime => REMITTANCE_RTP_MAX,
        }
    }
}

/// Refuses what the order's rail cannot carry.
pub(super) fn check(order: &TransferOrder) -> Result<(), OrderFault> {
    Rail::of(order.channel).map_or(Ok(()), |rail| check_remittance(order, rail.remittance_max()))
}

/// A payment order. It never names another rail to fall back to: the channel is what was quoted.
pub(super) fn payment_order(
    rail: Rail,
    order: &TransferOrder,
    account: &BankAccount,
    originating_account: &str,
    company_name: Option<&str>,
    forward_metadata: &[String],
) -> Result<Value, CallError> {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("type", rail.word().into());
    put("amount", amount(order)?.into());
    put("currency", "USD".into());
    put("direction", "credit".into());
    put("originating_account_id", originating_account.into());
    put("receiving_account", receiving_account(rail, order, account)?);
    put("external_id", order.id.to_string().into());
    if rail == Rail::Ach {
        put("subtype", entry_class(order.recipient_kind).into());
        put("priority", priority(order.channel).into());
        // The provider writes it into the entry's description.
        let descriptor =
            entry_description(order).unwrap_or_else(|| description(order, ENTRY_DESCRIPTION_MAX));
        put("statement_descriptor", descriptor.into());
        if let Some(name) = company_name {
            put("originating_party_name", name.into());
        }
    }
    if let Some(text) = remittance(order, rail.remittance_max()) {
        put("remittance_information", text.into());
    }
    let metadata = forwarded(&order.metadata, forward_metadata);
    if !metadata.is_empty() {
        put(
            "metadata",
            metadata.into_iter().map(|(key, value)| (key, value.into())).collect::<Map<_, _>>().into(),
        );
    }
    Ok(body.into())
}

fn receiving_account(rail: Rail, order: &TransferOrder, account: &BankAccount) -> Result<Value, CallError> {
    let name = holder(order, NAME_MAX).ok_or_else(rejection::name_not_writable)?;
    let account_type = match order.account_type {
        BankAccountType::Checking => "checking",
        BankAccountType::Savings => "savings",
    };
    Ok(json!({
        "party_name": name,
        "party_type": order.recipient_kind.as_str(),
        "account_type": account_type,
        "account_details": [{ "account_number": account.account_number.expose() }],
        "routing_details": [{
            "routing_number": account.routing_number.expose(),
            "routing_number_type": "aba",
            "payment_type": rail.word(),
        }],
    }))
}

const fn entry_class(recipient: RecipientKind) -> &'static str {
    match recipient {
        RecipientKind::Individual => "PPD",
        RecipientKind::Business => "CCD",
    }
}

fn priority(channel: Channel) -> &'static str {
    if channel == Channel::SameDayAch { "high" } else { "normal" }
}

fn amount(order: &TransferOrder) -> Result<u64, CallError> {
    if order.currency != Currency::USD {
        return Err(rejection::amount_not_carried("Transfers through this provider are in US dollars only."));
    }
    let amount = order.fee.principal.minor();
    if (1..=AMOUNT_MAX).contains(&amount) {
        return Ok(amount);
    }
    Err(rejection::amount_not_carried("The amount exceeds the provider's limit."))
}
