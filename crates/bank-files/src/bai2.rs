//! BAI2, version 2: files of groups of accounts, each closed by a record with the sum and the number of what it closes.
//!
//! A control total adds up every amount in records 03 and 16 as it is written: details have no sign, so debits are added,
//! too. Whether a detail is money in or out is in its type code.

mod records;

use jiff::civil::Date;
use tollgate_domain::Currency;

use crate::{
    Balances, BankStatement, StatementLine,
    amount::{decimal, decimal_sum, short_date, shown, signed_whole, whole},
    fault::FaultList,
};
use records::{Fields, Record, Records};

/// The sum and the number of records of a file, a group or an account so far. The sum is unknown after an amount that could
/// not be read, which is a fault already.
#[derive(Debug, Default)]
struct Tally {
    line: usize,
    parts: i64,
    records: i64,
    sum: Option<i128>,
}

impl Tally {
    fn new(record: &Record<'_>) -> Self {
        Self { line: record.line, parts: 0, records: record.count, sum: Some(0) }
    }

    fn add(&mut self, amount: Option<i64>) {
        self.sum = self.sum.zip(amount).map(|(sum, amount)| sum.saturating_add(i128::from(amount)));
    }

    fn absorb(&mut self, part: &Self) {
        self.parts = self.parts.saturating_add(1);
        self.records = self.records.saturating_add(part.records);
        self.sum = self.sum.zip(part.sum).map(|(sum, part)| sum.saturating_add(part));
    }

    /// Compares with the record that closes it; `parts` is what the middle number of 98 and 99 counts.
    fn close(&mut self, record: &Record<'_>, parts: Option<&str>, faults: &mut FaultList) {
        self.records = self.records.saturating_add(record.count);
        let mut fields = record.fields();
        let sum = faults.keep(record.line, "control total", signed_whole(fields.next()));
        if let (Some(given), Some(sum)) = (sum, self.sum)
            && i128::from(given) != sum
        {
            let message = format!("is {given}, but the amounts add up to {sum}; download the file again");
            faults.add(record.line, "control total", message);
        }
        if let Some(name) = parts {
            expect(&mut fields, record.line, name, self.parts, faults);
        }
        expect(&mut fields, record.line, "number of records", self.records, faults);
    }
}

fn expect(fields: &mut Fields<'_>, line: usize, name: &str, counted: i64, faults: &mut FaultList) {
    if let Some(given) = faults.keep(line, name, whole(fields.next()))
        && given != counted
    {
        faults.add(line, name, format!("is {given}, but there are {counted}; download the file again"));
    }
}

struct Group {
    tally: Tally,
    as_of: Option<Date>,
    currency: Option<Currency>,
    is_correction: bool,
}

struct Account {
    tally: Tally,
    number: String,
    currency: Option<Currency>,
    opening: Option<i64>,
    closing: Option<i64>,
    lines: Vec<StatementLine>,
    /// A detail could not be read, so that the balance would only repeat its fault.
    incomplete: bool,
}

#[derive(Default)]
struct File {
    tally: Option<Tally>,
    reference: Option<String>,
    group: Option<Group>,
    account: Option<Account>,
    is_closed: bool,
    statements: Vec<BankStatement>,
}

pub(crate) fn read(text: &str, faults: &mut FaultList) -> Vec<BankStatement> {
    let mut file = File::default();
    let mut last_line = 1;
    let mut records = Records::new(text);
    for record in records.by_ref() {
        last_line = record.line;
        if file.is_closed {
            faults.add(record.line, "record", "follows the end of the file (99); send one file at a time");
            break;
        }
        if !file.take(&record, faults) {
            // What follows would only repeat this fault.
            return Vec::new();
        }
    }
    if let Some(fault) = records.fault {
        faults.push(fault);
    } else if !file.is_closed {
        faults.add(last_line, "record", "the file ends without a file trailer (99); download it again");
    }
    file.statements
}

