//! What the rules make of a case, whatever the amount: asked once, computed for every payment like it.

use std::{slice, sync::Arc};

use crate::{
    card_fee::{
        FeeDecision, FeeKind, FeeRange, Reason, ReasonCode,
        case::FeeCase,
        facts::{Brand, CardFacts, Funding, Instrument, PaymentFacts, Place},
        limits::{Asked, Check, FeeShape, Side},
        program::Cost,
        rules::PAYER_AT_MERCHANT,
    },
    fee::FeeSnapshot,
    money::Minor,
    payment::Flow,
};

/// How much of a configured fee may be asked for, and why. `configured` is what both layers come to by themselves.
pub fn decide(case: &FeeCase<'_>, configured: &FeeSnapshot) -> FeeDecision {
    FeePlan::new(case, FeeShape::of(configured)).decide(configured)
}

/// The decision about every payment of a case whose layers have the same shape.
#[derive(Debug)]
pub struct FeePlan {
    kind: FeeKind,
    exact: Answer,
    /// For the most favorable cards and payer, where card or payer are not known yet and still may become known. Only
    /// those that differ are kept.
    best: Option<Vec<Answer>>,
    cost: Option<Cost>,
    places: Arc<[Place]>,
    sentences: Arc<[Arc<str>]>,
    overrides: Arc<[Arc<str>]>,
    rules_version: Arc<str>,
}

impl FeePlan {
    pub fn new(case: &FeeCase<'_>, shape: FeeShape) -> Self {
        let asked = Asked::new(case, shape);
        Self {
            kind: case.kind,
            exact: Answer::new(&asked),
            best: best(case, shape, asked.payer.is_none()),
            cost: asked.cost(),
            places: places(&asked).into(),
            sentences: sentences(&asked).into(),
            overrides: overrides(&asked).into(),
            rules_version: Arc::clone(&case.rules.version),
        }
    }

    /// How much of the fee may be asked for, and why.
    pub fn decide(&self, configured: &FeeSnapshot) -> FeeDecision {
        let exact = self.exact.outcome(configured);
        let best = self.best.as_ref().and_then(|answers| {
            let outcomes = answers.iter().map(|answer| answer.outcome(configured));
            outcomes.reduce(|best, next| if next.fee > best.fee { next } else { best })
        });
        let (outcome, max) = match best {
            // Where even the best card gets nothing, the reason for that says more than that the card is unknown.
            Some(best) if best.fee == Minor::ZERO => (best, Minor::ZERO),
            Some(best) => (Outcome { fee: Minor::ZERO, cap: best.cap, ..exact }, best.fee),
            None => (exact, exact.fee),
        };
        let fee = outcome.fee;
        let mut reasons = vec![outcome.reason.clone()];
        if outcome.cap == Some(fee) && fee < configured.fee {
            self.exact.add_equal_limits(&mut reasons, configured, fee);
        }
        // The organization's layer is cut first.
        let platform = configured.platform.fee.min(fee);
        FeeDecision {
            kind: self.kind,
            configured: configured.fee,
            platform,
            organization: fee.checked_sub(platform).unwrap_or(Minor::ZERO),
            fee,
            range: FeeRange { min: fee, max },
            reasons,
            cap: outcome.cap,
            cost: self.cost.map(|cost| cost.of(configured.principal)),
            places: Arc::clone(&self.places),
            sentences: if max > Minor::ZERO { Arc::clone(&self.sentences) } else { Arc::default() },
            overrides: Arc::clone(&self.overrides),
            rules_version: Arc::clone(&self.rules_version),
        }
    }
}

/// What the rules answer about one card and payer.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    /// What stops the fee.
    stop: Option<Reason>,
    /// What limits it otherwise.
    limits: Vec<(Cost, Reason)>,
    /// What is said where nothing lowers it.
    within: Reason,
}

/// A fee and what decided it.
#[derive(Clone, Copy)]
struct Outcome<'a> {
    fee: Minor,
    reason: &'a Reason,
    cap: Option<Minor>,
}

impl Answer {
    fn new(asked: &Asked<'_>) -> Self {
        let kind = asked.case.kind;
        let reason = |code, side| Reason::of(code, source_of(asked, code, side));
        let stop = Check::of(kind).iter().copied().find(|check| asked.stops(*check));
        let side = (kind != FeeKind::Neutral).then_some(Side::Merchant);
        Self {
            stop: stop.map(|check| reason(check.code(), check.side())),
            limits: asked.limits().map(|limit| (limit.cap, reason(limit.code, limit.side))).collect(),
            within: reason(ReasonCode::AsConfigured, side),
        }
    }

