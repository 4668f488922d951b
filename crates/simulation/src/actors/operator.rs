//! Those who run the service: they set it up, change what is configured, rotate and revoke keys.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_engine::ports::PaymentFilter;

use super::cards::SECOND_PROVIDER_FROM;
use crate::{
    node::Cluster,
    providers::{BANK, DROP_IN, PAGES, REGISTER, SECOND_BANK, WEBHOOK_SECRET, address, key_prefix},
    receivers::endpoint_url,
    world::World,
};

/// What is in the wallet at first.
pub(crate) const FUNDS: u64 = 5_000_000_000;
const ENDPOINTS: usize = 2;

/// What can be configured, as far as it changes.
#[derive(Debug, Clone, Copy)]
struct Wishes {
    bank: char,
    pages: char,
    register: char,
    /// The generation of the credentials; 0 is one that no provider accepts.
    bank_key: u32,
    second_bank_key: u32,
    pages_key: u32,
    register_key: u32,
    /// Whether the source of funds and the location are those of the account.
    details_are_right: bool,
    transfers_enabled: bool,
    same_day: bool,
}

impl Wishes {
    const USUAL: Self = Self {
        bank: 'a',
        pages: 'a',
        register: 'a',
        bank_key: 1,
        second_bank_key: 1,
        pages_key: 1,
        register_key: 1,
        details_are_right: true,
        transfers_enabled: true,
        same_day: false,
    };

    /// Something an operator might do, right or wrong.
    fn draw(world: &World) -> Self {
        let usual = Self::USUAL;
        let other = *world.pick(&['b', 'c']);
        match world.draw(0..11) {
            0 | 1 => Self { bank: other, ..usual },
            2 => Self { register: other, ..usual },
            3 => Self { pages: other, ..usual },
            4 => Self { bank_key: 0, ..usual },
            5 => Self { register_key: 0, ..usual },
            6 => Self { pages_key: 0, ..usual },
            7 => Self { details_are_right: false, ..usual },
            8 => Self { second_bank_key: 0, ..usual },
            9 => Self { transfers_enabled: false, ..usual },
            _ => Self {
                bank_key: 2,
                second_bank_key: 2,
                pages_key: 2,
                register_key: 2,
                same_day: true,
                ..usual
            },
        }
    }
}

/// Makes the tenant, its configuration, its first key, its funds and its endpoints.
pub(crate) async fn set_up(cluster: &Arc<Cluster>) {
    let organization = create(cluster, "/admin/v1/organizations", json!({ "name": "Shop" })).await;
    let path = format!("/admin/v1/organizations/{organization}/applications");
    let application = create(cluster, &path, json!({ "name": "Checkout" })).await;
    let path = format!("/admin/v1/applications/{application}/environments");
    let environment = create(cluster, &path, json!({ "name": "live" })).await;
    cluster.world.book().environment.clone_from(&environment);
    configure(cluster, Wishes::USUAL).await;
    let key = issue_key(cluster).await.1;
    cluster.world.book().secret_key = key;
    let path = format!("/admin/v1/environments/{environment}/wallets/USD/fund");
    let funds = json!({ "amountMinor": FUNDS.to_string(), "reference": "the first funds" });
    cluster.insist(Method::POST, &path, Some(&funds)).await;
    for index in 0..ENDPOINTS {
        let path = format!("/admin/v1/environments/{environment}/event-endpoints");
        create(cluster, &path, json!({ "url": endpoint_url(index), "events": ["*"] })).await;
        cluster.world.book().receivers.push(std::collections::BTreeMap::new());
    }
}

async fn create(cluster: &Cluster, path: &str, body: Value) -> String {
    cluster.insist(Method::POST, path, Some(&body)).await.text("/data/id").to_owned()
}

/// Configures everything rightly for one of the accounts.
pub(crate) async fn lead_to(cluster: &Cluster, account: char) {
    configure(cluster, Wishes { bank: account, pages: account, register: account, ..Wishes::USUAL }).await;
}

/// Decides about what waits because it was sent under a configuration that is gone: it goes on where the configuration leads
/// now, if no other account has anything of it.
pub(crate) async fn decide(cluster: &Cluster, account: char) {
    let environment = cluster.world.book().environment.clone();
    for reference in waiting(cluster).await {
        let is_elsewhere =
            cluster.world.providers().accounts_of(&reference).iter().any(|name| *name != account);
        if !is_elsewhere {
            cluster.world.note("operator", format_args!("{reference} goes on at {account}"));
            let path =
                format!("/admin/v1/environments/{environment}/payments/{reference}/use-configured-account");
            cluster.insist(Method::POST, &path, None).await;
        }
    }
}

