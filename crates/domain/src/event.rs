//! Events for callers of: the kinds of events, and which of them an endpoint wants.

use std::fmt;

use crate::{
    refund::RefundStatus,
    transaction::{Dispute, Status, TransactionState},
};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A card payment can be paid.
    PaymentPrepared,
    /// A transaction came into this status.
    Transaction(Status),
    /// A refund has been recorded, and its outcome is not known yet.
    RefundPending,
    /// A refund has been given back.
    RefundSucceeded,
    /// A refund failed or was canceled, perhaps after it had been reported as given back.
    RefundFailed,
    /// A customer's bank contests a card payment.
    DisputeOpened,
    /// A dispute that is still open has changed.
    DisputeUpdated,
    /// A dispute has been decided.
    DisputeClosed,
    /// The receiving bank asks for a bank transfer's details to be corrected next time; nothing failed.
    NotificationOfChange,
    /// A bank transfer, a refund, a wallet movement or a change of the configuration waits for people to approve it.
    ApprovalRequired,
    /// A provider gets no new work, for operators.
    CircuitOpened,
    /// A provider gets new work again.
    CircuitClosed,
    /// How many entries the audit log of the whole service has, and the hash of the last. Regularly.
    AuditLogHead,
}

impl EventKind {
    pub const ALL: [Self; 19] = [
        Self::PaymentPrepared,
        Self::Transaction(Status::Pending),
        Self::Transaction(Status::Processing),
        Self::Transaction(Status::Authorized),
        Self::Transaction(Status::Succeeded),
        Self::Transaction(Status::Failed),
        Self::Transaction(Status::Canceled),
        Self::Transaction(Status::Refunded),
        Self::RefundPending,
        Self::RefundSucceeded,
        Self::RefundFailed,
        Self::DisputeOpened,
        Self::DisputeUpdated,
        Self::DisputeClosed,
        Self::NotificationOfChange,
        Self::ApprovalRequired,
        Self::CircuitOpened,
        Self::CircuitClosed,
        Self::AuditLogHead,
    ];

    /// The name in bodies, filters and the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentPrepared => "payment.prepared",
            Self::Transaction(Status::Pending) => "transaction.pending",
            Self::Transaction(Status::Processing) => "transaction.processing",
            Self::Transaction(Status::Authorized) => "transaction.authorized",
            Self::Transaction(Status::Succeeded) => "transaction.succeeded",
            Self::Transaction(Status::Failed) => "transaction.failed",
            Self::Transaction(Status::Canceled) => "transaction.canceled",
            Self::Transaction(Status::Refunded) => "transaction.refunded",
            Self::RefundPending => "refund.pending",
            Self::RefundSucceeded => "refund.succeeded",
            Self::RefundFailed => "refund.failed",
            Self::DisputeOpened => "dispute.opened",
            Self::DisputeUpdated => "dispute.updated",
            Self::DisputeClosed => "dispute.closed",
            Self::NotificationOfChange => "transfer.notification_of_change",
            Self::ApprovalRequired => "approval.required",
            Self::CircuitOpened => "provider.circuit_opened",
            Self::CircuitClosed => "provider.circuit_closed",
            Self::AuditLogHead => "audit_log.head",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The event for a change of status, or `None` if the status stays the same.
    pub fn of_move(from: Option<Status>, to: Status) -> Option<Self> {
        (from != Some(to)).then_some(Self::Transaction(to))
    }

    /// Everything that a change of a card transaction is reported as, in the order in which it happened. The events of its
    /// refunds belong between the first and the second list: a refund is given back before the transaction is `refunded`.
    pub fn of_change(from: Option<&TransactionState>, to: &TransactionState) -> (Vec<Self>, Vec<Self>) {
        let status_before = from.map(|from| from.status);
        let missed = to.missed_success(status_before).map(|missed| Self::Transaction(missed.status));
        let status = Self::of_move(status_before, to.status);
        let dispute = Self::of_dispute(from.and_then(|from| from.dispute.as_ref()), to.dispute.as_ref());
        let by_refund = to.status == Status::Refunded || status_before == Some(Status::Refunded);
        let (first, second) = if by_refund { (None, status) } else { (status, None) };
        (missed.into_iter().chain(first).collect(), second.into_iter().chain(dispute).collect())
    }

    /// The event for a change of a refund's status, or `None` if it is not reported.
    pub fn of_refund(from: Option<RefundStatus>, to: RefundStatus) -> Option<Self> {
        match (from, to) {
            (None, RefundStatus::Pending | RefundStatus::Processing) => Some(Self::RefundPending),
            (Some(_), RefundStatus::Pending | RefundStatus::Processing) => None,
            (from, to) if from == Some(to) => None,
            (_, RefundStatus::Succeeded) => Some(Self::RefundSucceeded),
            (_, RefundStatus::Failed | RefundStatus::Canceled) => Some(Self::RefundFailed),
        }
    }

