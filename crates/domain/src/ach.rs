//! Bank transfers: what is ordered, what a provider says became of it, and what that means for books and wallet.

mod calendar;
mod correction;
mod rail;
mod recipient;
mod return_rate;
mod returns;
mod routing_number;
mod status_decision;

use crate::{
    currency::Currency,
    fee::FeeSnapshot,
    id::{EnvironmentId, TransferId},
    payment::Channel,
    provider_account::ProviderAccount,
    routing::{Matched, RouteProgress},
    time::Timestamp,
};

pub use calendar::{Calendar, RailRules};
pub use correction::{CorrectedNumber, Correction};
pub use rail::TransferRail;
pub use recipient::{RecipientKind, TransferPurpose};
pub use return_rate::{ReturnKind, ReturnRates, ReturnThresholds};
pub use returns::{ReturnReason, is_return_code, return_reason};
pub use routing_number::is_routing_number;
pub use status_decision::{AchProviderReport, AchProviderStatus, StatusDecision, decide_status};

/// What kind of account money goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BankAccountType {
    /// A current account.
    Checking,
    /// A savings account.
    Savings,
}

impl BankAccountType {
    /// Every type.
    pub const ALL: [Self; 2] = [Self::Checking, Self::Savings];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Checking => "checking",
            Self::Savings => "savings",
        }
    }

    /// The type of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The terms fixed when a transfer is made. They never change. The account's number is not in it: only its
/// last four digits are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferOrder {
    pub environment: EnvironmentId,
    /// The transfer's reference, made of organization, environment and the caller's key.
    pub id: TransferId,
    /// The provider routing picked, by its name in the configuration.
    pub provider: String,
    /// The name of the adapter in use.
    pub adapter: String,
    /// The account it is sent from; `None` for a transfer made before accounts were recorded.
    pub account: Option<ProviderAccount>,
    /// The channel routing picked.
    pub channel: Channel,
    /// The network it takes, the same on every try; `None` for a transfer made before that was recorded.
    pub rail: Option<TransferRail>,
    /// The rule that decided; `None` for the default target.
    pub matched: Option<Matched>,
    /// What was tried before that provider, and what may be tried after it.
    pub route: RouteProgress,
    /// The configuration that decided.
    pub config_version: u64,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The amounts.
    pub fee: FeeSnapshot,
    /// The caller's own name for the customer.
    pub external_customer_id: String,
    /// The customer's name.
    pub customer_name: String,
    /// The customer's address.
    pub customer_email: String,
    /// The bank, as a person calls it.
    pub bank_name: String,
    /// The account's holder.
    pub account_name: String,
    /// What kind of account.
    pub account_type: BankAccountType,
    /// The account number's last four digits.
    pub last_four: String,
    /// The caller's description.
    pub description: Option<String>,
    /// The caller's metadata, as JSON text.
    pub metadata: String,
    /// Remittance information for the receiver, as JSON text.
    pub remittance: Option<String>,
    /// Whom it pays.
    pub recipient_kind: RecipientKind,
    /// What it is for, where that has to be said.
    pub purpose: Option<TransferPurpose>,
    /// What the receiver's statement is to say: printable ASCII.
    pub statement_descriptor: Option<String>,
    /// The request that asked.
    pub request: String,
    /// When it was asked.
    pub created_at: Timestamp,
}
