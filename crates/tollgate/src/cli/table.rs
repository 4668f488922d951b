//! Aligned tables.

use super::output::{Paint, Style, printable};

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
        let widths: Vec<_> = heads
            .iter()
            .enumerate()
            .map(|(column, head)| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.text.chars().count()).chain([head.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        let heads = heads.iter().map(|head| Cell::painted(*head, Paint::Strong)).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let last = row.len().saturating_sub(1);
            for (column, cell) in row.iter().enumerate() {
                let width = widths.get(column).copied().unwrap_or(0);
                let gap = " ".repeat(width.saturating_sub(cell.text.chars().count()));
                let to_right = self.heads.get(column).is_some_and(|head| head.starts_with('>'));
                let shown = style.paint(cell.paint, &cell.text);
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

/// What to add below a list that goes on.
pub(crate) fn more(list: &serde_json::Value, option: &str) -> String {
    let cursor = list.get("nextCursor").and_then(serde_json::Value::as_str);
    cursor.map(|cursor| format!("There are more: {option} {cursor}\n")).unwrap_or_default()
}
