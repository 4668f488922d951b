//! The yardstick: a bare axum server that reads the body and answers a constant of the product's size.

use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use tokio::net::TcpListener;

use crate::process::Process;
use crate::{Fault, QUOTE_PATH, preparations};

const READY_WITHIN: Duration = Duration::from_secs(10);

/// Serves until standard input ends, which it does when the benchmark that started us is gone.
pub(crate) async fn serve(address_file: &Path, answer_bytes: usize) -> Result<(), Fault> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    // Written aside and renamed, so that the reader never sees half an address.
    let unfinished = address_file.with_extension("unfinished");
    std::fs::write(&unfinished, address.to_string())?;
    std::fs::rename(&unfinished, address_file)?;
    std::thread::spawn(|| {
        let mut ignored = Vec::new();
        drop(std::io::stdin().read_to_end(&mut ignored));
        std::process::exit(0);
    });
    axum::serve(listener, router(answer_bytes)).await?;
    Ok(())
}

/// Starts this program's own echo mode as another process, as the product is another process.
pub(crate) async fn start(directory: &Path, answer_bytes: usize) -> Result<(Process, SocketAddr), Fault> {
    let address_file = directory.join("echo.address");
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("echo").arg("--address-file").arg(&address_file);
    command.args(["--answer-bytes", &answer_bytes.to_string()]).stdin(Stdio::piped());
    let mut process = Process::spawn("echo", &mut command)?;
    let address = process
        .wait_for(READY_WITHIN, async || std::fs::read_to_string(&address_file).ok()?.parse().ok())
        .await?;
    Ok((process, address))
}

pub(crate) fn router(answer_bytes: usize) -> Router {
    let answer = Bytes::from(constant_json(answer_bytes));
    let echo = async move |_body: Bytes| ([(CONTENT_TYPE, "application/json")], answer.clone());
    Router::new().route(QUOTE_PATH, post(echo.clone())).route(preparations::PATH, post(echo))
}

/// A JSON object of exactly the given size; the smallest has eight bytes.
fn constant_json(bytes: usize) -> String {
    const EMPTY: &str = r#"{"p":""}"#;
    format!(r#"{{"p":"{}"}}"#, "x".repeat(bytes.saturating_sub(EMPTY.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_is_json_of_the_asked_size() {
        for bytes in [8, 9, 700, 1431] {
            let text = constant_json(bytes);
            assert_eq!(text.len(), bytes);
            assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap().is_object());
        }
    }
}
