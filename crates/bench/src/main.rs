//! Measures the product from outside, over HTTP, on the loopback interface: what a quote costs beside a bare
//! echo server, how much memory a million quotes leave behind, and how the quote scales with routing rules; how
//! many cards are prepared and how many bank transfers made, beside programs that only write the same rows; what the
//! same work costs with ever more transactions in the store; what one transfer leaves behind.

mod budget;
mod cell;
mod comparison;
mod databases;
mod echo;
mod filling;
mod growth;
mod histogram;
mod instructions;
mod load;
mod numbered;
mod options;
mod pages;
mod pgbench;
mod phases;
mod plan;
mod preparations;
mod product;
mod raw_postgres;
mod raw_sqlite;
mod report;
mod rows;
mod rules;
mod runner;
mod sample;
mod transfers;
mod twin;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tollgate_bench::{Fault, call, http, launch, process, service, simulator, tenants, unless_stopped};

use budget::BudgetOptions;
use comparison::Comparison;
use growth::GrowthOptions;
use instructions::InstructionOptions;
use load::{Target, Until};
use options::Options;
use pages::PageOptions;
use process::Process;
use product::Product;
use report::{Report, Round};
use sample::{Clock, Sample};
use transfers::TransferOptions;

const QUOTE_PATH: &str = "/client/v1/fees/quote";
const QUOTE_BODY: &[u8] = br#"{"amountMinor":"125000","currency":"USD","paymentMethod":"web_card","flow":"payment_component","metadata":{"orderId":"A-1001","tier":"gold"}}"#;
const WARM_UP_SECONDS: u64 = 1;
/// How long the quotes still missing after the rounds may take.
const REMAINING_QUOTES_WITHIN: Duration = Duration::from_mins(5);

