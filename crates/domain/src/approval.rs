//! Approvals: what waits for people, who has decided, and what follows from it.
//!
//! Different people decide, not different names. Whoever issued somebody's token has seen it, and whoever added a user may
//! be that user, so a decision may be theirs, too: it counts as that of everybody who may have made it, and two decisions
//! count as those of two people only where nobody may have made both. The same person under another id counts as well.

use std::sync::Arc;

use crate::{
    currency::Currency,
    id::{ApprovalId, KeyId, UserId},
    ledger::Cause,
    money::Minor,
    routing::{Condition, Facts},
    time::Timestamp,
};

/// A transfer, refund or wallet movement that meets every condition waits until `count` different people have approved it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRule {
    pub id: Arc<str>,
    pub conditions: Vec<ApprovalCondition>,
    pub count: u32,
}

/// An event for people: what an operator asked for waits for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalNotice {
    pub approval: ApprovalId,
    /// In the audit log's words.
    pub proposed_by: String,
    pub what: Proposal,
}

/// What an operator asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// A configuration that was made from this version.
    Configuration { from_version: u64 },
    /// Money moved into or out of a wallet.
    Funds { cause: Cause, amount: Minor, currency: Currency, reference: String },
}

/// A condition of an approval rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalCondition {
    /// As in routing.
    Payment(Condition),
    /// Whether no transfer to the same bank account has been approved before.
    FirstToAccount { id: Arc<str>, expected: bool },
    /// Whether money is put into a wallet or taken out.
    Cause { id: Arc<str>, expected: Cause },
}

/// What rules look at.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalFacts<'a> {
    pub payment: Facts<'a>,
    pub first_to_account: bool,
    /// Of a wallet movement.
    pub cause: Option<Cause>,
}

impl<'a> From<Facts<'a>> for ApprovalFacts<'a> {
    fn from(payment: Facts<'a>) -> Self {
        Self { payment, first_to_account: false, cause: None }
    }
}

impl ApprovalRule {
    /// The fields of the conditions that routing does not have.
    pub const FIRST_TO_ACCOUNT: &'static str = "firstToAccount";
    pub const CAUSE: &'static str = "cause";

    /// How many people have to approve by all the rules that apply, and the IDs of those; `None` if none does.
    pub fn required(rules: &[Self], facts: &ApprovalFacts<'_>) -> Option<(u32, Vec<String>)> {
        let applying: Vec<_> = rules.iter().filter(|rule| rule.applies(facts)).collect();
        let count = applying.iter().map(|rule| rule.count).max()?;
        Some((count, applying.iter().map(|rule| rule.id.to_string()).collect()))
    }

    /// Whether something has to wait for this rule.
    pub fn applies(&self, facts: &ApprovalFacts<'_>) -> bool {
        self.conditions.iter().all(|condition| match condition {
            ApprovalCondition::Payment(condition) => condition.holds(&facts.payment),
            ApprovalCondition::FirstToAccount { expected, .. } => facts.first_to_account == *expected,
            ApprovalCondition::Cause { expected, .. } => facts.cause == Some(*expected),
        })
    }

    /// Whether a transfer has to wait for this rule if the bank account is as the rule asks.
    pub fn may_apply(&self, payment: &Facts<'_>) -> bool {
        self.conditions.iter().all(|condition| match condition {
            ApprovalCondition::Payment(condition) => condition.holds(payment),
            ApprovalCondition::FirstToAccount { .. } => true,
            ApprovalCondition::Cause { .. } => false,
        })
    }

    /// Whether the rule asks if the bank account is known.
    pub fn asks_for_account(&self) -> bool {
        self.conditions.iter().any(|it| matches!(it, ApprovalCondition::FirstToAccount { .. }))
    }
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApprovalState {
    /// It waits for people.
    Required,
    Approved,
    Denied,
    /// What it was about was canceled before anybody decided.
    Canceled,
}

impl ApprovalState {
    pub const ALL: [Self; 4] = [Self::Required, Self::Approved, Self::Denied, Self::Canceled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Canceled => "canceled",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// What a person has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    pub user: UserId,
    /// The name at that time.
    pub name: String,
    /// Everybody who may hold the credential it was made with.
    pub people: Vec<UserId>,
    pub approves: bool,
    pub at: Timestamp,
}

/// What a transfer, a refund, a wallet movement or a change of the configuration waits for, and who has decided so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    pub state: ApprovalState,
    /// How many people have to approve.
    pub count: u32,
    /// The rules that ask for it, and the limits that it exceeds.
    pub reasons: Vec<String>,
    /// The key that made the transfer or refund.
    pub maker: Option<KeyId>,
    /// Everybody who may be the operator that asked for it.
    pub makers: Vec<UserId>,
    pub votes: Vec<Vote>,
    /// A digest of the bank account, where a rule asks whether it is known.
    pub account: Option<[u8; 32]>,
}

/// Why a decision does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VoteError {
    /// It is approved, denied or canceled.
    #[error("it is {} already", .0.as_str())]
    Decided(ApprovalState),
    /// The same person has decided before, or may have.
    #[error(
        "you have already approved it, or somebody who issued your token or added your user may have; another person must approve it"
    )]
    Repeated,
    /// They made what is to be approved, or may have.
    #[error(
        "you created it, or somebody did who added your user or issued your token, or whose user you added or whose key or token you issued, or the same person added both of you; another person must approve it"
    )]
    Own,
}

