//! The product as a newcomer starts it: the sandbox, on a data directory of its own.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Fault;
use crate::call::Caller;
use crate::launch;
use crate::process::Process;

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
        let address = launch::free_address()?;
        let log = directory.join("tollgate.log");
        let mut command = launch::command(binary, directory, &log)?;
        command.env("TOLLGATE_DATA_DIR", &data).env("TOLLGATE_LISTEN", address.to_string());
        let started = Instant::now();
        let ask = async || launch::is_ready(address).await.then(|| started.elapsed());
        let (process, ready_after) = launch::start("tollgate", &mut command, &log, ask).await?;
        let sandbox = Sandbox::read(&data.join("sandbox.json"))?;
        Ok(Self { process, address, sandbox, ready_after })
    }

    /// One call outside the measured rounds, which must succeed; the body as JSON, and its size.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        bearer: &str,
        body: Option<&[u8]>,
    ) -> Result<(Value, usize), Fault> {
        let called = Caller::new(self.address, bearer).call(method, path, body).await?;
        Ok((called.body, called.bytes))
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