/// Measures the quote against a bare echo server, memory after many quotes, and rule scaling; or, with a command,
/// something else.
#[derive(Parser)]
#[command(name = "tollgate-bench", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    mode: Option<Mode>,
    /// The product's binary [default: beside this program].
    #[arg(long, value_name = "FILE")]
    tollgate_bin: Option<PathBuf>,
    /// Rounds against each server.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Length of a round.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Keep-alive connections, each with one request under way.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    connections: u32,
    /// Quotes to send in total before memory is read.
    #[arg(long, default_value_t = 1_000_000, value_name = "COUNT")]
    quotes: u64,
    /// Length of each measurement of the rules, two for each shape and number of rules; 0 leaves them out.
    #[arg(long, default_value_t = 2, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=600))]
    rule_seconds: u64,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Mode {
    /// Card preparations on SQLite and PostgreSQL, beside a bare HTTP round trip, the provider's answer and the rows alone.
    Preparations(Options),
    /// Bank transfers on SQLite and PostgreSQL, from one wallet and from many, beside raw SQLite and pgbench.
    Transfers(TransferOptions),
    /// The pages of the console with a million transactions on SQLite and PostgreSQL.
    Pages(PageOptions),
    /// The same work with ever more transactions on SQLite and PostgreSQL.
    Growth(GrowthOptions),
    /// What one bank transfer costs and leaves behind on SQLite and PostgreSQL, beside its budget.
    Budget(BudgetOptions),
    /// How many instructions a request takes in the server, counted by valgrind.
    Instructions(InstructionOptions),
    /// The echo server, started by the benchmark itself.
    #[command(hide = true)]
    Echo {
        #[arg(long)]
        address_file: PathBuf,
        #[arg(long)]
        answer_bytes: usize,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.mode {
        Some(Mode::Echo { address_file, answer_bytes }) => serve_echo(address_file.clone(), *answer_bytes),
        Some(Mode::Preparations(options)) => compare(preparations::measure(options), options.json),
        Some(Mode::Transfers(options)) => compare(transfers::measure(options), options.common.json),
        Some(Mode::Pages(options)) => drive(pages::measure(options)),
        Some(Mode::Growth(options)) => drive(growth::measure(options)),
        Some(Mode::Budget(options)) => drive(budget::measure(options)),
        Some(Mode::Instructions(options)) => drive(instructions::measure(options)),
        None => run(&arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn serve_echo(address_file: PathBuf, answer_bytes: usize) -> Result<bool, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async move { echo::serve(&address_file, answer_bytes).await })?;
    Ok(true)
}

/// `Ok(false)`: the run was completed, and something in it failed.
fn run(arguments: &Arguments) -> Result<bool, Fault> {
    let report = drive(unless_stopped(measure(arguments)))?;
    if arguments.json {
        println!("{}", report.json());
    } else {
        print!("{}", report.table());
    }
    Ok(report.failures.is_empty())
}

fn compare(measurement: impl Future<Output = Result<Comparison, Fault>>, json: bool) -> Result<bool, Fault> {
    let comparison = drive(measurement)?;
    if json {
        println!("{}", comparison.json());
    } else {
        print!("{}", comparison.table());
    }
    Ok(comparison.failures.is_empty())
}

fn drive<T>(measurement: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measurement)
}

async fn measure(arguments: &Arguments) -> Result<Report, Fault> {
    let binary = launch::binary(arguments.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;

    eprintln!("starting {}", binary.display());
    let product = Product::start(&binary, directory.path()).await?;
    let ready_new = product.ready_after;
    product.process.stop().await?;
    let product = Product::start(&binary, directory.path()).await?;
    let ready_existing = product.ready_after;
    let memory_start_kib = product.process.memory_kib()?;

    let secret_key = product.sandbox.secret_key.clone();
    let (_, answer_bytes) = product.call("POST", QUOTE_PATH, &secret_key, Some(QUOTE_BODY)).await?;
    let (echo_process, echo_address) = echo::start(directory.path(), answer_bytes).await?;
    let request = http::request("POST", QUOTE_PATH, Some(&secret_key), Some(QUOTE_BODY));
    let quote = Target::same(product.address, request.clone());
    let echo = Target::same(echo_address, request);

    let mut quotes = 1;
    let mut failures = Vec::new();
    let warm_up = Until::seconds(WARM_UP_SECONDS);
    note(&mut failures, "echo, warm-up", &load::run(&echo, arguments.connections, warm_up).await?);
    let warmed = load::run(&quote, arguments.connections, warm_up).await?;
    quotes += warmed.answers;
    note(&mut failures, "quote, warm-up", &warmed);
    let mut rounds = Vec::new();
    for number in 1..=arguments.rounds {
        eprintln!("round {number} of {}", arguments.rounds);
        let echo = sample(&echo_process, &echo, arguments).await?;
        let quote = sample(&product.process, &quote, arguments).await?;
        quotes += quote.measured.answers;
        note(&mut failures, &format!("echo, round {number}"), &echo.measured);
        note(&mut failures, &format!("quote, round {number}"), &quote.measured);
        rounds.push(Round { echo, quote });
    }
    drop(echo_process);

    if quotes < arguments.quotes {
        eprintln!("sending the remaining {} quotes", arguments.quotes - quotes);
        let until = Until { duration: REMAINING_QUOTES_WITHIN, requests_max: arguments.quotes - quotes };
        let rest = load::run(&quote, arguments.connections, until).await?;
        quotes += rest.answers;
        note(&mut failures, "the remaining quotes", &rest);
    }
    if quotes < arguments.quotes {
        failures.push(format!("only {quotes} of {} quotes were answered in time", arguments.quotes));
    }
    let memory_end_kib = product.process.memory_kib()?;

    let rules = if arguments.rule_seconds == 0 {
        Vec::new()
    } else {
        rules::measure(&product, &quote, QUOTE_BODY, arguments.connections, arguments.rule_seconds).await?
    };
    for row in &rules {
        note(&mut failures, &format!("{} × {} rules, alone", row.shape.name(), row.count), &row.alone);
        note(&mut failures, &format!("{} × {} rules", row.shape.name(), row.count), &row.together);
    }

    product.process.stop().await?;
    let product = Product::start(&binary, directory.path()).await?;
    let ready_after_run = product.ready_after;
    product.process.stop().await?;

    Ok(Report {
        connections: arguments.connections,
        answer_bytes,
        ready_new,
        ready_existing,
        ready_after_run,
        rounds,
        quotes,
        memory_start_kib,
        memory_end_kib,
        rules,
        failures,
    })
}

async fn sample(server: &Process, target: &Target, arguments: &Arguments) -> Result<Sample, Fault> {
    let round = load::run(target, arguments.connections, Until::seconds(arguments.seconds));
    Clock::of(server).around(round).await
}

fn note(failures: &mut Vec<String>, what: &str, measured: &load::Measured) {
    failures.extend(measured.complaint(what));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_are_read_and_bounded() {
        let arguments =
            Arguments::try_parse_from(["bench", "--rounds", "2", "--connections", "8", "--json"]).unwrap();
        assert_eq!((arguments.rounds, arguments.seconds, arguments.connections), (2, 2, 8));
        assert!(arguments.json && arguments.mode.is_none());
        assert!(Arguments::try_parse_from(["bench", "--rounds", "0"]).is_err());
        assert!(Arguments::try_parse_from(["bench", "--connections", "100000"]).is_err());
        assert!(Arguments::try_parse_from(["bench", "--speed", "9"]).is_err());
    }

    #[test]
    fn each_measurement_has_options_of_its_own() {
        let parse = |line: &str| Arguments::try_parse_from(line.split_whitespace());
        let Some(Mode::Preparations(options)) = parse("bench preparations --rounds 3 --json").unwrap().mode
        else {
            panic!("not preparations")
        };
        assert_eq!((options.rounds, options.seconds, options.connections, options.json), (3, 2, 32, true));
        assert!(matches!(parse("bench transfers --wallets 10").unwrap().mode, Some(Mode::Transfers(_))));
        let Some(Mode::Growth(_)) = parse("bench growth --sizes 10000,20000").unwrap().mode else {
            panic!("not growth")
        };
        assert!(parse("bench growth --sizes 10").is_err());
        assert!(parse("bench transfers --wallets 1").is_err());
        assert!(parse("bench preparations --quotes 1").is_err());
        assert!(parse("bench --rounds 3 preparations").is_err());
    }

    #[test]
    fn the_quote_is_json() {
        assert!(serde_json::from_slice::<serde_json::Value>(QUOTE_BODY).unwrap().is_object());
    }
}
