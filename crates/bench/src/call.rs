//! Calls outside the measured rounds: setting up, asking for state.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use crate::Fault;
use crate::http::{self, Connection};

/// An audit of everything may take some minutes.
const CALL_WITHIN: Duration = Duration::from_mins(15);

/// Somebody who calls one server with one credential, over a connection that is kept.
pub struct Caller {
    address: SocketAddr,
    bearer: String,
    connection: Option<Connection>,
}

/// A successful answer.
pub struct Called {
    /// The whole body.
    pub body: Value,
    /// Its size as it came.
    pub bytes: usize,
}

impl Caller {
    pub fn new(address: SocketAddr, bearer: &str) -> Self {
        Self { address, bearer: bearer.to_owned(), connection: None }
    }

    /// One call, which must be answered with a status of 2xx.
    pub async fn call(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Result<Called, Fault> {
        let request = http::request(method, path, Some(&self.bearer), body);
        match tokio::time::timeout(CALL_WITHIN, self.exchange(&request)).await {
            Ok(Ok(called)) => Ok(called),
            Ok(Err(fault)) => Err(format!("{method} {path}: {fault}").into()),
            Err(_) => Err(format!("{method} {path} was not answered in time").into()),
        }
    }

    /// Sends JSON and takes the answer's `data`.
    pub async fn send(&mut self, method: &str, path: &str, body: &Value) -> Result<Value, Fault> {
        let mut called = self.call(method, path, Some(&serde_json::to_vec(body)?)).await?;
        let data = called.body.get_mut("data").map(Value::take);
        data.ok_or_else(|| format!("{method} {path}: the answer has no data").into())
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Called, Fault> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(self.address).await?),
        };
        let answer = connection.exchange(request).await?;
        if !(200..300).contains(&answer.status) {
            return Err(format!("answered {answer}").into());
        }
        Ok(Called { body: serde_json::from_slice(answer.body)?, bytes: answer.body.len() })
    }
}

/// The text at a place of a document.
pub fn text_at(document: &Value, pointer: &str) -> Result<String, Fault> {
    let text = document.pointer(pointer).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("there is no text at {pointer}").into())
}

/// The count at a place of a document.
pub fn count_at(document: &Value, pointer: &str) -> Result<u64, Fault> {
    let count = document.pointer(pointer).and_then(Value::as_u64);
    count.ok_or_else(|| format!("there is no count at {pointer}").into())
}
