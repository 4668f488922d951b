//! What banks send, read strictly: statements in BAI2, camt.053 (versions 02 and 08) and CSV, and NACHA files of ACH returns.
//!
//! A file is read whole or not at all. Whatever a format offers to check itself with is checked: control totals, record
//! counts, entry hashes, summaries, and that the opening balance and the lines add up to the closing one. Every fault
//! has its line, its field and what to do. Amounts are whole minor units of a currency that is named; no number passes
//! through a float.
//!
//! Nothing here does IO or keeps state. Bytes come in, a [`BankFile`] or a list of [`Fault`]s goes out. The XML reader
//! knows no document types and no entities but the five of XML itself, and nests to a fixed depth.

mod amount;
mod bai2;
mod camt053;
mod csv;
mod fault;
mod nacha;
mod xml;

use jiff::civil::Date;
use tollgate_domain::Currency;

pub use csv::{CsvMapping, InvalidMapping};
pub use fault::Fault;
use fault::FaultList;

/// The largest file that is read.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The formats, by the names that the command line and the API use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Bai2,
    Camt053,
    Csv,
    Nacha,
}

impl Format {
    pub const ALL: [Self; 4] = [Self::Bai2, Self::Camt053, Self::Csv, Self::Nacha];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bai2 => "bai2",
            Self::Camt053 => "camt053",
            Self::Csv => "csv",
            Self::Nacha => "nacha",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == text)
    }

    /// The format that a file begins like. CSV begins like nothing in particular, so it is never recognized.
    pub fn recognize(bytes: &[u8]) -> Option<Self> {
        let start = bytes.trim_ascii_start();
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        if start.starts_with(b"<") {
            Some(Self::Camt053)
        } else if start.starts_with(b"01,") {
            Some(Self::Bai2)
        } else if start.starts_with(b"101 ") {
            Some(Self::Nacha)
        } else {
            None
        }
    }
}

/// A file that was read and agrees with itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BankFile {
    Statements(Vec<BankStatement>),
    Returns(ReturnFile),
}

/// One account in one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankStatement {
    /// The line of the file on which it begins.
    pub line: usize,
    /// The account's number or IBAN, as the bank writes it.
    pub account: String,
    /// The bank's own number or name for the statement; of BAI2 the file's.
    pub reference: Option<String>,
    pub currency: Currency,
    /// The last day it covers.
    pub dated: Date,
    /// `None` where the file does not state both, so that one cannot prove the other.
    pub balances: Option<Balances>,
    /// It replaces what the bank sent for this account and day before.
    pub is_correction: bool,
    pub lines: Vec<StatementLine>,
}

/// The booked balances before the first line and after the last, in minor units. The lines lead from one to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balances {
    pub opening_minor: i64,
    pub closing_minor: i64,
}

impl Balances {
    /// Whether the lines lead from one to the other; otherwise what they lead to.
    fn check(self, lines: &[StatementLine]) -> Result<(), i128> {
        let moved: i128 = lines.iter().map(|line| i128::from(line.amount_minor)).sum();
        let sum = moved.saturating_add(i128::from(self.opening_minor));
        if sum == i128::from(self.closing_minor) { Ok(()) } else { Err(sum) }
    }
}

/// One movement on an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementLine {
    /// The line of the file on which it begins.
    pub line: usize,
    /// In minor units of the statement's currency; negative leaves the account.
    pub amount_minor: i64,
    pub booked_on: Date,
    pub value_on: Option<Date>,
    /// The bank's code for the kind of movement.
    pub code: String,
    /// The bank's own reference.
    pub bank_reference: Option<String>,
    /// What the parties call it: end-to-end ids, traces, customer references.
    pub references: Vec<String>,
    pub text: String,
    /// It takes an earlier movement back.
    pub is_reversal: bool,
}

impl BankStatement {
    /// What came in and what went out, both positive. `None` past 64 bits, which no statement that was read reaches.
    pub fn totals(&self) -> Option<(i64, i64)> {
        self.lines.iter().try_fold((0_i64, 0_i64), |(credits, debits), line| match line.amount_minor {
            amount @ 0.. => Some((credits.checked_add(amount)?, debits)),
            amount => Some((credits, debits.checked_add(amount.checked_neg()?)?)),
        })
    }
}

/// ACH entries that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnFile {
    /// Who sent the file, as its header says.
    pub origin: String,
    pub created_on: Date,
    pub returns: Vec<ReturnedEntry>,
    /// Returned debits in all, in cents.
    pub debits_minor: i64,
    /// Returned credits in all, in cents.
    pub credits_minor: i64,
}

/// An entry that came back, or a notification of change, which moves no money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedEntry {
    /// The line of the file on which it begins.
    pub line: usize,
    /// `R01`, or `C01` of a notification of change.
    pub code: String,
    pub original_trace: String,
    pub trace: String,
    pub amount_minor: i64,
    /// Whether the original entry was a credit: money that was sent and comes back.
    pub is_credit: bool,
    /// The company that sent the original batch.
    pub company_id: String,
    /// What the sender named the entry.
    pub individual_id: String,
    /// The reason in words, or the corrected data.
    pub information: String,
}

/// Reads a file of a format. CSV needs a mapping, the others have none.
pub fn read(bytes: &[u8], format: Format, mapping: Option<&CsvMapping>) -> Result<BankFile, Vec<Fault>> {
    let text = text_of(bytes).map_err(|fault| vec![fault])?;
    let mut faults = FaultList::default();
    let file = match (format, mapping) {
        (Format::Bai2, _) => BankFile::Statements(bai2::read(text, &mut faults)),
        (Format::Camt053, _) => BankFile::Statements(camt053::read(text, &mut faults)),
        (Format::Nacha, _) => BankFile::Returns(nacha::read(text, &mut faults)),
        (Format::Csv, Some(mapping)) => BankFile::Statements(csv::read(text, mapping, &mut faults)),
        (Format::Csv, None) => {
            faults.add(1, "mapping", "CSV says nothing about its columns; give a mapping");
            BankFile::Statements(Vec::new())
        }
    };
    faults.finish(file)
}

fn text_of(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::new(1, "file", "is larger than 16 MiB; ask the bank for smaller files"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = valid.split(|byte| *byte == b'\n').count();
        Fault::new(line, "file", "is not UTF-8; convert it or ask the bank for UTF-8")
    })?;
    if text.trim().is_empty() {
        return Err(Fault::new(1, "file", "is empty; download it again"));
    }
    Ok(text)
}
