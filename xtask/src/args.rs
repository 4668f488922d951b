//! What the command line asks for.

/// Shown for `help` and after a mistake.
pub(crate) const USAGE: &str = "\
cargo xtask test [-- FILTER…]     tools, format, lint, a throw-away PostgreSQL, every test
cargo xtask check                 the inner loop: format, lint, unit tests, tests of pure crates and of the engine
cargo xtask lint                  format and lint only
cargo xtask lines [--at COMMIT]   lines of product code per crate, now and at a commit
cargo xtask structure             files of the product that use each other in circles
cargo xtask postgres -- COMMAND…  run a command with a throw-away PostgreSQL around it,
                                  its address in TOLLGATE_TEST_POSTGRES_URL
cargo xtask crash [-- KILLS]      kill a server in the midst of transfers, 200 times on each store
cargo xtask drill [-- OPTION…]    break a PostgreSQL cluster, Tollgate and the provider under load, and compare all records;
                                  `--seed N` replays the order of the faults, `--help` lists the options
cargo xtask upgrade-drill [-- COMMIT]
                                  from the first release, and from the version before or that commit, to this one and back under
                                  load on both stores; builds them once
cargo xtask rekey [-- VALUES]     rotate the master key of 100,000 values under load, the server killed 20 times on each store
cargo xtask model [-- STEPS]      card payments at random against the provider's record, 100,000 steps on each store
cargo xtask routes [-- ROUNDS]    let first providers fail under load, 10 times, and 100,000 routes against an oracle
cargo xtask fees [-- PAYMENTS]     card fees of random payments, ten million, against a slow second decision
cargo xtask fuzz [-- EXAMPLES]    requests at random for every operation of the API, 100 for each, against its document
cargo xtask audit                 licenses, sources and advisories of all dependencies, with cargo-deny
cargo xtask sbom                  a CycloneDX list of what the binary is made of, in target/tollgate.cdx.json
cargo xtask sdks                  the SDKs' packages as they are published, in target/sdks
cargo xtask reproduce             two release builds in different folders, which must be the same bytes: half an hour; one is left
                                  as target/reproduce/tollgate
cargo xtask release-notes -- TAG  what the changelog says of a version, if everything in the repository has that version
cargo xtask package [-- BINARY]   a .deb, an .rpm where rpmbuild is, and an archive of the release binary, in target/packages; as
                                  root the .deb is installed in a new Debian, up to a paid payment, unless
                                  `--untried` is given
cargo xtask first-payment         README's commands with the release binary, up to a paid payment, in less than a minute
cargo xtask live-test             the whole flow against the providers' own sandboxes, with the credentials that
                                  are in the environment; see docs/live-tests.md
cargo xtask wires-latest          judge what goes between adapters and simulator by the newest published libraries of the
                                  providers, and say what these changed
cargo xtask simulate [-- OPTION…] several nodes in every kind of trouble, on one thread and in virtual time;
                                  `--seed N` replays a seed, `--seeds N` runs so many, `--from N` from there,
                                  `--plant NAME` plants a fault, `--table` each fault in turn
cargo xtask bench [-- OPTION…]    build the release binaries and run the benchmark: the quote,
                                  or with `preparations`, `transfers`, `pages`, `growth` or `budget` as first option those,
                                  with a throw-away PostgreSQL around them
cargo xtask sentences             print every text that users may read, with file and line
cargo xtask help                  this text";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Test { filters: Vec<String> },
    Check,
    Lint,
    Sentences,
    Lines { at: Option<String> },
    Structure,
    Postgres { command: Vec<String> },
    Bench { arguments: Vec<String> },
    Crash { kills: u64 },
    Drill { arguments: Vec<String> },
    UpgradeDrill { before: Option<String> },
    Rekey { values: u64 },
    Model { steps: u64 },
    Routes { rounds: u64 },
    Fees { payments: u64 },
    Fuzz { examples: u64 },
    Audit,
    Sbom,
    Sdks,
    Package(Package),
    ReleaseNotes { tag: String },
    Reproduce,
    FirstPayment,
    LiveTest,
    WiresLatest,
    Simulate { arguments: Vec<String> },
}

/// What is packaged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Not the release binary, but this one.
    pub(crate) binary: Option<String>,
    /// Whether the package is installed, as far as that is possible.
    pub(crate) is_tried: bool,
}

