//! Routing, circuits and attempts together, against an oracle that keeps everything and computes each step from the beginning.
//!
//! `TOLLGATE_ROUTE_CASES` sets how many cases are drawn, `TOLLGATE_ROUTE_SEED` replays a run.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;
use tollgate_domain::{
    Flow,
    metadata::MetadataValue,
    routing::RouteOutcome::{self, Skipped, Unavailable},
};
use tollgate_engine::{PrepareError, PrepareRequest};

use crate::support::{config, provider::WEBHOOK_SECRET, requests::card_request, world::World};

const USUAL_CASES: u64 = 20;
const MOST_USUAL_CASES: u64 = 400;
const OUTCOMES: [&str; 9] =
    ["first", "fallback", "none", "unknown", "skipped", "unavailable", "circuit", "costs", "not ready"];
const CASES_OF_A_WORLD: u64 = 500;
const STEPS: usize = 25;
const ACCOUNTS: [char; 3] = ['a', 'b', 'c'];
const PRINCIPAL: u64 = 1_000;

#[tokio::test(start_paused = true)]
async fn every_payment_goes_where_the_oracle_says() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let mut draw = Draw::seeded("TOLLGATE_ROUTE_SEED");
    let mut met = BTreeMap::new();
    let mut world = World::new().await;
    let wanted = number("TOLLGATE_ROUTE_CASES").unwrap_or(USUAL_CASES);
    for case in 0..wanted.max(MOST_USUAL_CASES) {
        // Some outcomes are rare: without them, there is more to draw.
        if case >= wanted && OUTCOMES.iter().all(|outcome| met.contains_key(outcome)) {
            break;
        }
        // A database of its own now and then, so that none becomes large. Each case has providers of its own.
        if case > 0 && case % CASES_OF_A_WORLD == 0 {
            world = World::new().await;
        }
        run(&world, case, &mut draw, &mut met).await;
    }
    println!("{met:?}");
    for outcome in OUTCOMES {
        assert!(met.contains_key(outcome), "no case met {outcome}: {met:?}");
    }
}

/// A configuration as the oracle sees it.
struct Case {
    number: u64,
    /// Whether a provider has its credentials, and its fixed fee.
    providers: [(bool, u64); 3],
    /// Providers and their weights.
    split: Vec<(usize, u64)>,
    fallbacks: Vec<usize>,
    may_cost_more: bool,
    minimum_calls: u64,
    failure_percent: u64,
}

/// How a provider is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Answers,
    /// No call arrives.
    Unreachable,
    /// Every call arrives, and no answer does.
    Silent,
}

async fn run(world: &World, number: u64, draw: &mut Draw, met: &mut BTreeMap<&'static str, u64>) {
    let case = Case::draw(number, draw);
    {
        let mut records = world.providers.records();
        records.unreachable.clear();
        records.silent.clear();
        // What earlier cases have made says nothing here.
        records.pages.clear();
        records.calls.clear();
    }
    world.configure(case.document()).await;
    let mut reach = [Reach::Answers; 3];
    let mut circuits: [OracleCircuit; 3] = Default::default();
    for step in 0..STEPS {
        match draw.below(8) {
            0 => {
                reach = [(); 3].map(|()| match draw.below(5) {
                    0 | 1 => Reach::Unreachable,
                    2 => Reach::Silent,
                    _ => Reach::Answers,
                });
                let those = |wanted: Reach| {
                    let all = ACCOUNTS.iter().zip(reach);
                    all.filter(|(_, reach)| *reach == wanted).map(|(account, _)| *account).collect()
                };
                let mut records = world.providers.records();
                records.unreachable = those(Reach::Unreachable);
                records.silent = those(Reach::Silent);
            }
            1 => sleep(Duration::from_millis(draw.below(40_000))).await,
            _ => {
                let customer = format!("customer-{}", draw.below(1_000));
                let now = world.engine().clock().now().unix_millis();
                let expected = case.expect(&customer, now, reach, &mut circuits, met);
                let answer = world.engine().prepare(&world.view(), of_customer(&customer), "req").await;
                let found = match answer {
                    Ok(prepared) => Found::at(&prepared.payment.order, "first"),
                    Err(PrepareError::Recorded { reference, error }) => {
                        let payment = world.payment(reference).await;
                        let is_unknown =
                            payment.progress.preparation == tollgate_domain::card::Preparation::Preparing;
                        assert!(matches!(*error, PrepareError::Unavailable { .. }), "{error:?}");
                        Found::at(&payment.order, if is_unknown { "unknown" } else { "none" })
                    }
                    Err(PrepareError::NotConfigured { .. } | PrepareError::CircuitOpen(_)) => {
                        Found::default()
                    }
                    Err(error) => panic!("{error:?}"),
                };
                assert_eq!(found, expected, "step {step} of {}", case.document());
            }
        }
    }
}

