//! Use cases, repeated and failed at every step.

use std::{any::type_name, fmt::Debug, sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    faults::Fault,
    world::{World, empty_store},
};

/// More steps than any use case has.
const MOST_STEPS: usize = 60;

/// A use case of the engine, with a caller who retries.
pub(crate) trait UseCase: Sized {
    type Answer: Debug;

    /// When the caller retries; each is a series of runs of its own.
    const RETRIES: &[Retry] = &[Retry::Immediately, Retry::AfterSettling];

    /// Whether each run needs a database of its own, which takes longer.
    const OWN_STORE: bool = false;

    /// Sets up what the use case needs; nothing fails here.
    async fn given(world: &World) -> Self;

    /// The request. A retry is the same request again.
    async fn act(&self, world: &World) -> Self::Answer;

    /// Checks the settled world, beyond the invariants, after these answers; `None` where the process died instead of
    /// answering.
    async fn check(&self, world: &World, answers: &[Option<Self::Answer>]);
}

/// When the caller retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Before the resolver has run.
    Immediately,
    /// After resolver and delivery have finished their work; the first answer is checked at that point.
    AfterSettling,
}

impl Retry {
    /// For background work, which has no caller: the retry is its next run.
    pub(crate) const IN_BACKGROUND: &[Self] = &[Self::Immediately];
}

/// Runs the use case twice without a fault, then with each fault at its first, second, third … call until it passes
/// untouched. After every run the world settles, the invariants hold, and the answers were true.
pub(crate) async fn fails_at_every_step<U: UseCase>() {
    let name = type_name::<U>().rsplit("::").next().unwrap_or_default();
    let shared = empty_store();
    let store = || if U::OWN_STORE { empty_store() } else { Arc::clone(&shared) };
    let (mut runs, mut steps) = (0, Vec::new());
    for retry in U::RETRIES.iter().copied() {
        assert_eq!(Box::pin(run::<U>(&World::within(&store(), runs).await, retry, None)).await, None);
        runs += 1;
        for fault in Fault::ALL {
            let mut struck = Vec::new();
            loop {
                let at = struck.len() + 1;
                assert!(at < MOST_STEPS, "{name} never ends");
                println!("{name}: {fault:?} at call {at}, retry {retry:?}, after {struck:?}");
                let world = World::within(&store(), runs).await;
                runs += 1;
                let Some(call) = Box::pin(run::<U>(&world, retry, Some((fault, at)))).await else { break };
                struck.push(call);
            }
            if !struck.is_empty() {
                steps.push(format!("{fault:?} {}", struck.len()));
            }
        }
    }
    println!("{name}: {runs} runs; {}", steps.join(", "));
    assert!(!steps.is_empty(), "{name} makes no call that can fail");
}

/// One run; returns the call that was struck, or `None` where there were fewer calls.
async fn run<U: UseCase>(world: &World, retry: Retry, fault: Option<(Fault, usize)>) -> Option<&'static str> {
    // Whole use cases are large futures, and a test's stack is small.
    let case = Box::pin(U::given(world)).await;
    if let Some((fault, at)) = fault {
        world.faults.arm(fault, at);
    }
    let first = world.survive(Box::pin(case.act(world))).await;
    let struck = world.faults.disarm();
    let mut answers = vec![first];
    if retry == Retry::AfterSettling {
        Box::pin(world.settle()).await;
        Box::pin(case.check(world, &answers)).await;
        world.check().await;
    } else {
        // A retry does not arrive within the same millisecond.
        sleep(Duration::from_millis(5)).await;
    }
    answers.push(Some(Box::pin(case.act(world)).await));
    Box::pin(world.settle()).await;
    Box::pin(case.check(world, &answers)).await;
    world.check().await;
    struck
}
