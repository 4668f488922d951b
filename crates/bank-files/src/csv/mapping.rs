//! What the columns of a bank's CSV are: lines of `name = value`.

use std::fmt;

use jiff::civil::Date;

use crate::amount::shown;

/// How to read a bank's CSV. Columns go by their names in the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvMapping {
    pub(super) account: Source,
    pub(super) currency: Source,
    pub(super) delimiter: char,
    date_format: DateFormat,
    decimal_comma: bool,
    pub(super) newest_first: bool,
    pub(super) booked_on: String,
    pub(super) value_on: Option<String>,
    pub(super) amounts: Amounts,
    pub(super) balance: Option<String>,
    pub(super) code: Option<String>,
    pub(super) references: Vec<String>,
    pub(super) texts: Vec<String>,
}

/// A text for all rows, or the column that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Fixed(String),
    Column(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Amounts {
    /// One column; negative leaves the account.
    Signed(String),
    Sides {
        credit: String,
        debit: String,
    },
}

/// The order and the mark between year, month and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DateFormat {
    name: &'static str,
    order: [Part; 3],
    mark: char,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
}

use Part::{Day, Month, Year};

const DATE_FORMATS: [DateFormat; 5] = [
    DateFormat { name: "YYYY-MM-DD", order: [Year, Month, Day], mark: '-' },
    DateFormat { name: "YYYY/MM/DD", order: [Year, Month, Day], mark: '/' },
    DateFormat { name: "MM/DD/YYYY", order: [Month, Day, Year], mark: '/' },
    DateFormat { name: "DD/MM/YYYY", order: [Day, Month, Year], mark: '/' },
    DateFormat { name: "DD.MM.YYYY", order: [Day, Month, Year], mark: '.' },
];

const NAMES: [&str; 16] = [
    "account",
    "account_column",
    "currency",
    "currency_column",
    "delimiter",
    "date_format",
    "decimal_mark",
    "order",
    "booked_on",
    "value_on",
    "amount",
    "credit",
    "debit",
    "balance",
    "code",
    "reference",
];

/// What is wrong with a mapping: every fault, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidMapping(Vec<String>);

impl fmt::Display for InvalidMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for InvalidMapping {}

impl CsvMapping {
    /// Reads lines of `name = value`; `#` begins a comment line. `reference` and `text` may stand several times.
    pub fn parse(text: &str) -> Result<Self, InvalidMapping> {
        let mut fields = Fields::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some((name, value)) if !value.is_empty() && (name == "text" || NAMES.contains(&name)) => {
                    fields.given.push((name, value));
                }
                Some((name, "")) => fields.faults.push(format!("line {}: {name} has no value", number + 1)),
                Some((name, _)) => {
                    fields.faults.push(format!(
                        "line {}: `{}` is no name of a mapping",
                        number + 1,
                        shown(name)
                    ));
                }
                None => fields.faults.push(format!("line {}: write `name = value`", number + 1)),
            }
        }
        let mapping = fields.mapping();
        match mapping {
            Some(mapping) if fields.faults.is_empty() => Ok(mapping),
            _ => Err(InvalidMapping(fields.faults)),
        }
    }

    pub(super) fn date(&self, text: &str) -> Result<Date, String> {
        let DateFormat { name, order, mark } = self.date_format;
        let parts: Vec<_> = text.split(mark).collect();
        let part = |wanted: Part| {
            let (place, length) =
                (order.iter().position(|part| *part == wanted)?, if wanted == Year { 4 } else { 2 });
            let digits =
                parts.get(place).filter(|digits| digits.len() == length && parts.len() == order.len())?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i16>().ok()).flatten()
        };
        let small = |wanted: Part| part(wanted).and_then(|number| i8::try_from(number).ok());
        part(Year)
            .zip(small(Month))
            .zip(small(Day))
            .and_then(|((year, month), day)| Date::new(year, month, day).ok())
            .ok_or_else(|| format!("`{}` is not a date of the form {name}; correct date_format", shown(text)))
    }

    /// The number with a decimal point and without marks between thousands, which have to stand where they belong.
    pub(super) fn plain_number(&self, text: &str) -> Result<String, String> {
        let (decimal, thousands) = if self.decimal_comma { (',', '.') } else { ('.', ',') };
        let (units, fraction) =
            text.split_once(decimal).map_or((text, None), |(units, part)| (units, Some(part)));
        let mut groups = units.split(thousands);
        let first = groups.next().unwrap_or_default();
        let well_grouped = units.len() == first.len()
            || ((1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3));
        if !well_grouped || fraction.is_some_and(|fraction| fraction.contains(thousands)) {
            return Err(format!("`{}` has marks where no thousands are; correct decimal_mark", shown(text)));
        }
        let units: String = units.chars().filter(|letter| *letter != thousands).collect();
        Ok(fraction.map_or_else(|| units.clone(), |fraction| format!("{units}.{fraction}")))
    }
}

