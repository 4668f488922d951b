//! Payments that were sent to one provider account while the configuration now names another.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_domain::{
    Flow, ServiceReference, ach::AchProviderStatus, card::ProviderStatus, id::TransferId, transaction::Status,
};
use tollgate_engine::{
    UseAccountError,
    ports::{ProviderEventState, StoreError},
};

use crate::{
    approvals::person,
    support::{
        config::{self, BANK, INTENTS, REGISTER, REGISTER_FROM},
        every_step::{Retry, UseCase, fails_at_every_step},
        faults::Fault,
        requests::{card_request, charge_of, origin},
        world::World,
    },
    webhooks::event,
};

/// Credentials and account ids of account `b`.
fn account_b() -> Value {
    let mut document = config::with_credentials_of('b');
    document["providers"][BANK]["funding"]["accountId"] = json!("account b");
    document["providers"][REGISTER]["credentials"]["locationId"] = json!("account b");
    document
}

/// A transfer that never reached the bank waits for its account, and an operator moves it to the configured one.
struct UseConfiguredAccount(ServiceReference);

impl UseCase for UseConfiguredAccount {
    type Answer = Result<(), UseAccountError>;

    /// It keeps waiting until the operator's decision is stored.
    const RETRIES: &[Retry] = &[Retry::Immediately];

    async fn given(world: &World) -> Self {
        world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
        let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
        world.faults.disarm();
        world.configure(account_b()).await;
        sleep(Duration::from_mins(2)).await;
        world.resolve().await;
        let waiting = world.transfer(made.order.id).await.unwrap().progress.waiting.unwrap();
        assert!(waiting.contains("account a") && waiting.contains("account b"), "{waiting}");
        Self(ServiceReference::Ach(made.order.id))
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.engine().use_configured_account(world.environment, self.0, &origin()).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        for answer in answers.iter().flatten() {
            let is_lost = matches!(
                answer,
                Err(UseAccountError::Store(StoreError::Unavailable(_) | StoreError::Unknown(_)))
            );
            assert!(is_lost || answer.is_ok(), "{answer:?}");
        }
        assert_eq!(world.providers.records().transfer().account, 'b');
        assert_eq!(world.event_kinds(self.0).await, ["transaction.pending", "transaction.processing"]);
    }
}

#[tokio::test(start_paused = true)]
async fn deciding_for_the_configured_account_survives_every_fault() {
    fails_at_every_step::<UseConfiguredAccount>().await;
}

/// The address was wrong from the beginning: nothing was ever sent there, so that the correction counts.
#[tokio::test(start_paused = true)]
async fn a_transfer_that_never_reached_its_provider_follows_the_correction() {
    for fault in [None, Some(Fault::ProviderUnknown { done: false })] {
        let world = World::new().await;
        world.providers.records().unreachable = vec!['a'];
        if let Some(fault) = fault {
            world.faults.arm(fault, 1);
        }
        let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
        world.faults.disarm();
        // It is tried again and again, and never leaves.
        for _ in 0..3 {
            sleep(Duration::from_mins(2)).await;
            world.resolve().await;
        }
        correct(&world, account_b()).await;
        if fault.is_none() {
            assert_followed(&world, made.order.id).await;
            continue;
        }
        let transfer = world.transfer(made.order.id).await.unwrap();
        let exceptions =
            world.store.exceptions_of(world.environment, ServiceReference::Ach(made.order.id)).await.unwrap();
        assert_eq!((transfer.state.status, exceptions.len()), (Status::Pending, 1));
        assert_eq!(world.providers.records().transfers, []);
    }
}

/// The address is corrected, and looked at for a while.
async fn correct(world: &World, mut document: Value) {
    document["providers"][BANK]["baseUrl"] = json!("https://corrected.example");
    world.configure(document).await;
    for _ in 0..3 {
        sleep(Duration::from_mins(30)).await;
        world.resolve().await;
    }
}

/// It was sent once, to the corrected address.
async fn assert_followed(world: &World, id: TransferId) {
    let transfer = world.transfer(id).await.unwrap();
    let exceptions = world.store.exceptions_of(world.environment, ServiceReference::Ach(id)).await.unwrap();
    assert_eq!((transfer.state.status, exceptions.len()), (Status::Processing, 0), "{transfer:?}");
    let sent = world.providers.records().transfers.iter().filter(|it| it.key == id.to_string()).count();
    assert_eq!((sent, world.providers.records().transfers.last().unwrap().account), (1, 'b'));
    assert_eq!(transfer.order.account.unwrap().address, "https://corrected.example");
    world.check().await;
}

