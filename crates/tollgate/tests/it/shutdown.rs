//! Told to stop, the service finishes what it began, takes nothing new, and goes.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::support::{QUOTE, Server, Start, wait_until};

const BODY: &str = r#"{"amountMinor":"12500","currency":"USD"}"#;

/// How soon the process is gone once nothing is left to do; far sooner than what it would wait for is given up on.
const PROMPTLY: Duration = Duration::from_secs(12);

/// A request whose body is half there.
fn half_sent(server: &Server) -> (TcpStream, &'static str) {
    let key = server.sandbox_client("secretKey").credential;
    let (half, rest) = BODY.split_at(20);
    let head = format!(
        "POST {QUOTE} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{half}",
        BODY.len()
    );
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    (stream, rest)
}

fn check_finishes_what_it_began(signal: &str) {
    let mut server = Start::sandbox().run();
    let mut idle = server.client("");
    idle.get("/healthz").data(200);
    let (mut stream, rest) = half_sent(&server);
    // The server has taken the connection and reads the request by the time it has answered another one.
    server.client("").get("/readyz").data(200);
    thread::sleep(Duration::from_millis(500));

    server.signal(signal);
    wait_until("new connections are refused", Duration::from_secs(120), || {
        TcpStream::connect(server.address()).is_err()
    });
    thread::sleep(Duration::from_millis(300));
    stream.write_all(rest.as_bytes()).unwrap();
    let finished = Instant::now();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains(r#""totalDebitMinor":"12956""#), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{answer}");

    let status = server.wait_end(Duration::from_secs(120));
    println!("{signal}: ended {:?} after the last byte of the request", finished.elapsed());
    assert!(status.success(), "{status}");
    assert!(finished.elapsed() < PROMPTLY, "{:?}", finished.elapsed());
    let log = server.log();
    assert!(log.contains("\"stopped\"") && !log.contains("cut off"), "{log}");
}

#[test]
fn a_request_under_way_is_answered_after_sigterm() {
    check_finishes_what_it_began("TERM");
}

#[test]
fn a_request_under_way_is_answered_after_sigint() {
    check_finishes_what_it_began("INT");
}

#[test]
fn idle_connections_do_not_hold_up_the_end() {
    let mut server = Start::sandbox().run();
    let mut used: Vec<_> = (0..20).map(|_| server.client("")).collect();
    for client in &mut used {
        client.get("/healthz").data(200);
    }
    let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    server.client("").get("/healthz").data(200);
    let told = Instant::now();
    let status = server.terminate();
    println!("ended after {:?} with {} idle connections", told.elapsed(), used.len() + silent.len());
    assert!(status.success(), "{status}");
    assert!(told.elapsed() < PROMPTLY, "{:?}", told.elapsed());
}

#[test]
fn everything_acknowledged_before_the_end_is_there_after_it() {
    let mut server = Start::sandbox().run();
    let path = server.sandbox_path("/wallets/USD/fund");
    let mut admin = server.sandbox_client("adminToken");
    for number in 0..20 {
        let body = serde_json::json!({"amountMinor": "1", "reference": format!("payment {number}")});
        assert!(admin.post(&path, &body).status < 300);
    }
    assert!(server.terminate().success());
    let after = Start::sandbox().within(&server.data_dir).run();
    let wallet = after.sandbox_client("adminToken").get(&after.sandbox_path("/wallets/USD")).data(200);
    assert_eq!(wallet["availableMinor"], "100000020");
}
