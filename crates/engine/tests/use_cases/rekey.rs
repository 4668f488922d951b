//! Rotating the master key: everything stays readable, whatever happens on the way, and the old key can go.

use std::sync::{Arc, Mutex};

use tollgate_domain::{Flow, ServiceReference, event::EventFilter};
use tollgate_engine::{
    CheckStatus, NewEndpoint, RekeyError, RekeyProgress, StartError,
    ports::{SealedKind, SealedPlace},
};
use tollgate_vault::MasterKey;

use crate::support::{
    config::{self, REGISTER_FROM},
    every_step::{Retry, UseCase, fails_at_every_step},
    faults::Fault,
    receiver::ENDPOINT_URL,
    requests::{charge_of, origin, transfer_request},
    world::{MASTER_KEY, World, master_key},
};

const NEW_KEY: &str = "the next master key, which is another one";

fn old() -> MasterKey {
    master_key(MASTER_KEY)
}

fn new() -> MasterKey {
    master_key(NEW_KEY)
}

async fn rekey(world: &World) -> RekeyProgress {
    let mut all = RekeyProgress::default();
    while !all.is_done {
        let progress = world.engine().rekey(&origin()).await.unwrap();
        all = RekeyProgress { resealed: all.resealed + progress.resealed, ..progress };
    }
    all
}

/// How many stored texts have something in them that this key has sealed.
async fn sealed_by(world: &World, key: &MasterKey) -> usize {
    let mut found = 0;
    for kind in SealedKind::ALL {
        let values = world.store.sealed_values(kind, &key.fingerprint(), SealedPlace::FIRST, 1_000).await;
        found += values.unwrap().len();
    }
    found
}

async fn add_endpoint(world: &World) {
    let url = world.engine().endpoint_url(ENDPOINT_URL).unwrap();
    let new = NewEndpoint { url, description: None, filter: EventFilter::All };
    world.engine().add_endpoint(world.environment, new, &origin()).await.unwrap();
}

async fn finding(world: &World) -> Option<(CheckStatus, String)> {
    let checks = world.engine().run_checks().await;
    checks.into_iter().find(|it| it.name == "master_key").map(|it| (it.status, it.finding))
}

#[tokio::test(start_paused = true)]
async fn everything_survives_two_rotations() {
    let world = World::new().await;
    add_endpoint(&world).await;
    let first = world.send("a caller's key", 1_000).await.unwrap().transfer.order.id;
    let token = transfer_request(&world, "a token's key", 10).token;
    // A charge whose answer is lost: its card's token is kept.
    let payment = world.prepared(Flow::PaymentComponent, REGISTER_FROM).await.order.id;
    world.faults.arm(Fault::ProviderUnknown { done: true }, 1);
    world.confirm(payment, charge_of("a card")).await.unwrap();
    world.faults.disarm();
    assert!(finding(&world).await.is_none(), "nothing is rotated");
    assert!(matches!(world.engine().rekey(&origin()).await, Err(RekeyError::NoPreviousKey)));

    let refused = world.restart_with(new()).await;
    assert!(matches!(refused, Err(StartError::OtherMasterKey { .. })), "{refused:?}");
    // Nodes that can read both, before any of them writes under the new key.
    world.restart_with(old().with_previous(new())).await.unwrap();
    assert!(world.send("a caller's key", 1_000).await.unwrap().replayed);
    let third = master_key("a third master key, which is long enough");
    for (from, to) in [(old(), new()), (new(), third)] {
        world.restart_with(to.clone().with_previous(from.clone())).await.unwrap();
        let before = sealed_by(&world, &from).await;
        assert!(before >= 2, "{before}");
        // Before, while and after values are sealed anew, a key is the same reference and a token names its customer.
        assert_eq!(world.send("a caller's key", 1_000).await.unwrap().transfer.order.id, first);
        let (status, text) = finding(&world).await.unwrap();
        assert_eq!(status, CheckStatus::Warning);
        assert!(text.contains("still needed by: configurations"), "{text}");
        let progress = rekey(&world).await;
        assert_eq!((progress.resealed, progress.unreadable), (u64::try_from(before).unwrap(), 0));
        assert_eq!(sealed_by(&world, &from).await, 0);
        assert!(finding(&world).await.unwrap().1.contains("nothing is sealed under the previous"));
        let refused = world.restart_with(from).await;
        assert!(matches!(refused, Err(StartError::OtherMasterKey { .. } | StartError::DigestRoot(_))));
        world.restart_with(to).await.unwrap();
        assert!(world.send("a caller's key", 1_000).await.unwrap().replayed);
        let request = tollgate_engine::TransferRequest {
            token: token.clone(),
            ..transfer_request(&world, "another key", 10)
        };
        world.engine().create_transfer(&world.view(), request, "req_transfer").await.unwrap();
    }
    // The charge is resolved with the token that was kept, and events are delivered.
    world.settle().await;
    assert!(world.status(ServiceReference::Card(payment)).await.is_some());
    assert!(!world.received.lock().unwrap().is_empty());
    world.check().await;
}