/// How often `crash` kills each store's server, by default.
const DEFAULT_KILLS: u64 = 200;
/// How many values `rekey` encrypts anew on each store, by default.
const DEFAULT_VALUES: u64 = 100_000;
/// How many steps `model` takes on each store, by default.
const DEFAULT_STEPS: u64 = 100_000;
/// How often `routes` lets the first providers go away, by default.
const DEFAULT_ROUNDS: u64 = 10;
const DEFAULT_FEES: u64 = 10_000_000;
/// How many random requests `fuzz` makes for each operation, by default.
const DEFAULT_EXAMPLES: u64 = 100;

/// Reads the arguments after the program's name. What follows `--` belongs to the program that is run.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Task, String> {
    let mut arguments = arguments.into_iter();
    let Some(name) = arguments.next() else { return Ok(Task::Help) };
    let rest = match arguments.next() {
        None => Vec::new(),
        Some(separator) if separator == "--" => arguments.collect(),
        Some(option) if name == "lines" => std::iter::once(option).chain(arguments).collect(),
        Some(other) => return Err(format!("unexpected argument `{other}`: put it after `--`")),
    };
    match name.as_str() {
        "help" | "--help" | "-h" if rest.is_empty() => Ok(Task::Help),
        "test" => Ok(Task::Test { filters: rest }),
        "check" if rest.is_empty() => Ok(Task::Check),
        "lint" if rest.is_empty() => Ok(Task::Lint),
        "sentences" if rest.is_empty() => Ok(Task::Sentences),
        "structure" if rest.is_empty() => Ok(Task::Structure),
        "lines" => match rest.as_slice() {
            [] => Ok(Task::Lines { at: None }),
            [at, commit] if at == "--at" => Ok(Task::Lines { at: Some(commit.clone()) }),
            _ => Err("`lines` takes `--at` and one commit".into()),
        },
        "postgres" if rest.is_empty() => Err("`postgres` needs a command after `--`".into()),
        "postgres" => Ok(Task::Postgres { command: rest }),
        "bench" => Ok(Task::Bench { arguments: rest }),
        "upgrade-drill" => match rest.as_slice() {
            [] => Ok(Task::UpgradeDrill { before: None }),
            [commit] => Ok(Task::UpgradeDrill { before: Some(commit.clone()) }),
            _ => Err("`upgrade-drill` takes one commit".into()),
        },
        "drill" => Ok(Task::Drill { arguments: rest }),
        "audit" if rest.is_empty() => Ok(Task::Audit),
        "sbom" if rest.is_empty() => Ok(Task::Sbom),
        "sdks" if rest.is_empty() => Ok(Task::Sdks),
        "package" => {
            let (untried, binaries): (Vec<_>, Vec<_>) = rest.iter().partition(|it| *it == "--untried");
            match binaries.as_slice() {
                [] | [_] => Ok(Task::Package(Package {
                    binary: binaries.first().map(|binary| (*binary).clone()),
                    is_tried: untried.is_empty(),
                })),
                _ => Err("`package` takes one binary, and `--untried`".into()),
            }
        }
        "release-notes" => match rest.as_slice() {
            [tag] => Ok(Task::ReleaseNotes { tag: tag.clone() }),
            _ => Err("`release-notes` takes the tag of the release".into()),
        },
        "reproduce" if rest.is_empty() => Ok(Task::Reproduce),
        "first-payment" if rest.is_empty() => Ok(Task::FirstPayment),
        "live-test" if rest.is_empty() => Ok(Task::LiveTest),
        "wires-latest" if rest.is_empty() => Ok(Task::WiresLatest),
        "simulate" => Ok(Task::Simulate { arguments: rest }),
        "crash" => Ok(Task::Crash { kills: count(&name, &rest, DEFAULT_KILLS)? }),
        "rekey" => Ok(Task::Rekey { values: count(&name, &rest, DEFAULT_VALUES)? }),
        "model" => Ok(Task::Model { steps: count(&name, &rest, DEFAULT_STEPS)? }),
        "fees" => Ok(Task::Fees { payments: count(&name, &rest, DEFAULT_FEES)? }),
        "routes" => Ok(Task::Routes { rounds: count(&name, &rest, DEFAULT_ROUNDS)? }),
        "fuzz" => Ok(Task::Fuzz { examples: count(&name, &rest, DEFAULT_EXAMPLES)? }),
        "help" | "--help" | "-h" | "check" | "lint" | "sentences" | "structure" | "audit" | "sbom"
        | "sdks" | "reproduce" | "first-payment" | "live-test" | "wires-latest" => {
            Err(format!("`{name}` takes no arguments"))
        }
        _ => Err(format!("unknown task `{name}`")),
    }
}

