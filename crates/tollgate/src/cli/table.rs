//! Aligned tables.

use std::borrow::Cow;

use super::output::{Paint, Style, printable};

/// A text is cut to this before a whole column is left out.
const READABLE: usize = 16;
/// No column is made narrower than this.
const NARROWEST: usize = 8;
/// What begins the head of a column that stands to the right and is never cut: amounts, counts.
const NUMBER: char = '>';
/// What begins the head of a column that is never cut: moments, statuses.
const WHOLE: char = '=';

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

/// Rows under heads. A head that begins with `>` has its column to the right. Such a column, and one whose head begins with `=`,
/// is shown whole or not at all.
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    /// The heads of columns that a narrow terminal does without, the least important first.
    left_out_first: &'static [&'static str],
}

impl Table {
    pub(crate) fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), rows: Vec::new(), left_out_first: &[] }
    }

    /// Names columns that a narrow terminal does without, the least important first.
    #[must_use]
    pub(crate) fn leaving_out(mut self, heads: &'static [&'static str]) -> Self {
        self.left_out_first = heads;
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, or the sentence where there are no rows.
    pub(crate) fn draw(&self, style: Style, nothing: &str) -> String {
        if self.rows.is_empty() {
            return format!("{nothing}\n");
        }
        let mut columns = self.columns();
        let left_out =
            style.width.map(|width| fit(&mut columns, width, self.left_out_first)).unwrap_or_default();
        let mut text = String::new();
        let heads = self.heads.iter().map(|head| Cell::painted(name(head), Paint::Strong)).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let last = columns.last().map_or(0, |column| column.place);
            for column in &columns {
                let Some(cell) = row.get(column.place) else { continue };
                let fitted = fitted(&cell.text, column.width);
                let gap = " ".repeat(column.width.saturating_sub(fitted.chars().count()));
                let shown = style.paint(cell.paint, &fitted);
                match (column.kind == Kind::Number, column.place == last) {
                    (true, _) => text.extend([gap.as_str(), &shown]),
                    (false, true) => text.push_str(&shown),
                    (false, false) => text.extend([shown.as_str(), &gap]),
                }
                if column.place != last {
                    text.push_str("  ");
                }
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        if !left_out.is_empty() {
            let said = format!("Left out: {} (see --json).", left_out.join(", "));
            text.extend([style.dim(&said).as_str(), "\n"]);
        }
        text
    }

    /// Every column as wide as it wants to be.
    fn columns(&self) -> Vec<Column> {
        let columns = self.heads.iter().enumerate().map(|(place, head)| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            let widths = cells.map(|cell| cell.text.chars().count());
            let kind = match head.chars().next() {
                Some(NUMBER) => Kind::Number,
                Some(WHOLE) => Kind::Whole,
                _ => Kind::Text,
            };
            let name = name(head);
            Column { place, name, kind, width: widths.chain([name.chars().count()]).max().unwrap_or(0) }
        });
        columns.collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// May be cut.
    Text,
    Whole,
    Number,
}

struct Column {
    /// Where its cells are in a row.
    place: usize,
    name: &'static str,
    kind: Kind,
    width: usize,
}

impl Column {
    /// The first column names what a line is about and can be copied, so that it stays as it is.
    fn can_be_cut(&self) -> bool {
        self.kind == Kind::Text && self.place > 0
    }
}

fn name(head: &'static str) -> &'static str {
    head.trim_start_matches([NUMBER, WHOLE])
}

/// Makes a table fit: texts are cut while they stay readable, then columns are left out in the order given, at last texts are cut
/// further. Returns the names of what was left out.
fn fit(columns: &mut Vec<Column>, most: usize, left_out_first: &[&'static str]) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    let mut expendable = left_out_first.iter();
    loop {
        let excess = excess(columns, most);
        let spare = columns.iter().filter(|column| column.can_be_cut());
        if excess <= spare.map(|column| column.width.saturating_sub(READABLE)).sum::<usize>() {
            cut(columns, excess, READABLE);
            return left_out;
        }
        let Some(next) = expendable.next() else {
            cut(columns, excess, NARROWEST);
            return left_out;
        };
        columns.retain(|column| column.name != *next);
        left_out.push(*next);
    }
}

fn excess(columns: &[Column], most: usize) -> usize {
    let gaps = columns.len().saturating_sub(1).saturating_mul(2);
    columns.iter().map(|column| column.width).sum::<usize>().saturating_add(gaps).saturating_sub(most)
}

/// Takes so many characters from the widest texts, from the last on, as long as they keep so many.
fn cut(columns: &mut [Column], excess: usize, kept: usize) {
    for _ in 0..excess {
        let texts = columns.iter_mut().filter(|column| column.can_be_cut());
        let widest = texts.max_by_key(|column| column.width).filter(|column| column.width > kept);
        let Some(widest) = widest else { return };
        widest.width = widest.width.saturating_sub(1);
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

    const HEADS: [&str; 6] = ["REFERENCE", "=STATUS", ">AMOUNT", "PROVIDER", "=CREATED", "DESCRIPTION"];

    fn drawn(width: Option<usize>) -> String {
        let mut table = Table::new(&HEADS).leaving_out(&["PROVIDER", "DESCRIPTION"]);
        for (amount, description) in [
            ("125.00 USD", "Desk lamp"),
            ("10000000000000000.00 USD", "Four chairs and a long table for the hall"),
        ] {
            let reference = "pay_01m7f9xp6y93xkre036h4gshrj";
            let cells =
                [reference, "succeeded", amount, "card_provider_a", "2026-11-15 09:51:54", description];
            table.row(cells.map(Cell::from));
        }
        table.draw(Style::plain(width), "nothing")
    }

    #[test]
    fn amounts_are_never_cut_and_the_least_important_columns_go_first() {
        assert!(drawn(None).lines().next().unwrap().ends_with("CREATED              DESCRIPTION"));
        for (width, there, gone) in [
            (160, &["PROVIDER", "Four chairs and a long table for the hall"][..], &["Left out"][..]),
            (140, &["PROVIDER", "Four chairs", "…"][..], &["Left out"][..]),
            (
                110,
                &["DESCRIPTION", "Four chairs", "Left out: PROVIDER (see --json)."][..],
                &["card_provider_a"][..],
            ),
            (80, &["Left out: PROVIDER, DESCRIPTION (see --json)."][..], &["Four"][..]),
            (40, &["2026-11-15 09:51:54"][..], &["Four"][..]),
        ] {
            let text = drawn(Some(width));
            for part in ["10000000000000000.00 USD", "pay_01m7f9xp6y93xkre036h4gshrj", "succeeded"]
                .iter()
                .chain(there)
            {
                assert!(text.contains(part), "{width}: {part} is not in\n{text}");
            }
            assert!(gone.iter().all(|part| !text.contains(part)), "{width}:\n{text}");
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            // What is never cut is 88 characters wide.
            assert!(widest <= width.max(88), "{width}: {widest}\n{text}");
        }
    }

    #[test]
    fn texts_are_cut_to_what_fits_and_the_first_column_stays() {
        let mut table = Table::new(&["SUBJECT", "PROBLEM"]);
        table.row([Cell::from("s".repeat(30)), Cell::from("p".repeat(90))]);
        let text = table.draw(Style::plain(Some(80)), "");
        assert_eq!(text.lines().nth(1).unwrap().chars().count(), 80, "{text}");
        assert!(text.contains(&"s".repeat(30)));
        let text = table.draw(Style::plain(Some(20)), "");
        assert!(text.contains(&format!("{}  {}…\n", "s".repeat(30), "p".repeat(7))), "{text}");
        assert_eq!((&*fitted("abcdef", 4), &*fitted("äöü", 3)), ("abc…", "äöü"));
    }
}
