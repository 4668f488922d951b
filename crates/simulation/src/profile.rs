//! What can go wrong in one run, and how often. Each seed switches some kinds of trouble on and leaves others off: runs
//! with one kind in plenty find what runs with a little of everything do not.

use crate::rng::Rng;

/// A long stretch of time between two busy ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The providers do not answer for longer than they remember keys.
    ProvidersDown,
    /// The database does not.
    StoreDown,
    /// Nothing happens.
    Quiet,
}

/// Chances are out of a thousand calls.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    pub(crate) nodes: usize,
    /// How far the machines' clocks are off at first, in milliseconds, and how often one of them jumps by hours.
    pub(crate) skew: u64,
    pub(crate) clock_jumps: u64,
    /// How long the busy time lasts, in milliseconds.
    pub(crate) busy: u64,
    pub(crate) gap: Option<Gap>,
    /// Transfers and card payments that callers want to make.
    pub(crate) transfers: u64,
    pub(crate) cards: u64,
    /// Lifetimes in seconds.
    pub(crate) preparation_lifetime: u64,
    pub(crate) token_lifetime: Option<u64>,
    pub(crate) checks_funds: bool,
    /// From this amount on, routing takes the card provider that cannot be asked.
    pub(crate) third_provider_from: u64,
    /// Whether transfers have a second bank to go to.
    pub(crate) falls_back: bool,
    /// The store: calls that fail, that stall, and how often it is away for a while.
    pub(crate) store_fails: u64,
    pub(crate) store_stalls: u64,
    pub(crate) store_outages: u64,
    /// Statements that the database cancels.
    pub(crate) statements_canceled: u64,
    /// Announcements of a changed directory that are lost.
    pub(crate) announcements_lost: u64,
    /// Providers: calls that fail, and windows in which they refuse our credentials or are away.
    pub(crate) provider_fails: u64,
    pub(crate) provider_refusals: u64,
    pub(crate) provider_outages: u64,
    /// Webhooks.
    pub(crate) webhooks_lost: u64,
    pub(crate) webhooks_repeated: u64,
    pub(crate) webhooks_late: u64,
    /// Deaths at a call, out of ten thousand, and by the clock, in a busy time.
    pub(crate) deaths_at_calls: u64,
    pub(crate) deaths_by_clock: u64,
    /// Endpoints of events that fail.
    pub(crate) endpoints_fail: u64,
    /// What operators change: accounts, credentials, routing, keys.
    pub(crate) operator_actions: u64,
    /// Refunds and disputes at the provider's own dashboard.
    pub(crate) dashboard: u64,
}

impl Profile {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let calm = rng.permille(60);
        let mut rate = |on: u64, rates: &[u64]| {
            let chosen = *rng.pick(rates);
            if rng.permille(on) && !calm { chosen } else { 0 }
        };
        let store_fails = rate(500, &[10, 40, 150]);
        let store_stalls = rate(400, &[10, 40]);
        let store_outages = rate(350, &[1, 2, 4]);
        let statements_canceled = rate(300, &[60, 300]);
        let clock_jumps = rate(400, &[1, 3, 6]);
        let announcements_lost = rate(300, &[300, 1_000]);
        let provider_fails = rate(600, &[50, 200, 450]);
        let provider_refusals = rate(350, &[1, 3]);
        let provider_outages = rate(300, &[1, 2]);
        let webhooks_lost = rate(450, &[200, 600, 1_000]);
        let webhooks_repeated = rate(400, &[200, 600]);
        let webhooks_late = rate(400, &[300, 800]);
        let deaths_at_calls = rate(400, &[8, 30, 80]);
        let deaths_by_clock = rate(350, &[1, 3, 6]);
        let endpoints_fail = rate(500, &[100, 500, 900]);
        let operator_actions = rate(500, &[1, 3, 6]);
        let dashboard = rate(400, &[200, 500]);
        let gap = rng.permille(120).then(|| *rng.pick(&[Gap::ProvidersDown, Gap::StoreDown, Gap::Quiet]));
        Self {
            nodes: usize::try_from(rng.within(1..4)).unwrap_or(1),
            skew: *rng.pick(&[0, 0, 40, 3_000, 45_000, 7_200_000]),
            clock_jumps,
            busy: rng.within(30_000..120_000),
            gap,
            transfers: rng.within(0..9),
            cards: rng.within(0..9),
            preparation_lifetime: *rng.pick(&[60, 60, 75, 3_600, 86_400]),
            token_lifetime: rng.permille(500).then_some(20),
            checks_funds: rng.permille(250),
            third_provider_from: *rng.pick(&[0, 0, 20_000, 70_000]),
            falls_back: rng.permille(500),
            store_fails,
            store_stalls,
            store_outages,
            statements_canceled,
            announcements_lost,
            provider_fails,
            provider_refusals,
            provider_outages,
            webhooks_lost,
            webhooks_repeated,
            webhooks_late,
            deaths_at_calls,
            deaths_by_clock,
            endpoints_fail,
            operator_actions,
            dashboard,
        }
    }
}
