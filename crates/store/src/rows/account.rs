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

pub(crate) fn write(account: &ProviderAccount) -> String {
    let ProviderAccount { address, id, credential } = account;
    json!({ "address": address, "id": id, "credential": credential }).to_string()
}

pub(crate) fn read_or_none(cells: &mut Cells<'_>) -> Result<Option<ProviderAccount>, Fault> {
    let Some(stored) = cells.text_or_none()? else { return Ok(None) };
    let StoredAccount { address, id, credential } =
        serde_json::from_str(&stored).map_err(|_| CorruptRow("provider account"))?;
    Ok(Some(ProviderAccount { address, id, credential }))
}
