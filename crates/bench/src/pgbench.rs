//! The yardstick that everybody has: `pgbench`, sending the product's statements one by one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Fault;
use crate::cell::Cell;
use crate::launch::last_lines;
use crate::load::{Measured, Until};
use crate::plan::{Made, Names, Slot, Statement, Unit};
use crate::process::Process;

/// How long after its end a round may still take.
const GRACE: Duration = Duration::from_secs(30);
const THREADS: u32 = 2;
/// Its connections are new in every run, and a new one is slow at first: what ends within this time is not counted.
const WARM_UP: Duration = Duration::from_secs(1);
/// Plans by key, made once: one made while the tables were small would read them whole, and be kept while they grow.
const SERVER_OPTIONS: &str = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan";
/// The numbers of a round, and the rounds of a script, so that no two of them make the same names.
const NUMBERS_PER_ROUND: u64 = 1 << 32;
const ROUNDS_PER_SCRIPT: u64 = 1 << 16;

static SCRIPTS: AtomicU64 = AtomicU64::new(1);

/// The wallets, numbered from 1; `pgbench` can pick a number and nothing else.
pub(crate) const NUMBER_WALLETS: &str = "
    CREATE TABLE bench_wallets AS
        SELECT row_number() OVER (ORDER BY environment_id) AS number, environment_id
        FROM ledger_accounts WHERE account = 'available' AND currency = 'USD';
    ALTER TABLE bench_wallets ADD PRIMARY KEY (number);
    ANALYZE bench_wallets;";

/// A script and where it runs.
pub(crate) struct Pgbench {
    program: PathBuf,
    url: String,
    directory: PathBuf,
    name: String,
    wallets: usize,
    script: Script,
    rounds: AtomicU64,
}

/// The text, and the values it refers to: within the text, a colon in a value would be taken for a name.
#[derive(Debug, PartialEq, Eq)]
struct Script {
    text: String,
    variables: BTreeMap<String, String>,
}

impl Pgbench {
    /// The name is that of its files in the directory.
    pub(crate) fn new(
        program: &Path,
        url: &str,
        directory: &Path,
        name: &str,
        wallets: usize,
        (units, names): (&[Unit], &Names),
    ) -> Result<Self, Fault> {
        let pgbench = Self {
            program: program.to_owned(),
            url: url.to_owned(),
            directory: directory.to_owned(),
            name: name.to_owned(),
            wallets,
            script: Script::new(units, names),
            rounds: AtomicU64::new(SCRIPTS.fetch_add(1, Ordering::Relaxed) * ROUNDS_PER_SCRIPT),
        };
        std::fs::write(pgbench.script_file(), &pgbench.script.text)?;
        Ok(pgbench)
    }

    /// One run of the program, with as many clients.
    pub(crate) async fn run(&self, clients: u32, until: Until) -> Result<Measured, Fault> {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        let directory = self.directory.join(format!("{}-{round}", self.name));
        std::fs::create_dir(&directory)?;
        let output = directory.join("output");
        let mut command = self.command(round, clients, until, &directory.join("log"));
        let file = std::fs::File::create(&output)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let status = Process::spawn("pgbench", &mut command)?.finish(until.duration + GRACE).await?;
        if !status.success() {
            return Err(format!("pgbench failed ({status}):\n{}", last_lines(&output)).into());
        }
        std::fs::remove_file(&output)?;
        // Each thread writes a log of its own.
        let mut lines = String::new();
        for entry in std::fs::read_dir(&directory)? {
            lines.push_str(&std::fs::read_to_string(entry?.path())?);
        }
        std::fs::remove_dir_all(&directory)?;
        read_log(&lines, WARM_UP)
    }

    fn command(&self, round: u64, clients: u32, until: Until, log_prefix: &Path) -> Command {
        let mut command = Command::new(&self.program);
        // Settings meant for the caller's own server must not reach this one.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command
            .args(["--no-vacuum", "--protocol=prepared", "--log"])
            .arg(format!("--log-prefix={}", log_prefix.display()))
            .arg(format!("--client={clients}"))
            .arg(format!("--jobs={}", THREADS.min(clients)))
            .arg(format!("--time={}", (until.duration + WARM_UP).as_secs()))
            .arg(format!("--file={}", self.script_file().display()))
            .arg(format!("--define=n={}", round * NUMBERS_PER_ROUND))
            .arg(format!("--define=wallets={}", self.wallets));
        for (name, value) in &self.script.variables {
            command.arg(format!("--define={name}={value}"));
        }
        command.arg(&self.url).env("PGOPTIONS", SERVER_OPTIONS);
        command
    }

