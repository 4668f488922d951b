//! CSV of a bank, read by a mapping that says what its columns are. Only a running balance lets a CSV file check itself.

mod mapping;
mod rows;

use std::collections::{BTreeMap, btree_map::Entry};

use jiff::civil::Date;
use tollgate_domain::Currency;

use crate::{
    Balances, BankStatement, StatementLine,
    amount::{decimal, decimal_sum, minor, shown},
    fault::FaultList,
};
use mapping::{Amounts, Source};
pub use mapping::{CsvMapping, InvalidMapping};
use rows::{Row, rows};

pub(crate) fn read(text: &str, mapping: &CsvMapping, faults: &mut FaultList) -> Vec<BankStatement> {
    let Some(mut rows) = rows(text, mapping.delimiter, faults) else { return Vec::new() };
    if rows.is_empty() {
        return Vec::new();
    }
    let head = rows.remove(0);
    let Some(columns) = Columns::find(&head, mapping, faults) else { return Vec::new() };
    if mapping.newest_first {
        rows.reverse();
    }
    let mut statements = BTreeMap::new();
    for row in &rows {
        if row.cells.len() != head.cells.len() {
            let message = format!(
                "has {} cells, the head has {}; export the file again",
                row.cells.len(),
                head.cells.len()
            );
            faults.add(row.line, "row", message);
            continue;
        }
        if let Some(read) = columns.read(row, mapping, faults) {
            add(&mut statements, read, faults);
        }
    }
    if rows.is_empty() {
        faults.add(head.line, "row", "there are no movements below the head; choose other days");
    }
    statements.into_values().collect()
}

/// A row and the account it belongs to.
struct ReadRow {
    account: String,
    currency: Currency,
    balance: Option<i64>,
    line: StatementLine,
}

fn add(statements: &mut BTreeMap<(String, Currency), BankStatement>, read: ReadRow, faults: &mut FaultList) {
    let ReadRow { account, currency, balance, line } = read;
    let statement = match statements.entry((account, currency)) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            let opening_minor = balance.and_then(|balance| balance.checked_sub(line.amount_minor));
            let both = opening_minor.zip(balance);
            let statement = BankStatement {
                line: line.line,
                account: entry.key().0.clone(),
                reference: None,
                currency,
                dated: line.booked_on,
                balances: both
                    .map(|(opening_minor, closing_minor)| Balances { opening_minor, closing_minor }),
                is_correction: false,
                lines: vec![line],
            };
            entry.insert(statement);
            return;
        }
    };
    if let (Some(balances), Some(balance)) = (&mut statement.balances, balance) {
        let sum = i128::from(balances.closing_minor).saturating_add(i128::from(line.amount_minor));
        if sum != i128::from(balance) {
            let message = format!(
                "is {}, but the balance before and the amount make {}; check the order and export the file again",
                decimal(balance, currency),
                decimal_sum(sum, currency)
            );
            faults.add(line.line, "balance", message);
        }
        balances.closing_minor = balance;
    }
    statement.dated = statement.dated.max(line.booked_on);
    statement.lines.push(line);
}

/// Where each column is.
struct Columns {
    account: Option<usize>,
    currency: Option<usize>,
    booked_on: usize,
    value_on: Option<usize>,
    amounts: [Option<usize>; 2],
    balance: Option<usize>,
    code: Option<usize>,
    references: Vec<usize>,
    texts: Vec<usize>,
}

