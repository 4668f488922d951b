//! README as a stranger follows it: its own commands, one after the other in a new folder, up to a paid payment and then
//! in both languages, with the seconds of each. `make first-payment` does it with the release binary.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    sdks,
    support::{BINARY, Client, GOOD_CARD, alone, binary, wait_until},
};

const README: &str = include_str!("../../../../README.md");
/// Where README expects the sandbox.
const ADDRESS: &str = "127.0.0.1:8080";
const START: &str = "cargo run --release";
const WHOLE_MAX: Duration = Duration::from_secs(60);
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[test]
fn a_stranger_pays_within_a_minute() {
    let _turn = alone();
    let folder = sdks::folder_with_the_typescript_sdk();
    let python = sdks::python().join("bin/python");
    let mut walk = Walk::start(folder.path());

    let start = block("Two commands", "sh", 0);
    let start = start.lines().next().unwrap();
    walk.step("start the sandbox", |walk| walk.start_sandbox(start));
    walk.step("the first quote", |walk| {
        let answer = walk.paste(&block("Your first quote", "sh", 0));
        let shown = block("Your first quote", "json", 0);
        let total: Value = serde_json::from_str(&answer).unwrap();
        let total = format!("\"totalDebitMinor\":{}", total["data"]["totalDebitMinor"]);
        assert!(shown.contains(&total), "README shows another answer than {answer}");
    });
    walk.step("why it goes there", |walk| {
        let answer = walk.paste(&block("Your first quote", "sh", 1));
        assert!(answer.contains("rule_large"), "{answer}");
    });
    let mut prepared = Value::Null;
    walk.step("prepare a payment", |walk| {
        prepared = serde_json::from_str(&walk.paste(&block("Your first payment", "sh", 0))).unwrap();
    });
    let field = |name: &str| prepared["data"][name].as_str().unwrap().to_owned();
    let reference = field("serviceReference");
    walk.step("pay on the provider's page, by its form", |_| pay(&field("checkoutUrl")));
    walk.step("read its outcome", |walk| {
        let command = block("Your first payment", "sh", 1).replace("pay_…", &reference);
        wait_until("the payment has succeeded", Duration::from_secs(120), || {
            walk.paste(&command).contains("\"status\":\"succeeded\"")
        });
    });
    walk.step("its timeline on the command line", |walk| {
        let command = block("Your first payment", "sh", 2).replace("pay_…", &reference);
        let shown = walk.paste(&walk.with_binary(&command));
        assert!(shown.contains(&reference) && shown.contains("succeeded"), "{shown}");
    });
    walk.finish();

    let in_folder = |program: &Path| {
        let mut command = Command::new(program);
        command.current_dir(folder.path()).env_remove("TOLLGATE_URL").env_remove("TOLLGATE_KEY");
        command
    };
    let said = |command: &mut Command| {
        let output = crate::api_reference::python::run(command);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.starts_with("http://127.0.0.1:"), "{said}");
    };
    fs::write(folder.path().join("first.py"), block("In your language", "python", 0)).unwrap();
    walk.step("a payment in Python", |_| said(in_folder(&python).arg("first.py")));
    let program = folder.path().join("first.ts");
    fs::write(&program, block("In your language", "typescript", 0)).unwrap();
    walk.step("a payment in TypeScript", |_| {
        sdks::compile_typescript(folder.path(), std::slice::from_ref(&program));
        said(in_folder(Path::new("node")).arg("first.js"));
    });
}

/// A block of code of README, by the heading it stands under, its language and its place.
fn block(heading: &str, language: &str, place: usize) -> String {
    let (_, section) =
        README.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let section = section.split("\n## ").next().unwrap();
    let block = section.split(&format!("```{language}\n")).nth(place + 1);
    let block = block.unwrap_or_else(|| panic!("{heading} has no block {place} of {language}"));
    block.split_once("```").unwrap().0.to_owned()
}

