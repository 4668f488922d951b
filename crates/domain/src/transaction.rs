//! Transactions: the statuses, the moves between them, and the part of a transaction that changes.

use crate::{
    currency::Currency,
    fee::FeeSnapshot,
    hold::Hold,
    id::{EnvironmentId, TransactionId},
    money::Minor,
    payment::{Channel, PaymentMethod},
    payment_card::PaymentCard,
    reference::ServiceReference,
    time::Timestamp,
};

/// Where a transaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Recorded here; the outcome at the provider is not known yet.
    Pending,
    /// The provider works on it.
    Processing,
    /// The money is held until it is captured or released; only of card payments that are captured by hand.
    Authorized,
    /// The money has moved.
    Succeeded,
    /// It has not, and the failure says why.
    Failed,
    /// Withdrawn before it was paid.
    Canceled,
    /// Paid, and fully refunded.
    Refunded,
}

impl Status {
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Processing,
        Self::Authorized,
        Self::Succeeded,
        Self::Failed,
        Self::Canceled,
        Self::Refunded,
    ];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Authorized => "authorized",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Refunded => "refunded",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether the provider still owes an answer.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing)
    }

    /// Whether a report may move a transaction from this status to another. A report that may not is late, repeated or
    /// out of order, and nothing moves.
    pub const fn may_move_to(self, to: Self, report: ReportKind) -> bool {
        match (self, to) {
            (Self::Pending, Self::Processing | Self::Succeeded | Self::Failed | Self::Canceled)
            | (Self::Processing, Self::Succeeded | Self::Failed | Self::Canceled)
            | (Self::Succeeded, Self::Refunded) => true,
            (Self::Pending | Self::Processing | Self::Failed, Self::Authorized)
            | (Self::Authorized, Self::Processing | Self::Succeeded | Self::Canceled) => {
                matches!(report, ReportKind::Card)
            }
            (Self::Succeeded, Self::Failed) => matches!(report, ReportKind::AchReturn),
            // The customer tried again on the same preparation.
            (Self::Failed, Self::Processing | Self::Succeeded) => matches!(report, ReportKind::Card),
            _ => false,
        }
    }
}

/// What kind of news asks for a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// Anything about a card payment.
    Card,
    /// Anything about a bank transfer but its return.
    Ach,
    /// The receiving bank sent a transfer back.
    AchReturn,
}

impl ReportKind {
    /// An ordinary report about a payment of this method.
    pub const fn of(method: PaymentMethod) -> Self {
        match method {
            PaymentMethod::WebCard => Self::Card,
            PaymentMethod::Ach => Self::Ach,
        }
    }
}

/// Why a transaction failed, in words a caller may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// One of our own codes, the same for every provider.
    pub code: String,
    /// A sentence.
    pub message: String,
}

/// A customer's bank contests a payment. It does not change the status: money moves only when a person has looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// The provider's name for it.
    pub id: String,
    /// The provider's word for where it stands.
    pub status: String,
    /// The provider's word for why.
    pub reason: Option<String>,
    /// How much is contested.
    pub amount: Option<Minor>,
    /// The currency of the amounts, in capitals, as far as the provider said it. A recorded dispute has one only where it is not
    /// the payment's.
    pub currency: Option<String>,
    /// Until when the provider takes evidence, where it said so.
    pub respond_by: Option<Timestamp>,
    /// What the provider has taken for it and not given back. `None` where only the status is known, as in records from before
    /// this was kept.
    pub withdrawn: Option<Minor>,
}

/// What a dispute means for the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisputeStage {
    /// The bank only asks: the provider keeps nothing back.
    Inquiry,
    /// Not decided, or won and not given back yet: the provider keeps the amount back.
    Open,
    /// Over, and the amount is the merchant's again, or always was.
    Returned,
    /// Over, and the customer has the money.
    Lost,
}

