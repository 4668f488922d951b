//! Aligned tables.

use std::borrow::Cow;

use super::output::{Paint, Style, printable};

/// No column is made narrower than this.
const NARROWEST: usize = 8;

/// A cell and its color.
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    pub(crate) fn painted(text: impl Into<String>, paint: Paint) -> Self {
        Self { text: printable(&text.into()), paint }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::painted(text, Paint::Plain)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::painted(text, Paint::Plain)
    }
}

/// Rows under heads. A head that begins with `>` has its column to the right.
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, or the sentence where there are no rows.
    pub(crate) fn draw(&self, style: Style, nothing: &str) -> String {
        if self.rows.is_empty() {
            return format!("{nothing}\n");
        }
        let heads: Vec<_> = self.heads.iter().map(|head| head.trim_start_matches('>')).collect();
        let mut widths: Vec<_> = heads
            .iter()
            .enumerate()
            .map(|(column, head)| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.text.chars().count()).chain([head.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        if let Some(width) = style.width {
            narrow(&mut widths, width);
        }
        let mut text = String::new();
        let heads = heads.iter().map(|head| Cell::painted(*head, Paint::Strong)).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let last = row.len().saturating_sub(1);
            for (column, cell) in row.iter().enumerate() {
                let width = widths.get(column).copied().unwrap_or(0);
                let fitted = fitted(&cell.text, width);
                let gap = " ".repeat(width.saturating_sub(fitted.chars().count()));
                let to_right = self.heads.get(column).is_some_and(|head| head.starts_with('>'));
                let shown = style.paint(cell.paint, &fitted);
                match (to_right, column == last) {
                    (true, _) => text.extend([gap.as_str(), &shown]),
                    (false, true) => text.push_str(&shown),
                    (false, false) => text.extend([shown.as_str(), &gap]),
                }
                if column != last {
                    text.push_str("  ");
                }
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }
}

/// Takes from the widest columns, from the last on, until the table fits. The first one names what a line is about and can be
/// copied, so that it stays.
fn narrow(widths: &mut [usize], most: usize) {
    let gaps = widths.len().saturating_sub(1).saturating_mul(2);
    let mut excess = widths.iter().sum::<usize>().saturating_add(gaps).saturating_sub(most);
    while excess > 0 {
        let widest = widths.iter_mut().skip(1).max_by_key(|width| **width);
        let Some(widest) = widest.filter(|width| **width > NARROWEST) else { return };
        *widest = widest.saturating_sub(1);
        excess -= 1;
    }
}

fn fitted(text: &str, width: usize) -> Cow<'_, str> {
    if text.chars().count() <= width {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    Cow::Owned(format!("{kept}…"))
}

/// What to add below a list that goes on.
pub(crate) fn more(list: &serde_json::Value, option: &str) -> String {
    let cursor = list.get("nextCursor").and_then(serde_json::Value::as_str);
    cursor.map(|cursor| format!("There are more: {option} {cursor}\n")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_a_terminal_and_keeps_its_first_column() {
        let mut widths = [30, 10, 12, 60];
        narrow(&mut widths, 80);
        assert_eq!(widths.iter().sum::<usize>() + 6, 80, "{widths:?}");
        assert_eq!((widths[0], widths[1]), (30, 10));
        let mut widths = [70, 20, 20];
        narrow(&mut widths, 80);
        assert_eq!(widths, [70, 8, 8], "what cannot fit stays readable");
        assert_eq!((&*fitted("abcdef", 4), &*fitted("äöü", 3)), ("abc…", "äöü"));
    }
}
