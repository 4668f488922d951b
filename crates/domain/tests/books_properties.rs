//! The books of card payments against a second, naive computation: whatever happens to a payment, in whatever order, its
//! postings balance, add up to what its records say, and so does the statement made of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::{cell::RefCell, collections::BTreeSet};

use proptest::prelude::*;
use tollgate_domain::{
    Currency, Minor, PaymentMethod, Principal, Timestamp,
    books::{Amounts, CardPosting, CardPostingKind, PaymentRecords, postings, unposted},
    fee::{FeeEntry, FeeLayer, FeeSnapshot},
    id::RefundId,
    refund::{FeeRefund, Refund, RefundOrigin, RefundStatus, RefundTerms, Refundable, with_refunds},
    statement::{StatementKind, StatementLine, rows, totals},
    transaction::{Dispute, Status, TransactionState},
};

const CASES: u32 = 20_000;

/// Something that happens to a payment.
#[derive(Debug, Clone)]
enum Step {
    Succeed,
    /// By a caller, of so many hundredths of what is left.
    Refund(u64, FeeRefund),
    /// In the provider's dashboard.
    RefundAtProvider(u64),
    /// What a provider says of one of the refunds.
    RefundBecomes(usize, RefundStatus),
    /// What a provider says of one of two disputes.
    Dispute(usize, usize, u64),
}

const DISPUTE_STATUSES: [&str; 7] =
    ["warning_needs_response", "needs_response", "PROCESSING", "won", "LOST", "ACCEPTED", "charge_refunded"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Succeed),
        3 => (1..=100_u64, prop::sample::select(FeeRefund::ALL.to_vec()))
            .prop_map(|(part, fee)| Step::Refund(part, fee)),
        1 => (1..=100_u64).prop_map(Step::RefundAtProvider),
        4 => (0..4_usize, prop::sample::select(RefundStatus::ALL.to_vec()))
            .prop_map(|(which, status)| Step::RefundBecomes(which, status)),
        3 => (0..2_usize, 0..DISPUTE_STATUSES.len(), 1..=100_u64)
            .prop_map(|(which, status, part)| Step::Dispute(which, status, part)),
    ]
}

fn fee() -> impl Strategy<Value = FeeSnapshot> {
    let amount = prop_oneof![3 => 0..5_u64, 3 => 0..10_000_u64, 1 => 0..1_000_000_000_000_000_000_u64];
    let principal =
        prop_oneof![3 => 1..20_u64, 3 => 1..1_000_000_u64, 1 => 1..=1_000_000_000_000_000_000_u64];
    let layer = |fixed| FeeLayer { enabled: true, fixed: Minor::new(fixed).unwrap(), ..FeeLayer::default() };
    (principal, amount.clone(), amount).prop_map(move |(principal, platform, organization)| {
        FeeEntry { platform: layer(platform), organization: layer(organization) }
            .assess(Principal::new(principal).unwrap())
    })
}

/// A payment under way.
#[derive(Debug, Clone)]
struct Payment {
    fee: FeeSnapshot,
    state: Option<TransactionState>,
    refunds: Vec<Refund>,
    disputes: Vec<Dispute>,
}

fn part_of(whole: Minor, hundredths: u64) -> Minor {
    Minor::new(u64::try_from(u128::from(whole.get()) * u128::from(hundredths) / 100).unwrap()).unwrap()
}

impl Payment {
    fn records(&self) -> PaymentRecords<'_> {
        PaymentRecords {
            fee: &self.fee,
            status: self.state.as_ref().map(|state| state.status),
            refunds: &self.refunds,
            disputes: &self.disputes,
        }
    }

    fn is_paid(&self) -> bool {
        self.state.is_some()
    }

    fn after(&self, step: &Step) -> Self {
        let mut next = self.clone();
        match step {
            Step::Succeed if !self.is_paid() => {
                next.state =
                    Some(TransactionState { status: Status::Succeeded, ..TransactionState::pending() });
            }
            _ if !self.is_paid() => {}
            Step::Succeed => {}
            Step::Refund(part, fee_refund) => {
                let left = Refundable::after(&self.fee, &self.refunds);
                if let Some(share) = left.share(&self.fee, Some(part_of(left.principal, *part)), *fee_refund)
                {
                    next.refunds.push(refund(self.refunds.len(), share));
                }
            }
            Step::RefundAtProvider(part) => {
                let left = Refundable::after(&self.fee, &self.refunds);
                let total = part_of(left.total(), *part);
                if total > Minor::ZERO {
                    let share = left.divide(&self.fee, total);
                    next.refunds.push(Refund {
                        status: RefundStatus::Succeeded,
                        origin: RefundOrigin::Provider,
                        ..refund(self.refunds.len(), share)
                    });
                }
            }
            Step::RefundBecomes(which, status) => {
                // A refund that failed stays so: its money was given to others meanwhile.
                if let Some(refund) = next.refunds.get_mut(*which).filter(|refund| refund.status.counts()) {
                    refund.status = *status;
                }
            }
            Step::Dispute(which, status, part) => {
                let news = Dispute {
                    id: format!("dp_{which}"),
                    status: DISPUTE_STATUSES[*status].to_owned(),
                    reason: None,
                    amount: Some(part_of(self.fee.total_debit, *part)),
                    currency: None,
                    respond_by: None,
                    withdrawn: None,
                };
                match next.disputes.iter_mut().find(|known| known.id == news.id) {
                    Some(known) => *known = known.clone().followed_by(news),
                    None => next.disputes.push(news),
                }
            }
        }
        next.state = next.state.map(|state| with_refunds(&next.fee, &state, &next.refunds));
        next
    }
}

