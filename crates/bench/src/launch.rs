//! Starting the product's binary, whatever it is started as.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Fault;
use crate::http::{self, Connection};
use crate::process::Process;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// The product's binary: the one named, or the one beside this program.
pub fn binary(named: Option<&Path>) -> Result<PathBuf, Fault> {
    match named {
        Some(path) => Ok(path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?),
        None => Ok(std::env::current_exe()?.with_file_name("tollgate")),
    }
}

/// A command of the binary, with what it says in a log.
pub fn command(binary: &Path, directory: &Path, log: &Path) -> Result<Command, Fault> {
    let log = File::create(log)?;
    let mut command = Command::new(binary);
    // Settings of the caller's own installation must not reach this one.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TOLLGATE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(directory).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Ok(command)
}

/// Starts it and waits until there is an answer to `ask`. Where none comes, the log's end tells why.
pub async fn start<T>(
    name: &'static str,
    command: &mut Command,
    log: &Path,
    ask: impl AsyncFnMut() -> Option<T>,
) -> Result<(Process, T), Fault> {
    let mut process = Process::spawn(name, command)?;
    match process.wait_for(READY_WITHIN, ask).await {
        Ok(answer) => Ok((process, answer)),
        Err(fault) => Err(format!("{fault}\n{}", last_lines(log)).into()),
    }
}

pub async fn is_ready(address: SocketAddr) -> bool {
    let request = http::request("GET", "/readyz", None, None);
    let ask = async {
        let mut connection = Connection::open(address).await?;
        Ok::<_, Fault>(connection.exchange(&request).await?.status == 200)
    };
    matches!(tokio::time::timeout(Duration::from_secs(2), ask).await, Ok(Ok(true)))
}

pub fn free_address() -> Result<SocketAddr, Fault> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

pub fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
}
