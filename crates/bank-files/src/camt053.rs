//! camt.053, versions 02 and 08: the statement of ISO 20022. Only booked entries are lines.

mod entry;

use std::collections::BTreeMap;

use jiff::civil::Date;
use tollgate_domain::Currency;

use crate::{
    Balances, BankStatement, StatementLine,
    amount::{decimal, decimal_sum, iso_date, minor, shown, whole},
    fault::{Fault, FaultList},
    xml::{Element, Event, Reader, Tag},
};

const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:";
const VERSIONS: [&str; 2] = ["camt.053.001.02", "camt.053.001.08"];

pub(crate) fn read(text: &str, faults: &mut FaultList) -> Vec<BankStatement> {
    match read_message(text, faults) {
        Ok(statements) => {
            check_sequences(&statements, faults);
            statements.into_iter().filter_map(|read| read.statement).collect()
        }
        Err(fault) => {
            faults.push(fault);
            Vec::new()
        }
    }
}

/// A statement and its number in the sequence of its account.
struct ReadStatement {
    sequence: Option<i64>,
    statement: Option<BankStatement>,
}

fn read_message(text: &str, faults: &mut FaultList) -> Result<Vec<ReadStatement>, Fault> {
    let mut reader = Reader::new(text);
    let mut statements = Vec::new();
    while let Some(event) = reader.next()? {
        let Event::Start(tag) = event else { continue };
        match (reader.depth(), tag.name) {
            (1, "Document") => check_version(&tag)?,
            (2, "BkToCstmrStmt") => {}
            (3, "Stmt") => statements.push(statement(&mut reader, tag.line, faults)?),
            (3, _) => {
                reader.element(tag)?;
            }
            _ => {
                let message =
                    format!("`{}` is not a part of a camt.053 message; send another file", shown(tag.name));
                return Err(Fault::new(tag.line, "Document", message));
            }
        }
    }
    if statements.is_empty() {
        return Err(Fault::new(reader.line(), "Stmt", "the message has no statement; ask the bank"));
    }
    Ok(statements)
}

fn check_version(tag: &Tag<'_>) -> Result<(), Fault> {
    let version = tag.attributes().find_map(|(_, value)| value.strip_prefix(NAMESPACE));
    if version.is_some_and(|version| VERSIONS.contains(&version)) {
        return Ok(());
    }
    let message = format!(
        "is `{}`; only {} are read: ask the bank for one of them",
        shown(version.unwrap_or("no message of ISO 20022")),
        VERSIONS.join(" and ")
    );
    Err(Fault::new(tag.line, "Document", message))
}

/// What a statement says before and between its entries.
#[derive(Default)]
struct Statement {
    line: usize,
    id: Option<String>,
    sequence: Option<i64>,
    account: Option<String>,
    currency: Option<Currency>,
    dated: Option<Date>,
    opening: Option<Balance>,
    closing: Option<Balance>,
    summary: Vec<SummaryLine>,
    lines: Vec<StatementLine>,
    entries: Entries,
}

struct Balance {
    /// A booked balance goes before one within the day.
    is_final: bool,
    amount: i64,
}

/// Every entry, also those that are not booked, by number and sum: what a summary counts.
#[derive(Default, Clone, Copy)]
struct Entries {
    credits: (i64, i128),
    debits: (i64, i128),
    /// An entry could not be read, so that sums would only repeat its fault.
    incomplete: bool,
}

struct SummaryLine {
    line: usize,
    name: &'static str,
    number: Option<i64>,
    sum: Option<i64>,
}

fn statement(reader: &mut Reader<'_>, line: usize, faults: &mut FaultList) -> Result<ReadStatement, Fault> {
    let mut statement = Statement { line, ..Statement::default() };
    loop {
        match reader.next()? {
            Some(Event::Start(tag)) => {
                let element = reader.element(tag)?;
                statement.take(&element, faults);
            }
            Some(Event::End) | None => break,
            Some(Event::Text(_)) => {}
        }
    }
    let sequence = statement.sequence;
    Ok(ReadStatement { sequence, statement: statement.finish(faults) })
}