/// The one number a long run takes.
fn count(task: &str, arguments: &[String], default: u64) -> Result<u64, String> {
    match arguments {
        [] => Ok(default),
        [number] => number.parse().map_err(|_| format!("`{number}` is not a number")),
        _ => Err(format!("`{task}` takes one number")),
    }
}

/// Whether a benchmark with these arguments measures on PostgreSQL, too.
pub(crate) fn bench_needs_postgres(arguments: &[String]) -> bool {
    let asks_for_help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    let measures = arguments.first().is_some_and(|first| {
        ["preparations", "transfers", "pages", "growth", "budget"].contains(&first.as_str())
    });
    measures && !asks_for_help
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Task, &str>) {
        let parsed = parse(line.split_whitespace().map(String::from));
        assert_eq!(parsed, expected.map_err(String::from), "{line}");
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn reads_every_task() {
        check("", Ok(Task::Help));
        check("--help", Ok(Task::Help));
        check("check", Ok(Task::Check));
        check("lint", Ok(Task::Lint));
        check("structure", Ok(Task::Structure));
        check("lines", Ok(Task::Lines { at: None }));
        check("lines --at v0.1.0", Ok(Task::Lines { at: Some("v0.1.0".into()) }));
        check("lines -- --at v0.1.0", Ok(Task::Lines { at: Some("v0.1.0".into()) }));
        check("test", Ok(Task::Test { filters: vec![] }));
        check("test --", Ok(Task::Test { filters: vec![] }));
        check("test -- quote --nocapture", Ok(Task::Test { filters: words("quote --nocapture") }));
        check("postgres -- psql -c x", Ok(Task::Postgres { command: words("psql -c x") }));
        check("bench -- --json", Ok(Task::Bench { arguments: words("--json") }));
        let arguments = words("transfers --rounds 3");
        check("bench -- transfers --rounds 3", Ok(Task::Bench { arguments }));
        check("simulate -- --seed 7", Ok(Task::Simulate { arguments: words("--seed 7") }));
        check("drill -- --seed 7", Ok(Task::Drill { arguments: words("--seed 7") }));
        check("upgrade-drill", Ok(Task::UpgradeDrill { before: None }));
        check("upgrade-drill -- abc", Ok(Task::UpgradeDrill { before: Some("abc".into()) }));
        check("crash", Ok(Task::Crash { kills: 200 }));
        check("crash -- 1000", Ok(Task::Crash { kills: 1_000 }));
        check("rekey", Ok(Task::Rekey { values: 100_000 }));
        check("model", Ok(Task::Model { steps: 100_000 }));
        check("fees", Ok(Task::Fees { payments: DEFAULT_FEES }));
        check("routes -- 3", Ok(Task::Routes { rounds: 3 }));
        check("fuzz -- 25", Ok(Task::Fuzz { examples: 25 }));
        check("audit", Ok(Task::Audit));
        check("sbom", Ok(Task::Sbom));
        check("package", Ok(Task::Package(Package { binary: None, is_tried: true })));
        let package = Package { binary: Some("a/tollgate".into()), is_tried: false };
        check("package -- a/tollgate --untried", Ok(Task::Package(package)));
        check("release-notes -- v1.2.3", Ok(Task::ReleaseNotes { tag: "v1.2.3".into() }));
        check("reproduce", Ok(Task::Reproduce));
        check("first-payment", Ok(Task::FirstPayment));
    }

    #[test]
    fn only_what_writes_is_measured_on_postgres() {
        for (line, expected) in [
            ("", false),
            ("--rounds 3", false),
            ("preparations", true),
            ("transfers --rounds 3 --json", true),
            ("transfers --help", false),
            ("--rounds transfers", false),
        ] {
            assert_eq!(bench_needs_postgres(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        check("tset", Err("unknown task `tset`"));
        check("test quote", Err("unexpected argument `quote`: put it after `--`"));
        check("postgres", Err("`postgres` needs a command after `--`"));
        check("lint -- x", Err("`lint` takes no arguments"));
        check("lines --at", Err("`lines` takes `--at` and one commit"));
        check("crash -- often", Err("`often` is not a number"));
        check("crash -- 1 2", Err("`crash` takes one number"));
    }
}