impl File {
    /// False if the record is out of place.
    fn take(&mut self, record: &Record<'_>, faults: &mut FaultList) -> bool {
        let is_in_place = match record.code {
            "01" => self.tally.is_none(),
            "02" | "99" => self.tally.is_some() && self.group.is_none(),
            "03" | "98" => self.group.is_some() && self.account.is_none(),
            _ => self.account.is_some(),
        };
        if !is_in_place {
            faults.add(
                record.line,
                "record",
                format!("a record {} is out of place; download it again", record.code),
            );
            return false;
        }
        match record.code {
            "01" => self.begin(record, faults),
            "02" => self.group = Some(group(record, faults)),
            "03" => {
                let currency = self.group.as_ref().and_then(|group| group.currency);
                self.account = Some(account(record, currency, faults));
            }
            "16" => {
                let as_of = self.group.as_ref().and_then(|group| group.as_of);
                if let Some(account) = &mut self.account {
                    account.detail(record, as_of, faults);
                }
            }
            "49" => self.close_account(record, faults),
            "98" => {
                if let (Some(mut group), Some(file)) = (self.group.take(), &mut self.tally) {
                    group.tally.close(record, Some("number of accounts"), faults);
                    file.absorb(&group.tally);
                }
            }
            _ => {
                if let Some(tally) = &mut self.tally {
                    tally.close(record, Some("number of groups"), faults);
                }
                self.is_closed = true;
            }
        }
        true
    }

    fn begin(&mut self, record: &Record<'_>, faults: &mut FaultList) {
        self.tally = Some(Tally::new(record));
        let mut fields = record.fields();
        let [_sender, _receiver, created, _time, id, _length, _block, version] =
            std::array::from_fn(|_| fields.next());
        faults.keep(record.line, "date", short_date(created));
        self.reference = filled(id).then(|| format!("{created}-{id}"));
        if version != "2" {
            faults.add(record.line, "version", format!("is `{}`; only version 2 is read", shown(version)));
        }
    }

    fn close_account(&mut self, record: &Record<'_>, faults: &mut FaultList) {
        let (Some(mut account), Some(group)) = (self.account.take(), &mut self.group) else { return };
        account.tally.close(record, None, faults);
        group.tally.absorb(&account.tally);
        let (Some(currency), Some(dated)) = (account.currency, group.as_of) else { return };
        let both = account.opening.zip(account.closing);
        let balances = both.map(|(opening_minor, closing_minor)| Balances { opening_minor, closing_minor });
        if let (Some(balances), false) = (balances, account.incomplete)
            && let Err(sum) = balances.check(&account.lines)
        {
            let message = format!(
                "closing (015) is {}, but opening (010) and details make {}; ask the bank for all details",
                decimal(balances.closing_minor, currency),
                decimal_sum(sum, currency)
            );
            faults.add(record.line, "balance", message);
        }
        self.statements.push(BankStatement {
            line: account.tally.line,
            account: account.number,
            reference: self.reference.clone(),
            currency,
            dated,
            balances,
            is_correction: group.is_correction,
            lines: account.lines,
        });
    }
}

fn group(record: &Record<'_>, faults: &mut FaultList) -> Group {
    let mut fields = record.fields();
    let [_receiver, _originator, status, as_of, _time, currency] = std::array::from_fn(|_| fields.next());
    match status {
        "1" | "3" => {}
        "2" => faults.add(record.line, "group status", "2 takes an earlier file back; book that by hand"),
        "4" => faults.add(record.line, "group status", "4 is a test; ask the bank for the real file"),
        _ => faults.add(record.line, "group status", "is not 1, 2, 3 or 4; ask the bank"),
    }
    Group {
        tally: Tally::new(record),
        as_of: faults.keep(record.line, "as-of date", short_date(as_of)),
        // What the standard says where nothing is said.
        currency: if filled(currency) {
            read_currency(currency, record.line, faults)
        } else {
            Some(Currency::USD)
        },
        is_correction: status == "3",
    }
}

fn read_currency(text: &str, line: usize, faults: &mut FaultList) -> Option<Currency> {
    let unknown = || format!("`{}` is not an active ISO 4217 code; ask the bank", shown(text));
    faults.keep(line, "currency", Currency::parse(text).ok_or_else(unknown))
}

