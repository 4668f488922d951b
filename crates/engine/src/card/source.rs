//! The card's token of a charging attempt: kept sealed while the outcome is unknown, so that any node can ask again.

use serde_json::{Value, json};
use tollgate_domain::{
    card::{Attempt, CardOrder},
    id::{EnvironmentId, PaymentId},
};
use tollgate_vault::{SealError, Secret};

use crate::{engine::Engine, ports::Charge};

impl Engine {
    /// The same token of the same payment has the same digest on every node.
    pub(super) fn source_digest(&self, order: &CardOrder, source: &Secret) -> [u8; 32] {
        let (environment, id) = (order.environment.to_bytes(), order.id.to_bytes());
        self.source_digester.digest(&[&environment, &id, source.expose().as_bytes()])
    }

    pub(super) fn seal_source(&self, order: &CardOrder, charge: &Charge) -> Result<String, SealError> {
        let text = json!({
            "source": charge.source.expose(),
            "verification": charge.verification.as_ref().map(Secret::expose),
            "buyerEmail": charge.buyer_email,
        });
        let place = source_context(order.environment, order.id, charge.number);
        self.source_sealer.seal(&place, &Secret::new(text.to_string()))
    }

    /// What to charge again; `None` if it is gone or does not open.
    pub(super) fn open_source(&self, order: &CardOrder, attempt: &Attempt) -> Option<Charge> {
        let place = source_context(order.environment, order.id, attempt.number);
        let opened = self.source_sealer.open(&place, attempt.sealed_source.as_deref()?).ok()?;
        let value: Value = serde_json::from_str(opened.expose()).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        Some(Charge {
            number: attempt.number,
            source: Secret::new(text("source")?),
            verification: text("verification").map(Secret::new),
            buyer_email: text("buyerEmail").map(str::to_owned),
            terms: None,
        })
    }
}

/// Where a sealed token belongs: it opens nowhere else.
pub(crate) fn source_context(environment: EnvironmentId, payment: PaymentId, number: u32) -> String {
    format!("{environment}/{payment}/attempts/{number}")
}
