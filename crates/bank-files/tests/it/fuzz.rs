//! Files that the tests wrote read back equal; mutations of them never panic and never pass with other amounts.
//!
//! `TOLLGATE_BANK_FILE_SECONDS` is how long each test goes on (a bounded number of files otherwise), `TOLLGATE_BANK_FILE_SEED`
//! replays a run.

use std::time::{Duration, Instant};

use tollgate_bank_files::{Balances, BankFile, BankStatement, CsvMapping, Format, ReturnedEntry, read};

use crate::{draw::Draw, write};

const FILES: u32 = 200;
const VERSIONS: [&str; 2] = ["camt.053.001.02", "camt.053.001.08"];

struct Written {
    format: Format,
    bytes: Vec<u8>,
    mapping: Option<CsvMapping>,
    expected: BankFile,
}

impl Written {
    fn new(draw: &mut Draw, format: Format) -> Self {
        let mut mapping = None;
        let several =
            |draw: &mut Draw| (0..=draw.below(3)).map(|account| draw.statement(account)).collect::<Vec<_>>();
        let (text, expected) = match format {
            Format::Bai2 => {
                let mut statements = several(draw);
                for statement in &mut statements {
                    statement.is_correction = draw.percent(10);
                    if draw.percent(10) {
                        statement.balances = None;
                    }
                }
                (write::bai2(&statements, draw), BankFile::Statements(statements))
            }
            Format::Camt053 => {
                let statements = several(draw);
                let version = draw.of(&VERSIONS);
                (write::camt053(&statements, version, draw), BankFile::Statements(statements))
            }
            Format::Csv => {
                let mut statement = loop {
                    let statement = draw.statement(0);
                    if !statement.lines.is_empty() {
                        break statement;
                    }
                };
                // There is no column for it.
                statement.lines.iter_mut().for_each(|line| line.bank_reference = None);
                let (text, declared) = write::csv(&statement);
                mapping = Some(CsvMapping::parse(&declared).unwrap());
                (text, BankFile::Statements(vec![statement]))
            }
            Format::Nacha => {
                let returns = draw.returns();
                (write::nacha(&returns), BankFile::Returns(returns))
            }
        };
        Self { format, bytes: text.into_bytes(), mapping, expected }
    }

    fn read(&self, bytes: &[u8]) -> Result<BankFile, Vec<tollgate_bank_files::Fault>> {
        read(bytes, self.format, self.mapping.as_ref())
    }
}

/// Runs on a bounded number of drawn files of each format, or for as long as was asked for.
fn each_file(case: impl Fn(&Written, &mut Draw) -> u64) {
    let mut draw = Draw::announced();
    let seconds = std::env::var("TOLLGATE_BANK_FILE_SECONDS").ok();
    let limit = seconds.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    let began = Instant::now();
    let (mut files, mut cases) = (0_u32, 0_u64);
    while limit.map_or(files < FILES, |limit| began.elapsed() < limit) {
        let written = Written::new(&mut draw, Format::ALL[files as usize % Format::ALL.len()]);
        cases += case(&written, &mut draw);
        files += 1;
    }
    println!("{files} files, {cases} cases in {:?}", began.elapsed());
}

/// Without line numbers and the bank's name of the statement, which the drawn ones do not have.
fn plain(mut file: BankFile) -> BankFile {
    match &mut file {
        BankFile::Statements(statements) => {
            for statement in statements {
                (statement.line, statement.reference) = (0, None);
                statement.lines.iter_mut().for_each(|line| line.line = 0);
            }
        }
        BankFile::Returns(file) => file.returns.iter_mut().for_each(|entry| entry.line = 0),
    }
    file
}

#[test]
fn what_is_written_reads_back_equal() {
    each_file(|written, _| {
        let text = String::from_utf8_lossy(&written.bytes);
        let file = written.read(&written.bytes).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
        assert_eq!(plain(file), written.expected, "{text}");
        if written.format != Format::Csv {
            assert_eq!(Format::recognize(&written.bytes), Some(written.format));
        }
        1
    });
}

