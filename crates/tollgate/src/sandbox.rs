//! The sandbox: one command to a working quote. Everything it needs it makes once and finds again.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    sync::Arc,
};

use axum::Router;
use serde_json::{Value, json};
use tollgate_configuration::{Adapter, Configuration, Providers};
use tollgate_console::{Playground, SandboxKeys};
use tollgate_domain::{
    Currency, Minor, Timestamp,
    id::{ApplicationId, EnvironmentId, OrganizationId},
    ledger::Cause,
    tenant::{Application, Environment, EnvironmentName, KeyKind, Organization},
};
use tollgate_engine::{Engine, MoveOrder, Origin};
use tollgate_server::Listeners;
use tollgate_simulator::{
    AdyenKeys, Config, IncreaseKeys, ModernTreasuryKeys, Simulator, SquareKeys, StripeKeys, WebhookTarget,
    Wire,
};
use tollgate_vault::{AdminToken, Digest, MasterKey, Secret};

use crate::{
    failure::Failure,
    logging::{self, Activity},
    node,
    settings::ServerSettings,
    welcome,
};

/// A million dollars of play money.
const OPENING_BALANCE_MINOR: u64 = 100_000_000;
const ACTOR: &str = "sandbox";

/// What the welcome shows and `sandbox.json` keeps.
pub(crate) struct Access {
    pub(crate) base_url: String,
    pub(crate) admin_token: Secret,
    pub(crate) secret_key: Secret,
    pub(crate) publishable_key: Secret,
    pub(crate) environment: EnvironmentId,
}

pub(crate) async fn run() -> Result<(), Failure> {
    let settings = ServerSettings::load(None)?.with_local_servers()?;
    let log = logging::start(&settings.log, Activity::Shown, settings.collector.as_deref())?;
    create_private_dir(&settings.data_dir)?;
    let (listener, address) = node::bind(&settings.listen, "TOLLGATE_LISTEN").await?;
    let master_key = master_key(&settings)?;
    let engine = node::engine(&settings, address, &master_key).await?;
    let access = prepare(&engine, &settings, address).await?;
    let admin_token = settings.checked_admin_token(&access.admin_token)?;
    welcome::print(&access, &settings);
    let webhooks = webhook_targets(&engine, access.environment);
    let config = Config { webhooks, ..simulator_config(&access.base_url) };
    let path = settings.data_dir.join("simulator.jsonl");
    let opened = Simulator::open(config, &path);
    let simulator =
        opened.map_err(|error| Failure::file("open the simulated providers' state in", &path, &error))?;
    simulator.start();
    let mounted = Router::new().nest(SIMULATOR_PATH, simulator.router());
    let app = node::app(&settings, engine, admin_token, true)?
        .with_key_in_docs(&access.secret_key)
        .with_mounted(SIMULATOR_PATH, mounted);
    let first_page = tollgate_console::sandbox_page(SandboxKeys {
        base_url: access.base_url,
        secret_key: access.secret_key.clone(),
        publishable_key: access.publishable_key.clone(),
    });
    let playground = tollgate_console::playground(Playground {
        engine: Arc::clone(app.engine()),
        environment: access.environment,
        secret_key: access.secret_key,
        publishable_key: access.publishable_key,
        bank_key: Secret::new(INCREASE_KEY),
    });
    let app = app.with_mounted("/", first_page).with_mounted("/playground", playground).with_key_pages(&[
        "/",
        "/docs",
        "/playground",
        "/console/sandbox-sign-in",
    ]);
    let served =
        node::serve(Listeners { main: listener, admin: None, tls: None }, app, settings.limits).await;
    simulator.stop();
    log.finish().await;
    served
}

