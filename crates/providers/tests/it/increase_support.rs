//! The simulator's bank, a provider that leads to it, transfer orders, and somebody to play the provider's staff, the
//! networks and the receiving banks.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::ach::{AchProviderReport, BankAccountType, RecipientKind, TransferOrder};
use tollgate_domain::fee::FeeEntry;
use tollgate_domain::id::{EnvironmentId, TransferId};
use tollgate_domain::{Channel, Currency, Principal};
use tollgate_engine::ports::{AchTransfers, Adapters as _, BankAccount, Call};
use tollgate_providers::ProviderSettings;
use tollgate_vault::Secret;

use crate::support::{self, now, provider, send};

pub(crate) const API_KEY: &str = "increase_simulator_key";
pub(crate) const SECRET: &str = "increase_shared_secret";
pub(crate) const ROUTING: &str = "122105155";
pub(crate) const ACCOUNT: &str = "000847362951";
/// Takes part in nothing.
pub(crate) const NO_BANK: &str = "790000051";
/// Takes part in nothing instant.
pub(crate) const SLOW_BANK: &str = "790000064";

pub(crate) const CHANNELS: [Channel; 3] = [Channel::StandardAch, Channel::SameDayAch, Channel::Instant];

/// A running simulator and the adapter that leads to it.
pub(crate) struct World {
    simulated: support::World,
    pub(crate) provider: Provider,
    pub(crate) adapter: Adapter,
}

impl Deref for World {
    type Target = support::World;

    fn deref(&self) -> &support::World {
        &self.simulated
    }
}

pub(crate) async fn start(settings: ProviderSettings) -> World {
    start_with(settings, Adapter::Increase, provider_at).await
}

/// The same with another provider of bank transfers; `provider_at` configures it.
pub(crate) async fn start_with(
    settings: ProviderSettings,
    adapter: Adapter,
    provider_at: fn(&str) -> Provider,
) -> World {
    let simulated = support::start_with(settings).await;
    World { provider: provider_at(&format!("{}/{}", simulated.origin, adapter.as_str())), simulated, adapter }
}

pub(crate) fn entry(base_url: &str) -> Value {
    json!({
        "adapter": "increase",
        "baseUrl": base_url,
        "credentials": { "apiKey": API_KEY, "webhookSecret": SECRET },
        "funding": { "accountId": "account_simulator", "accountNumberId": "account_number_simulator" },
    })
}

pub(crate) fn provider_at(base_url: &str) -> Provider {
    provider(&entry(base_url))
}

/// An order over 20.00 USD, different from every other.
pub(crate) fn order(channel: Channel) -> TransferOrder {
    order_over(channel, 2_000)
}

pub(crate) fn order_over(channel: Channel, amount: u64) -> TransferOrder {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut random = [7; 10];
    random[..8].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let at = now();
    TransferOrder {
        environment: EnvironmentId::new(at, [1; 10]),
        id: TransferId::new(at, random),
        provider: "one".to_owned(),
        adapter: "increase".to_owned(),
        account: None,
        channel,
        rail: None,
        matched: None,
        route: tollgate_domain::routing::RouteProgress::default(),
        config_version: 1,
        currency: Currency::USD,
        fee: FeeEntry::default().assess(Principal::new(amount).unwrap()),
        external_customer_id: "cust_42".to_owned(),
        customer_name: "Zoë Example".to_owned(),
        customer_email: "zoe@example.com".to_owned(),
        bank_name: "Bank".to_owned(),
        account_name: "Zoë Nguyễn-Straße".to_owned(),
        account_type: BankAccountType::Savings,
        last_four: "2951".to_owned(),
        description: Some("Café – June".to_owned()),
        metadata: "{}".to_owned(),
        remittance: Some(r#"{"invoice":"A-7"}"#.to_owned()),
        recipient_kind: RecipientKind::Individual,
        purpose: None,
        statement_descriptor: None,
        request: "req_test".to_owned(),
        created_at: at,
    }
}

pub(crate) fn bank() -> BankAccount {
    bank_at(ROUTING)
}

pub(crate) fn bank_at(routing: &str) -> BankAccount {
    BankAccount { routing_number: Secret::new(routing), account_number: Secret::new(ACCOUNT) }
}

impl World {
    pub(crate) fn wire(&self) -> &dyn AchTransfers {
        self.providers.capabilities(self.adapter).transfers.unwrap()
    }

    pub(crate) async fn send(&self, order: &TransferOrder) -> Call<AchProviderReport> {
        self.wire().send(&self.provider, order, &bank()).await
    }

    pub(crate) async fn find(&self, order: &TransferOrder) -> Call<Option<AchProviderReport>> {
        self.wire().find(&self.provider, order).await
    }

    pub(crate) async fn read(&self, transfer: &str) -> Call<AchProviderReport> {
        self.wire().read(&self.provider, transfer).await
    }

    /// A call on the wire by somebody else: the sandbox's own steps, or another client of the account.
    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: Value) -> Value {
        let url = format!("{}/increase/{path}", self.origin);
        let bearer = format!("Bearer {API_KEY}");
        let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send("POST", &url, &headers, body).await.unwrap().expect(200)
    }

    pub(crate) async fn fault(&self, operation: &str, kind: &str, count: u32) {
        self.simulated.fault(self.adapter.as_str(), operation, kind, count).await;
    }

    /// Everything the simulator took under a key, on either rail.
    pub(crate) async fn taken(&self, order: &TransferOrder) -> Vec<Value> {
        let state = self.control("GET", "state", Value::Null).await;
        let key = order.id.to_string();
        let rows =
            self.kinds().iter().flat_map(|kind| state[self.adapter.as_str()][kind].as_array().unwrap());
        rows.filter(|row| row["idempotency_key"] == key.as_str()).cloned().collect()
    }

    /// How many transfers the simulator took at all.
    pub(crate) async fn count(&self) -> u64 {
        let state = self.control("GET", "state", Value::Null).await;
        let counts = &state[self.adapter.as_str()]["counts"];
        self.kinds().iter().map(|kind| counts[kind].as_u64().unwrap()).sum()
    }

    /// What the provider's transfers are called in the simulator.
    fn kinds(&self) -> &'static [&'static str] {
        match self.adapter {
            Adapter::ModernTreasury => &["payment_orders"],
            _ => &["ach_transfers", "real_time_payments_transfers", "fednow_transfers"],
        }
    }
}