impl Columns {
    fn find(head: &Row, mapping: &CsvMapping, faults: &mut FaultList) -> Option<Self> {
        let mut complete = true;
        let mut find = |name: &String| {
            let mut places = head.cells.iter().enumerate().filter(|(_, cell)| cell.trim() == name);
            let place = places.next().map(|(place, _)| place);
            if place.is_none() || places.next().is_some() {
                complete = false;
                let message =
                    format!("the head must have the column `{}` once; correct the mapping", shown(name));
                faults.add(head.line, "head", message);
            }
            place
        };
        let of_source = |source: &Source, find: &mut dyn FnMut(&String) -> Option<usize>| match source {
            Source::Fixed(_) => None,
            Source::Column(name) => find(name),
        };
        let columns = Self {
            account: of_source(&mapping.account, &mut find),
            currency: of_source(&mapping.currency, &mut find),
            booked_on: find(&mapping.booked_on).unwrap_or_default(),
            value_on: mapping.value_on.as_ref().and_then(&mut find),
            amounts: match &mapping.amounts {
                Amounts::Signed(name) => [find(name), None],
                Amounts::Sides { credit, debit } => [find(credit), find(debit)],
            },
            balance: mapping.balance.as_ref().and_then(&mut find),
            code: mapping.code.as_ref().and_then(&mut find),
            references: mapping.references.iter().filter_map(&mut find).collect(),
            texts: mapping.texts.iter().filter_map(&mut find).collect(),
        };
        complete.then_some(columns)
    }

    fn read(&self, row: &Row, mapping: &CsvMapping, faults: &mut FaultList) -> Option<ReadRow> {
        let cell = |place: Option<usize>| {
            place.and_then(|place| row.cells.get(place)).map_or("", |cell| cell.trim())
        };
        let filled = |place: Option<usize>| Some(cell(place).to_owned()).filter(|text| !text.is_empty());
        let texts =
            |places: &[usize]| places.iter().filter_map(|place| filled(Some(*place))).collect::<Vec<_>>();
        let code = fixed_or(&mapping.currency, cell(self.currency));
        let Some(currency) = Currency::parse(code) else {
            let message = format!("`{}` is not an active ISO 4217 code; correct the mapping", shown(code));
            faults.add(row.line, "currency", message);
            return None;
        };
        let amount = |text: &str| signed_minor(text, mapping, currency);
        let booked_on = faults.keep(row.line, "booked_on", mapping.date(cell(Some(self.booked_on))));
        let value_on =
            filled(self.value_on).and_then(|day| faults.keep(row.line, "value_on", mapping.date(&day)));
        let moved = match self.amounts {
            [place, None] => amount(cell(place)),
            [credit, debit] => sides(cell(credit), cell(debit), amount),
        };
        let moved = faults.keep(row.line, "amount", moved);
        let balance = match self.balance {
            None => None,
            place => Some(faults.keep(row.line, "balance", amount(cell(place)))?),
        };
        let account = fixed_or(&mapping.account, cell(self.account));
        if account.is_empty() {
            faults.add(row.line, "account", "is empty; correct the mapping");
        }
        let (booked_on, amount_minor): (Date, i64) = (booked_on?, moved?);
        let line = StatementLine {
            line: row.line,
            amount_minor,
            booked_on,
            value_on,
            code: cell(self.code).to_owned(),
            bank_reference: None,
            references: texts(&self.references),
            text: texts(&self.texts).join(" "),
            is_reversal: false,
        };
        Some(ReadRow { account: account.to_owned(), currency, balance, line })
    }
}

fn fixed_or<'a>(source: &'a Source, cell: &'a str) -> &'a str {
    match source {
        Source::Fixed(text) => text,
        Source::Column(_) => cell,
    }
}

/// One of two columns is filled. What stands in the column of debits leaves the account, with a minus before it or without.
fn sides(credit: &str, debit: &str, amount: impl Fn(&str) -> Result<i64, String>) -> Result<i64, String> {
    match (credit.is_empty(), debit.is_empty()) {
        (false, true) => amount(credit).and_then(|amount| {
            if amount < 0 { Err("a credit is negative; correct the mapping".to_owned()) } else { Ok(amount) }
        }),
        (true, false) => amount(debit).map(|amount| -amount.abs()),
        _ => Err("either a credit or a debit is needed, and only one of them".to_owned()),
    }
}

fn signed_minor(text: &str, mapping: &CsvMapping, currency: Currency) -> Result<i64, String> {
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => (-1, number),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = mapping.plain_number(number)?;
    minor(&number, currency).map(|minor| sign * minor)
}
