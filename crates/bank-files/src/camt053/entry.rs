//! Entries of a statement, each with the transactions it consists of.

use super::Statement;
use crate::{
    StatementLine,
    amount::{iso_date, shown, whole},
    fault::FaultList,
    xml::Element,
};

/// What a party writes that has no end-to-end id.
const NOT_PROVIDED: &str = "NOTPROVIDED";

impl Statement {
    pub(super) fn entry(&mut self, entry: &Element<'_>, faults: &mut FaultList) {
        let Some(amount_minor) = self.amount(entry, faults) else {
            self.entries.incomplete = true;
            return;
        };
        let (number, sum) =
            if amount_minor < 0 { &mut self.entries.debits } else { &mut self.entries.credits };
        *number = number.saturating_add(1);
        *sum = sum.saturating_add(i128::from(amount_minor.unsigned_abs()));
        match entry.text_at(&["Sts", "Cd"]).or_else(|| entry.text_at(&["Sts"])) {
            Some("BOOK") => {}
            Some("PDNG" | "INFO" | "FUTR") => return,
            status => {
                let message = format!(
                    "`{}` is not a status of an entry; ask the bank",
                    shown(status.unwrap_or_default())
                );
                faults.add(entry.line, "Sts", message);
                return;
            }
        }
        let day = |name: &str| entry.text_at(&[name, "Dt"]).or_else(|| entry.text_at(&[name, "DtTm"]));
        let value_on = day("ValDt").and_then(|day| faults.keep(entry.line, "ValDt", iso_date(day)));
        let booked_on = match day("BookgDt") {
            Some(day) => faults.keep(entry.line, "BookgDt", iso_date(day)),
            None => self.dated,
        };
        check_batches(entry, faults);
        let Some(booked_on) = booked_on else { return };
        self.lines.push(StatementLine {
            line: entry.line,
            amount_minor,
            booked_on,
            value_on,
            code: code(entry),
            bank_reference: entry.text_at(&["AcctSvcrRef"]).map(str::to_owned),
            references: references(entry),
            text: text(entry),
            is_reversal: entry.text_at(&["RvslInd"]) == Some("true"),
        });
    }
}

fn transactions<'e, 'a>(entry: &'e Element<'a>) -> impl Iterator<Item = &'e Element<'a>> {
    entry.children("NtryDtls").flat_map(|details| details.children("TxDtls"))
}

/// A batch that lists its transactions lists all of them.
fn check_batches(entry: &Element<'_>, faults: &mut FaultList) {
    for details in entry.children("NtryDtls") {
        let listed = i64::try_from(details.children("TxDtls").count()).unwrap_or(i64::MAX);
        let Some(number) = details.at(&["Btch", "NbOfTxs"]) else { continue };
        let given = faults.keep(number.line, "NbOfTxs", whole(number.text()));
        if listed > 0 && given.is_some_and(|given| given != listed) {
            let message = format!(
                "does not agree with the {listed} transactions of the batch; download the file again"
            );
            faults.add(number.line, "NbOfTxs", message);
        }
    }
}

fn code(entry: &Element<'_>) -> String {
    let domain = [&["Domn", "Cd"][..], &["Domn", "Fmly", "Cd"], &["Domn", "Fmly", "SubFmlyCd"]];
    let Some(code) = entry.at(&["BkTxCd"]) else { return String::new() };
    let parts: Vec<_> = domain.iter().filter_map(|path| code.text_at(path)).collect();
    if parts.is_empty() {
        code.text_at(&["Prtry", "Cd"]).unwrap_or_default().to_owned()
    } else {
        parts.join("-")
    }
}

fn references(entry: &Element<'_>) -> Vec<String> {
    let paths =
        [&["EndToEndId"][..], &["UETR"], &["TxId"], &["InstrId"], &["AcctSvcrRef"], &["Prtry", "Ref"]];
    let mut references: Vec<String> = entry.text_at(&["NtryRef"]).map(str::to_owned).into_iter().collect();
    for transaction in transactions(entry) {
        let Some(refs) = transaction.at(&["Refs"]) else { continue };
        let texts = paths.iter().filter_map(|path| refs.text_at(path)).filter(|text| *text != NOT_PROVIDED);
        references.extend(texts.map(str::to_owned));
    }
    references
}

fn text(entry: &Element<'_>) -> String {
    let remittances = transactions(entry).filter_map(|transaction| transaction.at(&["RmtInf"]));
    let free = remittances.flat_map(|remittance| remittance.children("Ustrd")).map(Element::text);
    let reasons = transactions(entry).filter_map(|transaction| transaction.text_at(&["RtrInf", "Rsn", "Cd"]));
    let own = entry.text_at(&["AddtlNtryInf"]);
    free.chain(reasons).chain(own).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}
