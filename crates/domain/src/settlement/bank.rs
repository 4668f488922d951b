//! Payouts against lines of the bank account.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    BankLine, BankMatch, Cause, Difference, Payout, PayoutStatus, PostedFact, Reconciliation,
    SettlementAccount, Terms,
};

/// How long a payout may take from the day its provider says.
pub const BANKING_DAYS_TO_ARRIVE: u8 = 5;

pub(super) fn settle(
    payouts: &BTreeMap<String, Payout>,
    lines: &BTreeMap<String, BankLine>,
    terms: &Terms,
    done: &mut Reconciliation,
) {
    let mut matches: BTreeMap<&str, BankMatch> = BTreeMap::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let index = Index::new(lines);
    let sent = || {
        payouts
            .values()
            .filter(|payout| matches!(payout.status, PayoutStatus::InTransit | PayoutStatus::Paid))
    };
    for payout in sent() {
        let named = index.named(payout);
        let ids: Vec<_> = named.iter().map(|line| line.id.clone()).collect();
        taken.extend(named.iter().map(|line| line.id.as_str()));
        match named.as_slice() {
            [] => {}
            [line] => {
                post(line, terms, done);
                if line.amount_minor != payout.amount_minor {
                    let (expected, actual) = (payout.amount_minor.into(), line.amount_minor.into());
                    done.differ(with_lines(
                        payout.difference(Cause::BankAmountDiffers, expected, actual),
                        &ids,
                    ));
                }
                matches.insert(&payout.id, BankMatch::Line(line.id.clone()));
            }
            several => {
                let sum = several.iter().map(|line| i128::from(line.amount_minor)).sum();
                let twice = payout.difference(Cause::TwoBankLines, payout.amount_minor.into(), sum);
                done.differ(with_lines(twice, &ids));
                matches.insert(&payout.id, BankMatch::Candidates(ids));
            }
        }
    }
    // What no bank line names can only be recognized by its amount, and only where nothing else has it.
    let mut candidates: BTreeMap<&str, Vec<&BankLine>> = BTreeMap::new();
    let mut wanted: BTreeMap<&str, usize> = BTreeMap::new();
    for payout in sent().filter(|payout| !matches.contains_key(payout.id.as_str())) {
        let mut near = index.near(payout, terms);
        near.retain(|line| !taken.contains(line.id.as_str()));
        for line in &near {
            *wanted.entry(&line.id).or_default() += 1;
        }
        candidates.insert(&payout.id, near);
    }
    for (id, near) in candidates {
        let Some(payout) = payouts.get(id) else { continue };
        let is_unique = |line: &BankLine| wanted.get(line.id.as_str()) == Some(&1);
        match near.as_slice() {
            [line] if is_unique(line) => {
                post(line, terms, done);
                matches.insert(id, BankMatch::Line(line.id.clone()));
            }
            [] => {
                let latest = terms.calendar.banking_days_after(payout.arrives_on, BANKING_DAYS_TO_ARRIVE);
                if latest.is_some_and(|latest| latest < terms.as_of) {
                    done.differ(payout.difference(Cause::PayoutNotAtBank, payout.amount_minor.into(), 0));
                }
            }
            several => {
                let ids: Vec<_> = several.iter().map(|line| line.id.clone()).collect();
                let amount = payout.amount_minor.into();
                done.differ(with_lines(payout.difference(Cause::TwoCandidates, amount, amount), &ids));
                matches.insert(id, BankMatch::Candidates(ids));
            }
        }
    }
    for payout in &mut done.payouts {
        if let Some(bank) = matches.remove(payout.id.as_str()) {
            payout.bank = bank;
        }
    }
}

fn with_lines(mut difference: Difference, lines: &[String]) -> Difference {
    difference.references.extend_from_slice(lines);
    difference
}

fn post(line: &BankLine, terms: &Terms, done: &mut Reconciliation) {
    let (month, _) = terms.month_of(line.booked_on, line.closed_in);
    let accounts = [SettlementAccount::Bank, SettlementAccount::InTransit];
    let fact = PostedFact::BankLine(line.id.clone());
    done.post(fact, month, line.currency, accounts, line.amount_minor.into());
}

/// Lines by what they name and by their amounts.
struct Index<'a> {
    by_word: BTreeMap<&'a str, BTreeSet<&'a BankLine>>,
    by_amount: BTreeMap<(crate::Currency, i64), Vec<&'a BankLine>>,
}

impl<'a> Index<'a> {
    fn new(lines: &'a BTreeMap<String, BankLine>) -> Self {
        let mut index = Self { by_word: BTreeMap::new(), by_amount: BTreeMap::new() };
        for line in lines.values() {
            for word in line.words() {
                index.by_word.entry(word).or_default().insert(line);
            }
            index.by_amount.entry((line.currency, line.amount_minor)).or_default().push(line);
        }
        index
    }

    /// The lines that name one of a payout's references.
    fn named(&self, payout: &Payout) -> Vec<&'a BankLine> {
        let named = payout.references.iter().filter_map(|reference| self.by_word.get(reference.as_str()));
        let named: BTreeSet<_> =
            named.flatten().copied().filter(|line| line.currency == payout.currency).collect();
        named.into_iter().collect()
    }

    /// The lines of a payout's amount in the days in which it may arrive.
    fn near(&self, payout: &Payout, terms: &Terms) -> Vec<&'a BankLine> {
        let latest = terms.calendar.banking_days_after(payout.arrives_on, BANKING_DAYS_TO_ARRIVE);
        let Some(latest) = latest else { return Vec::new() };
        let lines = self.by_amount.get(&(payout.currency, payout.amount_minor)).map(Vec::as_slice);
        let in_time = |line: &&&BankLine| (payout.arrives_on..=latest).contains(&line.booked_on);
        lines.unwrap_or_default().iter().filter(in_time).copied().collect()
    }
}
