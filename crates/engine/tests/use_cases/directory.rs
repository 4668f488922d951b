//! The directory in memory follows the store, whatever happens to the store.

use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use tollgate_configuration::Adapter;
use tollgate_domain::{
    id::EnvironmentId,
    tenant::{EnvironmentName, KeyKind},
};
use tollgate_engine::{
    Engine, NewKey, StartError, SystemClock,
    ports::{Adapters, Capabilities},
};
use tollgate_store::Options;
use tollgate_vault::{Digest, MasterKey, Secret};

use crate::support::requests::origin;

/// The directory calls nobody.
struct NoWires;

impl Adapters for NoWires {
    fn capabilities(&self, _: Adapter) -> Capabilities<'_> {
        Capabilities::default()
    }
}

struct World {
    folder: TempDir,
    engine: Engine,
    environment: EnvironmentId,
}

fn master_key(text: &str) -> MasterKey {
    MasterKey::from_setting(&Secret::new(text)).unwrap()
}

const MASTER_KEY: &str = "a master key for these tests, long enough";

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let engine = start(&folder, MASTER_KEY).await.unwrap();
        let organization = engine.create_organization("Acme".to_owned(), &origin()).await.unwrap();
        let application =
            engine.create_application(organization.id, "Shop".to_owned(), &origin()).await.unwrap();
        let name = EnvironmentName::parse("test").unwrap();
        let environment = engine.create_environment(application.id, name, &origin()).await.unwrap().id;
        Self { folder, engine, environment }
    }

    async fn key(&self) -> NewKey {
        self.engine.issue_key(self.environment, KeyKind::Secret, origin()).await.unwrap()
    }

    fn opens(&self, key: &NewKey) -> bool {
        let snapshot = self.engine.directory().snapshot();
        snapshot.authenticate(Digest::of(key.key.expose()), key.record.created_at).is_ok()
    }

    async fn configure(&self, provider: &str) {
        let document = json!({ "providers": { provider: { "adapter": "stripe" } } });
        self.engine.put_config(self.environment, document, None, origin()).await.unwrap();
    }

    fn has_provider(&self, provider: &str) -> bool {
        let snapshot = self.engine.directory().snapshot();
        snapshot.environment(self.environment).unwrap().configuration.providers.get(provider).is_some()
    }

    /// Changes the database behind the engine's back, as a restored backup or a damaged disk would.
    fn tamper(&self, statements: &str) {
        let connection = rusqlite::Connection::open(self.folder.path().join("t.db")).unwrap();
        connection.execute_batch(statements).unwrap();
    }
}

async fn start(folder: &TempDir, key: &str) -> Result<Engine, StartError> {
    let url = format!("sqlite:{}", folder.path().join("t.db").display()).parse().unwrap();
    let store = tollgate_store::open(&url, &Options::default()).await.unwrap();
    let options = tollgate_engine::Options::at("http://127.0.0.1");
    Engine::start(store, Arc::new(SystemClock), &master_key(key), Arc::new(NoWires), options).await
}

#[tokio::test]
async fn what_this_node_changes_is_in_force_when_it_answers() {
    let world = World::new().await;
    let key = world.key().await;
    assert!(world.opens(&key));
    world.configure("cards").await;
    assert!(world.has_provider("cards"));
    world.engine.revoke_key(world.environment, key.record.id, origin()).await.unwrap();
    assert!(!world.opens(&key));
}

#[tokio::test]
async fn a_database_put_back_to_an_earlier_state_is_read_anew() {
    let world = World::new().await;
    let (kept, lost) = (world.key().await, world.key().await);
    let lost_id = format!("{:032x}", u128::from_be_bytes(lost.record.id.to_bytes()));
    world.tamper(&format!(
        "UPDATE directory SET version = 1; UPDATE environments SET directory_version = 1;
         DELETE FROM api_keys WHERE id = x'{lost_id}';"
    ));
    world.engine.directory().refresh().await.unwrap();
    assert!(world.opens(&kept));
    assert!(!world.opens(&lost), "a key that was never issued in the restored database still opens");
    let new = world.key().await;
    assert!(world.opens(&new), "changes after the restoration are followed");
}

