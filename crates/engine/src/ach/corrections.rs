//! Notifications of change: stored with the transfer. The corrected account number is sealed and shown only on request, which
//! the timeline records.

use serde_json::{Map, Value, json};
use tollgate_domain::{
    ServiceReference,
    ach::{CorrectedNumber, Correction, TransferOrder},
    id::{EnvironmentId, TransferId},
};
use tollgate_vault::{SealError, Secret};

use super::{MAX_ROUNDS, update::TransferUpdate};
use crate::{
    audit_log::Audited,
    card::ReadError,
    configure::Origin,
    engine::Engine,
    ports::{StoreError, Transfer},
};

pub(crate) const SEALED_NUMBER: &str = "sealed_account_number";

/// A corrected account, whole.
#[derive(Debug)]
pub struct CorrectedAccount {
    /// What was wrong, in the provider's word.
    pub change_code: Option<String>,
    pub routing_number: Option<String>,
    pub account_number: Secret,
}

/// A transfer's notifications of change as they are shown: of a corrected account number the last four digits.
pub fn notifications_of_change(transfer: &Transfer) -> Value {
    stored(&transfer.progress.corrections).into_iter().map(shown).collect()
}

impl Engine {
    /// What a transfer's corrections become by a report, and those of them that are new; `None` if none is.
    pub(super) fn merge_corrections(
        &self,
        transfer: &Transfer,
        reported: &[Correction],
    ) -> Result<Option<(String, Value)>, SealError> {
        // The recipient's data was erased: a corrected account number must not be stored again.
        if transfer.order.last_four.is_empty() {
            return Ok(None);
        }
        let mut kept = stored(&transfer.progress.corrections);
        let mut news = Vec::new();
        for (place, correction) in reported.iter().enumerate() {
            let told = fields(correction);
            if kept.get(place).is_some_and(|known| shown(known.clone()) == told) {
                continue;
            }
            let mut entry = told.clone();
            if let (Some(number), Some(fields)) = (&correction.account_number, entry.as_object_mut()) {
                let number = Secret::new(number.expose());
                let sealed = self.account_sealer.seal(&context(&transfer.order, place), &number)?;
                fields.insert(SEALED_NUMBER.to_owned(), sealed.into());
            }
            match kept.get_mut(place) {
                Some(known) => *known = entry,
                None => kept.push(entry),
            }
            news.push(told);
        }
        Ok((!news.is_empty()).then(|| (Value::Array(kept).to_string(), Value::Array(news))))
    }

    /// The corrected account numbers of a transfer. That somebody was shown them is on its timeline before they are.
    pub async fn reveal_corrected_accounts(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        origin: &Origin,
    ) -> Result<Vec<CorrectedAccount>, ReadError> {
        for round in 0..MAX_ROUNDS {
            let transfer = self.transfer(environment, id).await?;
            let accounts = self.open_corrections(&transfer);
            if accounts.is_empty() {
                return Err(ReadError::Missing);
            }
            if round == 0 {
                let audited = Audited::new("account.reveal", ServiceReference::Ach(id));
                self.record_action(origin, audited.in_environment(environment)).await?;
            }
            let mut update = TransferUpdate::of(self, transfer, Some(&origin.request));
            update.line("account_revealed", json!({ "actor": origin.actor }));
            if update.commit().await?.is_some() {
                return Ok(accounts);
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()).into())
    }

    fn open_corrections(&self, transfer: &Transfer) -> Vec<CorrectedAccount> {
        let entries = stored(&transfer.progress.corrections).into_iter().enumerate();
        let opened = entries.filter_map(|(place, entry)| {
            let text = |name: &str| entry.get(name).and_then(Value::as_str);
            let place = context(&transfer.order, place);
            Some(CorrectedAccount {
                account_number: self.account_sealer.open(&place, text(SEALED_NUMBER)?).ok()?,
                change_code: text("change_code").map(str::to_owned),
                routing_number: text("corrected_routing_number").map(str::to_owned),
            })
        });
        opened.collect()
    }
}

fn stored(corrections: &str) -> Vec<Value> {
    serde_json::from_str(corrections).unwrap_or_default()
}

fn shown(mut entry: Value) -> Value {
    if let Some(fields) = entry.as_object_mut() {
        fields.remove(SEALED_NUMBER);
    }
    entry
}

/// What of a correction may be shown.
fn fields(correction: &Correction) -> Value {
    let fields = [
        ("change_code", correction.code.clone()),
        ("corrected_account_funding", correction.account_funding.clone()),
        ("corrected_account_number", correction.account_number.as_ref().map(CorrectedNumber::masked)),
        ("corrected_individual_id", correction.individual_id.clone()),
        ("corrected_routing_number", correction.routing_number.clone()),
        ("created_at", correction.created_at.clone()),
    ];
    let known = fields.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::String(text?))));
    Value::Object(known.collect::<Map<_, _>>())
}

fn context(order: &TransferOrder, place: usize) -> String {
    correction_context(order.environment, order.id, place)
}

/// Where a sealed number belongs: it opens nowhere else.
pub(crate) fn correction_context(environment: EnvironmentId, transfer: TransferId, place: usize) -> String {
    format!("{environment}/{transfer}/correction/{place}")
}
