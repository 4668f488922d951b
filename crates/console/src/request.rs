//! Who asks, and what they sent.

pub(crate) mod session;
pub(crate) mod signed_in;
pub(crate) mod submitted;
