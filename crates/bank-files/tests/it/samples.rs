//! Public files of other projects. `TOLLGATE_BANK_FILE_SAMPLES` names a folder with their repositories as `owner/name`; without
//! it the test is skipped.

use std::{env, fs, io::Write, path::Path};

use tollgate_bank_files::{BankFile, Format, read};

/// What is to become of a file: its statements or returns as (lines, money in, money out), or its first fault.
enum Expected {
    Read(&'static [(usize, i64, i64)]),
    Refused(usize, &'static str),
}
use Expected::{Read, Refused};

const BAI2: &str = "moov-io/bai2/test/testdata";
const ACH: &str = "moov-io/ach/test/testdata";
const CAMT: &str = "genkgo/camt/test/data";

/// Those that are refused do not agree with themselves: they were written to show elements, not money.
const SAMPLES: &[(&str, &str, Expected)] = &[
    (BAI2, "sample1.txt", Read(&[(11, 208_500, 208_500), (6, 111_500, 111_500)])),
    (
        BAI2,
        "sample2.txt",
        Read(&[(1, 450_000, 0), (1, 500_000, 0), (2, 30_000_000, 0), (0, 0, 0), (0, 0, 0)]),
    ),
    (BAI2, "sample4-continuations-newline-delimited.txt", Refused(22, "control total")),
    (BAI2, "sample5-issue113.txt", Refused(22, "control total")),
    (CAMT, "camt053.v2.multi.statement.xml", Read(&[(1, 885, 0), (1, 0, 700)])),
    (CAMT, "camt053.v2.five.decimals.xml", Refused(25, "Bal")),
    (CAMT, "camt053.v2.minimal.xml", Refused(26, "Bal")),
    (CAMT, "camt053.v2.wrong.xml", Refused(10, "Stmt")),
    (CAMT, "camt053.v4.xml", Refused(2, "Document")),
    (CAMT, "camt053.v8.xml", Refused(30, "Bal")),
    (ACH, "return-WEB.ach", Read(&[(2, 4_565, 12_354)])),
    (ACH, "return-PPD-custom-reason-code.ach", Read(&[(1, 106_161, 0)])),
    (ACH, "contested_addenda.txt", Read(&[(1, 1_560, 0)])),
    (ACH, "cor-example.ach", Read(&[(1, 0, 0)])),
    (ACH, "../issues/testdata/issue702.ach", Read(&[(3, 102, 10_102)])),
    (ACH, "ppd-debit.ach", Refused(3, "transaction code")),
];

fn samples() -> Option<std::path::PathBuf> {
    let folder = env::var_os("TOLLGATE_BANK_FILE_SAMPLES").map(std::path::PathBuf::from);
    if folder.is_none() {
        let reason = "SKIPPED: TOLLGATE_BANK_FILE_SAMPLES does not name the public files\n";
        std::io::stdout().write_all(reason.as_bytes()).unwrap();
    }
    folder
}

fn file(folder: &Path, project: &str, name: &str) -> Vec<u8> {
    let path = folder.join(project).join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn totals(file: &BankFile) -> Vec<(usize, i64, i64)> {
    match file {
        BankFile::Statements(statements) => statements
            .iter()
            .map(|statement| {
                let (credits, debits) = statement.totals().unwrap();
                (statement.lines.len(), credits, debits)
            })
            .collect(),
        BankFile::Returns(file) => vec![(file.returns.len(), file.credits_minor, file.debits_minor)],
    }
}

#[test]
fn public_files_are_read_or_refused_for_what_is_wrong_with_them() {
    let Some(folder) = samples() else { return };
    for (project, name, expected) in SAMPLES {
        let bytes = file(&folder, project, name);
        let read = read(&bytes, Format::recognize(&bytes).unwrap(), None);
        match (expected, read) {
            (Read(expected), Ok(file)) => assert_eq!(totals(&file), *expected, "{name}"),
            (Refused(line, field), Err(faults)) => {
                assert_eq!((faults[0].line, faults[0].field.as_str()), (*line, *field), "{name}: {faults:?}");
            }
            (_, read) => panic!("{name}: {read:?}"),
        }
    }
    // Several records on a line, and texts that go on without a continuation: 15 accounts, each with both balances.
    let bytes = file(&folder, BAI2, "sample3.txt");
    let BankFile::Statements(statements) = read(&bytes, Format::Bai2, None).unwrap() else { panic!() };
    assert_eq!(statements.len(), 15);
    assert!(statements.iter().all(|statement| statement.balances.is_some()));
}
