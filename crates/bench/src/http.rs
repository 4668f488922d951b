//! The least HTTP/1.1 that a load generator needs, so that its own cost stays small beside the server's.

use std::fmt::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Fault;

/// An answer larger than this is not one we asked for.
const ANSWER_BYTES_MAX: usize = 64 << 20;
const CONNECTED_WITHIN: Duration = Duration::from_secs(10);
/// How much of a body is shown where it was not wanted.
const SHOWN_CHARACTERS: usize = 300;

/// A keep-alive connection that carries one request at a time.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// A whole answer, its body borrowed from the connection's buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl fmt::Display for Answer<'_> {
    /// The status and the beginning of the body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = String::from_utf8_lossy(self.body).chars().take(SHOWN_CHARACTERS).collect();
        write!(f, "{} {shown}", self.status)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    length: usize,
    body_bytes: usize,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Self, Fault> {
        let stream = tokio::time::timeout(CONNECTED_WITHIN, TcpStream::connect(address))
            .await
            .map_err(|_| format!("{address} does not accept connections"))?
            .map_err(|error| format!("connect: {error}"))?;
        stream.set_nodelay(true).map_err(|error| format!("nodelay: {error}"))?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 << 10) })
    }

    /// Sends the prepared bytes and reads one answer.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>, Fault> {
        self.buffer.clear();
        self.stream.write_all(request).await.map_err(|error| format!("write: {error}"))?;
        let mut head = None;
        loop {
            let received =
                self.stream.read_buf(&mut self.buffer).await.map_err(|error| format!("read: {error}"))?;
            if received == 0 {
                return Err("the server closed the connection".into());
            }
            if head.is_none() {
                head = parse_head(&self.buffer)?;
            }
            let Some(Head { status, length, body_bytes }) = head else { continue };
            if self.buffer.len() < length + body_bytes {
                continue;
            }
            return match self.buffer.get(length..) {
                Some(body) if body.len() == body_bytes => Ok(Answer { status, body }),
                _ => Err("the answer is longer than its Content-Length".into()),
            };
        }
    }
}

impl Connection {
    /// Opens the console; the answer is the session's cookie.
    pub async fn sign_in(&mut self, token: &str) -> Result<String, Fault> {
        let form = format!("token={token}&name=bench");
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        self.cookie(&compose("POST", "/console/sign-in", &kind, Some(form.as_bytes()))).await
    }

    /// The session that an answer begins.
    async fn cookie(&mut self, request: &[u8]) -> Result<String, Fault> {
        let status = self.exchange(request).await?.status;
        let head = String::from_utf8_lossy(&self.buffer).to_lowercase();
        let place = head.find("set-cookie: ").ok_or_else(|| format!("answered {status} without a cookie"))?;
        let raw = self.buffer.get(place + "set-cookie: ".len()..).unwrap_or_default();
        let value = raw.split(|byte| *byte == b';' || *byte == b'\r').next().unwrap_or_default();
        Ok(String::from_utf8_lossy(value).into_owned())
    }
}

/// The bytes of a request with JSON in it. The `Host` is the same for every server, so that all get the same bytes.
pub fn request(method: &str, path: &str, bearer: Option<&str>, body: Option<&[u8]>) -> Vec<u8> {
    let authorization = bearer.map(|token| format!("Bearer {token}"));
    let authorization = authorization.as_deref().map(|value| ("Authorization", value));
    let kind = body.map(|_| ("Content-Type", "application/json"));
    let headers: Vec<_> = authorization.into_iter().chain(kind).collect();
    compose(method, path, &headers, body)
}

/// The bytes of a request with these headers.
pub fn compose(method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if let Some(body) = body {
        let _ = write!(head, "Content-Length: {}\r\n", body.len());
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    bytes
}

/// `None` while the head is incomplete. Every answer we ask for has a known length, so a missing one is a fault.
fn parse_head(received: &[u8]) -> Result<Option<Head>, Fault> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if received.len() > 64 << 10 { Err("the answer's head never ends".into()) } else { Ok(None) };
    };
    let head = received.get(..end).unwrap_or_default();
    let mut lines = head.split(|byte| *byte == b'\n');
    let status = lines.next().and_then(parse_status).ok_or("the status line is malformed")?;
    let body_bytes = lines.find_map(parse_content_length).ok_or("the answer has no Content-Length")?;
    if body_bytes > ANSWER_BYTES_MAX {
        return Err(format!("an answer of {body_bytes} bytes").into());
    }
    Ok(Some(Head { status, length: end + 4, body_bytes }))
}

fn parse_status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.1 ")?;
    let (digits, after) = rest.split_at_checked(3)?;
    let separated = after.first().is_none_or(u8::is_ascii_whitespace);
    if separated { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

fn parse_content_length(line: &[u8]) -> Option<usize> {
    let (name, value) = line.split_at_checked(b"content-length:".len())?;
    if !name.eq_ignore_ascii_case(b"content-length:") {
        return None;
    }
    std::str::from_utf8(value.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(received: &str, expected: Result<Option<(u16, usize, usize)>, &str>) {
        let head = parse_head(received.as_bytes());
        let head = head.map(|head| head.map(|head| (head.status, head.length, head.body_bytes)));
        assert_eq!(head.map_err(|fault| fault.to_string()), expected.map_err(String::from), "{received:?}");
    }

    #[test]
    fn reads_status_and_length() {
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", Ok(Some((200, 38, 2))));
        check("HTTP/1.1 503 \r\nDate: x\r\nContent-Length:0 \r\n\r\n", Ok(Some((503, 45, 0))));
    }

    #[test]
    fn waits_for_the_rest_of_the_head() {
        check("", Ok(None));
        check("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r", Ok(None));
    }

    #[test]
    fn refuses_what_it_cannot_measure() {
        check(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            Err("the answer has no Content-Length"),
        );
        check("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", Err("the answer has no Content-Length"));
        check("ICY 200 OK\r\n\r\n", Err("the status line is malformed"));
        check("HTTP/1.1 2000\r\n\r\n", Err("the status line is malformed"));
    }

    #[test]
    fn a_request_carries_what_it_was_given() {
        let bytes = request("POST", "/p", Some("k"), Some(b"{}"));
        let expected = "POST /p HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer k\r\n\
            Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
        assert_eq!(request("GET", "/p", None, None), b"GET /p HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }

    #[tokio::test]
    async fn an_answer_in_pieces_is_put_together() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut received = [0; 64];
            for piece in ["HTTP/1.1 20", "1 Created\r\nContent-Le", "ngth: 5\r\n\r\nhe", "llo"] {
                if piece.starts_with("HTTP") {
                    assert!(stream.read(&mut received).await.unwrap() > 0);
                }
                stream.write_all(piece.as_bytes()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let mut connection = Connection::open(address).await.unwrap();
        let answer = connection.exchange(&request("GET", "/", None, None)).await.unwrap();
        assert_eq!(answer, Answer { status: 201, body: b"hello" });
        server.await.unwrap();
        let closed = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await;
        assert!(closed.is_err());
    }
}
