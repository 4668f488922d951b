//! The provider: `tollgate simulator`, a process of its own that answers at once.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

use crate::Fault;
use crate::call::{Caller, count_at};
use crate::launch;
use crate::process::Process;

/// A running simulator.
pub struct Simulator {
    pub process: Process,
    pub address: SocketAddr,
    adapters: Adapters,
}

/// Where each adapter is and which key it takes, as the simulator prints it.
#[derive(Debug, PartialEq, Eq)]
struct Adapters {
    stripe: (String, String),
    square: (String, String),
    increase: (String, String),
}

impl Simulator {
    pub async fn start(binary: &Path, directory: &Path) -> Result<Self, Fault> {
        let log = directory.join("simulator.log");
        let mut command = launch::command(binary, directory, &log)?;
        command.args(["simulator", "--listen", "127.0.0.1:0"]);
        let ask = async || Adapters::parse(&std::fs::read_to_string(&log).ok()?);
        let (process, adapters) = launch::start("simulator", &mut command, &log, ask).await?;
        let address = address_of(&adapters.stripe.0).ok_or("the simulator's address is not one")?;
        Ok(Self { process, address, adapters })
    }

    pub fn stripe_key(&self) -> &str {
        &self.adapters.stripe.1
    }

    /// The configuration that sends card payments to the provider named and transfers to the only one there is.
    pub fn configuration(&self, cards: &str) -> Value {
        let Adapters { stripe, square, increase } = &self.adapters;
        let fee = |provider: &str, method: &str, channel: &str| {
            json!({
                "provider": provider, "paymentMethod": method, "channel": channel, "currency": "USD",
                "platform": {"enabled": true, "fixedFeeMinor": "25", "percentFeeBps": 290},
                "organization": {"enabled": true, "fixedFeeMinor": "0", "percentFeeBps": 50,
                                 "minimumFeeMinor": "10", "capFeeMinor": "500"},
            })
        };
        json!({
            "providers": {
                "stripe": {
                    "adapter": "stripe",
                    "credentials": {"secretKey": stripe.1, "publishableKey": "pk_test_simulator",
                                    "webhookSecret": "whsec_benchmark"},
                    "baseUrl": stripe.0,
                },
                "square": {
                    "adapter": "square",
                    "credentials": {"accessToken": square.1, "applicationId": "sandbox-sq0idb-simulator",
                                    "locationId": "LSIMULATOR001", "webhookSignatureKey": "benchmark"},
                    "environment": "sandbox",
                    "baseUrl": square.0,
                },
                "increase": {
                    "adapter": "increase",
                    "credentials": {"apiKey": increase.1, "webhookSecret": "benchmark-webhook-secret"},
                    "funding": {"accountId": "account_simulator", "accountNumberId": "account_number_simulator"},
                    "baseUrl": increase.0,
                },
            },
            "routing": {
                "web_card": {"enabled": true, "rules": [], "default": {"provider": cards, "channel": "web_card"}},
                "ach": {"enabled": true, "rules": [], "default": {"provider": "increase", "channel": "standard_ach"}},
            },
            "fees": [
                fee("stripe", "web_card", "none"),
                fee("square", "web_card", "none"),
                fee("increase", "ach", "standard_ach"),
            ],
        })
    }

    /// Sends webhooks about bank transfers to this address from now on.
    pub async fn send_webhooks(&self, webhooks: &str) -> Result<(), Fault> {
        let target = json!({"wire": "increase", "url": webhooks, "secret": "benchmark-webhook-secret"});
        let target = serde_json::to_vec(&target)?;
        Caller::new(self.address, "none").call("POST", "/control/webhooks", Some(&target)).await?;
        Ok(())
    }

    /// Settles a bank transfer.
    pub async fn settle(&self, id: &str) -> Result<(), Fault> {
        let mut bank = Caller::new(self.address, &self.adapters.increase.1);
        bank.call("POST", &format!("/increase/simulations/ach_transfers/{id}/settle"), Some(b"{}")).await?;
        Ok(())
    }

    pub async fn send_no_webhooks(&self) -> Result<(), Fault> {
        Caller::new(self.address, "none").call("DELETE", "/control/webhooks", None).await?;
        Ok(())
    }

    /// How many bank transfers it has accepted.
    pub async fn transfers_accepted(&self) -> Result<u64, Fault> {
        let state = Caller::new(self.address, "none").call("GET", "/control/state?limit=0", None).await?;
        count_at(&state.body, "/increase/counts/ach_transfers")
    }
}

impl Adapters {
    /// `None` until all have been printed.
    fn parse(printed: &str) -> Option<Self> {
        let wire = |name: &str| {
            let mut lines = printed.lines().map(str::split_whitespace);
            lines.find_map(|mut words| {
                (words.next()? == name).then_some(())?;
                Some((words.next()?.to_owned(), words.next()?.to_owned()))
            })
        };
        // The last line, so that none before it is read by half.
        let complete = printed.lines().any(|line| line.starts_with("control ") && line.ends_with("/control"));
        let (stripe, square, increase) = (wire("stripe")?, wire("square")?, wire("increase")?);
        complete.then_some(Self { stripe, square, increase })
    }
}

fn address_of(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "stripe    http://127.0.0.1:4010/stripe    sk_test\n\
        square    http://127.0.0.1:4010/square    token\n\
        increase  http://127.0.0.1:4010/increase  key\n\
        control   http://127.0.0.1:4010/control\n";

    #[test]
    fn the_addresses_are_read_once_all_are_there() {
        let adapters = Adapters::parse(PRINTED).unwrap();
        assert_eq!(adapters.stripe, ("http://127.0.0.1:4010/stripe".to_owned(), "sk_test".to_owned()));
        assert_eq!(adapters.increase.1, "key");
        assert_eq!(address_of(&adapters.stripe.0), Some(([127, 0, 0, 1], 4010).into()));
        for end in 0..PRINTED.trim_end().len() {
            assert_eq!(Adapters::parse(PRINTED.get(..end).unwrap()), None, "{end}");
        }
    }
}
