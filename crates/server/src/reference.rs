//! The API's reference: the OpenAPI document at `/openapi.json`, and the page at `/docs` that shows it, with the
//! documentation below it.
//!
//! Methods and paths come from the router, shapes from the types that handlers read and answer, failures from the
//! list of error codes, examples from a sandbox that a test has run. What is written by hand here is what nothing else can say: what an operation is for.

mod descriptions;
pub(crate) mod document;
mod examples;
mod failures;
mod literal;
mod operation;
mod operations;
pub(crate) mod page;
mod parameters;
mod samples;

pub(crate) mod serve;

#[cfg(test)]
mod tests;