#[tokio::test(start_paused = true)]
async fn a_token_made_before_opens_afterwards() {
    let world = World::new().await;
    let customer = tollgate_domain::customer::Customer {
        external_id: "customer".to_owned(),
        email: "ada@example.com".to_owned(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        phone: None,
        metadata: "{}".to_owned(),
    };
    let issue = || world.engine().issue_token(&world.view(), &customer).unwrap().token;
    let opens = |token: &str| world.engine().open_token(&world.view(), token).customer().is_ok();
    let before = issue();
    world.restart_with(new().with_previous(old())).await.unwrap();
    let meanwhile = issue();
    assert!(opens(&before) && opens(&meanwhile));
    rekey(&world).await;
    world.restart_with(new()).await.unwrap();
    assert!(opens(&before) && opens(&meanwhile));
    // Whoever has only the old key does not read what was made since.
    let environment = world.environment.to_string();
    assert!(old().token_key(&environment, 1).open(&before).is_ok());
    assert!(old().token_key(&environment, 1).open(&meanwhile).is_err());
}

/// `rekey` is interrupted anywhere, while somebody puts a configuration in force and sends transfers.
struct Rekey(Arc<Mutex<usize>>);

impl UseCase for Rekey {
    type Answer = Option<RekeyProgress>;
    const RETRIES: &[Retry] = Retry::IN_BACKGROUND;
    const OWN_STORE: bool = true;

    async fn given(world: &World) -> Self {
        add_endpoint(world).await;
        world.send("the first", 10).await.unwrap();
        world.restart_with(new().with_previous(old())).await.unwrap();
        Self(Arc::default())
    }

    async fn act(&self, world: &World) -> Self::Answer {
        let number = {
            let mut sent = self.0.lock().unwrap();
            *sent += 1;
            *sent
        };
        let (engine, by) = (world.engine(), origin());
        let putting = engine.put_config(world.environment, config::document(), None, origin());
        let key = format!("key {number}");
        let (progress, _, _) =
            tokio::join!(Box::pin(engine.rekey(&by)), Box::pin(putting), Box::pin(world.send(&key, 10)));
        progress.ok()
    }

    async fn check(&self, world: &World, _: &[Option<Self::Answer>]) {
        assert_eq!(rekey(world).await.unreadable, 0);
        assert_eq!(sealed_by(world, &old()).await, 0);
        world.restart_with(new()).await.unwrap();
        assert!(world.send("the first", 10).await.unwrap().replayed);
        world.send("the last", 10).await.unwrap();
        world.settle().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_rekey_goes_on() {
    fails_at_every_step::<Rekey>().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_counted_and_stops_nothing() {
    let world = World::new().await;
    add_endpoint(&world).await;
    let kind = SealedKind::Endpoint;
    let found = world.store.sealed_values(kind, &old().fingerprint(), SealedPlace::FIRST, 10).await.unwrap();
    let [endpoint] = found.as_slice() else { panic!("{found:?}") };
    let altered = endpoint.text.replace(r#""}]"#, r#"A"}]"#);
    assert_ne!(altered, endpoint.text);
    world.store.replace_sealed(kind, endpoint, &altered).await.unwrap();
    world.restart_with(new().with_previous(old())).await.unwrap();
    let progress = rekey(&world).await;
    assert_eq!(progress.unreadable, 1);
    assert!(progress.resealed > 0);
}
