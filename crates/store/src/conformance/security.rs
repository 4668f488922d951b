//! Short-lived keys, ended sessions, and who changed what.

use tollgate_domain::{Timestamp, id::SealingKeyId};
use tollgate_engine::ports::{KeyAction, NewTransfer, SealingKey};

use super::{Nodes, at, by, by_at};

pub async fn every_change_of_a_key_says_whose_it_was(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (old, new, other) =
        (nodes.new_key(environment), nodes.new_key(environment), nodes.key(environment).await);
    let (issuing, rotating, revoking) = (by_at(1), by_at(2), by_at(3));
    nodes.one.issue_key(&old, &issuing).await.unwrap();
    nodes.one.issue_key(&old, &by()).await.unwrap();
    nodes.one.rotate_key(environment, old.id, &new, at(9_000), &rotating).await.unwrap();
    nodes.two.rotate_key(environment, old.id, &new, at(9_000), &by()).await.unwrap();
    nodes.one.revoke_key(environment, old.id, &revoking).await.unwrap();
    nodes.two.revoke_key(environment, old.id, &by()).await.unwrap();
    let changes = nodes.two.key_changes(environment, old.id, new.id).await.unwrap();
    let changes: Vec<_> =
        changes.into_iter().map(|change| (change.key, change.action, change.origin)).collect();
    let expected = [
        (old.id, KeyAction::Issued, issuing),
        (old.id, KeyAction::Rotated, rotating.clone()),
        (old.id, KeyAction::Revoked, revoking),
        (new.id, KeyAction::Issued, rotating),
    ];
    assert_eq!(changes, expected, "a repetition is not another change");
    assert_eq!(nodes.two.key_changes(environment, other.id, other.id).await.unwrap().len(), 1);
    let elsewhere = nodes.environment().await.id;
    assert!(nodes.two.key_changes(elsewhere, old.id, new.id).await.unwrap().is_empty());
}

pub async fn a_sealing_key_is_destroyed_once_nothing_needs_it(nodes: &Nodes) {
    let key = |number: u8, created_at: Timestamp| SealingKey {
        id: SealingKeyId::from_bytes([number; 16]),
        sealed: format!("v1.abc.sealed-{number}"),
        created_at,
    };
    let (unused, needed, young) = (key(1, at(0)), key(2, at(0)), key(3, at(100)));
    nodes.one.put_sealing_keys(&[unused.clone(), needed.clone(), young.clone()]).await.unwrap();
    let changed = SealingKey { sealed: "another".to_owned(), ..unused.clone() };
    nodes.two.put_sealing_keys(&[changed]).await.unwrap();
    assert_eq!(nodes.two.sealing_key(unused.id).await.unwrap().as_ref(), Some(&unused), "the first stays");

    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let sealed_with = |new: &mut NewTransfer, key: &SealingKey| {
        new.progress.sealed_account = Some(format!("v1.{}.numbers", key.id));
    };
    let (mut waiting, mut legacy) = (nodes.new_transfer(environment), nodes.new_transfer(environment));
    sealed_with(&mut waiting, &needed);
    legacy.progress.sealed_account = Some("v1.0123456789abcdef.numbers-of-an-earlier-release".to_owned());
    nodes.reserve(&waiting).await;
    nodes.reserve(&legacy).await;
    assert_eq!(nodes.two.sealing_keys_in_use().await.unwrap(), [needed.id]);

    assert_eq!(nodes.one.destroy_sealing_keys(at(50)).await.unwrap(), 1);
    assert_eq!(nodes.two.destroy_sealing_keys(at(50)).await.unwrap(), 0);
    assert_eq!(nodes.two.sealing_key(unused.id).await.unwrap(), None);
    for kept in [&needed, &young] {
        assert_eq!(nodes.two.sealing_key(kept.id).await.unwrap().as_ref(), Some(kept));
    }
}

pub async fn an_ended_session_stays_ended(nodes: &Nodes) {
    let (ended, other) = ([7; 16], [8; 16]);
    assert!(!nodes.one.is_session_ended(&ended).await.unwrap());
    nodes.one.end_session(&ended, at(1_000), at(0)).await.unwrap();
    nodes.two.end_session(&ended, at(1_000), at(10)).await.unwrap();
    assert!(nodes.two.is_session_ended(&ended).await.unwrap());
    assert!(!nodes.two.is_session_ended(&other).await.unwrap());
    // Once it would have ended anyway, it need not be remembered.
    nodes.two.end_session(&other, at(9_000), at(1_001)).await.unwrap();
    assert!(!nodes.one.is_session_ended(&ended).await.unwrap());
    assert!(nodes.one.is_session_ended(&other).await.unwrap());
}
