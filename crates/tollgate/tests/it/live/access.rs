//! The sandboxes there is access to: by variables of the environment, or all of them in the simulator.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::provider_api::ProviderApi;

pub const STRIPE: &str = "card_provider_a";
pub const SQUARE: &str = "card_provider_b";
pub const ADYEN: &str = "card_provider_c";
pub const BANK: &str = "ach_provider_a";

/// Signs what stands in the place of webhooks.
pub const WEBHOOK_SECRET: &str = "whsec_live_test_forwarding";
/// The same in hexadecimal digits.
pub const HMAC_KEY: &str = "6c6976652d746573742d666f7277617264696e67";

/// One sandbox: its entry in the configuration, and what its API is called with.
struct Sandbox {
    provider: &'static str,
    entry: Value,
    base_url: String,
    key: String,
    currency: String,
}

pub struct Access(Vec<Sandbox>);

impl Access {
    /// What the variables `TOLLGATE_LIVE_…` give access to.
    pub fn of_environment() -> Self {
        let variable =
            |name: &str| std::env::var(format!("TOLLGATE_LIVE_{name}")).ok().filter(|it| !it.is_empty());
        Self::of(&variable)
    }

    /// All of them, played by the simulator.
    pub fn of_simulator(address: SocketAddr) -> Self {
        let base = |wire: &str| format!("http://{address}/{wire}");
        let known = [
            ("STRIPE_SECRET_KEY", "sk_test_simulator".to_owned()),
            ("STRIPE_PUBLISHABLE_KEY", "pk_test_simulator".to_owned()),
            ("STRIPE_BASE_URL", base("stripe")),
            ("SQUARE_ACCESS_TOKEN", "square_simulator_token".to_owned()),
            ("SQUARE_APPLICATION_ID", "sandbox-sq0idb-simulator".to_owned()),
            ("SQUARE_LOCATION_ID", "LSIMULATOR001".to_owned()),
            ("SQUARE_BASE_URL", base("square")),
            ("ADYEN_API_KEY", "adyen_simulator_key".to_owned()),
            ("ADYEN_CLIENT_KEY", "test_SIMULATOR".to_owned()),
            ("ADYEN_MERCHANT_ACCOUNT", "TollgateTestECOM".to_owned()),
            ("ADYEN_BASE_URL", base("adyen")),
            ("INCREASE_API_KEY", "increase_simulator_key".to_owned()),
            ("INCREASE_ACCOUNT_ID", "account_simulator".to_owned()),
            ("INCREASE_ACCOUNT_NUMBER_ID", "account_number_simulator".to_owned()),
            ("INCREASE_BASE_URL", base("increase")),
        ];
        Self::of(&|name| known.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()))
    }

    fn of(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut sandboxes = Vec::new();
        let mut add = |provider, key: &str, base: (&str, &str), currency: &str, mut entry: Value| {
            let configured = variable(base.0);
            if let Some(url) = &configured {
                entry["baseUrl"] = json!(url);
            }
            sandboxes.push(Sandbox {
                provider,
                entry,
                base_url: configured.unwrap_or_else(|| base.1.to_owned()),
                key: key.to_owned(),
                currency: variable(currency).unwrap_or_else(|| "USD".to_owned()),
            });
        };
        if let (Some(key), Some(publishable)) =
            (variable("STRIPE_SECRET_KEY"), variable("STRIPE_PUBLISHABLE_KEY"))
        {
            let entry = json!({"adapter": "stripe", "credentials": {
                "secretKey": key, "publishableKey": publishable, "webhookSecret": WEBHOOK_SECRET}});
            add(STRIPE, &key, ("STRIPE_BASE_URL", "https://api.stripe.com"), "STRIPE_CURRENCY", entry);
        }
        if let (Some(token), Some(application), Some(location)) = (
            variable("SQUARE_ACCESS_TOKEN"),
            variable("SQUARE_APPLICATION_ID"),
            variable("SQUARE_LOCATION_ID"),
        ) {
            let entry = json!({"adapter": "square", "environment": "sandbox", "credentials": {
                "accessToken": token, "applicationId": application, "locationId": location,
                "webhookSignatureKey": WEBHOOK_SECRET}});
            let base = ("SQUARE_BASE_URL", "https://connect.squareupsandbox.com");
            add(SQUARE, &token, base, "SQUARE_CURRENCY", entry);
        }
        if let (Some(key), Some(client_key), Some(merchant)) =
            (variable("ADYEN_API_KEY"), variable("ADYEN_CLIENT_KEY"), variable("ADYEN_MERCHANT_ACCOUNT"))
        {
            let entry = json!({"adapter": "adyen", "environment": "sandbox", "merchantAccount": merchant,
                "credentials": {"apiKey": key, "clientKey": client_key, "hmacKey": HMAC_KEY}});
            add(ADYEN, &key, ("ADYEN_BASE_URL", "https://checkout-test.adyen.com"), "ADYEN_CURRENCY", entry);
        }
        if let (Some(key), Some(account), Some(number)) = (
            variable("INCREASE_API_KEY"),
            variable("INCREASE_ACCOUNT_ID"),
            variable("INCREASE_ACCOUNT_NUMBER_ID"),
        ) {
            let entry = json!({"adapter": "increase", "environment": "sandbox",
                "credentials": {"apiKey": key, "webhookSecret": WEBHOOK_SECRET},
                "funding": {"accountId": account, "accountNumberId": number}});
            add(BANK, &key, ("INCREASE_BASE_URL", "https://sandbox.increase.com"), "", entry);
        }
        Self(sandboxes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, provider: &str) -> Option<&Sandbox> {
        self.0.iter().find(|sandbox| sandbox.provider == provider)
    }

    pub fn currency(&self, provider: &str) -> &str {
        self.find(provider).map_or("USD", |sandbox| &sandbox.currency)
    }

    /// A way to ask a provider what it has, as its dashboard would show it.
    pub fn api(&self, provider: &str) -> Option<ProviderApi> {
        self.find(provider).map(|sandbox| {
            let header = match provider {
                ADYEN => ("x-api-key", sandbox.key.clone()),
                _ => ("authorization", format!("Bearer {}", sandbox.key)),
            };
            ProviderApi::new(&sandbox.base_url, header)
        })
    }

    /// A field of a provider's entry.
    pub fn field(&self, provider: &str, name: &str) -> String {
        self.find(provider).unwrap().entry[name].as_str().unwrap().to_owned()
    }

    /// The keys as `tollgate trigger` wants them.
    pub fn keys(&self) -> Vec<(&'static str, String)> {
        let name = |sandbox: &Sandbox| match sandbox.provider {
            STRIPE => Some("STRIPE_SECRET_KEY"),
            BANK => Some("INCREASE_API_KEY"),
            _ => None,
        };
        self.0.iter().filter_map(|sandbox| Some((name(sandbox)?, sandbox.key.clone()))).collect()
    }

    /// A configuration with a route to each of them.
    pub fn document(&self) -> Value {
        let mut document = json!({"providers": {}, "routing": {}, "fees": []});
        let mut rules = Vec::new();
        for Sandbox { provider, entry, currency, .. } in &self.0 {
            document["providers"][*provider] = entry.clone();
            let (method, channel, fee_channel) = match *provider {
                BANK => ("ach", "standard_ach", "standard_ach"),
                _ => ("web_card", "web_card", "none"),
            };
            document["fees"].as_array_mut().unwrap().push(json!({
                "provider": provider, "paymentMethod": method, "channel": fee_channel, "currency": currency,
                "platform": {"fixedFeeMinor": "30", "percentFeeBps": 100},
            }));
            let target = json!({"provider": provider, "channel": channel});
            if *provider == BANK {
                document["routing"]["ach"] = json!({"default": target});
            } else {
                rules.push(json!({
                    "id": format!("to_{provider}"), "target": target,
                    "conditions": [{"id": "named", "field": "metadata.provider", "op": "eq", "value": provider}],
                }));
            }
        }
        document["routing"]["web_card"] = json!({"rules": rules});
        document
    }
}