/// What became of a payment.
#[derive(Debug, PartialEq, Eq, Default)]
struct Found {
    /// `first` where it can be paid, `unknown` where its provider may have it, `none` where nobody has, and nothing where
    /// nothing was recorded.
    end: &'static str,
    provider: String,
    total: u64,
    attempts: Vec<(String, RouteOutcome)>,
}

impl Found {
    fn at(order: &tollgate_domain::card::CardOrder, end: &'static str) -> Self {
        let attempts = order.route.attempts.iter();
        Self {
            end,
            provider: order.provider.clone(),
            total: order.fee.total_debit.get(),
            attempts: attempts.map(|attempt| (attempt.provider.clone(), attempt.outcome)).collect(),
        }
    }
}

fn of_customer(customer: &str) -> PrepareRequest {
    let mut request = card_request(Flow::HostedCheckout, PRINCIPAL);
    let pair = ("customer".to_owned(), MetadataValue::Scalar(customer.to_owned()));
    request.quote.metadata = [pair].into_iter().collect();
    request
}

impl Case {
    /// A provider's name: another in every case, so that its circuit is new.
    fn name(&self, provider: usize) -> String {
        format!("p{}_{provider}", self.number)
    }

    fn draw(number: u64, draw: &mut Draw) -> Self {
        let mut order = [0, 1, 2];
        for place in (1..3).rev() {
            let other = draw.below(u64::try_from(place).unwrap() + 1);
            order.swap(place, usize::try_from(other).unwrap());
        }
        let shares = usize::try_from(1 + draw.below(3)).unwrap();
        let split: Vec<_> = order.iter().take(shares).map(|it| (*it, 1 + draw.below(9))).collect();
        let mut fallbacks: Vec<usize> = order.into_iter().rev().filter(|_| draw.below(4) > 0).collect();
        if shares == 1 {
            fallbacks.retain(|it| *it != split[0].0);
        }
        Self {
            number,
            providers: [(); 3].map(|()| (draw.below(6) > 0, 10 * (1 + draw.below(3)))),
            split,
            fallbacks,
            may_cost_more: draw.below(2) == 0,
            minimum_calls: 2 + draw.below(4),
            failure_percent: if draw.below(2) == 0 { 50 } else { 100 },
        }
    }

    fn document(&self) -> Value {
        let mut document = config::document();
        document["fees"] = json!([]);
        document["routing"]["ach"] = Value::Null;
        for (at, (is_ready, fixed)) in self.providers.into_iter().enumerate() {
            let key = is_ready.then(|| format!("key of account {}", ACCOUNTS[at]));
            document["providers"][self.name(at)] = json!({
                "adapter": "stripe", "baseUrl": "https://provider.example",
                "credentials": { "secretKey": key, "publishableKey": "public", "webhookSecret": WEBHOOK_SECRET },
            });
            document["fees"].as_array_mut().unwrap().push(json!({
                "provider": self.name(at), "paymentMethod": "web_card", "channel": "none", "currency": "USD",
                "platform": { "enabled": true, "fixedFeeMinor": fixed.to_string() },
            }));
        }
        let target = |at: usize| json!({ "provider": self.name(at), "channel": "web_card" });
        let share = |(at, weight): &(usize, u64)| {
            let mut share = target(*at);
            share["weight"] = json!(weight);
            share
        };
        let fallbacks: Vec<_> = self.fallbacks.iter().map(|at| target(*at)).collect();
        let split: Vec<_> = self.split.iter().map(share).collect();
        document["routing"]["web_card"] = json!({
            "default": { "split": split, "splitBy": "metadata.customer", "fallbacks": fallbacks }
        });
        if let [(only, _)] = self.split.as_slice() {
            let mut one = target(*only);
            one["fallbacks"] = json!(fallbacks);
            document["routing"]["web_card"]["default"] = one;
        }
        document["settings"] = json!({
            "fallbackMayCostMore": self.may_cost_more,
            "circuit": { "minimumCalls": self.minimum_calls, "failurePercent": self.failure_percent },
        });
        document
    }

