//! The receiver's bank details: sealed while the outcome is unknown, so that any node can ask again, and gone after.

use serde_json::{Value, json};
use tokio::time::Instant;
use tollgate_domain::{
    ach::TransferOrder,
    id::{EnvironmentId, TransferId},
};
use tollgate_trace::span;
use tollgate_vault::{Sealer, Secret};

use super::request::TransferError;
use crate::{
    engine::Engine,
    ports::{BankAccount, StoreError},
};

impl Engine {
    pub(super) async fn seal_account(
        &self,
        order: &TransferOrder,
        account: &BankAccount,
        deadline: Instant,
    ) -> Result<String, TransferError> {
        let text = json!({
            "routingNumber": account.routing_number.expose(),
            "accountNumber": account.account_number.expose(),
        });
        let place = account_context(order.environment, order.id);
        let sealer = self.current_account_key(deadline).await?;
        Ok(span!("seal account").in_scope(|| sealer.seal(&place, &Secret::new(text.to_string())))?)
    }

    /// `None` if the details are gone or do not open.
    pub(super) async fn open_account(
        &self,
        order: &TransferOrder,
        sealed: Option<&str>,
    ) -> Result<Option<BankAccount>, StoreError> {
        let Some(sealed) = sealed else { return Ok(None) };
        let sealer = self.account_key_of(sealed).await?;
        Ok(sealer.and_then(|sealer| open(&sealer, order, sealed)))
    }
}

fn open(sealer: &Sealer, order: &TransferOrder, sealed: &str) -> Option<BankAccount> {
    let opened = sealer.open(&account_context(order.environment, order.id), sealed).ok()?;
    let value: Value = serde_json::from_str(opened.expose()).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(Secret::new);
    Some(BankAccount { routing_number: text("routingNumber")?, account_number: text("accountNumber")? })
}

/// Where sealed details belong: they open nowhere else.
pub(crate) fn account_context(environment: EnvironmentId, transfer: TransferId) -> String {
    format!("{environment}/{transfer}/account")
}
