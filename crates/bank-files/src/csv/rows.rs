//! Rows of CSV as RFC 4180 has them, with the line each begins on.

use crate::fault::FaultList;

pub(super) struct Row {
    pub(super) line: usize,
    pub(super) cells: Vec<String>,
}

/// `None` after a fault behind which nothing can be told apart.
pub(super) fn rows(text: &str, delimiter: char, faults: &mut FaultList) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    let mut rest = text;
    let mut line = 1_usize;
    while !rest.is_empty() {
        let mut row = Row { line, cells: Vec::new() };
        loop {
            let (cell, after) = if let Some(quoted) = rest.strip_prefix('"') {
                let Some((cell, after)) = quoted_cell(quoted) else {
                    faults.add(line, "row", "a quote is not closed; export the file again");
                    return None;
                };
                line = line.saturating_add(cell.matches('\n').count());
                (cell, after)
            } else {
                let end = rest.find([delimiter, '\n']).unwrap_or(rest.len());
                let (cell, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                let cell =
                    if after.starts_with(delimiter) { cell } else { cell.strip_suffix('\r').unwrap_or(cell) };
                if cell.contains('"') {
                    faults.add(
                        line,
                        "row",
                        "a quote is within a cell that does not begin with one; export the file again",
                    );
                    return None;
                }
                (cell.to_owned(), after)
            };
            row.cells.push(cell);
            if let Some(next) = after.strip_prefix(delimiter) {
                rest = next;
                continue;
            }
            let after = after.strip_prefix('\r').unwrap_or(after);
            rest = after.strip_prefix('\n').unwrap_or(after);
            if rest.len() == after.len() && !after.is_empty() {
                faults.add(line, "row", "something follows a closing quote; export the file again");
                return None;
            }
            line = line.saturating_add(1);
            break;
        }
        if row.cells.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(row);
        }
    }
    Some(rows)
}

/// A cell behind its opening quote, and what follows the closing one.
fn quoted_cell(text: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        cell.push_str(part);
        match after.strip_prefix('"') {
            Some(next) => {
                cell.push('"');
                rest = next;
            }
            None => return Some((cell, after)),
        }
    }
}
