//! The one binary: a sandbox by default, a server with `serve`, and the commands around them.

mod admin_client;
mod audit;
mod failure;
mod logging;
mod node;
mod sandbox;
mod serve;
mod settings;
mod simulator;
mod welcome;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};
use tollgate_vault::{AdminToken, MasterKey};

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
    /// Recompute every balance of a running server from its entries; fails where anything is off.
    ///
    /// Finds the server by TOLLGATE_URL and TOLLGATE_ADMIN_TOKEN, or by the sandbox's sandbox.json.
    Audit {
        /// Print the whole answer as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a new secret for the settings.
    Generate {
        /// Which.
        what: Generated,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Generated {
    /// The key that seals secrets at rest (TOLLGATE_MASTER_KEY).
    MasterKey,
    /// The operator's token (TOLLGATE_ADMIN_TOKEN).
    AdminToken,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("tollgate: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        None => within_runtime(sandbox::run()),
        Some(Command::Serve { config }) => within_runtime(serve::run(config)),
        Some(Command::Simulator { listen }) => within_runtime(simulator::run(listen)),
        Some(Command::Audit { json }) => within_runtime(audit::run(json)),
        Some(Command::Generate { what }) => {
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
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