/// Where the simulated providers send what they have to tell: back here, signed with the secrets configured now.
fn webhook_targets(engine: &Engine, environment: EnvironmentId) -> Vec<WebhookTarget> {
    let snapshot = engine.directory().snapshot();
    let providers = snapshot.environment(environment).map(|view| &view.configuration.providers);
    let targets = providers.into_iter().flat_map(Providers::iter).filter_map(|provider| {
        let wire = match provider.adapter {
            Adapter::Stripe => Wire::Stripe,
            Adapter::Square => Wire::Square,
            Adapter::Increase => Wire::Increase,
            Adapter::ModernTreasury => Wire::ModernTreasury,
            Adapter::Adyen => Wire::Adyen,
        };
        let secret = provider.credential(provider.webhook_secret_field())?.to_owned();
        let url = engine.webhook_url(environment, &provider.name);
        Some(WebhookTarget { wire, url, secret, events: Vec::new() })
    });
    targets.collect()
}

/// The simulated providers, with the credentials the demo configuration has for them.
fn simulator_config(base_url: &str) -> Config {
    Config {
        stripe: StripeKeys {
            secret_key: STRIPE_KEY.to_owned(),
            publishable_key: STRIPE_PUBLISHABLE_KEY.to_owned(),
        },
        square: SquareKeys {
            access_token: SQUARE_TOKEN.to_owned(),
            application_id: SQUARE_APPLICATION.to_owned(),
            location_id: SQUARE_LOCATION.to_owned(),
            currency: "USD".to_owned(),
        },
        increase: IncreaseKeys {
            api_key: INCREASE_KEY.to_owned(),
            account_id: INCREASE_ACCOUNT.to_owned(),
            account_number_id: INCREASE_ACCOUNT_NUMBER.to_owned(),
            balance: IncreaseKeys::LARGE_BALANCE,
        },
        modern_treasury: ModernTreasuryKeys {
            organization_id: MODERN_TREASURY_ORGANIZATION.to_owned(),
            api_key: MODERN_TREASURY_KEY.to_owned(),
            account_id: MODERN_TREASURY_ACCOUNT.to_owned(),
        },
        adyen: AdyenKeys {
            api_key: ADYEN_KEY.to_owned(),
            client_key: ADYEN_CLIENT_KEY.to_owned(),
            merchant_account: ADYEN_MERCHANT.to_owned(),
            captures_manually: true,
        },
        ach_settles_after_ms: Some(ACH_SETTLES_AFTER_MS),
        public_url: format!("{base_url}{SIMULATOR_PATH}"),
        objects_max: SIMULATOR_OBJECTS_MAX,
        ..Config::default()
    }
}

/// Makes what is missing. Every step may be repeated, so a start that was cut off is finished by the next.
async fn prepare(engine: &Engine, settings: &ServerSettings, address: SocketAddr) -> Result<Access, Failure> {
    let path = settings.data_dir.join("sandbox.json");
    let kept = read_kept(&path)?;
    let environment = demo_environment(engine).await?;
    let base_url = format!("http://{address}");
    let config = engine.config(environment).await?;
    if config.version == 0 {
        let origin = Origin::system(ACTOR, "first start");
        engine.put_config(environment, demo_configuration(&base_url), Some(0), origin).await?;
    } else if let Some(moved) = at_new_address(&config.configuration, &base_url) {
        let origin = Origin::system(ACTOR, "start at another address");
        engine.put_config(environment, moved, Some(config.version), origin).await?;
    }
    fund(engine, environment).await?;
    let admin_token = match (&settings.admin_token, kept_text(&kept, "adminToken")) {
        (Some(set), _) => set.clone(),
        (None, Some(kept)) => kept,
        (None, None) => AdminToken::generate()?,
    };
    let access = Access {
        base_url,
        admin_token,
        secret_key: key(engine, environment, KeyKind::Secret, kept_text(&kept, "secretKey")).await?,
        publishable_key: key(engine, environment, KeyKind::Publishable, kept_text(&kept, "publishableKey"))
            .await?,
        environment,
    };
    write_private(&path, &format!("{:#}\n", sandbox_json(&access)))?;
    Ok(access)
}

