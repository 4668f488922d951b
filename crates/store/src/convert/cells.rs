//! Rows of either database, read alike.

use tollgate_domain::{Minor, Timestamp};

use super::{CorruptRow, amount};

/// The values of one row, taken from left to right: whoever reads names the columns in the order it takes them.
pub(crate) trait Cells {
    /// What goes wrong with this database.
    type Fault: From<CorruptRow>;

    fn id(&mut self) -> Result<[u8; 16], Self::Fault>;
    fn id_or_none(&mut self) -> Result<Option<[u8; 16]>, Self::Fault>;
    fn digest(&mut self) -> Result<[u8; 32], Self::Fault>;
    fn flag(&mut self) -> Result<bool, Self::Fault>;
    fn number(&mut self) -> Result<i64, Self::Fault>;
    fn number_or_none(&mut self) -> Result<Option<i64>, Self::Fault>;
    fn text(&mut self) -> Result<String, Self::Fault>;
    fn text_or_none(&mut self) -> Result<Option<String>, Self::Fault>;
    /// A text that `parse` knows.
    fn word<T>(&mut self, what: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Self::Fault>;

    /// A number within the bounds of `T`.
    fn count<T: TryFrom<i64>>(&mut self, what: &'static str) -> Result<T, Self::Fault> {
        Ok(T::try_from(self.number()?).map_err(|_| CorruptRow(what))?)
    }

    fn amount(&mut self) -> Result<Minor, Self::Fault> {
        Ok(amount(self.number()?)?)
    }

    fn amount_or_none(&mut self) -> Result<Option<Minor>, Self::Fault> {
        Ok(self.number_or_none()?.map(amount).transpose()?)
    }

    fn moment(&mut self) -> Result<Timestamp, Self::Fault> {
        Ok(Timestamp::from_unix_millis(self.number()?))
    }

    fn moment_or_none(&mut self) -> Result<Option<Timestamp>, Self::Fault> {
        Ok(self.number_or_none()?.map(Timestamp::from_unix_millis))
    }
}
