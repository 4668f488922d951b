//! A drawn year of ordinary business: nothing is reported that is not true, at its end and at the end of each month.
//!
//! `TOLLGATE_SETTLEMENT_SEED` replays a run, `TOLLGATE_SETTLEMENT_YEARS` is how many years are drawn.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
};

use jiff::{ToSpan, civil::Date};
use tollgate_domain::{
    BasisPoints, Minor, Principal,
    ach::Calendar,
    settlement::{
        Cause, EntryKind, Expectation, ExpectedFees, FactKind, Mark, PayoutStatus, ProviderEntry,
        RefundedFees,
    },
    statement::Month,
};

use crate::build::{World, day, entry, expected, line, payout};

const USUAL_YEARS: u64 = 5;

/// SplitMix64: every seed gives a run that any machine repeats.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    fn days(&mut self, bound: usize) -> jiff::Span {
        (self.below(bound) as i64).days()
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place + 1));
        }
    }
}

/// One account at a provider, used by two environments and by somebody else.
struct Year {
    draw: Draw,
    fees: ExpectedFees,
    entries: Vec<ProviderEntry>,
    /// What each environment's books say.
    books: [Vec<Expectation>; 2],
    number: usize,
}

impl Year {
    fn id(&mut self, prefix: &str) -> String {
        self.number += 1;
        format!("{prefix}_{}", self.number)
    }

    /// Something happens: the books of its owner have it at once, the provider some days later.
    fn happen(
        &mut self,
        owner: usize,
        kind: EntryKind,
        [subject, payment]: [&str; 2],
        gross: i64,
        fee: i64,
        on: Date,
    ) {
        let fact = kind.fact().unwrap();
        let booked_on = on + self.draw.days(5);
        if let Some(books) = self.books.get_mut(owner) {
            let expectation = expected(fact, subject, gross, Some(fee));
            books.push(Expectation { payment: payment.to_owned(), posted_on: on, ..expectation });
        }
        // Some fees are entries of their own, some days later.
        let apart = fee != 0 && self.draw.percent(10);
        self.book(owner, kind, [subject, payment], gross, if apart { 0 } else { fee }, booked_on);
        if apart {
            let on = booked_on + self.draw.days(4);
            self.book(owner, EntryKind::Fee, [subject, payment], -fee, 0, on);
        }
    }

    fn book(
        &mut self,
        owner: usize,
        kind: EntryKind,
        [subject, payment]: [&str; 2],
        gross: i64,
        fee: i64,
        on: Date,
    ) {
        let id = self.id("txn");
        let mark = match owner {
            // Environments mark what is theirs, mostly.
            0 if self.draw.percent(90) => Mark::Ours,
            1 => Mark::OtherEnvironment,
            _ => Mark::Unmarked,
        };
        let entry = entry(&id, kind, gross, fee, subject);
        let payment = (!payment.is_empty()).then(|| payment.to_owned());
        self.entries.push(ProviderEntry { payment, mark, created_on: on, ..entry });
    }

    fn charge(&mut self, on: Date) {
        let owner = [0, 0, 0, 1, 2][self.draw.below(5)];
        let payment = self.id("pi");
        let names = [payment.as_str(), payment.as_str()];
        let held = 500 + self.draw.below(50_000) as i64;
        let amount = if self.draw.percent(10) { 1 + self.draw.below(held as usize) as i64 } else { held };
        let principal = Principal::new(amount.unsigned_abs()).unwrap();
        let fee = self.fees.of_charge(principal).unwrap();
        if amount == held {
            self.happen(owner, EntryKind::Charge, names, amount, fee, on);
        } else {
            if let Some(books) = self.books.get_mut(owner) {
                let captured = expected(FactKind::Charge, &payment, amount, Some(fee));
                books.push(Expectation { held_minor: Some(held), posted_on: on, ..captured });
            }
            let booked_on = on + self.draw.days(5);
            self.book(owner, EntryKind::Charge, names, held, fee, booked_on);
            self.book(owner, EntryKind::PartialCaptureReversal, names, amount - held, 0, booked_on);
        }
        if self.draw.percent(8) {
            self.refund(owner, &payment, amount, on);
        } else if self.draw.percent(4) {
            self.dispute(owner, &payment, amount, on);
        }
    }