/// What waits for a decision about its account.
async fn waiting(cluster: &Cluster) -> Vec<String> {
    let Ok(environment) = cluster.world.book().environment.parse() else { return Vec::new() };
    let waits =
        |reason: &Option<String>| reason.as_ref().is_some_and(|reason| reason.starts_with("it was sent to"));
    let transfers = cluster.store.waiting_transfers(environment, None, 100).await.unwrap_or_default();
    let transfers = transfers.into_iter().filter(|transfer| waits(&transfer.progress.waiting));
    let mut found: Vec<_> = transfers.map(|transfer| transfer.order.id.to_string()).collect();
    let filter = PaymentFilter { preparation: None, waiting: true };
    for id in cluster.store.payments(environment, filter, None, 100).await.unwrap_or_default() {
        let payment = cluster.store.payment(environment, id).await.ok().flatten();
        if payment.is_some_and(|payment| waits(&payment.progress.waiting)) {
            found.push(id.to_string());
        }
    }
    found
}

/// Changes something now and then, and takes it back.
pub(crate) async fn run(cluster: Arc<Cluster>) {
    let world = Arc::clone(&cluster.world);
    for _ in 0..world.profile.operator_actions {
        let latest = world.profile.busy / 2;
        world.pause(1_000..latest).await;
        if world.chance(300) {
            replace_key(&cluster).await;
            continue;
        }
        let wishes = Wishes::draw(&world);
        world.note("operator", format_args!("{wishes:?}"));
        configure(&cluster, wishes).await;
        world.pause(1_000..40_000).await;
        configure(&cluster, Wishes::USUAL).await;
        world.note("operator", "everything as it was");
    }
}

async fn configure(cluster: &Cluster, wishes: Wishes) {
    let environment = cluster.world.book().environment.clone();
    let path = format!("/admin/v1/environments/{environment}/config");
    let document = document(&cluster.world, wishes);
    cluster.insist(Method::PUT, &path, Some(&document)).await;
}

async fn issue_key(cluster: &Cluster) -> (String, String) {
    let environment = cluster.world.book().environment.clone();
    let path = format!("/admin/v1/environments/{environment}/keys");
    let answer = cluster.insist(Method::POST, &path, Some(&json!({ "kind": "secret" }))).await;
    (answer.text("/data/id").to_owned(), answer.text("/data/key").to_owned())
}

/// Issues a new key, lets callers take it up, and revokes the old one.
async fn replace_key(cluster: &Arc<Cluster>) {
    let world = &cluster.world;
    let environment = world.book().environment.clone();
    let (id, short_lived) = issue_key(cluster).await;
    world.pause(1_000..5_000).await;
    let asked_at = world.elapsed();
    cluster.insist(Method::DELETE, &format!("/admin/v1/environments/{environment}/keys/{id}"), None).await;
    let at = world.elapsed();
    world.note("operator", "revoked a key");
    world.book().revoked.insert(short_lived.clone(), at);
    for node in 0..cluster.count() {
        tokio::spawn(try_revoked(Arc::clone(cluster), node, short_lived.clone(), asked_at));
    }
}

/// Somebody goes on using a key that was revoked.
async fn try_revoked(cluster: Arc<Cluster>, node: usize, key: String, asked_at: u64) {
    for _ in 0..4 {
        sleep(Duration::from_millis(1_005)).await;
        let Some(life) = cluster.life(node) else { continue };
        let answer = cluster.call(node, Method::GET, "/client/v1/wallet", &key, None).await;
        let Ok(answer) = answer else { continue };
        cluster.world.note(&life.name, format_args!("a revoked key is answered {}", answer.status));
        // Only a node that could not ask the store since may not know: in a slow stretch it asks again after seconds.
        let could_ask = life.directory_trouble_at.load(Ordering::Relaxed) < asked_at;
        if could_ask && answer.status != 401 {
            let what = format!("{} answered {}", life.name, answer.status);
            cluster.world.violate("a revoked key opens nothing after a second", what);
        }
    }
}

