//! Every fault of the simulator, on everything that makes something: what the caller is told is never worse than the
//! truth, and there is never more than one.

use tollgate_domain::Flow;
use tollgate_domain::card::{ProviderReport, ProviderStatus};
use tollgate_engine::ports::{Call, CallError};

use crate::support::{World, charge, hasty, order, start_with};

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

/// One thing to make: on which wire, under which name, and what is counted.
#[derive(Debug, Clone, Copy)]
enum Make {
    Intent,
    Session,
    Link,
    Charge,
}

impl Make {
    const ALL: [Self; 4] = [Self::Intent, Self::Session, Self::Link, Self::Charge];

    fn place(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Intent => ("stripe", "payment_intents.create", "payment_intents"),
            Self::Session => ("stripe", "checkout.sessions.create", "checkout_sessions"),
            Self::Link => ("square", "payment_links.create", "payment_links"),
            Self::Charge => ("square", "payments.create", "payments_charged"),
        }
    }

    /// Makes it; the name of what was made, or the standing of what was charged.
    async fn run(
        self,
        world: &World,
        order: &tollgate_domain::card::CardOrder,
    ) -> Call<Option<ProviderReport>> {
        let prepared = match self {
            Self::Intent | Self::Session => world.stripe_cards().prepare(&world.stripe, order).await,
            Self::Link => world.square_cards().prepare(&world.square, order).await,
            Self::Charge => {
                let card = charge(1, "cnon:card-nonce-ok");
                let call = world.square_cards().charge(&world.square, order, &card).await;
                return Call { outcome: call.outcome.map(Some), logs: call.logs };
            }
        };
        Call { outcome: prepared.outcome.map(|_| None), logs: prepared.logs }
    }

    fn order(self) -> tollgate_domain::card::CardOrder {
        order(if matches!(self, Self::Intent | Self::Charge) {
            Flow::PaymentComponent
        } else {
            Flow::HostedCheckout
        })
    }
}

async fn every_fault(make: Make) {
    let world = start_with(hasty()).await;
    let (wire, operation, counted) = make.place();
    for (kind, once, always, tries, done) in CASES {
        let before = world.count(wire, counted).await;
        let order = make.order();
        world.fault(wire, operation, kind, 1).await;
        let call = make.run(&world, &order).await;
        assert_eq!(told(&call), once, "{make:?} {kind} once: {call:?}");
        let made = world.count(wire, counted).await - before;
        assert_eq!(made, u64::from(once == Told::Done), "{make:?} {kind} once");

        let (before, order) = (world.count(wire, counted).await, make.order());
        world.fault(wire, operation, kind, 100).await;
        let call = make.run(&world, &order).await;
        assert_eq!(told(&call), always, "{make:?} {kind} always: {call:?}");
        assert_eq!(call.logs[0].tries.len(), tries, "{make:?} {kind} always: {call:?}");
        world.control("DELETE", "faults", serde_json::Value::Null).await;
        // What may still be on its way arrives first, so that nothing is counted too early.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!(world.count(wire, counted).await - before, u64::from(done), "{make:?} {kind} always");
        // Asked again later, under the same key, it is done, and done once.
        let call = make.run(&world, &order).await;
        assert_eq!(told(&call), Told::Done, "{make:?} {kind} again: {call:?}");
        assert_eq!(world.count(wire, counted).await - before, 1, "{make:?} {kind} again");
    }
}

#[tokio::test]
async fn a_payment_intent_is_made_once() {
    every_fault(Make::Intent).await;
}

#[tokio::test]
async fn a_checkout_session_is_made_once() {
    every_fault(Make::Session).await;
}

#[tokio::test]
async fn a_payment_link_is_made_once() {
    every_fault(Make::Link).await;
}

#[tokio::test]
async fn a_card_is_charged_once() {
    every_fault(Make::Charge).await;
}

/// The provider works on the first try while the second comes: it is told the key is in use, and the third learns more.
#[tokio::test]
async fn a_slow_provider_is_asked_again_under_the_same_key() {
    let world = start_with(hasty()).await;
    for make in Make::ALL {
        let (wire, operation, counted) = make.place();
        let (before, order) = (world.count(wire, counted).await, make.order());
        world.fault(wire, operation, "slow", 1).await;
        let call = make.run(&world, &order).await;
        let outcomes: Vec<_> = call.logs[0].tries.iter().map(|one| one.outcome.as_str()).collect();
        assert_eq!((outcomes.len(), &outcomes[..2]), (3, &["timed out", "conflict"][..]), "{make:?}");
        assert!(matches!(told(&call), Told::Done | Told::Unknown), "{call:?}");
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        let call = make.run(&world, &order).await;
        assert_eq!((told(&call), world.count(wire, counted).await - before), (Told::Done, 1), "{make:?}");
    }
}

#[tokio::test]
async fn a_status_nobody_has_heard_of_is_still_open() {
    let world = start_with(hasty()).await;
    let order = order(Flow::PaymentComponent);
    world.fault("square", "payments.create", "unknown_status", 1).await;
    let call = Make::Charge.run(&world, &order).await;
    let seen = call.outcome.unwrap().unwrap();
    assert_eq!(seen.provider_status, ProviderStatus::Unrecognized("a_status_from_the_future".to_owned()));
    let id = world.stripe_cards().prepare(&world.stripe, &order).await.outcome.unwrap().object;
    world.fault("stripe", "payment_intents.retrieve", "unknown_status", 1).await;
    let subject = tollgate_engine::ports::Subject::Object(&id);
    let seen = world.stripe_cards().read(&world.stripe, &order, subject).await.outcome.unwrap();
    assert_eq!(seen.provider_status, ProviderStatus::Unrecognized("a_status_from_the_future".to_owned()));
}