fn refund(number: usize, share: Refundable) -> Refund {
    let at = Timestamp::from_unix_millis(i64::try_from(number).unwrap());
    Refund {
        id: RefundId::new(at, [7; 10]),
        terms: RefundTerms {
            amount: None,
            fee_refund: None,
            reason: None,
            description: None,
            metadata: "{}".to_owned(),
        },
        principal: share.principal,
        fee: share.fee,
        origin: RefundOrigin::Api,
        status: RefundStatus::Pending,
        provider_reference: None,
        failure: None,
        request: None,
        approval: None,
        created_at: at,
        updated_at: at,
    }
}

fn wide(amount: Minor) -> i128 {
    amount.get().into()
}

/// What the books must say, told from the records alone and without any of their code.
fn agrees(payment: &Payment, sum: Amounts) -> Result<(), TestCaseError> {
    prop_assert!(sum.is_balanced());
    if !payment.is_paid() {
        prop_assert_eq!(sum, Amounts::default());
        return Ok(());
    }
    let fee = &payment.fee;
    let given = payment.refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded);
    let (principal_given, fees_given) =
        given.fold((0, 0), |(principal, fees), it| (principal + wide(it.principal), fees + wide(it.fee)));
    let amount_of = |words: &[&str]| -> i128 {
        let of_words = payment.disputes.iter().filter(|it| words.contains(&it.status.as_str()));
        of_words.map(|it| wide(it.amount.unwrap())).sum()
    };
    let (held, lost) = (amount_of(&["needs_response", "PROCESSING"]), amount_of(&["LOST", "ACCEPTED"]));
    let fees_left = sum.platform_fees + sum.organization_fees;
    prop_assert_eq!(sum.principal, i128::from(fee.principal.minor()));
    prop_assert_eq!(sum.disputes_held, held);
    prop_assert_eq!(sum.refunds_given, principal_given);
    prop_assert_eq!(sum.disputes_lost + wide(fee.fee) - fees_given - fees_left, lost);
    prop_assert_eq!(
        sum.due_from_provider,
        wide(fee.total_debit) - principal_given - fees_given - held - lost
    );
    // No layer gives back more than it earned, and what it gives back is its share to the nearest cent.
    prop_assert!((0..=wide(fee.platform.fee)).contains(&sum.platform_fees), "{:?}", sum);
    prop_assert!((0..=wide(fee.organization.fee)).contains(&sum.organization_fees), "{:?}", sum);
    let returned = wide(fee.fee) - fees_left;
    let platform_returned = wide(fee.platform.fee) - sum.platform_fees;
    let apart = platform_returned * wide(fee.fee) - wide(fee.platform.fee) * returned;
    prop_assert!(2 * apart.abs() <= wide(fee.fee), "{} of {} returned", platform_returned, returned);
    Ok(())
}

/// A statement of these postings says the same as the books.
fn statement_adds_up(posted: &[CardPosting], sum: Amounts) -> Result<(), TestCaseError> {
    let lines: Vec<StatementLine> = posted
        .iter()
        .map(|posting| StatementLine {
            provider: "card_provider_a".to_owned(),
            method: PaymentMethod::WebCard,
            currency: Currency::USD,
            kind: StatementKind::Card(posting.kind),
            count: 1,
            amounts: posting.amounts,
        })
        .collect();
    let row = totals(&rows(&lines)).into_values().next().unwrap_or_default();
    prop_assert_eq!(row.platform_fees(), sum.platform_fees);
    prop_assert_eq!(row.organization_fees(), sum.organization_fees);
    prop_assert_eq!(row.payments.principal, sum.principal);
    prop_assert_eq!(row.refunds.principal, sum.refunds_given);
    prop_assert_eq!(row.lost.principal, sum.disputes_lost);
    prop_assert_eq!(row.disputes_held, sum.disputes_held);
    prop_assert_eq!(row.due_from_provider, sum.due_from_provider);
    Ok(())
}

#[test]
fn books_balance_and_statements_add_up() {
    let seen = RefCell::new(BTreeSet::new());
    let strategy = (fee(), prop::collection::vec(step(), 1..14), 0..14_usize);
    common::check(CASES, &strategy, |(fee, steps, known_until)| {
        let mut payment = Payment { fee, state: None, refunds: Vec::new(), disputes: Vec::new() };
        let (mut sum, mut posted) = (Amounts::default(), Vec::new());
        // Before so many steps there were no books yet.
        let mut later = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let next = payment.after(step);
            let made = postings(payment.records(), next.records());
            prop_assert_eq!(postings(next.records(), next.records()), vec![]);
            for posting in &made {
                prop_assert!(posting.amounts.is_balanced(), "{:?}", posting);
                sum = sum.plus(posting.amounts);
                seen.borrow_mut().insert(posting.kind);
            }
            if number >= known_until {
                later.extend(made.clone());
            }
            posted.extend(made);
            payment = next;
            prop_assert_eq!(sum, payment.records().amounts());
            agrees(&payment, sum)?;
        }
        prop_assert!(posted.iter().filter(|it| it.kind == CardPostingKind::Payment).count() <= 1);
        statement_adds_up(&posted, sum)?;
        // What was not posted at the time is made up for, whatever was.
        let missing = unposted(payment.records(), &later);
        let made_up = missing.iter().chain(&later).fold(Amounts::default(), |sum, it| sum.plus(it.amounts));
        prop_assert_eq!(made_up, sum);
        prop_assert_eq!(unposted(payment.records(), &[missing, later].concat()), vec![]);
        Ok(())
    });
    assert_eq!(seen.into_inner().len(), CardPostingKind::ALL.len(), "every kind of posting was met");
}
