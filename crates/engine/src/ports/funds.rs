//! Movements of money into and out of wallets that wait for somebody else.

use tollgate_domain::{
    Currency, Minor, Timestamp,
    approval::Approval,
    id::{EnvironmentId, PostingId},
    ledger::{Cause, Movement},
};

use super::{AppliedMovement, Moved};

/// What an operator asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveOrder {
    /// The wallet's currency.
    pub currency: Currency,
    /// In or out.
    pub cause: Cause,
    /// How much; more than zero.
    pub amount: Minor,
    /// The operator's own name for it; the same reference twice moves money once.
    pub reference: String,
}

/// A movement that others have to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FundRequest {
    pub environment: EnvironmentId,
    pub approval: Approval,
    pub order: MoveOrder,
    /// Who asked for it.
    pub actor: String,
    pub at: Timestamp,
    /// The posting that it became.
    pub posting: Option<PostingId>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FundsRequested {
    /// It is kept.
    Kept,
    /// The reference was used for the same movement before, which waits or was decided.
    Known(Box<FundRequest>),
    /// The same movement is in the books.
    Moved(AppliedMovement),
    /// The reference was used for another amount.
    ReferenceReused {
        /// The amount it was used for.
        amount: Minor,
    },
    /// As many wait as may.
    TooMany,
    /// No such environment.
    EnvironmentMissing,
}

/// What people have decided, and what is to be moved by that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FundsDecision {
    pub approval: Approval,
    pub movement: Option<Movement>,
}

/// The outcome of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FundsDecided {
    /// It is recorded, and the money moved by this posting, if it was to be.
    Done { posting: Option<PostingId> },
    /// Somebody else has decided meanwhile; nothing was recorded.
    Changed,
    /// The money cannot be moved; nothing was recorded.
    Refused(Moved),
}
