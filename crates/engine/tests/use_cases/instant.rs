//! Instant transfers: the rail is chosen before anything is reserved, and is the same on every try.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_domain::{
    PaymentMethod, ServiceReference, ach::TransferRail, routing::RouteOutcome, transaction::Status,
};
use tollgate_engine::{Preview, TransferError, ports::RejectionKind};

use crate::{
    fallbacks::{self, OTHER_BANK},
    support::{
        config::{self, BANK},
        faults::Fault,
        requests::{origin, quote_request},
        world::World,
    },
};

const KEY: &str = "a caller's key";
const NUMBER: &str = "021000021";

fn document() -> Value {
    let mut document = config::document();
    document["routing"]["ach"]["default"]["channel"] = json!("instant");
    document["providers"][BANK]["funding"]["companyName"] = json!("Acme");
    document
}

async fn world_with(rail: Option<TransferRail>) -> World {
    let world = World::new().await;
    world.configure(document()).await;
    world.providers.records().instant_rails.extend(rail.map(|rail| (NUMBER, rail)));
    world
}

async fn preview(world: &World) -> Result<Preview, TransferError> {
    world.engine().preview_transfer(&world.view(), &quote_request(PaymentMethod::Ach, None, 10_000)).await
}

#[tokio::test(start_paused = true)]
async fn the_receiving_bank_decides_the_rail() {
    for rail in [TransferRail::RealTimePayments, TransferRail::FedNow] {
        let world = world_with(Some(rail)).await;
        let made = world.send(KEY, 10_000).await.unwrap().transfer;
        assert_eq!(made.order.rail, Some(rail));
        assert_eq!(world.transfer(made.order.id).await.unwrap().order.rail, Some(rail));
        assert_eq!(world.providers.records().transfer().rail, Some(rail));
    }
    let world = world_with(None).await;
    let refused = world.send(KEY, 10_000).await;
    assert!(matches!(refused, Err(TransferError::InstantNotSupported)), "{refused:?}");
    assert_eq!(world.transactions().await, []);
    world.check().await;
}

