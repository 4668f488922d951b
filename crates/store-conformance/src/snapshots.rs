//! What a node keeps in memory follows the store: keys at once, configurations when they are compiled.

use std::sync::Arc;

use serde_json::{Value, json};
use tollgate_configuration::{Configuration, built_in_fee_rules};
use tollgate_domain::{id::EnvironmentId, tenant::KeyRecord};
use tollgate_engine::{Directory, EnvironmentView, Process, ports::Store};
use tollgate_vault::{Digest, MasterKey, Sealer};

use super::{Nodes, at, issued, put};

/// As many rules as an environment may reasonably have.
const MANY: usize = 20_000;

fn sealer() -> Sealer {
    MasterKey::from_setting(&MasterKey::generate().unwrap()).unwrap().sealer("configuration")
}

fn stored(rules: usize, environment: EnvironmentId, sealer: &Sealer) -> String {
    let target = json!({"provider": "cards", "channel": "web_card"});
    let rule = |number| {
        json!({"id": format!("rule_{number}"), "enabled": true, "target": target,
               "conditions": [{"id": "c", "field": "metadata.shop", "op": "eq", "value": format!("shop {number}")}]})
    };
    let rules: Vec<Value> = (0..rules).map(rule).collect();
    let document = json!({
        "providers": {"cards": {"adapter": "stripe", "credentials": {"secretKey": "a secret"}}},
        "routing": {"web_card": {"enabled": true, "rules": rules, "default": target}},
    });
    let read = Configuration::read(&document, &Configuration::default());
    read.unwrap().to_stored(environment, sealer).unwrap()
}

async fn directory(node: &Arc<dyn Store>, sealer: &Sealer) -> Arc<Directory> {
    Arc::new(
        Directory::load(Arc::new(Process), Arc::clone(node), sealer.clone(), built_in_fee_rules())
            .await
            .unwrap(),
    )
}

fn view(directory: &Directory, environment: EnvironmentId) -> Arc<EnvironmentView> {
    Arc::clone(directory.snapshot().environment(environment).unwrap())
}

fn opens(directory: &Directory, key: &KeyRecord) -> bool {
    directory.snapshot().authenticate(Digest::from_bytes(key.digest), at(1)).is_ok()
}

impl Nodes {
    /// Puts a configuration of so many rules in the place of a version.
    async fn configure(&self, environment: EnvironmentId, from: u64, rules: usize, sealer: &Sealer) -> u64 {
        let change = self.new_change(from, &stored(rules, environment, sealer));
        put(self.one.put_config(environment, &change).await.unwrap()).0
    }

    async fn revoke(&self, key: &KeyRecord) {
        self.one.revoke_key(key.environment, key.id, at(1)).await.unwrap();
    }
}

/// Whatever happens to its keys, the compiled rules of an environment stay the very same.
pub async fn a_key_change_shares_the_configuration(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let sealer = sealer();
    let revoked = nodes.key(environment).await;
    nodes.configure(environment, 0, MANY, &sealer).await;
    let directory = directory(&nodes.two, &sealer).await;
    let before = view(&directory, environment);
    assert_eq!((before.config_version, before.configuration.web_card.rules().len()), (1, MANY));
    assert!(opens(&directory, &revoked));

    let kept = nodes.key(environment).await;
    nodes.revoke(&revoked).await;
    directory.refresh().await.unwrap();
    let after = view(&directory, environment);
    assert!(Arc::ptr_eq(&before.configuration, &after.configuration), "nothing was compiled anew");
    assert_eq!((opens(&directory, &revoked), opens(&directory, &kept)), (false, true));
    let version = issued(nodes.one.issue_key(&nodes.new_key(environment)).await.unwrap());
    directory.catch_up(version).await;
    assert_eq!(directory.snapshot().version(), version);
    assert!(Arc::ptr_eq(&before.configuration, &view(&directory, environment).configuration));
}

pub async fn keys_do_not_wait_for_a_configuration(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let sealer = sealer();
    let [first, second] = [nodes.key(environment).await, nodes.key(environment).await];
    nodes.configure(environment, 0, 1, &sealer).await;
    let directory = directory(&nodes.two, &sealer).await;
    let before = view(&directory, environment);

    // A large configuration is there and not compiled: keys change all the same, under the one before.
    nodes.configure(environment, 1, MANY, &sealer).await;
    nodes.revoke(&first).await;
    directory.refresh().await.unwrap();
    assert!(!opens(&directory, &first) && opens(&directory, &second));
    let meanwhile = view(&directory, environment);
    assert_eq!(meanwhile.config_version, 1);
    assert!(Arc::ptr_eq(&before.configuration, &meanwhile.configuration));

    // Also while it is being compiled. Whichever ends first, neither undoes the other.
    let compiling = tokio::spawn({
        let directory = Arc::clone(&directory);
        async move { directory.compile_pending().await.unwrap() }
    });
    nodes.revoke(&second).await;
    directory.refresh().await.unwrap();
    assert!(!opens(&directory, &second));
    compiling.await.unwrap();
    let compiled = view(&directory, environment);
    assert_eq!((compiled.config_version, compiled.configuration.web_card.rules().len()), (2, MANY));
    assert!(!opens(&directory, &first) && !opens(&directory, &second), "revoked stays revoked");

    // An environment that is new here is shown with its configuration, and not before.
    let other = nodes.environment().await.id;
    let key = nodes.key(other).await;
    nodes.configure(other, 0, 3, &sealer).await;
    directory.refresh().await.unwrap();
    assert!(directory.snapshot().environment(other).is_none() && !opens(&directory, &key));
    directory.compile_pending().await.unwrap();
    assert!(opens(&directory, &key));
    assert_eq!(view(&directory, other).configuration.web_card.rules().len(), 3);
}

pub async fn a_configuration_that_cannot_be_used_leaves_the_one_before(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let sealer = sealer();
    let key = nodes.key(environment).await;
    nodes.configure(environment, 0, 2, &sealer).await;
    let directory = directory(&nodes.two, &sealer).await;
    let before = view(&directory, environment);
    put(nodes.one.put_config(environment, &nodes.new_change(1, "not a document")).await.unwrap());
    nodes.revoke(&key).await;
    for _ in 0..2 {
        directory.refresh().await.unwrap();
        directory.compile_pending().await.unwrap();
        assert!(!opens(&directory, &key));
        let after = view(&directory, environment);
        assert_eq!(after.config_version, 1);
        assert!(Arc::ptr_eq(&before.configuration, &after.configuration));
    }
    nodes.configure(environment, 2, 5, &sealer).await;
    directory.refresh().await.unwrap();
    directory.compile_pending().await.unwrap();
    assert_eq!(view(&directory, environment).config_version, 3);
}