/// The demo's ids are fixed, so that making it twice makes it once.
async fn demo_environment(engine: &Engine) -> Result<EnvironmentId, Failure> {
    let at = engine.clock().now();
    let epoch = Timestamp::from_unix_millis(0);
    let fixed = *b"sandbox-01";
    let organization = OrganizationId::new(epoch, fixed);
    let application = ApplicationId::new(epoch, fixed);
    let environment = EnvironmentId::new(epoch, fixed);
    let name = EnvironmentName::parse("test")
        .ok_or_else(|| Failure::new("`test` is not a name for an environment"))?;
    let organization =
        Organization { id: organization, name: "Demo organization".to_owned(), created_at: at };
    let application = Application {
        id: application,
        organization: organization.id,
        name: "Demo shop".to_owned(),
        created_at: at,
    };
    let environment = Environment {
        id: environment,
        application: application.id,
        organization: organization.id,
        name,
        created_at: at,
    };
    engine.ensure_environment(&organization, &application, &environment).await?;
    Ok(environment.id)
}

/// The document with the simulated providers where they are now, if they were elsewhere: they live at the sandbox's own
/// address, and that may be another one at every start.
fn at_new_address(configuration: &Configuration, base_url: &str) -> Option<Value> {
    let mut document = configuration.to_public();
    let mut moved = false;
    for (name, entry) in document.get_mut("providers")?.as_object_mut()? {
        let old = entry.get("baseUrl").and_then(Value::as_str);
        let Some((_, wire)) = old.and_then(|url| url.split_once(&format!("{SIMULATOR_PATH}/"))) else {
            continue;
        };
        let now = simulator_url(base_url, wire);
        if old == Some(now.as_str()) {
            continue;
        }
        moved = true;
        // A masked secret is not kept at another address.
        let credentials = entry.get_mut("credentials").and_then(Value::as_object_mut);
        let secrets = configuration.providers.get(name);
        for (field, shown) in credentials.into_iter().flatten() {
            if let Some(text) = secrets.and_then(|provider| provider.credential(field)) {
                *shown = text.into();
            }
        }
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("baseUrl".to_owned(), now.into());
        }
    }
    moved.then_some(document)
}

async fn fund(engine: &Engine, environment: EnvironmentId) -> Result<(), Failure> {
    let order = MoveOrder {
        currency: Currency::USD,
        cause: Cause::Fund,
        amount: Minor::new(OPENING_BALANCE_MINOR).unwrap_or_default(),
        reference: "sandbox opening balance".to_owned(),
    };
    engine.move_funds(environment, order, &Origin::system(ACTOR, "first start")).await?;
    Ok(())
}

/// The kept key if it still opens the environment, else a new one.
async fn key(
    engine: &Engine,
    environment: EnvironmentId,
    kind: KeyKind,
    kept: Option<Secret>,
) -> Result<Secret, Failure> {
    if let Some(kept) = kept
        && opens(engine, environment, kind, &kept)
    {
        return Ok(kept);
    }
    let origin = Origin::system(ACTOR, "start");
    Ok(engine.issue_key(environment, kind, origin).await?.key)
}

fn opens(engine: &Engine, environment: EnvironmentId, kind: KeyKind, key: &Secret) -> bool {
    let snapshot = engine.directory().snapshot();
    let found = snapshot.authenticate(Digest::of(key.expose()), engine.clock().now());
    found.is_ok_and(|key| key.kind == kind && key.environment.environment.id == environment)
}

/// From the settings, or kept beside the database.
fn master_key(settings: &ServerSettings) -> Result<MasterKey, Failure> {
    if settings.master_key.is_some() {
        return settings.required_master_key();
    }
    let path = settings.data_dir.join("master.key");
    let text = match fs::read_to_string(&path) {
        Ok(text) => Secret::new(text),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let made = MasterKey::generate()?;
            write_private(&path, made.expose())?;
            made
        }
        Err(error) => return Err(Failure::file("read the sandbox's master key in", &path, &error)),
    };
    Ok(MasterKey::from_setting(&text)?)
}

/// What an earlier start kept; a file that cannot be understood is made again.
fn read_kept(path: &Path) -> Result<Value, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(Failure::file("read", path, &error)),
    }
}

fn kept_text(kept: &Value, field: &str) -> Option<Secret> {
    kept.get(field).and_then(Value::as_str).map(Secret::new)
}

