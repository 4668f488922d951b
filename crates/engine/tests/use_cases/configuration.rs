//! Putting a configuration in force.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::{Flow, card::Preparation};
use tollgate_engine::{ConfigureError, Configured, ports::StoreError};

use crate::support::{
    config,
    every_step::{UseCase, fails_at_every_step},
    requests::origin,
    world::World,
};

/// A configuration that can be told from the first one.
fn changed() -> Value {
    let mut document = config::document();
    document["settings"]["preparationLifetimeSeconds"] = json!(3_600);
    document
}

async fn stored_version(world: &World) -> u64 {
    world.store.config(world.environment).await.unwrap().unwrap().version
}

/// An operator puts a configuration in force, with or without naming the version it replaces.
struct Put<const EXPECTS: bool>;

impl<const EXPECTS: bool> UseCase for Put<EXPECTS> {
    type Answer = Result<u64, ConfigureError>;

    async fn given(world: &World) -> Self {
        assert_eq!(stored_version(world).await, 1);
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let engine = world.engine();
        let put = engine.put_config(world.environment, changed(), EXPECTS.then_some(1), origin()).await;
        put.map(|applied| match applied.outcome {
            Configured::InForce { version } => version,
            proposed @ Configured::Proposed { .. } => panic!("{proposed:?}"),
        })
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let version = stored_version(world).await;
        for answer in answers.iter().flatten() {
            match answer {
                Ok(put) => assert!(*put <= version),
                // The first request stored it and its answer was lost.
                Err(ConfigureError::Stale { current }) => assert!(EXPECTS && *current == 2),
                Err(error) => assert!(matches!(error, ConfigureError::Store(_)), "{error:?}"),
            }
        }
        match answers {
            [Some(Ok(put))] => assert_eq!((*put, version), (2, 2)),
            [Some(Err(ConfigureError::Store(StoreError::Unavailable(_))))] => assert_eq!(version, 1),
            [_] => assert!(version <= 2),
            _ if EXPECTS => assert_eq!(version, 2, "put once, however often it is asked for"),
            _ => assert!(matches!(answers, [_, Some(Ok(put))] if *put == version), "{answers:?}"),
        }
        // What the node's follower does within a second.
        world.engine().directory().refresh().await.unwrap();
        world.engine().directory().compile_pending().await.unwrap();
        let view = world.view();
        assert_eq!(view.config_version, version);
        let lifetime = view.configuration.settings.preparation_lifetime_seconds;
        assert_eq!(lifetime, (version > 1).then_some(3_600));
    }
}

#[tokio::test(start_paused = true)]
async fn putting_a_configuration_survives_every_fault() {
    fails_at_every_step::<Put<false>>().await;
}

#[tokio::test(start_paused = true)]
async fn putting_a_configuration_made_from_another_survives_every_fault() {
    fails_at_every_step::<Put<true>>().await;
}

#[tokio::test(start_paused = true)]
async fn a_faulty_document_changes_nothing() {
    let world = World::new().await;
    for document in [json!([]), json!({ "providers": { "a": {} } }), json!({ "unknown": 1 })] {
        let put = world.engine().put_config(world.environment, document.clone(), None, origin()).await;
        assert!(matches!(put, Err(ConfigureError::Faulty(_))), "{document}: {put:?}");
    }
    assert_eq!((stored_version(&world).await, world.view().config_version), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_masked_secret_keeps_what_is_stored() {
    let world = World::new().await;
    let masked = world.engine().config_document(world.environment, None).await.unwrap().document;
    assert!(!masked.to_string().contains("key of account"), "{masked}");
    world.configure(masked).await;
    world.send("a caller's key", 10_000).await.unwrap();
    assert_eq!(world.providers.records().transfer().account, 'a');
}

/// The attack: read the document, point a provider elsewhere, and have the next payment carry the secret there.
#[tokio::test(start_paused = true)]
async fn a_masked_secret_is_not_kept_at_another_address() {
    let world = World::new().await;
    let masked = world.engine().config_document(world.environment, None).await.unwrap().document;
    for (field, value) in [("baseUrl", json!("https://collector.example")), ("environment", json!("sandbox"))]
    {
        let mut moved = masked.clone();
        moved["providers"][config::BANK][field] = value;
        let put = world.engine().put_config(world.environment, moved.clone(), None, origin()).await;
        assert!(matches!(put, Err(ConfigureError::Faulty(_))), "{field}: {put:?}");
        let checked = world.engine().check_config(world.environment, moved).await;
        assert!(matches!(checked, Err(ConfigureError::Faulty(_))), "{field}: {checked:?}");
    }
    assert_eq!(stored_version(&world).await, 1);
}

/// The same in two steps: an address planted with made-up secrets, then restored over the real ones.
#[tokio::test(start_paused = true)]
async fn a_restored_version_does_not_take_the_current_secrets_to_its_old_address() {
    let world = World::new().await;
    let mut planted = config::document();
    planted["providers"][config::BANK]["baseUrl"] = json!("https://collector.example");
    world.configure(planted).await;
    world.configure(config::document()).await;
    let restored = world.engine().restore_config(world.environment, 2, 3, origin()).await;
    assert!(matches!(restored, Err(ConfigureError::Faulty(_))), "{restored:?}");
    let restored = world.engine().restore_config(world.environment, 1, 3, origin()).await.unwrap();
    assert_eq!(restored, Configured::InForce { version: 4 });
}

/// Thousands of rules take seconds to compile, and a task that computes for seconds holds up all others.
#[tokio::test(start_paused = true)]
async fn a_configuration_of_the_past_is_compiled_beside_the_tasks() {
    let world = World::new().await;
    let payment = world.prepared(Flow::HostedCheckout, 10_000).await;
    world.configure(changed()).await;
    let before = world.computed();
    // What a payment is shown with.
    world.engine().config_version(world.environment, payment.order.config_version).await.unwrap();
    let shown = world.computed();
    assert_eq!(shown, before + 1);
    // What it expires with.
    tokio::time::sleep(Duration::from_hours(25)).await;
    world.resolve().await;
    let expired = world.payment(payment.order.id).await;
    assert_eq!(expired.progress.preparation, Preparation::Expired);
    assert_eq!(world.computed(), shown + 1);
}
