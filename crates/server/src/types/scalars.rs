//! The small types of the API's fields, as the OpenAPI document writes them. The readers in `fields.rs` hold callers
//! to the same rules.

use std::{borrow::Cow, fmt::Display};

use serde::{Serialize, Serializer};
use serde_json::{Value, json, value::RawValue};
use tollgate_domain::{Currency, Minor, Principal, Timestamp};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::json::timestamp::rfc3339;

/// A control character would be refused; these are the others, within a pattern's brackets.
const NO_CONTROLS: &str = r"\u0000-\u001f\u007f-\u009f";
/// The same, with tabs and line breaks let through.
const NO_STRANGE_CONTROLS: &str = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f";

/// A schema that is written as JSON.
pub(crate) fn schema(json: Value) -> RefOr<Schema> {
    serde_json::from_value(json).unwrap_or_default()
}

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident $(of $value:ty, )? $(as $shown:literal)? {$($json:tt)*})*) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name $((pub(crate) $value))?;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    schema(json!({$($json)*}))
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    let shown: &[&str] = &[$($shown,)? stringify!($name)];
                    Cow::Borrowed(shown.first().copied().unwrap_or_default())
                }
            }
        )*

        #[cfg(test)]
        fn all() -> Vec<(&'static str, Value, RefOr<Schema>)> {
            vec![$((stringify!($name), json!({$($json)*}), $name::schema())),*]
        }
    };
}

