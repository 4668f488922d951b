//! The receiver's bank details: sealed while the outcome is unknown, so that any node can ask again, and gone after.

use serde_json::{Value, json};
use tollgate_domain::{
    ach::TransferOrder,
    id::{EnvironmentId, TransferId},
};
use tollgate_vault::{SealError, Secret};

use crate::{engine::Engine, ports::BankAccount};

impl Engine {
    pub(super) fn seal_account(
        &self,
        order: &TransferOrder,
        account: &BankAccount,
    ) -> Result<String, SealError> {
        let text = json!({
            "routingNumber": account.routing_number.expose(),
            "accountNumber": account.account_number.expose(),
        });
        let place = place(order.environment, order.id);
        self.account_sealer.seal(&place, &Secret::new(text.to_string()))
    }

    /// `None` if the details are gone or do not open.
    pub(super) fn open_account(&self, order: &TransferOrder, sealed: Option<&str>) -> Option<BankAccount> {
        let opened = self.account_sealer.open(&place(order.environment, order.id), sealed?).ok()?;
        let value: Value = serde_json::from_str(opened.expose()).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(Secret::new);
        Some(BankAccount { routing_number: text("routingNumber")?, account_number: text("accountNumber")? })
    }
}

fn place(environment: EnvironmentId, transfer: TransferId) -> String {
    format!("{environment}/{transfer}/account")
}
