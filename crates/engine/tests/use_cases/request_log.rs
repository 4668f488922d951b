//! The log of client API calls: written beside the payments, forgotten after some days.

use std::time::Duration;

use serde_json::json;
use tokio::{sync::watch, time::sleep};
use tollgate_domain::{
    id::{KeyId, RequestId},
    tenant::KeyKind,
};
use tollgate_engine::ports::{LoggedRequest, RequestFilter};
use tollgate_vault::Digest;

use crate::support::{config, faults::Fault, requests::origin, world::World};

fn call(world: &World, number: u8, code: Option<&str>) -> LoggedRequest {
    let at = world.engine().clock().now();
    LoggedRequest {
        id: RequestId::new(at, [number; 10]),
        environment: world.environment,
        at,
        key: KeyId::from_bytes([1; 16]),
        method: "POST".to_owned(),
        path: "/client/v1/payments".to_owned(),
        endpoint: "/client/v1/payments".to_owned(),
        status: if code.is_some() { 400 } else { 201 },
        code: code.map(str::to_owned),
        fields: vec!["amountMinor".to_owned()],
        took_millis: 3,
        reference: None,
    }
}

/// Lets the log be written for a while.
async fn write(world: &World, time: Duration) {
    let (stop, stopped) = watch::channel(false);
    let stopping = async {
        sleep(time).await;
        stop.send_replace(true);
    };
    tokio::join!(world.engine().log_requests_until(stopped), stopping);
}

async fn logged(world: &World) -> Vec<RequestId> {
    let filter = RequestFilter::default();
    let found = world.engine().requests(world.environment, &filter, None, 1_000).await.unwrap();
    found.into_iter().map(|request| request.id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_loses_no_call_and_counts_none_twice() {
    for fault in [
        Fault::StoreUnavailable,
        Fault::StoreUnknown { committed: false },
        Fault::StoreUnknown { committed: true },
    ] {
        let world = World::new().await;
        for number in 0..250_u8 {
            world.engine().log_request(call(&world, number, None));
        }
        world.faults.arm(fault, 1);
        write(&world, Duration::from_secs(5)).await;
        assert!(world.faults.disarm().is_some(), "{fault:?}");
        assert_eq!(logged(&world).await.len(), 250, "{fault:?}");
        assert_eq!(world.engine().dropped_requests(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_are_kept_for_as_many_days_as_the_environment_says() {
    let world = World::new().await;
    let first = call(&world, 1, None);
    world.engine().log_request(first.clone());
    write(&world, Duration::from_secs(2)).await;
    sleep(Duration::from_hours(24 * 6)).await;
    let second = call(&world, 2, Some("invalid_body"));
    world.engine().log_request(second.clone());
    write(&world, Duration::from_secs(2)).await;
    assert_eq!(logged(&world).await, [second.id, first.id]);
    sleep(Duration::from_hours(25)).await;
    write(&world, Duration::from_secs(2)).await;
    assert_eq!(logged(&world).await, [second.id], "seven days by default");
    let mut document = config::document();
    document["settings"] = json!({"requestLogDays": 1});
    world.configure(document).await;
    write(&world, Duration::from_secs(2)).await;
    assert!(logged(&world).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn quotes_are_counted_by_key_and_hour() {
    let world = World::new().await;
    let engine = world.engine();
    let key = engine.issue_key(world.environment, KeyKind::Secret, origin()).await.unwrap();
    let quote = || {
        let snapshot = world.engine().directory().snapshot().clone();
        let live = snapshot.authenticate(Digest::of(key.key.expose()), engine.clock().now()).unwrap();
        live.meters.quotes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let began = engine.clock().now().saturating_sub(Duration::from_hours(1));
    quote();
    quote();
    // The counter survives a change of the configuration.
    world.configure(config::document()).await;
    quote();
    write(&world, Duration::from_secs(2)).await;
    quote();
    write(&world, Duration::from_secs(2)).await;
    sleep(Duration::from_hours(1)).await;
    quote();
    write(&world, Duration::from_secs(2)).await;
    let counts = engine.quote_counts(world.environment, began).await.unwrap();
    assert_eq!(counts.iter().map(|hour| hour.count).collect::<Vec<_>>(), [4, 1], "{counts:?}");
    assert!(counts.iter().all(|hour| hour.key == key.record.id));
}
