//! The audit log: entries go with their change or not at all, and none can be changed or taken out unnoticed.
//!
//! What tampering does to it is in each store's own tests.

use std::net::IpAddr;

use sha2::{Digest as _, Sha256};
use tollgate_domain::{
    audit_log::{ActorKind, AuditActor, AuditEntry, NewAuditEntry},
    id::{EnvironmentId, OrganizationId, TokenId, UserId},
};
use tollgate_engine::ports::{AUDIT_ACCEPTED, AUDIT_UNPROVED, AuditLogFilter};
use tollgate_vault::{Digester, MasterKey, Secret};

use super::{ALL, Nodes, at, issued};

pub fn new_entry(action: &str, subject: &str) -> NewAuditEntry {
    NewAuditEntry {
        at: at(5),
        actor: AuditActor { kind: ActorKind::Bootstrap, name: "admin".to_owned() },
        token: None,
        address: None,
        request: "req_1".to_owned(),
        action: action.to_owned(),
        organization: None,
        environment: None,
        subject: subject.to_owned(),
        before: None,
        after: None,
    }
}

fn audit_key() -> Digester {
    let master = Secret::new("a master key of thirty-two letters or more");
    MasterKey::from_setting(&master).unwrap().digester("audit log")
}

impl Nodes {
    /// As every engine does when it starts.
    async fn key_audit_log(&self) -> bool {
        let adopted = self.one.key_audit_log(&audit_key(), at(6)).await.unwrap();
        assert!(!self.two.key_audit_log(&audit_key(), at(6)).await.unwrap(), "once");
        adopted
    }

    pub async fn audit_log(&self, filter: &AuditLogFilter) -> Vec<AuditEntry> {
        self.two.audit_log(filter, None, ALL).await.unwrap()
    }

    async fn problem(&self) -> String {
        self.two.verify_audit_log().await.unwrap().problem.unwrap_or_default()
    }

    /// As an operator does who knows why.
    async fn accept(&self, entry: u64) {
        self.one.add_audit_entries(&[new_entry(AUDIT_ACCEPTED, &entry.to_string())]).await.unwrap();
    }

    pub async fn chain_is_whole(&self, entries: u64) {
        let chain = self.two.verify_audit_log().await.unwrap();
        assert_eq!((chain.entries, chain.problem), (entries, None));
    }
}

pub async fn a_log_from_before_the_key_is_accepted_once(nodes: &Nodes) {
    nodes
        .one
        .add_audit_entries(&[new_entry("key.issue", "key_1"), new_entry("key.issue", "key_2")])
        .await
        .unwrap();
    assert!(nodes.key_audit_log().await, "the log had entries");
    nodes.two.add_audit_entries(&[new_entry("key.issue", "key_3")]).await.unwrap();
    let all = nodes.audit_log(&AuditLogFilter::default()).await;
    assert_eq!(
        (all[1].entry.action.as_str(), all[0].hash),
        (AUDIT_UNPROVED, nodes.two.audit_head().await.unwrap().hash)
    );
    assert!(all[1].entry.before.as_ref().unwrap().contains("\"entries\":2"), "{:?}", all[1]);
    for entry in [0, 2, 4, u64::MAX] {
        nodes.accept(entry).await;
        assert!(
            nodes.problem().await.contains("entry 3 says that the 2 before it"),
            "{entry} is not that one"
        );
    }
    assert!(!nodes.key_audit_log().await, "after a restart");
    nodes.accept(3).await;
    nodes.chain_is_whole(9).await;
}

/// A log without entries in a database that has environments is not a new one.
pub async fn a_log_that_was_emptied_is_not_a_new_one(nodes: &Nodes) {
    nodes.environment().await;
    assert!(nodes.key_audit_log().await, "as if everything had been deleted, or never recorded");
    assert!(nodes.problem().await.contains("entry 1 says that the 0 before it"));
}

