//! The operator's web pages: rendered here, embedded in the binary, no other host needed.
//!
//! A page reads through the engine's use-cases and knows no SQL; a form changes things through the same use-cases as the
//! admin API. Everything works without a script; the one there is adds comfort.

mod layout;
mod pages;
mod request;
mod router;
mod state;

pub use pages::{
    first_page::{SandboxKeys, product_page, sandbox_page},
    playground::{Playground, playground},
};
pub use router::{PageRoute, page_routes, router};
pub use state::{Console, ConsoleTokens};
