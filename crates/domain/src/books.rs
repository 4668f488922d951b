//! The books of card payments: what a payment, its refunds and its disputes mean for each account, and so what every
//! change of them posts.
//!
//! A posting is the difference between the books before and after a change. Whatever the order of changes, the postings
//! of a payment add up to exactly what its records say.

#[cfg(test)]
mod tests;

use crate::{
    fee::FeeSnapshot,
    money::Minor,
    refund::{Refund, RefundStatus, Refundable, add, less, portion_rounded_half_up},
    transaction::{Dispute, DisputeStage, Status},
};

/// What is added to each account. The first four are debits and the others credits, so that both sides are always equal.
/// Sums over many payments may exceed 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    /// What the provider owes: everything customers paid, less what it gave or took back.
    pub due_from_provider: i128,
    /// What the provider keeps back while a dispute is open.
    pub disputes_held: i128,
    /// Principal given back to customers.
    pub refunds_given: i128,
    /// Principal lost in disputes.
    pub disputes_lost: i128,
    /// Principal paid by customers, owed to the merchant before refunds and disputes.
    pub principal: i128,
    /// Fees earned by the platform, less what was given back.
    pub platform_fees: i128,
    /// Fees earned by the organization, less what was given back.
    pub organization_fees: i128,
}

impl Amounts {
    /// Every account, by its name in the stores and the API.
    pub const fn accounts(self) -> [(&'static str, i128); 7] {
        [
            ("due_from_provider", self.due_from_provider),
            ("disputes_held", self.disputes_held),
            ("refunds_given", self.refunds_given),
            ("disputes_lost", self.disputes_lost),
            ("principal", self.principal),
            ("platform_fees", self.platform_fees),
            ("organization_fees", self.organization_fees),
        ]
    }

    /// Whether debits and credits are equal.
    pub fn is_balanced(self) -> bool {
        let debits = [self.due_from_provider, self.disputes_held, self.refunds_given, self.disputes_lost];
        let credits = [self.principal, self.platform_fees, self.organization_fees];
        debits.into_iter().sum::<i128>() == credits.into_iter().sum::<i128>()
    }

    /// The sum, account by account. Each is far below what 128 bits hold.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            due_from_provider: self.due_from_provider.saturating_add(other.due_from_provider),
            disputes_held: self.disputes_held.saturating_add(other.disputes_held),
            refunds_given: self.refunds_given.saturating_add(other.refunds_given),
            disputes_lost: self.disputes_lost.saturating_add(other.disputes_lost),
            principal: self.principal.saturating_add(other.principal),
            platform_fees: self.platform_fees.saturating_add(other.platform_fees),
            organization_fees: self.organization_fees.saturating_add(other.organization_fees),
        }
    }

    const fn negated(self) -> Self {
        Self {
            due_from_provider: -self.due_from_provider,
            disputes_held: -self.disputes_held,
            refunds_given: -self.refunds_given,
            disputes_lost: -self.disputes_lost,
            principal: -self.principal,
            platform_fees: -self.platform_fees,
            organization_fees: -self.organization_fees,
        }
    }

    /// What leads from `before` to this.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        self.plus(before.negated())
    }
}

/// Why something was posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CardPostingKind {
    /// A customer paid.
    Payment,
    /// A refund was given back.
    Refund,
    /// A refund that had been given back came back.
    RefundReversed,
    /// The provider keeps a disputed amount back.
    DisputeHeld,
    /// A disputed amount was returned.
    DisputeReturned,
    /// A dispute was lost: the customer has the money.
    DisputeLost,
}

impl CardPostingKind {
    pub const ALL: [Self; 6] = [
        Self::Payment,
        Self::Refund,
        Self::RefundReversed,
        Self::DisputeHeld,
        Self::DisputeReturned,
        Self::DisputeLost,
    ];

    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Refund => "refund",
            Self::RefundReversed => "refund_reversed",
            Self::DisputeHeld => "dispute_held",
            Self::DisputeReturned => "dispute_returned",
            Self::DisputeLost => "dispute_lost",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One balanced posting of a card payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardPosting {
    pub kind: CardPostingKind,
    /// The refund or the dispute it is about.
    pub subject: Option<String>,
    pub amounts: Amounts,
}

/// What the books of a payment follow from.
#[derive(Debug, Clone, Copy)]
pub struct PaymentRecords<'a> {
    /// The amounts the customer is debited: after a capture, those that were captured.
    pub fee: &'a FeeSnapshot,
    /// `None` before there is a transaction.
    pub status: Option<Status>,
    pub refunds: &'a [Refund],
    /// In the order of their recording.
    pub disputes: &'a [Dispute],
}

