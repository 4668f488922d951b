//! The audit log: every change an operator makes, by whom, with what it was before and is now, and no secret.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};
use tollgate_configuration::ForcedCircuit;
use tollgate_domain::{
    audit_log::{ActorKind, AuditEntry},
    event::EventFilter,
    id::UserId,
    ledger::Cause,
    people::Identity,
    tenant::KeyKind,
};
use tollgate_engine::{Audited, NewEndpoint, Origin, TooManyReads, ports::AuditLogFilter};

use crate::support::{
    config::{self, INTENTS},
    faults::{Fault, lock},
    receiver::ENDPOINT_URL,
    requests::{move_order, origin},
    world::World,
};

async fn entries(world: &World, action: &str) -> Vec<AuditEntry> {
    let filter = AuditLogFilter { action: Some(action.to_owned()), ..AuditLogFilter::default() };
    world.store.audit_log(&filter, None, 100).await.unwrap()
}

fn json_of(text: Option<&String>) -> Value {
    text.map(|text| serde_json::from_str(text).unwrap()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_change_is_recorded_with_who_made_it_and_what_it_did() {
    let world = World::new().await;
    let ada = Origin {
        actor: "Ada <ada@example.com>".to_owned(),
        request: "req_ada".to_owned(),
        kind: ActorKind::User(UserId::from_bytes([7; 16])),
        address: Some([192, 0, 2, 7].into()),
        people: vec![UserId::from_bytes([7; 16])],
        token: None,
    };
    let key = world.engine().issue_key(world.environment, KeyKind::Secret, ada.clone()).await.unwrap();
    let [found] = entries(&world, "key.issue").await.try_into().unwrap();
    let entry = &found.entry;
    assert_eq!((entry.actor.kind, &entry.actor.name), (ada.kind, &ada.actor));
    assert_eq!((entry.address, &entry.request), (ada.address, &ada.request));
    assert_eq!(entry.subject, key.record.id.to_string());
    assert_eq!((entry.environment, entry.organization.is_some()), (Some(world.environment), true));
    assert!(!format!("{entry:?}").contains(key.key.expose()));

    let order = || move_order(Cause::Fund, 500, "once");
    for _ in 0..2 {
        world.engine().move_funds(world.environment, order(), &ada).await.unwrap();
    }
    let funded = entries(&world, "wallet.fund").await;
    assert_eq!(
        funded.iter().filter(|found| found.entry.request == "req_ada").count(),
        1,
        "a repetition is none"
    );
    assert_eq!(json_of(funded[0].entry.after.as_ref())["amountMinor"], json!("500"));
    assert_eq!(world.store.verify_audit_log().await.unwrap().problem, None);
}

#[tokio::test(start_paused = true)]
async fn a_configuration_is_recorded_by_what_differs_and_without_its_secrets() {
    let world = World::new().await;
    let mut document = config::document();
    let before = entries(&world, "config.replace").await.len();
    document["settings"] = json!({ "secretKeyForPreparation": true });
    world.configure(document).await;
    let found = entries(&world, "config.replace").await;
    assert_eq!(found.len(), before + 1);
    let (from, to) = (json_of(found[0].entry.before.as_ref()), json_of(found[0].entry.after.as_ref()));
    assert_eq!(from["version"].as_u64().unwrap() + 1, to["version"].as_u64().unwrap());
    let paths: Vec<_> =
        to["changes"].as_array().unwrap().iter().map(|change| change["path"].clone()).collect();
    assert_eq!(paths, ["settings.secretKeyForPreparation"]);
    // The first version has everything in it, masked.
    let first = found.last().unwrap().entry.after.clone().unwrap();
    assert!(first.contains("********"), "{first}");
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_configuration_goes_by_what_was_meant() {
    let world = World::new().await;
    let first = world.engine().config(world.environment).await.unwrap().version;
    let forced = Some(ForcedCircuit::Open);
    let version = world.engine().force_circuit(world.environment, INTENTS, forced, origin()).await.unwrap();
    let [found] = entries(&world, "circuit.force").await.try_into().unwrap();
    assert_eq!(found.entry.subject, INTENTS);
    let to = json_of(found.entry.after.as_ref());
    assert_eq!(to["version"], json!(version));
    assert!(to["changes"][0]["path"].as_str().unwrap().starts_with("settings.circuit"), "{to}");
    world.engine().restore_config(world.environment, first, version, origin()).await.unwrap();
    assert_eq!(entries(&world, "config.restore").await.len(), 1);
    assert_eq!(world.store.verify_audit_log().await.unwrap().problem, None);
}

#[tokio::test(start_paused = true)]
async fn a_rotated_key_and_its_replacement_both_have_their_entry() {
    let world = World::new().await;
    let old = world.engine().issue_key(world.environment, KeyKind::Secret, origin()).await.unwrap().record;
    let grace = std::time::Duration::from_mins(1);
    let new = world.engine().rotate_key(world.environment, old.id, grace, origin()).await.unwrap().record;
    world.engine().revoke_key(world.environment, old.id, origin()).await.unwrap();
    world.engine().revoke_key(world.environment, old.id, origin()).await.unwrap();
    let changes = world.engine().key_changes(world.environment, &[old.clone(), new.clone()]).await.unwrap();
    let changes: Vec<_> = changes.iter().map(|change| (change.key, change.action.as_str())).collect();
    assert_eq!(
        changes,
        [(old.id, "issued"), (old.id, "rotated"), (old.id, "revoked"), (new.id, "issued")],
        "a repetition is none"
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_no_change_of_its_own_is_recorded_by_itself() {
    let world = World::new().await;
    let viewed = Audited::new("payment.view", "pay_\u{0}1").in_environment(world.environment);
    world.engine().record_action(&origin(), viewed).await.unwrap();
    let [found] = entries(&world, "payment.view").await.try_into().unwrap();
    assert_eq!(found.entry.subject, "pay_1", "what no database holds is left out");
    assert_eq!(found.entry.actor.kind, ActorKind::System);
}

#[tokio::test(start_paused = true)]
async fn the_head_is_sent_to_endpoints_that_name_it_once_in_ten_minutes() {
    let world = World::new().await;
    let add_endpoint = async |filter| {
        let url = world.engine().endpoint_url(ENDPOINT_URL).unwrap();
        let new = NewEndpoint { url, filter, description: None };
        world.engine().add_endpoint(world.environment, new, &origin()).await.unwrap();
    };
    let heads = async || {
        let events = world.events().await;
        events.into_iter().filter_map(|event| event.audit_head).collect::<Vec<_>>()
    };
    add_endpoint(EventFilter::All).await;
    world.engine().report_audit_head().await;
    assert_eq!(heads().await, [], "it is about more than this environment");
    add_endpoint(EventFilter::parse(["audit_log.head"]).unwrap()).await;
    // Other nodes and restarts report at other moments.
    for _ in 0..3 {
        world.engine().report_audit_head().await;
        sleep(Duration::from_mins(1)).await;
    }
    let first = world.store.audit_head().await.unwrap();
    assert_eq!(heads().await, [first]);
    world.engine().record_action(&origin(), Audited::new("audit_log.export", "")).await.unwrap();
    sleep(Duration::from_mins(8)).await;
    world.engine().report_audit_head().await;
    let second = world.store.audit_head().await.unwrap();
    assert_eq!((heads().await, second.entries), (vec![first, second], first.entries + 1));
    world.deliver().await;
    assert_eq!(lock(&world.received).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn views_are_recorded_once_each_and_what_is_left_out_is_counted() {
    let world = World::new().await;
    let by = |user: u8| Origin { kind: ActorKind::User(UserId::from_bytes([user; 16])), ..origin() };
    let view = async |user: u8, payment: usize| {
        let viewed = Audited::new("payment.view", payment).in_environment(world.environment);
        world.engine().record_view(&by(user), viewed).await.unwrap();
    };
    for _ in 0..50 {
        view(1, 0).await;
    }
    view(2, 0).await;
    assert_eq!(entries(&world, "payment.view").await.len(), 2, "one of each operator");
    for payment in 1..=100 {
        view(1, payment).await;
    }
    let recorded = entries(&world, "payment.view").await.len();
    assert!((21..=40).contains(&recorded), "{recorded} of 100 payments within a moment");
    // A node that stops leaves nothing uncounted.
    let (_stop, stopped) = watch::channel(true);
    world.engine().log_requests_until(stopped).await;
    let found = entries(&world, "payment.view").await;
    let left_out =
        found.iter().map(|found| json_of(found.entry.after.as_ref())["leftOut"].as_u64().unwrap_or_default());
    assert_eq!(found.len() as u64 + left_out.sum::<u64>(), 151);
    let repeated = found.iter().find(|found| found.entry.subject == "0" && found.entry.after.is_some());
    assert_eq!(json_of(repeated.unwrap().entry.after.as_ref()), json!({ "leftOut": 48 }));
}

/// Whether the store takes entries or not, each of them is recorded or counted once.
#[tokio::test(start_paused = true)]
async fn what_the_store_did_not_take_is_counted_later() {
    const ACTIONS: [&str; 2] = ["payment.list", "event.list"];
    let world = World::new().await;
    let list = async |action| {
        world.engine().record_repeatable(&origin(), Audited::new(action, world.environment)).await
    };
    let mut done = 0;
    for _ in 0..50 {
        for action in ACTIONS {
            list(action).await.unwrap();
            done += 1;
        }
    }
    sleep(Duration::from_secs(2)).await;
    world.faults.arm(Fault::StoreGone, 1);
    for action in ACTIONS {
        list(action).await.unwrap_err();
    }
    world.faults.disarm();
    list(ACTIONS[0]).await.unwrap();
    done += 1;
    for _ in 0..10 {
        for action in ACTIONS {
            list(action).await.unwrap();
            done += 1;
        }
    }
    let stop = async || {
        let (_stop, stopped) = watch::channel(true);
        world.engine().log_requests_until(stopped).await;
    };
    world.faults.arm(Fault::StoreGone, 1);
    stop().await;
    world.faults.disarm();
    stop().await;
    let mut counted = 0;
    for action in ACTIONS {
        for found in entries(&world, action).await {
            counted += 1 + json_of(found.entry.after.as_ref())["leftOut"].as_u64().unwrap_or_default();
        }
    }
    assert_eq!(counted, done);
}

/// Whoever could not be recognized has one limit, whatever addresses they come from, and takes nothing of anybody else's.
#[tokio::test(start_paused = true)]
async fn strangers_share_one_limit() {
    let world = World::new().await;
    let refused = async |identity: Option<&Identity>, host: u8| {
        let address = Some([192, 0, 2, host].into());
        let origin = Origin::of(identity, None, "req_refused".to_owned(), address);
        world.engine().record_repeatable(&origin, Audited::new("session.refuse", "console")).await.unwrap();
    };
    for host in 0..100 {
        refused(None, host).await;
    }
    assert_eq!(entries(&world, "session.refuse").await.len(), 20);
    refused(Some(&Identity::Bootstrap), 1).await;
    let last = entries(&world, "session.refuse").await.remove(0).entry;
    assert_eq!((last.actor.kind, last.after), (ActorKind::Bootstrap, None));
}

#[tokio::test(start_paused = true)]
async fn a_payments_own_configuration_waits_for_nobody_while_it_is_in_force() {
    let world = World::new().await;
    let engine = world.engine();
    let older = world.view().config_version;
    world.configure(config::document()).await;
    let current = world.view().config_version;
    let version = async |version| engine.decided_by(world.environment, version).await;
    let turns = (engine.config_read_turn().await, engine.config_read_turn().await);
    assert!(version(current).await.unwrap().is_some());
    assert_eq!(version(older).await.unwrap_err(), TooManyReads);
    drop(turns);
    let held = (version(older).await.unwrap(), version(older).await.unwrap());
    assert!(held.0.is_some() && held.1.is_some());
    assert_eq!(version(older).await.unwrap_err(), TooManyReads, "two are open");
    drop(held);
    assert!(version(older).await.unwrap().is_some());
    assert!(version(current + 1).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn readers_of_stored_configurations_wait_for_one_another_and_keep_nobody_else_waiting() {
    let world = World::new().await;
    let turns = (world.engine().config_read_turn().await, world.engine().config_read_turn().await);
    assert!(turns.0.is_some() && turns.1.is_some());
    assert!(world.engine().config_read_turn().await.is_none(), "a third one is refused in the end");
    assert!(world.engine().config_turn().await.is_some(), "a change goes on");
    drop(turns);
    assert!(world.engine().config_read_turn().await.is_some());
}