    fn refund(&mut self, owner: usize, payment: &str, amount: i64, charged_on: Date) {
        let refund = self.id("re");
        let part = if self.draw.percent(50) { amount } else { 1 + self.draw.below(amount as usize) as i64 };
        let on = charged_on + 1.day() + self.draw.days(30);
        self.happen(owner, EntryKind::Refund, [&refund, payment], -part, 0, on);
        if self.draw.percent(15) {
            self.happen(owner, EntryKind::RefundFailure, [&refund, payment], part, 0, on + 6.days());
        }
    }

    fn dispute(&mut self, owner: usize, payment: &str, amount: i64, charged_on: Date) {
        let dispute = self.id("dp");
        let on = charged_on + 10.days() + self.draw.days(20);
        let fee = self.fees.of_dispute();
        self.happen(owner, EntryKind::Dispute, [&dispute, payment], -amount, fee, on);
        if self.draw.percent(50) {
            self.happen(owner, EntryKind::DisputeReversal, [&dispute, payment], amount, 0, on + 25.days());
        }
    }

    /// Pays out every week what was booked before, or takes it from the bank; the bank has it some days later.
    fn pay_out(&mut self, world: &mut World) {
        let calendar = Calendar::default();
        let mut monday = day("2026-01-05");
        self.entries.sort_by_key(|entry| entry.created_on);
        let mut next = 0;
        while next < self.entries.len() {
            let upto =
                next + self.entries[next..].iter().take_while(|entry| entry.created_on < monday).count();
            let sum: i64 = self.entries[next..upto].iter().map(|entry| entry.net_minor).sum();
            if sum != 0 {
                let id = self.id("po");
                self.entries[next..upto].iter_mut().for_each(|entry| entry.payout = Some(id.clone()));
                let arrives_on = calendar.banking_days_after(monday, 1).unwrap();
                world.payouts.push(payout(&id, sum, &arrives_on.to_string()));
                let booked_on = calendar.banking_days_after(arrives_on, self.draw.below(4) as u8).unwrap();
                // Most banks name the trace.
                let trace = if self.draw.percent(70) { format!("TRACE-{id}") } else { "STRIPE".to_owned() };
                world.lines.push(line(&format!("bank_{id}"), sum, &booked_on.to_string(), &trace));
                let own = entry(&self.id("txn"), EntryKind::Payout, -sum, 0, &id);
                world.entries.push(ProviderEntry { payout: Some(id), created_on: monday, ..own });
                next = upto;
            }
            if upto == self.entries.len() {
                // What took itself back needs no payout.
                break;
            }
            monday += 7.days();
        }
        // What else is on the bank account.
        for number in 0..200 {
            let amount = 100_000_000 + self.draw.below(1_000_000) as i64;
            let on = day("2026-01-01") + self.draw.days(365);
            world.lines.push(line(&format!("other_{number}"), -amount, &on.to_string(), "RENT"));
        }
    }

    fn draw(seed: u64) -> (Self, World) {
        let fees = ExpectedFees {
            percent: BasisPoints::new(290).unwrap(),
            fixed: Minor::new(30).unwrap(),
            dispute: Minor::new(1_500).unwrap(),
            refunded: RefundedFees::Kept,
        };
        let books = [Vec::new(), Vec::new()];
        let mut year = Self { draw: Draw(seed), fees, entries: Vec::new(), books, number: 0 };
        let mut on = day("2026-01-01");
        while on < day("2027-01-01") {
            for _ in 0..year.draw.below(8) {
                year.charge(on);
            }
            if on.day() == 1 {
                year.book(2, EntryKind::Fee, ["", ""], -250, 0, on);
                let reserve = year.id("rsv");
                year.book(2, EntryKind::ReserveHold, [&reserve, ""], -3_000, 0, on);
                year.entries.last_mut().unwrap().available_on = Some(on + 30.days());
                year.book(2, EntryKind::ReserveRelease, [&reserve, ""], 3_000, 0, on + 30.days());
            }
            on += 1.day();
        }
        let mut world = World::empty("2027-06-01");
        year.pay_out(&mut world);
        world.entries.append(&mut year.entries);
        // Windows overlap, and pages come in any order.
        let again: Vec<_> = world.entries.iter().filter(|_| year.draw.percent(20)).cloned().collect();
        world.entries.extend(again.into_iter().map(|entry| ProviderEntry { payout: None, ..entry }));
        year.draw.shuffle(&mut world.entries);
        year.draw.shuffle(&mut world.payouts);
        year.draw.shuffle(&mut world.lines);
        world.expectations.clone_from(&year.books[0]);
        (year, world)
    }
}