fn sandbox_json(access: &Access) -> Value {
    let simulator = |wire: &str, api_key: &str| json!({ "baseUrl": simulator_url(&access.base_url, wire), "apiKey": api_key });
    json!({
        "baseUrl": access.base_url,
        "adminToken": access.admin_token.expose(),
        "secretKey": access.secret_key.expose(),
        "publishableKey": access.publishable_key.expose(),
        "environmentId": access.environment.to_string(),
        "simulators": {
            "stripe": simulator("stripe", STRIPE_KEY),
            "square": simulator("square", SQUARE_TOKEN),
            "adyen": simulator("adyen", ADYEN_KEY),
            "increase": simulator("increase", INCREASE_KEY),
            "modern_treasury": simulator("modern_treasury", MODERN_TREASURY_KEY),
        },
    })
}

fn simulator_url(base_url: &str, wire: &str) -> String {
    format!("{base_url}{SIMULATOR_PATH}/{wire}")
}

// The simulated providers' credentials open nothing but the sandbox.
const STRIPE_KEY: &str = "sk_test_sandbox_card_provider_a";
const SQUARE_TOKEN: &str = "sandbox-access-token-card-provider-b";
const STRIPE_PUBLISHABLE_KEY: &str = "pk_test_sandbox_card_provider_a";
const SQUARE_APPLICATION: &str = "sandbox-sq0idb-demo";
const SQUARE_LOCATION: &str = "LDEMO";
const ADYEN_KEY: &str = "sandbox-api-key-card-provider-c";
const ADYEN_CLIENT_KEY: &str = "test_SANDBOX";
const ADYEN_MERCHANT: &str = "DemoShopECOM";
const ADYEN_HMAC_KEY: &str = "3B1F6E0A9C4D7285E6F1A0B3C8D29417A5E07F6C1B3D8294E0A7C5F61B2D8394";
const INCREASE_KEY: &str = "sandbox-api-key-ach-provider-a";
const INCREASE_ACCOUNT: &str = "account_sandbox";
const INCREASE_ACCOUNT_NUMBER: &str = "account_number_sandbox";
const MODERN_TREASURY_KEY: &str = "sandbox-api-key-ach-provider-b";
const MODERN_TREASURY_ORGANIZATION: &str = "organization-sandbox";
const MODERN_TREASURY_ACCOUNT: &str = "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a0b";

/// So many ended objects of each kind are kept at the simulated providers, so that the sandbox stays small however long it runs.
const SIMULATOR_OBJECTS_MAX: usize = 5_000;
/// Long enough to see a transfer under way, short enough to wait for.
const ACH_SETTLES_AFTER_MS: u64 = 10_000;

/// Where the simulated providers are, below the sandbox's own address.
const SIMULATOR_PATH: &str = "/simulator";