impl DisputeStage {
    const LOST: [&str; 2] = ["lost", "accepted"];
    const PREVENTED: &str = "prevented";
    const RETURNED: [&str; 5] =
        ["won", Self::PREVENTED, "warning_closed", "charge_refunded", "inquiry_closed"];
    const INQUIRY: [&str; 2] = ["warning_", "inquiry_"];
    /// The steps of a dispute in their order, where a provider tells of each step and none of them again. After the last, it is
    /// won or lost.
    const STEPS: [&str; 7] = [
        Self::INQUIRED,
        Self::INQUIRY_EXPIRED,
        "announced",
        "charged_back",
        Self::UNDEFENDED,
        "reversed",
        "arbitration",
    ];
    const INQUIRED: &str = "inquiry_needs_response";
    /// The bank asked and got no answer: it may still take the money.
    const INQUIRY_EXPIRED: &str = "inquiry_expired";
    /// No evidence is taken anymore: lost, once the money is taken.
    const UNDEFENDED: &str = "undefended";
}

impl Dispute {
    /// Where the money is. What the provider has taken or given back goes before its word.
    pub fn stage(&self) -> DisputeStage {
        let by_status = self.stage_by_status();
        let Some(is_away) = self.withdrawn.map(|withdrawn| withdrawn > Minor::ZERO) else { return by_status };
        match by_status {
            DisputeStage::Lost => DisputeStage::Lost,
            DisputeStage::Returned if !is_away => DisputeStage::Returned,
            // Prevented by giving the customer the money.
            DisputeStage::Returned if self.status.eq_ignore_ascii_case(DisputeStage::PREVENTED) => {
                DisputeStage::Lost
            }
            // The money of a dispute that was won is still to come.
            DisputeStage::Returned => DisputeStage::Open,
            DisputeStage::Open if is_away && self.status == DisputeStage::UNDEFENDED => DisputeStage::Lost,
            DisputeStage::Open | DisputeStage::Inquiry if is_away => DisputeStage::Open,
            DisputeStage::Open | DisputeStage::Inquiry => DisputeStage::Inquiry,
        }
    }

    /// What the provider keeps back, or the customer has.
    pub fn amount_withdrawn(&self) -> Minor {
        self.withdrawn.unwrap_or_else(|| match self.stage_by_status() {
            DisputeStage::Open | DisputeStage::Lost => self.amount.unwrap_or_default(),
            DisputeStage::Inquiry | DisputeStage::Returned => Minor::ZERO,
        })
    }

    fn stage_by_status(&self) -> DisputeStage {
        let status = self.status.to_ascii_lowercase();
        if DisputeStage::LOST.contains(&status.as_str()) {
            DisputeStage::Lost
        } else if DisputeStage::RETURNED.contains(&status.as_str()) {
            DisputeStage::Returned
        } else if DisputeStage::INQUIRY.iter().any(|start| status.starts_with(start)) {
            DisputeStage::Inquiry
        } else {
            DisputeStage::Open
        }
    }

    /// Whether the merchant's evidence is wanted: a bank that has it, or has decided, waits for none.
    pub fn needs_response(&self) -> bool {
        let status = self.status.to_ascii_lowercase();
        ["needs_response", "evidence_required", "announced", "charged_back"]
            .iter()
            .any(|end| status.ends_with(end))
    }

    /// Which step it has come to, where its provider tells step by step.
    fn step(&self) -> Option<usize> {
        DisputeStage::STEPS.iter().position(|step| self.status == *step)
    }

    /// Whether the last word is spoken.
    pub fn is_closed(&self) -> bool {
        matches!(self.stage(), DisputeStage::Returned | DisputeStage::Lost)
    }

