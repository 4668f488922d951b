//! `events listen`: events as they happen, forwarded and signed, across a restart of the server.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command},
    sync::mpsc::{self, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{url, wait_for};
use crate::support::{Receiver, Reply, Server, Start, Terminal};

const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// A listener that runs. Dropped, it is killed.
struct Listening {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Listening {
    fn start(terminal: &Terminal, arguments: &[&str]) -> Self {
        let mut child = terminal.command(&[&["events", "listen"], arguments].concat()).spawn().unwrap();
        let (sender, lines) = channel();
        let out: ChildStdout = child.stdout.take().unwrap();
        thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(WAIT_TIMEOUT).expect("another line")
    }

    /// Ctrl-C, and how it ended.
    fn interrupt(mut self) -> bool {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().success()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn prepare(sandbox: &Server) -> String {
    let order = json!({"amountMinor": "12500", "currency": "USD"});
    let prepared = sandbox.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    prepared["serviceReference"].as_str().unwrap().to_owned()
}

#[test]
fn events_are_forwarded_with_a_signature_of_this_run() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let old = prepare(&sandbox);
    let receiver = Receiver::open();
    let listening = Listening::start(
        &terminal,
        &["--forward-to", &url(&receiver), "--events", "transaction.succeeded,transaction.refunded"],
    );
    assert!(listening.line().contains(&url(&receiver)));
    let secret = listening.line().rsplit(' ').next().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    assert!(listening.line().contains("Ctrl-C"));

    let reference = prepare(&sandbox);
    terminal.shows(&["trigger", "pay", &reference]);
    let letter = wait_for(&receiver, "transaction.succeeded");
    assert!(letter.is_signed_with(&secret));
    assert_eq!(letter.json()["data"]["transaction"]["serviceReference"], reference.as_str());
    let line = listening.line();
    assert!(
        line.contains("transaction.succeeded") && line.contains(&reference) && line.contains("-> 200 in"),
        "{line}"
    );
    // What it forwards is what an endpoint gets.
    let event = terminal.json(&["events", "show", letter.id()]);
    assert_eq!(event["body"], letter.json());

    receiver.answer(|_| Reply::status(500));
    terminal.shows(&["trigger", "refund", &reference]);
    let line = listening.line();
    assert!(
        line.contains("transaction.refunded") && line.contains("-> 500 in"),
        "the preparations are not wanted: {line}"
    );
    assert!(!line.contains(&old));
    assert!(listening.interrupt(), "Ctrl-C ends it well");
}

#[test]
fn it_survives_a_restart_of_the_server_and_misses_nothing() {
    let mut sandbox = Start::sandbox().run();
    let address = sandbox.address().to_string();
    let terminal = Terminal::beside(&sandbox);
    let listening = Listening::start(&terminal, &["--json"]);
    let hello: Value = serde_json::from_str(&listening.line()).unwrap();
    assert_eq!(hello, json!({"listening": true, "forwardTo": null, "secret": null}));
    let heard = |listening: &Listening| {
        let line: Value = serde_json::from_str(&listening.line()).unwrap();
        assert_eq!(
            (&line["event"]["type"], &line["delivery"]),
            (&json!("payment.prepared"), &Value::Null),
            "{line:#}"
        );
        line["event"]["serviceReference"].as_str().unwrap().to_owned()
    };
    let first = prepare(&sandbox);
    assert_eq!(heard(&listening), first);
    sandbox.kill();
    thread::sleep(Duration::from_secs(2));
    let again = Start::sandbox().within(&sandbox.data_dir).with("TOLLGATE_LISTEN", &address).run();
    let others = [prepare(&again), prepare(&again), prepare(&again)];
    for other in &others {
        assert_eq!(heard(&listening), *other, "each once, in order");
    }
    assert!(listening.interrupt());
}

#[test]
fn a_receiver_that_is_not_there_is_told_and_the_listening_goes_on() {
    let sandbox = Start::sandbox().run();
    let terminal = Terminal::beside(&sandbox);
    let listening = Listening::start(&terminal, &["--json", "--forward-to", "http://127.0.0.1:9/events"]);
    listening.line();
    for _ in 0..2 {
        prepare(&sandbox);
        let line: Value = serde_json::from_str(&listening.line()).unwrap();
        assert!(line["delivery"]["error"].is_string() && line["delivery"]["status"].is_null(), "{line:#}");
    }
    assert!(
        terminal.fails(&["events", "listen", "--forward-to", "localhost"]).contains("http://localhost:3000")
    );
    assert!(terminal.fails(&["events", "listen", "--events", "nothing"]).contains("--events"));
    assert!(
        terminal
            .with("TOLLGATE_ADMIN_TOKEN", "a token that opens nothing")
            .fails(&["events", "listen"])
            .contains("token")
    );
}