/// All providers and two ACH channels can be reached without editing anything.
fn demo_configuration(base_url: &str) -> Value {
    let fee = |provider: &str,
               method: &str,
               channel: &str,
               currency: &str,
               platform: (&str, u16),
               organization: (&str, u16)| {
        json!({
            "provider": provider, "paymentMethod": method, "channel": channel, "currency": currency,
            "platform": {"enabled": true, "fixedFeeMinor": platform.0, "percentFeeBps": platform.1},
            "organization": {"enabled": true, "fixedFeeMinor": organization.0, "percentFeeBps": organization.1,
                             "minimumFeeMinor": "10", "capFeeMinor": "500"},
        })
    };
    json!({
        "providers": {
            "card_provider_a": {
                "adapter": "stripe",
                "credentials": {"secretKey": STRIPE_KEY, "publishableKey": STRIPE_PUBLISHABLE_KEY,
                                "webhookSecret": "whsec_sandbox_card_provider_a"},
                "baseUrl": simulator_url(base_url, "stripe"),
            },
            "card_provider_b": {
                "adapter": "square",
                "credentials": {"accessToken": SQUARE_TOKEN, "applicationId": SQUARE_APPLICATION,
                                "locationId": SQUARE_LOCATION, "webhookSignatureKey": "sandbox-signature-key-b"},
                "environment": "sandbox",
                "baseUrl": simulator_url(base_url, "square"),
            },
            "card_provider_c": {
                "adapter": "adyen",
                "credentials": {"apiKey": ADYEN_KEY, "clientKey": ADYEN_CLIENT_KEY, "hmacKey": ADYEN_HMAC_KEY},
                "merchantAccount": ADYEN_MERCHANT,
                "environment": "sandbox",
                "baseUrl": simulator_url(base_url, "adyen"),
            },
            "ach_provider_a": {
                "adapter": "increase",
                "credentials": {"apiKey": INCREASE_KEY, "webhookSecret": "sandbox-webhook-secret-ach"},
                "funding": {"accountId": INCREASE_ACCOUNT, "accountNumberId": INCREASE_ACCOUNT_NUMBER,
                            "companyName": "Demo shop"},
                "baseUrl": simulator_url(base_url, "increase"),
            },
            "ach_provider_b": {
                "adapter": "modern_treasury",
                "credentials": {"organizationId": MODERN_TREASURY_ORGANIZATION, "apiKey": MODERN_TREASURY_KEY,
                                "webhookKey": "sandbox-webhook-key-ach-b"},
                "funding": {"originatingAccountId": MODERN_TREASURY_ACCOUNT, "companyName": "Demo shop"},
                "environment": "sandbox",
                "baseUrl": simulator_url(base_url, "modern_treasury"),
            },
        },
        "routing": {
            "web_card": {
                "enabled": true,
                "rules": [{
                    "id": "rule_large", "enabled": true,
                    "conditions": [{"id": "cond_amount", "field": "amountMinor", "op": "gte", "value": "100000"}],
                    "target": {"provider": "card_provider_b", "channel": "web_card"},
                }, {
                    "id": "rule_acquirer_c", "enabled": true,
                    "conditions": [{"id": "cond_acquirer", "field": "metadata.acquirer", "op": "eq", "value": "c"}],
                    "target": {"provider": "card_provider_c", "channel": "web_card"},
                }],
                "default": {"provider": "card_provider_a", "channel": "web_card"},
            },
            "ach": {
                "enabled": true,
                "rules": [{
                    "id": "rule_same_day", "enabled": true,
                    "conditions": [{"id": "cond_speed", "field": "metadata.speed", "op": "eq", "value": "same_day"}],
                    "target": {"provider": "ach_provider_a", "channel": "same_day_ach"},
                }, {
                    "id": "rule_bank_b", "enabled": true,
                    "conditions": [{"id": "cond_bank", "field": "metadata.bank", "op": "eq", "value": "b"}],
                    "target": {"provider": "ach_provider_b", "channel": "standard_ach"},
                }],
                "default": {"provider": "ach_provider_a", "channel": "standard_ach"},
            },
        },
        "fees": [
            fee("card_provider_a", "web_card", "none", "USD", ("30", 290), ("0", 50)),
            fee("card_provider_a", "web_card", "none", "EUR", ("25", 250), ("0", 50)),
            fee("card_provider_b", "web_card", "none", "USD", ("15", 260), ("0", 40)),
            fee("card_provider_b", "web_card", "none", "EUR", ("15", 240), ("0", 40)),
            fee("card_provider_c", "web_card", "none", "USD", ("20", 270), ("0", 40)),
            fee("card_provider_c", "web_card", "none", "EUR", ("15", 230), ("0", 40)),
            fee("ach_provider_a", "ach", "standard_ach", "USD", ("25", 0), ("0", 10)),
            fee("ach_provider_a", "ach", "same_day_ach", "USD", ("75", 5), ("0", 20)),
            fee("ach_provider_b", "ach", "standard_ach", "USD", ("20", 0), ("0", 10)),
        ],
        "settings": {"strictFields": true},
    })
}

/// Only this user may look inside: keys and the database live there.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), Failure> {
    let created = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.map_err(|error| Failure::file("create the data folder", path, &error))
}

/// Writes a file only this user may read, whole or not at all.
fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    let half = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&half)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&half, path)
    };
    write().map_err(|error| Failure::file("write", path, &error))
}