    /// Whether the payment had been paid when it happened.
    pub const fn is_of_paid(self) -> bool {
        match self {
            Self::PaymentPrepared
            | Self::Transaction(
                Status::Pending | Status::Processing | Status::Authorized | Status::Failed | Status::Canceled,
            )
            | Self::NotificationOfChange
            | Self::ApprovalRequired
            | Self::CircuitOpened
            | Self::CircuitClosed
            | Self::AuditLogHead => false,
            Self::Transaction(Status::Succeeded | Status::Refunded)
            | Self::RefundPending
            | Self::RefundSucceeded
            | Self::RefundFailed
            | Self::DisputeOpened
            | Self::DisputeUpdated
            | Self::DisputeClosed => true,
        }
    }

    /// Whether an endpoint that wants all events wants it. What is about more than its environment has to be named.
    pub const fn is_in_all(self) -> bool {
        !matches!(self, Self::AuditLogHead)
    }

    fn of_dispute(from: Option<&Dispute>, to: Option<&Dispute>) -> Option<Self> {
        let to = to.filter(|to| from != Some(*to))?;
        let known = from.filter(|from| from.id == to.id);
        Some(match known {
            Some(known) if known.is_closed() == to.is_closed() => Self::DisputeUpdated,
            _ if to.is_closed() => Self::DisputeClosed,
            _ => Self::DisputeOpened,
        })
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which events an endpoint wants: all about its environment that there are or will be, or the kinds it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventFilter {
    /// Every kind that [is in all](EventKind::is_in_all), also those that a later version adds.
    All,
    /// These kinds, each once and in the order of [`EventKind::ALL`].
    Only(Vec<EventKind>),
}

/// A filter that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFilter {
    /// It would let nothing through.
    #[error("must name at least one event, or be [\"*\"] for all")]
    Empty,
    /// It is not in `*`, and would be lost beside it.
    #[error("names `{0}`, which \"*\" does not include; add another endpoint for it")]
    BesideAll(EventKind),
    /// No such event.
    #[error(
        "names `{0}`, which is not an event type; use \"*\" for all, or some of: {kinds}",
        kinds = EventKind::ALL.map(EventKind::as_str).join(", ")
    )]
    Unknown(String),
}

impl EventFilter {
    /// What stands for every kind.
    pub const EVERYTHING: &'static str = "*";

