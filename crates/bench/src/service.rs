//! The product as it runs in production: `tollgate serve`, on a database it is told.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Fault;
use crate::call::Caller;
use crate::launch;
use crate::process::Process;

/// After how long the product itself looks up at the provider what nobody has told it: not within a run, so that the
/// rounds measure requests and nothing else.
const FIRST_CHECK_MILLIS: &str = "3600000";

/// What `tollgate serve` refuses to start without.
pub struct Secrets {
    master_key: String,
    admin_token: String,
}

/// Where an instance lives, and on which database.
pub struct Place<'a> {
    pub binary: &'a Path,
    pub directory: PathBuf,
    pub database_url: String,
    /// Where it listens; a free address unless told.
    pub listen: Option<SocketAddr>,
    /// Settings beside those that every instance gets, and instead of them.
    pub settings: &'a [(&'a str, &'a str)],
}

/// A running instance.
pub struct Service {
    pub process: Process,
    pub address: SocketAddr,
    admin_token: String,
}

impl Secrets {
    pub fn generate(binary: &Path) -> Result<Self, Fault> {
        let generate = |what: &str| {
            let output = Command::new(binary).args(["generate", what]).output();
            let output = output.map_err(|error| format!("{}: {error}", binary.display()))?;
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let made = output.status.success() && !text.is_empty();
            if made { Ok(text) } else { Err(format!("`tollgate generate {what}` failed: {}", output.status)) }
        };
        Ok(Self { master_key: generate("master-key")?, admin_token: generate("admin-token")? })
    }
}

impl Secrets {
    /// What opens the console.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }
}

impl Service {
    /// Starts it and waits until it is ready.
    pub async fn start(place: &Place<'_>, secrets: &Secrets) -> Result<Self, Fault> {
        std::fs::create_dir_all(&place.directory)?;
        let address = place.listen.map_or_else(launch::free_address, Ok)?;
        let log = place.directory.join("tollgate.log");
        let mut command = launch::command(place.binary, &place.directory, &log)?;
        command
            .arg("serve")
            .env("TOLLGATE_DATA_DIR", &place.directory)
            .env("TOLLGATE_DATABASE_URL", &place.database_url)
            .env("TOLLGATE_LISTEN", address.to_string())
            .env("TOLLGATE_MASTER_KEY", &secrets.master_key)
            .env("TOLLGATE_ADMIN_TOKEN", &secrets.admin_token)
            .env("TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS", "true")
            .env("TOLLGATE_RESOLVER_FIRST_CHECK_MS", FIRST_CHECK_MILLIS)
            .envs(place.settings.iter().copied());
        let ask = async || launch::is_ready(address).await.then_some(());
        let (process, ()) = launch::start("tollgate", &mut command, &log, ask).await?;
        Ok(Self { process, address, admin_token: secrets.admin_token.clone() })
    }

    /// The operator.
    pub fn operator(&self) -> Caller {
        Caller::new(self.address, &self.admin_token)
    }
}
