//! Facts in few words.

use jiff::civil::Date;
use tollgate_domain::{
    Currency, ServiceReference, Timestamp,
    ach::Calendar,
    id::PaymentId,
    settlement::{
        BankLine, Cause, EntryKind, Expectation, FactKind, Facts, ImportWindow, Mark, Payout, PayoutStatus,
        ProviderEntry, Reconciliation, SettlementAccount, Terms, reconcile,
    },
    statement::Month,
};

pub(crate) fn day(text: &str) -> Date {
    text.parse().unwrap()
}

pub(crate) fn at(day: Date) -> Timestamp {
    let moment = day.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    Timestamp::from_unix_millis(moment.as_millisecond())
}

pub(crate) fn entry(id: &str, kind: EntryKind, gross: i64, fee: i64, subject: &str) -> ProviderEntry {
    ProviderEntry {
        id: id.to_owned(),
        kind,
        gross_minor: gross,
        fee_minor: fee,
        net_minor: gross - fee,
        currency: Currency::USD,
        presentment: None,
        subject: (!subject.is_empty()).then(|| subject.to_owned()),
        payment: None,
        mark: Mark::Unmarked,
        payout: None,
        created_on: day("2026-11-02"),
        available_on: None,
        closed_in: None,
    }
}

pub(crate) fn expected(kind: FactKind, subject: &str, amount: i64, fee: Option<i64>) -> Expectation {
    Expectation {
        kind,
        subject: subject.to_owned(),
        payment: subject.to_owned(),
        reference: ServiceReference::Card(PaymentId::from_bytes([7; 16])),
        amount_minor: amount,
        currency: Currency::USD,
        fee_minor: fee,
        held_minor: None,
        posted_on: day("2026-11-02"),
    }
}

pub(crate) fn payout(id: &str, amount: i64, arrives_on: &str) -> Payout {
    Payout {
        id: id.to_owned(),
        amount_minor: amount,
        currency: Currency::USD,
        status: PayoutStatus::Paid,
        arrives_on: day(arrives_on),
        references: vec![format!("TRACE-{id}")],
        is_itemized: true,
        closed_in: None,
    }
}

pub(crate) fn line(id: &str, amount: i64, booked_on: &str, reference: &str) -> BankLine {
    BankLine {
        id: id.to_owned(),
        amount_minor: amount,
        currency: Currency::USD,
        booked_on: day(booked_on),
        references: Vec::new(),
        text: format!("PAYOUT {reference} ACH"),
        closed_in: None,
    }
}

/// Everything that is known.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) expectations: Vec<Expectation>,
    pub(crate) entries: Vec<ProviderEntry>,
    pub(crate) payouts: Vec<Payout>,
    pub(crate) lines: Vec<BankLine>,
    pub(crate) balances: Vec<(Currency, i64)>,
    pub(crate) windows: Vec<ImportWindow>,
    pub(crate) as_of: Date,
    pub(crate) closed_through: Option<Month>,
}

impl World {
    pub(crate) fn empty(as_of: &str) -> Self {
        Self {
            expectations: Vec::new(),
            entries: Vec::new(),
            payouts: Vec::new(),
            lines: Vec::new(),
            balances: Vec::new(),
            windows: Vec::new(),
            as_of: day(as_of),
            closed_through: None,
        }
    }

    /// Three charges, a partial refund and a dispute, paid out and at the bank: the fact sheet's payout of 282.67.
    pub(crate) fn stripe() -> Self {
        let mut world = Self::empty("2026-11-20");
        for (subject, kind, fact, gross, fee) in [
            ("pi_1", EntryKind::Charge, FactKind::Charge, 12_956, 406),
            ("pi_2", EntryKind::Charge, FactKind::Charge, 8_302, 271),
            ("pi_3", EntryKind::Charge, FactKind::Charge, 20_710, 631),
            ("re_1", EntryKind::Refund, FactKind::Refund, -2_591, 0),
            ("dp_1", EntryKind::Dispute, FactKind::Dispute, -8_302, 1_500),
        ] {
            let payment = match subject {
                "re_1" => "pi_1",
                "dp_1" => "pi_2",
                own => own,
            };
            let entry = entry(&format!("txn_{subject}"), kind, gross, fee, subject);
            let (payment, payout) = (Some(payment.to_owned()), Some("po_1".to_owned()));
            world.entries.push(ProviderEntry { payment: payment.clone(), payout, ..entry });
            let expectation = expected(fact, subject, gross, Some(fee));
            world.expectations.push(Expectation { payment: payment.unwrap(), ..expectation });
        }
        let own = entry("txn_po_1", EntryKind::Payout, -28_267, 0, "po_1");
        world.entries.push(ProviderEntry { payout: Some("po_1".to_owned()), ..own });
        world.payouts.push(payout("po_1", 28_267, "2026-11-04"));
        world.lines.push(line("bank_1", 28_267, "2026-11-05", "TRACE-po_1"));
        world.balances.push((Currency::USD, 0));
        let window =
            |from: &str, to: &str| ImportWindow { from: at(day(from)), to: at(day(to)), is_closed: true };
        world.windows = vec![window("2026-11-01", "2026-11-10"), window("2026-11-10", "2026-12-01")];
        world
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms {
            as_of: self.as_of,
            missing_after_days: 7,
            unknown_after_days: 2,
            calendar: Calendar::default(),
            closed_through: self.closed_through,
        }
    }

