//! A tenant made through the admin API, and configurations that can be told apart wherever a part of one shows.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::{Answer, Client};

pub const QUOTE: &str = "/client/v1/fees/quote";

/// Markers are the only numbers of seven digits with a leading 9 in a document or a quote.
pub const FIRST_MARKER: u64 = 9_000_000;

/// One organization with one application and one environment.
pub struct Tenant {
    pub environment: String,
}

/// An API key as its issuer saw it, this once.
pub struct Key {
    pub id: String,
    pub key: String,
}

impl Key {
    /// The key in an answer to issuing or rotating.
    #[track_caller]
    pub fn of(answer: &Answer) -> Self {
        let data = answer.data(201);
        let text = |field: &str| data[field].as_str().unwrap().to_owned();
        Self { id: text("id"), key: text("key") }
    }
}

impl Tenant {
    pub fn create(admin: &mut Client) -> Self {
        let mut make = |path: String, name: &str| {
            let data = admin.post(&path, &json!({ "name": name })).data(201);
            data["id"].as_str().unwrap().to_owned()
        };
        let organization = make("/admin/v1/organizations".to_owned(), "Organization");
        let application = make(format!("/admin/v1/organizations/{organization}/applications"), "Application");
        let environment = make(format!("/admin/v1/applications/{application}/environments"), "test");
        Self { environment }
    }

    /// A path below the environment.
    pub fn path(&self, rest: &str) -> String {
        format!("/admin/v1/environments/{}{rest}", self.environment)
    }

    /// A new secret key.
    pub fn issue(&self, admin: &mut Client) -> Key {
        Key::of(&admin.post(&self.path("/keys"), &json!({"kind": "secret"})))
    }

    /// Puts a marked configuration in force and gives its version.
    #[track_caller]
    pub fn configure(&self, admin: &mut Client, marker: u64) -> u64 {
        let data = admin.configure(&self.path("/config"), &marked_document(marker));
        data["version"].as_u64().unwrap()
    }

    /// Every version in the history.
    pub fn history(&self, admin: &mut Client) -> BTreeSet<u64> {
        let mut versions = BTreeSet::new();
        let mut cursor = String::new();
        loop {
            let data = admin.get(&self.path(&format!("/config/versions?limit=200{cursor}"))).data(200);
            let items = data["items"].as_array().unwrap();
            versions.extend(items.iter().map(|item| item["version"].as_u64().unwrap()));
            match data["nextCursor"].as_str() {
                Some(next) => cursor = format!("&before={next}"),
                None => return versions,
            }
        }
    }
}

/// A configuration with its marker in every fee, rule, condition, provider and credential.
pub fn marked_document(marker: u64) -> Value {
    let provider = format!("cards_{marker}");
    let layer = json!({"enabled": true, "fixedFeeMinor": marker.to_string(), "percentFeeBps": 0});
    let fee = |currency: &str| {
        json!({"provider": provider, "paymentMethod": "web_card", "channel": "none", "currency": currency,
               "platform": layer, "organization": layer})
    };
    let rule = |name: &str, least: &str| {
        json!({"id": format!("{name}_{marker}"), "enabled": true,
               "conditions": [{"id": format!("from_{least}_{marker}"), "field": "amountMinor", "op": "gte", "value": least}],
               "target": {"provider": provider, "channel": "web_card"}})
    };
    let fees = ["USD", "EUR", "GBP", "JPY", "CHF", "SEK"].map(fee);
    json!({
        "providers": {&provider: {
            "adapter": "stripe",
            "credentials": {"secretKey": format!("a secret key of {marker}"), "publishableKey": format!("pk_{marker}"),
                            "webhookSecret": format!("a webhook secret of {marker}")},
            "baseUrl": format!("https://{marker}.example"),
        }},
        "routing": {"web_card": {
            "enabled": true,
            "rules": [rule("huge", "1000000"), rule("large", "1000"), rule("any", "1")],
            "default": {"provider": provider, "channel": "web_card"},
        }},
        "fees": fees,
    })
}

/// Asks for a quote of a marked configuration.
pub fn quote(client: &mut Client) -> Answer {
    client.post(QUOTE, &json!({"amountMinor": "5", "currency": "USD"}))
}

/// The marker a text carries, if it carries no other.
pub fn sole_marker(text: &str) -> Result<u64, String> {
    let runs = text.split(|letter: char| !letter.is_ascii_digit());
    let found: BTreeSet<u64> =
        runs.filter(|run| run.len() == 7 && run.starts_with('9')).map(|run| run.parse().unwrap()).collect();
    match found.iter().collect::<Vec<_>>().as_slice() {
        [only] => Ok(**only),
        several => Err(format!("a mixture of {several:?}: {text}")),
    }
}

/// The marker of the current configuration, by a quote.
#[track_caller]
pub fn quoted_marker(client: &mut Client) -> u64 {
    sole_marker(&quote(client).data(200).to_string()).unwrap()
}
