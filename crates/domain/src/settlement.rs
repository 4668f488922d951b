//! Settlement: every cent from the payment to the bank account.
//!
//! Our postings say what a provider owes: each is an [`Expectation`]. What the provider did is a list of
//! [`ProviderEntry`]s, which it pays out in [`Payout`]s, which reach the bank as [`BankLine`]s. [`reconcile`] compares them,
//! to the cent:
//!
//! 1. Entries and expectations of the same payment, refund, dispute or transfer are equal in sum. Several entries may make one
//!    expectation (a charge and what a partial capture takes back, a fee of its own).
//! 2. A payout is the sum of the net amounts of its entries. What is left over is zero or has a label.
//! 3. A bank line is the payout whose trace it names, otherwise the only one of its amount that is due in these days. Where two
//!    are possible, a person decides.
//!
//! Whatever does not agree is a [`Difference`] with a kind, a cause, references and amounts; nothing is tolerated and nothing
//! disappears by itself. Money that is not ours, because the account is shared, is labelled as foreign and counts in its payout.
//!
//! The result depends on what is known, not on the order in which it came: whoever stores the facts may bring them in windows,
//! pages and repetitions. [`SettlementPosting`]s are made of the same facts, one for each, so that a fact posts once. They leave
//! card postings untouched: together, `due_from_provider` is what the provider has, less what it has not booked yet.
//!
//! A closed month is frozen: [`close_month`] is refused while something in it is open, and a fact that comes later is posted to
//! the first open month, with a difference that says so.

mod bank;
mod difference;
mod expectation;
mod fact;
mod known;
mod month;
mod payouts;
mod posting;
mod reconcile;
mod reconciliation;
mod subjects;

pub use bank::BANKING_DAYS_TO_ARRIVE;
pub use difference::{Cause, Difference, DifferenceKind};
pub use expectation::{Expectation, ExpectedFees, FactKind, RefundedFees};
pub use fact::{
    BankLine, EntryKind, ImportWindow, Mark, Payout, PayoutStatus, Presentment, ProviderEntry, Rate, SameId,
    compare_entries,
};
pub use month::{CloseBlocker, MonthClose, close_month};
pub use posting::{PostedFact, SettlementAccount, SettlementPosting, unposted};
pub use reconcile::{Facts, reconcile};
pub use reconciliation::{
    BankMatch, ReconciledPayout, Reconciliation, Remainder, SubjectMatch, SubjectState, Terms,
};
