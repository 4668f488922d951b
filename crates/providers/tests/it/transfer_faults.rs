//! Faults of what only providers of bank transfers are asked: whether a bank takes part, and what the account has.

use serde_json::Value;
use tollgate_configuration::Adapter;
use tollgate_domain::Channel;

use crate::conformance::{CASES, Told, told};
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

async fn clear(world: &World) {
    world.control("DELETE", "faults", Value::Null).await;
    // What may still be on its way arrives first, so that nothing is counted too early.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
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
    // At the same time: all they do is wait.
    tokio::join!(
        trouble_while_asking_about_the_bank(Adapter::Increase, "routing_numbers.list"),
        trouble_while_asking_about_the_bank(Adapter::ModernTreasury, "validations.routing_numbers")
    );
}

#[tokio::test]
async fn the_balance_is_read_through_every_fault() {
    let world = start(Adapter::Increase).await;
    for (kind, once, always, tries, _) in CASES {
        for (count, expected) in [(1, once), (100, always)] {
            world.fault("accounts.balance", kind, count).await;
            let call = world.wire().funds(&world.provider).await.unwrap();
            assert_eq!(told(&call), expected, "{kind} {count}: {call:?}");
            assert!(count == 1 || call.logs[0].tries.len() == tries, "{kind}: {call:?}");
            clear(&world).await;
        }
    }
}
