//! By which a repeated request is told from another one under the same key: a keyed digest of every field, so that the
//! answer can name the field that differs and nothing of the field itself is kept.
//!
//! The caller's idempotency key is part of every digest. It is stored nowhere, so whoever has the database and the master
//! key still cannot find an account number by trying; and the two bank numbers have one digest, so that neither can be
//! tried by itself.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde_json::{Value, value::RawValue};
use tollgate_domain::{
    ach::{RecipientKind, TransferPurpose},
    customer::Customer,
    id::EnvironmentId,
};
use tollgate_vault::Secret;

use super::request::TransferRequest;
use crate::{engine::Engine, ports::Transfer};

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
/// Deeper JSON is compared as it was written.
const DEEPEST: usize = 128;

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
        let write = if kept_text.is_some() { canonical } else { canonical_by_value };
        let is_salted = kept.contains_key(BANK_ACCOUNT);
        let salt = is_salted.then_some(request.idempotency_key.as_bytes());
        let mut sent = self.digests(environment, salt, request, write);
        if !is_salted {
            // A node of an earlier release may have written after they were removed.
            kept.retain(|name, _| name != "accountNumber" && name != "routingNumber");
        }
        if !is_salted && request.bank.account.account_number.expose().ends_with(&known.order.last_four) {
            sent.remove(BANK_ACCOUNT);
        }
        let sent_text = sent.remove(TOKEN_TEXT);
        if !sent.contains_key(CUSTOMER) && kept_text.is_some() && kept_text == sent_text {
            kept.remove(CUSTOMER);
        }
        differing(&kept, &sent)
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
        let fields: [(&str, Option<&str>); 6] = [
            ("externalCustomerId", Some(&customer.external_id)),
            ("email", Some(&customer.email)),
            ("firstName", Some(&customer.first_name)),
            ("lastName", Some(&customer.last_name)),
            ("phone", Some(customer.phone.as_deref().unwrap_or_default())),
            ("metadata", Some(&canonical(&customer.metadata))),
        ];
        serde_json::to_string(&self.field_digests(environment, None, &fields)).unwrap_or_default()
    }
}

/// The fields in which the fingerprints of two requests differ.
pub(super) fn differing_fields(one: &str, other: &str) -> Vec<String> {
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

/// The same JSON in the same letters, whatever the order of its fields. Numbers stay as they were written.
fn canonical(json: &str) -> String {
    fn write(json: &str, depth: usize, to: &mut String) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match json.as_bytes().first()? {
            b'{' => {
                let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
                to.push('{');
                for (place, (name, value)) in fields.into_iter().enumerate() {
                    to.push_str(if place > 0 { "," } else { "" });
                    to.push_str(&serde_json::to_string(&name).ok()?);
                    to.push(':');
                    write(value.get(), depth + 1, to)?;
                }
                to.push('}');
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
                to.push('[');
                for (place, value) in items.into_iter().enumerate() {
                    to.push_str(if place > 0 { "," } else { "" });
                    write(value.get(), depth + 1, to)?;
                }
                to.push(']');
            }
            b'"' => to.push_str(&serde_json::to_string(&serde_json::from_str::<String>(json).ok()?).ok()?),
            _ => to.push_str(json),
        }
        Some(())
    }
    let mut written = String::with_capacity(json.len());
    match write(json.trim(), 0, &mut written) {
        Some(()) => written,
        None => json.to_owned(),
    }
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
    fn the_order_of_fields_is_not_a_difference() {
        assert_eq!(canonical(r#"{"b":[{"d":1,"c":2}],"a":null}"#), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
        assert_ne!(canonical("[1,2]"), canonical("[2,1]"));
    }

    #[test]
    fn numbers_are_compared_by_their_letters() {
        let written = ["1", "1.0", "1.00", "1e0", "100", "1e2", "9007199254740992", "9007199254740993"];
        let large = ["18446744073709551616", "18446744073709551617", "0.1", "0.10000000000000000001"];
        let all: Vec<String> =
            written.iter().chain(&large).map(|it| canonical(&format!("{{\"n\":{it}}}"))).collect();
        for (place, one) in all.iter().enumerate() {
            assert!(all.iter().skip(place + 1).all(|other| other != one), "{one}");
        }
    }

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
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(3_000), "]".repeat(3_000));
        assert_eq!(canonical(&deep), deep);
    }

    #[test]
    fn differing_fields_are_named() {
        let read = |text: &str| serde_json::from_str::<Digests>(text).unwrap();
        let (one, other) = (read(r#"{"a":"1","b":"2"}"#), read(r#"{"a":"1","b":"3","c":"4"}"#));
        assert_eq!(differing(&one, &one), Vec::<String>::new());
        assert_eq!(differing(&one, &other), ["b", "c"]);
    }
}