    /// This dispute after later, repeated or late news: a closed one is not opened again by an older word, and what is
    /// left unsaid stays as it was.
    #[must_use]
    pub fn followed_by(self, news: Self) -> Self {
        if self.id != news.id {
            return news;
        }
        if self.is_closed() && !news.is_closed() {
            return self;
        }
        // A step that was taken before comes late, or again.
        if self.step().zip(news.step()).is_some_and(|(known, told)| told <= known) {
            return if self.status == DisputeStage::UNDEFENDED { self.with_money_of(news) } else { self };
        }
        if self.status == DisputeStage::INQUIRED && news.status == DisputeStage::UNDEFENDED {
            return Self { status: DisputeStage::INQUIRY_EXPIRED.to_owned(), ..self };
        }
        Self {
            reason: news.reason.or(self.reason),
            amount: news.amount.or(self.amount),
            currency: if news.amount.is_some() { news.currency } else { self.currency },
            respond_by: news.respond_by.or(self.respond_by),
            withdrawn: news.withdrawn.or(self.withdrawn),
            ..news
        }
    }

    /// This dispute with what a late step says was taken for it.
    fn with_money_of(self, late: Self) -> Self {
        Self { withdrawn: self.withdrawn.max(late.withdrawn), reason: self.reason.or(late.reason), ..self }
    }
}

/// The part of a transaction that changes after it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionState {
    pub status: Status,
    /// The provider's own name for the payment, once it exists.
    pub provider_reference: Option<String>,
    /// Why it failed, or why the provider released what was held; only with [`Status::Failed`] and [`Status::Canceled`].
    pub failure: Option<Failure>,
    /// How much of the total debit has been refunded.
    pub refunded: Minor,
    /// The latest word of a dispute.
    pub dispute: Option<Dispute>,
    /// What is held or was captured, once it is; only of card payments that are captured by hand.
    pub hold: Option<Hold>,
    /// The card that the customer paid with, or tried last; in a box, since few look at it.
    pub card: Option<Box<PaymentCard>>,
    /// What was charged, where the fee was decided for the card; in a box, since few payments have it.
    pub charged: Option<Box<FeeSnapshot>>,
}

impl TransactionState {
    /// A transaction of which nothing is known yet.
    pub const fn pending() -> Self {
        Self {
            status: Status::Pending,
            provider_reference: None,
            failure: None,
            refunded: Minor::ZERO,
            dispute: None,
            hold: None,
            card: None,
            charged: None,
        }
    }

    /// Whether it is paid, and a part of it was given back.
    pub fn is_partly_refunded(&self) -> bool {
        self.status == Status::Succeeded && self.refunded > Minor::ZERO
    }

    /// The state between `from` and this one that was missed: what is refunded has succeeded before, also where both are
    /// learned at once.
    pub fn missed_success(&self, from: Option<Status>) -> Option<Self> {
        let was_paid = matches!(from, Some(Status::Succeeded | Status::Refunded));
        (self.status == Status::Refunded && !was_paid).then(|| self.as_paid())
    }

    /// The state as it was when the payment succeeded, before any refund or dispute.
    #[must_use]
    pub fn as_paid(&self) -> Self {
        let provider_reference = self.provider_reference.clone();
        let (hold, card, charged) = (self.hold, self.card.clone(), self.charged.clone());
        Self { status: Status::Succeeded, provider_reference, hold, card, charged, ..Self::pending() }
    }
}

