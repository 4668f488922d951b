//! Keys: issued, rotated with grace, revoked.

use std::time::Duration;

use tokio::time::sleep;
use tollgate_domain::{
    key_scope::{Endpoint, KeyScope},
    tenant::{KeyKind, KeyRecord},
};
use tollgate_engine::{
    KeyError, KeyRejection, KeyRequest, NewKey, RotationRequest,
    ports::{Page, StoreError},
};
use tollgate_vault::Digest;

use crate::support::{
    every_step::{UseCase, fails_at_every_step},
    requests::origin,
    world::World,
};

const GRACE: Duration = Duration::from_hours(100);

async fn issue(world: &World) -> NewKey {
    world.engine().issue_key(world.environment, KeyKind::Secret, origin()).await.unwrap()
}

/// Whether the key authenticates once the node has caught up with the store.
async fn opens(world: &World, key: &NewKey) -> Result<(), KeyRejection> {
    world.engine().directory().refresh().await.unwrap();
    let (snapshot, now) = (world.engine().directory().snapshot().clone(), world.engine().clock().now());
    snapshot.authenticate(Digest::of(key.key.expose()), now).map(drop)
}

async fn keys(world: &World) -> Vec<KeyRecord> {
    world.store.keys(world.environment, Page { after: None, limit: 10 }).await.unwrap()
}

/// Whether the request failed because the store did.
fn is_store<T>(answer: &Result<T, KeyError>) -> bool {
    matches!(answer, Err(KeyError::Store(StoreError::Unavailable(_) | StoreError::Unknown(_))))
}

/// An operator issues a key; a retry issues another one.
struct Issue;

impl UseCase for Issue {
    type Answer = Result<NewKey, KeyError>;

    async fn given(_: &World) -> Self {
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().issue_key(world.environment, KeyKind::Secret, origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        for answer in answers.iter().flatten() {
            match answer {
                Ok(key) => assert_eq!(opens(world, key).await, Ok(())),
                failed => assert!(is_store(failed), "{failed:?}"),
            }
        }
        let issued = keys(world).await.len();
        match answers {
            [Some(Err(KeyError::Store(StoreError::Unavailable(_))))] => assert_eq!(issued, 0),
            [Some(Ok(_))] => assert_eq!(issued, 1),
            [_, again] => assert!(matches!(again, Some(Ok(_))), "{again:?}"),
            _ => assert!(issued <= 1),
        }
    }
}

/// An operator rotates a key. A key can be rotated once, so that a retry after a lost answer is refused.
struct Rotate(NewKey);

impl UseCase for Rotate {
    type Answer = Result<NewKey, KeyError>;

    async fn given(world: &World) -> Self {
        Self(issue(world).await)
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().rotate_key(world.environment, self.0.record.id, GRACE, origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let known = keys(world).await;
        let is_rotated = known[0].replaced_by.is_some();
        assert_eq!(known.len(), 1 + usize::from(is_rotated));
        for answer in answers.iter().flatten() {
            match answer {
                Ok(key) => assert_eq!(opens(world, key).await, Ok(())),
                Err(KeyError::NotLive) => assert!(is_rotated),
                failed => assert!(is_store(failed), "{failed:?}"),
            }
        }
        match answers {
            [Some(Err(KeyError::Store(StoreError::Unavailable(_))))] => assert!(!is_rotated),
            [Some(Ok(_))] | [_, _] => assert!(is_rotated),
            _ => {}
        }
        assert_eq!(opens(world, &self.0).await, Ok(()), "the old key has its grace");
    }
}

/// An operator revokes a key.
struct Revoke(NewKey);

impl UseCase for Revoke {
    type Answer = Result<KeyRecord, KeyError>;

