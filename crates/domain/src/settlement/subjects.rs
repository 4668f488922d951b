//! Entries against expectations, by what they are about.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cause, Difference, EntryKind, Expectation, FactKind, Mark, PostedFact, ProviderEntry, Reconciliation,
    SettlementAccount, SubjectMatch, SubjectState, Terms, difference::missing_cause,
};
use crate::currency::Currency;

#[derive(Default)]
struct Group<'a> {
    expectations: Vec<&'a Expectation>,
    entries: Vec<&'a ProviderEntry>,
    /// Fees of their own that name the subject.
    fees: Vec<&'a ProviderEntry>,
    is_ours: bool,
}

/// Everything about payments, by kind and by the provider's id.
pub(super) struct Groups<'a> {
    groups: BTreeMap<(FactKind, &'a str), Group<'a>>,
    with_group: BTreeSet<&'a str>,
}

impl Groups<'_> {
    /// Whether a fee of its own belongs to one of them.
    pub(super) fn has_fee(&self, entry: &ProviderEntry) -> bool {
        let subject = entry.subject.as_deref();
        entry.kind == EntryKind::Fee && subject.is_some_and(|subject| self.with_group.contains(subject))
    }
}

pub(super) fn group<'a>(
    expectations: &'a [Expectation],
    entries: &'a BTreeMap<String, ProviderEntry>,
) -> Groups<'a> {
    let mut groups: BTreeMap<(FactKind, &str), Group<'_>> = BTreeMap::new();
    let mut ours = BTreeSet::new();
    for expectation in expectations {
        ours.extend([expectation.payment.as_str(), expectation.subject.as_str()]);
        groups.entry((expectation.kind, &expectation.subject)).or_default().expectations.push(expectation);
    }
    for entry in entries.values() {
        let Some(kind) = entry.kind.fact() else { continue };
        let subject = entry.subject.as_deref().unwrap_or(&entry.id);
        let group = groups.entry((kind, subject)).or_default();
        let named = [entry.payment.as_deref(), entry.subject.as_deref()];
        group.is_ours |= entry.mark == Mark::Ours || named.into_iter().flatten().any(|id| ours.contains(id));
        group.entries.push(entry);
    }
    let with_group: BTreeSet<_> = groups.keys().map(|(_, subject)| *subject).collect();
    // A fee names a payment, a refund or a dispute, which have ids of their own: it belongs to the first fact of that id.
    for entry in entries.values().filter(|entry| entry.kind == EntryKind::Fee) {
        let Some(subject) = entry.subject.as_deref() else { continue };
        let place = FactKind::ALL.into_iter().find(|kind| groups.contains_key(&(*kind, subject)));
        if let Some(group) = place.and_then(|kind| groups.get_mut(&(kind, subject))) {
            group.fees.push(entry);
        }
    }
    for group in groups.values_mut() {
        group.expectations.sort();
    }
    Groups { groups, with_group }
}

pub(super) fn settle(groups: &Groups<'_>, terms: &Terms, done: &mut Reconciliation) {
    for ((kind, subject), group) in &groups.groups {
        let settled = if !group.expectations.is_empty() {
            group.compare(*kind, subject, terms, done)
        } else if group.is_ours {
            group.unknown(*kind, subject, terms, done)
        } else {
            group.foreign(*kind, subject, terms, done)
        };
        done.subjects.push(settled);
    }
}

