//! JSON as text: written without a tree, and numbers kept exact.

pub(crate) mod compact;
pub(crate) mod text;
pub(crate) mod timestamp;
pub(crate) mod writer;