    /// The filter that names these; `*` among them is all.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidFilter> {
        let mut kinds = Vec::new();
        let mut all = false;
        for name in names {
            match EventKind::parse(name) {
                _ if name == Self::EVERYTHING => all = true,
                Some(kind) => kinds.push(kind),
                None => return Err(InvalidFilter::Unknown(name.chars().take(80).collect())),
            }
        }
        if all {
            if let Some(kind) = kinds.into_iter().find(|kind| !kind.is_in_all()) {
                return Err(InvalidFilter::BesideAll(kind));
            }
            return Ok(Self::All);
        }
        if kinds.is_empty() {
            return Err(InvalidFilter::Empty);
        }
        kinds.sort_unstable();
        kinds.dedup();
        Ok(Self::Only(kinds))
    }

    /// The names, as [`EventFilter::parse`] takes them.
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec![Self::EVERYTHING],
            Self::Only(kinds) => kinds.iter().map(|kind| kind.as_str()).collect(),
        }
    }

    /// Whether an event of this kind is wanted.
    pub fn wants(&self, kind: EventKind) -> bool {
        match self {
            Self::All => kind.is_in_all(),
            Self::Only(kinds) => kinds.contains(&kind),
        }
    }

    /// Whether it asks for the end of the audit log, which is about the whole service.
    pub fn names_audit_log(&self) -> bool {
        self.wants(EventKind::AuditLogHead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Minor;

    #[test]
    fn every_kind_has_its_name_and_its_place() {
        for (kind, next) in EventKind::ALL.iter().zip(EventKind::ALL.iter().skip(1)) {
            assert!(kind < next);
        }
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.as_str()), Some(kind));
        }
        for status in Status::ALL {
            let kind = EventKind::Transaction(status);
            assert_eq!(kind.as_str(), format!("transaction.{}", status.as_str()));
            assert!(EventKind::ALL.contains(&kind));
        }
    }

    #[test]
    fn only_a_new_status_is_told() {
        assert_eq!(EventKind::of_move(None, Status::Failed), Some(EventKind::Transaction(Status::Failed)));
        assert_eq!(EventKind::of_move(Some(Status::Failed), Status::Failed), None);
        assert_eq!(
            EventKind::of_move(Some(Status::Pending), Status::Succeeded),
            Some(EventKind::Transaction(Status::Succeeded))
        );
    }

    #[test]
    fn every_change_of_a_transaction_has_its_events() {
        let state = |status, refunded, dispute: Option<(&str, &str)>| TransactionState {
            status,
            refunded: Minor::new(refunded).unwrap(),
            dispute: dispute.map(|(id, status)| Dispute {
                id: id.to_owned(),
                status: status.to_owned(),
                reason: None,
                amount: None,
                currency: None,
                respond_by: None,
                withdrawn: None,
            }),
            ..TransactionState::pending()
        };
        let paid = |dispute| state(Status::Succeeded, 0, dispute);
        let refunded = state(Status::Refunded, 9, None);
        for (from, to, before, after) in [
            (None, paid(None), vec!["transaction.succeeded"], vec![]),
            (Some(paid(None)), paid(None), vec![], vec![]),
            (Some(paid(None)), refunded.clone(), vec![], vec!["transaction.refunded"]),
            (None, refunded.clone(), vec!["transaction.succeeded"], vec!["transaction.refunded"]),
            (Some(refunded), paid(None), vec![], vec!["transaction.succeeded"]),
            (Some(paid(None)), paid(Some(("dp_1", "needs_response"))), vec![], vec!["dispute.opened"]),
            (
                Some(paid(Some(("dp_1", "needs_response")))),
                paid(Some(("dp_1", "under_review"))),
                vec![],
                vec!["dispute.updated"],
            ),
            (
                Some(paid(Some(("dp_1", "under_review")))),
                paid(Some(("dp_1", "won"))),
                vec![],
                vec!["dispute.closed"],
            ),
            (Some(paid(None)), paid(Some(("dp_1", "lost"))), vec![], vec!["dispute.closed"]),
            (
                Some(paid(Some(("dp_1", "won")))),
                paid(Some(("dp_2", "needs_response"))),
                vec![],
                vec!["dispute.opened"],
            ),
        ] {
            let names = |kinds: Vec<EventKind>| kinds.into_iter().map(EventKind::as_str).collect::<Vec<_>>();
            let (first, second) = EventKind::of_change(from.as_ref(), &to);
            assert_eq!((names(first), names(second)), (before, after), "{from:?} -> {to:?}");
        }
    }

    #[test]
    fn a_refund_is_told_when_it_is_recorded_and_when_its_outcome_is_known() {
        use RefundStatus::{Canceled, Failed, Pending, Processing, Succeeded};
        for (from, to, expected) in [
            (None, Pending, Some(EventKind::RefundPending)),
            (None, Processing, Some(EventKind::RefundPending)),
            (None, Succeeded, Some(EventKind::RefundSucceeded)),
            (Some(Pending), Processing, None),
            (Some(Processing), Succeeded, Some(EventKind::RefundSucceeded)),
            (Some(Succeeded), Failed, Some(EventKind::RefundFailed)),
            (Some(Processing), Canceled, Some(EventKind::RefundFailed)),
            (Some(Failed), Failed, None),
        ] {
            assert_eq!(EventKind::of_refund(from, to), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn filters_are_read_and_written() {
        let parse = |names: &[&str]| EventFilter::parse(names.iter().copied());
        assert_eq!(parse(&["transaction.failed", "*"]), Ok(EventFilter::All));
        let some = parse(&["transaction.failed", "payment.prepared", "transaction.failed"]).unwrap();
        assert_eq!(some.names(), ["payment.prepared", "transaction.failed"]);
        assert!(
            some.wants(EventKind::PaymentPrepared) && !some.wants(EventKind::Transaction(Status::Pending))
        );
        assert!(EventFilter::All.wants(EventKind::PaymentPrepared));
        assert!(!EventFilter::All.names_audit_log(), "it is about more than the endpoint's environment");
        assert!(parse(&["audit_log.head"]).unwrap().names_audit_log());
        assert_eq!(parse(&["*", "audit_log.head"]), Err(InvalidFilter::BesideAll(EventKind::AuditLogHead)));
        assert_eq!(parse(&[]), Err(InvalidFilter::Empty));
        assert_eq!(parse(&["transaction.*"]), Err(InvalidFilter::Unknown("transaction.*".to_owned())));
        let message = InvalidFilter::Unknown("x".to_owned()).to_string();
        assert!(EventKind::ALL.iter().all(|kind| message.contains(kind.as_str())), "{message}");
    }
}