/// Nobody had sent it before it was approved, and it could not be sent since.
#[tokio::test(start_paused = true)]
async fn an_approved_transfer_that_never_reached_its_provider_follows_the_correction() {
    for times in [0, 3] {
        let world = World::new().await;
        let approvals = json!({ "transfers": [{ "id": "all", "count": 1, "conditions": [] }] });
        let with_approvals = |mut document: Value| {
            document["approvals"] = approvals.clone();
            document
        };
        world.configure(with_approvals(config::document())).await;
        world.providers.records().unreachable = vec!['a'];
        let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
        let approval = made.progress.approval.unwrap().id;
        world.engine().decide_approval(world.environment, approval, true, &person(1)).await.unwrap();
        for _ in 0..times {
            sleep(Duration::from_mins(2)).await;
            world.resolve().await;
        }
        correct(&world, with_approvals(account_b())).await;
        assert_followed(&world, made.order.id).await;
    }
}

/// The store was so slow that whoever made the transfer did not dare to send it.
#[tokio::test(start_paused = true)]
async fn a_transfer_that_was_not_begun_to_be_sent_follows_the_correction() {
    let world = World::new().await;
    world.send("an earlier one", 10_000).await.unwrap();
    world.providers.records().unreachable = vec!['a'];
    world.faults.arm(Fault::StoreLate, 1);
    let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
    assert_eq!(world.faults.disarm(), Some("reserve_transfer"));
    sleep(Duration::from_mins(1)).await;
    correct(&world, account_b()).await;
    assert_followed(&world, made.order.id).await;
}

#[tokio::test(start_paused = true)]
async fn only_a_payment_of_a_configured_provider_can_be_decided_about() {
    let world = World::new().await;
    let made = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    let unknown = tollgate_domain::id::TransferId::from_bytes([7; 16]);
    let decide = async |id| {
        let reference = ServiceReference::Ach(id);
        world.engine().use_configured_account(world.environment, reference, &origin()).await
    };
    assert!(matches!(decide(unknown).await, Err(UseAccountError::Missing)));
    world.configure(json!({})).await;
    assert!(matches!(decide(made).await, Err(UseAccountError::NotConfigured(name)) if name == BANK));
}

/// State and note of the only provider event.
async fn state_of_event(world: &World) -> (ProviderEventState, String) {
    let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert_eq!(events.len(), 1, "{events:?}");
    (events[0].state, events[0].note.clone())
}

/// A webhook arrives while the credential belongs to another account at the same address, which has no such object.
async fn an_event_waits_for_its_account(
    world: &World,
    provider: &str,
    object: &str,
    reference: ServiceReference,
) {
    let before = world.status(reference).await;
    let reported = world.event_kinds(reference).await;
    world.configure(config::with_credentials_of('b')).await;
    world.webhook(provider, &event("evt_1", object)).await.unwrap();
    for _ in 0..4 {
        sleep(Duration::from_secs(20)).await;
        world.resolve().await;
        let (state, note) = state_of_event(world).await;
        assert_eq!(state, ProviderEventState::Waiting, "{note}");
        assert!(note.contains("it was sent to"), "{note}");
        assert_eq!(world.status(reference).await, before);
    }
    assert_eq!(world.event_kinds(reference).await, reported);
    world.configure(config::document()).await;
    world.settle().await;
    assert_eq!(state_of_event(world).await, (ProviderEventState::Applied, String::new()));
    assert_eq!(world.status(reference).await, Some(Status::Succeeded));
    world.check().await;
}

/// A preparation whose answer is lost, after which its key is replaced.
async fn lost_with_a_key_of(world: &World, key: &str) {
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    let request = card_request(Flow::HostedCheckout, 1_000);
    world.engine().prepare(&world.view(), request, "req_prepare").await.unwrap_err();
    world.faults.disarm();
    let mut document = config::document();
    document["providers"][INTENTS]["credentials"]["secretKey"] = json!(key);
    world.configure(document).await;
    sleep(Duration::from_mins(2)).await;
    world.resolve().await;
}

