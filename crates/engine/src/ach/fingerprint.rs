//! By which a repeated request is told from another one under the same key: a keyed digest of every field, so that the
//! answer can name the field that differs and nothing of the field itself is kept.
//!
//! The caller's idempotency key is part of every digest. It is stored nowhere, so whoever has the database and the master
//! key still cannot find an account number by trying; and the two bank numbers have one digest, so that neither can be
//! tried by itself.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde_json::Value;
use tollgate_domain::{
    ach::{RecipientKind, TransferPurpose},
    customer::Customer,
    id::EnvironmentId,
};
use tollgate_vault::Secret;

use super::request::TransferRequest;
use crate::{
    canonical_json::{canonical, canonical_as_written},
    engine::Engine,
    ports::Transfer,
};

/// Long enough that no two requests of one key meet by chance.
const DIGEST_LENGTH: usize = 12;
/// The customer inside the token, as callers know the field.
const CUSTOMER: &str = "customerToken";
/// The token letter by letter, for one that cannot be opened anymore. Fingerprints without it are of release 0.1.0, which
/// wrote numbers as the nearest floating-point number.
const TOKEN_TEXT: &str = "customerTokenText";
/// Routing and account number together. Fingerprints without it are of release 0.1.0; what they held of the two numbers
/// was removed.
const BANK_ACCOUNT: &str = "bankAccount";

type Digests = BTreeMap<String, String>;

impl Engine {
    /// The fingerprints to keep of a request.
    pub(super) fn fingerprints(&self, environment: EnvironmentId, request: &TransferRequest) -> String {
        let salt = request.idempotency_key.as_bytes();
        serde_json::to_string(&self.digests(environment, Some(salt), request, canonical)).unwrap_or_default()
    }

    /// The fields in which a request differs from the one these fingerprints were kept of; empty where it is the same.
    pub(super) fn differences(
        &self,
        environment: EnvironmentId,
        known: &Transfer,
        request: &TransferRequest,
    ) -> Vec<String> {
        let mut kept: Digests = serde_json::from_str(&known.fingerprints).unwrap_or_default();
        let kept_text = kept.remove(TOKEN_TEXT);
        let is_salted = kept.contains_key(BANK_ACCOUNT);
        let salt = is_salted.then_some(request.idempotency_key.as_bytes());
        if !is_salted {
            // A node of an earlier release may have written after they were removed.
            kept.retain(|name, _| name != "accountNumber" && name != "routingNumber");
        }
        let compared = |write| {
            let (mut kept, mut sent) = (kept.clone(), self.digests(environment, salt, request, write));
            if !is_salted && request.bank.account.account_number.expose().ends_with(&known.order.last_four) {
                sent.remove(BANK_ACCOUNT);
            }
            let sent_text = sent.remove(TOKEN_TEXT);
            if !sent.contains_key(CUSTOMER) && kept_text.is_some() && kept_text == sent_text {
                kept.remove(CUSTOMER);
            }
            differing(&kept, &sent)
        };
        let differing = compared(canonical);
        // Earlier releases kept numbers letter for letter, the first one as floating-point numbers.
        let earlier = if kept_text.is_some() { canonical_as_written } else { canonical_by_value };
        if differing.is_empty() || compared(earlier).is_empty() { Vec::new() } else { differing }
    }

    fn digests(
        &self,
        environment: EnvironmentId,
        salt: Option<&[u8]>,
        request: &TransferRequest,
        write: fn(&str) -> String,
    ) -> Digests {
        let bank = &request.bank;
        let numbers = Secret::new(format!(
            "{}/{}",
            bank.account.routing_number.expose(),
            bank.account.account_number.expose()
        ));
        let customer = request.token.readable_customer().map(|customer| customer_text(customer, write));
        let is_said = |kind: &RecipientKind| *kind != RecipientKind::default();
        let fields: [(&str, Option<&str>); 14] = [
            ("accountName", Some(&bank.account_name)),
            ("amountMinor", Some(&request.quote.principal.to_string())),
            (BANK_ACCOUNT, Some(numbers.expose())),
            ("bankAccountType", Some(bank.account_type.as_str())),
            ("bankName", Some(&bank.bank_name)),
            ("currency", Some(request.quote.currency.code())),
            (CUSTOMER, customer.as_deref()),
            (TOKEN_TEXT, Some(request.token.text())),
            ("description", Some(request.description.as_deref().unwrap_or_default())),
            ("metadata", Some(&write(&request.metadata))),
            ("remittanceData", Some(&request.remittance.as_deref().map(write).unwrap_or_default())),
            // Left out where they say nothing, so that a request from before they existed is still the same.
            ("recipientKind", Some(request.recipient_kind).filter(is_said).map(RecipientKind::as_str)),
            ("purpose", request.purpose.map(TransferPurpose::as_str)),
            ("statementDescriptor", request.statement_descriptor.as_deref()),
        ];
        self.field_digests(environment, salt, &fields)
    }

