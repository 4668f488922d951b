//! Payments, refunds and disputes as they are posted.

use super::*;
use crate::{
    fee::{FeeEntry, FeeLayer},
    id::RefundId,
    money::Principal,
    refund::{RefundOrigin, RefundTerms},
    time::Timestamp,
};

fn minor(amount: u64) -> Minor {
    Minor::new(amount).unwrap()
}

fn fee(principal: u64, platform: u64, organization: u64) -> FeeSnapshot {
    let layer = |fixed| FeeLayer { enabled: true, fixed: minor(fixed), ..FeeLayer::default() };
    let entry = FeeEntry { platform: layer(platform), organization: layer(organization) };
    entry.assess(Principal::new(principal).unwrap())
}

fn refund(number: u8, principal: u64, fee: u64, status: RefundStatus) -> Refund {
    let at = Timestamp::from_unix_millis(0);
    Refund {
        id: RefundId::new(at, [number; 10]),
        terms: RefundTerms {
            amount: None,
            fee_refund: None,
            reason: None,
            description: None,
            metadata: "{}".to_owned(),
        },
        principal: minor(principal),
        fee: minor(fee),
        origin: RefundOrigin::Api,
        status,
        provider_reference: None,
        failure: None,
        request: None,
        approval: None,
        created_at: at,
        updated_at: at,
    }
}

fn dispute(id: &str, status: &str, amount: u64) -> Dispute {
    let (id, status) = (id.to_owned(), status.to_owned());
    Dispute {
        id,
        status,
        reason: None,
        amount: Some(minor(amount)),
        currency: None,
        respond_by: None,
        withdrawn: None,
    }
}

fn paid<'a>(fee: &'a FeeSnapshot, refunds: &'a [Refund], disputes: &'a [Dispute]) -> PaymentRecords<'a> {
    PaymentRecords { fee, status: Some(Status::Succeeded), refunds, disputes }
}

fn of(amounts: Amounts) -> [i128; 7] {
    amounts.accounts().map(|(_, amount)| amount)
}

#[test]
fn a_payment_and_its_refunds_are_posted_by_layer() {
    let fee = fee(1_000, 33, 40);
    let nothing = PaymentRecords { status: Some(Status::Processing), ..paid(&fee, &[], &[]) };
    let posted = postings(nothing, paid(&fee, &[], &[]));
    assert_eq!((posted[0].kind, posted.len()), (CardPostingKind::Payment, 1));
    assert_eq!(of(posted[0].amounts), [1_073, 0, 0, 0, 1_000, 33, 40]);
    // Half of the fee is 36.5: 37 go back, of which the platform gives round(33 × 37 ÷ 73) = 17.
    let half = [refund(1, 500, 37, RefundStatus::Succeeded)];
    let posted = postings(paid(&fee, &[], &[]), paid(&fee, &half, &[]));
    assert_eq!(
        (posted[0].kind, posted[0].subject.clone()),
        (CardPostingKind::Refund, Some(half[0].id.to_string()))
    );
    assert_eq!(of(posted[0].amounts), [-537, 0, 500, 0, 0, -17, -20]);
    let both = [half[0].clone(), refund(2, 500, 36, RefundStatus::Succeeded)];
    assert_eq!(of(paid(&fee, &both, &[]).amounts()), [0, 0, 1_000, 0, 1_000, 0, 0]);
    // The first comes back days later.
    let late = [refund(1, 500, 37, RefundStatus::Failed), both[1].clone()];
    let posted = postings(paid(&fee, &both, &[]), paid(&fee, &late, &[]));
    assert_eq!(posted[0].kind, CardPostingKind::RefundReversed);
    assert_eq!(posted[0].amounts.due_from_provider, 537);
}

#[test]
fn a_refund_under_way_and_a_repeated_report_post_nothing() {
    let fee = fee(1_000, 33, 40);
    let asked = [refund(1, 500, 37, RefundStatus::Processing)];
    assert_eq!(postings(paid(&fee, &[], &[]), paid(&fee, &asked, &[])), []);
    let done = [refund(1, 500, 37, RefundStatus::Succeeded)];
    assert_eq!(postings(paid(&fee, &done, &[]), paid(&fee, &done, &[])), []);
}

