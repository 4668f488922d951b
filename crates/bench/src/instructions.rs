//! How many instructions a request takes in the server, counted by valgrind's callgrind: the same on every machine of one kind,
//! whatever else it is doing. What the server does by itself meanwhile is in the count, too, and the more so the slower the machine
//! is: so every kind has its turn in several rounds, and the least of them counts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use crate::Fault;
use crate::call::Caller;
use crate::launch;
use crate::service::{Place, Secrets, Service};
use crate::simulator::Simulator;
use crate::{QUOTE_BODY, QUOTE_PATH, preparations, transfers};

#[derive(Args, Debug)]
pub(crate) struct InstructionOptions {
    /// The product's binary [default: beside this program].
    #[arg(long, value_name = "FILE")]
    tollgate_bin: Option<PathBuf>,
    /// Requests of each kind that are counted, one after the other, in five rounds.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    requests: u32,
    /// Leave out what needs a fee program, so that a version from before there were any can be counted.
    #[arg(long)]
    without_program: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Turns of every kind.
const ROUNDS: u32 = 5;

/// Before anything is counted: caches and connections are there then.
const WARM_UP: u32 = 50;

/// The same request without a fee program, and with one.
const QUOTES: [(&str, &str); 2] = [
    ("quote", "quote with a fee program"),
    ("quote that says card and payer", "quote with a fee program that says card and payer"),
];
/// How many percent more instructions a quote may take where there is a fee program.
const MOST_MORE: u64 = 10;

/// Requests of one kind.
struct Kind {
    name: &'static str,
    path: &'static str,
    caller: Caller,
    body: Box<dyn Fn(u32) -> Value>,
}

/// The server under valgrind.
struct Counter {
    directory: PathBuf,
    process: u32,
}

impl Counter {
    fn control(&self, option: &str) -> Result<(), Fault> {
        let output = Command::new("callgrind_control")
            .current_dir(&self.directory)
            .args([option, &self.process.to_string()])
            .output()
            .map_err(|error| format!("callgrind_control (of Debian's valgrind) did not start: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.success() && !said.contains("Error") {
            return Ok(());
        }
        Err(format!("callgrind_control {option}: {said}{}", String::from_utf8_lossy(&output.stderr)).into())
    }

    /// Instructions since the last call, or since the start.
    fn take(&self) -> Result<u64, Fault> {
        self.control("--dump")?;
        let mut total = None;
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("callgrind.out.")) {
                let text = fs::read_to_string(&path)?;
                fs::remove_file(&path)?;
                let mut lines = text.lines().filter_map(|line| line.strip_prefix("totals: "));
                total = lines.next().and_then(|count| count.trim().parse().ok()).or(total);
            }
        }
        total.ok_or_else(|| "callgrind has written no total".into())
    }
}

/// The binary as a script that runs it under callgrind.
fn counted(binary: &Path, directory: &Path) -> Result<PathBuf, Fault> {
    let script = directory.join("tollgate-counted");
    let (out, binary) = (directory.join("callgrind.out.%p"), binary.display());
    let text = format!(
        "#!/bin/sh\nexec valgrind --quiet --tool=callgrind --callgrind-out-file={} {binary} \"$@\"\n",
        out.display()
    );
    fs::write(&script, text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700))?;
    Ok(script)
}

/// The configuration with a surcharge that the card decides.
fn with_program(mut configuration: Value) -> Result<Value, Fault> {
    let document = configuration.as_object_mut().ok_or("the configuration is no object")?;
    let program = json!({"feeProgram": {
        "merchant": {"country": "US", "state": "GA", "mcc": "5999"},
        "cost": {"stripe": {"percentBps": 310, "fixedMinor": "30"}},
        "noticeGivenOn": "2026-06-01", "entryNoticeAttested": true, "amexParityConfirmed": true,
    }});
    document.insert("settings".to_owned(), program);
    let fees = document.get_mut("fees").and_then(Value::as_array_mut).ok_or("it has no fees")?;
    let is_card = |fee: &Value| fee.get("paymentMethod").is_some_and(|method| method == "web_card");
    for fee in fees.iter_mut().filter(|fee| is_card(fee)) {
        for layer in ["platform", "organization"] {
            let layer = fee.get_mut(layer).and_then(Value::as_object_mut).ok_or("a fee has no layer")?;
            layer.insert("feeKind".to_owned(), "surcharge".into());
        }
    }
    Ok(configuration)
}

