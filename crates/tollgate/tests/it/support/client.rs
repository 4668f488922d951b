//! A plain HTTP/1.1 client on one kept-alive connection: what goes over the provider is exactly what a test says.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

use super::server::wait_until;

pub struct Client {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
    /// Sent as a bearer credential, unless empty.
    pub credential: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case; several cookies have a line each.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!(
                "status {} with a body that is not JSON ({error}): {}",
                self.status,
                String::from_utf8_lossy(&self.body)
            )
        })
    }

    /// The data of a success with this status.
    #[track_caller]
    pub fn data(&self, status: u16) -> Value {
        let json = self.json();
        assert_eq!(self.status, status, "{json:#}");
        assert_eq!((&json["success"], &json["message"]), (&Value::Bool(true), &Value::Null), "{json:#}");
        json["data"].clone()
    }

    /// The failure's code, after checking that the whole envelope is as it should be.
    #[track_caller]
    pub fn failure(&self, status: u16) -> String {
        let json = self.json();
        assert_eq!(self.status, status, "{json:#}");
        assert_eq!((&json["success"], &json["data"]), (&Value::Bool(false), &Value::Null), "{json:#}");
        assert!(json["message"].as_str().is_some_and(|message| message.ends_with('.')), "{json:#}");
        assert!(json["error"]["details"].is_array(), "{json:#}");
        let id = json["error"]["requestId"].as_str().unwrap();
        assert_eq!(self.headers.get("request-id").map(String::as_str), Some(id));
        assert!(id.starts_with("req_"), "{id}");
        let code = json["error"]["code"].as_str().unwrap();
        assert_eq!(json["error"]["docs"], format!("/docs/errors#{code}"));
        code.to_owned()
    }

    /// The names of the faulty fields.
    #[track_caller]
    pub fn faulty_fields(&self) -> Vec<String> {
        assert_eq!(self.failure(400), "invalid_body");
        self.detailed_fields()
    }

    /// The names of the fields that a failure says more about.
    pub fn detailed_fields(&self) -> Vec<String> {
        let json = self.json();
        let details = json["error"]["details"].as_array().unwrap();
        details.iter().map(|detail| detail["field"].as_str().unwrap().to_owned()).collect()
    }
}

impl Client {
    pub fn new(address: SocketAddr, credential: &str) -> Self {
        Self { address, connection: None, credential: credential.to_owned() }
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn delete(&mut self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// Posts JSON with one more header.
    pub fn post_with(&mut self, header: (&str, &str), path: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json"), header];
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    pub fn put(&mut self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    /// Puts a configuration in force, once the node has time for it: it works on one at a time. Gives what was answered.
    #[track_caller]
    pub fn configure(&mut self, path: &str, document: &Value) -> Value {
        let mut answer = self.put(path, document);
        wait_until("a turn for the configuration", Duration::from_mins(2), || {
            let is_busy = answer.status == 503 && answer.failure(503) == "server_busy";
            if is_busy {
                answer = self.put(path, document);
            }
            !is_busy
        });
        answer.data(200)
    }

    /// Sends a request and fails the test if no answer comes.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.try_send(method, path, headers, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request on the kept connection, or on a new one if there is none.
    pub fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
        if !self.credential.is_empty() {
            head.push_str(&format!("authorization: Bearer {}\r\n", self.credential));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method == "POST" || method == "PUT" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        self.exchange_for(&request, method == "HEAD")
    }

    /// Sends these very bytes and reads one answer.
    pub fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.exchange_for(request, false)
    }

    fn exchange_for(&mut self, request: &[u8], head_only: bool) -> io::Result<Answer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect(self.address)?,
        };
        connection.get_mut().write_all(request)?;
        let answer = read_answer(&mut connection, head_only)?;
        if answer.headers.get("connection").is_none_or(|value| value != "close") {
            self.connection = Some(connection);
        }
        Ok(answer)
    }
}

fn connect(address: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(30))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_mins(2)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    Ok(BufReader::new(stream))
}

fn read_answer(connection: &mut BufReader<TcpStream>, head_only: bool) -> io::Result<Answer> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut line = String::new();
    if connection.read_line(&mut line)? == 0 {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the connection was dropped without an answer",
        ));
    }
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| invalid(&line))?;
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        // Several cookies cannot be told apart in one line.
        match headers.get_mut(&name).filter(|_| name == "set-cookie") {
            Some(known) => *known = format!("{known}\n{value}"),
            None => drop(headers.insert(name, value.to_owned())),
        }
    }
    if status == 100 {
        return read_answer(connection, head_only);
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let length = if head_only { 0 } else { length };
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok(Answer { status, headers, body })
}
