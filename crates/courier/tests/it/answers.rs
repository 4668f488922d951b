//! What is sent, and what is made of answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tollgate_engine::ports::{DeliveryError, OutboundResponse};

use crate::support::{Listener, Names, courier, send};

async fn answered(answer: &str) -> Result<OutboundResponse, DeliveryError> {
    let listener = Listener::open("127.0.0.1:0", answer).await;
    send(&courier(true, &Arc::default()), &format!("http://{}/", listener.address)).await
}

#[tokio::test]
async fn the_request_is_as_it_should_be() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let reading = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        while !request.ends_with("{}") {
            let mut piece = [0; 512];
            let length = stream.read(&mut piece).await.unwrap();
            request.push_str(std::str::from_utf8(&piece[..length]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        request
    });
    let url = format!("http://{address}/a%20b/c?d=e&f=%2F");
    let carried = send(&courier(true, &Arc::default()), &url).await;
    assert_eq!(carried.map(|receipt| receipt.status), Ok(204));
    let request = reading.await.unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap();
    assert_eq!((line, body), ("POST /a%20b/c?d=e&f=%2F HTTP/1.1", "{}"));
    let mut headers: Vec<_> = headers.lines().collect();
    headers.sort_unstable();
    let host = format!("host: {address}");
    let agent = concat!("user-agent: Tollgate/", env!("CARGO_PKG_VERSION"));
    let expected = [
        "connection: close",
        "content-length: 2",
        "content-type: application/json",
        &host,
        agent,
        "webhook-id: evt_1",
    ];
    assert_eq!(headers, expected);
}

#[tokio::test]
async fn statuses_and_wishes_for_patience_are_told() {
    for (answer, status, seconds) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", 200, None),
        ("HTTP/1.1 200 OK\r\n\r\nuntil it closes", 200, None),
        ("HTTP/1.1 429 Slow down\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n", 429, Some(7)),
        ("HTTP/1.1 503 Later\r\nretry-after: soon\r\ncontent-length: 0\r\n\r\n", 503, None),
        ("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", 410, None),
    ] {
        let expected = OutboundResponse { status, retry_after: seconds.map(Duration::from_secs) };
        assert_eq!(answered(answer).await, Ok(expected), "{answer}");
    }
}

#[tokio::test]
async fn a_large_answer_is_not_read_to_its_end() {
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}", 1 << 30, "a".repeat(1 << 20));
    // The rest of it never comes: whoever waited for it would run out of time.
    assert_eq!(answered(&answer).await.map(|receipt| receipt.status), Ok(200));
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    let endless_head = format!("HTTP/1.1 200 OK\r\nx: {}", "a".repeat(100_000));
    for answer in ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nconten", &endless_head] {
        let carried = answered(answer).await;
        assert!(matches!(carried, Err(DeliveryError::Failed(_))), "{carried:?}");
    }
}

#[tokio::test]
async fn nobody_is_waited_for_for_ever() {
    // It accepts and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let started = Instant::now();
    let carried = send(&courier(true, &Arc::default()), &url).await;
    let Err(DeliveryError::Failed(note)) = carried else { panic!("{carried:?}") };
    assert_eq!(note, "no complete response within 1500 ms");
    assert!(started.elapsed() < Duration::from_secs(15));
    // It says nothing during the TLS handshake either, which is sooner given up.
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let carried = send(&courier(true, &Arc::default()), &url).await;
    let Err(DeliveryError::Failed(note)) = carried else { panic!("{carried:?}") };
    assert_eq!(note, "no connection within 700 ms");
    // Nobody is there.
    drop(silent);
    let carried = send(&courier(true, &Arc::new(Names::default())), &url).await;
    assert!(matches!(carried, Err(DeliveryError::Failed(_))), "{carried:?}");
}
