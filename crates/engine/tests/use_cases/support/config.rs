//! The configuration the tests start with, and variants of it.

use serde_json::{Value, json};

use super::provider::WEBHOOK_SECRET;

pub(crate) const BANK: &str = "bank";
pub(crate) const INTENTS: &str = "intents";
pub(crate) const REGISTER: &str = "register";
/// From this amount on, card payments go to the provider that charges tokens.
pub(crate) const REGISTER_FROM: u64 = 50_000;

const ADDRESS: &str = "https://provider.example";

/// Every provider is configured with account `a`.
pub(crate) fn document() -> Value {
    let layer = |fixed: &str| {
        json!({ "enabled": true, "fixedFeeMinor": fixed, "percentFeeBps": 100, "minimumFeeMinor": null,
                "capFeeMinor": null })
    };
    let fee = |provider: &str, method: &str, channel: &str| {
        json!({ "provider": provider, "paymentMethod": method, "channel": channel, "currency": "USD",
                "platform": layer("30"), "organization": layer("0") })
    };
    json!({
        "providers": {
            BANK: {
                "adapter": "increase", "baseUrl": ADDRESS,
                "credentials": { "apiKey": key('a'), "webhookSecret": WEBHOOK_SECRET },
                "funding": { "accountId": "account a", "accountNumberId": "number" },
            },
            INTENTS: {
                "adapter": "stripe", "baseUrl": ADDRESS,
                "credentials": { "secretKey": key('a'), "publishableKey": "public", "webhookSecret": WEBHOOK_SECRET },
            },
            REGISTER: {
                "adapter": "square", "baseUrl": ADDRESS,
                "credentials": { "accessToken": key('a'), "applicationId": "application",
                                 "locationId": "account a", "webhookSignatureKey": WEBHOOK_SECRET },
            },
        },
        "routing": {
            "web_card": {
                "enabled": true,
                "rules": [{
                    "id": "large", "enabled": true,
                    "conditions": [{ "id": "amount", "field": "amountMinor", "op": "gte",
                                     "value": REGISTER_FROM.to_string() }],
                    "target": { "provider": REGISTER, "channel": "web_card" },
                }],
                "default": { "provider": INTENTS, "channel": "web_card" },
            },
            "ach": { "enabled": true, "rules": [], "default": { "provider": BANK, "channel": "standard_ach" } },
        },
        "fees": [
            fee(BANK, "ach", "standard_ach"), fee(INTENTS, "web_card", "none"), fee(REGISTER, "web_card", "none"),
        ],
        "settings": {},
    })
}

/// The credential of an account.
fn key(account: char) -> String {
    format!("key of account {account}")
}

/// The same, with the credentials of another account at the same address.
pub(crate) fn with_credentials_of(account: char) -> Value {
    let mut document = document();
    for (provider, credential) in [(BANK, "apiKey"), (INTENTS, "secretKey"), (REGISTER, "accessToken")] {
        document["providers"][provider]["credentials"][credential] = json!(key(account));
    }
    document
}

/// The same, with credentials that every provider rejects.
pub(crate) fn with_wrong_credentials() -> Value {
    let mut document = document();
    for (provider, credential) in [(BANK, "apiKey"), (INTENTS, "secretKey"), (REGISTER, "accessToken")] {
        document["providers"][provider]["credentials"][credential] = json!("a wrong key");
    }
    document
}

/// The same, with 2 % and 1 % for paying with a credit card, which cost the merchant in Georgia this share.
pub(crate) fn with_surcharge(cost_bps: u16) -> Value {
    let mut document = document();
    let layer = |bps: u16| json!({ "feeKind": "surcharge", "percentFeeBps": bps });
    document["fees"][1]["platform"] = layer(200);
    document["fees"][1]["organization"] = layer(100);
    document["settings"]["feeProgram"] = json!({
        "merchant": { "country": "US", "state": "GA", "mcc": "5999" },
        "acceptedBrands": ["visa", "mastercard"],
        "cost": { INTENTS: { "percentBps": cost_bps } },
        "noticeGivenOn": "2026-06-01", "entryNoticeAttested": true,
    });
    document
}

/// The same, with a bank that forgets idempotency keys after a day.
pub(crate) fn with_forgetful_bank() -> Value {
    let mut document = document();
    document["providers"][BANK] = json!({
        "adapter": "modern_treasury", "baseUrl": ADDRESS,
        "credentials": { "organizationId": "organization", "apiKey": key('a'), "webhookKey": WEBHOOK_SECRET },
        "funding": { "originatingAccountId": "account a" },
    });
    document
}