fn account(record: &Record<'_>, group_currency: Option<Currency>, faults: &mut FaultList) -> Account {
    let mut fields = record.fields();
    let (number, currency) = (fields.next(), fields.next());
    if !filled(number) {
        faults.add(record.line, "account number", "is missing; ask the bank");
    }
    let currency =
        if filled(currency) { read_currency(currency, record.line, faults) } else { group_currency };
    let mut account = Account {
        tally: Tally::new(record),
        number: number.to_owned(),
        currency,
        opening: None,
        closing: None,
        lines: Vec::new(),
        incomplete: false,
    };
    while !fields.is_empty() {
        let line = fields.line();
        let code = fields.next();
        if code.is_empty() && fields.line() != line {
            // One comma more before the slash than there are fields.
            continue;
        }
        let (amount, _count) = (fields.next(), fields.next());
        skip_funds(&mut fields, line, faults);
        if !filled(amount) {
            continue;
        }
        let amount = faults.keep(line, "summary amount", signed_whole(amount));
        account.tally.add(amount);
        let balance = match code {
            "010" => &mut account.opening,
            "015" => &mut account.closing,
            _ => continue,
        };
        if balance.is_some() {
            faults.add(line, "type code", format!("{code} is given twice; ask the bank which one counts"));
        }
        *balance = amount;
    }
    account
}

/// Reads over the funds type and what comes with it; of `V` the value date is answered.
fn skip_funds(fields: &mut Fields<'_>, line: usize, faults: &mut FaultList) -> Option<Date> {
    match fields.next() {
        "" | "0" | "1" | "2" | "Z" => None,
        "V" => {
            let (date, _time) = (fields.next(), fields.next());
            filled(date).then(|| faults.keep(line, "value date", short_date(date))).flatten()
        }
        "S" => {
            for _ in 0..3 {
                fields.next();
            }
            None
        }
        "D" => {
            let pairs = faults.keep(line, "funds distribution", whole(fields.next())).unwrap_or(0);
            for _ in 0..pairs.saturating_mul(2) {
                if fields.is_empty() {
                    faults.add(line, "funds distribution", "has fewer pairs than it says; ask the bank");
                    break;
                }
                fields.next();
            }
            None
        }
        other => {
            faults.add(
                line,
                "funds type",
                format!("`{}` is not 0, 1, 2, V, S, D or Z; ask the bank", shown(other)),
            );
            None
        }
    }
}

impl Account {
    fn detail(&mut self, record: &Record<'_>, as_of: Option<Date>, faults: &mut FaultList) {
        self.tally.records = self.tally.records.saturating_add(record.count);
        let line = record.line;
        let mut fields = record.fields();
        let code = fields.next();
        let amount = match fields.next() {
            "" => Some(0),
            amount => faults.keep(line, "amount", whole(amount)),
        };
        self.tally.add(amount);
        let value_on = skip_funds(&mut fields, line, faults);
        let (bank_reference, customer_reference) = (fields.next(), fields.next());
        let Some(amount) = amount else {
            self.incomplete = true;
            return;
        };
        let amount_minor = match (code.len(), code.parse::<u16>()) {
            (3, Ok(100..=399 | 920..=959)) => amount,
            (3, Ok(400..=699 | 960..=999)) => -amount,
            // Words about the account.
            (3, Ok(890)) if amount == 0 => return,
            _ => {
                let message =
                    format!("`{}` does not say whether money came in or went out; ask the bank", shown(code));
                faults.add(line, "type code", message);
                self.incomplete = true;
                return;
            }
        };
        let Some(booked_on) = as_of else { return };
        self.lines.push(StatementLine {
            line,
            amount_minor,
            booked_on,
            value_on,
            code: code.to_owned(),
            bank_reference: filled(bank_reference).then(|| bank_reference.to_owned()),
            references: [customer_reference]
                .into_iter()
                .filter(|text| filled(text))
                .map(str::to_owned)
                .collect(),
            text: fields.rest(),
            is_reversal: matches!(code, "258" | "558"),
        });
    }
}

fn filled(text: &str) -> bool {
    !text.is_empty()
}