/// A transaction, whatever its method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub environment: EnvironmentId,
    /// Its place in lists.
    pub id: TransactionId,
    /// How often its payment has changed.
    pub revision: u64,
    /// What callers know it by.
    pub reference: ServiceReference,
    /// The provider, by its name in the configuration.
    pub provider: String,
    pub channel: Channel,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The amounts it was prepared with; [`TransactionState::amounts`] are those that count.
    pub fee: FeeSnapshot,
    /// The caller's description.
    pub description: Option<String>,
    /// The caller's metadata, as JSON text.
    pub metadata: String,
    pub state: TransactionState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the contract, written out.
    fn allowed(from: Status, report: ReportKind) -> Vec<Status> {
        use Status::{Authorized, Canceled, Failed, Pending, Processing, Refunded, Succeeded};
        match (from, report) {
            (Pending, ReportKind::Card) => vec![Processing, Authorized, Succeeded, Failed, Canceled],
            (Processing, ReportKind::Card) => vec![Authorized, Succeeded, Failed, Canceled],
            (Authorized, ReportKind::Card) => vec![Processing, Succeeded, Canceled],
            (Pending, _) => vec![Processing, Succeeded, Failed, Canceled],
            (Processing, _) => vec![Succeeded, Failed, Canceled],
            (Succeeded, ReportKind::AchReturn) => vec![Failed, Refunded],
            (Succeeded, _) => vec![Refunded],
            (Failed, ReportKind::Card) => vec![Processing, Authorized, Succeeded],
            (Authorized | Failed | Canceled | Refunded, _) => vec![],
        }
    }

    #[test]
    fn statuses_move_as_the_table_says_and_no_other_way() {
        for from in Status::ALL {
            for report in [ReportKind::Card, ReportKind::Ach, ReportKind::AchReturn] {
                let mut moves: Vec<_> =
                    Status::ALL.into_iter().filter(|to| from.may_move_to(*to, report)).collect();
                let mut expected = allowed(from, report);
                moves.sort();
                expected.sort();
                assert_eq!(moves, expected, "{from:?} {report:?}");
            }
        }
    }

    #[test]
    fn a_closed_dispute_stays_closed() {
        let dispute = |id: &str, status: &str| Dispute {
            id: id.to_owned(),
            status: status.to_owned(),
            reason: None,
            amount: None,
            currency: None,
            respond_by: None,
            withdrawn: None,
        };
        let (open, lost) = (dispute("dp_1", "needs_response"), dispute("dp_1", "LOST"));
        assert_eq!(open.clone().followed_by(lost.clone()), lost);
        assert_eq!(lost.clone().followed_by(open.clone()), lost);
        assert!(open.needs_response() && dispute("dp_1", "INQUIRY_EVIDENCE_REQUIRED").needs_response());
        assert!(!lost.needs_response() && !dispute("dp_1", "under_review").needs_response());
        let another = dispute("dp_2", "needs_response");
        assert_eq!(lost.followed_by(another.clone()), another);
    }

    #[test]
    fn what_was_taken_and_given_back_goes_before_the_status() {
        use DisputeStage::{Inquiry, Lost, Open, Returned};
        for (status, withdrawn, stage, away) in [
            ("needs_response", None, Open, 1_000),
            ("needs_response", Some(0), Inquiry, 0),
            ("needs_response", Some(1_000), Open, 1_000),
            ("warning_under_review", Some(0), Inquiry, 0),
            ("warning_closed", Some(0), Returned, 0),
            ("warning_closed", Some(1_000), Open, 1_000),
            ("won", None, Returned, 0),
            ("won", Some(1_000), Open, 1_000),
            ("won", Some(0), Returned, 0),
            ("undefended", None, Open, 1_000),
            ("undefended", Some(0), Inquiry, 0),
            ("undefended", Some(1_000), Lost, 1_000),
            ("prevented", None, Returned, 0),
            ("prevented", Some(0), Returned, 0),
            ("prevented", Some(1_000), Lost, 1_000),
            ("lost", None, Lost, 1_000),
            ("LOST", Some(600), Lost, 600),
            ("lost", Some(0), Lost, 0),
        ] {
            let dispute = Dispute {
                id: "dp_1".to_owned(),
                status: status.to_owned(),
                reason: None,
                amount: Minor::new(1_000),
                currency: None,
                respond_by: None,
                withdrawn: withdrawn.and_then(Minor::new),
            };
            let found = (dispute.stage(), dispute.amount_withdrawn().get());
            assert_eq!(found, (stage, away), "{status} {withdrawn:?}");
        }
    }

    #[test]
    fn names_go_round() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
        }
        assert_eq!(Status::parse("paid"), None);
    }
}