impl Approval {
    /// How many people have approved it.
    pub fn approvals(&self) -> usize {
        self.votes.iter().filter(|vote| vote.approves).count()
    }

    pub fn is_open(&self) -> bool {
        self.state == ApprovalState::Required
    }

    /// When the last missing approval was given.
    pub fn approved_at(&self) -> Option<Timestamp> {
        self.votes.last().filter(|_| self.state == ApprovalState::Approved).map(|vote| vote.at)
    }

    /// Takes a decision in. One denial is final, and so is the approval of as many people as it takes; nobody counts
    /// twice, and nobody approves what they made. Whoever has approved may still deny.
    pub fn vote(&mut self, vote: Vote, makers: &[UserId]) -> Result<(), VoteError> {
        if !self.is_open() {
            return Err(VoteError::Decided(self.state));
        }
        let approves = vote.approves;
        let may_be_one_of = |others: &[UserId]| vote.people.iter().any(|person| others.contains(person));
        if approves && (may_be_one_of(makers) || may_be_one_of(&self.makers)) {
            return Err(VoteError::Own);
        }
        if approves && self.votes.iter().any(|earlier| may_be_one_of(&earlier.people)) {
            return Err(VoteError::Repeated);
        }
        self.votes.push(vote);
        if !approves {
            self.state = ApprovalState::Denied;
        } else if u32::try_from(self.approvals()).is_ok_and(|given| given >= self.count) {
            self.state = ApprovalState::Approved;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(count: u32) -> Approval {
        Approval {
            id: ApprovalId::from_bytes([1; 16]),
            state: ApprovalState::Required,
            count,
            reasons: vec!["large".to_owned()],
            maker: None,
            makers: Vec::new(),
            votes: Vec::new(),
            account: None,
        }
    }

    fn person(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    fn vote(user: u8, approves: bool) -> Vote {
        Vote {
            user: person(user),
            name: format!("user {user}"),
            people: vec![person(user)],
            approves,
            at: Timestamp::from_unix_millis(i64::from(user)),
        }
    }

    #[test]
    fn as_many_different_people_as_it_takes() {
        let mut two = approval(2);
        two.vote(vote(1, true), &[]).unwrap();
        assert_eq!((two.state, two.approved_at()), (ApprovalState::Required, None));
        assert_eq!(two.vote(vote(1, true), &[]), Err(VoteError::Repeated));
        two.vote(vote(2, true), &[]).unwrap();
        assert_eq!(two.state, ApprovalState::Approved);
        assert_eq!(two.approved_at(), Some(Timestamp::from_unix_millis(2)));
        assert_eq!(two.vote(vote(3, false), &[]), Err(VoteError::Decided(ApprovalState::Approved)));
    }

    #[test]
    fn whoever_may_hold_a_token_may_have_used_it() {
        let mut two = approval(2);
        two.vote(vote(1, true), &[]).unwrap();
        // The first issued the second one's token.
        let second = Vote { people: vec![person(2), person(1)], ..vote(2, true) };
        assert_eq!(two.vote(second.clone(), &[]), Err(VoteError::Repeated));
        assert_eq!(two.vote(vote(3, true), &[person(3)]), Err(VoteError::Own));
        two.makers = vec![person(4)];
        let fifth = Vote { people: vec![person(5), person(4)], ..vote(5, true) };
        assert_eq!(two.vote(fifth, &[]), Err(VoteError::Own));
        assert_eq!(two.approvals(), 1);
        // Nobody else is harmed by a denial.
        two.vote(Vote { approves: false, ..second }, &[person(2)]).unwrap();
        assert_eq!(two.state, ApprovalState::Denied);
    }

    #[test]
    fn one_denial_is_final_also_by_whoever_has_approved() {
        let mut denied = approval(2);
        denied.vote(vote(1, true), &[]).unwrap();
        denied.vote(vote(1, false), &[]).unwrap();
        assert_eq!(denied.state, ApprovalState::Denied);
        assert_eq!(denied.vote(vote(2, true), &[]), Err(VoteError::Decided(ApprovalState::Denied)));
    }

    #[test]
    fn every_state_has_its_word() {
        for state in ApprovalState::ALL {
            assert_eq!(ApprovalState::parse(state.as_str()), Some(state));
        }
        assert_eq!(ApprovalState::parse("pending"), None);
    }
}
