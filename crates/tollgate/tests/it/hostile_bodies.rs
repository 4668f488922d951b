//! Any body whatsoever is answered: in the envelope, with a request id, never with a 5xx, a hang or a cut.

mod mutation;

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

use self::mutation::{json_token, mutation, token};
use crate::support::{Answer, Client, QUOTE, Server, Start, alone, randomness, seed};

const JSON: (&str, &str) = ("content-type", "application/json");
const LIMIT: usize = 64 * 1024;
const VALID: &str = r#"{"amountMinor":"12500","currency":"USD"}"#;

/// A hundred thousand refusals are no news for the log; a failure would be.
const QUIET: &str = "warn,tollgate::node=info";

/// A quote with all its parts, or a refusal in the envelope.
fn check(answer: &Answer, refusals: &[u16]) -> bool {
    if answer.status == 200 {
        let data = answer.data(200);
        assert!(
            data["totalDebitMinor"].is_string() && data["breakdown"]["layers"].as_array().unwrap().len() == 2
        );
        return true;
    }
    assert!(refusals.contains(&answer.status), "status {}", answer.status);
    answer.failure(answer.status);
    false
}

/// Sends cases from several threads, each case replayable by its number alone.
fn bombard(server: &Server, count: u64, refusals: &[u16], make: impl Fn(&mut StdRng) -> Vec<u8> + Sync) {
    let seed = seed();
    let (next, valid) = (AtomicU64::new(0), AtomicU64::new(0));
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = server.sandbox_client("secretKey");
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= count {
                        return;
                    }
                    let body = make(&mut randomness(seed, case));
                    let told = OnPanic(|| eprintln!("case {case} of seed {seed}: {}", body.escape_ascii()));
                    let answer = client.send("POST", QUOTE, &[JSON], &body);
                    valid.fetch_add(u64::from(check(&answer, refusals)), Ordering::Relaxed);
                    drop(told);
                }
            });
        }
    });
    println!("{count} bodies in {:?}, of which {valid:?} were valid", started.elapsed());
    check_unharmed(server);
}

/// Says something only where the test fails.
struct OnPanic<F: Fn()>(F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.0)();
        }
    }
}

/// The server still quotes, and its log knows of no failure.
fn check_unharmed(server: &Server) {
    let body: Value = serde_json::from_str(VALID).unwrap();
    assert_eq!(server.sandbox_client("secretKey").post(QUOTE, &body).data(200)["totalDebitMinor"], "12956");
    let log = server.log();
    for word in ["request failed", "panicked", "\"level\":\"ERROR\""] {
        let line = log.lines().find(|line| line.contains(word));
        assert!(line.is_none(), "{line:?}");
    }
}

#[test]
fn a_hundred_thousand_mutations_are_quoted_or_refused_in_the_envelope() {
    let _alone = alone();
    let server = Start::sandbox().with("TOLLGATE_LOG", QUIET).run();
    bombard(&server, 100_000, &[400], mutation);
}

