//! The Order object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::{Kept, Word, word};
use crate::square::body::Money;

/// What is bought.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) location_id: String,
    pub(crate) total: Money,
    #[serde(with = "word")]
    pub(crate) state: Word,
    pub(crate) line_items: Vec<Value>,
    pub(crate) reference_id: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) tenders: Vec<Value>,
    /// Such an order stays open once it is paid: the seller completes it.
    pub(crate) is_of_link: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: u64,
}

impl Kept for Order {}

impl Order {
    /// What is left to be paid.
    pub(crate) fn due(&self) -> i64 {
        let paid = self.tenders.iter().filter_map(|tender| tender.pointer("/amount_money/amount")?.as_i64());
        if self.state == "CANCELED" { 0 } else { self.total.amount - paid.sum::<i64>() }
    }

    /// Whether nothing was paid, and something still can be.
    pub(crate) fn is_unpaid(&self) -> bool {
        self.state == "OPEN" && self.tenders.is_empty()
    }

    pub(crate) fn json(&self) -> Value {
        let zero = self.total.of(0).json();
        let due = self.due();
        let mut order = json!({
            "id": self.id,
            "location_id": self.location_id,
            "line_items": self.line_items,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "state": self.state,
            "version": self.version,
            "total_money": self.total.json(),
            "total_tax_money": zero,
            "total_discount_money": zero,
            "total_tip_money": zero,
            "total_service_charge_money": zero,
            "net_amount_due_money": self.total.of(due).json(),
            "source": { "name": "Tollgate simulator" },
        });
        if let Some(fields) = order.as_object_mut() {
            let mut add = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    fields.insert(name.to_owned(), value);
                }
            };
            add("reference_id", self.reference_id.clone().map(Value::from));
            add("metadata", self.metadata.clone());
            add("tenders", (!self.tenders.is_empty()).then(|| self.tenders.clone().into()));
            add("closed_at", (self.state != "OPEN").then(|| self.updated_at.as_str().into()));
        }
        order
    }
}
