//! The document as the store keeps it: the same shape, each secret as `{"sealed": "…"}`, and nothing that is not set, so that an earlier
//! version reads it as long as it uses nothing new.

use std::sync::Arc;

use serde_json::{Value, json};
use tollgate_domain::{card_fee::Rules, id::EnvironmentId};
use tollgate_vault::{SealError, Sealer};

use crate::{
    Configuration,
    provider::{SecretSource, place},
    reader::Node,
    validation_error::ValidationErrors,
};

/// Settings that binaries of schema 51 do not know, left out while they are off.
const LATER_SWITCHES: [&str; 1] = ["strictFields"];

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

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let set = fields.into_iter().filter(|(_, value)| !value.is_null());
            set.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
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
        let mut document = without_nulls(document);
        if let Some(settings) = document.get_mut("settings").and_then(Value::as_object_mut) {
            let is_off = |value: &Value| value.as_bool() == Some(false);
            settings.retain(|name, value| !(LATER_SWITCHES.contains(&name.as_str()) && is_off(value)));
        }
        failed.map_or_else(|| Ok(document.to_string()), Err)
    }

    /// Reads what [`Configuration::to_stored`] wrote for the same environment, under the server's rules about card fees. Rules
    /// that were replaced since then make no stored document unusable: what they do not allow costs nothing.
    pub fn from_stored(
        text: &str,
        environment: EnvironmentId,
        sealer: &Sealer,
        fee_rules: &Arc<Rules>,
    ) -> Result<Self, StoredConfigError> {
        let document: Value =
            serde_json::from_str(text).map_err(|error| StoredConfigError::Unreadable(error.to_string()))?;
        let scope = environment.to_string();
        let (secrets, mut errors) =
            (SecretSource::Stored { sealer, scope: &scope }, ValidationErrors::default());
        let read = Self::read_document(&Node::root(&document), &secrets, fee_rules, &mut errors);
        match read {
            Some(configuration) if errors.is_empty() => Ok(configuration),
            _ => Err(StoredConfigError::Faulty(errors)),
        }
    }
}