impl PaymentRecords<'_> {
    /// What the accounts hold because of this payment.
    pub fn amounts(&self) -> Amounts {
        if !matches!(self.status, Some(Status::Succeeded | Status::Refunded)) {
            return Amounts::default();
        }
        let fee = self.fee;
        let mut left = Refundable { principal: fee.principal.into(), fee: fee.fee };
        let (mut refunds_given, mut fees_returned) = (Minor::ZERO, Minor::ZERO);
        for refund in self.refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded) {
            refunds_given = add(refunds_given, refund.principal);
            fees_returned = add(fees_returned, refund.fee);
            left = left.without(refund.principal, refund.fee);
        }
        let (mut disputes_held, mut disputes_lost) = (Minor::ZERO, Minor::ZERO);
        for dispute in self.disputes {
            let amount = dispute.amount_withdrawn();
            match dispute.stage() {
                DisputeStage::Open => disputes_held = add(disputes_held, amount),
                DisputeStage::Lost => {
                    let share = left.divide(fee, amount);
                    disputes_lost = add(disputes_lost, share.principal);
                    fees_returned = add(fees_returned, share.fee);
                    left = left.without(share.principal, share.fee);
                }
                DisputeStage::Inquiry | DisputeStage::Returned => {}
            }
        }
        // More fees than there were can only come back by a mistake at the provider; the customer has the money all the same.
        let excess = less(fees_returned, fee.fee);
        refunds_given = add(refunds_given, excess);
        let (platform_returned, organization_returned) = fees_by_layer(fee, less(fees_returned, excess));
        let signed = |amount: Minor| i128::from(amount.signed());
        let without_provider = Amounts {
            due_from_provider: 0,
            disputes_held: signed(disputes_held),
            refunds_given: signed(refunds_given),
            disputes_lost: signed(disputes_lost),
            principal: i128::from(fee.principal.minor()),
            platform_fees: signed(fee.platform.fee) - signed(platform_returned),
            organization_fees: signed(fee.organization.fee) - signed(organization_returned),
        };
        let Amounts { principal, platform_fees, organization_fees, .. } = without_provider;
        let credits = principal + platform_fees + organization_fees;
        let due_from_provider =
            credits - signed(disputes_held) - signed(refunds_given) - signed(disputes_lost);
        Amounts { due_from_provider, ..without_provider }
    }
}

/// How fees that were given back divide between the layers: in proportion, rounded half up for the platform. Taken of
/// everything that was given back so far, so that a full refund returns each layer exactly what it earned.
fn fees_by_layer(fee: &FeeSnapshot, returned: Minor) -> (Minor, Minor) {
    let platform = portion_rounded_half_up(fee.platform.fee, returned, fee.fee).min(returned);
    (platform, less(returned, platform))
}

/// What a change of a payment posts, step by step: the payment itself, then each refund, then each dispute.
pub fn postings(before: PaymentRecords<'_>, after: PaymentRecords<'_>) -> Vec<CardPosting> {
    let (mut refunds, mut disputes) = (before.refunds.to_vec(), before.disputes.to_vec());
    let mut posted = before.amounts();
    let mut found = Vec::new();
    let mut post = |amounts: Amounts, subject: Option<String>, kind: fn(Amounts) -> CardPostingKind| {
        let change = amounts.since(posted);
        posted = amounts;
        if change != Amounts::default() {
            found.push(CardPosting { kind: kind(change), subject, amounts: change });
        }
    };
    let paid = PaymentRecords { refunds: &refunds, disputes: &disputes, ..after };
    post(paid.amounts(), None, |_| CardPostingKind::Payment);
    for refund in after.refunds {
        match refunds.iter_mut().find(|known| known.id == refund.id) {
            Some(known) if known == refund => continue,
            Some(known) => *known = refund.clone(),
            None => refunds.push(refund.clone()),
        }
        let records = PaymentRecords { refunds: &refunds, disputes: &disputes, ..after };
        post(records.amounts(), Some(refund.id.to_string()), refund_kind);
    }
    for dispute in after.disputes {
        match disputes.iter_mut().find(|known| known.id == dispute.id) {
            Some(known) if known == dispute => continue,
            Some(known) => *known = dispute.clone(),
            None => disputes.push(dispute.clone()),
        }
        let records = PaymentRecords { refunds: &refunds, disputes: &disputes, ..after };
        post(records.amounts(), Some(dispute.id.clone()), dispute_kind);
    }
    found
}

/// What is missing in the books of a payment of which only some changes were posted.
pub fn unposted(records: PaymentRecords<'_>, posted: &[CardPosting]) -> Vec<CardPosting> {
    let nothing = PaymentRecords { status: None, refunds: &[], disputes: &[], ..records };
    let mut missing: Vec<(Option<String>, Amounts)> = Vec::new();
    let mut add_up = |subject: &Option<String>, amounts: Amounts| match missing
        .iter_mut()
        .find(|(known, _)| known == subject)
    {
        Some((_, sum)) => *sum = sum.plus(amounts),
        None => missing.push((subject.clone(), amounts)),
    };
    for posting in postings(nothing, records) {
        add_up(&posting.subject, posting.amounts);
    }
    for posting in posted {
        add_up(&posting.subject, posting.amounts.negated());
    }
    let is_refund = |subject: &str| records.refunds.iter().any(|refund| refund.id.to_string() == subject);
    let found = missing.into_iter().filter(|(_, amounts)| *amounts != Amounts::default());
    found
        .map(|(subject, amounts)| {
            let kind = match &subject {
                None => CardPostingKind::Payment,
                Some(subject) if is_refund(subject) => refund_kind(amounts),
                Some(_) => dispute_kind(amounts),
            };
            CardPosting { kind, subject, amounts }
        })
        .collect()
}

fn refund_kind(change: Amounts) -> CardPostingKind {
    // What leaves the provider is given back.
    if change.due_from_provider < 0 { CardPostingKind::Refund } else { CardPostingKind::RefundReversed }
}

fn dispute_kind(change: Amounts) -> CardPostingKind {
    let lost = change.disputes_lost - change.platform_fees - change.organization_fees;
    if lost > 0 {
        CardPostingKind::DisputeLost
    } else if change.disputes_held > 0 {
        CardPostingKind::DisputeHeld
    } else {
        CardPostingKind::DisputeReturned
    }
}