#[tokio::test(start_paused = true)]
async fn a_preparation_outlives_its_key_where_a_check_has_learned_the_account() {
    for (is_checked, key, expected) in [
        (true, "key of account a, the new one", ProviderStatus::Canceled),
        (true, "key of account b", ProviderStatus::NotStarted),
        (false, "key of account a, the new one", ProviderStatus::NotStarted),
    ] {
        let world = World::new().await;
        if is_checked {
            world.engine().check_provider(world.environment, INTENTS, false, origin()).await.unwrap();
        }
        lost_with_a_key_of(&world, key).await;
        assert_eq!(world.providers.records().page().status, expected, "{is_checked} {key}");
        // Whatever waits goes on when the key is back.
        world.configure(config::document()).await;
        world.settle().await;
        assert_eq!(world.providers.records().page().status, ProviderStatus::Canceled);
        world.check().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_of_another_account_is_ignored_and_says_so() {
    let world = World::new().await;
    world.prepared(Flow::HostedCheckout, 1_000).await;
    let of_account = |id: &str, account: Option<&str>| {
        let mut event = event(id, "page_1");
        event["account"] = json!(account);
        event
    };
    let mut document = config::document();
    document["providers"][INTENTS]["options"] = json!({ "account": "acct_ours" });
    for (document, id, account, expected, note) in [
        (config::document(), "evt_1", None, ProviderEventState::Applied, ""),
        (config::document(), "evt_2", Some("acct_ours"), ProviderEventState::Ignored, "no options.account"),
        (document.clone(), "evt_3", Some("acct_ours"), ProviderEventState::Applied, ""),
        (
            document.clone(),
            "evt_4",
            Some("acct_other"),
            ProviderEventState::Ignored,
            "of the account acct_other",
        ),
        // The account's own endpoint sends what the platform's would, and names no account.
        (document, "evt_5", None, ProviderEventState::Applied, ""),
    ] {
        world.configure(document).await;
        let asked = world.providers.records().calls.len();
        world.webhook(INTENTS, &of_account(id, account)).await.unwrap();
        let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
        let kept = events.iter().find(|event| event.event.id == id).unwrap();
        assert_eq!(kept.state, expected, "{id}: {}", kept.note);
        assert!(kept.note.contains(note), "{id}: {}", kept.note);
        let is_asked = world.providers.records().calls.len() > asked;
        assert_eq!(is_asked, expected == ProviderEventState::Applied, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_transfer_of_another_account_waits() {
    let world = World::new().await;
    let id = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    an_event_waits_for_its_account(&world, BANK, "transfer_1", ServiceReference::Ach(id)).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_payment_of_another_account_waits() {
    let world = World::new().await;
    let id = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    an_event_waits_for_its_account(&world, INTENTS, "page_1", ServiceReference::Card(id)).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_about_a_charge_of_another_account_waits() {
    let world = World::new().await;
    let id = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.confirm(id, charge_of("a card")).await.unwrap();
    an_event_waits_for_its_account(&world, REGISTER, "sale_1", ServiceReference::Card(id)).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_waits_while_the_credentials_are_rejected_and_says_so() {
    let world = World::new().await;
    let transfer = world.send("a caller's key", 10_000).await.unwrap().transfer.order.id;
    let payment = world.prepared(Flow::HostedCheckout, 1_000).await.order.id;
    world.providers.records().transfer().status = AchProviderStatus::Settled;
    world.providers.records().page().status = ProviderStatus::Succeeded;
    world.configure(config::with_wrong_credentials()).await;
    world.webhook(BANK, &event("evt_1", "transfer_1")).await.unwrap();
    world.webhook(INTENTS, &event("evt_2", "page_2")).await.unwrap();
    let events = world.engine().provider_events(world.environment, None, None, 10).await.unwrap();
    assert_eq!(events.len(), 2);
    for event in events {
        assert_eq!(event.state, ProviderEventState::Waiting);
        assert_eq!(event.note, "waiting for the provider: provider_credentials");
    }
    world.configure(config::document()).await;
    world.settle().await;
    assert_eq!(world.status(ServiceReference::Ach(transfer)).await, Some(Status::Succeeded));
    assert_eq!(world.status(ServiceReference::Card(payment)).await, Some(Status::Succeeded));
    world.check().await;
}
