//! How environments stand, as far as the store knows: what the doctor judges and what metrics show.

use std::ops::Range;

use tollgate_domain::{Currency, Minor, Timestamp, id::EnvironmentId, ledger::Balances};

/// What is asked about environments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthQuery {
    pub environments: Vec<EnvironmentId>,
    /// Whatever is counted is counted up to here.
    pub most: u32,
    /// An enabled endpoint fails if it has failed this often in a row.
    pub failing_from: u32,
    /// The time whose spending is added up, in whole hours.
    pub spending: Range<Timestamp>,
}

/// How an environment stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentHealth {
    pub environment: EnvironmentId,
    pub attention: Attention,
    /// By currency.
    pub wallets: Vec<WalletHealth>,
}

/// What a wallet has, and what was spent from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalletHealth {
    pub currency: Currency,
    pub balances: Balances,
    /// What transfers took out of it in the time that was asked about.
    pub spent: Minor,
}

impl WalletHealth {
    /// It would not last another time like that one.
    pub fn is_low(&self) -> bool {
        self.balances.available < self.spent
    }
}

/// What waits, counted up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attention {
    /// Card payments that say why they wait.
    pub waiting_payments: u32,
    /// When the oldest of them was made.
    pub oldest_waiting_payment: Option<Timestamp>,
    /// Transfers that say why they wait.
    pub waiting_transfers: u32,
    /// When the oldest of them was made.
    pub oldest_waiting_transfer: Option<Timestamp>,
    /// Discrepancies that are still open.
    pub open_exceptions: u32,
    /// Deliveries that are due now or later.
    pub waiting_deliveries: u32,
    /// When the oldest event among them happened.
    pub oldest_waiting_delivery: Option<Timestamp>,
    /// Deliveries that were given up.
    pub parked_deliveries: u32,
    /// Endpoints that are told nothing.
    pub disabled_endpoints: u32,
    /// Enabled endpoints that do not take what they are sent.
    pub failing_endpoints: u32,
    /// Events of providers that are stored and not applied yet.
    pub waiting_provider_events: u32,
    /// Events of providers that failed too often and wait for an operator.
    pub parked_provider_events: u32,
    /// Transfers that wait for people's approval.
    pub open_approvals: u32,
    /// Disputes that are not decided.
    pub open_disputes: u32,
    /// Until when the next of those that want evidence wants it, where the provider said so.
    pub respond_by: Option<Timestamp>,
}
