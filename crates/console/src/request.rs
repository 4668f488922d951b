//! Who asks, and what they sent.

pub(crate) mod pending_sign_in;
pub(crate) mod session;
pub(crate) mod signed_in;
pub(crate) mod submitted;