scalars! {
    AmountInput {
        "description": "An integer of minor units from 1 to 10^18, as a string of digits (always exact) or a JSON integer.",
        "oneOf": [
            {"type": "string", "pattern": "^([1-9][0-9]{0,17}|1000000000000000000)$"},
            {"type": "integer", "format": "int64", "minimum": 1, "maximum": 1_000_000_000_000_000_000_u64}
        ]
    }
    MinorUnits of Minor, {
        "description": "An integer of minor units, as a string of digits.",
        "type": "string", "pattern": "^[0-9]+$", "examples": ["1999"]
    }
    #[derive(Serialize)]
    SignedMinorUnits of String, {
        "description": "A signed integer of minor units, as a string.",
        "type": "string", "pattern": "^-?[0-9]+$", "examples": ["-1999"]
    }
    #[derive(Serialize)]
    SignedCount of String, {
        "description": "A signed integer, as a string; below zero where more was undone than done in the month.",
        "type": "string", "pattern": "^-?[0-9]+$", "examples": ["42"]
    }
    #[derive(Serialize)]
    MonthText of String, {
        "description": "A calendar month in UTC.",
        "type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$", "examples": ["2026-11"]
    }
    CurrencyCode of Currency, {
        "description": "An ISO 4217 code.",
        "type": "string", "pattern": "^[A-Z]{3}$", "examples": ["USD"]
    }
    CurrencyInput {
        "description": "An active ISO 4217 code, case-insensitive.",
        "type": "string", "format": "iso-4217", "pattern": "^[A-Za-z]{3}$", "examples": ["USD"]
    }
    CountryInput {
        "description": "An ISO 3166-1 code of two letters, case-insensitive.",
        "type": "string", "pattern": "^[A-Za-z]{2}$", "examples": ["US"]
    }
    StateInput {
        "description": "A state or province as ISO 3166-2 has it behind the country, case-insensitive.",
        "type": "string", "pattern": "^[A-Za-z0-9]{1,3}$", "examples": ["GA"]
    }
    MethodTypeInput {
        "description": "What pays, by the provider's name for it: `card`, also the default, or another method such as `us_bank_account`.",
        "type": "string", "pattern": "^[a-z0-9_]{1,64}$", "examples": ["card"]
    }
    DollarInput {
        "description": "Bank transfers are in US dollars.",
        "type": "string", "pattern": "^[Uu][Ss][Dd]$", "examples": ["USD"]
    }
    CardMethodInput {
        "description": "`web_card`, also the default.",
        "type": "string", "enum": ["web_card"]
    }
    Moment of Timestamp, {
        "description": "RFC 3339, in UTC, with milliseconds.",
        "type": "string", "format": "date-time", "examples": ["2026-11-15T02:27:16.000Z"]
    }
    #[derive(Serialize)]
    Metadata of Box<RawValue>, {
        "description": "Any JSON object.",
        "type": "object", "additionalProperties": true
    }
    MetadataInput {
        "description": "Any JSON object of at most 16 KiB. Routing rules can match it. It must not contain this service's secret keys.",
        "type": "object", "additionalProperties": true
    }
    StatementDescriptor {
        "description": "Printable ASCII.",
        "type": "string", "minLength": 1, "maxLength": 10, "pattern": "^ *[!-~][ -~]*$"
    }
    RemittanceInput {
        "description": "A string of at most 1,000 characters, or a JSON object of at most 4 KiB. What the rail cannot carry whole is rejected: an ACH entry has room for 80 characters, an instant transfer for 140.",
        "oneOf": [
            {"type": "string", "maxLength": 1000},
            {"type": "object", "additionalProperties": true}
        ]
    }
    RemittanceData {
        "description": "A string of at most 1,000 characters, or a JSON object of at most 4 KiB.",
        "oneOf": [
            {"type": "string", "maxLength": 1000},
            {"type": "object", "additionalProperties": true}
        ]
    }
    EmailInput {
        "type": "string", "format": "email", "maxLength": 254, "examples": ["ada@example.com"]
    }
    PhoneInput {
        "description": "E.164 or national format, separators allowed.",
        "type": "string", "maxLength": 32, "pattern": r"^\+?[ ().-]*([0-9][ ().-]*){3,}$", "examples": ["+1 415 555 0123"]
    }
    ReturnUrlInput {
        "description": "An https URL; http only on loopback.",
        "type": "string", "maxLength": 2000,
        "pattern": r"^(https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|http://(localhost|127\.0\.0\.1|\[::1\]))(:[0-9]{1,4})?(/[A-Za-z0-9/._~%?=&#{}-]*)?$",
        "examples": ["https://shop.example/thanks"]
    }
    RoutingNumberInput {
        "description": "Nine digits including the check digit.",
        "type": "string", "format": "aba-routing-number", "pattern": "^[0-9]{9}$", "examples": ["021000021"]
    }
    AccountNumberInput {
        "type": "string", "pattern": "^[0-9]{4,17}$", "examples": ["123456789"]
    }
    CustomerTokenInput {
        "description": "A token from `customer_token_issue`, of the same environment.",
        "type": "string", "format": "jwe", "minLength": 1, "maxLength": (tollgate_vault::MAX_TOKEN_LENGTH)
    }
    EndpointUrlInput {
        "description": "An https URL. Private and loopback addresses, and http, only if the operator allows them.",
        "type": "string", "format": "endpoint-url", "maxLength": 2000, "pattern": "^https?://[!-~]+$",
        "examples": ["https://shop.example/events"]
    }
    EventNamesInput {
        "description": "The event types to send, or `[\"*\"]` for all but `audit_log.head`, which only admins can name.",
        "type": "array", "minItems": 1, "maxItems": 64,
        "items": {"type": "string", "enum": [
            "payment.prepared", "transaction.pending", "transaction.processing", "transaction.authorized",
            "transaction.succeeded", "transaction.failed", "transaction.canceled", "transaction.refunded",
            "refund.pending", "refund.succeeded", "refund.failed",
            "dispute.opened", "dispute.updated", "dispute.closed", "transfer.notification_of_change",
            "approval.required", "provider.circuit_opened", "provider.circuit_closed", "audit_log.head", "*"
        ]}
    }
    EndpointIdInput {
        "type": "string", "format": "ep-id", "pattern": "^ep_[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$"
    }
    Expiry as "Moment" {
        "description": "RFC 3339, in UTC, with milliseconds.",
        "type": "string", "format": "date-time", "examples": ["2026-11-15T02:27:16.000Z"]
    }
    EventIdText as "=EventId" {
        "type": "string"
    }
    OrganizationIds as "=OrganizationIds" {
        "type": "array", "items": {"type": "string"}
    }
    KeyEndpoints as "=KeyEndpoints" {
        "type": "array", "items": {"$ref": "#/components/schemas/KeyEndpoint"}, "minItems": 1
    }
    IpRanges as "=IpRanges" {
        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 50
    }
    EnvironmentNameInput {
        "type": "string", "pattern": "^[a-z][a-z0-9]{0,31}$", "examples": ["test"]
    }
}

