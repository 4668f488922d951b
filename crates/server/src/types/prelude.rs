//! What every declaration of a response needs.

pub(crate) use super::{
    responses,
    scalars::{self, CurrencyCode, Metadata, MinorUnits, Moment, MonthText, SignedCount, SignedMinorUnits},
    words,
};
