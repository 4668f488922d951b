//! `tollgate settlement`: files of banks, read and verified here; no server is asked.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use tollgate_bank_files::{
    BankFile, BankStatement, CsvMapping, Format, MAX_BYTES, ReturnFile, ReturnedEntry, StatementLine, read,
};

use super::{
    money::digits,
    output::{Output, Style},
    table::Table,
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Settlement {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Verify a bank statement or a file of ACH returns, and show what is in it; fails and lists every fault otherwise.
    Check {
        /// The file, at most 16 MiB.
        file: PathBuf,
        /// The format; default: the one the file begins like, and CSV with --mapping.
        #[arg(long, value_enum)]
        format: Option<FileFormat>,
        /// What the columns of CSV are: lines of `name = value`.
        #[arg(long, value_name = "FILE")]
        mapping: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FileFormat {
    Bai2,
    Camt053,
    Csv,
    Nacha,
}

impl From<FileFormat> for Format {
    fn from(format: FileFormat) -> Self {
        match format {
            FileFormat::Bai2 => Self::Bai2,
            FileFormat::Camt053 => Self::Camt053,
            FileFormat::Csv => Self::Csv,
            FileFormat::Nacha => Self::Nacha,
        }
    }
}

impl Settlement {
    pub(crate) fn run(self, json: bool) -> Result<(), Failure> {
        let What::Check { file, format, mapping } = self.what;
        let checked = check(&file, format.map(Format::from), mapping.as_deref(), json);
        checked.map_err(|failure| if json { failure.for_programs() } else { failure })
    }
}

fn check(path: &Path, format: Option<Format>, mapping: Option<&Path>, json: bool) -> Result<(), Failure> {
    let bytes = bytes_of(path)?;
    let mapping = mapping.map(read_mapping).transpose()?;
    let format = format.or_else(|| Format::recognize(&bytes)).or(mapping.as_ref().map(|_| Format::Csv));
    let format = format.ok_or_else(|| {
        Failure::new(format!(
            "the format of {} is not recognized; pass --format, and --mapping with CSV",
            path.display()
        ))
    })?;
    let file = read(&bytes, format, mapping.as_ref()).map_err(|faults| {
        let details =
            faults.into_iter().map(|fault| (format!("line {}, {}", fault.line, fault.field), fault.message));
        let sentence =
            format!("{} cannot be trusted as {}; nothing of it is used", path.display(), format.as_str());
        Failure::with_details(sentence, details.collect())
    })?;
    let parts = match &file {
        BankFile::Statements(statements) => json!({ "statements": each(statements, statement_json) }),
        BankFile::Returns(returns) => json!({ "returns": returns_json(returns) }),
    };
    let mut data = json!({ "file": path.display().to_string(), "format": format.as_str() });
    if let (Some(data), Value::Object(parts)) = (data.as_object_mut(), parts) {
        data.extend(parts);
    }
    Output::new(json).show(&data, |style| {
        let head = format!("{}: {}, verified", path.display(), format.as_str());
        let mut text = format!("{}\n", style.strong(&head));
        match &file {
            BankFile::Statements(statements) => {
                for statement in statements {
                    text.push_str(&readable_statement(statement, style));
                }
            }
            BankFile::Returns(returns) => text.push_str(&readable_returns(returns, style)),
        }
        text
    })
}

/// One byte more than is read at most, so that a larger file is seen to be larger.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| Failure::file("read", path, &error))?;
    Ok(bytes)
}

fn read_mapping(path: &Path) -> Result<CsvMapping, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::file("read the mapping in", path, &error))?;
    let invalid =
        |error| Failure::new(format!("the mapping in {} is not complete:\n{error}", path.display()));
    CsvMapping::parse(&text).map_err(invalid)
}

fn each<T>(list: &[T], part: impl Fn(&T) -> Value) -> Vec<Value> {
    list.iter().map(part).collect()
}

fn statement_json(statement: &BankStatement) -> Value {
    let totals = statement.totals();
    json!({
        "account": statement.account,
        "reference": statement.reference,
        "currency": statement.currency.code(),
        "dated": statement.dated.to_string(),
        "openingMinor": statement.balances.map(|balances| balances.opening_minor.to_string()),
        "closingMinor": statement.balances.map(|balances| balances.closing_minor.to_string()),
        "creditsMinor": totals.map(|(credits, _)| credits.to_string()),
        "debitsMinor": totals.map(|(_, debits)| debits.to_string()),
        "isCorrection": statement.is_correction,
        "lines": each(&statement.lines, line_json),
    })
}

fn line_json(line: &StatementLine) -> Value {
    json!({
        "line": line.line,
        "amountMinor": line.amount_minor.to_string(),
        "bookedOn": line.booked_on.to_string(),
        "valueOn": line.value_on.map(|day| day.to_string()),
        "code": line.code,
        "bankReference": line.bank_reference,
        "references": line.references,
        "text": line.text,
        "isReversal": line.is_reversal,
    })
}

fn returns_json(returns: &ReturnFile) -> Value {
    json!({
        "origin": returns.origin,
        "createdOn": returns.created_on.to_string(),
        "creditsMinor": returns.credits_minor.to_string(),
        "debitsMinor": returns.debits_minor.to_string(),
        "entries": each(&returns.returns, entry_json),
    })
}

fn entry_json(entry: &ReturnedEntry) -> Value {
    json!({
        "line": entry.line,
        "code": entry.code,
        "originalTrace": entry.original_trace,
        "trace": entry.trace,
        "amountMinor": entry.amount_minor.to_string(),
        "isCredit": entry.is_credit,
        "companyId": entry.company_id,
        "individualId": entry.individual_id,
        "information": entry.information,
    })
}