#[tokio::test]
async fn a_damaged_configuration_keeps_the_last_good_one_in_force_and_revocations_go_on() {
    let world = World::new().await;
    let key = world.key().await;
    world.configure("cards").await;
    world.tamper(
        "UPDATE config_versions SET document = 'damaged'; UPDATE directory SET version = version + 1;
         UPDATE environments SET directory_version = (SELECT version FROM directory);",
    );
    world.engine.directory().refresh().await.unwrap();
    assert!(world.has_provider("cards"));
    world.engine.revoke_key(world.environment, key.record.id, origin()).await.unwrap();
    assert!(!world.opens(&key) && world.has_provider("cards"));
}

/// As a node of this release meets what a later one has written.
#[tokio::test]
async fn a_configuration_with_an_unknown_field_is_told_until_another_replaces_it() {
    let world = World::new().await;
    world.configure("cards").await;
    let told = async || {
        let checks = world.engine.run_checks().await;
        checks.into_iter().find(|check| check.name == "configuration").map(|check| check.finding)
    };
    assert_eq!(told().await, None);
    let put = async |version: u64, document: &str| {
        world.tamper(&format!(
            "UPDATE config_versions SET version = {version}, document = {document};
             UPDATE environments SET config_version = {version};
             UPDATE directory SET version = version + 1;
             UPDATE environments SET directory_version = (SELECT version FROM directory);"
        ));
        world.engine.directory().refresh().await.unwrap();
        world.engine.directory().compile_pending().await.unwrap();
    };
    put(2, r#"'{"ofALaterRelease":1,' || substr(document, 2)"#).await;
    assert!(world.has_provider("cards"), "the one before stays in force");
    let finding = told().await.unwrap();
    assert!(finding.contains("cannot use configuration 2; configuration 1 is in force"), "{finding}");
    // A change of keys changes nothing about it, a change of the configuration does.
    world.key().await;
    assert!(told().await.is_some());
    put(3, r#"replace(document, '"ofALaterRelease":1,', '')"#).await;
    assert_eq!(told().await, None);
}

#[tokio::test]
async fn a_stored_api_version_that_is_no_longer_permitted_does_not_stop_the_provider() {
    let world = World::new().await;
    let version = "2025-09-30.clover";
    let document = |version: &str| json!({"providers": {"cards": {"adapter": "stripe", "options": {"apiVersion": version}}}});
    world.engine.put_config(world.environment, document(version), None, origin()).await.unwrap();
    world.tamper(&format!(
        "UPDATE config_versions SET document = replace(document, '{version}', '2024-06-20')"
    ));
    let World { folder, engine, environment } = world;
    drop(engine);
    // The release that no longer permits it starts on the same database.
    let engine = start(&folder, MASTER_KEY).await.unwrap();
    let world = World { folder, engine, environment };
    assert!(world.has_provider("cards"));
    let found = async || {
        let checks = world.engine.run_checks().await;
        assert!(checks.iter().all(|check| check.name != "configuration"), "{checks:?}");
        checks.into_iter().find(|check| check.name == "API version").map(|check| check.finding)
    };
    let finding = found().await.unwrap();
    assert!(finding.contains("providers.cards.options.apiVersion is `2024-06-20`"), "{finding}");
    let refused = world.engine.put_config(environment, document("2024-06-20"), None, origin()).await;
    assert!(refused.is_err(), "a new document has to name a permitted one");
    world.configure("cards").await;
    assert_eq!(found().await, None);
}

#[tokio::test]
async fn another_master_key_is_refused_at_start() {
    let world = World::new().await;
    let World { folder, engine, .. } = world;
    drop(engine);
    let refused = start(&folder, "another master key, just as long as the first").await;
    assert!(matches!(refused, Err(StartError::OtherMasterKey { .. })));
    start(&folder, MASTER_KEY).await.unwrap();
}
