//! Short-lived keys, ended sessions, and who changed what.

use tollgate_domain::{
    Timestamp,
    audit_log::NewAuditEntry,
    id::{KeyId, SealingKeyId},
};
use tollgate_engine::ports::{KeyAction, NewTransfer, SealingKey};

use super::{Nodes, at, audit_log::new_entry};

pub async fn every_change_of_a_key_says_whose_it_was(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (old, new, other) =
        (nodes.new_key(environment), nodes.new_key(environment), nodes.new_key(environment));
    let entry = |action: KeyAction, key: KeyId, request: &str| NewAuditEntry {
        environment: Some(environment),
        request: request.to_owned(),
        ..new_entry(action.audited(), &key.to_string())
    };
    for request in ["req_1", "req_2"] {
        let issuing = nodes.one.audited(vec![entry(KeyAction::Issued, old.id, request)]);
        issuing.issue_key(&old).await.unwrap();
    }
    for (node, request) in [(&nodes.one, "req_3"), (&nodes.two, "req_4")] {
        let entries =
            vec![entry(KeyAction::Rotated, old.id, request), entry(KeyAction::Issued, new.id, request)];
        node.audited(entries).rotate_key(environment, old.id, &new, at(9_000)).await.unwrap();
    }
    for (node, request) in [(&nodes.one, "req_5"), (&nodes.two, "req_6")] {
        let revoking = node.audited(vec![entry(KeyAction::Revoked, old.id, request)]);
        revoking.revoke_key(environment, old.id, at(3)).await.unwrap();
    }
    let viewed =
        NewAuditEntry { environment: Some(environment), ..new_entry("key.view", &old.id.to_string()) };
    nodes.one.add_audit_entries(&[viewed, entry(KeyAction::Issued, other.id, "req_7")]).await.unwrap();
    let changes = nodes.two.key_changes(environment, old.id, new.id).await.unwrap();
    let changes: Vec<_> =
        changes.iter().map(|change| (change.key, change.action, change.request.as_str())).collect();
    let expected = [
        (old.id, KeyAction::Issued, "req_1"),
        (old.id, KeyAction::Rotated, "req_3"),
        (old.id, KeyAction::Revoked, "req_5"),
        (new.id, KeyAction::Issued, "req_3"),
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
