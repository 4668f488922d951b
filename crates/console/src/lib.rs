//! The operator's web pages: rendered here, embedded in the binary, no other host needed.
//!
//! A page reads through the engine's use-cases and knows no SQL; a form changes things through the same use-cases as the
//! admin API. Everything works without a script; the one there is adds comfort.

mod assets;
mod config_pages;
mod console;
mod deliveries;
mod directory_pages;
mod endpoints;
mod events;
mod exceptions;
mod format;
mod keys;
mod overview;
mod page;
mod payment;
mod payments;
mod playground;
mod plot;
mod providers;
mod routing;
mod session;
mod sign_in;
mod signed_in;
mod submitted;
mod timeline;
mod try_out;
mod waiting;
mod wallets;

pub use console::{Console, router};
pub use playground::{Playground, playground};
