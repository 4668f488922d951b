//! One small file of each format, whole and broken in every way that matters.

use tollgate_bank_files::{BankFile, CsvMapping, Format, MAX_BYTES, read};

use crate::{draw::Draw, write};

const BAI2: &str = "\
01,122099999,123456789,260105,0200,1,65,,2/
02,031001234,122099999,1,260104,2359,USD,2/
03,0123456789,,010,10000,,,015,37267,,/
16,142,28267,V,260105,,BANKREF1,STRIPE-TR1,STRIPE PAYOUT/
88,a text that goes on, with /slashes/ and commas
16,451,1000,,,, FEE/
49,76534,5/
98,76534,1,7/
99,76534,1,9/
";

const CAMT: &str = r#"<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">
<BkToCstmrStmt><GrpHdr/><Stmt><Id>7</Id><ElctrncSeqNb>4</ElctrncSeqNb><CreDtTm>2026-01-05T00:00:00Z</CreDtTm>
<Acct><Id><IBAN>NL26VAYB8060476890</IBAN></Id><Ccy>EUR</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">382.67</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
<TxsSummry><TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>282.67</Sum></TtlCdtNtries></TxsSummry>
<Ntry><Amt Ccy="EUR">282.67</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>2026-01-05</Dt></BookgDt><NtryDtls><Btch><NbOfTxs>1</NbOfTxs></Btch><TxDtls><Refs><EndToEndId>po_1</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>
<Ntry><Amt Ccy="EUR">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts></Ntry>
</Stmt></BkToCstmrStmt></Document>
"#;

const CSV: &str = "\
Buchungstag;Text;Haben;Soll;Saldo
06.01.2026;\"Gebühr; \"\"Januar\"\"\";;1,00;1.381,67
05.01.2026;\"STRIPE
PAYOUT\";1.282,67;;1.382,67
";

const MAPPING: &str = "\
# As the bank exports it.
account = 12345
currency = EUR
delimiter = ;
date_format = DD.MM.YYYY
decimal_mark = ,
order = newest_first
booked_on = Buchungstag
credit = Haben
debit = Soll
balance = Saldo
text = Text
";

fn statements(
    text: &str,
    format: Format,
    mapping: Option<&CsvMapping>,
) -> Vec<tollgate_bank_files::BankStatement> {
    match read(text.as_bytes(), format, mapping) {
        Ok(BankFile::Statements(statements)) => statements,
        other => panic!("{other:#?}"),
    }
}

fn faults(text: &str, format: Format, mapping: Option<&CsvMapping>) -> Vec<String> {
    let faults = read(text.as_bytes(), format, mapping).err().unwrap_or_else(|| panic!("{text}"));
    faults.iter().map(|fault| format!("{} {}", fault.line, fault.field)).collect()
}

/// Replaces the only place where a text stands.
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn bai2_is_read() {
    let statements = statements(BAI2, Format::Bai2, None);
    let statement = &statements[0];
    assert_eq!((statement.account.as_str(), statement.totals()), ("0123456789", Some((28_267, 1_000))));
    let line = &statement.lines[0];
    assert_eq!((line.line, line.amount_minor, line.code.as_str()), (4, 28_267, "142"));
    assert_eq!(line.references, ["STRIPE-TR1"]);
    assert_eq!(line.text, "STRIPE PAYOUT a text that goes on, with /slashes/ and commas");
    assert_eq!(line.value_on.unwrap().to_string(), "2026-01-05");
}

#[test]
fn every_fault_of_bai2_has_its_line_and_field() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("015,37267", "015,37266", &["7 control total", "7 balance", "8 control total", "9 control total"]),
        ("49,76534,5", "49,76534,6", &["7 number of records"]),
        ("49,76534,5", "49,76533,5", &["7 control total"]),
        ("98,76534,1,7", "98,76534,2,7", &["8 number of accounts"]),
        ("99,76534,1,9", "99,76534,3,9", &["9 number of groups"]),
        ("99,76534,1,9/\n", "", &["8 record"]),
        ("98,76534,1,7/\n", "", &["8 record"]),
        ("16,451,1000", "16,451,10.00", &["6 amount"]),
        ("16,451,1000", "16,751,1000", &["6 type code"]),
        ("16,142,28267", "16,442,28267", &["7 balance"]),
        ("V,260105", "V,260230", &["4 value date"]),
        ("1,260104", "4,260104", &["2 group status"]),
        ("1,260104", "2,260104", &["2 group status"]),
        ("2359,USD", "2359,XXX", &["2 currency"]),
        ("65,,2/", "65,,3/", &["1 version"]),
        ("03,0123456789", "03,", &["3 account number"]),
        ("02,031001234", "05,031001234", &["2 record"]),
        ("02,031001234,122099999,1,260104,2359,USD,2/\n", "", &["2 record"]),
        ("99,76534,1,9/\n", "99,76534,1,9/\n01,1,2,260105,0200,1,,,2/\n", &["10 record"]),
    ];
    for (from, to, expected) in cases {
        let text = replaced(BAI2, from, to);
        assert_eq!(faults(&text, Format::Bai2, None), *expected, "{from} → {to}");
    }
}

