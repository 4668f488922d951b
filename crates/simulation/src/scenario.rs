//! A run from beginning to end: set up, busy and in trouble, perhaps a long gap, then calm until nothing can change.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::sleep};

use crate::{
    actors::{cards, follower, operator, transfers},
    checks,
    node::{Cluster, Pace},
    profile::Gap,
    providers::WIRES,
    world::World,
};

const HOUR: Duration = Duration::from_hours(1);

pub(crate) async fn run(world: &Arc<World>) {
    let cluster = Cluster::new(world);
    world.book().cluster = Some(Arc::clone(&cluster));
    // Nothing goes wrong before there is anything to go wrong with.
    let troubled = world.clone();
    let pace = Pace::draw(world);
    cluster.start(0, pace).await;
    operator::set_up(&cluster).await;
    troubled.begin_trouble();
    for index in 1..cluster.count() {
        cluster.start(index, pace).await;
    }
    let mut background = JoinSet::new();
    background.spawn(follower::run(Arc::clone(&cluster)));
    background.spawn(audit_now_and_then(Arc::clone(&cluster)));
    let keeper = background.spawn(keep_alive(Arc::clone(&cluster), pace));
    background.spawn(mischief(Arc::clone(&cluster)));
    let mut callers = JoinSet::new();
    callers.spawn(operator::run(Arc::clone(&cluster)));
    for number in 0..world.profile.transfers {
        callers.spawn(transfers::run(Arc::clone(&cluster), number));
    }
    for number in 0..world.profile.cards {
        callers.spawn(cards::run(Arc::clone(&cluster), number));
    }
    sleep(Duration::from_millis(world.profile.busy)).await;
    if let Some(gap) = world.profile.gap {
        keeper.abort();
        pass_gap(&cluster, gap).await;
    }
    world.end_trouble();
    cluster.set_clocks();
    keeper.abort();
    restart(&cluster, pace).await;
    operator::lead_to(&cluster, 'a').await;
    while callers.join_next().await.is_some() {}
    // A minute, and the time between two looks for work.
    sleep(Duration::from_secs(65)).await;
    checks::canceled(&cluster).await;
    restart(&cluster, Pace::slow(Duration::from_secs(20))).await;
    operator::decide(&cluster, 'a').await;
    sleep(HOUR / 2).await;
    checks::prompt(&cluster).await;
    restart(&cluster, Pace::slow(Duration::from_mins(15))).await;
    // Long enough for every preparation to expire, and for a lost word to be noticed.
    sleep(HOUR * 32).await;
    // What was sent elsewhere while the configuration led there is finished from there.
    for account in ['b', 'c', 'a'] {
        operator::lead_to(&cluster, account).await;
        sleep(HOUR).await;
        operator::decide(&cluster, account).await;
        // A check that found another account configured is repeated after six hours.
        sleep(HOUR * 6).await;
    }
    background.abort_all();
    follower::read_on(&cluster).await;
    checks::end(&cluster).await;
    for index in 0..cluster.count() {
        cluster.kill(index, "the end");
    }
    world.book().cluster = None;
}

/// Longer than any provider remembers a key. One node is enough for it.
async fn pass_gap(cluster: &Arc<Cluster>, gap: Gap) {
    let world = &cluster.world;
    world.note("world", format_args!("a gap: {gap:?}"));
    world.begin_gap();
    let day = 26 * 3_600 * 1_000;
    match gap {
        Gap::ProvidersDown => WIRES.into_iter().for_each(|wire| world.provider_away(wire, day)),
        Gap::StoreDown => world.store_away(day),
        Gap::Quiet => {}
    }
    for index in 0..cluster.count() {
        cluster.kill(index, "a gap");
    }
    if gap == Gap::StoreDown {
        sleep(Duration::from_millis(day)).await;
    }
    cluster.start(0, Pace::slow(Duration::from_mins(5))).await;
    if gap != Gap::StoreDown {
        sleep(Duration::from_millis(day)).await;
    }
}

/// One node is enough for what is left to do, at its own pace.
async fn restart(cluster: &Arc<Cluster>, pace: Pace) {
    for index in 0..cluster.count() {
        cluster.kill(index, "a restart");
    }
    cluster.start(0, pace).await;
}

/// Somebody starts again what has died.
async fn keep_alive(cluster: Arc<Cluster>, pace: Pace) {
    loop {
        sleep(Duration::from_millis(500)).await;
        for index in cluster.dead() {
            cluster.world.pause(100..8_000).await;
            cluster.start(index, pace).await;
        }
    }
}

async fn audit_now_and_then(cluster: Arc<Cluster>) {
    while cluster.world.is_busy() {
        cluster.world.pause(8_000..20_000).await;
        checks::audit(&cluster).await;
        checks::taken_once(&cluster.world);
    }
}

/// Outages, refusals, clocks that jump and deaths by the clock.
async fn mischief(cluster: Arc<Cluster>) {
    let world = &cluster.world;
    let profile = world.profile.clone();
    let mut deeds = JoinSet::new();
    let spread = |times: u64, deed: fn(&Cluster)| {
        let cluster = Arc::clone(&cluster);
        async move {
            for _ in 0..times {
                let latest = cluster.world.profile.busy / times.max(1) * 2;
                cluster.world.pause(500..latest).await;
                if !cluster.world.is_over() {
                    deed(&cluster);
                }
            }
        }
    };
    deeds.spawn(spread(profile.store_outages, |cluster| {
        let millis = cluster.world.draw(300..25_000);
        cluster.world.store_away(millis);
    }));
    deeds.spawn(spread(profile.provider_outages, |cluster| {
        let (wire, millis) = (*cluster.world.pick(&WIRES), cluster.world.draw(2_000..60_000));
        cluster.world.provider_away(wire, millis);
    }));
    deeds.spawn(spread(profile.provider_refusals, |cluster| {
        let (wire, millis) = (*cluster.world.pick(&WIRES), cluster.world.draw(2_000..60_000));
        cluster.world.provider_refuses(wire, millis);
    }));
    deeds.spawn(spread(profile.clock_jumps, Cluster::jump));
    deeds.spawn(spread(profile.deaths_by_clock, |cluster| {
        let node = cluster.any_node();
        cluster.kill(node, "a kill");
    }));
    while deeds.join_next().await.is_some() {}
}
