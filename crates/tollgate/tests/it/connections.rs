//! Clients that open connections and send nothing, or half of something: everybody else is served all the same.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};

use serde_json::json;

use crate::access::admin_address;
use crate::support::{Server, Start, alone, skipped, wait_until};

/// Opens a connection from another address of this machine.
fn connect_from(from: [u8; 4], to: SocketAddr) -> std::io::Result<TcpStream> {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    let stream = RUNTIME.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(IpAddr::from(from), 0))?;
        socket.connect(to).await
    })?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    Ok(stream)
}

/// Connections that are held open: one half sends nothing, the other the beginning of a request.
fn half_open(from: [u8; 4], server: &Server, count: usize) -> Vec<TcpStream> {
    let mut held = Vec::with_capacity(count);
    for number in 0..count {
        let mut stream = connect_from(from, server.address()).unwrap();
        if number % 2 == 0 {
            // Where the server has closed it already, that is an answer too.
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: te");
        }
        held.push(stream);
    }
    held
}

/// What a new connection from this address gets.
fn asks(from: [u8; 4], server: &Server) -> String {
    let mut stream = connect_from(from, server.address()).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap_or_else(|error| panic!("no answer for {from:?}: {error}"));
    answer
}

#[track_caller]
fn check_served(from: [u8; 4], server: &Server) {
    let answer = asks(from, server);
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{from:?}: {answer}");
}

/// A value of `/metrics`.
fn metric(server: &Server, name: &str) -> u64 {
    let text = String::from_utf8(server.client("").get("/metrics").body).unwrap();
    let line = text.lines().find(|line| line.split(' ').next() == Some(name));
    line.and_then(|line| line.split(' ').next_back()?.parse().ok()).unwrap_or_default()
}

/// A connection whose request has announced a body of which only the beginning comes.
fn slow_post(from: [u8; 4], to: SocketAddr, path: &str, announced: usize, sent: usize) -> TcpStream {
    let mut stream = connect_from(from, to).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {announced}\r\n\r\n"
    );
    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    // Where the server has closed or answered it already, that is right too.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b'x'; sent]));
    stream
}

#[test]
fn slow_bodies_keep_nobody_out_on_either_listener() {
    let server = Start::serve()
        .with("TOLLGATE_ADMIN_LISTEN", "127.0.0.1:0")
        .with("TOLLGATE_MAX_CONNECTIONS", "200")
        .with("TOLLGATE_MAX_CONNECTIONS_PER_ADDRESS", "50")
        .run();
    let admin = admin_address(&server);
    let mut held = Vec::new();
    let is_served = |from: [u8; 4], to: SocketAddr, path: &str| {
        let mut stream = connect_from(from, to).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200 OK")
    };
    // Well within the time that a body may take.
    held.extend((0..256).map(|_| slow_post([127, 0, 0, 2], admin, "/console/sign-in", 1_000, 1)));
    for from in [3, 2] {
        assert!(is_served([127, 0, 0, from], admin, "/console/sign-in"), "operators at 127.0.0.{from}");
    }
    for address in 4..=9 {
        held.extend((0..60).map(|_| slow_post([127, 0, 0, address], admin, "/console/sign-in", 1_000, 1)));
    }
    assert!(is_served([127, 0, 0, 3], admin, "/console/sign-in"), "whoever is new, among many who are slow");
    for address in 4..=9 {
        held.extend(
            (0..60).map(|_| {
                slow_post([127, 0, 0, address], server.address(), "/client/v1/fees/quote", 1_000, 1)
            }),
        );
    }
    for from in [4, 3] {
        assert!(is_served([127, 0, 0, from], server.address(), "/healthz"), "callers at 127.0.0.{from}");
    }
    drop(held);
}

#[test]
fn unfinished_webhooks_take_little_memory_and_payments_go_on() {
    hold_unfinished_webhooks(4, 300);
}

/// Minutes of two cores: `cargo test -p tollgate --test it ten_thousand_unfinished -- --ignored`.
#[test]
#[ignore = "takes minutes and 21,000 open files"]
fn ten_thousand_unfinished_webhooks_stay_below_256_mib_and_payments_go_on() {
    hold_unfinished_webhooks(20, 500);
}