    fn script_file(&self) -> PathBuf {
        self.directory.join(format!("{}.sql", self.name))
    }
}

/// A transaction in the log.
#[derive(Clone, Copy)]
struct Line {
    /// Microseconds since the epoch.
    end: u64,
    /// In microseconds; none where it failed.
    latency: Option<u64>,
}

impl Line {
    /// Reads `client transaction latency script second microsecond`; the moment is that of the end, and the latency's
    /// place may hold a word instead.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_whitespace().skip(2);
        let latency = fields.next()?.parse().ok();
        let mut number = |skip| fields.nth(skip).and_then(|field| field.parse::<u64>().ok());
        let end = number(1)?.checked_mul(1_000_000)?.checked_add(number(0)?)?;
        Some(Self { end, latency })
    }

    fn start(self) -> u64 {
        self.end.saturating_sub(self.latency.unwrap_or_default())
    }
}

/// What the log tells of the time after the first `warm_up` of it.
fn read_log(log: &str, warm_up: Duration) -> Result<Measured, Fault> {
    let parse = |line| Line::parse(line).ok_or_else(|| format!("pgbench's log has an odd line: {line}"));
    let lines: Vec<Line> = log.lines().map(parse).collect::<Result<_, _>>()?;
    let first = lines.iter().map(|line| line.start()).min().unwrap_or_default();
    let first = first + u64::try_from(warm_up.as_micros())?;
    let last = lines.iter().map(|line| line.end).max().unwrap_or_default();
    let mut measured = Measured::new();
    for line in lines {
        if line.end <= first {
            measured.beside += 1;
            continue;
        }
        measured.answers += 1;
        match line.latency {
            Some(latency) => measured.latencies.record(Duration::from_micros(latency)),
            None => measured.refusals += 1,
        }
    }
    measured.elapsed = Duration::from_micros(last.saturating_sub(first));
    if measured.answers == 0 { Err("pgbench did nothing".into()) } else { Ok(measured) }
}

impl Script {
    /// Each unit is a transaction. The first statement of all picks the wallet and makes the names.
    fn new(units: &[Unit], names: &Names) -> Self {
        let mut script = Self { text: String::new(), variables: BTreeMap::new() };
        script.text.push_str("\\set n :n + 1\n\\set wallet random(1, :wallets)\n");
        let mut is_first = true;
        for unit in units {
            script.text.push_str("BEGIN;\n");
            for statement in unit {
                let (environment, end) = if std::mem::take(&mut is_first) {
                    (PICKED, format!(" RETURNING {} \\gset", made(names)))
                } else {
                    (":environment", ";".to_owned())
                };
                let sql = script.render(statement, environment);
                let _ = writeln!(script.text, "{sql}{end}");
            }
            script.text.push_str("COMMIT;\n");
        }
        script
    }

    fn render(&mut self, statement: &Statement, environment: &str) -> String {
        statement.render(|slot| match slot {
            Slot::Same(Cell::Null) => "NULL".to_owned(),
            Slot::Same(Cell::Flag(flag)) => flag.to_string(),
            Slot::Same(Cell::Integer(number)) => number.to_string(),
            Slot::Same(Cell::Text(text)) => self.variable(text),
            Slot::Same(Cell::Id(id)) => format!("'{}'", uuid::Uuid::from_bytes(*id)),
            Slot::Same(Cell::Bytes(bytes)) => self.variable(&hex(bytes)),
            Slot::Made(Made::Environment) => environment.to_owned(),
            Slot::Made(Made::Id(number)) => format!(":id_{number}"),
            Slot::Made(Made::Scattered) => ":scattered".to_owned(),
            Slot::Made(Made::Text(number)) => format!(":text_{number}"),
        })
    }

    fn variable(&mut self, value: &str) -> String {
        let known = self.variables.iter().find(|(_, known)| *known == value).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| {
            let name = format!("value_{}", self.variables.len());
            self.variables.insert(name.clone(), value.to_owned());
            name
        });
        format!(":{name}")
    }
}

