//! What a provider tells of a transfer besides its status: whom it waits for, and what the receiving bank wants corrected.

use serde_json::{Value, json};
use tollgate_domain::{
    ServiceReference,
    ach::{AchProviderStatus, CorrectedNumber, Correction},
    id::TransferId,
    transaction::Status,
};
use tollgate_engine::{Origin, ReadError, notifications_of_change};

use crate::{
    support::{config::BANK, requests::origin, world::World},
    webhooks::event,
};

async fn sent(world: &World) -> TransferId {
    world.send("a caller's key", 10_000).await.unwrap().transfer.order.id
}

/// The details of a transfer's lines of one kind.
async fn lines(world: &World, id: TransferId, kind: &str) -> Vec<Value> {
    let timeline = world.store.timeline(world.environment, ServiceReference::Ach(id)).await.unwrap();
    let lines = timeline.iter().filter(|line| line.kind == kind);
    lines.map(|line| serde_json::from_str(&line.detail).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_transfer_that_waits_for_a_person_says_so() {
    for (status, said) in [
        (AchProviderStatus::AwaitingApproval, "approve"),
        (AchProviderStatus::AwaitingConfirmation, "confirm"),
        (AchProviderStatus::Attention, "review"),
    ] {
        let world = World::new().await;
        let id = sent(&world).await;
        world.providers.records().transfer().status = status;
        for number in 1..=2 {
            world.webhook(BANK, &event(&format!("evt_{number}"), "transfer_1")).await.unwrap();
            let transfer = world.transfer(id).await.unwrap();
            assert_eq!(transfer.state.status, Status::Processing);
            let reason = transfer.progress.waiting.unwrap();
            assert!(reason.contains(said), "{reason}");
            // Told again, it is still one line.
            assert_eq!(lines(&world, id, "waiting").await, [json!({ "reason": reason })]);
        }
        world.providers.records().transfer().status = AchProviderStatus::Sent;
        world.webhook(BANK, &event("evt_3", "transfer_1")).await.unwrap();
        assert_eq!(world.transfer(id).await.unwrap().progress.waiting, None);
        world.check().await;
    }
}

/// The transaction stays succeeded, and an exception asks an operator to find out whether the money is there. An event that
/// arrives after a later state changes nothing.
#[tokio::test(start_paused = true)]
async fn a_transfer_that_is_no_longer_certain_to_have_arrived_is_an_exception() {
    let world = World::new().await;
    let id = sent(&world).await;
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    world.webhook(BANK, &event("evt_1", "transfer_1")).await.unwrap();
    world.providers.records().transfer().status = AchProviderStatus::Sent;
    world.webhook(BANK, &event("evt_2", "transfer_1")).await.unwrap();
    assert_eq!(lines(&world, id, "exception").await, Vec::<Value>::new());
    let mut taken_back = event("evt_3", "transfer_1");
    taken_back["takenBack"] = json!("unreconciled");
    world.webhook(BANK, &taken_back).await.unwrap();
    let exceptions = lines(&world, id, "exception").await;
    assert_eq!(exceptions.len(), 1);
    let told = exceptions[0].to_string();
    assert!(told.contains("succeeded") && told.contains("unreconciled"), "{told}");
    assert_eq!(world.transfer(id).await.unwrap().state.status, Status::Succeeded);
    // It was there after all.
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    world.webhook(BANK, &event("evt_4", "transfer_1")).await.unwrap();
    assert_eq!(lines(&world, id, "exception").await.len(), 1);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_correction_is_reported_sealed_and_shown_on_request() {
    let world = World::new().await;
    let (id, engine) = (sent(&world).await, world.engine());
    let reference = ServiceReference::Ach(id);
    let correction = |account: Option<&str>| Correction {
        code: Some("incorrect_account_number".to_owned()),
        routing_number: Some("122105155".to_owned()),
        account_number: account.map(|number| CorrectedNumber::new(number.to_owned())),
        created_at: Some("2026-11-04T10:00:00Z".to_owned()),
        ..Correction::default()
    };
    let ann = Origin { actor: "ann".to_owned(), ..origin() };
    let reveal = async || engine.reveal_corrected_accounts(world.environment, id, &ann).await;
    assert!(matches!(reveal().await, Err(ReadError::Missing)));
    world.providers.records().transfer().corrections = vec![correction(Some("000987654321"))];
    for number in 1..=2 {
        world.webhook(BANK, &event(&format!("evt_{number}"), "transfer_1")).await.unwrap();
    }
    let told = ["transaction.pending", "transaction.processing", "transfer.notification_of_change"];
    assert_eq!(world.event_kinds(reference).await, told, "reported once");

    let transfer = world.transfer(id).await.unwrap();
    let shown = json!([{
        "change_code": "incorrect_account_number", "corrected_account_number": "********4321",
        "corrected_routing_number": "122105155", "created_at": "2026-11-04T10:00:00Z",
    }]);
    assert_eq!(notifications_of_change(&transfer), shown);
    assert_eq!(lines(&world, id, "notification_of_change").await, [shown]);
    assert!(!transfer.progress.corrections.contains("987654"), "{}", transfer.progress.corrections);
    assert_eq!(transfer.state.status, Status::Processing, "nothing failed");

    let revealed = reveal().await.unwrap();
    let [account] = &revealed[..] else { panic!("{revealed:?}") };
    assert_eq!(account.account_number.expose(), "000987654321");
    assert_eq!(account.routing_number.as_deref(), Some("122105155"));
    assert_eq!(lines(&world, id, "account_revealed").await, [json!({ "actor": "ann" })]);

    // Another one later, with the transfer's own news: both are reported.
    {
        let mut records = world.providers.records();
        let at_bank = records.transfer();
        at_bank.corrections.push(correction(None));
        at_bank.status = AchProviderStatus::Settled;
    }
    world.webhook(BANK, &event("evt_3", "transfer_1")).await.unwrap();
    let all = world.event_kinds(reference).await;
    assert_eq!(all[..3], told);
    assert_eq!(all[3..], ["transaction.succeeded", "transfer.notification_of_change"]);
    assert_eq!(notifications_of_change(&world.transfer(id).await.unwrap()).as_array().unwrap().len(), 2);
    assert_eq!(reveal().await.unwrap().len(), 1);
    world.settle().await;
    world.check().await;
}