#[test]
fn camt053_is_read() {
    for text in [
        CAMT.to_owned(),
        CAMT.replace("001.08", "001.02").replace("<Cd>BOOK</Cd>", "BOOK").replace("<Cd>PDNG</Cd>", "PDNG"),
    ] {
        // The summary counts credits only, so that the pending debit is none of its business.
        let statement = &statements(&text, Format::Camt053, None)[0];
        assert_eq!(statement.lines.len(), 1, "what is pending is no line");
        assert_eq!(statement.lines[0].amount_minor, 28_267);
        assert_eq!(statement.lines[0].references, ["po_1"]);
    }
}

#[test]
fn every_fault_of_camt053_has_its_line_and_field() {
    let second = CAMT.split_once("<Stmt>").unwrap().1.split_once("</BkToCstmrStmt>").unwrap().0;
    let two = |change: &dyn Fn(String) -> String| {
        CAMT.replace("</Stmt>", &format!("</Stmt><Stmt>{}", change(second.to_owned())))
    };
    let cases: &[(String, &[&str])] = &[
        (replaced(CAMT, "382.67", "382.66"), &["3 Bal"]),
        (replaced(CAMT, "382.67", "382.674"), &["3 Bal", "6 Amt"]),
        (replaced(CAMT, "<Sum>282.67", "<Sum>282.68"), &["7 TtlCdtNtries"]),
        (replaced(CAMT, "<NbOfNtries>1", "<NbOfNtries>2"), &["7 TtlCdtNtries"]),
        (replaced(CAMT, "<NbOfTxs>1", "<NbOfTxs>2"), &["9 NbOfTxs"]),
        (replaced(CAMT, "\"EUR\">5.00", "\"USD\">5.00"), &["10 Ccy"]),
        (replaced(CAMT, "\"EUR\">100.00", "\"BGN\">100.00"), &["3 Bal", "5 Ccy"]),
        (replaced(CAMT, "<Cd>CLBD", "<Cd>CLAV"), &["3 Bal"]),
        (replaced(CAMT, "<Cd>BOOK", "<Cd>BOOC"), &["3 Bal", "8 Sts"]),
        (replaced(CAMT, "NL26VAYB8060476890", ""), &["3 Acct"]),
        (replaced(CAMT, "001.08", "001.04"), &["2 Document"]),
        (replaced(CAMT, "<GrpHdr/>", "<GrpHdr>&e;</GrpHdr>"), &["3 XML"]),
        (
            replaced(CAMT, "<Document", "<!DOCTYPE D [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><Document"),
            &["2 XML"],
        ),
        (CAMT.replace("</Stmt>", ""), &["11 XML"]),
        (two(&|text| text.replace("<ElctrncSeqNb>4", "<ElctrncSeqNb>6")), &["11 ElctrncSeqNb"]),
        (two(&|text| text.replace("<ElctrncSeqNb>4", "<ElctrncSeqNb>5")), &["11 Bal"]),
    ];
    for (text, expected) in cases {
        assert_eq!(faults(text, Format::Camt053, None), *expected, "{text}");
    }
}

#[test]
fn csv_is_read_by_its_mapping() {
    let mapping = CsvMapping::parse(MAPPING).unwrap();
    let statement = &statements(CSV, Format::Csv, Some(&mapping))[0];
    let amounts: Vec<_> = statement.lines.iter().map(|line| (line.line, line.amount_minor)).collect();
    assert_eq!(amounts, [(3, 128_267), (2, -100)], "oldest first");
    assert_eq!(statement.lines[1].text, "Gebühr; \"Januar\"");
    let balances = statement.balances.unwrap();
    assert_eq!((balances.opening_minor, balances.closing_minor), (10_000, 138_167));
    for (from, to, expected) in [
        ("1.381,67", "1.381,68", "2 balance"),
        ("1.282,67;;", "1.282,67;1,00;", "3 amount"),
        (";1,00;", ";1.00;", "2 amount"),
        ("05.01.2026", "31.02.2026", "3 booked_on"),
        ("Haben", "Credit", "1 head"),
        ("Saldo", "Haben", "1 head"),
        (";;1,00", ";1,00", "2 row"),
        ("PAYOUT\"", "PAYOUT", "3 row"),
        ("PAYOUT\"", "PAYOUT\"x", "4 row"),
    ] {
        let found = faults(&replaced(CSV, from, to), Format::Csv, Some(&mapping));
        assert!(found.contains(&expected.to_owned()), "{from} → {to}: {found:?}");
    }
    assert_eq!(faults(CSV, Format::Csv, None), ["1 mapping"]);
}