/// The amounts of lines, then the balances or totals of every part.
fn amounts(file: &BankFile) -> (Vec<i64>, Vec<Option<[i64; 2]>>) {
    match file {
        BankFile::Statements(statements) => {
            let balances = |balances: Balances| [balances.opening_minor, balances.closing_minor];
            (
                statements
                    .iter()
                    .flat_map(|statement| &statement.lines)
                    .map(|line| line.amount_minor)
                    .collect(),
                statements.iter().map(|statement| statement.balances.map(balances)).collect(),
            )
        }
        BankFile::Returns(file) => {
            let signed = |entry: &ReturnedEntry| {
                if entry.is_credit { entry.amount_minor } else { -entry.amount_minor }
            };
            let totals = [file.debits_minor, file.credits_minor];
            (file.returns.iter().map(signed).collect(), vec![Some(totals)])
        }
    }
}

fn same_amounts(written: &Written, mutated: &BankFile) -> bool {
    let (expected, actual) = (amounts(&written.expected), amounts(mutated));
    // Both balances together prove the signs of lines; in a BAI2 file without, a type code can be mistaken.
    let unproven = expected.1.contains(&None);
    let magnitudes = |lines: &[i64]| lines.iter().map(|line| line.unsigned_abs()).collect::<Vec<_>>();
    let lines = actual.0 == expected.0 || (unproven && magnitudes(&actual.0) == magnitudes(&expected.0));
    let balances = actual.1.iter().zip(&expected.1).all(|(is, was)| is == was || is.is_none());
    lines && actual.1.len() == expected.1.len() && balances
}

#[test]
fn no_changed_digit_changes_an_amount() {
    each_file(|written, draw| {
        let mut cases = 0;
        for place in 0..written.bytes.len() {
            if !written.bytes[place].is_ascii_digit() {
                continue;
            }
            let mut bytes = written.bytes.clone();
            bytes[place] = b'0' + (bytes[place] - b'0' + 1 + draw.below(9) as u8) % 10;
            cases += 1;
            if let Ok(file) = written.read(&bytes) {
                let text = String::from_utf8_lossy(&bytes);
                // One row of CSV has no balance before it that its own could disagree with, and neither has the first of many.
                let is_free =
                    written.format == Format::Csv && bytes[..place].split(|byte| *byte == b'\n').count() <= 2;
                assert!(is_free || same_amounts(written, &file), "digit at {place}\n{text}");
            }
        }
        cases
    });
}

fn mutate(bytes: &mut Vec<u8>, draw: &mut Draw) {
    let place = draw.below(bytes.len().max(1));
    match draw.below(7) {
        _ if bytes.is_empty() => bytes.push(b'x'),
        0 => bytes[place] = draw.below(256) as u8,
        1 => {
            bytes.remove(place);
        }
        2 => bytes.insert(place, draw.of(b"0159,/<>&\"\n -.;\xff")),
        3 => bytes.truncate(place),
        4 => bytes[place] ^= 1 << draw.below(8),
        5 => {
            let end = (place + draw.below(80)).min(bytes.len());
            let part = bytes[place..end].to_vec();
            let to = draw.below(bytes.len());
            bytes.splice(to..to, part);
        }
        _ => {
            let end = (place + draw.below(80)).min(bytes.len());
            bytes.drain(place..end);
        }
    }
}

fn adds_up(statement: &BankStatement) -> bool {
    let sum: i128 = statement.lines.iter().map(|line| i128::from(line.amount_minor)).sum();
    let proved =
        |balances: Balances| i128::from(balances.opening_minor) + sum == i128::from(balances.closing_minor);
    statement.balances.is_none_or(proved)
}

#[test]
fn mutations_never_panic_and_never_pass_with_a_wrong_total() {
    each_file(|written, draw| {
        for _ in 0..100 {
            let mut bytes = written.bytes.clone();
            for _ in 0..=draw.below(4) {
                mutate(&mut bytes, draw);
            }
            for format in [written.format, draw.of(&Format::ALL)] {
                match read(&bytes, format, written.mapping.as_ref()) {
                    Ok(BankFile::Statements(statements)) => assert!(statements.iter().all(adds_up)),
                    Ok(BankFile::Returns(file)) => {
                        let sum: i64 = file.returns.iter().map(|entry| entry.amount_minor).sum();
                        assert!(sum <= file.debits_minor + file.credits_minor);
                    }
                    Err(faults) => {
                        assert!(
                            !faults.is_empty() && faults.iter().all(|fault| fault.line > 0),
                            "{faults:?}"
                        );
                    }
                }
            }
        }
        100
    });
}