impl Statement {
    fn take(&mut self, element: &Element<'_>, faults: &mut FaultList) {
        match element.name {
            "Id" => self.id = Some(element.text().to_owned()),
            "ElctrncSeqNb" => {
                self.sequence = faults.keep(element.line, "ElctrncSeqNb", whole(element.text()));
            }
            "CreDtTm" if self.dated.is_none() => {
                self.dated = faults.keep(element.line, "CreDtTm", iso_date(element.text()));
            }
            "FrToDt" => {
                let end = element.text_at(&["ToDtTm"]);
                self.dated =
                    end.and_then(|end| faults.keep(element.line, "ToDtTm", iso_date(end))).or(self.dated);
            }
            "Acct" => self.account(element, faults),
            "Bal" => self.balance(element, faults),
            "TxsSummry" => self.summary(element, faults),
            "Ntry" => self.entry(element, faults),
            _ => {}
        }
    }

    fn account(&mut self, element: &Element<'_>, faults: &mut FaultList) {
        let number = element.text_at(&["Id", "IBAN"]).or_else(|| element.text_at(&["Id", "Othr", "Id"]));
        self.account = number.map(str::to_owned);
        if let Some(code) = element.text_at(&["Ccy"]) {
            let unknown = || format!("`{}` is not an active ISO 4217 code; ask the bank", shown(code));
            self.currency = faults.keep(element.line, "Ccy", Currency::parse(code).ok_or_else(unknown));
        }
    }

    fn balance(&mut self, element: &Element<'_>, faults: &mut FaultList) {
        let code = element.text_at(&["Tp", "CdOrPrtry", "Cd"]).unwrap_or_default();
        let (is_opening, is_final) = match code {
            "OPBD" | "PRCD" => (true, true),
            "CLBD" => (false, true),
            // The first is where a page begins, the last where it ends.
            "ITBD" => (self.opening.is_none(), false),
            _ => return,
        };
        let Some(amount) = self.amount(element, faults) else { return };
        let side = if is_opening { &mut self.opening } else { &mut self.closing };
        let repeats_final = side.as_ref().is_some_and(|balance| balance.is_final);
        if repeats_final && is_final && side.as_ref().is_some_and(|balance| balance.amount != amount) {
            faults.add(
                element.line,
                "Bal",
                format!("{code} is given twice with other amounts; ask the bank"),
            );
        }
        if !repeats_final {
            *side = Some(Balance { is_final, amount });
        }
    }

    /// The signed amount of a balance or an entry, in the statement's currency.
    fn amount(&mut self, element: &Element<'_>, faults: &mut FaultList) -> Option<i64> {
        let Some(amount) = element.at(&["Amt"]) else {
            faults.add(element.line, "Amt", "is missing; ask the bank");
            return None;
        };
        let code = amount.attribute("Ccy").unwrap_or_default();
        let Some(currency) = Currency::parse(code) else {
            let message = format!("`{}` is not an active ISO 4217 code; ask the bank", shown(code));
            faults.add(amount.line, "Ccy", message);
            return None;
        };
        let own = *self.currency.get_or_insert(currency);
        if own != currency {
            faults.add(amount.line, "Ccy", format!("is {currency} in a statement of {own}; ask the bank"));
            return None;
        }
        let minor = faults.keep(amount.line, "Amt", minor(amount.text(), currency))?;
        match element.text_at(&["CdtDbtInd"]) {
            Some("CRDT") => Some(minor),
            Some("DBIT") => Some(-minor),
            _ => {
                faults.add(element.line, "CdtDbtInd", "is neither CRDT nor DBIT; ask the bank");
                None
            }
        }
    }

