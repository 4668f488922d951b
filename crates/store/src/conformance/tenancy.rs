//! What belongs to one environment is not there for any other.

use tollgate_domain::{Currency, ledger::Cause};
use tollgate_engine::ports::{ConfigPut, Moved, Revoked, Rotated};

use super::{ALL, Nodes, at, minor, put};

pub async fn keys_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let key = nodes.key(theirs).await;
    assert!(nodes.keys(mine).await.is_empty());
    assert_eq!(nodes.two.key(mine, key.id).await.unwrap(), None);
    assert_eq!(nodes.one.revoke_key(mine, key.id, at(1)).await.unwrap(), Revoked::Missing);
    let replacement = nodes.new_key(mine);
    let answer = nodes.one.rotate_key(mine, key.id, &replacement, at(1)).await.unwrap();
    assert_eq!(answer, Rotated::Missing);
    assert!(nodes.keys(mine).await.is_empty(), "and the replacement was not stored");
    // A replacement for one environment cannot be slipped into another.
    assert!(nodes.one.rotate_key(theirs, key.id, &replacement, at(1)).await.is_err());
    assert_eq!(nodes.keys(theirs).await, [key]);
}

pub async fn configurations_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let change = nodes.new_change(0, "theirs");
    put(nodes.one.put_config(theirs, &change).await.unwrap());
    assert_eq!(nodes.two.config(mine).await.unwrap().unwrap().document, None);
    assert_eq!(nodes.two.config_version(mine, 1).await.unwrap(), None);
    assert!(nodes.two.config_history(mine, None, ALL).await.unwrap().is_empty());
    let stale = nodes.two.put_config(mine, &nodes.new_change(1, "mine")).await.unwrap();
    assert_eq!(stale, ConfigPut::Stale { current: 0 }, "versions count within an environment");
}

pub async fn wallets_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.fund(theirs, 100, "r").await;
    assert_eq!(
        nodes.two.balances(mine, Currency::USD).await.unwrap(),
        Some(tollgate_domain::ledger::Balances::default())
    );
    assert!(nodes.two.wallet_currencies(mine).await.unwrap().is_empty());
    assert!(nodes.two.ledger(mine, Currency::USD, None, ALL).await.unwrap().is_empty());
    // The same reference is free in another environment.
    let movement = nodes.new_movement(Cause::Fund, 7, "r");
    let answer = nodes.two.move_funds(mine, &movement).await.unwrap();
    assert!(
        matches!(answer, Moved::Done(applied) if !applied.replayed && applied.balances.available == minor(7))
    );
    assert_eq!(nodes.one.balances(theirs, Currency::USD).await.unwrap().unwrap().available, minor(100));
}

pub async fn wallets_are_of_one_currency(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100, "r").await;
    let euro = Currency::parse("EUR").unwrap();
    let mut movement = nodes.new_movement(Cause::Withdraw, 1, "r");
    movement.currency = euro;
    let answer = nodes.two.move_funds(environment, &movement).await.unwrap();
    assert_eq!(answer, Moved::Insufficient { available: minor(0) });
    let mut movement = nodes.new_movement(Cause::Fund, 3, "r");
    movement.currency = euro;
    nodes.two.move_funds(environment, &movement).await.unwrap();
    assert_eq!(nodes.one.wallet_currencies(environment).await.unwrap(), [euro, Currency::USD]);
    assert_eq!(nodes.one.balances(environment, euro).await.unwrap().unwrap().available, minor(3));
    assert_eq!(nodes.one.balances(environment, Currency::USD).await.unwrap().unwrap().available, minor(100));
    assert_eq!(nodes.one.ledger(environment, euro, None, ALL).await.unwrap().len(), 2);
}
