//! Every fault of the exchange, on everything that is asked of the providers of bank transfers: what is told, and that no
//! transfer is made twice.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::Channel;
use tollgate_domain::ach::{AchProviderReport, AchProviderStatus, TransferOrder};
use tollgate_engine::ports::{Call, CallError};

use crate::increase_support::{self, World, order};
use crate::modern_treasury_support;
use crate::support::hasty;

/// A simulator, and the adapter of a name that leads to it.
async fn start(adapter: Adapter) -> World {
    match adapter {
        Adapter::ModernTreasury => modern_treasury_support::start(hasty()).await,
        _ => increase_support::start(hasty()).await,
    }
}

/// The calls that make a transfer, by provider and channel.
const CREATIONS: [(Adapter, Channel, &str); 4] = [
    (Adapter::Increase, Channel::StandardAch, "ach_transfers.create"),
    (Adapter::Increase, Channel::Instant, "real_time_payments_transfers.create"),
    (Adapter::ModernTreasury, Channel::StandardAch, "payment_orders.create"),
    (Adapter::ModernTreasury, Channel::Instant, "payment_orders.create"),
];

/// What a caller may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Done,
    Unsent,
    Unknown,
    Refused,
}

fn told<T>(call: &Call<T>) -> Told {
    match &call.outcome {
        Ok(_) => Told::Done,
        Err(CallError::Unsent(_)) => Told::Unsent,
        Err(CallError::Unknown(_)) => Told::Unknown,
        Err(CallError::Rejected(_)) => Told::Refused,
    }
}

/// The fault; what is told when it strikes once, and when it strikes every time; how many tries that takes; and whether
/// it was done although it struck every time.
const CASES: [(&str, Told, Told, usize, bool); 10] = [
    ("timeout_before", Told::Done, Told::Unknown, 3, false),
    ("timeout_after", Told::Done, Told::Unknown, 3, true),
    ("error_before", Told::Done, Told::Unknown, 3, false),
    ("error_after", Told::Done, Told::Unknown, 3, true),
    ("reset", Told::Done, Told::Unknown, 3, false),
    ("torn", Told::Done, Told::Unknown, 3, true),
    ("malformed", Told::Done, Told::Unknown, 3, true),
    ("rate_limited", Told::Done, Told::Unsent, 3, false),
    ("unknown_status", Told::Done, Told::Done, 1, true),
    ("refuse", Told::Refused, Told::Refused, 1, false),
];

async fn clear(world: &World) {
    world.control("DELETE", "faults", Value::Null).await;
    // What may still be on its way arrives first, so that nothing is counted too early.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
}

async fn sent_once_whatever_fails(adapter: Adapter, channel: Channel, operation: &str) {
    let world = start(adapter).await;
    for (kind, once, always, tries, done) in CASES {
        let first = order(channel);
        world.fault(operation, kind, 1).await;
        let call = world.send(&first).await;
        assert_eq!(told(&call), once, "{channel:?} {kind} once: {call:?}");
        assert_eq!(world.taken(&first).await.len(), usize::from(once == Told::Done), "{kind} once");

        let second = order(channel);
        world.fault(operation, kind, 100).await;
        let call = world.send(&second).await;
        assert_eq!(told(&call), always, "{channel:?} {kind} always: {call:?}");
        assert_eq!(call.logs.last().unwrap().tries.len(), tries, "{channel:?} {kind} always: {call:?}");
        clear(&world).await;
        assert_eq!(world.taken(&second).await.len(), usize::from(done), "{channel:?} {kind} always");
        // Looking by the key tells which it was.
        let found = world.find(&second).await.outcome.unwrap();
        assert_eq!(found.is_some(), done, "{channel:?} {kind}");
        // Asked again later, under the same key, it is done, and done once.
        let report = world.send(&second).await.outcome.unwrap();
        assert_eq!(world.taken(&second).await.len(), 1, "{channel:?} {kind} again");
        assert!(found.is_none_or(|found| found.transfer == report.transfer), "{channel:?} {kind}");
    }
}