#[test]
fn shares_of_single_cents_never_take_more_from_a_layer_than_it_earned() {
    let fee = fee(10, 1, 1);
    let one = refund(1, 5, 1, RefundStatus::Succeeded);
    let other = refund(2, 5, 1, RefundStatus::Succeeded);
    let [.., platform, organization] = of(paid(&fee, std::slice::from_ref(&one), &[]).amounts());
    assert_eq!((platform, organization), (0, 1));
    let [.., platform, organization] = of(paid(&fee, &[one, other], &[]).amounts());
    assert_eq!((platform, organization), (0, 0));
}

#[test]
fn a_dispute_is_held_and_comes_back_or_is_lost() {
    let fee = fee(1_000, 33, 40);
    let (open, won) = ([dispute("dp_1", "needs_response", 1_073)], [dispute("dp_1", "WON", 1_073)]);
    let lost = [dispute("dp_1", "lost", 1_073)];
    let held = postings(paid(&fee, &[], &[]), paid(&fee, &[], &open));
    assert_eq!(
        (held[0].kind, of(held[0].amounts)),
        (CardPostingKind::DisputeHeld, [-1_073, 1_073, 0, 0, 0, 0, 0])
    );
    let back = postings(paid(&fee, &[], &open), paid(&fee, &[], &won));
    assert_eq!(
        (back[0].kind, of(back[0].amounts)),
        (CardPostingKind::DisputeReturned, [1_073, -1_073, 0, 0, 0, 0, 0])
    );
    let gone = postings(paid(&fee, &[], &open), paid(&fee, &[], &lost));
    assert_eq!(
        (gone[0].kind, of(gone[0].amounts)),
        (CardPostingKind::DisputeLost, [0, -1_073, 0, 1_000, 0, -33, -40])
    );
    // An inquiry takes no money, and a second dispute leaves the first one's outcome alone.
    let inquiry = [dispute("dp_1", "warning_needs_response", 1_073)];
    assert_eq!(postings(paid(&fee, &[], &[]), paid(&fee, &[], &inquiry)), []);
    let second = [dispute("dp_1", "lost", 500), dispute("dp_2", "EVIDENCE_REQUIRED", 100)];
    assert_eq!(of(paid(&fee, &[], &second).amounts()), [473, 100, 0, 466, 1_000, 18, 21]);
}

#[test]
fn what_was_not_posted_is_made_up_for() {
    let fee = fee(1_000, 33, 40);
    let (given, failed) = (
        [refund(1, 500, 37, RefundStatus::Succeeded)],
        [refund(1, 500, 37, RefundStatus::Failed), refund(2, 500, 36, RefundStatus::Succeeded)],
    );
    let (before, now) = (paid(&fee, &given, &[]), paid(&fee, &failed, &[]));
    assert_eq!(unposted(now, &[]).len(), 2);
    // The first refund was given before there were books, and came back afterwards.
    let posted = postings(before, now);
    let missing = unposted(now, &posted);
    assert_eq!(
        missing.iter().map(|it| it.kind).collect::<Vec<_>>(),
        [CardPostingKind::Payment, CardPostingKind::Refund]
    );
    let sum = missing.iter().chain(&posted).fold(Amounts::default(), |sum, it| sum.plus(it.amounts));
    assert_eq!(sum, now.amounts());
    assert_eq!(unposted(now, &[missing, posted].concat()), []);
}

#[test]
fn what_is_learned_at_once_is_posted_in_steps() {
    let fee = fee(1_000, 33, 40);
    let nothing = PaymentRecords { status: None, ..paid(&fee, &[], &[]) };
    let refunds = [refund(1, 1_000, 73, RefundStatus::Succeeded)];
    let refunded = PaymentRecords { status: Some(Status::Refunded), ..paid(&fee, &refunds, &[]) };
    let kinds: Vec<_> = postings(nothing, refunded).into_iter().map(|posting| posting.kind).collect();
    assert_eq!(kinds, [CardPostingKind::Payment, CardPostingKind::Refund]);
}
