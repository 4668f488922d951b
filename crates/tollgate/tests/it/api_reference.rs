//! The API reference held against the server: who may call what, whether answers keep to the document, whether clients
//! can be made from it, and the page that shows it.

mod fuzz;
mod generators;
mod matrix;
mod page;
pub mod python;
mod scene;

/// The scripts and their pinned requirements.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference");
