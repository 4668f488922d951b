//! The commands that ask a running server: a file each, all of them clients of the admin API.

mod admin_client;
pub(crate) mod apply;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod audit_log;
pub(crate) mod completions;
pub(crate) mod config;
mod confirm;
mod diff;
pub(crate) mod doctor;
mod document;
pub(crate) mod endpoints;
pub(crate) mod erase;
pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod export;
pub(crate) mod fee_report;
pub(crate) mod fees;
mod fields;
pub(crate) mod help;
mod http;
pub(crate) mod keys;
mod listen;
pub(crate) mod mcp;
mod moment;
mod money;
pub(crate) mod open;
mod output;
mod payment_detail;
mod payment_lists;
pub(crate) mod payments;
mod provider_test;
pub(crate) mod providers;
pub(crate) mod quote;
mod reasons;
mod refund_question;
pub(crate) mod rekey;
pub(crate) mod requests;
mod sandbox_file;
mod session;
pub(crate) mod settlement;
pub(crate) mod statement;
pub(crate) mod status;
mod table;
pub(crate) mod tenants;
pub(crate) mod trigger;
pub(crate) mod users;
pub(crate) mod wallet;

use crate::failure::Failure;
pub(crate) use session::Options;
use session::Session;

impl Options {
    /// Finds the server and has a command done.
    pub(crate) async fn run<T, F>(
        self,
        command: impl FnOnce(Session, T) -> F,
        asked: T,
    ) -> Result<(), Failure>
    where
        F: Future<Output = Result<(), Failure>>,
    {
        let json = self.json;
        let done = match Session::open(self) {
            Ok(session) => command(session, asked).await,
            Err(failure) => Err(failure),
        };
        done.map_err(|failure| if json { failure.for_programs() } else { failure })
    }
}

/// A variable of the environment; an empty one counts as not set.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