    async fn given(world: &World) -> Self {
        Self(issue(world).await)
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().revoke_key(world.environment, self.0.record.id, origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        let opens = opens(world, &self.0).await;
        match answers {
            [Some(Err(KeyError::Store(_))) | None] => {}
            [Some(Ok(_))] | [_, Some(Ok(_))] => assert_eq!(opens, Err(KeyRejection::Unknown)),
            _ => panic!("{answers:?}"),
        }
        let revoked: Vec<_> = answers.iter().flatten().flatten().map(|record| record.revoked_at).collect();
        assert!(revoked.windows(2).all(|pair| pair[0] == pair[1]), "the first revocation stays: {revoked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn issuing_survives_every_fault() {
    fails_at_every_step::<Issue>().await;
}

#[tokio::test(start_paused = true)]
async fn rotating_survives_every_fault() {
    fails_at_every_step::<Rotate>().await;
}

#[tokio::test(start_paused = true)]
async fn revoking_survives_every_fault() {
    fails_at_every_step::<Revoke>().await;
}

#[tokio::test(start_paused = true)]
async fn a_rotated_key_ends_with_its_grace() {
    let world = World::new().await;
    let old = issue(&world).await;
    let new = world.engine().rotate_key(world.environment, old.record.id, GRACE, origin()).await.unwrap();
    sleep(GRACE - Duration::from_millis(1)).await;
    assert_eq!((opens(&world, &old).await, opens(&world, &new).await), (Ok(()), Ok(())));
    sleep(Duration::from_millis(1)).await;
    assert_eq!((opens(&world, &old).await, opens(&world, &new).await), (Err(KeyRejection::Expired), Ok(())));
}

#[tokio::test(start_paused = true)]
async fn a_limited_key_is_replaced_by_one_with_the_same_limits_and_lifetime() {
    let world = World::new().await;
    let engine = world.engine();
    let day = Duration::from_hours(24);
    let request = KeyRequest {
        kind: KeyKind::Secret,
        name: Some("Billing".to_owned()),
        scope: KeyScope {
            endpoints: Some(vec![Endpoint::ALL[0]]),
            addresses: Some(vec!["10.0.0.0/8".parse().unwrap()]),
        },
        expires_at: Some(engine.clock().now().saturating_add(30 * day)),
    };
    let old = engine.issue_key(world.environment, request, origin()).await.unwrap();
    assert_eq!(opens(&world, &old).await, Ok(()));
    sleep(29 * day).await;
    let new = engine.rotate_key(world.environment, old.record.id, 10 * day, origin()).await.unwrap();
    assert_eq!(new.record.name, old.record.name);
    assert_eq!(new.record.scope, old.record.scope);
    let lifetime = new.record.expires_at.unwrap().since(new.record.created_at);
    assert!(lifetime.abs_diff(30 * day) < Duration::from_mins(1), "{lifetime:?}");
    let listed = keys(&world).await;
    assert_eq!(listed[0].expires_at, old.record.expires_at, "rotation does not prolong the old one");
    sleep(2 * day).await;
    assert_eq!(opens(&world, &old).await, Err(KeyRejection::Expired));
    assert_eq!(opens(&world, &new).await, Ok(()));
    // What is given takes the place of what the old key had.
    let rotation = RotationRequest {
        name: Some("Shop".to_owned()),
        endpoints: Some(vec![Endpoint::ALL[1]]),
        ..RotationRequest::from(GRACE)
    };
    let newest = engine.rotate_key(world.environment, new.record.id, rotation, origin()).await.unwrap();
    assert_eq!(newest.record.name.as_deref(), Some("Shop"));
    assert_eq!(newest.record.scope.endpoints, Some(vec![Endpoint::ALL[1]]));
    assert_eq!(newest.record.scope.addresses, old.record.scope.addresses);
}

#[tokio::test(start_paused = true)]
async fn the_last_use_is_written_a_moment_later_and_by_nobody_who_waits() {
    let world = World::new().await;
    let engine = world.engine();
    let key = issue(&world).await;
    let last_used = async || keys(&world).await[0].last_used_at;
    let use_it = || {
        let now = engine.clock().now();
        let snapshot = engine.directory().snapshot().clone();
        snapshot.authenticate(Digest::of(key.key.expose()), now).unwrap().meters.used(now);
        now
    };
    let first = use_it();
    assert_eq!(last_used().await, None);
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let writing = tokio::spawn(world.engine().clone().log_requests_until(stopped));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(last_used().await, Some(first));
    sleep(Duration::from_mins(5)).await;
    let second = use_it();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(last_used().await, Some(second));
    stop.send_replace(true);
    writing.await.unwrap();
}
