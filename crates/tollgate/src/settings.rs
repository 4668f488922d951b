//! Where settings come from: the environment first, then a TOML file, then the defaults.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tollgate_store::DatabaseUrl;
use tollgate_vault::{AdminToken, MasterKey, Secret};

use crate::failure::Failure;

const DEFAULT_LISTEN: &str = "127.0.0.1:8080";
const DEFAULT_DATA_DIR: &str = "tollgate-data";
const DEFAULT_LOG: &str = "info";

/// The file's shape; a name it does not know is refused rather than ignored.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    listen: Option<String>,
    data_dir: Option<PathBuf>,
    database_url: Option<String>,
    admin_token: Option<String>,
    master_key: Option<String>,
    log: Option<String>,
}

/// The settings, checked as far as they can be without starting.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: String,
    pub(crate) data_dir: PathBuf,
    pub(crate) database: DatabaseUrl,
    pub(crate) admin_token: Option<Secret>,
    pub(crate) master_key: Option<Secret>,
    pub(crate) log: String,
}

impl Settings {
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, Failure> {
        let file = file.map_or_else(|| Ok(File::default()), read)?;
        let data_dir = text("TOLLGATE_DATA_DIR")?
            .map(PathBuf::from)
            .or(file.data_dir)
            .unwrap_or_else(|| PathBuf::from(DEFAULT_DATA_DIR));
        let database = match text("TOLLGATE_DATABASE_URL")?.or(file.database_url) {
            Some(url) => url.parse()?,
            None => format!("sqlite:{}", data_dir.join("tollgate.db").display()).parse()?,
        };
        Ok(Self {
            listen: text("TOLLGATE_LISTEN")?.or(file.listen).unwrap_or_else(|| DEFAULT_LISTEN.to_owned()),
            data_dir,
            database,
            admin_token: text("TOLLGATE_ADMIN_TOKEN")?.or(file.admin_token).map(Secret::new),
            master_key: text("TOLLGATE_MASTER_KEY")?.or(file.master_key).map(Secret::new),
            log: text("TOLLGATE_LOG")?.or(file.log).unwrap_or_else(|| DEFAULT_LOG.to_owned()),
        })
    }

    /// The master key, which production must have.
    pub(crate) fn required_master_key(&self) -> Result<MasterKey, Failure> {
        let missing = "no master key is set; put one into TOLLGATE_MASTER_KEY (`tollgate generate master-key` makes \
                       one) and keep it safe: without it, the secrets in the database cannot be opened";
        let text = self.master_key.as_ref().ok_or_else(|| Failure::new(missing))?;
        Ok(MasterKey::from_setting(text)?)
    }

    /// The operator's token, which production must have.
    pub(crate) fn required_admin_token(&self) -> Result<AdminToken, Failure> {
        let missing = "no admin token is set; put one into TOLLGATE_ADMIN_TOKEN (`tollgate generate admin-token` makes one)";
        let text = self.admin_token.as_ref().ok_or_else(|| Failure::new(missing))?;
        Ok(AdminToken::from_setting(text)?)
    }
}

fn read(path: &Path) -> Result<File, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::file("read the settings in", path, &error))?;
    toml::from_str(&text).map_err(|error| {
        // The parser's own rendering quotes the line, which may hold a secret; the place and the reason do not.
        let line = error.span().map_or(1, |span| {
            text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count() + 1
        });
        Failure::new(format!(
            "the settings in {} have a fault in line {line}: {}",
            path.display(),
            error.message()
        ))
    })
}

/// A variable of the environment; an empty one counts as not set.
fn text(name: &str) -> Result<Option<String>, Failure> {
    match env::var(name) {
        Ok(value) if value.trim().is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(Failure::new(format!("{name} is not valid Unicode"))),
    }
}
