//! Every fault of an exchange: what the caller is told is never worse than the truth, and there is never more than one.

use tollgate_domain::ach::AchProviderStatus;
use tollgate_domain::card::ProviderStatus;
use tollgate_engine::ports::{Call, CallError};

use super::bench::{Bench, Case, Make, Seen, Standing};
use super::descriptions::{Description, Look};
use crate::support::hasty;

/// What a caller may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Done,
    Unsent,
    Unknown,
    Refused,
}

pub(crate) fn told<T>(call: &Call<T>) -> Told {
    match &call.outcome {
        Ok(_) => Told::Done,
        Err(CallError::Unsent(_)) => Told::Unsent,
        Err(CallError::Unknown(_)) => Told::Unknown,
        Err(CallError::Rejected(_)) => Told::Refused,
    }
}

/// The fault; what is told when it strikes once, and when it strikes every time; how many tries that takes; and whether
/// it was done although it struck every time.
pub(crate) const CASES: [(&str, Told, Told, usize, bool); 10] = [
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

/// Runs a test for everything an adapter makes, at the same time: all they do is wait.
async fn for_each_make<F: Future<Output = ()> + Send + 'static>(
    description: &'static Description,
    test: impl Fn(Bench, Make, &'static str, &'static str) -> F,
) {
    let mut running = tokio::task::JoinSet::new();
    for (make, operation, counted) in description.makes {
        running.spawn(test(Bench::start(description, hasty()).await, *make, operation, counted));
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

pub(super) async fn it_is_made_once_through_every_fault(description: &'static Description) {
    for_each_make(description, made_once).await;
}

async fn made_once(bench: Bench, make: Make, operation: &'static str, counted: &'static str) {
    for (kind, once, always, tries, done) in CASES {
        let (case, before) = (bench.begin(make).await, bench.count(counted).await);
        bench.fault(operation, kind, 1).await;
        let call = bench.make(&case).await;
        assert_eq!(told(&call), once, "{make:?} {kind} once: {call:?}");
        let made = bench.count(counted).await - before;
        assert_eq!(made, u64::from(once == Told::Done), "{make:?} {kind} once");
        if let (Ok(seen), "unknown_status") = (&call.outcome, kind) {
            assert_eq!(seen.standing, unrecognized(seen), "{make:?}: what nobody has heard of stays open");
        }

        let (case, before) = (bench.begin(make).await, bench.count(counted).await);
        bench.fault(operation, kind, 100).await;
        let call = bench.make(&case).await;
        assert_eq!(told(&call), always, "{make:?} {kind} always: {call:?}");
        assert_eq!(call.logs.last().unwrap().tries.len(), tries, "{make:?} {kind} always: {call:?}");
        bench.clear().await;
        assert_eq!(bench.count(counted).await - before, u64::from(done), "{make:?} {kind} always");
        // Looking by our own key tells which it was.
        let found = match &case {
            Case::Transfer(order) => bench.find(order).await.outcome.unwrap(),
            _ => None,
        };
        assert!(!matches!(case, Case::Transfer(_)) || found.is_some() == done, "{make:?} {kind}");
        // Asked again later, under the same key, it is done, and done once.
        let call = bench.make(&case).await;
        assert_eq!(told(&call), Told::Done, "{make:?} {kind} again: {call:?}");
        assert_eq!(bench.count(counted).await - before, 1, "{make:?} {kind} again");
        let again = call.outcome.unwrap();
        assert!(found.is_none_or(|found| found.name == again.name), "{make:?} {kind}");
    }
}

/// The provider works on the first try while the second comes: the second learns nothing, and asking later does.
pub(super) async fn a_slow_provider_is_not_believed_to_have_refused(description: &'static Description) {
    for_each_make(description, slow).await;
}

async fn slow(bench: Bench, make: Make, operation: &'static str, counted: &'static str) {
    let (case, before) = (bench.begin(make).await, bench.count(counted).await);
    // Long enough for the other tries to come meanwhile, also on a busy machine.
    bench.slow(operation, 8_000).await;
    let call = bench.make(&case).await;
    assert_eq!(told(&call), Told::Unknown, "{make:?}: {call:?}");
    let outcomes: Vec<_> = call.logs.last().unwrap().tries.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(outcomes[..2], ["timed out", bench.description.busy], "{make:?}");
    assert_eq!(bench.count(counted).await - before, 0, "{make:?}");
    for _ in 0..100 {
        if bench.count(counted).await > before {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    if let Case::Transfer(order) = &case {
        assert!(bench.find(order).await.outcome.unwrap().is_some(), "{make:?}");
    }
    let call = bench.make(&case).await;
    assert_eq!((told(&call), bench.count(counted).await - before), (Told::Done, 1), "{make:?}: {call:?}");
}

/// A refusal that comes after a try whose answer was lost says nothing about that try.
pub(super) async fn a_refusal_after_a_lost_answer_is_no_proof(description: &'static Description) {
    for_each_make(description, lost_then_refused).await;
}

async fn lost_then_refused(bench: Bench, make: Make, operation: &'static str, counted: &'static str) {
    // A card that is declined under the key of a try was declined in that try as well.
    if make == Make::Charge {
        return;
    }
    let (case, before) = (bench.begin(make).await, bench.count(counted).await);
    bench.fault(operation, "error_after", 1).await;
    bench.fault(operation, "refuse", 1).await;
    let call = bench.make(&case).await;
    assert_eq!(told(&call), Told::Unknown, "{make:?}: {call:?}");
    assert_eq!(bench.count(counted).await - before, 1, "{make:?}");
}

/// What is read instead of made: lost answers are asked for again, a status nobody has heard of stays open, and nothing
/// is ever made by it.
pub(super) async fn it_is_read_through_every_fault(description: &'static Description) {
    let mut running = tokio::task::JoinSet::new();
    for (make, look, operation) in description.looks {
        running.spawn(read_through_every_fault(description, *make, *look, operation));
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

async fn read_through_every_fault(
    description: &'static Description,
    make: Make,
    look: Look,
    operation: &'static str,
) {
    let bench = Bench::start(description, hasty()).await;
    let case = bench.begin(make).await;
    let made = bench.make(&case).await.outcome.unwrap().name;
    let (_, _, counted) = description.makes.iter().find(|(known, ..)| *known == make).unwrap();
    let (before, truth) = (bench.count(counted).await, look_at(&bench, &case, &made, look).await);
    let truth = truth.outcome.unwrap().standing;
    for (kind, once, always, tries, _) in CASES {
        for (count, expected) in [(1, once), (100, always)] {
            bench.fault(operation, kind, count).await;
            let call = look_at(&bench, &case, &made, look).await;
            assert_eq!(told(&call), expected, "{operation} {kind} {count}: {call:?}");
            let sent = call.logs.iter().find(|log| log.operation == operation).unwrap().tries.len();
            assert!(count == 1 || sent == tries, "{operation} {kind}: {call:?}");
            if let Ok(seen) = call.outcome {
                let expected = if kind == "unknown_status" { unrecognized(&seen) } else { truth.clone() };
                assert_eq!(seen.standing, expected, "{operation} {kind}");
            }
            bench.clear().await;
        }
    }
    assert_eq!(bench.count(counted).await, before, "{operation}");
}

async fn look_at(bench: &Bench, case: &Case, made: &str, look: Look) -> Call<Seen> {
    match (look, case) {
        (Look::Find, Case::Transfer(order)) => {
            let call = bench.find(order).await;
            Call { outcome: call.outcome.map(Option::unwrap), logs: call.logs }
        }
        _ => bench.read(case, made).await,
    }
}

/// A word from the future, for what was looked at.
fn unrecognized(seen: &Seen) -> Option<Standing> {
    let word = "a_status_from_the_future".to_owned();
    seen.standing.as_ref().map(|standing| match standing {
        Standing::Card(_) => Standing::Card(ProviderStatus::Unrecognized(word)),
        Standing::Transfer(_) => Standing::Transfer(AchProviderStatus::Unrecognized(word)),
    })
}
