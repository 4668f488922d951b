//! NACHA files of returns (addenda 99) and notifications of change (addenda 98): lines of 94 columns.
//!
//! Batches and the file close with the number of entries and addenda, the sum of the receiving banks' numbers, and the sums
//! of debits and credits. A block is ten lines.

use crate::{
    ReturnFile, ReturnedEntry,
    amount::{in_range, short_date, shown, whole},
    fault::FaultList,
};

const COLUMNS: usize = 94;
const LINES_PER_BLOCK: i64 = 10;
/// Hashes keep their last ten digits.
const HASH_LIMIT: i64 = 10_000_000_000;

/// What a control record counts.
#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    records: i64,
    hash: i64,
    debits: i128,
    credits: i128,
    /// A number could not be read, so that sums would only repeat its fault.
    incomplete: bool,
}

impl Totals {
    fn absorb(&mut self, part: Self) {
        self.records = self.records.saturating_add(part.records);
        self.hash = self.hash.saturating_add(part.hash);
        self.debits = self.debits.saturating_add(part.debits);
        self.credits = self.credits.saturating_add(part.credits);
        self.incomplete |= part.incomplete;
    }

    fn check(self, line: Line<'_>, columns: [(usize, usize); 4], faults: &mut FaultList) {
        if self.incomplete {
            return;
        }
        let names = ["entry and addenda count", "entry hash", "total debits", "total credits"];
        let hash = self.hash.checked_rem(HASH_LIMIT).unwrap_or(0);
        let counted = [i128::from(self.records), i128::from(hash), self.debits, self.credits];
        for ((name, (from, to)), counted) in names.into_iter().zip(columns).zip(counted) {
            line.expect(name, from, to, counted, faults);
        }
    }
}

/// A record; columns are counted from 1, as the rules do.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn columns(self, from: usize, to: usize) -> &'a str {
        // Spaces at the end may have been cut off.
        let end = to.min(self.text.len());
        self.text.get(from.saturating_sub(1)..end).unwrap_or_default()
    }

    fn field(self, from: usize, to: usize) -> String {
        self.columns(from, to).trim().to_owned()
    }

    fn number(self, name: &str, from: usize, to: usize, faults: &mut FaultList) -> Option<i64> {
        let text = self.columns(from, to);
        let is_full = text.len() == (to + 1).saturating_sub(from);
        let short = || Err(format!("is not in columns {from} to {to}; download the file again"));
        faults.keep(self.number, name, if is_full { whole(text) } else { short() })
    }

    fn expect(self, name: &str, from: usize, to: usize, counted: i128, faults: &mut FaultList) {
        if let Some(given) = self.number(name, from, to, faults)
            && i128::from(given) != counted
        {
            faults.add(
                self.number,
                name,
                format!("is {given}, but the entries make {counted}; download the file again"),
            );
        }
    }
}

struct Batch<'a> {
    header: Line<'a>,
    totals: Totals,
    entry: Option<Entry<'a>>,
}

/// An entry whose addenda come next.
struct Entry<'a> {
    line: Line<'a>,
    amount: Option<i64>,
    is_credit: bool,
    has_addenda: bool,
}

#[derive(Default)]
struct File<'a> {
    header: Option<Line<'a>>,
    batch: Option<Batch<'a>>,
    batches: i64,
    totals: Totals,
    control: Option<Line<'a>>,
    returns: Vec<ReturnedEntry>,
}

pub(crate) fn read(text: &str, faults: &mut FaultList) -> ReturnFile {
    let mut file = File::default();
    let mut lines: i64 = 0;
    for (index, text) in text.lines().enumerate() {
        let line = Line { number: index + 1, text: text.strip_suffix('\r').unwrap_or(text) };
        if line.text.is_empty() {
            continue;
        }
        lines = lines.saturating_add(1);
        if line.text.len() > COLUMNS || !line.text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            faults.add(line.number, "record", "is not 94 columns of ASCII; ask for the file as it was sent");
            break;
        }
        if !file.take(line, faults) {
            let kind = shown(line.columns(1, 1));
            faults.add(
                line.number,
                "record",
                format!("a record {kind} is out of place; download the file again"),
            );
            break;
        }
    }
    file.finish(lines, faults)
}

impl<'a> File<'a> {
    /// False if the record is out of place.
    fn take(&mut self, line: Line<'a>, faults: &mut FaultList) -> bool {
        if self.control.is_some() {
            // Nines fill the last block.
            return line.text.len() == COLUMNS && line.text.bytes().all(|byte| byte == b'9');
        }
        match (line.columns(1, 1), self.header.is_some(), &mut self.batch) {
            ("1", false, None) => {
                if line.columns(35, 40) != "094101" {
                    faults.add(
                        line.number,
                        "format",
                        "is not 94 columns in blocks of 10; only this format is read",
                    );
                }
                self.header = Some(line);
            }
            ("5", true, None) => {
                if line.columns(51, 53) == "IAT" {
                    faults.add(line.number, "entry class", "IAT, international entries, are not read");
                }
                self.batch = Some(Batch { header: line, totals: Totals::default(), entry: None });
            }
            ("6", true, Some(batch)) => batch.entry(line, faults),
            ("7", true, Some(batch)) => return batch.addenda(line, &mut self.returns, faults),
            ("8", true, Some(batch)) => {
                batch.close(line, faults);
                self.totals.absorb(batch.totals);
                self.batches = self.batches.saturating_add(1);
                self.batch = None;
            }
            ("9", true, None) => self.control = Some(line),
            _ => return false,
        }
        true
    }

