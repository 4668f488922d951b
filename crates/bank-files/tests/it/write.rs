//! Writers of every format, which share no code with the readers.

use jiff::civil::Date;
use tollgate_bank_files::{BankStatement, ReturnFile, StatementLine};
use tollgate_domain::{Currency, Minor};

use crate::draw::Draw;

fn short(day: Date) -> String {
    day.strftime("%y%m%d").to_string()
}

/// BAI2, with continuations and groups where the draw puts them.
pub(crate) fn bai2(statements: &[BankStatement], draw: &mut Draw) -> String {
    let mut file = vec!["01,BANK,US,260105,0600,7,,,2/".to_owned()];
    let (mut groups, mut file_sum) = (0, 0);
    for statement in statements {
        let start = file.len();
        let status = if statement.is_correction { 3 } else { 1 };
        file.push(format!("02,US,BANK,{status},{},2359,{},2/", short(statement.dated), statement.currency));
        let account = file.len();
        let mut sum = 0;
        let opening = statement.balances.map(|balances| balances.opening_minor);
        let closing = statement.balances.map(|balances| balances.closing_minor).or(Some(5));
        let mut summary = format!("03,{},", statement.account);
        for (code, amount) in [("010", opening), ("015", closing), ("045", Some(77))] {
            let Some(amount) = amount else { continue };
            if draw.percent(30) {
                file.push(format!("{}/", summary.clone() + draw.of(&["", ","])));
                summary = format!("88,{code},{amount},,");
            } else {
                summary.push_str(&format!(",{code},{amount},,"));
            }
            sum += amount;
        }
        file.push(summary + "/");
        for line in &statement.lines {
            sum += line.amount_minor.abs();
            detail(line, &mut file, draw);
        }
        file.push(format!("49,{sum},{}/", file.len() + 1 - account));
        file.push(format!("98,{sum},1,{}/", file.len() + 1 - start));
        (groups, file_sum) = (groups + 1, file_sum + sum);
    }
    file.push(format!("99,{file_sum},{groups},{}/", file.len() + 1));
    let end = draw.of(&["\n", "\r\n", "   \n"]);
    file.join(end) + end
}

fn detail(line: &StatementLine, file: &mut Vec<String>, draw: &mut Draw) {
    let funds = match line.value_on {
        Some(day) => format!("V,{},", short(day)),
        None => draw.of(&["", "Z", "0", "S,1,2,3", "D,2,0,5,1,6"]).to_owned(),
    };
    let reference = line.references.first().map_or("", String::as_str);
    let bank_reference = line.bank_reference.as_deref().unwrap_or_default();
    let head = format!("16,{},{},{funds},{bank_reference},{reference}", line.code, line.amount_minor.abs());
    if draw.percent(30) {
        file.push(head + "/");
        let mut words = line.text.split(' ').collect::<Vec<_>>();
        let rest = words.split_off(draw.below(words.len()));
        // Without a slash at its end a continuation is text all the same.
        file.push(format!("88,{}", words.join(" ")));
        file.push(format!("88,{}/", rest.join(" ")));
    } else {
        file.push(format!("{head},{}/", line.text));
    }
}

fn decimal(minor: i64, currency: Currency) -> String {
    currency.decimal(Minor::new(minor.unsigned_abs()).unwrap())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&#62;")
}

