//! The one binary: a sandbox by default, a server with `serve`, and the commands around them.

mod cli;
mod failure;
mod logging;
mod node;
mod sandbox;
mod serve;
mod settings;
mod simulator;
mod welcome;

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use tollgate_vault::{AdminToken, MasterKey};

use cli::{
    CommandArgs, apply, audit, completions, config, doctor, endpoints, events, exceptions, export, keys,
    payments, providers, quote, rekey, statement, tenants, trigger, users, wallet,
};
use failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Payment orchestration: one binary between a backend and its card and bank-transfer providers.
///
/// Without a command it starts a sandbox: an embedded database under ./tollgate-data, a demo environment with keys,
/// routing, fees and a funded wallet, and a first request to paste.
///
/// Settings also come from the environment: TOLLGATE_LISTEN, TOLLGATE_DATA_DIR, TOLLGATE_DATABASE_URL,
/// TOLLGATE_ADMIN_TOKEN, TOLLGATE_MASTER_KEY and TOLLGATE_LOG.
///
/// Commands that talk to a server use TOLLGATE_URL and TOLLGATE_ADMIN_TOKEN, or the sandbox's sandbox.json. All of them
/// accept --json and --environment.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, about, long_about, verbatim_doc_comment)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run in production: no demo data; requires a master key.
    Serve {
        /// A TOML settings file; environment variables take precedence.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Run only the provider simulator: an in-memory simulator of the providers' APIs.
    Simulator(simulator::SimulatorArgs),
    /// Generate a secret for the settings.
    Generate {
        /// Which.
        what: Generated,
    },
    /// Apply a configuration document: show the changes, then confirm.
    Apply(CommandArgs<apply::Apply>),
    /// Print the current configuration in the format `apply` reads.
    Export(CommandArgs<export::Export>),
    /// Show configuration history and restore versions.
    Config(CommandArgs<config::Config>),
    /// Show providers, missing settings and webhook URLs.
    Providers(CommandArgs<providers::Providers>),
    /// List and create organizations.
    Organizations(CommandArgs<tenants::Organizations>),
    /// List and create applications.
    Applications(CommandArgs<tenants::Applications>),
    /// List and create environments.
    Environments(CommandArgs<tenants::Environments>),
    /// List, issue, rotate and revoke keys.
    Keys(CommandArgs<keys::Keys>),
    /// List, add and remove users, issue and revoke their personal tokens.
    Users(CommandArgs<users::Users>),
    /// List payments and show one in detail.
    Payments(CommandArgs<payments::Payments>),
    /// Quote the route and fees of a payment.
    Quote(CommandArgs<quote::Payment>),
    /// Explain a quote rule by rule and step by step.
    Explain(CommandArgs<quote::Payment>),
    /// Show wallets, add or withdraw funds, list postings.
    Wallet(CommandArgs<wallet::Wallet>),
    /// List and resolve discrepancies with providers.
    Exceptions(CommandArgs<exceptions::Exceptions>),
    /// List, resend and stream webhook events.
    Events(CommandArgs<events::Events>),
    /// Manage webhook endpoints.
    Endpoints(CommandArgs<endpoints::Endpoints>),
    /// Check for problems: disk, clocks, providers, stuck work.
    Doctor(CommandArgs<doctor::Doctor>),
    /// Show a month's fees, payments, refunds and disputes of an organization.
    Statement(CommandArgs<statement::Statement>),
    /// Recompute every balance from its entries; fails on any inconsistency.
    Audit(CommandArgs<audit::Audit>),
    /// Encrypt everything under the current master key, so that the previous one can be removed.
    Rekey(CommandArgs<rekey::Rekey>),
    /// Simulate payments, settlements, returns, refunds and disputes in the sandbox.
    Trigger(CommandArgs<trigger::Trigger>),
    /// Print shell completions.
    Completions(completions::Completions),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Generated {
    /// The key that encrypts secrets at rest (TOLLGATE_MASTER_KEY).
    MasterKey,
    /// The admin API token (TOLLGATE_ADMIN_TOKEN).
    AdminToken,
}

fn main() -> ExitCode {
    let matches = cli::help::grouped(Arguments::command()).get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let Some(command) = arguments.command else { return within_runtime(sandbox::run()) };
    match command {
        Command::Serve { config } => within_runtime(serve::run(config)),
        Command::Simulator(arguments) => within_runtime(simulator::run(arguments)),
        Command::Apply(asked) => within_runtime(asked.run(apply::run)),
        Command::Export(asked) => within_runtime(asked.run(export::run)),
        Command::Config(asked) => within_runtime(asked.run(config::run)),
        Command::Providers(asked) => within_runtime(asked.run(providers::run)),
        Command::Organizations(asked) => within_runtime(asked.run(tenants::organizations)),
        Command::Applications(asked) => within_runtime(asked.run(tenants::applications)),
        Command::Environments(asked) => within_runtime(asked.run(tenants::environments)),
        Command::Keys(asked) => within_runtime(asked.run(keys::run)),
        Command::Users(asked) => within_runtime(asked.run(users::run)),
        Command::Payments(asked) => within_runtime(asked.run(payments::run)),
        Command::Quote(asked) => within_runtime(asked.run(quote::quote)),
        Command::Explain(asked) => within_runtime(asked.run(quote::explain)),
        Command::Wallet(asked) => within_runtime(asked.run(wallet::run)),
        Command::Exceptions(asked) => within_runtime(asked.run(exceptions::run)),
        Command::Events(asked) => within_runtime(asked.run(events::run)),
        Command::Endpoints(asked) => within_runtime(asked.run(endpoints::run)),
        Command::Doctor(asked) => within_runtime(asked.run(doctor::run)),
        Command::Statement(asked) => within_runtime(asked.run(statement::run)),
        Command::Audit(asked) => within_runtime(asked.run(audit::run)),
        Command::Rekey(asked) => within_runtime(asked.run(rekey::run)),
        Command::Trigger(asked) => within_runtime(asked.run(trigger::run)),
        Command::Completions(completions) => completions::run(Arguments::command(), &completions),
        Command::Generate { what } => {
            let secret = match what {
                Generated::MasterKey => MasterKey::generate()?,
                Generated::AdminToken => AdminToken::generate()?,
            };
            println!("{}", secret.expose());
            Ok(())
        }
    }
}

fn within_runtime(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(format!("cannot start: {error}")))?.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_stands_in_one_group_of_the_help() {
        let mut grouped = cli::help::grouped_names();
        let command = Arguments::command();
        let mut known: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }
}
