//! The repository's chores, the same here and in CI. It depends on nothing but the standard library, so that
//! the first thing a newcomer runs is built in a second.

mod args;
mod cargo;
#[cfg(test)]
mod checklist;
mod lines;
mod package;
mod postgres;
mod processes;
#[cfg(test)]
mod provider_table;
mod release;
mod reproduce;
mod sbom;
mod sdks;
mod sentences;
mod step;
mod structure;
mod summary;
mod tools;
mod upgrade;

use std::{
    path::PathBuf,
    process::{Command, ExitCode},
};

use args::Task;
use postgres::Postgres;
use step::{Outcome, step};
use summary::Summary;

/// Where the benchmark finds PostgreSQL's own.
const PGBENCH_VARIABLE: &str = "TOLLGATE_BENCH_PGBENCH";

/// Where the drill finds PostgreSQL's programs, and whom it runs them as.
const DRILL_POSTGRES_VARIABLE: &str = "TOLLGATE_DRILL_POSTGRES";
const DRILL_ACCOUNT_VARIABLE: &str = "TOLLGATE_DRILL_ACCOUNT";

/// Where tests find the binary to try, if not the one that was built for them.
const BINARY_VARIABLE: &str = "TOLLGATE_TEST_BINARY";

/// Crates whose integration tests need nothing but themselves: no database server, no browser, no program of ours.
const FAST_CRATES: [&str; 3] = ["configuration", "domain", "engine"];

/// Where the hosted CI finds its workflows.
const WORKFLOWS: &str = ".github/workflows";