#[test]
fn random_bytes_of_any_size_are_refused_in_the_envelope() {
    let server = Start::sandbox().with("TOLLGATE_LOG", QUIET).run();
    bombard(&server, 2_000, &[400, 413], |random| {
        let mut body = vec![0; random.random_range(0..70 * 1024)];
        random.fill(body.as_mut_slice());
        if random.random_bool(0.5) {
            // Beyond the first byte, which alone tells that it is no object.
            body.splice(0..0, *br#"{"x":""#).for_each(drop);
        }
        body
    });
}

#[test]
fn mutated_admin_bodies_are_taken_or_refused_in_the_envelope() {
    let server = Start::sandbox().with("TOLLGATE_LOG", QUIET).run();
    let seed = seed();
    let mut admin = server.sandbox_client("adminToken");
    let original = admin.get(&server.sandbox_path("/config")).data(200);
    let fund = json!({"amountMinor": "5", "reference": "a reference"});
    for (method, rest, base, count) in [
        ("PUT", "/config", original.to_string(), 2_000),
        ("POST", "/keys", json!({"kind": "publishable"}).to_string(), 1_000),
        ("POST", "/wallets/USD/fund", fund.to_string(), 1_000),
        ("POST", "/explain", VALID.to_owned(), 1_000),
    ] {
        let path = server.sandbox_path(rest);
        for case in 0..count {
            let mut random = randomness(seed, case);
            let mut body = base.clone().into_bytes();
            for _ in 0..random.random_range(1..=3) {
                let (start, end) = json_token(&body, random.random_range(0..=body.len()));
                let token = token(&mut random);
                drop(body.splice(start..end, token.iter().copied()));
            }
            let _told =
                OnPanic(|| eprintln!("case {case} of seed {seed} at {path}: {}", body.escape_ascii()));
            let answer = admin.send(method, &path, &[JSON], &body);
            if answer.status >= 300 {
                assert!([400, 409].contains(&answer.status), "status {}", answer.status);
                answer.failure(answer.status);
            }
        }
    }
    // Some mutations took a credential away, so that its mask stands for nothing anymore.
    let mut restored = original;
    for provider in restored["providers"].as_object_mut().unwrap().values_mut() {
        provider.as_object_mut().unwrap().remove("credentials");
    }
    admin.put(&server.sandbox_path("/config"), &restored).data(200);
    check_unharmed(&server);
}

/// A valid quote of exactly this many bytes.
fn padded(length: usize) -> Vec<u8> {
    let head = r#"{"amountMinor":"1","currency":"USD","x":""#;
    format!(r#"{head}{}"}}"#, "x".repeat(length - head.len() - 2)).into_bytes()
}

#[test]
fn hand_picked_bodies_are_refused_in_the_envelope() {
    let server = Start::sandbox().run();
    server.ignore_unknown_fields();
    let mut client = server.sandbox_client("secretKey");
    let mut send = |body: &[u8]| client.send("POST", QUOTE, &[JSON], body);
    let deep =
        |open: &str, close: &str, depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let within = |value: &str| format!(r#"{{"amountMinor":"1","currency":"USD","x":{value}}}"#);
    let in_metadata =
        |value: &str| format!(r#"{{"amountMinor":"1","currency":"USD","metadata":{{"x":{value}}}}}"#);
    for body in [
        String::new(),
        "[]".into(),
        "null".into(),
        "\"x\"".into(),
        "{".into(),
        "}".into(),
        "{}".into(),
        "1".into(),
        " \t\r\n".into(),
        "\0".into(),
        format!("\u{feff}{VALID}"),
        format!("{VALID}{VALID}"),
        format!("{VALID}\0"),
        deep("[", "]", 10_000),
        deep("{\"a\":", "}", 10_000),
        within(&"[".repeat(10_000)),
        within(&"{\"a\":".repeat(10_000)),
        in_metadata(&deep("[", "]", 5_000)),
        in_metadata(&deep("{\"a\":", "}", 2_000)),
        in_metadata(r#""\ud800""#),
        VALID.replace("USD", r"\ud800"),
        VALID.replace("12500", r"\u0000"),
        VALID.replace('"', "'"),
        VALID.replace('{', r#"{"amountMinor":1,"#),
        VALID.replace('{', r#"{"metadata":{},"metadata":{},"#),
    ] {
        let shown: String = body.chars().take(80).collect();
        assert_eq!(send(body.as_bytes()).failure(400), "invalid_body", "{shown}");
    }
    // Whatever is merely ignored may be as strange as JSON allows.
    let ignored = [deep("[", "]", 10_000), deep("{\"a\":", "}", 9_000), r#""\ud800""#.into(), "1e999".into()];
    let twice = VALID.replace('{', r#"{"y":1,"y":2,"#);
    for body in ignored.iter().map(|value| within(value)).chain([twice]) {
        send(body.as_bytes()).data(200);
    }
    check_unharmed(&server);
}

#[test]
fn text_that_is_not_utf_8_is_refused_in_the_envelope_even_where_it_would_be_ignored() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    let whole = r#"{"amountMinor":"12500","currency":"USD","x":"IGNORED","metadata":{"k":"v"}}"#;
    for place in ["USD", "12500", "v", "k", "x", "IGNORED"] {
        for bytes in [&b"\xff"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"] {
            let (before, after) = whole.split_once(&format!("\"{place}\"")).unwrap();
            let body = [before.as_bytes(), b"\"", bytes, b"\"", after.as_bytes()].concat();
            let answer = client.send("POST", QUOTE, &[JSON], &body);
            assert_eq!(answer.status, 400, "{}", body.escape_ascii());
            assert_eq!(answer.failure(400), "invalid_body");
        }
    }
    check_unharmed(&server);
}

#[test]
fn other_content_types_are_refused_whatever_they_hold() {
    let server = Start::sandbox().run();
    let mut client = server.sandbox_client("secretKey");
    let bodies =
        [VALID.as_bytes().to_vec(), Vec::new(), vec![0xff; 100], padded(LIMIT), vec![b'['; 1_000_000]];
    for content_type in ["text/plain", "multipart/form-data; boundary=x", "\u{fc}", ";", "application/json5"]
    {
        for body in &bodies {
            let answer = client.send("POST", QUOTE, &[("content-type", content_type)], body);
            assert_eq!(answer.failure(415), "unsupported_media_type", "{content_type}, {} bytes", body.len());
        }
    }
    check_unharmed(&server);
}

#[test]
fn bodies_above_the_limit_are_413_and_their_senders_can_read_it() {
    let server = Start::sandbox().run();
    server.ignore_unknown_fields();
    let mut client = server.sandbox_client("secretKey");
    client.send("POST", QUOTE, &[JSON], &padded(LIMIT)).data(200);
    for length in [LIMIT + 1, 2 * LIMIT, 5_000_000] {
        let answer = client.send("POST", QUOTE, &[JSON], &padded(length));
        assert_eq!(answer.failure(413), "body_too_large", "{length}");
    }
    let answer = client.send("POST", QUOTE, &[JSON], &vec![b'['; 5_000_000]);
    assert_eq!(answer.failure(413), "body_too_large");
    check_unharmed(&server);
}

fn head(server: &Server, headers: &str) -> Vec<u8> {
    let key = server.sandbox_client("secretKey").credential;
    format!("POST {QUOTE} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\n{headers}\r\n")
        .into_bytes()
}

#[test]
fn chunked_bodies_follow_the_same_rules() {
    let server = Start::sandbox().run();
    server.ignore_unknown_fields();
    let mut client = server.sandbox_client("secretKey");
    let mut send = |body: &[u8], size: usize| {
        let mut request = head(&server, "content-type: application/json\r\ntransfer-encoding: chunked\r\n");
        for chunk in body.chunks(size) {
            request.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            request.extend(chunk);
            request.extend(b"\r\n");
        }
        request.extend(b"0\r\n\r\n");
        client.exchange(&request).unwrap()
    };
    for size in [1, 7, 1_000] {
        send(VALID.as_bytes(), size).data(200);
    }
    send(&padded(LIMIT), 4_000).data(200);
    assert_eq!(send(b"{\"amountMinor\":", 3).failure(400), "invalid_body");
    assert_eq!(send(b"", 1).failure(400), "invalid_body");
    for length in [LIMIT + 1, 1_000_000] {
        assert_eq!(send(&padded(length), 4_000).failure(413), "body_too_large");
    }
    check_unharmed(&server);
}

#[test]
fn a_body_that_breaks_off_is_refused_or_dropped_and_never_waited_for() {
    let server = Start::sandbox().run();
    for (headers, sent) in [
        ("content-type: application/json\r\ncontent-length: 500\r\n", VALID),
        ("content-type: application/json\r\ncontent-length: 500\r\n", ""),
        ("content-type: text/plain\r\ncontent-length: 500\r\n", VALID),
        ("content-type: application/json\r\ntransfer-encoding: chunked\r\n", "ff\r\n{\"amount"),
        ("content-type: application/json\r\ntransfer-encoding: chunked\r\n", "xyz\r\n{}"),
    ] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.write_all(&head(&server, headers)).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the connection ends by itself");
        let status = answer.split(' ').nth(1).unwrap_or("none");
        assert!(["none", "400", "415"].contains(&status), "{headers}{sent}: {answer}");
        println!("{status} for {sent:?}");
    }
    check_unharmed(&server);
}

#[test]
fn whoever_asks_before_sending_is_told_before_sending() {
    let server = Start::sandbox().run();
    let expect = |length: usize| {
        let headers =
            format!("content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n");
        head(&server, &headers)
    };
    let started = Instant::now();
    let answer = Client::new(server.address(), "").exchange(&expect(LIMIT + 1)).unwrap();
    assert_eq!(answer.failure(413), "body_too_large");
    assert!(started.elapsed() < Duration::from_secs(15), "it waited for a body that nobody sends");

    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    stream.write_all(&expect(VALID.len())).unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(VALID.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    check_unharmed(&server);
}