#[tokio::test]
async fn a_standard_transfer_is_sent_once() {
    sent_once_whatever_fails(Adapter::Increase, Channel::StandardAch, "ach_transfers.create").await;
}

#[tokio::test]
async fn a_same_day_transfer_is_sent_once() {
    sent_once_whatever_fails(Adapter::Increase, Channel::SameDayAch, "ach_transfers.create").await;
}

#[tokio::test]
async fn an_instant_transfer_is_sent_once() {
    sent_once_whatever_fails(Adapter::Increase, Channel::Instant, "real_time_payments_transfers.create")
        .await;
}

#[tokio::test]
async fn a_payment_order_is_sent_once() {
    sent_once_whatever_fails(Adapter::ModernTreasury, Channel::StandardAch, "payment_orders.create").await;
}

#[tokio::test]
async fn an_instant_payment_order_is_sent_once() {
    sent_once_whatever_fails(Adapter::ModernTreasury, Channel::Instant, "payment_orders.create").await;
}

/// Before the bank is known to take part nothing is sent, so that trouble on the way there leaves no doubt.
async fn trouble_while_asking_about_the_bank(adapter: Adapter, operation: &str) {
    let world = start(adapter).await;
    for (kind, once, always, tries, _) in CASES {
        let first = order(Channel::Instant);
        world.fault(operation, kind, 1).await;
        let call = world.send(&first).await;
        assert_eq!(told(&call), once, "{kind} once: {call:?}");
        assert_eq!(world.taken(&first).await.len(), usize::from(once == Told::Done), "{kind} once");

        let second = order(Channel::Instant);
        world.fault(operation, kind, 100).await;
        let call = world.send(&second).await;
        let expected = if always == Told::Unknown { Told::Unsent } else { always };
        assert_eq!(told(&call), expected, "{kind} always: {call:?}");
        assert_eq!(call.logs[0].tries.len(), tries, "{kind} always");
        clear(&world).await;
        assert_eq!(world.taken(&second).await.len(), usize::from(always == Told::Done), "{kind} always");
    }
}

#[tokio::test]
async fn trouble_while_asking_about_the_bank_sends_nothing() {
    trouble_while_asking_about_the_bank(Adapter::Increase, "routing_numbers.list").await;
    trouble_while_asking_about_the_bank(Adapter::ModernTreasury, "validations.routing_numbers").await;
}

/// The provider works on the first try while the second comes: the second learns nothing, and looking does.
#[tokio::test]
async fn a_slow_provider_is_not_believed_to_have_refused() {
    for (adapter, channel, operation) in CREATIONS {
        let world = start(adapter).await;
        let order = order(channel);
        // Long enough for the second try to come meanwhile, also on a busy machine.
        let slow = json!({
            "wire": adapter.as_str(), "operation": operation, "fault": "slow", "delay_ms": 4_000,
        });
        world.control("POST", "faults", slow).await;
        let call = world.send(&order).await;
        assert_eq!(told(&call), Told::Unknown, "{call:?}");
        let outcomes: Vec<_> =
            call.logs.last().unwrap().tries.iter().map(|one| one.outcome.as_str()).collect();
        let busy = if adapter == Adapter::Increase { "invalid_operation_error" } else { "conflict" };
        assert_eq!(outcomes, ["timed out", busy]);
        assert_eq!(world.taken(&order).await.len(), 0);
        let found = found_at_last(&world, &order).await;
        assert_eq!(world.send(&order).await.outcome.unwrap().transfer, found.transfer);
        assert_eq!(world.taken(&order).await.len(), 1);
    }
}

