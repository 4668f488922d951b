//! The same promises while many ask at once, from both nodes.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::task::JoinSet;
use tollgate_domain::{Currency, ledger::Cause};
use tollgate_engine::ports::{ConfigPut, Created, DirectoryVersion, Moved, Rotated, Store};

use super::{ALL, Nodes, at, created, issued, minor, put, wallet::books_balance};

/// Runs `count` of what `start` makes at once, every other one on the other node, and returns all answers.
pub async fn at_once<T, W>(nodes: &Nodes, count: usize, start: impl Fn(usize, Arc<dyn Store>) -> W) -> Vec<T>
where
    T: Send + 'static,
    W: Future<Output = T> + Send + 'static,
{
    let mut running = JoinSet::new();
    for place in 0..count {
        let node = if place % 2 == 0 { &nodes.one } else { &nodes.two };
        running.spawn(start(place, Arc::clone(node)));
    }
    running.join_all().await
}

pub async fn one_of_many_configurations_wins(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for round in 0..3 {
        let answers = at_once(nodes, 24, |place, node| {
            let change = nodes.new_change(round, &format!("{round}-{place}"));
            async move { node.put_config(environment, &change).await.unwrap() }
        })
        .await;
        let won = answers.iter().filter(|answer| matches!(answer, ConfigPut::Done { .. })).count();
        let stale =
            answers.iter().filter(|answer| **answer == ConfigPut::Stale { current: round + 1 }).count();
        assert_eq!((won, stale), (1, 23), "{answers:?}");
    }
    let history = nodes.two.config_history(environment, None, ALL).await.unwrap();
    assert_eq!(history.iter().map(|line| line.version).collect::<Vec<_>>(), [3, 2, 1]);
}

pub async fn withdrawals_never_overdraw(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 25 * 40 + 39, "f").await;
    let answers = at_once(nodes, 60, |place, node| {
        let movement = nodes.new_movement(Cause::Withdraw, 40, &format!("w{place}"));
        async move { node.move_funds(environment, &movement).await.unwrap() }
    })
    .await;
    let done = answers.iter().filter(|answer| matches!(answer, Moved::Done(_))).count();
    let refused =
        answers.iter().filter(|answer| **answer == Moved::Insufficient { available: minor(39) }).count();
    assert_eq!((done, refused), (25, 35), "{answers:?}");
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 39);
}

pub async fn one_reference_moves_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    // The wallet does not exist yet, so its first accounts are fought over too.
    let answers = at_once(nodes, 20, |_, node| {
        let movement = nodes.new_movement(Cause::Fund, 70, "same");
        async move { node.move_funds(environment, &movement).await.unwrap() }
    })
    .await;
    let mut postings = BTreeSet::new();
    let mut fresh = 0;
    for answer in answers {
        let Moved::Done(applied) = answer else { panic!("{answer:?}") };
        postings.insert(applied.posting);
        fresh += usize::from(!applied.replayed);
        assert_eq!(applied.balances.available, minor(70));
    }
    assert_eq!((postings.len(), fresh), (1, 1), "one posting, which all callers get");
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 70);
}

pub async fn funding_starts_a_wallet_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let answers = at_once(nodes, 30, |place, node| {
        let movement = nodes.new_movement(Cause::Fund, 1, &format!("f{place}"));
        async move { node.move_funds(environment, &movement).await.unwrap() }
    })
    .await;
    assert!(answers.iter().all(|answer| matches!(answer, Moved::Done(applied) if !applied.replayed)));
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 30);
}

pub async fn one_rotation_wins(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let old = nodes.key(environment).await.id;
    let answers = at_once(nodes, 16, |_, node| {
        let replacement = nodes.new_key(environment);
        async move { node.rotate_key(environment, old, &replacement, at(90_000)).await.unwrap() }
    })
    .await;
    let won = answers.iter().filter(|answer| matches!(answer, Rotated::Done(_))).count();
    let lost = answers.iter().filter(|answer| **answer == Rotated::NotLive).count();
    assert_eq!((won, lost), (1, 15), "{answers:?}");
    assert_eq!(nodes.keys(environment).await.len(), 2);
}

pub async fn one_environment_takes_the_name(nodes: &Nodes) {
    let application = nodes.application().await;
    let answers = at_once(nodes, 16, |_, node| {
        let environment = nodes.new_environment(&application, "live");
        async move { node.create_environment(&environment).await.unwrap() }
    })
    .await;
    let won = answers.iter().filter(|answer| matches!(answer, Created::Done(_))).count();
    let lost = answers.iter().filter(|answer| **answer == Created::NameTaken).count();
    assert_eq!((won, lost), (1, 15), "{answers:?}");
    assert_eq!(nodes.two.environments(application.id, super::all()).await.unwrap().len(), 1);
}

