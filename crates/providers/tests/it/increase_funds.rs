//! What the account at Increase holds, and what becomes of a transfer that it does not cover.

use serde_json::json;
use tollgate_domain::Channel;
use tollgate_engine::ports::{CallError, RejectionKind};

use crate::increase_support::{CHANNELS, World, order, start};
use crate::support::{asked, quick};

async fn set_balance(world: &World, balance: i64) {
    let path = "increase/accounts/account_simulator/set_balance";
    world.control("POST", path, json!({ "balance": balance })).await;
}

#[tokio::test]
async fn what_the_funding_account_has() {
    let world = start(quick()).await;
    let funds = async || {
        let call = world.wire().funds(&world.provider).await.unwrap();
        assert_eq!(asked(&call), [("accounts.balance", 1)]);
        call.outcome.unwrap().get()
    };
    set_balance(&world, 10_000).await;
    assert_eq!(funds().await, 10_000);
    world.send(&order(Channel::StandardAch)).await.outcome.unwrap();
    world.send(&order(Channel::Instant)).await.outcome.unwrap();
    assert_eq!(funds().await, 6_000);
    set_balance(&world, -1).await;
    assert_eq!(funds().await, 0, "an overdrawn account has nothing");
}

#[tokio::test]
async fn an_account_without_the_money_refuses_and_says_so() {
    let world = start(quick()).await;
    for channel in CHANNELS {
        set_balance(&world, 1_999).await;
        let order = order(channel);
        let call = world.send(&order).await;
        let last = call.logs.last().unwrap();
        assert_eq!((last.tries.len(), last.tries[0].outcome.as_str()), (1, "invalid_operation_error"));
        let Err(CallError::Rejected(rejection)) = call.outcome else {
            panic!("{channel:?}: {:?}", call.outcome)
        };
        assert_eq!(
            (rejection.kind, rejection.failure.code.as_str()),
            (RejectionKind::Funds, "provider_funds")
        );
        let said = "There's an insufficient balance in the account.";
        assert!(rejection.failure.message.ends_with(said), "{}", rejection.failure.message);
        assert!(world.find(&order).await.outcome.unwrap().is_none());
        // The key was not used up.
        set_balance(&world, 2_000).await;
        world.send(&order).await.outcome.unwrap();
        assert_eq!(world.taken(&order).await.len(), 1);
    }
}