impl Group<'_> {
    /// The part of a match that does not depend on how it stands.
    fn matched(&self, kind: FactKind, subject: &str, state: SubjectState) -> SubjectMatch {
        let of_entry = self.entries.iter().chain(&self.fees);
        let currency = self.expectations.first().map(|expectation| expectation.currency);
        let own = |expectation: &&Expectation| i128::from(expectation.amount_minor);
        SubjectMatch {
            kind,
            subject: subject.to_owned(),
            currency: currency.or(self.entries.first().map(|entry| entry.currency)).unwrap_or(Currency::USD),
            reference: self.expectations.first().map(|expectation| expectation.reference),
            state,
            expected_minor: self.expectations.iter().map(own).sum(),
            actual_minor: self.entries.iter().map(|entry| i128::from(entry.gross_minor)).sum(),
            fee_minor: self.fee(),
            entries: of_entry.clone().map(|entry| entry.id.clone()).collect(),
            is_booked: !self.entries.is_empty(),
            payouts: of_entry.filter_map(|entry| entry.payout.clone()).collect(),
        }
    }

    fn fee(&self) -> i128 {
        let charged: i128 = self.entries.iter().map(|entry| i128::from(entry.fee_minor)).sum();
        let own = |entry: &&ProviderEntry| i128::from(entry.fee_minor) - i128::from(entry.gross_minor);
        charged + self.fees.iter().map(own).sum::<i128>()
    }

    /// Posts what the provider kept for itself.
    fn post_fees(&self, terms: &Terms, done: &mut Reconciliation) {
        let accounts = [SettlementAccount::ProviderFees, SettlementAccount::DueFromProvider];
        let of_fees =
            self.fees.iter().map(|fee| (fee, i128::from(fee.fee_minor) - i128::from(fee.gross_minor)));
        let of_entries = self.entries.iter().map(|entry| (entry, i128::from(entry.fee_minor)));
        for (entry, fee) in of_entries.chain(of_fees) {
            let (month, _) = terms.month_of(entry.created_on, entry.closed_in);
            done.post(PostedFact::Entry(entry.id.clone()), month, entry.currency, accounts, fee);
        }
    }

    fn foreign(
        &self,
        kind: FactKind,
        subject: &str,
        terms: &Terms,
        done: &mut Reconciliation,
    ) -> SubjectMatch {
        let accounts = [SettlementAccount::DueFromProvider, SettlementAccount::OtherActivity];
        for entry in self.entries.iter().chain(&self.fees) {
            let (month, _) = terms.month_of(entry.created_on, entry.closed_in);
            let net = i128::from(entry.gross_minor) - i128::from(entry.fee_minor);
            done.foreign.insert(entry.id.clone());
            done.post(PostedFact::Entry(entry.id.clone()), month, entry.currency, accounts, net);
        }
        self.matched(kind, subject, SubjectState::Foreign)
    }

    /// Ours by its mark or its payment, but the books do not have it.
    fn unknown(
        &self,
        kind: FactKind,
        subject: &str,
        terms: &Terms,
        done: &mut Reconciliation,
    ) -> SubjectMatch {
        self.post_fees(terms, done);
        self.suspend_entries(terms, done);
        let mut settled = self.matched(kind, subject, SubjectState::Awaited);
        let difference = self.difference(missing_cause(kind, true), &settled);
        if terms.is_unknown(difference.since) {
            settled.state = SubjectState::Differs;
            done.differ(Difference { expected_minor: None, ..difference });
        }
        settled
    }

    fn compare(
        &self,
        kind: FactKind,
        subject: &str,
        terms: &Terms,
        done: &mut Reconciliation,
    ) -> SubjectMatch {
        self.post_fees(terms, done);
        let mut settled = self.matched(kind, subject, SubjectState::Settled);
        if self.entries.is_empty() {
            // Facts that took each other back before the provider booked anything leave nothing to book.
            let latest = self.expectations.iter().map(|expectation| expectation.posted_on).max();
            let is_missing = latest.is_some_and(|latest| terms.is_due(latest)) && settled.expected_minor != 0;
            settled.state = if is_missing { SubjectState::Differs } else { SubjectState::Awaited };
            if is_missing {
                done.differ(Difference {
                    actual_minor: None,
                    ..self.difference(missing_cause(kind, false), &settled)
                });
            }
            return settled;
        }
        let cause = if self.entries.iter().any(|entry| paid_currency(entry) != settled.currency) {
            // Neither side can be subtracted from the other, so both are in suspense.
            self.suspend_entries(terms, done);
            self.suspend(&settled, -settled.expected_minor, terms, done);
            Some(Cause::CurrencyDiffers)
        } else {
            self.post_conversion(terms, done);
            settled.actual_minor = self.entries.iter().map(|entry| i128::from(paid(entry))).sum();
            let rest = settled.actual_minor - settled.expected_minor;
            self.suspend(&settled, rest, terms, done);
            self.cause(&settled)
        };
        if let Some(cause) = cause {
            settled.state = SubjectState::Differs;
            done.differ(self.difference(cause, &settled));
        }
        if cause != Some(Cause::TwoEntries) {
            // A second entry has a second fee.
            self.compare_fee(&mut settled, terms, done);
        }
        settled
    }

    fn cause(&self, settled: &SubjectMatch) -> Option<Cause> {
        let converts = |entry: &&&ProviderEntry| {
            entry.presentment.is_none_or(|paid| paid.rate.converts(paid.amount_minor, entry.gross_minor))
        };
        if settled.actual_minor == settled.expected_minor {
            let is_wrong = self.entries.iter().filter(converts).count() < self.entries.len();
            return is_wrong.then_some(Cause::WrongConversion);
        }
        let excess = settled.actual_minor - settled.expected_minor;
        let equal = self.entries.iter().filter(|entry| i128::from(paid(entry)) == excess).count();
        let held: Option<i128> =
            self.expectations.iter().map(|expectation| expectation.held_minor.map(i128::from)).sum();
        Some(if equal > 1 {
            Cause::TwoEntries
        } else if held == Some(settled.actual_minor) {
            Cause::CaptureNotNetted
        } else {
            Cause::AmountDiffers
        })
    }

    fn compare_fee(&self, settled: &mut SubjectMatch, terms: &Terms, done: &mut Reconciliation) {
        let expected: Option<i128> =
            self.expectations.iter().map(|expectation| expectation.fee_minor.map(i128::from)).sum();
        let converted = self.entries.iter().any(|entry| entry.currency != settled.currency);
        let Some(expected) = expected.filter(|expected| *expected != settled.fee_minor && !converted) else {
            return;
        };
        let newest = self.entries.iter().map(|entry| entry.created_on).max();
        let cause = match settled.fee_minor {
            _ if !self.fees.is_empty() => Cause::FeeAdjusted,
            // Some fees come as entries of their own, days later.
            0 if newest.is_some_and(|newest| !terms.is_due(newest)) => return,
            0 => Cause::FeeMissing,
            _ => Cause::FeeDiffers,
        };
        settled.state = SubjectState::Differs;
        let difference = self.difference(cause, settled);
        let (expected_minor, actual_minor) = (Some(expected), Some(settled.fee_minor));
        done.differ(Difference { expected_minor, actual_minor, ..difference });
    }

    /// Moves what our books do not have to suspense, so that the account has what the provider has.
    fn suspend(&self, settled: &SubjectMatch, rest: i128, terms: &Terms, done: &mut Reconciliation) {
        let Some(last) = self.entries.iter().max_by_key(|entry| (entry.created_on, &entry.id)) else {
            return;
        };
        let (month, _) = terms.month_of(last.created_on, last.closed_in);
        let accounts = [SettlementAccount::DueFromProvider, SettlementAccount::Suspense];
        let fact = PostedFact::Subject(settled.kind, settled.subject.clone());
        done.post(fact, month, settled.currency, accounts, rest);
    }

    /// The same of everything that was booked, each in its own currency.
    fn suspend_entries(&self, terms: &Terms, done: &mut Reconciliation) {
        let accounts = [SettlementAccount::DueFromProvider, SettlementAccount::Suspense];
        for entry in &self.entries {
            let (month, _) = terms.month_of(entry.created_on, entry.closed_in);
            let fact = PostedFact::Entry(entry.id.clone());
            done.post(fact, month, entry.currency, accounts, entry.gross_minor.into());
        }
    }

    /// What was paid in one currency is due in another.
    fn post_conversion(&self, terms: &Terms, done: &mut Reconciliation) {
        let accounts = [SettlementAccount::DueFromProvider, SettlementAccount::FxDifference];
        for entry in &self.entries {
            let Some(paid) = entry.presentment.filter(|paid| paid.currency != entry.currency) else {
                continue;
            };
            let (month, _) = terms.month_of(entry.created_on, entry.closed_in);
            let fact = || PostedFact::Entry(entry.id.clone());
            done.post(fact(), month, paid.currency, accounts, -i128::from(paid.amount_minor));
            done.post(fact(), month, entry.currency, accounts, entry.gross_minor.into());
        }
    }

    fn difference(&self, cause: Cause, settled: &SubjectMatch) -> Difference {
        let references = std::iter::once(&settled.subject).chain(&settled.entries).cloned().collect();
        let days = self.entries.iter().map(|entry| entry.created_on);
        let days = days.chain(self.expectations.iter().map(|expectation| expectation.posted_on));
        Difference {
            cause,
            references,
            service_reference: settled.reference,
            expected_minor: Some(settled.expected_minor),
            actual_minor: Some(settled.actual_minor),
            currency: settled.currency,
            payout: settled.payouts.first().cloned(),
            since: days.max().unwrap_or_default(),
        }
    }
}

/// What the customer paid, in the currency it was paid in.
fn paid(entry: &ProviderEntry) -> i64 {
    entry.presentment.map_or(entry.gross_minor, |paid| paid.amount_minor)
}

fn paid_currency(entry: &ProviderEntry) -> Currency {
    entry.presentment.map_or(entry.currency, |paid| paid.currency)
}
