//! Checking a provider live, and registering the webhook endpoint there.

use serde_json::Value;
use tollgate_engine::{CheckedProvider, ProviderCheckError};

use crate::support::{
    config::{self, INTENTS},
    every_step::{UseCase, fails_at_every_step},
    requests::origin,
    world::World,
};

/// An operator has the webhook endpoint registered.
struct Register;

impl UseCase for Register {
    type Answer = Result<CheckedProvider, ProviderCheckError>;

    async fn given(world: &World) -> Self {
        let mut document = config::document();
        document["providers"][INTENTS]["credentials"]["webhookSecret"] = Value::Null;
        world.configure(document).await;
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().check_provider(world.environment, INTENTS, true, origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let endpoints = world.providers.records().endpoints.clone();
        assert!(endpoints.len() <= 1, "never twice: {endpoints:?}");
        let config = world.engine().config(world.environment).await.unwrap();
        let stored = config.configuration.providers.get(INTENTS).unwrap().credential("webhookSecret");
        assert!(stored.is_none_or(|stored| endpoints.iter().any(|endpoint| endpoint.secret == stored)));
        for answer in answers.iter().flatten() {
            match answer {
                // A check that passed is correct.
                Ok(checked) if checked.is_ok() => assert!(stored.is_some(), "{checked:?}"),
                Ok(_) => {}
                Err(error) => assert!(!matches!(error, ProviderCheckError::Missing), "{error:?}"),
            }
        }
        if let [_, Some(last)] = answers {
            let last = last.as_ref().unwrap();
            assert!(last.is_ok(), "{last:?}");
            assert_eq!(last.config_version, config.version);
            let kept = world.store.provider_checks(world.environment).await.unwrap();
            assert_eq!((kept.len(), &kept[0].checks), (1, &last.checks));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_registered_once_whatever_fails() {
    fails_at_every_step::<Register>().await;
}

#[tokio::test(start_paused = true)]
async fn the_doctor_shows_the_last_check_until_the_configuration_changes() {
    let world = World::new().await;
    let engine = world.engine();
    let found = async || {
        let checks = world.engine().run_checks().await;
        let ours = checks.into_iter().filter(|check| check.name == "live check");
        ours.map(|check| check.finding).collect::<Vec<_>>()
    };
    assert!(found().await.is_empty());
    engine.check_provider(world.environment, INTENTS, false, origin()).await.unwrap();
    assert_eq!(found().await, ["intents: webhook_url: It does not send here."]);
    engine.check_provider(world.environment, INTENTS, true, origin()).await.unwrap();
    assert_eq!(found().await, ["intents passed all 2 checks"]);
    world.configure(config::document()).await;
    assert!(found().await[0].contains("was last tested with version"));
    let nobody = engine.check_provider(world.environment, "nobody", false, origin()).await;
    assert!(matches!(nobody, Err(ProviderCheckError::Missing)), "{nobody:?}");
}
