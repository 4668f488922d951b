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
    payments, providers, quote, tenants, trigger, wallet,
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
/// Commands that ask a server find it by TOLLGATE_URL and TOLLGATE_ADMIN_TOKEN, or by the sandbox's sandbox.json; all of
/// them take --json and --environment.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, about, long_about, verbatim_doc_comment)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run in production: no demo data; refuses to start without its master key.
    Serve {
        /// A TOML file of settings; the environment goes before it.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Run the provider simulator alone: the providers' wires, played from memory.
    Simulator {
        /// Where to listen; port 0 picks a free one.
        #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4010")]
        listen: String,
    },
    /// Print a new secret for the settings.
    Generate {
        /// Which.
        what: Generated,
    },
    /// Put a configuration document in force: shows what changes, and asks.
    Apply(CommandArgs<apply::Apply>),
    /// Print the configuration in force, as `apply` takes it back.
    Export(CommandArgs<export::Export>),
    /// The configuration's history, and the way back.
    Config(CommandArgs<config::Config>),
    /// What is configured, what it lacks, where its webhooks go.
    Providers(CommandArgs<providers::Providers>),
    /// List and create organizations.
    Organizations(CommandArgs<tenants::Organizations>),
    /// List and create applications.
    Applications(CommandArgs<tenants::Applications>),
    /// List and create environments.
    Environments(CommandArgs<tenants::Environments>),
    /// List, issue, rotate and revoke keys.
    Keys(CommandArgs<keys::Keys>),
    /// List payments, and tell one's whole story.
    Payments(CommandArgs<payments::Payments>),
    /// What a payment would cost.
    Quote(CommandArgs<quote::Payment>),
    /// The same, rule by rule and step by step.
    Explain(CommandArgs<quote::Payment>),
    /// What the wallets hold; fund them, withdraw, read their ledger.
    Wallet(CommandArgs<wallet::Wallet>),
    /// Where a provider and the books disagree.
    Exceptions(CommandArgs<exceptions::Exceptions>),
    /// What callers are told; send it again, or listen to it.
    Events(CommandArgs<events::Events>),
    /// The addresses that are told.
    Endpoints(CommandArgs<endpoints::Endpoints>),
    /// Look for what would hurt later: disk, clocks, providers, work nobody gets round to.
    Doctor(CommandArgs<doctor::Doctor>),
    /// Recompute every balance from its entries; fails where anything is off.
    Audit(CommandArgs<audit::Audit>),
    /// Have the sandbox's simulated providers pay, settle, return, refund, dispute.
    Trigger(CommandArgs<trigger::Trigger>),
    /// Print a shell's completions.
    Completions(completions::Completions),
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Generated {
    /// The key that seals secrets at rest (TOLLGATE_MASTER_KEY).
    MasterKey,
    /// The operator's token (TOLLGATE_ADMIN_TOKEN).
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
        Command::Simulator { listen } => within_runtime(simulator::run(listen)),
        Command::Apply(asked) => within_runtime(asked.run(apply::run)),
        Command::Export(asked) => within_runtime(asked.run(export::run)),
        Command::Config(asked) => within_runtime(asked.run(config::run)),
        Command::Providers(asked) => within_runtime(asked.run(providers::run)),
        Command::Organizations(asked) => within_runtime(asked.run(tenants::organizations)),
        Command::Applications(asked) => within_runtime(asked.run(tenants::applications)),
        Command::Environments(asked) => within_runtime(asked.run(tenants::environments)),
        Command::Keys(asked) => within_runtime(asked.run(keys::run)),
        Command::Payments(asked) => within_runtime(asked.run(payments::run)),
        Command::Quote(asked) => within_runtime(asked.run(quote::quote)),
        Command::Explain(asked) => within_runtime(asked.run(quote::explain)),
        Command::Wallet(asked) => within_runtime(asked.run(wallet::run)),
        Command::Exceptions(asked) => within_runtime(asked.run(exceptions::run)),
        Command::Events(asked) => within_runtime(asked.run(events::run)),
        Command::Endpoints(asked) => within_runtime(asked.run(endpoints::run)),
        Command::Doctor(asked) => within_runtime(asked.run(doctor::run)),
        Command::Audit(asked) => within_runtime(asked.run(audit::run)),
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