    /// The share a customer falls into.
    fn pick(&self, customer: &str) -> usize {
        let total: u64 = self.split.iter().map(|(_, weight)| weight).sum();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in customer.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        let point = u64::try_from((u128::from(hash) * u128::from(total)) >> 64).unwrap();
        let mut end = 0;
        let holds = |(_, weight): &&(usize, u64)| {
            end += weight;
            point < end
        };
        self.split.iter().find(holds).unwrap().0
    }

    fn expect(
        &self,
        customer: &str,
        now: i64,
        reach: [Reach; 3],
        circuits: &mut [OracleCircuit; 3],
        met: &mut BTreeMap<&'static str, u64>,
    ) -> Found {
        let mut meet = |what| *met.entry(what).or_default() += 1;
        let total = |at: usize| PRINCIPAL + self.providers[at].1;
        let first = self.pick(customer);
        let mut attempts = Vec::new();
        // The last provider that a payment was recorded at.
        let mut recorded: Option<(usize, usize)> = None;
        for at in std::iter::once(first).chain(self.fallbacks.iter().copied()) {
            if attempts.iter().any(|(tried, _)| *tried == self.name(at)) {
                continue;
            }
            let skip = if at != first && !self.may_cost_more && total(at) > total(first) {
                Some("costs")
            } else if !self.providers[at].0 {
                Some("not ready")
            } else if !circuits[at].admits(now) {
                Some("circuit")
            } else {
                None
            };
            if let Some(why) = skip {
                meet(why);
                meet("skipped");
                attempts.push((self.name(at), Skipped));
                continue;
            }
            recorded = Some((at, attempts.len()));
            circuits[at].note(now, reach[at] != Reach::Answers, self);
            let end = match reach[at] {
                Reach::Unreachable => {
                    meet("unavailable");
                    attempts.push((self.name(at), Unavailable));
                    continue;
                }
                Reach::Silent => "unknown",
                Reach::Answers => "first",
            };
            meet(if end == "first" && !attempts.is_empty() { "fallback" } else { end });
            return Found { end, provider: self.name(at), total: total(at), attempts };
        }
        meet("none");
        match recorded {
            None => Found::default(),
            // It stays on record where it was tried last.
            Some((at, before)) => {
                attempts.truncate(before);
                Found { end: "none", provider: self.name(at), total: total(at), attempts }
            }
        }
    }
}

/// A circuit that forgets nothing: outcomes since it last changed its mind, and when it opened.
#[derive(Default)]
struct OracleCircuit {
    outcomes: Vec<(i64, bool)>,
    /// When it was last opened.
    opened: Option<i64>,
    /// When probing began, how many probes were given since, and how many succeeded.
    probing: Option<(i64, u32, u32)>,
}

impl OracleCircuit {
    fn admits(&mut self, now: i64) -> bool {
        let Some(opened) = self.opened else { return true };
        let (begun, given, succeeded) = match self.probing {
            None if now < opened + 30_000 => return false,
            None => (now, 0, 0),
            Some((begun, _, succeeded)) if now >= begun + 30_000 => (now, 0, succeeded),
            Some(probing) => probing,
        };
        if given == 3 {
            return false;
        }
        self.probing = Some((begun, given + 1, succeeded));
        true
    }

    fn note(&mut self, now: i64, failed: bool, case: &Case) {
        if self.opened.is_none() {
            self.outcomes.push((now, failed));
            // The minute is counted in parts of six seconds.
            let part = |at: i64| at.div_euclid(6_000);
            let counted: Vec<_> = self.outcomes.iter().filter(|(at, _)| part(*at) > part(now) - 10).collect();
            let failures = counted.iter().filter(|(_, failed)| *failed).count();
            let [failures, calls] = [failures, counted.len()].map(|count| u64::try_from(count).unwrap());
            if failures > 0 && calls >= case.minimum_calls && failures * 100 >= calls * case.failure_percent {
                *self = Self { opened: Some(now), ..Self::default() };
            }
        } else if failed {
            *self = Self { opened: Some(now), ..Self::default() };
        } else if let Some((begun, given, succeeded)) = self.probing {
            self.probing = Some((begun, given, succeeded + 1));
            if succeeded + 1 == 3 {
                *self = Self::default();
            }
        }
    }
}

/// Numbers from a seed.
pub(crate) struct Draw(u64);

impl Draw {
    /// From the seed in this variable, or from any.
    pub(crate) fn seeded(variable: &str) -> Self {
        let seed = std::env::var(variable).map_or_else(
            |_| {
                let mut bytes = [0; 8];
                tollgate_vault::fill_random(&mut bytes).unwrap();
                u64::from_le_bytes(bytes)
            },
            |text| text.parse().unwrap(),
        );
        println!("{variable}={seed}");
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
