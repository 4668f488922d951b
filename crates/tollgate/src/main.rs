//! The one binary: a sandbox by default, a server with `serve`, and the commands around them.

mod cli;
mod failure;
mod logging;
mod migrate;
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
    Options, apply, approvals, audit, audit_log, completions, config, doctor, endpoints, erase, events,
    exceptions, export, fee_report, fees, keys, mcp, open, payments, providers, quote, rekey, requests,
    settlement, statement, status, tenants, trigger, users, wallet,
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
/// accept --json and --environment, before or after the command.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, about, long_about)]
struct Arguments {
    #[command(flatten)]
    options: Options,
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
    /// Bring the database's schema up to date and end; `serve` does so itself where its role may.
    Migrate {
        /// A TOML settings file; environment variables take precedence.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Apply a configuration document: show the changes, then confirm.
    Apply(apply::Apply),
    /// Print the current configuration in the format `apply` reads.
    Export(export::Export),
    /// Show configuration history and restore versions.
    Config(config::Config),
    /// Show providers, missing settings and webhook URLs.
    Providers(providers::Providers),
    /// List and create organizations.
    Organizations(tenants::Organizations),
    /// List and create applications.
    Applications(tenants::Applications),
    /// List and create environments.
    Environments(tenants::Environments),
    /// List, issue, rotate and revoke keys.
    Keys(keys::Keys),
    /// List, add and remove users, issue and revoke their personal tokens.
    Users(users::Users),
    /// List payments and show one in detail.
    Payments(payments::Payments),
    /// Quote the route and fees of a payment.
    Quote(quote::Payment),
    /// Explain a quote rule by rule and step by step.
    Explain(quote::Payment),
    /// Show what card fees may be charged where and what they came to, and check files of rules.
    Fees(fees::Fees),
    /// Show wallets, add or withdraw funds, list postings.
    Wallet(wallet::Wallet),
    /// List transfers and configuration changes that wait for approval; approve and deny them.
    Approvals(approvals::Approvals),
    /// List and resolve discrepancies with providers.
    Exceptions(exceptions::Exceptions),
    /// Verify bank statements and files of ACH returns.
    Settlement(settlement::Settlement),
    /// List, resend and stream webhook events.
    Events(events::Events),
    /// Manage webhook endpoints.
    Endpoints(endpoints::Endpoints),
    /// Check for problems: disk, clocks, providers, stuck work.
    Doctor(doctor::Doctor),
    /// Show on one screen how an environment stands.
    Status(status::Status),
    /// List client API calls and follow them live.
    Requests(requests::Requests),
    /// Print or open the console page of a payment, an event or a section.
    Open(open::Open),
    /// Answer an assistant's questions: a Model Context Protocol server on standard input and output.
    Mcp(mcp::Mcp),
    /// Print the version; with --json also the schema it makes, and the oldest schema whose versions may run beside it.
    Version,
    /// Show a month's fees, payments, refunds and disputes of an organization.
    Statement(statement::Statement),
    /// Recompute every balance and verify the audit log; fails on any inconsistency.
    Audit(audit::Audit),
    /// Show or export the audit log: who did what.
    AuditLog(audit_log::AuditLog),
    /// Remove a customer's personal data; amounts and the books stay.
    Erase(erase::Erase),
    /// Encrypt everything under the current master key, so that the previous one can be removed.
    Rekey(rekey::Rekey),
    /// Simulate payments, settlements, returns, refunds and disputes in the sandbox.
    Trigger(trigger::Trigger),
    /// Print shell completions.
    Completions(completions::Completions),
    /// Print the manual page, for man.
    Man,
}

impl Command {
    /// Whether it prints JSON if asked to.
    fn has_json(&self) -> bool {
        self.asks_a_server() || matches!(self, Self::Settlement(_) | Self::Version)
    }