    pub(crate) fn reconcile(&self) -> Reconciliation {
        let facts = Facts {
            expectations: &self.expectations,
            entries: &self.entries,
            payouts: &self.payouts,
            lines: &self.lines,
            balances: &self.balances,
            windows: &self.windows,
        };
        reconcile(&facts, &self.terms())
    }

    pub(crate) fn causes(&self) -> Vec<Cause> {
        self.reconcile().differences.iter().map(|difference| difference.cause).collect()
    }

    pub(crate) fn entry(&mut self, id: &str) -> &mut ProviderEntry {
        self.entries.iter_mut().find(|entry| entry.id == id).unwrap()
    }

    pub(crate) fn without_entry(&mut self, id: &str) -> ProviderEntry {
        let place = self.entries.iter().position(|entry| entry.id == id).unwrap();
        self.entries.remove(place)
    }

    /// Changes what is paid out by what an entry more or less makes, so that the payout stays the sum of its entries.
    pub(crate) fn pay_out(&mut self, difference: i64) {
        self.payouts[0].amount_minor += difference;
        self.lines[0].amount_minor += difference;
        let own = self.entry("txn_po_1");
        own.gross_minor -= difference;
        own.net_minor -= difference;
    }

    /// What the provider has of a currency: every entry but payouts, less what was paid out.
    pub(crate) fn provider_balance(&self, currency: Currency) -> i128 {
        let mut ids = std::collections::BTreeSet::new();
        let mut own: Vec<_> = self.entries.iter().filter(|entry| entry.currency == currency).collect();
        own.sort();
        own.retain(|entry| entry.kind != EntryKind::Payout && ids.insert(entry.id.clone()));
        let nets: i128 = own.iter().map(|entry| i128::from(entry.net_minor)).sum();
        let came_back = |payout: &Payout| {
            own.iter().any(|entry| {
                entry.kind == EntryKind::PayoutReversal && entry.subject.as_ref() == Some(&payout.id)
            })
        };
        let left = self.payouts.iter().filter(|payout| match payout.status {
            PayoutStatus::InTransit | PayoutStatus::Paid | PayoutStatus::Failed => true,
            PayoutStatus::Canceled => came_back(payout),
            PayoutStatus::Pending => false,
        });
        let left = left.filter(|payout| payout.currency == currency);
        nets - left.map(|payout| i128::from(payout.amount_minor)).sum::<i128>()
    }

    /// `due_from_provider` is what the provider has, and what it has not booked yet; also where there are differences.
    pub(crate) fn check_books(&self, done: &Reconciliation, context: &str) {
        for currency in [Currency::USD, Currency::parse("EUR").unwrap()] {
            let own = self.expectations.iter().filter(|expectation| expectation.currency == currency);
            let in_cards: i128 = own.map(|expectation| i128::from(expectation.amount_minor)).sum();
            let due = in_cards + done.balance_of(SettlementAccount::DueFromProvider, currency);
            let remainders: i128 = done
                .payouts
                .iter()
                .filter(|payout| payout.currency == currency && payout.status != PayoutStatus::Canceled)
                .map(|payout| payout.remainder_minor)
                .sum();
            let has = self.provider_balance(currency) + remainders + done.timing_items(currency);
            assert_eq!(due, has, "{context} {currency}");
            let all: i128 =
                SettlementAccount::ALL.iter().map(|account| done.balance_of(*account, currency)).sum();
            assert_eq!(all, 0, "{context} {currency}");
        }
    }
}