fn main() -> ExitCode {
    let task = match args::parse(std::env::args().skip(1)) {
        Ok(task) => task,
        Err(fault) => {
            eprintln!("{fault}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match task {
        Task::Help => {
            println!("{}", args::USAGE);
            ExitCode::SUCCESS
        }
        Task::Test { filters } => test(&filters),
        Task::Check => exit_code(check()),
        Task::Lint => exit_code(lint()),
        Task::Sentences => exit_code(sentences::print()),
        Task::Lines { at } => exit_code(lines::print(at.as_deref())),
        Task::Structure => exit_code(structure::print()),
        Task::Postgres { command } => exit_code(with_postgres(&command)),
        Task::Bench { arguments } => exit_code(bench(&arguments)),
        Task::Crash { kills } => exit_code(crash(kills)),
        Task::Drill { arguments } => exit_code(drill(&arguments)),
        Task::UpgradeDrill { before } => exit_code(upgrade_drill(before.as_deref())),
        Task::Rekey { values } => exit_code(rekey(values)),
        Task::Model { steps } => exit_code(model(steps)),
        Task::Routes { rounds } => exit_code(routes(rounds)),
        Task::Fees { payments } => exit_code(fees(payments)),
        Task::Fuzz { examples } => exit_code(fuzz(examples)),
        Task::Audit => exit_code(audit()),
        Task::Sbom => exit_code(sbom::write()),
        Task::Sdks => exit_code(sdks::build()),
        Task::Package(asked) => exit_code(package(&asked)),
        Task::ReleaseNotes { tag } => exit_code(release::print_notes(&tag)),
        Task::Reproduce => exit_code(reproduce::run()),
        Task::FirstPayment => exit_code(first_payment()),
        Task::LiveTest => exit_code(live_test()),
        Task::WiresLatest => exit_code(wires_latest()),
        Task::Simulate { arguments } => exit_code(simulate(&arguments)),
    }
}

/// Everything `make test` promises. The summary is the last line whatever happens, so that a reader or a script
/// needs to look nowhere else.
fn test(filters: &[String]) -> ExitCode {
    let summary = match run_tests(filters) {
        Ok(summary) => summary,
        Err(fault) => {
            eprintln!("\n{fault}");
            Summary::failed_step()
        }
    };
    println!("\n{summary}");
    if summary.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_tests(filters: &[String]) -> Outcome<Summary> {
    step("Tools", || {
        tools::ensure_cargo_components()?;
        tools::ensure_python()?;
        tools::ensure_node()?;
        tools::ensure_browser()?;
        tools::ensure_go()?;
        tools::ensure_postgres().map(drop)
    })?;
    format()?;
    workflows()?;
    step("Lint and build", cargo::build_tests)?;
    let postgres = step("PostgreSQL", || Postgres::start_without_sync(&tools::ensure_postgres()?))?;
    let summary = step("Tests", || cargo::test(filters, &postgres.url()));
    postgres.stop();
    summary
}

/// The workflows of the hosted CI: their form, and what an attacker could do with them.
fn workflows() -> Outcome<()> {
    step("Workflows", || {
        tools::ensure_python()?;
        let linters = tools::ensure_workflow_linters()?;
        let folder = std::fs::read_dir(WORKFLOWS).map_err(|error| format!("{WORKFLOWS}: {error}"))?;
        let files: Vec<_> = folder.flatten().map(|file| file.path()).collect();
        let mut schema = Command::new(linters.join("check-jsonschema"));
        schema.args(["--builtin-schema", "vendor.github-workflows"]);
        let mut zizmor = Command::new(linters.join("zizmor"));
        zizmor.args(["--offline", "--no-progress", "--persona=pedantic"]);
        for mut linter in [schema, zizmor] {
            linter.args(&files);
            let status =
                linter.status().map_err(|error| format!("{linter:?} could not be started: {error}"))?;
            if !status.success() {
                return Err("a workflow has faults; see above".to_owned());
            }
        }
        Ok(())
    })
}

fn format() -> Outcome<()> {
    step("Format", || cargo::run(&["fmt", "--all", "--check"]))
}

fn lint() -> Outcome<()> {
    format()?;
    workflows()?;
    step("Lint", || {
        cargo::run(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"])
    })
}

/// What is worth running after every change: no database server, no browser, no binary of ours is started.
fn check() -> Outcome<()> {
    lint()?;
    step("Tests", || {
        // The whole workspace is named, so that features are the same as in `test` and nothing is compiled twice.
        let mut arguments = vec!["test", "--quiet", "--workspace", "--all-features", "--lib"];
        let names =
            FAST_CRATES.iter().map(|name| cargo::integration_tests(name)).collect::<Outcome<Vec<_>>>()?;
        arguments.extend(names.iter().flatten().flat_map(|name| ["--test", name]));
        cargo::run(&arguments)
    })
}

fn with_postgres(command: &[String]) -> Outcome<()> {
    let (program, arguments) = command.split_first().ok_or("a command to run is missing")?;
    let postgres = Postgres::start(&tools::ensure_postgres()?)?;
    let status = Command::new(program).args(arguments).env(postgres::URL_VARIABLE, postgres.url()).status();
    postgres.stop();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}

/// The build is not part of what is timed.
fn first_payment() -> Outcome<()> {
    tools::ensure_node()?;
    tools::ensure_python()?;
    let binary = release_binary()?;
    let name = "readme::a_stranger_pays_within_a_minute";
    let arguments = ["test", "--quiet", "--package", "tollgate", "--all-features", "--test", "it", "--"];
    let status = cargo::command()
        .args(arguments)
        .args([name, "--exact", "--nocapture"])
        .env(BINARY_VARIABLE, binary)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the first payment failed: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

fn release_binary() -> Outcome<PathBuf> {
    cargo::run(&["build", "--release", "--locked", "--package", "tollgate"])?;
    Ok(cargo::release_directory()?.join("tollgate"))
}

/// The packages of the release binary, or of another, tried out where that is possible.
fn package(asked: &args::Package) -> Outcome<()> {
    let binary = if let Some(binary) = &asked.binary {
        PathBuf::from(binary)
    } else {
        let source = std::env::current_dir().map_err(|error| format!("own folder unknown: {error}"))?;
        cargo::build_for_release(&source)?
    };
    let packages = package::build(&binary)?;
    if !asked.is_tried {
        Ok(())
    } else if tools::is_root() {
        package::try_out(&packages)
    } else {
        println!("\nnot tried out: only root can install it into a folder of its own");
        Ok(())
    }
}

/// Says itself what it needs where nothing is in the environment.
fn live_test() -> Outcome<()> {
    let name = "live::the_providers_own_sandboxes";
    let arguments = ["test", "--quiet", "--package", "tollgate", "--all-features", "--test", "it", "--"];
    cargo::run(&[&arguments[..], &[name, "--ignored", "--exact", "--nocapture"]].concat())
}

/// The tests of what goes over the wire, by other libraries than those that are pinned.
fn wires_latest() -> Outcome<()> {
    tools::ensure_node()?;
    tools::ensure_python()?;
    let arguments =
        ["test", "--quiet", "--package", "tollgate-providers", "--all-features", "--test", "it", "--"];
    let status = cargo::command()
        .args(arguments)
        .args(["wires::", "--include-ignored", "--nocapture"])
        .env("TOLLGATE_WIRES_LATEST", "1")
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            Err("the newest libraries would refuse something, or have other types; see above".to_owned())
        }
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

fn bench(arguments: &[String]) -> Outcome<()> {
    if arguments.first().is_some_and(|mode| mode == "instructions") {
        tools::ensure_valgrind()?;
    }
    // One build of both, so that features are unified once and nothing is compiled twice.
    cargo::run(&["build", "--release", "--package", "tollgate", "--package", "tollgate-bench"])?;
    let program = cargo::release_directory()?.join("tollgate-bench");
    let mut command = Command::new(&program);
    command.args(arguments);
    let postgres = if args::bench_needs_postgres(arguments) {
        let binaries = tools::ensure_postgres()?;
        let postgres = Postgres::start(&binaries)?;
        command.env(postgres::URL_VARIABLE, postgres.url()).env(PGBENCH_VARIABLE, binaries.join("pgbench"));
        Some(postgres)
    } else {
        None
    };
    let status = command.status();
    if let Some(postgres) = postgres {
        postgres.stop();
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the benchmark failed: {status}")),
        Err(error) => Err(format!("{} could not be started: {error}", program.display())),
    }
}

fn drill(arguments: &[String]) -> Outcome<()> {
    let postgres = tools::ensure_postgres()?;
    tools::ensure_patroni()?;
    tools::ensure_faketime()?;
    cargo::run(&["build", "--release", "--package", "tollgate", "--package", "tollgate-drill"])?;
    let program = cargo::release_directory()?.join("tollgate-drill");
    let mut command = Command::new(&program);
    command.args(arguments).env(DRILL_POSTGRES_VARIABLE, postgres);
    if tools::is_root() {
        command.env(DRILL_ACCOUNT_VARIABLE, postgres::unprivileged_account()?.to_string());
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the drill found something: {status}")),
        Err(error) => Err(format!("{} could not be started: {error}", program.display())),
    }
}

/// As it is built for the tests, whose seeds it replays, but fast.
fn simulate(arguments: &[String]) -> Outcome<()> {
    let package = ["--release", "--package", "tollgate-simulation"];
    let status = cargo::command().arg("run").args(package).arg("--").args(arguments).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the simulation found something: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// The long runs of the tests that take as long as they are let: one after the other, so that each has the machine to
/// itself.
fn crash(kills: u64) -> Outcome<()> {
    let kills = kills.to_string();
    let settings = [
        ("TOLLGATE_CRASH_KILLS", kills.as_str()),
        ("TOLLGATE_MODEL_STEPS", "12000"),
        ("TOLLGATE_CRASH_EVENTS", "10000"),
        ("TOLLGATE_EVENT_KILLS", "20"),
        ("TOLLGATE_LIMIT_TRANSFERS", "1000"),
    ];
    let tests = [
        "ach_crash",
        "ach_faults::modern_treasury",
        "ach_model",
        "card_races",
        "events_crash",
        "database_fails::many",
        "limit_races",
    ];
    long_run(&tests, &settings)
}

/// Older versions are built first, so that nothing runs beside a compiler.
fn upgrade_drill(before: Option<&str>) -> Outcome<()> {
    let versions = upgrade::versions(before)?;
    let settings = [("TOLLGATE_UPGRADE_FROM", &*versions), ("TOLLGATE_UPGRADE_SECONDS", "5")];
    long_run(&["upgrade::sqlite", "upgrade::postgres"], &settings)
}

/// With the binary that ships: a hundred thousand values take a while.
fn rekey(values: u64) -> Outcome<()> {
    let (values, binary) = (values.to_string(), release_binary()?.display().to_string());
    let settings =
        [("TOLLGATE_REKEY_VALUES", &*values), ("TOLLGATE_REKEY_KILLS", "20"), (BINARY_VARIABLE, &*binary)];
    long_run(&["rekey::"], &settings)
}

fn model(steps: u64) -> Outcome<()> {
    long_run(&["card_model"], &[("TOLLGATE_CARD_STEPS", &steps.to_string())])
}

/// Providers that fail under load, and the model of routes, which is optimized: it runs a hundred thousand cases.
fn routes(rounds: u64) -> Outcome<()> {
    long_run(&["routes::"], &[("TOLLGATE_ROUTES_ROUNDS", &rounds.to_string())])?;
    let model =
        ["test", "--release", "--package", "tollgate-engine", "--test", "use_cases", "--", "routes_model"];
    let status =
        cargo::command().args(model).arg("--nocapture").env("TOLLGATE_ROUTE_CASES", "100000").status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the model of routes found something: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// Optimized, because it draws millions of payments.
fn fees(payments: u64) -> Outcome<()> {
    let test = ["test", "--release", "--package", "tollgate-configuration", "--test", "card_fee_properties"];
    let mut command = cargo::command();
    command.args(test).args(["--", "--nocapture"]).env("TOLLGATE_FEE_CASES", payments.to_string());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("card fees differ from the facts: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

fn fuzz(examples: u64) -> Outcome<()> {
    long_run(&["api_reference::fuzz"], &[("TOLLGATE_FUZZ_EXAMPLES", &examples.to_string())])
}

/// What `deny.toml` says of the dependencies. The advisories come from the network; the rest does not.
fn audit() -> Outcome<()> {
    tools::ensure_cargo_deny()?;
    let deny =
        |check: &[&str]| cargo::command().arg("deny").args(["--all-features", "check"]).args(check).status();
    if !deny(&["bans", "licenses", "sources"]).is_ok_and(|status| status.success()) {
        return Err("the dependencies break a rule of deny.toml; see above".to_owned());
    }
    if !deny(&["advisories"]).is_ok_and(|status| status.success()) {
        return Err("there are advisories about dependencies, or their list could not be fetched; see above"
            .to_owned());
    }
    Ok(())
}

/// End-to-end tests with other settings than in `test`.
fn long_run(filters: &[&str], settings: &[(&str, &str)]) -> Outcome<()> {
    let postgres = Postgres::start(&tools::ensure_postgres()?)?;
    let status = cargo::command()
        .args(["test", "--package", "tollgate", "--all-features", "--test", "it", "--"])
        .args(filters)
        .args(["--nocapture", "--test-threads", "1"])
        .env(postgres::URL_VARIABLE, postgres.url())
        .envs(settings.iter().copied())
        .status();
    postgres.stop();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the tests failed: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

fn exit_code(outcome: Outcome<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("\n{fault}");
            ExitCode::FAILURE
        }
    }
}
