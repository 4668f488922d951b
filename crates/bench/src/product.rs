//! The product under test: the sandbox, on a data directory of its own.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Fault;
use crate::http::{self, Connection};
use crate::process::Process;

const READY_WITHIN: Duration = Duration::from_mins(1);
const CALL_WITHIN: Duration = Duration::from_mins(1);

/// A running sandbox.
pub(crate) struct Product {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) sandbox: Sandbox,
    /// From the start of the process until it said it was ready.
    pub(crate) ready_after: Duration,
}

/// What the sandbox writes down for its users.
pub(crate) struct Sandbox {
    pub(crate) admin_token: String,
    pub(crate) secret_key: String,
    pub(crate) environment_id: String,
}

impl Product {
    /// Starts the binary without arguments, which means sandbox, and waits until it is ready.
    pub(crate) async fn start(binary: &Path, directory: &Path) -> Result<Self, Fault> {
        let data = directory.join("data");
        std::fs::create_dir_all(&data)?;
        let address = free_address()?;
        let log_path = directory.join("tollgate.log");
        let log = File::create(&log_path)?;
        let mut command = Command::new(binary);
        // Settings of the caller's own installation must not reach this one.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TOLLGATE_") {
                command.env_remove(name);
            }
        }
        command
            .env("TOLLGATE_DATA_DIR", &data)
            .env("TOLLGATE_LISTEN", address.to_string())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let started = Instant::now();
        let mut process = Process::spawn("tollgate", &mut command)?;
        let ready = process.wait_for(READY_WITHIN, async || is_ready(address).await.then_some(())).await;
        let ready_after = started.elapsed();
        if let Err(fault) = ready {
            return Err(format!("{fault}\n{}", last_lines(&log_path)).into());
        }
        let sandbox = Sandbox::read(&data.join("sandbox.json"))?;
        Ok(Self { process, address, sandbox, ready_after })
    }

    /// One call outside the measured rounds, which must be answered with 200; the body as JSON, and its size.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        bearer: &str,
        body: Option<&[u8]>,
    ) -> Result<(Value, usize), Fault> {
        let request = http::request(method, path, Some(bearer), body);
        let exchange = async {
            let mut connection = Connection::open(self.address).await?;
            let answer = connection.exchange(&request).await?;
            Ok::<_, Fault>((answer.status, answer.body.to_vec()))
        };
        let (status, body) = tokio::time::timeout(CALL_WITHIN, exchange)
            .await
            .map_err(|_| format!("{method} {path} was not answered in time"))??;
        if status != 200 {
            let shown: String = String::from_utf8_lossy(&body).chars().take(500).collect();
            return Err(format!("{method} {path} answered {status}: {shown}").into());
        }
        Ok((serde_json::from_slice(&body)?, body.len()))
    }
}

impl Sandbox {
    fn read(path: &Path) -> Result<Self, Fault> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let document: Value = serde_json::from_str(&text)?;
        let field = |name: &str| match document.get(name).and_then(Value::as_str) {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("{} has no `{name}`", path.display())),
        };
        Ok(Self {
            admin_token: field("adminToken")?,
            secret_key: field("secretKey")?,
            environment_id: field("environmentId")?,
        })
    }
}

async fn is_ready(address: SocketAddr) -> bool {
    let request = http::request("GET", "/readyz", None, None);
    let ask = async {
        let mut connection = Connection::open(address).await?;
        Ok::<_, Fault>(connection.exchange(&request).await?.status == 200)
    };
    matches!(tokio::time::timeout(Duration::from_secs(2), ask).await, Ok(Ok(true)))
}

fn free_address() -> Result<SocketAddr, Fault> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_file_is_read_or_the_missing_field_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sandbox.json");
        std::fs::write(&path, r#"{"adminToken":"a","secretKey":"s","environmentId":"e","simulators":{}}"#)
            .unwrap();
        let sandbox = Sandbox::read(&path).unwrap();
        assert_eq!((sandbox.admin_token.as_str(), sandbox.environment_id.as_str()), ("a", "e"));
        std::fs::write(&path, r#"{"adminToken":"a","environmentId":"e"}"#).unwrap();
        let fault = Sandbox::read(&path).err().unwrap();
        assert!(fault.to_string().ends_with("has no `secretKey`"));
    }
}
