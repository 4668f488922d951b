//! API keys.

use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    key_scope::{Endpoint, KeyScope},
    tenant::KeyKind,
};
use tollgate_engine::ports::{DirectoryVersion, Issued, KeyUse, Page, Revoked, Rotated, StoreError};

use super::{Nodes, at, issued};

pub async fn issuing_is_repeatable(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let mut key = nodes.new_key(environment.id);
    key.kind = KeyKind::Publishable;
    let first = issued(nodes.one.issue_key(&key).await.unwrap());
    let again = issued(nodes.two.issue_key(&key).await.unwrap());
    assert_eq!(first, again, "nothing changed the second time");
    assert_eq!(nodes.two.key(environment.id, key.id).await.unwrap().as_ref(), Some(&key));
    assert_eq!(nodes.two.key(environment.id, KeyId::from_bytes([9; 16])).await.unwrap(), None);
    assert_eq!(nodes.keys(environment.id).await, [key]);

    let lost = nodes.new_key(EnvironmentId::from_bytes([9; 16]));
    assert_eq!(nodes.one.issue_key(&lost).await.unwrap(), Issued::EnvironmentMissing);
    assert!(nodes.keys(lost.environment).await.is_empty());
}

pub async fn a_digest_opens_one_key(nodes: &Nodes) {
    let (one, two) = (nodes.environment().await, nodes.environment().await);
    let key = nodes.key(one.id).await;
    let mut copy = nodes.new_key(two.id);
    copy.digest = key.digest;
    let before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
    assert!(matches!(nodes.two.issue_key(&copy).await, Err(StoreError::Broken(_))));
    assert!(nodes.keys(two.id).await.is_empty());
    assert_eq!(nodes.one.directory_since(before).await.unwrap().version, before, "undone as a whole");
}

pub async fn revocation_stays(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let key = nodes.key(environment.id).await;
    let first = nodes.one.revoke_key(environment.id, key.id, at(100)).await.unwrap();
    assert!(matches!(first, Revoked::Done(_)));
    let again = nodes.two.revoke_key(environment.id, key.id, at(200)).await.unwrap();
    assert_eq!(first, again, "nothing changed the second time");
    assert_eq!(nodes.keys(environment.id).await[0].revoked_at, Some(at(100)), "the first moment stays");
    let found =
        nodes.two.key(environment.id, key.id).await.unwrap().expect("a revoked key can still be found");
    assert_eq!(found.revoked_at, Some(at(100)));
    // Not even issuing it again brings it back.
    issued(nodes.one.issue_key(&key).await.unwrap());
    assert_eq!(nodes.keys(environment.id).await[0].revoked_at, Some(at(100)));

    let unknown = KeyId::from_bytes([9; 16]);
    assert_eq!(nodes.one.revoke_key(environment.id, unknown, at(100)).await.unwrap(), Revoked::Missing);
}

pub async fn revocation_leaves_the_delta(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let (kept, revoked) = (nodes.key(environment.id).await, nodes.key(environment.id).await);
    let mut expired = nodes.new_key(environment.id);
    expired.expires_at = Some(at(-5));
    let before = issued(nodes.one.issue_key(&expired).await.unwrap());
    let answer = nodes.one.revoke_key(environment.id, revoked.id, at(100)).await.unwrap();
    let delta = nodes.two.directory_since(before).await.unwrap();
    assert_eq!(answer, Revoked::Done(delta.version));
    assert_eq!(delta.environments.len(), 1);
    assert_eq!(delta.environments[0].keys, [kept, expired], "expired keys stay, revoked ones go");
}

pub async fn rotation_is_both_or_neither(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let old = nodes.key(environment.id).await;
    let new = nodes.new_key(environment.id);
    let before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
    let rotated = nodes.one.rotate_key(environment.id, old.id, &new, at(1_000)).await.unwrap();
    let delta = nodes.two.directory_since(before).await.unwrap();
    assert_eq!(rotated, Rotated::Done(delta.version));
    let keys = nodes.keys(environment.id).await;
    assert_eq!(keys.len(), 2);
    assert_eq!((keys[0].expires_at, keys[0].replaced_by), (Some(at(1_000)), Some(new.id)));
    assert_eq!(keys[1], new);
    assert_eq!(delta.environments[0].keys, keys);

    // A replacement that cannot be stored leaves the old key as it is.
    let mut copy = nodes.new_key(environment.id);
    copy.digest = old.digest;
    assert!(nodes.one.rotate_key(environment.id, new.id, &copy, at(2_000)).await.is_err());
    assert_eq!(nodes.keys(environment.id).await, keys);
    assert_eq!(nodes.one.directory_since(delta.version).await.unwrap().version, delta.version);
}

