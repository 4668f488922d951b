//! What callers, operators and receivers know: what they asked for, what they were answered, what they were told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::node::Cluster;

/// Everything that was learned from outside.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) cluster: Option<Arc<Cluster>>,
    pub(crate) environment: String,
    /// The secret key callers use now.
    pub(crate) secret_key: String,
    /// Keys that were revoked, and when that was acknowledged, in milliseconds of the run.
    pub(crate) revoked: BTreeMap<String, u64>,
    /// Transfers by the caller's name for them.
    pub(crate) transfers: BTreeMap<String, TransferCase>,
    /// Card payments by the caller's name for them.
    pub(crate) payments: BTreeMap<String, PaymentCase>,
    /// What each endpoint was told: bodies by event.
    pub(crate) receivers: Vec<BTreeMap<String, Vec<u8>>>,
    /// The status of a payment as each endpoint knows it: that of the highest revision it received.
    pub(crate) statuses: BTreeMap<(usize, String), (u64, String)>,
    /// What the follower has read, in its order.
    pub(crate) followed: Vec<Told>,
}

/// An event as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) reference: String,
}

/// How a caller's key was answered; a request that begins afterwards gets no other kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Answered {
    #[default]
    NotYet,
    Made,
    Rejected,
}

/// A transfer a caller wants, whatever became of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct TransferCase {
    /// The reference it was answered under.
    pub(crate) reference: Option<String>,
    /// How often it was answered as created.
    pub(crate) created: u32,
    pub(crate) answered: Answered,
    /// Statuses that were answered.
    pub(crate) said: BTreeSet<String>,
    /// Dates of it that were answered.
    pub(crate) dated: BTreeSet<String>,
    /// Requests of which it was said that they changed nothing.
    pub(crate) nothings: BTreeSet<String>,
    /// Whether its caller has ever asked for it to be canceled.
    pub(crate) cancel_asked: bool,
}

/// A card payment a caller wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct PaymentCase {
    pub(crate) reference: String,
    pub(crate) total: u64,
    pub(crate) said: BTreeSet<String>,
    /// Dates of it that were answered.
    pub(crate) dated: BTreeSet<String>,
    /// Refunds that were answered: references by key.
    pub(crate) refunds: BTreeMap<String, String>,
    /// Card tokens that were tried on it.
    pub(crate) sources: BTreeMap<String, SourceCase>,
    /// Pages and intents that its caller was given.
    pub(crate) objects: BTreeSet<String>,
}

/// A card's token.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceCase {
    /// Requests that are under way.
    pub(crate) under_way: u32,
    /// Whether some answer, or the lack of one, allows that it was charged.
    pub(crate) may_be_charged: bool,
    /// Whether it was answered that this card failed.
    pub(crate) failed: bool,
    /// Whether every request with it reached its node after the preparation's time, by that node's clock.
    pub(crate) was_in_time: bool,
}