pub async fn repeated_units_are_done_once(nodes: &Nodes) {
    let application = nodes.application().await;
    let environment = nodes.new_environment(&application, "test");
    let id = environment.id;
    for answer in at_once(nodes, 8, |_, node| {
        let environment = environment.clone();
        async move { node.create_environment(&environment).await.unwrap() }
    })
    .await
    {
        created(answer);
    }
    let key = nodes.new_key(id);
    for answer in at_once(nodes, 8, |_, node| {
        let key = key.clone();
        async move { node.issue_key(&key).await.unwrap() }
    })
    .await
    {
        issued(answer);
    }
    let change = nodes.new_change(0, "{}");
    for answer in at_once(nodes, 8, |_, node| {
        let change = change.clone();
        async move { node.put_config(id, &change).await.unwrap() }
    })
    .await
    {
        assert_eq!(put(answer).0, 1);
    }
    let replacement = nodes.new_key(id);
    for answer in at_once(nodes, 8, |_, node| {
        let (key, replacement) = (key.id, replacement.clone());
        async move { node.rotate_key(id, key, &replacement, at(90_000)).await.unwrap() }
    })
    .await
    {
        assert!(matches!(answer, Rotated::Done(_)), "{answer:?}");
    }
    assert_eq!(nodes.keys(id).await.len(), 2);
    assert_eq!(nodes.two.config_history(id, None, ALL).await.unwrap().len(), 1);
}

/// While many change the directory, whoever follows it by deltas misses nothing and sees versions grow.
pub async fn versions_are_handed_out_once(nodes: &Nodes) {
    let environments =
        [nodes.environment().await.id, nodes.environment().await.id, nodes.environment().await.id];
    let watching = Arc::clone(&nodes.two);
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let watcher = tokio::spawn(async move {
        let mut since = DirectoryVersion::default();
        let mut seen = BTreeSet::new();
        loop {
            let last = stopped.try_recv().is_ok();
            let delta = watching.directory_since(since).await.unwrap();
            assert!(delta.version >= since, "{:?} after {since:?}", delta.version);
            assert!(delta.environments.is_empty() || delta.version > since);
            seen.extend(delta.environments.iter().flat_map(|state| state.keys.iter().map(|key| key.id)));
            since = delta.version;
            if last {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    });
    let answers = at_once(nodes, 45, |place, node| {
        let key = nodes.new_key(environments[place % 3]);
        async move { (key.id, issued(node.issue_key(&key).await.unwrap())) }
    })
    .await;
    stop.send(()).unwrap();
    let seen = watcher.await.unwrap();
    let versions: BTreeSet<_> = answers.iter().map(|(_, version)| *version).collect();
    assert_eq!(versions.len(), 45, "no version was handed out twice");
    assert_eq!(seen, answers.iter().map(|(key, _)| *key).collect(), "the follower saw every key");
}

pub async fn pins_agree(nodes: &Nodes) {
    let answers = at_once(nodes, 20, |place, node| async move {
        node.pin("fingerprint", &format!("value {place}")).await.unwrap()
    })
    .await;
    assert_eq!(answers.iter().collect::<BTreeSet<_>>().len(), 1, "{answers:?}");
    assert_eq!(nodes.two.pin("fingerprint", "late").await.unwrap(), answers[0]);
}

/// A reader never meets half a movement.
pub async fn reads_see_whole_units(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1, "first").await;
    let reading = nodes.clone();
    let reader = tokio::spawn(async move {
        for _ in 0..20 {
            let lines = reading.two.ledger(environment, Currency::USD, None, ALL).await.unwrap();
            assert_eq!(lines.iter().map(|line| line.amount_minor).sum::<i64>(), 0, "half a posting was read");
        }
    });
    at_once(nodes, 40, |place, node| {
        let movement = nodes.new_movement(Cause::Fund, 3, &format!("f{place}"));
        async move { node.move_funds(environment, &movement).await.unwrap() }
    })
    .await;
    reader.await.unwrap();
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 121);
}

/// Half of the callers go away after a moment of their own: each movement is there whole or not at all, and those
/// who stayed got theirs.
pub async fn a_caller_who_leaves_disturbs_nobody(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let answers = at_once(nodes, 60, |place, node| {
        let movement = nodes.new_movement(Cause::Fund, 1, &format!("f{place}"));
        async move {
            let moving = node.move_funds(environment, &movement);
            if place % 4 < 2 {
                let wait = Duration::from_micros(u64::try_from(place).unwrap() * 60);
                tokio::time::timeout(wait, moving).await.ok().map(Result::unwrap)
            } else {
                Some(moving.await.unwrap())
            }
        }
    })
    .await;
    let answered =
        answers.iter().flatten().inspect(|moved| assert!(matches!(moved, Moved::Done(_)), "{moved:?}"));
    let answered = u64::try_from(answered.count()).unwrap();
    assert!(answered >= 30, "all who stayed were answered");
    // What was left under way ends by itself; a later unit on each node still works.
    nodes.fund(environment, 1, "after").await;
    nodes.two.probe().await.unwrap();
    let held = books_balance(nodes, environment, Currency::USD).await;
    assert!((answered + 1..=61).contains(&held), "{answered} were told, {held} are there");
}