pub(crate) async fn measure(options: &InstructionOptions) -> Result<bool, Fault> {
    let binary = launch::binary(options.tollgate_bin.as_deref())?;
    let directory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir()?;
    let simulator = Simulator::start(&binary, directory.path()).await?;
    let secrets = Secrets::generate(&binary)?;
    let script = counted(&binary, directory.path())?;
    let place = Place {
        binary: &script,
        directory: directory.path().to_owned(),
        database_url: format!("sqlite:{}", directory.path().join("tollgate.db").display()),
        listen: None,
        settings: &[],
    };
    eprintln!("starting {} under callgrind", binary.display());
    let service = Service::start(&place, &secrets).await?;
    let counter = Counter { directory: directory.path().to_owned(), process: service.process.id() };
    let mut kinds = kinds(&service, &simulator, !options.without_program).await?;
    for kind in &mut kinds {
        for number in 0..WARM_UP {
            kind.ask(number).await?;
        }
    }
    let mut counts: Vec<_> = kinds.iter().map(|kind| (kind.name, u64::MAX)).collect();
    let each = options.requests.div_ceil(ROUNDS);
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}, {each} requests of each kind", round.saturating_add(1));
        let first = WARM_UP.saturating_add(round.saturating_mul(each));
        for (kind, (_, least)) in kinds.iter_mut().zip(&mut counts) {
            counter.take()?;
            for number in first..first.saturating_add(each) {
                kind.ask(number).await?;
            }
            *least = counter.take()?.div_euclid(u64::from(each)).min(*least);
        }
    }
    service.process.stop().await?;
    let excess = excess(&counts);
    if options.json {
        let counts: serde_json::Map<_, _> =
            counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
        println!("{}", json!({"requests": options.requests, "instructions": counts}));
    } else {
        println!(
            "Instructions of the server per request, the least of {ROUNDS} rounds of {each} requests of each kind, on SQLite"
        );
        for (name, count) in counts {
            println!("  {name:<44} {count:>10}");
        }
    }
    for sentence in &excess {
        eprintln!("{sentence}");
    }
    Ok(excess.is_empty())
}

/// What takes too many instructions, as sentences.
fn excess(counts: &[(&'static str, u64)]) -> Vec<String> {
    let of = |wanted: &str| counts.iter().find(|(name, _)| *name == wanted).map(|(_, count)| *count);
    let counted = QUOTES.into_iter().filter_map(|(plain, name)| Some((name, of(plain)?, of(name)?)));
    counted
        .map(|(name, plain, count)| {
            (name, plain, count, plain.saturating_add(plain.saturating_mul(MOST_MORE) / 100))
        })
        .filter(|(.., count, most)| count > most)
        .map(|(name, plain, count, most)| {
            format!("{name}: {count} instructions, more than {most}, {MOST_MORE} % above {plain} without one")
        })
        .collect()
}

impl Kind {
    async fn ask(&mut self, number: u32) -> Result<(), Fault> {
        let body = serde_json::to_vec(&(self.body)(number))?;
        self.caller.call("POST", self.path, Some(&body)).await?;
        Ok(())
    }
}

async fn kinds(service: &Service, simulator: &Simulator, has_program: bool) -> Result<Vec<Kind>, Fault> {
    let plain = simulator.configuration("stripe");
    let square = Arc::new(simulator.configuration("square"));
    let payer = transfers::sender(service, &Arc::new(plain.clone())).await?;
    let at_square = transfers::sender(service, &square).await?;
    let by_card = if has_program {
        Some(transfers::sender(service, &Arc::new(with_program(plain)?)).await?)
    } else {
        None
    };
    let quote: Value = serde_json::from_slice(QUOTE_BODY)?;
    let mut quote_of_card = quote.clone();
    let body = quote_of_card.as_object_mut().ok_or("a quote is no object")?;
    body.insert("card".to_owned(), json!({"brand": "visa", "funding": "credit", "country": "US"}));
    body.insert("payer".to_owned(), json!({"country": "US", "state": "GA"}));
    let preparation: Value = serde_json::from_slice(preparations::BODY)?;
    let always = |body: Value| -> Box<dyn Fn(u32) -> Value> { Box::new(move |_| body.clone()) };
    let caller = |sender: &transfers::Sender| Caller::new(service.address, &sender.tenant.secret_key);
    let kind = |name, path, sender, body| Kind { name, path, caller: caller(sender), body };
    let mut kinds = Vec::new();
    for ((plain, name), body) in QUOTES.into_iter().zip([quote, quote_of_card]) {
        kinds.push(kind(plain, QUOTE_PATH, &payer, always(body.clone())));
        let with_program = by_card.as_ref().map(|sender| kind(name, QUOTE_PATH, sender, always(body)));
        kinds.extend(with_program);
    }
    kinds.extend([
        kind("card preparation, provider not asked", preparations::PATH, &at_square, always(preparation)),
        Kind {
            name: "bank transfer",
            path: transfers::PATH,
            caller: caller(&payer),
            body: Box::new(move |number| transfers::body(&payer, &format!("instructions-{number}"))),
        },
    ]);
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_program_may_cost_a_tenth_more() {
        let counts = |unknown, card| {
            let [(quote, first), (quote_of_card, second)] = QUOTES;
            [(quote, 1_000), (first, unknown), (quote_of_card, 2_000), (second, card)]
        };
        assert!(excess(&counts(1_100, 2_200)).is_empty());
        assert_eq!(
            excess(&counts(1_101, 2_200)),
            ["quote with a fee program: 1101 instructions, more than 1100, 10 % above 1000 without one"]
        );
        assert_eq!(excess(&counts(1_200, 2_300)).len(), 2);
        assert!(excess(&[("quote", 1_000)]).is_empty());
    }
}
