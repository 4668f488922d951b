//! What a yardstick does: the product's statements with the product's own rows in them, but for the names, which are
//! new each time.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Fault;
use crate::cell::Cell;
use crate::numbered::{mixed, pick};
use crate::rows::Row;

/// A value that is another each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// One of the environments.
    Environment,
    /// An id that sorts behind those made before.
    Id(usize),
    /// An id that sorts anywhere, as digests do.
    Scattered,
    /// A text of the shape of the one that the product wrote.
    Text(usize),
}

/// What a statement holds at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slot {
    Same(Cell),
    Made(Made),
}

/// A statement that has to change something: its text in pieces, and what goes between them.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pieces: Vec<String>,
    pub(crate) slots: Vec<Slot>,
}

/// Statements that are committed together.
pub(crate) type Unit = Vec<Statement>;

/// The beginning of a text that is made again, and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) prefix: String,
    pub(crate) digits: usize,
}

/// Tells which of the product's values are made again. What is the same in two rows of the product stays the same in two
/// rows of the yardstick.
#[derive(Default)]
pub(crate) struct Names {
    made: HashMap<Cell, Made>,
    ids: usize,
    shapes: Vec<Shape>,
    next: Arc<AtomicU64>,
}

impl Names {
    pub(crate) fn environment(&mut self, value: &Cell) {
        self.made.insert(value.clone(), Made::Environment);
    }

    pub(crate) fn scattered(&mut self, value: &Cell) {
        self.made.insert(value.clone(), Made::Scattered);
    }

    /// A text that begins with something and an underscore.
    pub(crate) fn text(&mut self, value: &str) {
        let prefix = value.rfind('_').and_then(|place| value.get(..=place)).unwrap_or_default();
        self.made.insert(Cell::text(value), Made::Text(self.shapes.len()));
        self.shapes.push(Shape { prefix: prefix.to_owned(), digits: value.len() - prefix.len() });
    }

    /// Every id that was not named otherwise is made again.
    fn slot(&mut self, value: &Cell) -> Slot {
        if let Some(made) = self.made.get(value) {
            return Slot::Made(*made);
        }
        if !matches!(value, Cell::Id(_)) {
            return Slot::Same(value.clone());
        }
        let made = Made::Id(self.ids);
        self.ids += 1;
        self.made.insert(value.clone(), made);
        Slot::Made(made)
    }

    /// `text` with `{}` in it for each of the values.
    pub(crate) fn statement(&mut self, text: &str, values: &[Cell]) -> Statement {
        let pieces = text.split("{}").map(str::to_owned).collect();
        Statement { pieces, slots: values.iter().map(|value| self.slot(value)).collect() }
    }

    /// One statement for all rows of a table, as they are; they have the same columns.
    pub(crate) fn insert(&mut self, table: &str, rows: &[Row]) -> Statement {
        let columns: Vec<&str> = rows
            .first()
            .into_iter()
            .flat_map(|row| row.cells.iter().map(|(name, _)| name.as_str()))
            .collect();
        let one = format!("({})", vec!["{}"; columns.len()].join(", "));
        let text = format!(
            "INSERT INTO {table} ({}) VALUES {}",
            columns.join(", "),
            vec![one; rows.len()].join(", ")
        );
        let values: Vec<Cell> =
            rows.iter().flat_map(|row| row.cells.iter().map(|(_, cell)| cell.clone())).collect();
        self.statement(&text, &values)
    }

    /// An event, with the next number of its environment where the product gives it one at once.
    pub(crate) fn insert_event(&mut self, event: &Row) -> Result<Statement, Fault> {
        let next = "(SELECT coalesce(max(sequence), 0) + 1 FROM out_events WHERE environment_id = {})";
        let (mut columns, mut places, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (name, cell) in &event.cells {
            let is_number = name == "sequence";
            columns.push(name.as_str());
            places.push(if is_number { next } else { "{}" });
            values.push(if is_number { event.cell("environment_id")?.clone() } else { cell.clone() });
        }
        let text = format!("INSERT INTO out_events ({}) VALUES ({})", columns.join(", "), places.join(", "));
        Ok(self.statement(&text, &values))
    }

    /// Changes some columns of the row with this key.
    pub(crate) fn update(
        &mut self,
        table: &str,
        changes: &[(String, Cell)],
        key: &[(String, Cell)],
    ) -> Statement {
        let list = |columns: &[(String, Cell)], between: &str| {
            columns.iter().map(|(name, _)| format!("{name} = {{}}")).collect::<Vec<_>>().join(between)
        };
        let text = format!("UPDATE {table} SET {} WHERE {}", list(changes, ", "), list(key, " AND "));
        let values: Vec<Cell> = changes.iter().chain(key).map(|(_, cell)| cell.clone()).collect();
        self.statement(&text, &values)
    }

    /// Who makes the values, each time again and for each of these environments as often. No two makers make the same.
    pub(crate) fn maker(&self, environments: Vec<Cell>) -> Maker {
        let next = Arc::clone(&self.next);
        Maker { environments: environments.into(), ids: self.ids, shapes: self.shapes.clone().into(), next }
    }

    pub(crate) fn ids(&self) -> usize {
        self.ids
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }
}

impl Statement {
    /// The text, with what `place` says for each slot.
    pub(crate) fn render(&self, mut place: impl FnMut(&Slot) -> String) -> String {
        let mut text = String::new();
        let mut slots = self.slots.iter();
        for piece in &self.pieces {
            text.push_str(piece);
            if let Some(slot) = slots.next() {
                text.push_str(&place(slot));
            }
        }
        text
    }

