//! The document as the store keeps it: the same shape, each secret as `{"sealed": "…"}`.

use serde_json::{Value, json};
use tollgate_domain::id::EnvironmentId;
use tollgate_vault::{SealError, Sealer};

use crate::{
    Configuration,
    provider::{SecretSource, place},
    validation_error::ValidationErrors,
};

/// Why a stored document cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoredConfigError {
    /// It is not JSON.
    #[error("the stored configuration is not JSON: {0}")]
    Unreadable(String),
    /// It does not hold together, or its secrets do not open.
    #[error("the stored configuration is invalid: {}", first(.0))]
    Faulty(ValidationErrors),
}

/// A stored document with its secrets sealed under the sealer's own key; `None` if they are. Reads no more of it than
/// that: also documents that would not be valid today have secrets.
pub fn reseal_document(
    text: &str,
    environment: EnvironmentId,
    sealer: &Sealer,
) -> Result<Option<String>, SealError> {
    let mut document: Value = serde_json::from_str(text).map_err(|_| SealError::Malformed)?;
    let mut is_changed = false;
    let providers = document.get_mut("providers").and_then(Value::as_object_mut);
    for (provider, entry) in providers.into_iter().flatten() {
        let credentials = entry.get_mut("credentials").and_then(Value::as_object_mut);
        for (field, credential) in credentials.into_iter().flatten() {
            let Some(sealed) = credential.get_mut("sealed") else { continue };
            let context = context(environment, &place(provider, field));
            let resealed = sealer.reseal(&context, sealed.as_str().unwrap_or_default())?;
            if let Some(resealed) = resealed {
                *sealed = resealed.into();
                is_changed = true;
            }
        }
    }
    Ok(is_changed.then(|| document.to_string()))
}

/// Where a secret belongs: it opens nowhere else.
fn context(environment: EnvironmentId, place: &str) -> String {
    format!("{environment}/{place}")
}

fn first(errors: &ValidationErrors) -> String {
    errors.iter().next().map(|fault| format!("{} {}", fault.field, fault.message)).unwrap_or_default()
}

impl Configuration {
    /// The document to store for this environment, its secrets sealed.
    pub fn to_stored(&self, environment: EnvironmentId, sealer: &Sealer) -> Result<String, SealError> {
        let mut failed = None;
        let document =
            self.write_with(&mut |place, secret| match sealer.seal(&context(environment, place), secret) {
                Ok(text) => json!({ "sealed": text }),
                Err(error) => {
                    failed = Some(error);
                    Value::Null
                }
            });
        failed.map_or_else(|| Ok(document.to_string()), Err)
    }

    /// Reads what [`Configuration::to_stored`] wrote for the same environment.
    pub fn from_stored(
        text: &str,
        environment: EnvironmentId,
        sealer: &Sealer,
    ) -> Result<Self, StoredConfigError> {
        let document =
            serde_json::from_str(text).map_err(|error| StoredConfigError::Unreadable(error.to_string()))?;
        let scope = environment.to_string();
        Self::read_with(&document, &SecretSource::Stored { sealer, scope: &scope })
            .map_err(StoredConfigError::Faulty)
    }
}