#[test]
fn a_mapping_names_every_fault() {
    let text =
        "account = 1\naccount_column = A\ncurrency =\ndelimiter = |\nflavour = sweet\namount\ncredit = C\n";
    let message = CsvMapping::parse(text).unwrap_err().to_string();
    for part in [
        "line 3: currency has no value",
        "line 5: `flavour` is no name",
        "line 6: write `name = value`",
        "either account or account_column",
        "either currency or currency_column",
        "delimiter is one of , ; tab",
        "booked_on is missing",
        "either amount or both credit and debit",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn every_fault_of_a_return_file_has_its_line_and_field() {
    let mut draw = Draw::announced();
    let mut returns = draw.returns();
    returns.returns.truncate(1);
    let entry = &mut returns.returns[0];
    (entry.amount_minor, entry.is_credit) = (5_000, true);
    (returns.credits_minor, returns.debits_minor) = (5_000, 0);
    let text = write::nacha(&returns);
    assert!(
        matches!(read(text.as_bytes(), Format::Nacha, None), Ok(BankFile::Returns(file)) if file.credits_minor == 5_000)
    );
    let with = |line: usize, columns: std::ops::Range<usize>, value: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines[line - 1].replace_range(columns.start - 1..columns.end - 1, value);
        lines.join("\n")
    };
    let cases: &[(String, &[&str])] = &[
        (with(1, 35..41, "093101"), &["1 format"]),
        (with(2, 51..54, "IAT"), &["2 entry class"]),
        (with(2, 41..44, "XYZ"), &["5 company identification"]),
        (with(3, 2..4, "22"), &["3 transaction code"]),
        (with(3, 2..4, "26"), &["5 total debits", "5 total credits", "6 total debits", "6 total credits"]),
        (with(3, 4..5, "9"), &["5 entry hash", "6 entry hash"]),
        (with(3, 39..40, "1"), &["5 total credits", "6 total credits"]),
        (with(3, 94..95, "x"), &["4 trace number"]),
        (with(4, 2..4, "05"), &["3 addenda"]),
        (with(4, 2..4, "10"), &["3 addenda", "4 addenda type"]),
        (with(4, 4..7, "R1X"), &["4 reason code"]),
        (with(5, 5..11, "000003"), &["5 entry and addenda count"]),
        (with(6, 2..8, "000002"), &["6 batch count"]),
        (with(6, 8..14, "000002"), &["6 block count"]),
        (with(6, 1..2, "5"), &["7 record", "7 record"]),
        (with(7, 1..2, "8"), &["7 record"]),
        (with(3, 30..31, "x"), &["3 amount"]),
    ];
    for (text, expected) in cases {
        assert_eq!(faults(text, Format::Nacha, None), *expected, "{text}");
    }
}

/// Run with `--ignored --nocapture`: how long the largest file of each format takes.
#[test]
#[ignore = "measures"]
fn the_largest_files_are_read_in_seconds() {
    let line = "16,142,28267,V,260105,,BANKREF1,STRIPE-TR1,STRIPE PAYOUT/\n";
    let count = (MAX_BYTES - 400) / line.len();
    let sum = 28_267 * count;
    let bai2 = format!(
        "01,B,C,260105,0200,1,,,2/\n02,C,B,1,260104,2359,USD,2/\n03,1,,010,0,,,015,{sum},,/\n{}49,{},{}/\n98,{},1,{}/\n99,{},1,{}/\n",
        line.repeat(count),
        2 * sum,
        count + 2,
        2 * sum,
        count + 4,
        2 * sum,
        count + 6,
    );
    let (before, rest) = CAMT.split_once("<TxsSummry>").unwrap();
    let entry = rest.split_once("<Ntry>").unwrap().1.split_once("</Ntry>").unwrap().0;
    let entry = format!("<Ntry>{entry}</Ntry>\n");
    let count = (MAX_BYTES - 2_000) / entry.len();
    let closing = 10_000 + 28_267 * count;
    let before = before.replace("382.67", &format!("{}.{:02}", closing / 100, closing % 100));
    let camt = format!("{before}{}</Stmt></BkToCstmrStmt></Document>", entry.repeat(count));
    for (text, format) in [(bai2, Format::Bai2), (camt, Format::Camt053)] {
        let began = std::time::Instant::now();
        let lines = statements(&text, format, None)[0].lines.len();
        println!("{}: {} bytes, {lines} lines in {:?}", format.as_str(), text.len(), began.elapsed());
    }
}

#[test]
fn what_is_no_file_at_all_is_refused() {
    for format in [Format::Bai2, Format::Camt053, Format::Nacha] {
        assert_eq!(faults("", format, None), ["1 file"]);
        assert_eq!(faults(" \n ", format, None), ["1 file"]);
        let large = vec![b'1'; MAX_BYTES + 1];
        assert_eq!(read(&large, format, None).unwrap_err()[0].field, "file");
        let latin = read(b"01\n\xe9", format, None).unwrap_err();
        assert_eq!((latin[0].line, latin[0].field.as_str()), (2, "file"));
    }
}