fn document(world: &World, wishes: Wishes) -> Value {
    let key = |wire: &str, name: char, generation: u32| match generation {
        0 => "a wrong key".to_owned(),
        _ => format!("{}{generation}", key_prefix(wire, name)),
    };
    let own = |name: char| if wishes.details_are_right { name } else { 'x' };
    let layer = |fixed: u64, bps: u64| {
        json!({ "enabled": true, "fixedFeeMinor": fixed.to_string(), "percentFeeBps": bps,
                "minimumFeeMinor": null, "capFeeMinor": null })
    };
    let fee = |provider: &str, method: &str, channel: &str| {
        json!({ "provider": provider, "paymentMethod": method, "channel": channel, "currency": "USD",
                "platform": layer(30, 290), "organization": layer(0, 50) })
    };
    let channel = if wishes.same_day { "same_day_ach" } else { "standard_ach" };
    let fallbacks = if world.profile.falls_back {
        json!([{ "provider": "ach_provider_b", "channel": channel }])
    } else {
        json!([])
    };
    let second = json!({ "provider": "card_provider_b", "channel": "web_card" });
    let third = json!({ "provider": "card_provider_c", "channel": "web_card" });
    let card_fallbacks =
        if world.profile.third_provider_from == 0 { vec![second, third] } else { vec![second] };
    json!({
        "providers": {
            // Its account never changes: what went on to it can always be asked for there.
            "ach_provider_b": {
                "adapter": "modern_treasury", "baseUrl": address(SECOND_BANK, 'a'),
                "credentials": {
                    "organizationId": "organization", "apiKey": key(SECOND_BANK, 'a', wishes.second_bank_key),
                    "webhookKey": WEBHOOK_SECRET,
                },
                "funding": { "originatingAccountId": format!("account-{}", own('a')) },
            },
            "ach_provider": {
                "adapter": "increase", "baseUrl": address(BANK, wishes.bank),
                "credentials": { "apiKey": key(BANK, wishes.bank, wishes.bank_key), "webhookSecret": WEBHOOK_SECRET },
                "funding": { "accountId": format!("account-{}", own(wishes.bank)), "accountNumberId": "number" },
            },
            "card_provider_a": {
                "adapter": "stripe", "baseUrl": address(PAGES, wishes.pages),
                "credentials": {
                    "secretKey": key(PAGES, wishes.pages, wishes.pages_key), "publishableKey": "public",
                    "webhookSecret": WEBHOOK_SECRET,
                },
            },
            "card_provider_b": {
                "adapter": "square", "baseUrl": address(REGISTER, wishes.register),
                "credentials": {
                    "accessToken": key(REGISTER, wishes.register, wishes.register_key),
                    "applicationId": "application", "locationId": format!("location-{}", own(wishes.register)),
                    "webhookSignatureKey": WEBHOOK_SECRET,
                },
            },
            // Its account never changes either.
            "card_provider_c": {
                "adapter": "adyen", "baseUrl": address(DROP_IN, 'a'), "merchantAccount": "account-a",
                "credentials": {
                    "apiKey": key(DROP_IN, 'a', 1), "clientKey": "live_key", "hmacKey": WEBHOOK_SECRET,
                },
            },
        },
        "routing": {
            "web_card": {
                "enabled": true,
                "rules": [{
                    "id": "largest", "enabled": true,
                    "conditions": [{ "id": "amount", "field": "amountMinor", "op": "gte",
                                     "value": world.profile.third_provider_from.to_string() }],
                    "target": {
                        "provider": "card_provider_c", "channel": "web_card",
                        "fallbacks": [{ "provider": "card_provider_a", "channel": "web_card" }],
                    },
                }, {
                    "id": "large", "enabled": true,
                    "conditions": [{ "id": "amount", "field": "amountMinor", "op": "gte",
                                     "value": SECOND_PROVIDER_FROM.to_string() }],
                    "target": {
                        "provider": "card_provider_b", "channel": "web_card",
                        "fallbacks": [{ "provider": "card_provider_a", "channel": "web_card" }],
                    },
                }],
                "default": {
                    "provider": "card_provider_a", "channel": "web_card",
                    "fallbacks": card_fallbacks,
                },
            },
            "ach": {
                "enabled": wishes.transfers_enabled, "rules": [],
                "default": { "provider": "ach_provider", "channel": channel, "fallbacks": fallbacks },
            },
        },
        "fees": [
            fee("ach_provider_b", "ach", "standard_ach"), fee("ach_provider_b", "ach", "same_day_ach"),
            fee("ach_provider", "ach", "standard_ach"), fee("ach_provider", "ach", "same_day_ach"),
            fee("card_provider_a", "web_card", "none"), fee("card_provider_b", "web_card", "none"),
            fee("card_provider_c", "web_card", "none"),
        ],
        "settings": {
            "preparationLifetimeSeconds": world.profile.preparation_lifetime,
            "customerTokenLifetimeSeconds": world.profile.token_lifetime,
            "checkProviderFunds": world.profile.checks_funds,
        },
    })
}

/// What the wallet is debited for a transfer, by the fees above: 30, and 290 and 50 hundredths of a percent, each rounded
/// half up.
pub(crate) fn total_debit(principal: u64) -> u64 {
    let percent = |bps: u64| (principal * bps + 5_000) / 10_000;
    principal + 30 + percent(290) + percent(50)
}
