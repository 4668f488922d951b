//! What the sandbox wrote down for whoever works beside it: `sandbox.json` in its data folder.

use std::{fs, path::PathBuf};

use serde_json::Value;
use tollgate_vault::Secret;

use super::variable;

/// The notes of one sandbox.
pub(crate) struct SandboxFile {
    pub(crate) path: PathBuf,
    values: Value,
}

impl SandboxFile {
    /// The notes in `TOLLGATE_DATA_DIR`, or in `./tollgate-data`, if there are some.
    pub(crate) fn find() -> Option<Self> {
        let folder =
            variable("TOLLGATE_DATA_DIR").map_or_else(|| PathBuf::from("tollgate-data"), PathBuf::from);
        let path = folder.join("sandbox.json");
        let text = fs::read_to_string(&path).ok()?;
        Some(Self { values: serde_json::from_str(&text).ok()?, path })
    }

    fn text(&self, pointer: &str) -> Option<&str> {
        self.values.pointer(pointer).and_then(Value::as_str)
    }

    pub(crate) fn base_url(&self) -> Option<&str> {
        self.text("/baseUrl").map(|url| url.trim_end_matches('/'))
    }

    pub(crate) fn admin_token(&self) -> Option<Secret> {
        self.text("/adminToken").map(Secret::new)
    }

    pub(crate) fn environment(&self) -> Option<&str> {
        self.text("/environmentId")
    }

    /// A simulated provider's address and the key it takes.
    pub(crate) fn simulator(&self, wire: &str) -> Option<(&str, Secret)> {
        let address = self.text(&format!("/simulators/{wire}/baseUrl"))?;
        Some((address, Secret::new(self.text(&format!("/simulators/{wire}/apiKey"))?)))
    }
}
