//! What every unit of work is made of.

pub(crate) use crate::{
    cells::Cells,
    fault::{CorruptRow, Fault},
    rows,
    session::{Dialect, Session},
    table::table,
    unit::Effect,
    value::{Value, row, values},
};