async fn found_at_last(world: &World, order: &TransferOrder) -> AchProviderReport {
    for _ in 0..100 {
        if let Some(found) = world.find(order).await.outcome.unwrap() {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    panic!("it was never taken");
}

/// A refusal that comes after a try whose answer was lost says nothing about that try.
#[tokio::test]
async fn a_refusal_after_a_lost_answer_is_no_proof() {
    for (adapter, channel, operation) in CREATIONS {
        let world = start(adapter).await;
        let order = order(channel);
        world.fault(operation, "error_after", 1).await;
        world.fault(operation, "refuse", 1).await;
        let call = world.send(&order).await;
        assert_eq!(told(&call), Told::Unknown, "{call:?}");
        assert_eq!(world.taken(&order).await.len(), 1);
        assert!(world.find(&order).await.outcome.unwrap().is_some());
    }
}

/// What is read instead of made: lost answers are asked for again, and nothing is ever made by it.
async fn read_whatever_fails(adapter: Adapter, channel: Channel, rail: &str) {
    let world = start(adapter).await;
    let order = order(channel);
    let made = world.send(&order).await.outcome.unwrap();
    let (retrieve, list) = (format!("{rail}.retrieve"), format!("{rail}.list"));
    for (kind, once, always, tries, _) in CASES {
        for (operation, finds) in [(&retrieve, false), (&list, true)] {
            for (count, expected) in [(1, once), (100, always)] {
                world.fault(operation, kind, count).await;
                let call = look(&world, &order, &made.transfer, finds).await;
                assert_eq!(told(&call), expected, "{operation} {kind} {count}: {call:?}");
                if count > 1 {
                    assert_eq!(call.logs[0].tries.len(), tries, "{operation} {kind}: {call:?}");
                }
                if let Ok(provider_status) = call.outcome {
                    let strange = AchProviderStatus::Unrecognized("a_status_from_the_future".to_owned());
                    let expected =
                        if kind == "unknown_status" { strange } else { AchProviderStatus::Accepted };
                    assert_eq!(provider_status, expected, "{operation} {kind}");
                }
                clear(&world).await;
            }
        }
    }
    assert_eq!(world.count().await, 1);
}

async fn look(world: &World, order: &TransferOrder, id: &str, finds: bool) -> Call<AchProviderStatus> {
    if finds {
        let call = world.find(order).await;
        return Call { outcome: call.outcome.map(|found| found.unwrap().provider_status), logs: call.logs };
    }
    let call = world.read(id).await;
    Call { outcome: call.outcome.map(|report| report.provider_status), logs: call.logs }
}

#[tokio::test]
async fn transfers_by_ach_are_read_and_found_through_every_fault() {
    read_whatever_fails(Adapter::Increase, Channel::StandardAch, "ach_transfers").await;
}

#[tokio::test]
async fn real_time_payments_are_read_and_found_through_every_fault() {
    read_whatever_fails(Adapter::Increase, Channel::Instant, "real_time_payments_transfers").await;
}

#[tokio::test]
async fn payment_orders_are_read_and_found_through_every_fault() {
    read_whatever_fails(Adapter::ModernTreasury, Channel::SameDayAch, "payment_orders").await;
}

#[tokio::test]
async fn the_balance_is_read_through_every_fault() {
    let world = start(Adapter::Increase).await;
    for (kind, once, always, tries, _) in CASES {
        for (count, expected) in [(1, once), (100, always)] {
            world.fault("accounts.balance", kind, count).await;
            let call = world.wire().funds(&world.provider).await;
            assert_eq!(told(&call), expected, "{kind} {count}: {call:?}");
            assert!(count == 1 || call.logs[0].tries.len() == tries, "{kind}: {call:?}");
            clear(&world).await;
        }
    }
}

#[tokio::test]
async fn a_status_nobody_has_heard_of_is_still_open() {
    for (adapter, channel, operation) in CREATIONS {
        let world = start(adapter).await;
        let order = order(channel);
        world.fault(operation, "unknown_status", 1).await;
        let seen = world.send(&order).await.outcome.unwrap();
        assert_eq!(
            seen.provider_status,
            AchProviderStatus::Unrecognized("a_status_from_the_future".to_owned())
        );
        assert_eq!(
            world.find(&order).await.outcome.unwrap().unwrap().provider_status,
            AchProviderStatus::Accepted
        );
    }
}