    fn outcome(&self, configured: &FeeSnapshot) -> Outcome<'_> {
        if let Some(reason) = &self.stop {
            return Outcome { fee: Minor::ZERO, reason, cap: None };
        }
        // Of equal limits the first counts.
        let limits = self.limits.iter().map(|(cap, reason)| (cap.of(configured.principal), reason));
        let lowest = limits.reduce(|lowest, limit| if limit.0 < lowest.0 { limit } else { lowest });
        let cap = lowest.map(|(most, _)| most);
        match lowest {
            Some((most, reason)) if most < configured.fee => Outcome { fee: most, reason, cap },
            _ => Outcome { fee: configured.fee, reason: &self.within, cap },
        }
    }

    /// Adds what limits the fee just as much as what decided: the network before places, the merchant's before the payer's,
    /// the cost last.
    fn add_equal_limits(&self, reasons: &mut Vec<Reason>, configured: &FeeSnapshot, fee: Minor) {
        for (cap, reason) in &self.limits {
            if cap.of(configured.principal) == fee && reasons.iter().all(|known| known.code != reason.code) {
                reasons.push(reason.clone());
            }
        }
    }
}

/// Where the rule behind a code is written: the place's law, the network's rules, or what the rule file says of the code.
pub(super) fn source_of(asked: &Asked<'_>, code: ReasonCode, side: Option<Side>) -> Option<Arc<str>> {
    if let Some(rule) = side.and_then(|side| asked.rule(side)) {
        return Some(Arc::clone(&rule.source));
    }
    match (code, asked.network) {
        (ReasonCode::NetworkCap, Some(network)) => Some(Arc::clone(&network.source)),
        _ => asked.case.rules.source(code),
    }
}

/// What is answered about the most favorable cards and payer; `None` where nothing is left to learn. A country whose states
/// matter is not enough to know the payer's place; an override that stands for it is.
fn best(case: &FeeCase<'_>, shape: FeeShape, is_payer_open: bool) -> Option<Vec<Answer>> {
    let PaymentFacts { instrument, payer, recurring } = case.facts;
    let is_open = instrument.is_open() || is_payer_open;
    if case.kind != FeeKind::Surcharge || case.flow == Flow::HostedCheckout || !is_open {
        return None;
    }
    let merchant = || case.program.map(|program| program.merchant);
    let payer = if is_payer_open { merchant() } else { payer };
    let answer = |instrument| {
        let facts = PaymentFacts { instrument, payer, recurring };
        Answer::new(&Asked::new(&FeeCase { facts, ..*case }, shape))
    };
    let accepted = case.program.map(|program| program.accepted_brands.as_slice()).unwrap_or_default();
    let brands = match &instrument {
        Instrument::Brand(brand) => slice::from_ref(brand),
        Instrument::Unknown if accepted.is_empty() => &Brand::ALL,
        Instrument::Unknown => accepted,
        Instrument::Card(_) | Instrument::NotCard => return Some(vec![answer(instrument)]),
    };
    let mut answers: Vec<Answer> = Vec::new();
    for brand in brands.iter().copied() {
        let credit = CardFacts { brand, funding: Funding::Credit, country: None, commercial: Some(true) };
        let answer = answer(Instrument::Card(credit));
        if !answers.contains(&answer) {
            answers.push(answer);
        }
    }
    Some(answers)
}

fn places(asked: &Asked<'_>) -> Vec<Place> {
    if asked.case.kind == FeeKind::Neutral {
        return Vec::new();
    }
    let mut places = Vec::with_capacity(2);
    for side in [Side::Merchant, Side::Payer] {
        if let Some(rule) = asked.rule(side)
            && !places.contains(&rule.place)
        {
            places.push(rule.place);
        }
    }
    places
}

fn sentences(asked: &Asked<'_>) -> Vec<Arc<str>> {
    let mut sentences = Vec::new();
    if asked.case.kind != FeeKind::Surcharge {
        return sentences;
    }
    for rule in [Side::Merchant, Side::Payer].into_iter().filter_map(|side| asked.rule(side)) {
        let at_cost = rule.sentence_at_cost.as_ref().filter(|_| asked.is_cap_lifted(rule));
        if let Some(sentence) = at_cost.or(rule.sentence.as_ref())
            && !sentences.contains(sentence)
        {
            sentences.push(Arc::clone(sentence));
        }
    }
    sentences
}

/// The overrides in force that have to do with the places of the payment.
fn overrides(asked: &Asked<'_>) -> Vec<Arc<str>> {
    let Some(program) = asked.case.program.filter(|program| !program.overrides.is_empty()) else {
        return Vec::new();
    };
    let rules: Vec<_> =
        [Side::Merchant, Side::Payer].into_iter().filter_map(|side| asked.rule(side)).collect();
    let is_payer_open = asked.case.facts.payer.is_none_or(|place| asked.case.rules.needs_state(place));
    let in_force = program.overrides.iter().filter(|given| given.counts_on(asked.case.today));
    let concerns = in_force.filter(|given| {
        (&*given.id == PAYER_AT_MERCHANT && is_payer_open)
            || rules.iter().any(|rule| rule.has_override(&given.id))
    });
    concerns.map(|given| Arc::clone(&given.id)).collect()
}
