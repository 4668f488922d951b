//! `cargo xtask simulate`: runs seeds and prints what they found.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use tollgate_simulation::{Plant, Run, run, run_all};

/// Simulates several nodes in trouble, everything drawn from a seed.
#[derive(Parser)]
#[command(name = "simulate")]
struct Arguments {
    /// Replay this one seed and print every step.
    #[arg(long)]
    seed: Option<u64>,
    /// How many seeds to run.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first of them; drawn from the clock where it is left out.
    #[arg(long)]
    from: Option<u64>,
    /// Plant a fault: the run is right if it is found.
    #[arg(long, value_name = "NAME", value_parser = plant)]
    plant: Option<Plant>,
    /// Plant each fault in turn and print how many seeds it took to find it.
    #[arg(long)]
    table: bool,
}

fn plant(name: &str) -> Result<Plant, String> {
    let known: Vec<_> = Plant::ALL.iter().map(|plant| plant.name()).collect();
    Plant::parse(name).ok_or_else(|| format!("known faults: {}", known.join(", ")))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(seed) = arguments.seed {
        return replay(seed, arguments.plant);
    }
    let from = arguments.from.unwrap_or_else(tollgate_simulation::fresh_seed);
    if arguments.table {
        return table(from, arguments.seeds);
    }
    let mut total = Total::begin();
    run_all(from..from.saturating_add(arguments.seeds), arguments.plant, |seed, run| {
        total.add(run);
        report(seed, run);
        if total.seeds.is_multiple_of(500) {
            println!("{total}");
        }
    });
    println!("from seed {from}: {total}");
    let is_right = (total.faulty == 0) == arguments.plant.is_none();
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replay(seed: u64, plant: Option<Plant>) -> ExitCode {
    let run = run(seed, plant, true);
    for line in &run.lines {
        println!("{line}");
    }
    report(seed, &run);
    println!(
        "seed {seed}: hash {:016x}, {} steps, {} simulated, {} violations",
        run.hash,
        run.steps,
        span(run.simulated),
        run.violations.len()
    );
    if run.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(seed: u64, run: &Run) {
    if run.violations.is_empty() {
        return;
    }
    println!("seed {seed} ({:016x}): {}", run.hash, run.profile);
    for violation in run.violations.iter().take(12) {
        println!("  {}: {}", violation.rule, violation.what);
    }
}

fn table(from: u64, most: u64) -> ExitCode {
    println!("| planted fault | what it does | seeds it took | found as |\n|---|---|---|---|");
    let mut all_found = true;
    for plant in Plant::ALL {
        let mut found = None;
        for seed in from..from.saturating_add(most) {
            if let Some(violation) = run(seed, Some(*plant), false).violations.into_iter().next() {
                found = Some((seed - from + 1, violation.rule));
                break;
            }
        }
        all_found &= found.is_some();
        let (took, rule) =
            found.map_or_else(|| ("not found".to_owned(), ""), |(took, rule)| (took.to_string(), rule));
        println!("| `{}` | {} | {took} | {rule} |", plant.name(), plant.what());
    }
    if all_found { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What all runs come to.
struct Total {
    began: Instant,
    seeds: u64,
    faulty: u64,
    steps: u64,
    simulated: Duration,
}

impl Total {
    fn begin() -> Self {
        Self { began: Instant::now(), seeds: 0, faulty: 0, steps: 0, simulated: Duration::ZERO }
    }

    fn add(&mut self, run: &Run) {
        self.seeds += 1;
        self.faulty += u64::from(!run.violations.is_empty());
        self.steps += run.steps;
        self.simulated += run.simulated;
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let took = self.began.elapsed();
        let per_second = u128::from(self.steps) * 1_000 / took.as_millis().max(1);
        write!(
            f,
            "{} seeds, {} with violations; {} steps, {per_second} a second; {} simulated in {}",
            self.seeds,
            self.faulty,
            self.steps,
            span(self.simulated),
            span(took)
        )
    }
}

fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 7_200 {
        format!("{}.{:01} s", seconds, time.subsec_millis() / 100)
    } else {
        format!("{} h", seconds / 3_600)
    }
}