fn hold_unfinished_webhooks(addresses: u8, each: usize) {
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    let _alone = alone();
    let server = Start::sandbox().run();
    let environment = server.sandbox_json()["environmentId"].as_str().unwrap().to_owned();
    let order = json!({"amountMinor": "12500", "currency": "USD", "metadata": {"note": "x".repeat(12_000)}});
    let pay = || server.sandbox_client("secretKey").post("/client/v1/payments", &order).data(201);
    let hold = |sent: usize| {
        let mut held = Vec::new();
        let providers = ["card_provider_a", "card_provider_b", "card_provider_a", "nobody"];
        for (address, provider) in (10..10 + addresses).zip(providers.into_iter().cycle()) {
            let path = format!("/webhooks/v1/{environment}/{provider}");
            let from = [127, 0, 0, address];
            held.extend((0..each).map(|_| slow_post(from, server.address(), &path, 120_000, sent)));
        }
        pay();
        held
    };
    // The same connections with next to nothing in them: what they and a first payment take is nothing of the bodies.
    drop(hold(100));
    let before = resident_kib(&server);
    let held = hold(110_000);
    // The server reads on for a while.
    let samples = (0..20).map(|_| {
        thread::sleep(Duration::from_millis(100));
        resident_kib(&server)
    });
    let (after, peak) = (samples.max().unwrap(), peak_kib(&server));
    println!(
        "{} unfinished webhooks: memory went from {before} KiB to {after} KiB, {peak} KiB at most",
        held.len()
    );
    assert!(peak < 256 * 1024, "{before} KiB became {after} KiB, {peak} KiB at most");
    // Of 129 MiB that were sent, 16 may be held.
    assert!(
        held.len() > 2_000 || after.saturating_sub(before) < 64 * 1024,
        "{before} KiB became {after} KiB"
    );
    // A webhook of an unknown provider is refused before its body has arrived.
    let path = format!("/webhooks/v1/{environment}/nobody");
    let mut stranger = slow_post([127, 0, 0, 6], server.address(), &path, 120_000, 10);
    let mut answer = [0; 12];
    stranger.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401");
    drop(held);
}

pub fn resident_kib(server: &Server) -> u64 {
    memory_kib(server, "VmRSS:")
}

/// The most that it ever was.
pub fn peak_kib(server: &Server) -> u64 {
    memory_kib(server, "VmHWM:")
}

fn memory_kib(server: &Server, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn one_client_has_its_share_of_connections_and_all_together_have_theirs() {
    let server = Start::sandbox()
        .with("TOLLGATE_MAX_CONNECTIONS", "200")
        .with("TOLLGATE_MAX_CONNECTIONS_PER_ADDRESS", "50")
        .with("TOLLGATE_HEAD_TIMEOUT_MS", "600000")
        .run();
    let mut kept = server.client("");
    kept.get("/healthz").data(200);
    let mut held = half_open([127, 0, 0, 2], &server, 300);
    wait_until("one address is held to its share", Duration::from_secs(120), || {
        metric(&server, "tollgate_http_connections") <= 60
    });
    assert!(metric(&server, "tollgate_http_connections_dropped_total") >= 250);
    check_served([127, 0, 0, 2], &server);
    check_served([127, 0, 0, 3], &server);
    for address in 3..=9 {
        held.extend(half_open([127, 0, 0, address], &server, 50));
    }
    wait_until("all of them are held to theirs", Duration::from_secs(120), || {
        metric(&server, "tollgate_http_connections") <= 200
    });
    for address in [2, 5, 99] {
        check_served([127, 0, 0, address], &server);
    }
    kept.get("/healthz").data(200);
    drop(held);
}

#[test]
fn ten_thousand_half_open_connections_of_one_client_keep_nobody_out() {
    const FLOOD: usize = 10_400;
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if files < 12_000 {
        skipped("12,000 open files are needed, and the system allows fewer");
        return;
    }
    let _alone = alone();
    let server = Start::sandbox().run();
    server.client("").get("/healthz").data(200);
    let before = resident_kib(&server);
    let began = Instant::now();
    let held = half_open([127, 0, 0, 2], &server, FLOOD);
    println!("{FLOOD} connections opened in {:?}", began.elapsed());
    check_served([127, 0, 0, 3], &server);
    check_served([127, 0, 0, 2], &server);
    let (open, after) = (metric(&server, "tollgate_http_connections"), resident_kib(&server));
    println!("{open} are open; memory went from {before} KiB to {after} KiB");
    assert!(open <= 2_600, "{open} connections of one client are open");
    drop(held);
}

/// Whether the server has hung up: nothing more comes, or the connection is broken.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut space = [0; 64];
    match stream.read(&mut space) {
        Ok(count) => count == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn a_head_that_does_not_arrive_is_not_waited_for_and_an_idle_connection_is() {
    let server = Start::sandbox().with("TOLLGATE_HEAD_TIMEOUT_MS", "5000").run();
    let mut idle = server.client("");
    idle.get("/healthz").data(200);
    let mut silent = TcpStream::connect(server.address()).unwrap();
    let mut half = TcpStream::connect(server.address()).unwrap();
    half.write_all(b"GET /healthz HTTP/1.1\r\nhost: te").unwrap();
    let mut trickling = TcpStream::connect(server.address()).unwrap();
    trickling.write_all(b"GET /healthz HTTP/1.1\r\nx: ").unwrap();
    let mut second = TcpStream::connect(server.address()).unwrap();
    second.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let mut answer = [0; 4096];
    assert!(second.read(&mut answer).unwrap() > 0);
    second.write_all(b"GET /hea").unwrap();
    wait_until("a head that trickles in is given up", Duration::from_secs(120), || {
        thread::sleep(Duration::from_millis(50));
        trickling.write_all(b"x").is_err() || is_closed(&mut trickling)
    });
    for (what, stream) in [("silent", &mut silent), ("half", &mut half), ("second", &mut second)] {
        wait_until(what, Duration::from_secs(120), || is_closed(stream));
    }
    // Meanwhile this one was idle between two requests, for longer than any head may take.
    idle.get("/healthz").data(200);
}