pub async fn rotation_is_repeatable(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let old = nodes.key(environment.id).await;
    let new = nodes.new_key(environment.id);
    let first = nodes.one.rotate_key(environment.id, old.id, &new, at(1_000)).await.unwrap();
    let again = nodes.two.rotate_key(environment.id, old.id, &new, at(9_000)).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(nodes.keys(environment.id).await[0].expires_at, Some(at(1_000)), "the first end stays");
    // Also once both are revoked, a repetition is told that it was done.
    nodes.one.revoke_key(environment.id, old.id, at(1_500)).await.unwrap();
    let later = nodes.two.rotate_key(environment.id, old.id, &new, at(1_000)).await.unwrap();
    assert!(matches!(later, Rotated::Done(_)), "{later:?}");
    assert_eq!(nodes.keys(environment.id).await.len(), 2);
}

pub async fn only_live_keys_rotate(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let rotate = async |key: KeyId| {
        nodes.two.rotate_key(environment.id, key, &nodes.new_key(environment.id), at(90_000)).await.unwrap()
    };
    let revoked = nodes.key(environment.id).await;
    nodes.one.revoke_key(environment.id, revoked.id, at(1)).await.unwrap();
    assert_eq!(rotate(revoked.id).await, Rotated::NotLive);

    let rotated = nodes.key(environment.id).await;
    assert!(matches!(rotate(rotated.id).await, Rotated::Done(_)));
    assert_eq!(rotate(rotated.id).await, Rotated::NotLive, "once is enough, though it still opens");

    let mut expiring = nodes.new_key(environment.id);
    let replacement = nodes.new_key(environment.id);
    expiring.expires_at = Some(replacement.created_at);
    issued(nodes.one.issue_key(&expiring).await.unwrap());
    let late = nodes.one.rotate_key(environment.id, expiring.id, &replacement, at(90_000)).await.unwrap();
    assert_eq!(late, Rotated::NotLive, "a key is refused from the moment of its end");
    let mut earlier = replacement.clone();
    earlier.created_at = Timestamp::from_unix_millis(replacement.created_at.unix_millis() - 1);
    let in_time = nodes.one.rotate_key(environment.id, expiring.id, &earlier, at(90_000)).await.unwrap();
    assert!(matches!(in_time, Rotated::Done(_)));

    assert_eq!(rotate(KeyId::from_bytes([9; 16])).await, Rotated::Missing);
}

pub async fn keys_are_pages_by_id(nodes: &Nodes) {
    let environment = nodes.environment().await;
    let keys: Vec<_> = (0..5).map(|_| nodes.new_key(environment.id)).collect();
    for key in keys.iter().rev() {
        issued(nodes.one.issue_key(key).await.unwrap());
    }
    let page = async |after| nodes.two.keys(environment.id, Page { after, limit: 2 }).await.unwrap();
    assert_eq!(page(None).await, keys[..2]);
    assert_eq!(page(Some(keys[1].id)).await, keys[2..4]);
    assert_eq!(page(Some(keys[3].id)).await, keys[4..]);
    assert!(page(Some(keys[4].id)).await.is_empty());
}

pub async fn a_key_keeps_its_name_and_limits(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut key = nodes.new_key(environment);
    key.name = Some("Billing, \"nightly\"".to_owned());
    key.scope = KeyScope {
        endpoints: Some(Endpoint::ALL[..3].to_vec()),
        addresses: Some(vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::7".parse().unwrap()]),
    };
    key.expires_at = Some(at(5_000));
    let version = issued(nodes.one.issue_key(&key).await.unwrap());
    assert_eq!(nodes.keys(environment).await, [key.clone()]);
    let before = DirectoryVersion(version.0 - 1);
    assert_eq!(nodes.two.directory_since(before).await.unwrap().environments[0].keys, [key.clone()]);
    // A key that ends sooner than the grace period is not kept alive by its rotation.
    let mut new = nodes.new_key(environment);
    new.created_at = at(-1);
    nodes.two.rotate_key(environment, key.id, &new, at(9_000)).await.unwrap();
    assert_eq!(nodes.keys(environment).await[0].expires_at, Some(at(5_000)));
}

pub async fn the_last_use_of_a_key_is_the_latest(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (key, other) = (nodes.key(environment).await, nodes.key(environment).await);
    let version = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
    let used = |moment| KeyUse { environment, key: key.id, at: at(moment) };
    nodes.one.record_requests(&[], &[], &[used(100)]).await.unwrap();
    nodes.two.record_requests(&[], &[], &[used(50)]).await.unwrap();
    let last = async |id| nodes.two.key(environment, id).await.unwrap().unwrap().last_used_at;
    assert_eq!(last(key.id).await, Some(at(100)), "what another node writes later may be older");
    assert_eq!(last(other.id).await, None);
    nodes.two.record_requests(&[], &[], &[used(200)]).await.unwrap();
    assert_eq!(last(key.id).await, Some(at(200)));
    let now = nodes.one.directory_since(version).await.unwrap().version;
    assert_eq!(now, version, "no node reads its keys again because of it");
}