/// Pays on the hosted page, as a browser without script does.
fn pay(url: &str) {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let address: SocketAddr = address.parse().unwrap();
    let answer = Client::new(address, "").send("POST", &format!("/{path}"), &[FORM], GOOD_CARD.as_bytes());
    assert_eq!(answer.status, 303, "{}", String::from_utf8_lossy(&answer.body));
}

/// A shell that knows no other Tollgate.
fn shell_in(folder: &Path) -> Command {
    let mut shell = Command::new("bash");
    shell.current_dir(folder);
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TOLLGATE_")) {
        shell.env_remove(name);
    }
    shell
}

/// A terminal and the sandbox beside it. Dropped, both end.
struct Walk {
    folder: PathBuf,
    binary: String,
    address: String,
    sandbox: Option<Child>,
    shell: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    started: Instant,
}

impl Walk {
    fn start(folder: &Path) -> Self {
        let binary = binary();
        println!(
            "`{START}` stands for {binary}, which is built already; everything else is as README has it"
        );
        let address = match TcpListener::bind(ADDRESS) {
            Ok(_) => ADDRESS.to_owned(),
            Err(_) => {
                let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
                println!("{ADDRESS} is in use, so the sandbox is at {free}");
                free
            }
        };
        let errors = File::create(folder.join("errors.txt")).unwrap();
        let mut shell = shell_in(folder);
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let (input, output) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        let started = Instant::now();
        Self { folder: folder.to_owned(), binary, address, sandbox: None, shell, input, output, started }
    }

    fn step(&mut self, name: &str, run: impl FnOnce(&mut Self)) {
        let started = Instant::now();
        run(self);
        println!("{:>7.2} s  {name}", started.elapsed().as_secs_f64());
    }

    fn finish(&self) {
        let whole = self.started.elapsed();
        println!("{:>7.2} s  in total", whole.as_secs_f64());
        // Beside other tests, and without optimization, the time says nothing.
        let is_timed = env::var_os(BINARY).is_some();
        assert!(!is_timed || whole < WHOLE_MAX, "it took {whole:?}, and should take less than {WHOLE_MAX:?}");
    }

    fn with_binary(&self, command: &str) -> String {
        assert!(command.starts_with(START), "{command}");
        command.replace(&format!("{START} --"), &self.binary).replace(START, &self.binary)
    }

    fn start_sandbox(&mut self, command: &str) {
        let mut shell = shell_in(&self.folder);
        shell.arg("-c").arg(format!("exec {}", self.with_binary(command)));
        if self.address != ADDRESS {
            shell.env("TOLLGATE_LISTEN", &self.address);
        }
        let log = File::create(self.folder.join("log.txt")).unwrap();
        self.sandbox = Some(shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap());
        let address: SocketAddr = self.address.parse().unwrap();
        wait_until("the sandbox is ready", Duration::from_secs(120), || {
            let answer = Client::new(address, "").try_send("GET", "/readyz", &[], b"");
            answer.is_ok_and(|answer| answer.status == 200)
        });
    }

    /// Pastes commands into the terminal. What they print.
    fn paste(&mut self, commands: &str) -> String {
        const MARK: &str = "--- the exit status is ";
        let commands = commands.replace(ADDRESS, &self.address);
        writeln!(self.input, "{commands}\nprintf '\\n{MARK}%s\\n' $?").unwrap();
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the shell has ended: {said}");
            if let Some(status) = line.strip_prefix(MARK) {
                let errors = fs::read_to_string(self.folder.join("errors.txt")).unwrap_or_default();
                assert_eq!(status.trim(), "0", "{commands}\n{said}\n{errors}");
                return said;
            }
            said.push_str(&line);
        }
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        for child in self.sandbox.iter_mut().chain([&mut self.shell]) {
            drop(child.kill());
            drop(child.wait());
        }
        if thread::panicking() {
            eprintln!("{}", fs::read_to_string(self.folder.join("log.txt")).unwrap_or_default());
        }
    }
}
