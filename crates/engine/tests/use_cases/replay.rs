//! Repeating a request whose idempotency key has created a transfer.

use serde_json::json;
use tollgate_domain::{
    ServiceReference,
    ach::{RecipientKind, TransferPurpose},
    customer::Customer,
    transaction::Status,
};
use tollgate_engine::{IssueTokenError, TransferCreated, TransferError};

use crate::support::{
    config,
    every_step::{UseCase, fails_at_every_step},
    faults::Fault,
    requests::transfer_request,
    world::World,
};
use tollgate_engine::ports::{RejectionKind, StoreError};

const KEY: &str = "a caller's key";

/// The transfer exists, and the same request arrives again.
struct Replay;

impl UseCase for Replay {
    type Answer = Result<TransferCreated, TransferError>;

    async fn given(world: &World) -> Self {
        world.send(KEY, 10_000).await.unwrap();
        Self
    }

    async fn act(&self, world: &World) -> Self::Answer {
        world.send(KEY, 10_000).await
    }

    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]) {
        for answer in answers.iter().flatten() {
            match answer {
                Ok(made) => {
                    assert_eq!((made.replayed, made.transfer.state.status), (true, Status::Processing));
                }
                Err(error) => assert!(
                    matches!(
                        error,
                        TransferError::Store(StoreError::Unavailable(_) | StoreError::Unknown(_))
                    ),
                    "{error:?}"
                ),
            }
        }
        assert_eq!(world.providers.records().calls, ["transfers.create"]);
        let id = world.engine().transfer_reference(&world.view(), KEY);
        let reported = world.event_kinds(ServiceReference::Ach(id)).await;
        assert_eq!(reported, ["transaction.pending", "transaction.processing"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_survives_every_fault() {
    fails_at_every_step::<Replay>().await;
}

#[tokio::test(start_paused = true)]
async fn what_differs_from_the_first_request_is_named() {
    let world = World::new().await;
    world.send(KEY, 10_000).await.unwrap();
    let request = || transfer_request(&world, KEY, 10_000);
    let mut other_account = request();
    other_account.bank.account.account_number = tollgate_vault::Secret::new("000123456780");
    let mut other_bank = request();
    other_bank.bank.account.account_number = tollgate_vault::Secret::new("000123456780");
    other_bank.bank.account.routing_number = tollgate_vault::Secret::new("011401533");
    let mut other_name = request();
    other_name.bank.account_name = "Somebody Else".to_owned();
    let mut other_both = transfer_request(&world, KEY, 10_001);
    other_both.description = Some("other".to_owned());
    let mut other_recipient = request();
    other_recipient.recipient_kind = RecipientKind::Business;
    let mut other_purpose = request();
    other_purpose.purpose = Some(TransferPurpose::Payroll);
    let mut other_descriptor = request();
    other_descriptor.statement_descriptor = Some("ACME".to_owned());
    for (request, expected) in [
        (other_recipient, vec!["recipientKind"]),
        (other_purpose, vec!["purpose"]),
        (other_descriptor, vec!["statementDescriptor"]),
        (transfer_request(&world, KEY, 10_001), vec!["amountMinor"]),
        (other_account, vec!["bankAccount"]),
        (other_bank, vec!["bankAccount"]),
        (other_name, vec!["accountName"]),
        (other_both, vec!["amountMinor", "description"]),
    ] {
        let refused = world.engine().create_transfer(&world.view(), request, "req").await.unwrap_err();
        let TransferError::KeyReused(mut fields) = refused else { panic!("{refused:?}") };
        fields.sort();
        assert_eq!(fields, expected);
    }
    assert_eq!(world.providers.records().transfers.len(), 1);
}

/// What was said once has to be said again.
#[tokio::test(start_paused = true)]
async fn leaving_out_what_the_first_request_said_is_another_request() {
    let world = World::new().await;
    let mut request = transfer_request(&world, KEY, 10_000);
    request.recipient_kind = RecipientKind::Business;
    request.purpose = Some(TransferPurpose::Payroll);
    request.statement_descriptor = Some("ACME".to_owned());
    let create = async |request| world.engine().create_transfer(&world.view(), request, "req").await;
    let made = create(request.clone()).await.unwrap().transfer.order;
    assert_eq!(made.recipient_kind, RecipientKind::Business);
    assert_eq!(
        (made.purpose, made.statement_descriptor.as_deref()),
        (Some(TransferPurpose::Payroll), Some("ACME"))
    );
    assert!(create(request).await.unwrap().replayed);
    let refused = create(transfer_request(&world, KEY, 10_000)).await.unwrap_err();
    let TransferError::KeyReused(fields) = refused else { panic!("{refused:?}") };
    assert_eq!(fields, ["purpose", "recipientKind", "statementDescriptor"]);
}

#[tokio::test(start_paused = true)]
async fn json_that_means_the_same_is_the_same_transfer() {
    let world = World::new().await;
    let create = async |metadata: &str, remittance: &str| {
        let mut request = transfer_request(&world, KEY, 10_000);
        metadata.clone_into(&mut request.metadata);
        request.remittance = Some(remittance.to_owned());
        world.engine().create_transfer(&world.view(), request, "req").await
    };
    create(r#"{"a":1.5,"b":2}"#, r#"{"invoice":10}"#).await.unwrap();
    assert!(create(r#"{"b":2,"a":1.50}"#, r#"{"invoice":1e1}"#).await.unwrap().replayed);
    let refused = create(r#"{"b":2,"a":1.51}"#, r#"{"invoice":10}"#).await.unwrap_err();
    assert!(matches!(&refused, TransferError::KeyReused(fields) if *fields == ["metadata"]), "{refused:?}");
}

/// An account number cannot be found out by trying: after twenty conflicts there are no more of them for an hour.
#[tokio::test(start_paused = true)]
async fn a_key_can_be_in_conflict_only_so_often() {
    let world = World::new().await;
    world.send(KEY, 10_000).await.unwrap();
    let guess = async |number: u64| {
        let mut request = transfer_request(&world, KEY, 10_000);
        let account = tollgate_vault::Secret::new(format!("{number:09}"));
        request.bank.account.account_number = account;
        world.engine().create_transfer(&world.view(), request, "req").await
    };
    for number in 0..20 {
        let refused = guess(number).await;
        assert!(matches!(refused, Err(TransferError::KeyReused(_))), "{number}: {refused:?}");
    }
    let refused = guess(20).await;
    let Err(TransferError::TooManyConflicts(limited)) = refused else { panic!("{refused:?}") };
    assert!(limited.retry_after <= std::time::Duration::from_hours(1));
    assert!(world.send(KEY, 10_000).await.unwrap().replayed, "the request itself is answered as before");
    tokio::time::sleep(limited.retry_after).await;
    assert!(matches!(guess(21).await, Err(TransferError::KeyReused(_))));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_issued_once_per_key() {
    let world = World::new().await;
    let (engine, view) = (world.engine(), world.view());
    let ada = Customer {
        external_id: "customer-1".to_owned(),
        email: "ada@example.com".to_owned(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        phone: None,
        metadata: r#"{"a":1,"b":2}"#.to_owned(),
    };
    let (first, replayed) = engine.issue_token_once(&view, &ada, "token-key-1").await.unwrap();
    assert!(!replayed);
    let same = Customer { metadata: r#"{"b":2,"a":1}"#.to_owned(), ..ada.clone() };
    let (again, replayed) = engine.issue_token_once(&view, &same, "token-key-1").await.unwrap();
    assert_eq!((again.token, replayed), (first.token.clone(), true));
    let (other, _) = engine.issue_token_once(&view, &ada, "token-key-2").await.unwrap();
    assert_ne!(other.token, first.token);
    let bob = Customer { email: "bob@example.com".to_owned(), phone: Some("123".to_owned()), ..ada.clone() };
    let conflict = engine.issue_token_once(&view, &bob, "token-key-1").await;
    let Err(IssueTokenError::KeyReused(fields)) = conflict else { panic!("{conflict:?}") };
    assert_eq!(fields, ["email", "phone"]);
    // A commit whose answer is lost is made good by the same key.
    world.faults.arm(Fault::StoreUnknown { committed: true }, 1);
    let lost = engine.issue_token_once(&view, &ada, "token-key-3").await;
    world.faults.disarm();
    let (found, _) = engine.issue_token_once(&view, &ada, "token-key-3").await.unwrap();
    if let Ok((lost, _)) = lost {
        assert_eq!(lost.token, found.token);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_answered_again() {
    let world = World::new().await;
    world.faults.arm(Fault::ProviderRejects(RejectionKind::Invalid), 1);
    let first = world.send(KEY, 10_000).await.unwrap_err();
    world.faults.disarm();
    let again = world.send(KEY, 10_000).await.unwrap_err();
    for (answer, was_replayed) in [(first, false), (again, true)] {
        let TransferError::Rejected { failure, replayed, .. } = answer else { panic!("{answer:?}") };
        assert_eq!((failure.code.as_str(), replayed), ("provider_rejected", was_replayed));
    }
    assert_eq!(world.providers.records().transfers.len(), 0);
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_replay_is_answered_whatever_the_configuration_has_become() {
    let world = World::new().await;
    world.send(KEY, 10_000).await.unwrap();
    for document in [json!({}), config::with_wrong_credentials(), config::with_credentials_of('b')] {
        world.configure(document).await;
        assert!(world.send(KEY, 10_000).await.unwrap().replayed);
    }
    assert_eq!(world.providers.records().calls, ["transfers.create"]);
}
