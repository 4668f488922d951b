//! What a collection must know about its objects.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// An object that can be kept in a file.
pub(crate) trait Kept: Clone + Serialize + DeserializeOwned {
    /// What such objects are looked for by, beside their id.
    fn label(&self) -> Option<&str> {
        None
    }

    fn class(&self) -> Class {
        Class::Open
    }
}

/// What objects are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Open,
    /// It came through: settled, complete, charged.
    Done,
    /// It came through and was sent back.
    Returned,
}

/// For values that are best written as their text.
pub(crate) mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[allow(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<T: Display, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(to)
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}