impl Serialize for MinorUnits {
    /// As a string of digits, so that no reader rounds it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl From<Minor> for MinorUnits {
    fn from(amount: Minor) -> Self {
        Self(amount)
    }
}

impl From<Principal> for MinorUnits {
    fn from(amount: Principal) -> Self {
        Self(amount.into())
    }
}

macro_rules! displayed {
    ($($name:ident)*) => {
        $(impl<T: Display> From<T> for $name {
            fn from(value: T) -> Self {
                Self(value.to_string())
            }
        })*
    };
}

displayed!(SignedMinorUnits SignedCount MonthText);

impl Serialize for CurrencyCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.code())
    }
}

impl From<Currency> for CurrencyCode {
    fn from(currency: Currency) -> Self {
        Self(currency)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&rfc3339(self.0))
    }
}

impl Metadata {
    /// JSON that was stored as text, as it came; what is damaged is an empty object.
    pub(crate) fn stored(text: &str) -> Self {
        Self(RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

/// A text of one line: 1 to `MOST` characters, not all of them white space, none a control character.
pub(crate) struct Line<const MOST: usize>;

impl<const MOST: usize> PartialSchema for Line<MOST> {
    fn schema() -> RefOr<Schema> {
        let pattern = format!(r"^[^{NO_CONTROLS}]*[^\s{NO_CONTROLS}][^{NO_CONTROLS}]*$");
        schema(json!({"type": "string", "minLength": 1, "maxLength": MOST, "pattern": pattern}))
    }
}

impl<const MOST: usize> ToSchema for Line<MOST> {
    fn name() -> Cow<'static, str> {
        format!("=Line{MOST}").into()
    }
}

/// The same for an ID of the caller's own, which may be a number of any length.
pub(crate) struct CallerId<const MOST: usize>;

impl<const MOST: usize> PartialSchema for CallerId<MOST> {
    fn schema() -> RefOr<Schema> {
        Line::<MOST>::schema()
    }
}

impl<const MOST: usize> ToSchema for CallerId<MOST> {
    fn name() -> Cow<'static, str> {
        Line::<MOST>::name()
    }
}

pub(crate) struct Seconds<const MOST: u64>;

impl<const MOST: u64> PartialSchema for Seconds<MOST> {
    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": MOST}))
    }
}

impl<const MOST: u64> ToSchema for Seconds<MOST> {
    fn name() -> Cow<'static, str> {
        format!("=Seconds{MOST}").into()
    }
}

/// A text of at most `MOST` characters, with tabs and line breaks but no other control characters.
pub(crate) struct Prose<const MOST: usize>;

impl<const MOST: usize> PartialSchema for Prose<MOST> {
    fn schema() -> RefOr<Schema> {
        let pattern = format!("^[^{NO_STRANGE_CONTROLS}]*$");
        schema(json!({"type": "string", "maxLength": MOST, "pattern": pattern}))
    }
}

impl<const MOST: usize> ToSchema for Prose<MOST> {
    fn name() -> Cow<'static, str> {
        format!("=Prose{MOST}").into()
    }
}

/// A text of `LEAST` to `MOST` characters, none of them a control character.
pub(crate) struct Plain<const LEAST: usize, const MOST: usize>;

impl<const LEAST: usize, const MOST: usize> PartialSchema for Plain<LEAST, MOST> {
    fn schema() -> RefOr<Schema> {
        let pattern = format!("^[^{NO_CONTROLS}]*$");
        schema(json!({"type": "string", "minLength": LEAST, "maxLength": MOST, "pattern": pattern}))
    }
}

impl<const LEAST: usize, const MOST: usize> ToSchema for Plain<LEAST, MOST> {
    fn name() -> Cow<'static, str> {
        format!("=Plain{LEAST}To{MOST}").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_published() {
        for (name, written, read) in all() {
            let mut read = serde_json::to_value(read).unwrap();
            // The library writes an empty `additionalProperties` out; order does not matter.
            assert_eq!(
                read.as_object_mut().unwrap().len(),
                written.as_object().unwrap().len(),
                "{name}: {read}"
            );
            for (key, value) in written.as_object().unwrap() {
                assert_eq!(&read[key], value, "{name}.{key}");
            }
        }
    }
}