    pub(crate) fn sqlite(&self) -> String {
        let mut number = 0_u32;
        self.render(|_| {
            number += 1;
            format!("?{number}")
        })
    }
}

/// The unit as one statement of PostgreSQL, as the product sends it: one round trip, and a commit of its own.
pub(crate) fn postgres_unit(unit: &[Statement]) -> Result<(String, Vec<&Slot>), Fault> {
    let (last, others) = unit.split_last().ok_or("a unit without a statement")?;
    let mut number = 0_u32;
    let mut place = |_: &Slot| {
        number += 1;
        format!("${number}")
    };
    let mut text = String::new();
    for (index, statement) in others.iter().enumerate() {
        let before = if index == 0 { "WITH" } else { "," };
        let _ = write!(text, "{before} part_{index} AS ({}) ", statement.render(&mut place));
    }
    text.push_str(&last.render(&mut place));
    Ok((text, unit.iter().flat_map(|statement| &statement.slots).collect()))
}

/// Makes values; its clones make others.
#[derive(Clone)]
pub(crate) struct Maker {
    environments: Arc<[Cell]>,
    ids: usize,
    shapes: Arc<[Shape]>,
    next: Arc<AtomicU64>,
}

/// One set of values.
pub(crate) struct Values {
    environment: Cell,
    ids: Vec<Cell>,
    scattered: Cell,
    texts: Vec<Cell>,
}

impl Maker {
    pub(crate) fn next(&self) -> Values {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let environment = self.environments.get(pick(number, self.environments.len()));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let id = |place: usize| {
            let tail = u128::from(number) << 16 | u128::try_from(place).unwrap_or_default();
            Cell::Id(((now << 80) | tail).to_be_bytes())
        };
        let chance = u128::from(mixed(number)) << 64 | u128::from(mixed(!number));
        let digits = format!("{chance:032x}");
        let text = |shape: &Shape| {
            let digits = digits.get(..shape.digits).unwrap_or(&digits);
            Cell::Text(format!("{}{digits}", shape.prefix))
        };
        Values {
            environment: environment.cloned().unwrap_or(Cell::Null),
            ids: (0..self.ids).map(id).collect(),
            scattered: Cell::Id(chance.to_be_bytes()),
            texts: self.shapes.iter().map(text).collect(),
        }
    }
}

impl Values {
    pub(crate) fn at<'a>(&'a self, slot: &'a Slot) -> &'a Cell {
        match slot {
            Slot::Same(cell) => cell,
            Slot::Made(Made::Environment) => &self.environment,
            Slot::Made(Made::Id(number)) => self.ids.get(*number).unwrap_or(&Cell::Null),
            Slot::Made(Made::Scattered) => &self.scattered,
            Slot::Made(Made::Text(number)) => self.texts.get(*number).unwrap_or(&Cell::Null),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, Cell)]) -> Row {
        Row { cells: cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect() }
    }

    #[test]
    fn what_was_one_name_stays_one_name() {
        let (home, payment) = (Cell::Id([1; 16]), Cell::Id([2; 16]));
        let mut names = Names::default();
        names.environment(&home);
        names.text("pi_abcdefgh");
        let first = names.insert("p", &[row(&[("e", home.clone()), ("id", payment.clone())])]);
        let second = names.insert(
            "o",
            &[row(&[("id", Cell::Id([3; 16])), ("p", payment), ("o", Cell::text("pi_abcdefgh"))])],
        );
        assert_eq!(first.sqlite(), "INSERT INTO p (e, id) VALUES (?1, ?2)");
        let maker = names.maker(vec![Cell::Id([9; 16])]);
        let (values, others) = (maker.next(), maker.clone().next());
        let at = |statement: &Statement, values: &Values| -> Vec<Cell> {
            statement.slots.iter().map(|slot| values.at(slot).clone()).collect()
        };
        assert_eq!(at(&first, &values)[0], Cell::Id([9; 16]));
        assert_eq!(at(&first, &values)[1], at(&second, &values)[1]);
        assert_ne!(at(&second, &values)[0], at(&second, &values)[1]);
        assert_ne!(at(&first, &values)[1], at(&first, &others)[1]);
        let Cell::Text(object) = &at(&second, &values)[2] else { panic!("not a text") };
        assert!(object.starts_with("pi_") && object.len() == "pi_abcdefgh".len());
    }

    #[test]
    fn a_unit_is_one_statement_of_postgres() {
        let mut names = Names::default();
        let cell = |name: &str, value| (name.to_owned(), Cell::Integer(value));
        let unit = [
            names.update("p", &[cell("a", 1), cell("b", 2)], &[cell("id", 3)]),
            names.insert("l", &[row(&[("x", Cell::Null)]), row(&[("x", Cell::Flag(true))])]),
        ];
        let (text, slots) = postgres_unit(&unit).unwrap();
        assert_eq!(
            text,
            "WITH part_0 AS (UPDATE p SET a = $1, b = $2 WHERE id = $3) INSERT INTO l (x) VALUES ($4), ($5)"
        );
        assert_eq!(slots.len(), 5);
        assert!(postgres_unit(&[]).is_err());
    }
}
