//! The API's reference: the OpenAPI document at `/openapi.json`, and the page at `/docs` that shows it.
//!
//! Methods and paths come from the router, shapes from the types that handlers read and answer, failures from the
//! list of error codes. What is written by hand here is what nothing else can say: what an operation is for.

mod admin;
mod client;
mod configuration;
mod document;
mod failures;
mod operation;
mod page;
mod parameters;
pub(crate) mod scalars;
mod schemas;
mod service;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use bytes::Bytes;
use tollgate_vault::Secret;

pub(crate) use page::{docs, docs_script, openapi};

/// What is served of it.
pub(crate) struct Reference {
    page: Bytes,
}

impl Reference {
    /// With a key filled in on the page, for a sandbox.
    pub(crate) fn new(key: Option<&Secret>) -> Self {
        Self { page: page::html(key).into() }
    }

    /// The document, which is made when it is first asked for.
    fn document() -> Bytes {
        static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
        DOCUMENT.get_or_init(|| document::document().to_string().into()).clone()
    }
}