/// Not to be told is not to be told no.
#[tokio::test(start_paused = true)]
async fn a_lookup_that_fails_leaves_the_key_free() {
    let faults = [
        Fault::ProviderUnsent,
        Fault::ProviderUnknown { done: false },
        Fault::ProviderRejects(RejectionKind::Credentials),
    ];
    for fault in faults {
        let world = world_with(Some(TransferRail::RealTimePayments)).await;
        world.faults.arm(fault, 1);
        let refused = world.send(KEY, 10_000).await;
        world.faults.disarm();
        assert!(
            matches!(refused, Err(TransferError::RailUnknown { .. } | TransferError::NotConfigured { .. })),
            "{refused:?}"
        );
        assert_eq!(world.transactions().await, []);
        assert!(!world.send(KEY, 10_000).await.unwrap().replayed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_takes_the_rail_of_the_first_try() {
    let world = world_with(Some(TransferRail::FedNow)).await;
    // The lookup is the first call, sending the second.
    world.faults.arm(Fault::ProviderUnknown { done: false }, 2);
    let made = world.send(KEY, 10_000).await.unwrap().transfer;
    world.faults.disarm();
    assert_eq!(made.state.status, Status::Pending);
    world.providers.records().instant_rails.insert(NUMBER, TransferRail::RealTimePayments);
    let lookups = world.providers.records().count("routing_numbers.list");
    assert!(world.send(KEY, 10_000).await.unwrap().replayed);
    world.settle().await;
    assert_eq!(world.status(ServiceReference::Ach(made.order.id)).await, Some(Status::Processing));
    assert_eq!(world.providers.records().transfer().rail, Some(TransferRail::FedNow));
    assert_eq!(world.providers.records().count("routing_numbers.list"), lookups, "a repetition asks nothing");
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_says_of_a_bank_is_kept_for_an_hour() {
    let world = world_with(None).await;
    let lookups = || world.providers.records().count("routing_numbers.list");
    for _ in 0..3 {
        world.send(KEY, 10_000).await.unwrap_err();
    }
    assert_eq!(lookups(), 1);
    world.providers.records().instant_rails.insert(NUMBER, TransferRail::RealTimePayments);
    sleep(Duration::from_mins(61)).await;
    world.send(KEY, 10_000).await.unwrap();
    assert_eq!(lookups(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_a_rail_needs_is_named() {
    for (rail, field) in
        [(TransferRail::RealTimePayments, "accountNumberId"), (TransferRail::FedNow, "companyName")]
    {
        let world = world_with(Some(rail)).await;
        let mut document = document();
        document["providers"][BANK]["funding"].as_object_mut().unwrap().remove(field);
        world.configure(document).await;
        let refused = world.send(KEY, 10_000).await;
        let Err(TransferError::NotConfigured { missing, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(missing, [format!("providers.{BANK}.funding.{field}")]);
        assert_eq!(world.transactions().await, []);
    }
}

/// What the account cannot do is learned once, by a transfer or by the check, and then no provider is asked for it.
#[tokio::test(start_paused = true)]
async fn an_account_that_cannot_originate_instant_transfers_is_refused_up_front() {
    let refused = |outcome: Option<TransferError>| {
        let is_named = |error: &TransferError| matches!(error, TransferError::InstantNotEnabled { lacks: "rtp", provider } if provider == BANK);
        assert!(outcome.as_ref().is_some_and(is_named), "{outcome:?}");
    };
    for by_check in [false, true] {
        let world = world_with(Some(TransferRail::RealTimePayments)).await;
        world.providers.records().instant_lacks = Some("rtp");
        let asked = || world.providers.records().calls.len();
        if by_check {
            let checked = world.engine().check_provider(world.environment, BANK, false, origin()).await;
            let checks = checked.unwrap().checks;
            let found = checks.iter().find(|check| check.name == "instant").unwrap();
            assert!(!found.ok && found.message.contains("rtp"), "{found:?}");
        } else {
            refused(world.send(KEY, 10_000).await.err());
        }
        let calls = asked();
        refused(preview(&world).await.err());
        refused(world.send(KEY, 10_000).await.err());
        assert_eq!(asked(), calls, "nobody is asked again");
        assert_eq!(world.transactions().await, []);

        // Another channel is not affected, and another account may be able to.
        sleep(Duration::from_mins(61)).await;
        world.providers.records().instant_lacks = None;
        world.send(KEY, 10_000).await.unwrap();
        world.settle().await;
        world.check().await;
    }
}

/// What another node learned, or this one before it was restarted, a preview asks for; but it does not wait for long.
#[tokio::test(start_paused = true)]
async fn a_preview_asks_what_the_account_can_originate() {
    let world = world_with(Some(TransferRail::RealTimePayments)).await;
    world.providers.records().instant_lacks = Some("rtp");
    let refused = preview(&world).await;
    assert!(matches!(refused, Err(TransferError::InstantNotEnabled { lacks: "rtp", .. })), "{refused:?}");
    preview(&world).await.unwrap_err();
    assert_eq!(world.providers.records().calls, ["accounts.retrieve"], "it is asked once");

    // With a fallback, that is what is shown; the account of each is asked for once.
    let world = World::new().await;
    let mut document = fallbacks::document();
    document["routing"]["ach"]["default"]["channel"] = json!("instant");
    document["settings"]["fallbackMayCostMore"] = json!(true);
    world.configure(document).await;
    world.providers.records().instant_lacks = Some("rtp");
    assert_eq!(&*preview(&world).await.unwrap().target.provider, OTHER_BANK);
    assert_eq!(world.providers.records().calls, ["accounts.retrieve"]);

    // One that does not say is offered, and the transfer itself asks again.
    for fault in [Fault::ProviderUnsent, Fault::ProviderUnknown { done: false }] {
        let world = world_with(Some(TransferRail::RealTimePayments)).await;
        world.providers.records().instant_lacks = Some("rtp");
        world.faults.arm(fault, 1);
        preview(&world).await.unwrap();
        world.faults.disarm();
        preview(&world).await.unwrap_err();
    }
}

/// A provider that does not reach the bank instantly, or does not say, has only been asked: the fallback is tried.
#[tokio::test(start_paused = true)]
async fn an_instant_transfer_that_one_provider_cannot_carry_goes_to_the_fallback() {
    let fednow = Some(TransferRail::FedNow);
    for (rail, fault, lacks) in [
        (None, None, None),
        (fednow, None, Some("rtp")),
        (fednow, Some(Fault::ProviderUnsent), None),
        (fednow, Some(Fault::ProviderUnknown { done: false }), None),
        (fednow, Some(Fault::ProviderRejects(RejectionKind::Credentials)), None),
    ] {
        let world = world_with(rail).await;
        let mut document = fallbacks::document();
        document["routing"]["ach"]["default"]["channel"] = json!("instant");
        document["providers"][BANK]["funding"]["companyName"] = json!("Acme");
        // Instant transfers have no fee here.
        document["settings"]["fallbackMayCostMore"] = json!(true);
        world.configure(document).await;
        world.providers.records().instant_lacks = lacks;
        if let Some(fault) = fault {
            world.faults.arm(fault, 1);
        }
        let made = world.send(KEY, 10_000).await.unwrap().transfer;
        world.faults.disarm();
        assert_eq!((made.order.provider.as_str(), made.order.rail), (OTHER_BANK, Some(TransferRail::Ach)));
        let attempt = &made.order.route.attempts[0];
        assert_eq!((attempt.provider.as_str(), attempt.outcome), (BANK, RouteOutcome::Skipped), "{fault:?}");
        let again = world.send(KEY, 10_000).await.unwrap();
        assert!(again.replayed);
        assert_eq!(again.transfer.order.provider, OTHER_BANK);
        assert_eq!(world.providers.records().transfers.len(), 1);
        world.settle().await;
        world.check().await;
    }
}