pub async fn entries_go_round(nodes: &Nodes) {
    assert!(!nodes.key_audit_log().await, "there was nothing to adopt");
    nodes.chain_is_whole(0).await;
    let user = UserId::from_bytes([1; 16]);
    let full = NewAuditEntry {
        actor: AuditActor { kind: ActorKind::User(user), name: "Ada <ada@example.com>".to_owned() },
        token: Some(TokenId::from_bytes([4; 16])),
        address: Some("2001:db8::7".parse::<IpAddr>().unwrap()),
        organization: Some(OrganizationId::from_bytes([2; 16])),
        environment: Some(EnvironmentId::from_bytes([3; 16])),
        before: Some(r#"{"version":1}"#.to_owned()),
        after: Some(r#"{"version":2}"#.to_owned()),
        at: at(9),
        ..new_entry("config.replace", "env")
    };
    let (system, anonymous) = (ActorKind::System, ActorKind::Anonymous);
    let of = |kind| NewAuditEntry {
        actor: AuditActor { kind, name: String::new() },
        ..new_entry("session.begin", "")
    };
    nodes.one.add_audit_entries(&[new_entry("key.issue", "key_1"), full.clone()]).await.unwrap();
    nodes.two.add_audit_entries(&[of(system), of(anonymous)]).await.unwrap();
    let all = nodes.audit_log(&AuditLogFilter::default()).await;
    assert_eq!(all.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [4, 3, 2, 1]);
    let entries: Vec<_> = all.iter().rev().map(|entry| entry.entry.clone()).collect();
    assert_eq!(entries, [new_entry("key.issue", "key_1"), full.clone(), of(system), of(anonymous)]);
    nodes.chain_is_whole(4).await;
    assert_eq!(nodes.one.verify_audit_log().await.unwrap().head, all[0].hash);

    let found = async |filter: AuditLogFilter| {
        nodes.audit_log(&filter).await.iter().map(|entry| entry.sequence).collect::<Vec<_>>()
    };
    let any = AuditLogFilter::default;
    assert_eq!(found(AuditLogFilter { user: Some(user), ..any() }).await, [2]);
    assert_eq!(found(AuditLogFilter { action: Some("session.begin".to_owned()), ..any() }).await, [4, 3]);
    assert_eq!(found(AuditLogFilter { subject: Some("key_1".to_owned()), ..any() }).await, [1]);
    assert_eq!(found(AuditLogFilter { environment: full.environment, ..any() }).await, [2]);
    assert_eq!(found(AuditLogFilter { from: Some(at(9)), ..any() }).await, [2]);
    assert_eq!(found(AuditLogFilter { until: Some(at(9)), ..any() }).await, [4, 3, 1]);
    let both = AuditLogFilter { user: Some(user), action: Some("key.issue".to_owned()), ..any() };
    assert!(found(both).await.is_empty());
    let page = nodes.two.audit_log(&any(), Some(4), 2).await.unwrap();
    assert_eq!(page.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [3, 2]);
}

pub async fn an_entry_goes_with_its_change(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let key = nodes.new_key(environment);
    let audited = nodes.one.audited(vec![new_entry("key.issue", "key")]);
    issued(audited.issue_key(&key).await.unwrap());
    issued(audited.issue_key(&key).await.unwrap());
    nodes.chain_is_whole(1).await;
    // What does not happen is not recorded, and what cannot be recorded does not happen.
    let elsewhere = nodes.new_key(EnvironmentId::from_bytes([9; 16]));
    audited.issue_key(&elsewhere).await.unwrap();
    let unstorable = nodes.one.audited(vec![new_entry("key.issue", "\0")]);
    let other = nodes.new_key(environment);
    let refused = unstorable.issue_key(&other).await;
    let kept = nodes.keys(environment).await;
    assert_eq!(kept.contains(&other), refused.is_ok(), "both or neither");
    nodes.chain_is_whole(if refused.is_ok() { 2 } else { 1 }).await;
    // Reading through it records nothing.
    audited.keys(environment, super::all()).await.unwrap();
    let organization = nodes.new_organization("Audited");
    let audited = nodes.two.audited(vec![new_entry("organization.create", "o"), new_entry("second", "o")]);
    audited.create_organization(&organization).await.unwrap();
    let all = nodes.audit_log(&AuditLogFilter::default()).await;
    let actions: Vec<_> = all.iter().take(2).map(|entry| entry.entry.action.as_str()).collect();
    assert_eq!(actions, ["second", "organization.create"]);
}

pub async fn many_writers_make_one_chain(nodes: &Nodes) {
    const EACH: u64 = 20;
    let environment = nodes.environment().await.id;
    let write = |name: &'static str, node: usize| {
        let nodes = nodes.clone();
        tokio::spawn(async move {
            for _ in 0..EACH {
                let store = if node == 0 { &nodes.one } else { &nodes.two };
                let key = nodes.new_key(environment);
                issued(store.audited(vec![new_entry(name, "key")]).issue_key(&key).await.unwrap());
                store.add_audit_entries(&[new_entry(name, "view")]).await.unwrap();
            }
        })
    };
    for task in [write("a", 0), write("b", 1), write("c", 0), write("d", 1)] {
        task.await.unwrap();
    }
    nodes.chain_is_whole(4 * 2 * EACH).await;
}

/// Changes and removes what nobody may, and asks for it to be found. `behind` runs SQL behind the store's back, with the
/// triggers that would keep the log from it switched off.
/// With `blob`, SQL reads bytes in hexadecimal.
pub async fn every_tampering_is_found(
    nodes: &Nodes,
    blob: impl Fn(&str) -> String,
    behind: impl AsyncFn(&str),
) {
    nodes.key_audit_log().await;
    let entry = NewAuditEntry { before: Some("{}".to_owned()), ..new_entry("key.issue", "key_1") };
    for _ in 0..5 {
        nodes.one.add_audit_entries(std::slice::from_ref(&entry)).await.unwrap();
    }
    nodes.chain_is_whole(5).await;
    behind("CREATE TEMPORARY TABLE kept_log AS SELECT * FROM audit_log").await;
    behind("CREATE TEMPORARY TABLE kept_head AS SELECT * FROM audit_head").await;
    for (sql, problem) in [
        ("UPDATE audit_log SET actor = 'bdmin' WHERE sequence = 3", "entry 3 was changed"),
        ("UPDATE audit_log SET at = at + 1 WHERE sequence = 1", "entry 1 was changed"),
        ("UPDATE audit_log SET before_json = NULL WHERE sequence = 2", "entry 2 was changed"),
        ("UPDATE audit_log SET actor_kind = 'system' WHERE sequence = 5", "entry 5 was changed"),
        ("UPDATE audit_log SET actor_kind = 'nobody' WHERE sequence = 5", "cannot be read"),
        ("DELETE FROM audit_log WHERE sequence = 2", "entry 2 is missing"),
        ("DELETE FROM audit_log WHERE sequence = 5", "ends with entry 4"),
        ("DELETE FROM audit_log", "ends with entry 0"),
        ("UPDATE audit_head SET entries = 4", "ends with entry 5"),
        (
            "DELETE FROM audit_log WHERE sequence = 5;
             UPDATE audit_head SET entries = 4, head_hash = (SELECT hash FROM audit_log WHERE sequence = 4)",
            "the head was not written by this service",
        ),
        (
            "DELETE FROM audit_log WHERE sequence = 2; UPDATE audit_log SET sequence = sequence - 1 WHERE sequence = 3",
            "entry 2 was changed",
        ),
    ] {
        behind(sql).await;
        let found = nodes.two.verify_audit_log().await.unwrap().problem;
        assert!(found.as_ref().is_some_and(|found| found.contains(problem)), "{sql}: {found:?}");
        behind("DELETE FROM audit_log; INSERT INTO audit_log SELECT * FROM kept_log").await;
        behind("DELETE FROM audit_head; INSERT INTO audit_head SELECT * FROM kept_head").await;
        nodes.chain_is_whole(5).await;
    }
    // Computed anew without the key: every entry and the head fit one another, and only the key tells.
    let restore = async || {
        behind("DELETE FROM audit_log; INSERT INTO audit_log SELECT * FROM kept_log").await;
        behind("DELETE FROM audit_head; INSERT INTO audit_head SELECT * FROM kept_head").await;
        nodes.chain_is_whole(5).await;
    };
    let rewritten = rewritten(blob, &nodes.audit_log(&AuditLogFilter::default()).await);
    let computed_anew = async |proof: &str| {
        behind(&format!("UPDATE audit_log SET actor = 'bdmin' WHERE sequence = 3; {rewritten}{proof}")).await;
    };
    computed_anew("").await;
    assert!(nodes.problem().await.contains("not written by this service"), "with the old proof");
    assert!(nodes.key_audit_log().await, "with the old proof, after a restart");
    assert!(nodes.problem().await.contains("entry 6 says that the 5 before it"));
    restore().await;
    computed_anew("; UPDATE audit_head SET proof = NULL").await;
    assert!(nodes.problem().await.contains("not written by this service"), "without a proof");
    assert!(nodes.key_audit_log().await, "without a proof, after a restart");
    nodes.one.add_audit_entries(std::slice::from_ref(&entry)).await.unwrap();
    assert!(!nodes.key_audit_log().await, "after another one");
    assert!(nodes.problem().await.contains("entry 6 says that the 5 before it"), "for good");
    // What is then taken out again goes with the head's proof.
    behind("DELETE FROM audit_log WHERE sequence > 5").await;
    computed_anew("; UPDATE audit_head SET proof = NULL").await;
    nodes.one.add_audit_entries(std::slice::from_ref(&entry)).await.unwrap();
    assert!(nodes.problem().await.contains("entry 6 says that the 5 before it"), "without a restart");
    restore().await;
    // The end is cut off, and the next entry is not made to prove what remains.
    for proof in ["proof", "NULL"] {
        behind(&format!(
            "DELETE FROM audit_log WHERE sequence = 5;
             UPDATE audit_head SET entries = 4, head_hash = (SELECT hash FROM audit_log WHERE sequence = 4), proof = {proof}"
        ))
        .await;
        nodes.one.add_audit_entries(std::slice::from_ref(&entry)).await.unwrap();
        assert!(nodes.problem().await.contains("entry 5 says that the 4 before it"), "{proof}");
        restore().await;
    }
    // An entry that accepts it is the service's, too.
    computed_anew("; UPDATE audit_head SET proof = NULL").await;
    nodes.key_audit_log().await;
    behind("UPDATE audit_log SET action = 'audit_log.accept', subject = '6' WHERE sequence = 5").await;
    assert!(nodes.problem().await.contains("entry 5 was changed"));
    restore().await;
    behind("DELETE FROM audit_log; UPDATE audit_head SET entries = 0, head_hash = head_hash, proof = NULL")
        .await;
    let found = nodes.two.verify_audit_log().await.unwrap().problem;
    assert!(found.is_some(), "a log without its entries and its proof");
}

/// SQL with the hashes that these entries, newest first, have without a key once the third has another actor.
fn rewritten(blob: impl Fn(&str) -> String, entries: &[AuditEntry]) -> String {
    let (mut statements, mut before) = (Vec::new(), [0; 32]);
    for AuditEntry { sequence, entry, .. } in entries.iter().rev() {
        let mut entry = entry.clone();
        if *sequence == 3 {
            "bdmin".clone_into(&mut entry.actor.name);
        }
        before = chained(&before, *sequence, &entry);
        let hash = before.map(|byte| format!("{byte:02x}")).concat();
        statements.push(format!("UPDATE audit_log SET hash = {} WHERE sequence = {sequence}; ", blob(&hash)));
    }
    statements.concat()
        + "UPDATE audit_head SET entries = 5, head_hash = (SELECT hash FROM audit_log WHERE sequence = 5)"
}

/// The hash of an entry without a key, which anybody can make who can write to the database.
fn chained(before: &[u8; 32], sequence: u64, entry: &NewAuditEntry) -> [u8; 32] {
    let mut hashed = [&before[..], &sequence.to_be_bytes(), &entry.at.unix_millis().to_be_bytes()].concat();
    let fields = [
        Some(entry.actor.kind.as_str().to_owned()),
        entry.actor.kind.user().map(|id| id.to_string()),
        Some(entry.actor.name.clone()),
        entry.address.map(|address| address.to_string()),
        Some(entry.request.clone()),
        Some(entry.action.clone()),
        entry.organization.map(|id| id.to_string()),
        entry.environment.map(|id| id.to_string()),
        Some(entry.subject.clone()),
        entry.before.clone(),
        entry.after.clone(),
    ];
    for field in fields {
        let length = field.as_ref().map_or(u64::MAX, |text| text.len().try_into().unwrap());
        hashed.extend(length.to_be_bytes());
        hashed.extend(field.unwrap_or_default().into_bytes());
    }
    Sha256::digest(&hashed).into()
}
