//! The account at a provider that something was sent to, as JSON.

use serde::Deserialize;
use serde_json::json;
use tollgate_domain::ProviderAccount;

use crate::prelude::*;

#[derive(Deserialize)]
struct StoredAccount {
    address: String,
    id: Option<String>,
    credential: String,
}

fn write(account: &ProviderAccount) -> String {
    let ProviderAccount { address, id, credential } = account;
    json!({ "address": address, "id": id, "credential": credential }).to_string()
}

fn read(stored: &str) -> Result<ProviderAccount, CorruptRow> {
    let stored = serde_json::from_str(stored).map_err(|_| CorruptRow("provider account"))?;
    let StoredAccount { address, id, credential } = stored;
    Ok(ProviderAccount { address, id, credential })
}

texts! { ProviderAccount: write, read; }