/// camt.053 of a version, with a prefix or without.
pub(crate) fn camt053(statements: &[BankStatement], version: &str, draw: &mut Draw) -> String {
    let mut body = String::new();
    for statement in statements {
        let BankStatement { account, currency, dated, .. } = statement;
        let amount = |minor: i64| {
            let side = if minor < 0 { "DBIT" } else { "CRDT" };
            format!(
                "<Amt Ccy=\"{currency}\">{}</Amt><CdtDbtInd>{side}</CdtDbtInd>",
                decimal(minor, *currency)
            )
        };
        let balance = |code: &str, minor: i64| {
            format!("<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{}</Bal>\n", amount(minor))
        };
        body += &format!("<Stmt><Id>S</Id><CreDtTm>{dated}T23:00:00Z</CreDtTm>");
        body += &format!("<Acct><Id><Othr><Id>{account}</Id></Othr></Id></Acct>\n");
        body += &balance(draw.of(&["OPBD", "PRCD"]), statement.balances.unwrap().opening_minor);
        body += &balance("CLBD", statement.balances.unwrap().closing_minor);
        if draw.percent(50) {
            let sum: i64 = statement.lines.iter().map(|line| line.amount_minor.abs()).sum();
            let (number, sum) = (statement.lines.len(), decimal(sum, *currency));
            body += &format!(
                "<TxsSummry><TtlNtries><NbOfNtries>{number}</NbOfNtries><Sum>{sum}</Sum></TtlNtries></TxsSummry>"
            );
        }
        for line in &statement.lines {
            let status = if version.ends_with("02") { "BOOK" } else { "<Cd>BOOK</Cd>" };
            body += &format!("<Ntry>{}<Sts>{status}</Sts>", amount(line.amount_minor));
            body += &format!("<BookgDt><Dt>{}</Dt></BookgDt>", line.booked_on);
            if let Some(day) = line.value_on {
                body += &format!("<ValDt><DtTm>{day}T00:00:00</DtTm></ValDt>");
            }
            if let Some(reference) = &line.bank_reference {
                body += &format!("<AcctSvcrRef>{reference}</AcctSvcrRef>");
            }
            body += &format!("<BkTxCd><Prtry><Cd>{}</Cd></Prtry></BkTxCd>", line.code);
            let reference = line.references.first().map_or("NOTPROVIDED", String::as_str);
            let text = if draw.percent(30) && !line.text.contains("]]>") {
                format!("<![CDATA[{}]]>", line.text)
            } else {
                escaped(&line.text)
            };
            body += &format!(
                "<NtryDtls><Btch><NbOfTxs>1</NbOfTxs></Btch><TxDtls><Refs><EndToEndId>{reference}</EndToEndId></Refs>"
            );
            body += &format!("<RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n");
        }
        body += "</Stmt>\n";
    }
    let namespace = format!("urn:iso:std:iso:20022:tech:xsd:{version}");
    format!(
        "<?xml version=\"1.0\"?>\n<Document xmlns='{namespace}'><BkToCstmrStmt><GrpHdr/>{body}</BkToCstmrStmt></Document>"
    )
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// CSV as American banks write it, with its mapping.
pub(crate) fn csv(statement: &BankStatement) -> (String, String) {
    let BankStatement { account, currency, .. } = statement;
    let mut text = "Date,Value,Amount,Balance,Type,Reference,Text\n".to_owned();
    let mut balance = statement.balances.unwrap().opening_minor;
    let signed = |minor: i64| format!("{}{}", if minor < 0 { "-" } else { "" }, decimal(minor, *currency));
    for line in &statement.lines {
        balance += line.amount_minor;
        let day = |day: Option<Date>| day.map(|day| day.strftime("%m/%d/%Y").to_string()).unwrap_or_default();
        let reference = line.references.first().map_or("", String::as_str);
        let cells = [
            day(Some(line.booked_on)),
            day(line.value_on),
            signed(line.amount_minor),
            signed(balance),
            line.code.clone(),
            reference.to_owned(),
            quoted(&line.text),
        ];
        text += &(cells.join(",") + "\n");
    }
    let mapping = format!(
        "account = {account}\ncurrency = {currency}\ndate_format = MM/DD/YYYY\nbooked_on = Date\nvalue_on = Value\n\
         amount = Amount\nbalance = Balance\ncode = Type\nreference = Reference\ntext = Text\n"
    );
    (text, mapping)
}

/// A file of returns, every entry in a batch of its own.
pub(crate) fn nacha(file: &ReturnFile) -> String {
    let mut lines = vec![format!(
        "101 091400606{:>10}{}1200A094101{:<23}{:<23}{:8}",
        file.origin,
        short(file.created_on),
        "BANK",
        "COMPANY",
        ""
    )];
    let mut hash = 0;
    for (index, entry) in file.returns.iter().enumerate() {
        let (number, bank) = (index + 1, 9_140_060 + index * 1_000_003);
        hash += bank;
        let amount = entry.amount_minor;
        let (code, debit, credit) = if entry.is_credit { (21, 0, amount) } else { (26, amount, 0) };
        lines.push(format!(
            "5200{:<16}{:20}{:<10}PPD{:<10}260301260302   109140060{number:07}",
            "COMPANY", "", entry.company_id, "PAY"
        ));
        let head = format!("6{code}{bank:08}6{:<17}{amount:010}{:<15}", "123456", entry.individual_id);
        lines.push(format!("{head}{:<22}  1{}", "NAME", entry.trace));
        let head =
            format!("799{}{}{:6}09140060{:<44}", entry.code, entry.original_trace, "", entry.information);
        lines.push(head + &entry.trace);
        let head = format!("8200000002{bank:010}{debit:012}{credit:012}{:<10}", entry.company_id);
        lines.push(format!("{head}{:25}09140060{number:07}", ""));
    }
    let blocks = (lines.len() + 1).div_ceil(10);
    let (batches, records) = (file.returns.len(), 2 * file.returns.len());
    let totals = format!("{:012}{:012}", file.debits_minor, file.credits_minor);
    lines.push(format!("9{batches:06}{blocks:06}{records:08}{hash:010}{totals}{:39}", ""));
    while !lines.len().is_multiple_of(10) {
        lines.push("9".repeat(94));
    }
    lines.join("\n") + "\n"
}
