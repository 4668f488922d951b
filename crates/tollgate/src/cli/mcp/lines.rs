//! Standard input and output, line by line: what is not a message of JSON-RPC is answered here with the error that the protocol
//! has for it. The library would drop such a line, and leave a client waiting.

use std::{io, sync::Arc};

use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, Stdout, WriteHalf,
        duplex, split,
    },
    sync::Mutex,
    task::JoinHandle,
};

/// A longer line is not read whole, and answered with an error.
const LINE_LENGTH_MAX: usize = 4 * 1024 * 1024;
/// What is on its way between the two ends of a pipe.
const PIPE_LENGTH: usize = 64 * 1024;

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// What the server reads from and writes to.
pub(super) struct Lines {
    pub(super) server: DuplexStream,
    /// Ends once `server` is dropped and everything that was written to it is on standard output.
    pub(super) written: JoinHandle<io::Result<()>>,
}

impl Lines {
    pub(super) fn of_stdio() -> Self {
        let (server, client) = duplex(PIPE_LENGTH);
        let (from_server, to_server) = split(client);
        let stdout = Arc::new(Mutex::new(tokio::io::stdout()));
        tokio::spawn(read(to_server, Arc::clone(&stdout)));
        Self { server, written: tokio::spawn(write(from_server, stdout)) }
    }
}

/// Passes messages on until the input ends.
async fn read(mut server: WriteHalf<DuplexStream>, stdout: Arc<Mutex<Stdout>>) -> io::Result<()> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while next_line(&mut input, &mut line).await? {
        match refusal(&line) {
            None => server.write_all(&line).await?,
            Some(error) => put_line(&stdout, error.to_string().as_bytes()).await?,
        }
    }
    server.shutdown().await
}

async fn write(server: ReadHalf<DuplexStream>, stdout: Arc<Mutex<Stdout>>) -> io::Result<()> {
    let mut server = BufReader::new(server);
    let mut line = Vec::new();
    while server.read_until(b'\n', &mut line).await? > 0 {
        put_line(&stdout, line.trim_ascii_end()).await?;
        line.clear();
    }
    Ok(())
}

async fn put_line(stdout: &Mutex<Stdout>, line: &[u8]) -> io::Result<()> {
    let mut stdout = stdout.lock().await;
    stdout.write_all(line).await?;
    stdout.write_all(b"\n").await?;
    stdout.flush().await
}

/// Reads a line into `line`, of one that is too long a part; `false` at the end.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    loop {
        let part = input.fill_buf().await?;
        if part.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end.saturating_add(1));
        // One byte more than is allowed says that it is too long.
        let room = LINE_LENGTH_MAX.saturating_add(1).saturating_sub(line.len());
        line.extend(part.iter().take(taken.min(room)));
        input.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// The error that answers a line, if it is none that the server can answer.
fn refusal(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let error = |id: Value, code: i32, message: &str| {
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    };
    if line.len() > LINE_LENGTH_MAX {
        return error(Value::Null, INVALID_REQUEST, "The message is longer than 4 MiB.");
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(fault) => {
            return error(Value::Null, PARSE_ERROR, &format!("The line is not JSON: {fault}."));
        }
    };
    let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let is_message = message.get("jsonrpc").is_some_and(|version| version == "2.0")
        && ["method", "result", "error"].iter().any(|member| message.get(member).is_some());
    if is_message {
        return None;
    }
    let said = "Not a message of JSON-RPC 2.0: an object with `jsonrpc`, `method` and, for a request, `id`.";
    error(id.unwrap_or_default(), INVALID_REQUEST, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Option<(Value, i64)> {
        let error = refusal(line.as_bytes())?;
        Some((error["id"].clone(), error["error"]["code"].as_i64().unwrap()))
    }

    #[test]
    fn what_is_no_message_has_its_error() {
        for (line, expected) in [
            ("{\"jsonrpc\": ", (Value::Null, -32_700)),
            ("hello", (Value::Null, -32_700)),
            ("\u{7f}", (Value::Null, -32_700)),
            ("[]", (Value::Null, -32_600)),
            ("7", (Value::Null, -32_600)),
            (r#"{"id": 4, "method": "ping"}"#, (json!(4), -32_600)),
            (r#"{"jsonrpc": "2.0", "id": "a"}"#, (json!("a"), -32_600)),
        ] {
            assert_eq!(refused(line), Some(expected), "{line}");
        }
        assert_eq!(refused(&"x".repeat(LINE_LENGTH_MAX + 1)), Some((Value::Null, -32_600)));
        for line in [
            "",
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }

    #[tokio::test]
    async fn lines_are_read_whole_and_long_ones_in_part() {
        let long = "y".repeat(LINE_LENGTH_MAX + 5);
        let text = format!("one\n\n{long}\nlast");
        let mut input = BufReader::new(text.as_bytes());
        let mut lengths = Vec::new();
        let mut line = Vec::new();
        while next_line(&mut input, &mut line).await.unwrap() {
            lengths.push(line.len());
        }
        assert_eq!(lengths, [4, 1, LINE_LENGTH_MAX + 1, 4]);
    }
}
