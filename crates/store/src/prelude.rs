//! What every unit of work is made of.

pub(crate) use crate::{
    cells::Cells,
    fault::{CorruptRow, Fault},
    record::{Stored, read, record, row, stored, table, texts},
    rows,
    session::{Dialect, Session},
    unit::Effect,
    value::{Value, values},
};
