//! The API reference held against the server: who may call what, whether answers keep to the document, whether clients
//! can be made from it, whether its examples are true, and the page that shows it.

mod examples;
mod fuzz;
mod generators;
mod matrix;
mod normalize;
mod page;
pub mod python;
mod samples;
mod scene;

/// The scripts and their pinned requirements.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference");