    fn finish(self, lines: i64, faults: &mut FaultList) -> ReturnFile {
        if let Some(control) = self.control {
            control.expect("batch count", 2, 7, i128::from(self.batches), faults);
            let blocks = lines.saturating_add(LINES_PER_BLOCK - 1).checked_div(LINES_PER_BLOCK).unwrap_or(0);
            control.expect("block count", 8, 13, i128::from(blocks), faults);
            self.totals.check(control, [(14, 21), (22, 31), (32, 43), (44, 55)], faults);
        } else {
            let last = usize::try_from(lines).unwrap_or(1);
            faults.add(last.max(1), "record", "the file ends without a file control (9); download it again");
        }
        let header = self.header.unwrap_or(Line { number: 1, text: "" });
        let created = faults.keep(header.number, "creation date", short_date(header.columns(24, 29)));
        let mut sum = |sum| faults.keep(header.number, "totals", in_range(sum)).unwrap_or(0);
        ReturnFile {
            debits_minor: sum(self.totals.debits),
            credits_minor: sum(self.totals.credits),
            origin: header.field(14, 23),
            created_on: created.unwrap_or_default(),
            returns: self.returns,
        }
    }
}

impl<'a> Batch<'a> {
    fn entry(&mut self, line: Line<'a>, faults: &mut FaultList) {
        self.require_addenda(faults);
        let code = line.columns(2, 3);
        let is_return =
            code.len() == 2 && code.starts_with(['2', '3', '4', '5']) && code.ends_with(['1', '6']);
        if !is_return {
            let message =
                format!("`{code}` is not the code of a return, such as 21 or 26; send a file of returns");
            faults.add(line.number, "transaction code", message);
        }
        let bank = line.number("receiving bank", 4, 11, faults);
        let amount = line.number("amount", 30, 39, faults);
        let is_credit = code.ends_with('1');
        let part = i128::from(amount.unwrap_or(0));
        self.totals.absorb(Totals {
            records: 1,
            hash: bank.unwrap_or(0),
            debits: if is_credit { 0 } else { part },
            credits: if is_credit { part } else { 0 },
            incomplete: amount.is_none() || bank.is_none() || !is_return,
        });
        self.entry = Some(Entry { line, amount, is_credit, has_addenda: false });
    }

    /// False where no entry precedes it.
    fn addenda(&mut self, line: Line<'a>, returns: &mut Vec<ReturnedEntry>, faults: &mut FaultList) -> bool {
        let Some(entry) = &mut self.entry else { return false };
        self.totals.records = self.totals.records.saturating_add(1);
        let (kind, code) = (line.columns(2, 3), line.columns(4, 6));
        let letter = match kind {
            "99" => 'R',
            "98" => 'C',
            // What the original entry carried along.
            "02" | "05" => return true,
            _ => {
                let message =
                    format!("addenda `{kind}` is neither a return (99) nor a notification of change (98)");
                faults.add(line.number, "addenda type", message);
                return true;
            }
        };
        let digits = code.strip_prefix(letter).filter(|digits| digits.len() == 2);
        if !digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
            let message = format!("`{code}` is not {letter} and two digits; download the file again");
            faults.add(line.number, "reason code", message);
        }
        if std::mem::replace(&mut entry.has_addenda, true) {
            faults.add(line.number, "addenda", "is a second reason for one entry; ask the bank");
        }
        let trace = entry.line.columns(80, 94);
        // Notifications of change have traces of their own.
        if kind == "99" && trace != line.columns(80, 94) {
            faults.add(line.number, "trace number", "is not that of its entry; download the file again");
        }
        let original = line.number("original trace number", 7, 21, faults);
        let (Some(amount_minor), Some(_)) = (entry.amount, original) else { return true };
        returns.push(ReturnedEntry {
            line: entry.line.number,
            code: code.to_owned(),
            original_trace: line.field(7, 21),
            trace: trace.to_owned(),
            amount_minor,
            is_credit: entry.is_credit,
            company_id: self.header.field(41, 50),
            individual_id: entry.line.field(40, 54),
            information: line.field(36, 79),
        });
        true
    }

    fn require_addenda(&mut self, faults: &mut FaultList) {
        if let Some(entry) = self.entry.take()
            && !entry.has_addenda
        {
            let message = "has no reason (addenda 98 or 99), so it is no return; send a file of returns";
            faults.add(entry.line.number, "addenda", message);
        }
    }

    fn close(&mut self, line: Line<'a>, faults: &mut FaultList) {
        self.require_addenda(faults);
        self.totals.check(line, [(5, 10), (11, 20), (21, 32), (33, 44)], faults);
        for (name, of_header, of_control) in [
            ("company identification", (41, 50), (45, 54)),
            ("originating bank", (80, 87), (80, 87)),
            ("batch number", (88, 94), (88, 94)),
        ] {
            if self.header.field(of_header.0, of_header.1) != line.field(of_control.0, of_control.1) {
                faults.add(line.number, name, "is not that of the batch's header; download the file again");
            }
        }
    }
}
