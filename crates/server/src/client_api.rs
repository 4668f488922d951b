//! The client API, a file per endpoint with its request and its answer.

pub(crate) mod quote;