    fn field_digests(
        &self,
        environment: EnvironmentId,
        salt: Option<&[u8]>,
        fields: &[(&str, Option<&str>)],
    ) -> Digests {
        let scope = environment.to_bytes();
        let digest = |(name, value): &(&str, Option<&str>)| {
            let value = (*value)?.as_bytes();
            let parts = [Some(scope.as_slice()), salt, Some(name.as_bytes()), Some(value)];
            let parts: Vec<&[u8]> = parts.into_iter().flatten().collect();
            let digest = self.request_digester.digest(&parts);
            Some(((*name).to_owned(), HEXLOWER.encode(digest.get(..DIGEST_LENGTH).unwrap_or(&digest))))
        };
        fields.iter().filter_map(digest).collect()
    }

    /// The fingerprints of a request for a customer token.
    pub(super) fn customer_fingerprints(&self, environment: EnvironmentId, customer: &Customer) -> String {
        self.customer_digests(environment, customer, canonical)
    }

    /// The fields in which a request for a customer token differs from the one these fingerprints were kept of.
    pub(super) fn customer_differences(
        &self,
        environment: EnvironmentId,
        kept: &str,
        customer: &Customer,
    ) -> Vec<String> {
        let compared = |write| differing_fields(kept, &self.customer_digests(environment, customer, write));
        let differing = compared(canonical);
        let is_same = differing.is_empty() || compared(canonical_as_written).is_empty();
        if is_same { Vec::new() } else { differing }
    }

    fn customer_digests(
        &self,
        environment: EnvironmentId,
        customer: &Customer,
        write: fn(&str) -> String,
    ) -> String {
        let fields: [(&str, Option<&str>); 6] = [
            ("externalCustomerId", Some(&customer.external_id)),
            ("email", Some(&customer.email)),
            ("firstName", Some(&customer.first_name)),
            ("lastName", Some(&customer.last_name)),
            ("phone", Some(customer.phone.as_deref().unwrap_or_default())),
            ("metadata", Some(&write(&customer.metadata))),
        ];
        serde_json::to_string(&self.field_digests(environment, None, &fields)).unwrap_or_default()
    }
}

fn differing_fields(one: &str, other: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str::<Digests>(text).unwrap_or_default();
    differing(&read(one), &read(other))
}

fn customer_text(customer: &Customer, write: fn(&str) -> String) -> String {
    [
        customer.external_id.as_str(),
        &customer.email,
        &customer.first_name,
        &customer.last_name,
        customer.phone.as_deref().unwrap_or_default(),
        &write(&customer.metadata),
    ]
    .map(|part| format!("{}:{part}", part.len()))
    .concat()
}

fn differing(one: &Digests, other: &Digests) -> Vec<String> {
    let names = one.keys().chain(other.keys()).filter(|name| one.get(*name) != other.get(*name));
    let mut differing: Vec<String> = names.cloned().collect();
    differing.sort();
    differing.dedup();
    differing
}

/// As release 0.1.0 wrote it.
fn canonical_by_value(json: &str) -> String {
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
    fn ordinary_json_is_written_as_it_always_was() {
        for json in [
            r#"{"b":[{"d":1,"c":-2}],"a":null,"t":true,"empty":{},"none":[]}"#,
            r#"{"text":"a \"quoted\" \u00e9\n\/ line","\u0061":"x","z":1.5}"#,
            r#""Invoice F-1""#,
            "{}",
            r#"{"a":1,"a":2}"#,
            r#"{"broken":"\ud800"}"#,
        ] {
            assert_eq!(canonical(json), canonical_by_value(json), "{json}");
        }
    }

    #[test]
    fn differing_fields_are_named() {
        let read = |text: &str| serde_json::from_str::<Digests>(text).unwrap();
        let (one, other) = (read(r#"{"a":"1","b":"2"}"#), read(r#"{"a":"1","b":"3","c":"4"}"#));
        assert_eq!(differing(&one, &one), Vec::<String>::new());
        assert_eq!(differing(&one, &other), ["b", "c"]);
    }
}
