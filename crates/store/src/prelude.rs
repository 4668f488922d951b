//! What every unit of work is made of.

pub(crate) use crate::{
    cells::Cells,
    fault::{CorruptRow, Fault},
    rows,
    session::{Dialect, Effect, Session},
    table::table,
    value::{Value, row, values},
};