#[derive(Default)]
struct Fields<'a> {
    given: Vec<(&'a str, &'a str)>,
    faults: Vec<String>,
}

impl Fields<'_> {
    fn all(&self, name: &str) -> Vec<String> {
        self.given.iter().filter(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned()).collect()
    }

    fn one(&mut self, name: &str) -> Option<String> {
        let mut values = self.all(name);
        if values.len() > 1 {
            self.faults.push(format!("{name} stands more than once"));
        }
        values.pop()
    }

    fn required(&mut self, name: &str) -> Option<String> {
        let value = self.one(name);
        if value.is_none() {
            self.faults.push(format!("{name} is missing"));
        }
        value
    }

    fn source(&mut self, name: &str, column: &str) -> Option<Source> {
        match (self.one(name), self.one(column)) {
            (Some(fixed), None) => Some(Source::Fixed(fixed)),
            (None, Some(column)) => Some(Source::Column(column)),
            _ => {
                self.faults.push(format!("either {name} or {column} is needed, and only one of them"));
                None
            }
        }
    }

    /// The value of one of a few words, the first of which is meant where nothing is said.
    fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        let given = self.one(name);
        let chosen = match &given {
            None => choices.first(),
            Some(given) => choices.iter().find(|(word, _)| word == given),
        };
        if chosen.is_none() {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            self.faults.push(format!("{name} is one of {}", words.join(" ")));
        }
        chosen.map(|(_, value)| *value)
    }

    fn amounts(&mut self) -> Option<Amounts> {
        match (self.one("amount"), self.one("credit"), self.one("debit")) {
            (Some(amount), None, None) => Some(Amounts::Signed(amount)),
            (None, Some(credit), Some(debit)) => Some(Amounts::Sides { credit, debit }),
            _ => {
                self.faults.push("either amount or both credit and debit are needed".to_owned());
                None
            }
        }
    }

    fn mapping(&mut self) -> Option<CsvMapping> {
        let formats = DATE_FORMATS.map(|format| (format.name, format));
        let account = self.source("account", "account_column");
        let currency = self.source("currency", "currency_column");
        let delimiter = self.choice("delimiter", &[(",", ','), (";", ';'), ("tab", '\t')]);
        let date_format = self.choice("date_format", &formats);
        let decimal_comma = self.choice("decimal_mark", &[(".", false), (",", true)]);
        let newest_first = self.choice("order", &[("oldest_first", false), ("newest_first", true)]);
        let booked_on = self.required("booked_on");
        let amounts = self.amounts();
        let [value_on, balance, code] = ["value_on", "balance", "code"].map(|name| self.one(name));
        Some(CsvMapping {
            account: account?,
            currency: currency?,
            delimiter: delimiter?,
            date_format: date_format?,
            decimal_comma: decimal_comma?,
            newest_first: newest_first?,
            booked_on: booked_on?,
            value_on,
            amounts: amounts?,
            balance,
            code,
            references: self.all("reference"),
            texts: self.all("text"),
        })
    }
}