/// What is known on a day.
fn known_on(world: &World, as_of: Date) -> World {
    let mut known = world.clone();
    known.as_of = as_of;
    known.expectations.retain(|expectation| expectation.posted_on <= as_of);
    known.entries.retain(|entry| entry.created_on <= as_of);
    known.lines.retain(|line| line.booked_on <= as_of);
    let sent: BTreeSet<_> = known
        .entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Payout)
        .filter_map(|entry| entry.subject.clone())
        .collect();
    known.payouts.retain(|payout| sent.contains(&payout.id));
    for payout in &mut known.payouts {
        payout.status = if payout.arrives_on <= as_of { PayoutStatus::Paid } else { PayoutStatus::InTransit };
    }
    for entry in &mut known.entries {
        entry.payout = entry.payout.take().filter(|payout| sent.contains(payout));
    }
    known
}

#[test]
fn a_year_of_ordinary_business_has_no_false_alarms() {
    let seed = std::env::var("TOLLGATE_SETTLEMENT_SEED")
        .map_or_else(|_| RandomState::new().hash_one("seed"), |text| text.parse().unwrap());
    let years = std::env::var("TOLLGATE_SETTLEMENT_YEARS").map_or(USUAL_YEARS, |text| text.parse().unwrap());
    println!("TOLLGATE_SETTLEMENT_SEED={seed} TOLLGATE_SETTLEMENT_YEARS={years}");
    let mut facts = 0;
    for number in 0..years {
        let (mut year, mut world) = Year::draw(seed.wrapping_add(number));
        facts += world.expectations.len() + world.entries.len() + world.payouts.len() + world.lines.len();
        let done = world.reconcile();
        assert_eq!(done.differences, [], "year {number}");
        world.check_books(&done, "the whole year");
        assert_eq!(world.provider_balance(tollgate_domain::Currency::USD), 0, "all of it was paid out");
        for month in 1..=12 {
            let known = known_on(&world, Date::new(2026, month, 28).unwrap());
            let done = known.reconcile();
            assert_eq!(done.differences, [], "year {number}, month {month}");
            known.check_books(&done, "a month");
        }
        late_entries_are_the_only_difference(&world, &mut year.draw);

        // The other environment sees the same account from its side.
        for entry in &mut world.entries {
            entry.mark = match entry.mark {
                Mark::Ours => Mark::OtherEnvironment,
                Mark::OtherEnvironment => Mark::Ours,
                Mark::Unmarked => Mark::Unmarked,
            };
        }
        world.expectations = std::mem::take(&mut year.books[1]);
        let other = world.reconcile();
        assert_eq!(other.differences, [], "year {number}, the other environment");
        world.check_books(&other, "the other environment");
    }
    println!("{facts} facts in {years} years");
}

/// The first half is closed, but for three entries that came afterwards.
fn late_entries_are_the_only_difference(world: &World, draw: &mut Draw) {
    let mut world = world.clone();
    let june = Month::parse("2026-06").unwrap();
    let of_first_half: Vec<_> = world
        .entries
        .iter()
        .filter(|entry| entry.created_on <= day("2026-06-30"))
        .map(|entry| entry.id.clone())
        .collect();
    let late: BTreeSet<_> = (0..3).map(|_| of_first_half[draw.below(of_first_half.len())].clone()).collect();
    world.closed_through = Some(june);
    for entry in world.entries.iter_mut().filter(|entry| !late.contains(&entry.id)) {
        entry.closed_in = Some(Month::of_day(entry.created_on)).filter(|month| *month <= june);
    }
    for payout in &mut world.payouts {
        payout.closed_in = Some(Month::of_day(payout.arrives_on)).filter(|month| *month <= june);
    }
    for line in &mut world.lines {
        line.closed_in = Some(Month::of_day(line.booked_on)).filter(|month| *month <= june);
    }
    let done = world.reconcile();
    let found: BTreeSet<_> =
        done.differences.iter().map(|difference| difference.references[0].clone()).collect();
    assert!(
        done.differences.iter().all(|difference| difference.cause == Cause::AfterClose),
        "{:?}",
        done.differences
    );
    assert_eq!(found, late);
    let posted_late = done.postings.iter().filter(|posting| match &posting.fact {
        tollgate_domain::settlement::PostedFact::Entry(id) => late.contains(id),
        _ => false,
    });
    assert!(posted_late.clone().all(|posting| posting.month == june.next()));
}
