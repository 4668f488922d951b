//! What is broken, and in which order: all of it follows from the seed.

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use crate::cluster::TOLLGATES;

/// How often each kind of thing happens.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Counts {
    /// How often the leader's PostgreSQL and Patroni are killed.
    #[arg(long, default_value_t = 4, value_name = "COUNT")]
    pub(crate) leader_kills: usize,
    /// How often the network is cut.
    #[arg(long, default_value_t = 4, value_name = "COUNT")]
    pub(crate) partitions: usize,
    /// How often a Tollgate node is killed.
    #[arg(long, default_value_t = 3, value_name = "COUNT")]
    pub(crate) node_kills: usize,
    /// How often a process is paused: the leader, the provider, a Tollgate node, a standby, in turn.
    #[arg(long, default_value_t = 4, value_name = "COUNT")]
    pub(crate) pauses: usize,
    /// How often a PostgreSQL node's disk fills up. Needs root, for a small file system in memory.
    #[arg(long, default_value_t = 1, value_name = "COUNT")]
    pub(crate) full_disks: usize,
    /// How often the clock of the second Tollgate node jumps by hours; that of the first is an hour ahead. 0 leaves both right.
    #[arg(long, default_value_t = 4, value_name = "COUNT")]
    pub(crate) clock_jumps: usize,
}

/// One thing that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mishap {
    LeaderKilled,
    /// The leader is separated from etcd and the other nodes; Tollgate still reaches it.
    LeaderIsolated,
    /// The leader is separated from everybody.
    LeaderUnreachable,
    LeaderPaused,
    StandbyPaused,
    /// One Tollgate node hears nothing from the leader.
    TollgateSilenced(usize),
    /// Every connection between Tollgate and the leader is reset, for a while.
    TollgatesCut,
    TollgateKilled(usize),
    TollgatePaused(usize),
    ProviderPaused,
    DiskFull,
    /// The second Tollgate node's clock is so many hours ahead from now on.
    ClockJumped(i64),
}

impl Mishap {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::LeaderKilled => "leader killed",
            Self::LeaderIsolated => "leader isolated from its cluster",
            Self::LeaderUnreachable => "leader isolated from everybody",
            Self::LeaderPaused => "leader paused",
            Self::StandbyPaused => "standby paused",
            Self::TollgateSilenced(_) => "one Tollgate node cut from leader",
            Self::TollgatesCut => "both Tollgate nodes cut from leader",
            Self::TollgateKilled(_) => "Tollgate node killed",
            Self::TollgatePaused(_) => "Tollgate node paused",
            Self::ProviderPaused => "provider paused",
            Self::DiskFull => "disk full",
            Self::ClockJumped(_) => "clock of a Tollgate node jumped",
        }
    }
}

/// The order of the faults. The same seed and counts give the same.
pub(crate) fn plan(seed: u64, counts: Counts) -> Vec<Mishap> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut plan = vec![Mishap::LeaderKilled; counts.leader_kills];
    plan.extend(vec![Mishap::DiskFull; counts.full_disks]);
    for _ in 0..counts.node_kills {
        plan.push(Mishap::TollgateKilled(random.random_range(0..TOLLGATES)));
    }
    for number in 0..counts.partitions {
        plan.push(match number % 4 {
            0 => Mishap::LeaderIsolated,
            1 => Mishap::TollgateSilenced(random.random_range(0..TOLLGATES)),
            2 => Mishap::LeaderUnreachable,
            _ => Mishap::TollgatesCut,
        });
    }
    for number in 0..counts.pauses {
        plan.push(match number % 4 {
            0 => Mishap::LeaderPaused,
            1 => Mishap::ProviderPaused,
            2 => Mishap::TollgatePaused(random.random_range(0..TOLLGATES)),
            _ => Mishap::StandbyPaused,
        });
    }
    plan.extend((0..counts.clock_jumps).map(|_| {
        let hours = random.random_range(1..6);
        Mishap::ClockJumped(if random.random_bool(0.4) { -hours } else { hours })
    }));
    plan.shuffle(&mut random);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_order_of_as_many_faults_as_wanted() {
        let counts = Counts {
            leader_kills: 3,
            partitions: 5,
            node_kills: 2,
            pauses: 4,
            full_disks: 1,
            clock_jumps: 2,
        };
        let first = plan(7, counts);
        assert_eq!(first, plan(7, counts));
        assert_ne!(first, plan(8, counts));
        assert_eq!(first.len(), 17);
        let kills = first.iter().filter(|mishap| **mishap == Mishap::LeaderKilled);
        assert_eq!(kills.count(), 3);
    }
}