    fn asks_a_server(&self) -> bool {
        if let Self::Fees(fees) = self {
            return fees.asks_a_server();
        }
        !matches!(
            self,
            Self::Serve { .. }
                | Self::Migrate { .. }
                | Self::Simulator(_)
                | Self::Settlement(_)
                | Self::Generate { .. }
                | Self::Completions(_)
                | Self::Man
                | Self::Version
        )
    }
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
    let Arguments { options, command } = arguments;
    if options.json && !command.as_ref().is_some_and(Command::has_json) {
        let reason = "--json is for commands that ask a server, for settlement and for version";
        Arguments::command().error(clap::error::ErrorKind::ArgumentConflict, reason).exit();
    }
    let Some(command) = command else { return within_runtime(sandbox::run()) };
    match command {
        Command::Serve { config } => within_runtime(serve::run(config)),
        Command::Migrate { config } => within_runtime(migrate::run(config)),
        Command::Simulator(arguments) => within_runtime(simulator::run(arguments)),
        Command::Apply(asked) => within_runtime(options.run(apply::run, asked)),
        Command::Export(asked) => within_runtime(options.run(export::run, asked)),
        Command::Config(asked) => within_runtime(options.run(config::run, asked)),
        Command::Providers(asked) => within_runtime(options.run(providers::run, asked)),
        Command::Organizations(asked) => within_runtime(options.run(tenants::organizations, asked)),
        Command::Applications(asked) => within_runtime(options.run(tenants::applications, asked)),
        Command::Environments(asked) => within_runtime(options.run(tenants::environments, asked)),
        Command::Keys(asked) => within_runtime(options.run(keys::run, asked)),
        Command::Users(asked) => within_runtime(options.run(users::run, asked)),
        Command::Payments(asked) => within_runtime(options.run(payments::run, asked)),
        Command::Quote(asked) => within_runtime(options.run(quote::quote, asked)),
        Command::Explain(asked) => within_runtime(options.run(quote::explain, asked)),
        Command::Fees(fees) => fees.run(|asked| within_runtime(options.run(fee_report::run, asked))),
        Command::Wallet(asked) => within_runtime(options.run(wallet::run, asked)),
        Command::Approvals(asked) => within_runtime(options.run(approvals::run, asked)),
        Command::Exceptions(asked) => within_runtime(options.run(exceptions::run, asked)),
        Command::Settlement(asked) => asked.run(options.json),
        Command::Events(asked) => within_runtime(options.run(events::run, asked)),
        Command::Endpoints(asked) => within_runtime(options.run(endpoints::run, asked)),
        Command::Doctor(asked) => within_runtime(options.run(doctor::run, asked)),
        Command::Status(asked) => within_runtime(options.run(status::run, asked)),
        Command::Requests(asked) => within_runtime(options.run(requests::run, asked)),
        Command::Open(asked) => within_runtime(options.run(open::run, asked)),
        Command::Mcp(asked) => within_runtime(options.run(mcp::run, asked)),
        Command::Version => {
            print_version(options.json);
            Ok(())
        }
        Command::Statement(asked) => within_runtime(options.run(statement::run, asked)),
        Command::Audit(asked) => within_runtime(options.run(audit::run, asked)),
        Command::AuditLog(asked) => within_runtime(options.run(audit_log::run, asked)),
        Command::Erase(asked) => within_runtime(options.run(erase::run, asked)),
        Command::Rekey(asked) => within_runtime(options.run(rekey::run, asked)),
        Command::Trigger(asked) => within_runtime(options.run(trigger::run, asked)),
        Command::Completions(completions) => completions::run(Arguments::command(), &completions),
        Command::Man => completions::manual(Arguments::command()),
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

fn print_version(as_json: bool) {
    let version = env!("CARGO_PKG_VERSION");
    if as_json {
        let (schema, oldest) = (tollgate_store::schema_version(), tollgate_store::oldest_schema_version());
        println!("{{\"version\":\"{version}\",\"schemaVersion\":{schema},\"oldestSchemaVersion\":{oldest}}}");
    } else {
        println!("tollgate {version}");
    }
}

/// For SQLite's four readers, and two for whatever else may block.
const MIN_BLOCKING_THREADS: usize = 6;

fn within_runtime(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    // Each thread has memory of its own, and more than these only wait for the same disk.
    let blocking = std::thread::available_parallelism()
        .map_or(MIN_BLOCKING_THREADS, |cores| cores.get().max(MIN_BLOCKING_THREADS));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(blocking).build();
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
