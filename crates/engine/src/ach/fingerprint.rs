//! By which a repeated request is told from another one under the same key: a keyed digest of every field, so that the
//! answer can name the field that differs and nothing of the field itself is kept.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde_json::Value;
use tollgate_domain::id::EnvironmentId;

use super::transfer::TransferRequest;
use crate::engine::Engine;

/// Long enough that no two requests of one key meet by chance.
const DIGEST_LENGTH: usize = 12;

impl Engine {
    pub(super) fn fingerprints(&self, environment: EnvironmentId, request: &TransferRequest) -> String {
        let customer = &request.customer;
        let customer = [
            customer.external_id.as_str(),
            &customer.email,
            &customer.first_name,
            &customer.last_name,
            customer.phone.as_deref().unwrap_or_default(),
            &canonical(&customer.metadata),
        ]
        .map(|part| format!("{}:{part}", part.len()))
        .concat();
        let bank = &request.bank;
        let fields: [(&str, &str); 11] = [
            ("accountName", &bank.account_name),
            ("accountNumber", bank.account.account_number.expose()),
            ("amountMinor", &request.quote.principal.to_string()),
            ("bankAccountType", bank.account_type.as_str()),
            ("bankName", &bank.bank_name),
            ("currency", request.quote.currency.code()),
            ("customerToken", &customer),
            ("description", request.description.as_deref().unwrap_or_default()),
            ("metadata", &canonical(&request.metadata)),
            ("remittanceData", &request.remittance.as_deref().map(canonical).unwrap_or_default()),
            ("routingNumber", bank.account.routing_number.expose()),
        ];
        let scope = environment.to_bytes();
        let digests: BTreeMap<&str, String> = fields
            .into_iter()
            .map(|(name, value)| {
                let parts = [scope.as_slice(), name.as_bytes(), value.as_bytes()];
                let digest = self.request_digester.digest(&parts);
                (name, HEXLOWER.encode(digest.get(..DIGEST_LENGTH).unwrap_or(&digest)))
            })
            .collect();
        serde_json::to_string(&digests).unwrap_or_default()
    }
}

/// The fields in which two requests differ; empty where they are the same.
pub(super) fn differences(one: &str, other: &str) -> Vec<String> {
    if one == other {
        return Vec::new();
    }
    let read = |text: &str| serde_json::from_str::<BTreeMap<String, String>>(text).unwrap_or_default();
    let (one, other) = (read(one), read(other));
    let names = one.keys().chain(other.keys()).filter(|name| one.get(*name) != other.get(*name));
    let mut differing: Vec<String> = names.cloned().collect();
    differing.sort();
    differing.dedup();
    differing
}

/// The same JSON in the same letters, whatever the order of its fields.
fn canonical(json: &str) -> String {
    fn sorted(value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let fields: BTreeMap<String, Value> =
                    map.into_iter().map(|(name, value)| (name, sorted(value))).collect();
                Value::Object(fields.into_iter().collect())
            }
            Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
            other => other,
        }
    }
    serde_json::from_str(json).map_or_else(|_| json.to_owned(), |value| sorted(value).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_is_not_a_difference() {
        assert_eq!(canonical(r#"{"b":[{"d":1,"c":2}],"a":null}"#), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
        assert_ne!(canonical("[1,2]"), canonical("[2,1]"));
    }

    #[test]
    fn differing_fields_are_named() {
        let (one, other) = (r#"{"a":"1","b":"2"}"#, r#"{"a":"1","b":"3","c":"4"}"#);
        assert_eq!(differences(one, one), Vec::<String>::new());
        assert_eq!(differences(one, other), ["b", "c"]);
    }
}