    fn summary(&mut self, element: &Element<'_>, faults: &mut FaultList) {
        for name in ["TtlNtries", "TtlCdtNtries", "TtlDbtNtries"] {
            let Some(total) = element.at(&[name]) else { continue };
            let number = total.text_at(&["NbOfNtries"]);
            let number = number.and_then(|number| faults.keep(total.line, name, whole(number)));
            let sum = total.text_at(&["Sum"]).zip(self.currency);
            let sum = sum.and_then(|(sum, currency)| faults.keep(total.line, name, minor(sum, currency)));
            self.summary.push(SummaryLine { line: total.line, name, number, sum });
        }
    }

    fn finish(self, faults: &mut FaultList) -> Option<BankStatement> {
        self.check_summary(faults);
        if self.account.is_none() {
            faults.add(self.line, "Acct", "has neither an IBAN nor another number; ask the bank");
        }
        let mut balance = |side: &Option<Balance>, name: &str| {
            if side.is_none() {
                let message = format!("{name} is missing, so the entries cannot be verified; ask the bank");
                faults.add(self.line, "Bal", message);
            }
            side.as_ref().map(|balance| balance.amount)
        };
        let opening = balance(&self.opening, "the opening balance (OPBD or PRCD)");
        let closing = balance(&self.closing, "the closing balance (CLBD)");
        let currency = self.currency?;
        let balances = opening.zip(closing);
        let balances =
            balances.map(|(opening_minor, closing_minor)| Balances { opening_minor, closing_minor });
        if let (Some(balances), false) = (balances, self.entries.incomplete)
            && let Err(sum) = balances.check(&self.lines)
        {
            let message = format!(
                "the closing balance is {}, but the opening balance and the entries make {}; download the file again",
                decimal(balances.closing_minor, currency),
                decimal_sum(sum, currency)
            );
            faults.add(self.line, "Bal", message);
        }
        let Some(dated) = self.dated else {
            faults.add(self.line, "CreDtTm", "is missing; ask the bank");
            return None;
        };
        Some(BankStatement {
            line: self.line,
            account: self.account?,
            reference: self.id,
            currency,
            dated,
            balances,
            is_correction: false,
            lines: self.lines,
        })
    }

    fn check_summary(&self, faults: &mut FaultList) {
        if self.entries.incomplete {
            return;
        }
        let Entries { credits, debits, .. } = self.entries;
        for summary in &self.summary {
            let (number, sum) = match summary.name {
                "TtlCdtNtries" => credits,
                "TtlDbtNtries" => debits,
                _ => (credits.0.saturating_add(debits.0), credits.1.saturating_add(debits.1)),
            };
            if summary.number.is_some_and(|given| given != number) {
                let message =
                    format!("NbOfNtries does not agree with the {number} entries; download the file again");
                faults.add(summary.line, summary.name, message);
            }
            if summary.sum.is_some_and(|given| i128::from(given) != sum) {
                let sum = self.currency.map(|currency| decimal_sum(sum, currency)).unwrap_or_default();
                let message =
                    format!("Sum does not agree with the entries, which make {sum}; download the file again");
                faults.add(summary.line, summary.name, message);
            }
        }
    }
}

/// Statements of one account in one message follow one another.
fn check_sequences(statements: &[ReadStatement], faults: &mut FaultList) {
    let mut latest = BTreeMap::new();
    for read in statements {
        let Some(statement) = &read.statement else { continue };
        let before = latest.insert((&statement.account, statement.currency), (read.sequence, statement));
        let Some((earlier, before)) = before else { continue };
        let (Some(from), Some(to)) = (earlier, read.sequence) else { continue };
        if from.checked_add(1) != Some(to) {
            let message =
                format!("{to} follows {from} of the same account; ask the bank for the statements between");
            faults.add(statement.line, "ElctrncSeqNb", message);
        } else if !follows(before, statement) {
            let message =
                "does not begin with the balance the statement before ended with; download the file again";
            faults.add(statement.line, "Bal", message);
        }
    }
}

fn follows(before: &BankStatement, after: &BankStatement) -> bool {
    let balances = before.balances.zip(after.balances);
    balances.is_none_or(|(before, after)| before.closing_minor == after.opening_minor)
}
