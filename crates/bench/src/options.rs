//! Options that several measurements have.

use std::path::PathBuf;

use clap::Args;

/// How long and how hard is measured, and with what.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The product's binary [default: beside this program].
    #[arg(long, value_name = "FILE")]
    pub(crate) tollgate_bin: Option<PathBuf>,
    /// A PostgreSQL server on this machine, whose user may create databases; without one, only SQLite is measured.
    #[arg(long, value_name = "URL", env = "TOLLGATE_TEST_POSTGRES_URL", hide_env_values = true)]
    pub(crate) postgres_url: Option<String>,
    /// Rounds of each thing measured, after one to warm up.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Length of a round, which also ends after a million requests.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub(crate) seconds: u64,
    /// Keep-alive connections, each with one request under way.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=150))]
    pub(crate) connections: u32,
    /// Only the things whose names begin with this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
