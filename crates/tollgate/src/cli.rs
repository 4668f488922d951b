//! The commands that ask a running server: a file each, all of them clients of the admin API.

mod admin_client;
pub(crate) mod apply;
pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod config;
mod confirm;
mod diff;
pub(crate) mod doctor;
mod document;
pub(crate) mod endpoints;
pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod export;
mod fields;
pub(crate) mod help;
mod http;
pub(crate) mod keys;
mod listen;
mod moment;
mod money;
mod output;
mod payment_detail;
pub(crate) mod payments;
mod provider_test;
pub(crate) mod providers;
pub(crate) mod quote;
mod reasons;
pub(crate) mod rekey;
mod sandbox_file;
mod session;
pub(crate) mod statement;
mod table;
pub(crate) mod tenants;
pub(crate) mod trigger;
pub(crate) mod users;
pub(crate) mod wallet;

use clap::Args;

use crate::failure::Failure;
use session::{Options, Session};

/// A command of this kind: what every one of them takes, and what is its own.
#[derive(Debug, Args)]
pub(crate) struct CommandArgs<T: Args> {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    what: T,
}

impl<T: Args> CommandArgs<T> {
    /// Finds the server and has the command done.
    pub(crate) async fn run<F>(self, command: impl FnOnce(Session, T) -> F) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        let json = self.options.json;
        let done = match Session::open(self.options) {
            Ok(session) => command(session, self.what).await,
            Err(failure) => Err(failure),
        };
        done.map_err(|failure| if json { failure.for_programs() } else { failure })
    }
}

/// A variable of the environment; an empty one counts as not set.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