/// As PostgreSQL reads bytes.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("\\x".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}

const PICKED: &str = "(SELECT environment_id FROM bench_wallets WHERE number = :wallet)";
const CHANCE: &str = "md5(CAST(:n AS text) || '-' || CAST(:client_id AS text))";

/// The names as the server makes them: ids in the order of their making, and what is scattered from a digest.
fn made(names: &Names) -> String {
    let mut made = vec!["environment_id AS environment".to_owned()];
    for number in 0..names.ids() {
        made.push(format!(
            "CAST('0190' || lpad(to_hex(CAST(:n AS bigint)), 16, '0') || \
             lpad(to_hex(CAST(:client_id AS bigint)), 8, '0') || '{number:04x}' AS uuid) AS id_{number}"
        ));
    }
    made.push(format!("CAST({CHANCE} AS uuid) AS scattered"));
    for (number, shape) in names.shapes().iter().enumerate() {
        made.push(format!("'{}' || substr({CHANCE}, 1, {}) AS text_{number}", shape.prefix, shape.digits));
    }
    made.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_counted_and_timed() {
        let log = "0 1 1500 0 1700000000 500000\n1 1 2500 0 1700000001 0\n0 2 failed 0 1700000001 100\n";
        let measured = read_log(log, Duration::ZERO).unwrap();
        assert_eq!((measured.answers, measured.refusals, measured.beside), (3, 1, 0));
        // From 1.5 ms before the first end to the last end.
        assert_eq!(measured.elapsed, Duration::from_micros(501_600));
        assert!(measured.latencies.quantile(1.0) >= Duration::from_micros(2500));
    }

    #[test]
    fn what_ends_while_it_warms_up_is_left_out() {
        let log = "0 1 1000 0 1700000000 1000\n1 1 2500 0 1700000000 300000\n0 2 10 0 1700000000 400000\n";
        let measured = read_log(log, Duration::from_millis(100)).unwrap();
        assert_eq!((measured.answers, measured.beside), (2, 1));
        assert_eq!(measured.elapsed, Duration::from_millis(300));
        assert!(read_log(log, Duration::from_secs(1)).is_err());
    }

    #[test]
    fn an_odd_log_is_a_fault() {
        for log in ["", "0 1 1500", "0 1 1500 0 now 0"] {
            assert!(read_log(log, Duration::ZERO).is_err(), "{log}");
        }
    }

    #[test]
    fn the_script_picks_a_wallet_and_keeps_values_out_of_its_text() {
        let (wallet, id, reference) = (Cell::Id([1; 16]), Cell::Id([2; 16]), Cell::Id([3; 16]));
        let mut names = Names::default();
        names.environment(&wallet);
        names.scattered(&reference);
        names.text("ach_0123456789abcdefghjkmnpqrs");
        let json = Cell::text(r#"{"enabled":true}"#);
        let units = [
            vec![
                names.statement("UPDATE a SET n = n + {} WHERE e = {}", &[Cell::Integer(-5), wallet.clone()]),
                names.statement("INSERT INTO t VALUES ({}, {}, {})", &[wallet, id, json.clone()]),
            ],
            vec![names.statement(
                "UPDATE t SET r = {}, name = {}, j = {}, x = {}",
                &[reference, Cell::text("ach_0123456789abcdefghjkmnpqrs"), json, Cell::Null],
            )],
        ];
        let script = Script::new(&units, &names);
        let lines: Vec<&str> = script.text.lines().collect();
        assert_eq!(lines[2], "BEGIN;");
        let picked =
            format!("UPDATE a SET n = n + -5 WHERE e = {PICKED} RETURNING environment_id AS environment");
        assert!(lines[3].starts_with(&picked) && lines[3].ends_with("\\gset"), "{}", lines[3]);
        assert!(lines[3].contains("substr("), "{}", lines[3]);
        assert_eq!(lines[4], "INSERT INTO t VALUES (:environment, :id_0, :value_0);");
        assert_eq!(lines[5..7], ["COMMIT;", "BEGIN;"]);
        assert_eq!(lines[7], "UPDATE t SET r = :scattered, name = :text_0, j = :value_0, x = NULL;");
        assert_eq!(
            script.variables.into_iter().collect::<Vec<_>>(),
            [("value_0".to_owned(), r#"{"enabled":true}"#.to_owned())]
        );
    }
}
