//! Statements and returns drawn from a seed.

use std::hash::{BuildHasher, RandomState};

use jiff::{ToSpan, civil::date};
use tollgate_bank_files::{Balances, BankStatement, ReturnFile, ReturnedEntry, StatementLine};
use tollgate_domain::Currency;

/// SplitMix64: every seed gives a run that any machine repeats.
pub(crate) struct Draw(u64);

impl Draw {
    /// `TOLLGATE_BANK_FILE_SEED` replays a run from the seed it printed.
    pub(crate) fn announced() -> Self {
        let seed = std::env::var("TOLLGATE_BANK_FILE_SEED")
            .map_or_else(|_| RandomState::new().hash_one("seed"), |text| text.parse().unwrap());
        println!("TOLLGATE_BANK_FILE_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    pub(crate) fn of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    pub(crate) fn digits(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b'0' + self.below(10) as u8)).collect()
    }

    fn amount(&mut self) -> i64 {
        let bound = self.of(&[1, 100, 10_000, 100_000_000]);
        1 + self.below(bound) as i64
    }

    fn text(&mut self) -> String {
        let words = ["PAYOUT", "A/B", "x,y", "R&D", "<b>", "\"q\"", "é", "EREF:", "16", "a//b", "-", "]]>"];
        let words: Vec<_> = (0..self.below(5)).map(|_| self.of(&words)).collect();
        words.join(" ").trim_end_matches('/').trim().to_owned()
    }

    /// A statement of the first days of 2026 that adds up.
    pub(crate) fn statement(&mut self, account: usize) -> BankStatement {
        let currency = Currency::parse(self.of(&["USD", "EUR", "JPY", "KWD"])).unwrap();
        let dated = date(2026, 1, 1) + (self.below(300) as i64).days();
        let opening = self.amount() - 5_000;
        let lines: Vec<_> = (0..self.below(8)).map(|_| self.line(dated)).collect();
        let closing = opening + lines.iter().map(|line| line.amount_minor).sum::<i64>();
        BankStatement {
            line: 0,
            account: format!("{account}{}", self.digits(6)),
            reference: None,
            currency,
            dated,
            balances: Some(Balances { opening_minor: opening, closing_minor: closing }),
            is_correction: false,
            lines,
        }
    }

    fn line(&mut self, booked_on: jiff::civil::Date) -> StatementLine {
        let is_credit = self.percent(50);
        let amount = self.amount();
        StatementLine {
            line: 0,
            amount_minor: if is_credit { amount } else { -amount },
            booked_on,
            value_on: self.percent(50).then(|| booked_on + (self.below(3) as i64).days()),
            code: self.of(if is_credit { &["142", "165", "195"] } else { &["451", "455", "698"] }).to_owned(),
            bank_reference: self.percent(50).then(|| format!("BR{}", self.digits(5))),
            references: if self.percent(70) { vec![format!("E2E-{}", self.digits(4))] } else { Vec::new() },
            text: self.text(),
            is_reversal: false,
        }
    }

    pub(crate) fn returns(&mut self) -> ReturnFile {
        let returns: Vec<_> = (0..=self.below(6)).map(|_| self.returned()).collect();
        let sum = |is_credit| {
            let of_side = returns.iter().filter(|entry| entry.is_credit == is_credit);
            of_side.map(|entry| entry.amount_minor).sum()
        };
        ReturnFile {
            origin: self.digits(9),
            created_on: date(2026, 3, 2),
            debits_minor: sum(false),
            credits_minor: sum(true),
            returns,
        }
    }

    fn returned(&mut self) -> ReturnedEntry {
        ReturnedEntry {
            line: 0,
            code: self.of(&["R01", "R03", "R29"]).to_owned(),
            original_trace: self.digits(15),
            trace: self.digits(15),
            amount_minor: self.amount(),
            is_credit: self.percent(50),
            company_id: self.digits(9),
            individual_id: format!("ID{}", self.digits(6)),
            information: self.of(&["", "NO SUCH ACCOUNT"]).to_owned(),
        }
    }
}