fn readable_statement(statement: &BankStatement, style: Style) -> String {
    let amount = |minor: i64| digits(&minor.to_string(), statement.currency.code());
    let head = format!("Account {} in {}, to {}", statement.account, statement.currency, statement.dated);
    let correction = if statement.is_correction { " (correction)" } else { "" };
    let mut text = format!("\n{}{correction}\n", style.strong(&head));
    let mut totals = Table::new(&["", ">AMOUNT", ">LINES"]);
    let mut row =
        |name: &str, minor: i64, lines: String| totals.row([name.into(), amount(minor).into(), lines.into()]);
    let count = |is_credit: bool| {
        statement.lines.iter().filter(|line| (line.amount_minor >= 0) == is_credit).count().to_string()
    };
    if let Some(balances) = statement.balances {
        row("Opening", balances.opening_minor, String::new());
    }
    if let Some((credits, debits)) = statement.totals() {
        row("In", credits, count(true));
        row("Out", debits.saturating_neg(), count(false));
    }
    if let Some(balances) = statement.balances {
        row("Closing", balances.closing_minor, String::new());
    }
    text.push_str(&totals.draw(style, ""));
    if statement.balances.is_none() {
        text.push_str(
            "The file does not state both balances of this account; only its totals are verified.\n",
        );
    }
    let mut table = Table::new(&["LINE", "=BOOKED", "=VALUE", ">AMOUNT", "CODE", "REFERENCES", "TEXT"])
        .leaving_out(&["VALUE", "TEXT"]);
    for line in &statement.lines {
        table.row([
            line.line.to_string().into(),
            line.booked_on.to_string().into(),
            line.value_on.map_or_else(|| "-".to_owned(), |day| day.to_string()).into(),
            amount(line.amount_minor).into(),
            line.code.as_str().into(),
            line.references.join(" ").into(),
            line.text.as_str().into(),
        ]);
    }
    text.push('\n');
    text.push_str(&table.draw(style, "No lines."));
    text
}

fn readable_returns(returns: &ReturnFile, style: Style) -> String {
    let amount = |minor: i64| digits(&minor.to_string(), "USD");
    let mut text = format!(
        "\nFrom {}, made on {}: returned credits {}, returned debits {}\n\n",
        style.strong(&returns.origin),
        returns.created_on,
        amount(returns.credits_minor),
        amount(returns.debits_minor)
    );
    let heads = ["LINE", "CODE", "=ORIGINAL TRACE", ">AMOUNT", "ORIGINAL", "INDIVIDUAL", "INFORMATION"];
    let mut table = Table::new(&heads).leaving_out(&["INFORMATION", "ORIGINAL"]);
    for entry in &returns.returns {
        table.row([
            entry.line.to_string().into(),
            entry.code.as_str().into(),
            entry.original_trace.as_str().into(),
            amount(entry.amount_minor).into(),
            if entry.is_credit { "credit" } else { "debit" }.into(),
            entry.individual_id.as_str().into(),
            entry.information.as_str().into(),
        ]);
    }
    text.push_str(&table.draw(style, "No returns."));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &str = "\
01,122099999,123456789,260105,0200,1,65,,2/
02,031001234,122099999,1,260104,2359,USD,2/
03,0123456789,,010,10000,,,015,37267,,/
16,142,28267,V,260105,,BANKREF1,STRIPE-TR1,STRIPE PAYOUT/
16,451,1000,,,, FEE/
49,76534,4/
98,76534,1,6/
99,76534,1,8/
";

    fn checked(text: &str, mapping: Option<&str>) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let (file, mapped) = (folder.path().join("file"), folder.path().join("mapping"));
        fs::write(&file, text).unwrap();
        fs::write(&mapped, mapping.unwrap_or_default()).unwrap();
        let mapping = mapping.map(|_| mapped.as_path());
        check(&file, None, mapping, true).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_file_is_verified_or_every_fault_of_it_is_listed() {
        assert_eq!(checked(STATEMENT, None), Ok(()));
        let faults = checked(&STATEMENT.replace(",28267,", ",28266,"), None).unwrap_err();
        for fault in [
            "line 6, control total: is 76534",
            "line 6, balance: closing",
            "line 7, control",
            "line 8, control",
        ] {
            assert!(faults.contains(fault), "{fault}: {faults}");
        }
    }

    #[test]
    fn csv_is_what_comes_with_a_mapping() {
        let rows = "Day,Amount\n2026-01-05,282.67\n";
        let mapping = "account = 1\ncurrency = USD\nbooked_on = Day\namount = Amount\n";
        assert_eq!(checked(rows, Some(mapping)), Ok(()));
        assert!(checked(rows, None).unwrap_err().contains("--mapping"));
        assert!(checked(rows, Some("account = 1")).unwrap_err().contains("booked_on is missing"));
        assert!(checked(rows, Some(&mapping.replace("USD", "JPY"))).unwrap_err().contains("line 2, amount"));
    }

    #[test]
    fn json_has_amounts_as_digits() {
        let Ok(BankFile::Statements(statements)) = read(STATEMENT.as_bytes(), Format::Bai2, None) else {
            panic!()
        };
        let json = statement_json(&statements[0]);
        assert_eq!(
            (json["closingMinor"].as_str(), json["creditsMinor"].as_str()),
            (Some("37267"), Some("28267"))
        );
        assert_eq!(json["lines"][1]["amountMinor"], "-1000");
    }
}
