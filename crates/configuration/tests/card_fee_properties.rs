//! Card fees against a second, slow decision that knows the facts by itself: for every payment the largest fee that none of them
//! forbids. It reads no rule file, so that a mistake in that shows, too.
//!
//! `TOLLGATE_FEE_CASES` is how many payments are drawn (`make fees` draws millions), `TOLLGATE_FEE_SEED` replays a run.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::match_same_arms,
    clippy::too_many_lines,
    missing_docs
)]

use std::{
    collections::BTreeMap,
    env,
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use jiff::{
    ToSpan,
    civil::{Date, date},
};
use tollgate_configuration::built_in_fee_rules;
use tollgate_domain::{
    BasisPoints, Flow, Minor, Principal,
    card_fee::{
        Brand, CardFacts, Cost, Country, FeeCase, FeeKind, FeeProgram, Funding, Instrument, Mcc, Override,
        PaymentFacts, Place, State, decide,
    },
    fee::{FeeEntry, FeeLayer},
};

const USUAL_CASES: u64 = 100_000;

/// SplitMix64: every seed gives a run that any machine repeats.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True in so many of a hundred draws.
    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    fn amount(&mut self) -> u64 {
        match self.below(20) {
            0 => 1_000_000_000_000_000_000 - self.below(1_000),
            1..=4 => self.below(100),
            5..=9 => self.below(5_000),
            _ => self.below(1_000_000),
        }
    }
}

const STATES: &str = "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND \
                      OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY PR";
const ELSEWHERE: &str = "GB FR DE NO AU CA CA-ON CA-QC CA-ZZ NZ IN BR JP PR US US-ZZ";
const OVERRIDES: &[&str] = &[
    "US-TX",
    "US-CA",
    "US-CO:cost",
    "US-DE",
    "US-MT",
    "US-NV",
    "US-CT",
    "US-MA",
    "GB",
    "GB:commercial",
    "CA",
    "CA-QC",
    "NZ",
    "BR",
    "IN",
    "AU",
    "EU",
    "payer_place:merchant",
];
const MCCS: [&str; 5] = ["5999", "5812", "9399", "8220", "4900"];
const TODAYS: [Date; 3] = [date(2026, 9, 30), date(2026, 11, 18), date(2027, 3, 1)];

fn place(draw: &mut Draw, places: &[Place]) -> Place {
    // The common and the peculiar ones often, so that both sides meet them.
    let peculiar =
        ["US-GA", "US-CO", "US-OK", "US-NY", "US-TX", "US-ME", "US-NJ", "US-MN", "GB", "CA-ON", "US-IL"];
    if draw.percent(50) { Place::parse(draw.of(&peculiar)).unwrap() } else { draw.of(places) }
}

fn layer(draw: &mut Draw, kind: FeeKind) -> FeeLayer {
    let bounded = draw.percent(10);
    let percent = match kind {
        FeeKind::Convenience if draw.percent(80) => 0,
        _ if draw.percent(20) => 0,
        _ => draw.below(600) as u16,
    };
    FeeLayer {
        enabled: draw.percent(85),
        fixed: Minor::new(if draw.percent(50) { 0 } else { draw.below(400) }).unwrap(),
        percent: BasisPoints::new(percent).unwrap(),
        minimum: bounded.then(|| Minor::new(draw.below(50)).unwrap()),
        cap: bounded.then(|| Minor::new(50 + draw.below(5_000)).unwrap()),
    }
}

fn program(draw: &mut Draw, merchant: Place, today: Date) -> FeeProgram {
    let all = [Brand::Visa, Brand::Mastercard, Brand::Amex, Brand::Discover];
    let accepted =
        if draw.percent(20) { Vec::new() } else { all.into_iter().filter(|_| draw.percent(70)).collect() };
    let mut overrides = Vec::new();
    for id in OVERRIDES {
        if draw.percent(12) {
            overrides.push(Override {
                id: (*id).into(),
                reason: "drawn".to_owned(),
                document: None,
                expires_on: today + (draw.below(500) as i64 - 60).days(),
            });
        }
    }
    FeeProgram {
        merchant,
        mcc: draw.percent(90).then(|| Mcc::parse(draw.of(&MCCS)).unwrap()),
        accepted_brands: accepted,
        cost: if draw.percent(92) {
            let percent = BasisPoints::new(draw.below(500) as u16).unwrap();
            vec![("cards".into(), Cost { percent, fixed: Minor::new(draw.of(&[0, 0, 10, 30])).unwrap() })]
        } else {
            Vec::new()
        },
        notice_given_on: draw.percent(95).then(|| today - (draw.of(&[0_i64, 29, 30, 31, 400]) - 1).days()),
        entry_notice_attested: draw.percent(92),
        amex_parity_confirmed: draw.percent(85),
        posted_total_price: draw.percent(50),
        online_only: draw.of(&[Some(false), Some(false), Some(false), Some(true), None]),
        overrides,
    }
}

fn facts(draw: &mut Draw, merchant: Option<Place>, places: &[Place]) -> PaymentFacts {
    let brand = if draw.percent(80) {
        draw.of(&[Brand::Visa, Brand::Mastercard, Brand::Amex, Brand::Discover])
    } else {
        draw.of(&Brand::ALL)
    };
    let card = CardFacts {
        brand,
        funding: if draw.percent(75) { Funding::Credit } else { draw.of(&Funding::ALL) },
        country: None,
        commercial: draw.of(&[None, Some(false), Some(true)]),
    };
    let instrument = match draw.below(20) {
        0 => Instrument::Unknown,
        1 => Instrument::NotCard,
        2 => Instrument::Brand(brand),
        _ => Instrument::Card(card),
    };
    let payer = match draw.below(10) {
        0 => None,
        1..=5 if merchant.is_some() => merchant,
        _ => Some(place(draw, places)),
    };
    PaymentFacts { instrument, payer, recurring: draw.percent(15) }
}

// --- The facts, a second time.

/// What a place says: `Yes`, at most at cost, not without an override of this name, or never.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Says {
    Yes,
    AtCost,
    OnlyWith(&'static str),
    No,
}

#[derive(Clone, Copy)]
struct Payment<'a> {
    kind: FeeKind,
    program: Option<&'a FeeProgram>,
    facts: PaymentFacts,
    flow: Flow,
    reports: bool,
    principal: u64,
    platform: u64,
    organization: u64,
    has_percent: bool,
    today: Date,
}

impl Payment<'_> {
    fn has_override(&self, id: &str) -> bool {
        let given = self.program.iter().flat_map(|program| &program.overrides).find(|given| &*given.id == id);
        given.is_some_and(|given| {
            let left = self.today.until(given.expires_on).unwrap().get_days();
            left > 0 && left <= 366
        })
    }

    /// What a place says of the kind of fee; `None` if nothing is known about it.
    fn says(&self, place: Place) -> Option<Says> {
        let text = place.to_string();
        let state = place.state.map(|state| state.to_string());
        let card = self.facts.instrument.card();
        let is_utility = self.program.and_then(|program| program.mcc) == Mcc::parse("4900");
        let european =
            "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK";
        let surcharge = self.kind == FeeKind::Surcharge;
        let service = self.kind == FeeKind::Service;
        let country = place.country.to_string();
        if country == "US" || country == "PR" {
            let state = if country == "PR" { "PR".to_owned() } else { state? };
            if !STATES.split_whitespace().any(|known| known == state) {
                return None;
            }
            return Some(match (state.as_str(), service) {
                ("CT" | "ME" | "MA" | "PR", false) => Says::No,
                ("CT", true) => Says::OnlyWith("US-CT"),
                ("MA", true) => Says::OnlyWith("US-MA"),
                ("PR", true) => Says::OnlyWith("US-PR"),
                ("ME", true) => Says::AtCost,
                ("TX", false) => Says::OnlyWith("US-TX"),
                ("CA", false) => Says::OnlyWith("US-CA"),
                // Of low confidence.
                ("DE", _) => Says::OnlyWith("US-DE"),
                ("MT", _) => Says::OnlyWith("US-MT"),
                ("NV", _) => Says::OnlyWith("US-NV"),
                ("MD" | "MS" | "NC" | "OH" | "RI" | "SD" | "WY", _) => Says::OnlyWith("not drawn"),
                ("IL", _) if is_utility => Says::No,
                // Beside the cost that limits every surcharge.
                ("NJ" | "NY" | "OK", _) if surcharge => Says::AtCost,
                _ => Says::Yes,
            });
        }
        if european.split_whitespace().any(|known| known == country) {
            return Some(if service { Says::OnlyWith("EU") } else { Says::No });
        }
        match (text.as_str(), service) {
            ("GB", false) => {
                let is_commercial = surcharge && card.is_some_and(|card| card.commercial == Some(true));
                let overridden = self.has_override("GB") || self.has_override("GB:commercial");
                Some(if is_commercial && overridden { Says::AtCost } else { Says::No })
            }
            // Nothing overrides it.
            ("GB", true) => Some(Says::No),
            ("AU", _) if self.today < date(2026, 10, 1) => None,
            ("AU", false) => Some(Says::No),
            ("AU", true) => Some(Says::OnlyWith("AU")),
            ("CA-QC", false) => Some(Says::No),
            ("CA-QC", true) => Some(Says::OnlyWith("CA-QC")),
            ("CA-ON", _) if surcharge => Some(Says::AtCost),
            ("CA-ON", _) => Some(Says::OnlyWith("CA")),
            ("NZ", _) => Some(Says::OnlyWith("NZ")),
            ("BR", _) => Some(Says::OnlyWith("BR")),
            // A prohibition of low confidence stays one.
            ("IN", false) => Some(Says::No),
            ("IN", true) => Some(Says::OnlyWith("IN")),
            _ => None,
        }
    }

    /// Whether a place lets the fee be; `Err` if not.
    fn allows(&self, place: Place) -> Result<Says, ()> {
        match self.says(place) {
            Some(Says::OnlyWith(id)) if self.has_override(id) => {
                // The law behind Nevada's doubtful entry is a limit at cost.
                Ok(if id == "US-NV" && self.kind == FeeKind::Surcharge { Says::AtCost } else { Says::Yes })
            }
            Some(Says::OnlyWith(_) | Says::No) | None => Err(()),
            Some(says) => Ok(says),
        }
    }

    /// The payer's place if it is known well enough, or the merchant's where an override says so.
    fn payer(&self) -> Option<Place> {
        let is_vague = |place: &Place| {
            place.state.is_none() && ["US", "CA"].contains(&place.country.to_string().as_str())
        };
        let known = self.facts.payer.filter(|place| !is_vague(place));
        let merchant = self.program.map(|program| program.merchant);
        known.or_else(|| merchant.filter(|_| self.has_override("payer_place:merchant")))
    }

    fn cost(&self) -> Option<u128> {
        let cost = &self.program?.cost.first()?.1;
        Some(
            u128::from(self.principal) * u128::from(cost.percent.get()) / 10_000
                + u128::from(cost.fixed.get()),
        )
    }

    /// Everything that a fee must not exceed; `None` if there must be none.
    fn limits(&self) -> Option<Vec<u128>> {
        let of = |bps: u128| u128::from(self.principal) * bps / 10_000;
        match self.kind {
            FeeKind::Neutral => Some(Vec::new()),
            FeeKind::Surcharge => {
                let program = self.program?;
                let card = self.facts.instrument.card().filter(|card| card.funding == Funding::Credit)?;
                let notice = program.notice_given_on?.until(self.today).unwrap().get_days() >= 30;
                let accepts = |brand: Brand| {
                    program.accepted_brands.is_empty() || program.accepted_brands.contains(&brand)
                };
                let amex = accepts(Brand::Amex) || card.brand == Brand::Amex;
                let payer = self.payer()?;
                let posted = [program.merchant, payer]
                    .iter()
                    .all(|place| place.to_string() != "US-NY" || program.posted_total_price);
                let is_ready = self.flow == Flow::PaymentComponent
                    && self.reports
                    && notice
                    && program.entry_notice_attested
                    && (!amex || program.amex_parity_confirmed)
                    && posted;
                if !is_ready {
                    return None;
                }
                let mut limits = vec![self.cost()?];
                for place in [program.merchant, payer] {
                    self.allows(place).ok()?;
                    limits.extend(match place.to_string().as_str() {
                        "US-CO" if self.has_override("US-CO:cost") => None,
                        "US-CO" | "US-OK" => Some(of(200)),
                        "US-MN" => Some(of(500)),
                        "US-MT" => Some(of(300)),
                        "CA-ON" => Some(of(240)),
                        _ => None,
                    });
                }
                match (program.merchant.country.to_string().as_str(), card.brand) {
                    ("US", Brand::Visa) => limits.push(of(300)),
                    ("US", Brand::Mastercard) => limits.push(of(400)),
                    ("US", Brand::Discover) | ("CA" | "GB", Brand::Visa | Brand::Mastercard) => {}
                    // No better and no worse than the others.
                    ("US", Brand::Amex) if accepts(Brand::Visa) => limits.push(of(300)),
                    ("US", Brand::Amex) if accepts(Brand::Mastercard) => limits.push(of(400)),
                    ("US", Brand::Amex) => {}
                    _ => return None,
                }
                Some(limits)
            }
            FeeKind::Convenience => {
                let program = self.program?;
                let places = [Some(program.merchant), self.payer()];
                let is_lawful = !self.has_percent
                    && self.platform == 0
                    && !self.facts.recurring
                    && program.online_only == Some(false)
                    && places.into_iter().flatten().all(|place| self.allows(place).is_ok());
                is_lawful.then(Vec::new)
            }
            FeeKind::Service => {
                let program = self.program?;
                let is_public = ["9399", "8220"].map(|mcc| Mcc::parse(mcc).unwrap()).contains(&program.mcc?);
                if !is_public || self.facts.instrument == Instrument::NotCard {
                    return None;
                }
                let mut limits = Vec::new();
                for place in [Some(program.merchant), self.payer()].into_iter().flatten() {
                    if self.allows(place).ok()? == Says::AtCost {
                        limits.push(self.cost()?);
                    }
                }
                Some(limits)
            }
        }
    }

    /// The most it can become: for the card and the place that may still turn out to be the payer's.
    fn up_to(&self) -> u64 {
        let whole = |payment: &Self| {
            let (platform, organization) = payment.largest();
            platform + organization
        };
        let is_open = self.facts.instrument.is_open() || self.payer().is_none();
        if self.kind != FeeKind::Surcharge || self.flow == Flow::HostedCheckout || !is_open {
            return whole(self);
        }
        let merchant = self.program.map(|program| program.merchant);
        let payer = if self.payer().is_none() { merchant } else { self.facts.payer };
        let of =
            |instrument| whole(&Self { facts: PaymentFacts { instrument, payer, ..self.facts }, ..*self });
        let brands = match (self.facts.instrument, self.program) {
            (Instrument::Brand(brand), _) => vec![brand],
            (Instrument::Unknown, Some(program)) if !program.accepted_brands.is_empty() => {
                program.accepted_brands.clone()
            }
            (Instrument::Unknown, _) => Brand::ALL.into(),
            (known, _) => return of(known),
        };
        let (funding, commercial) = (Funding::Credit, Some(true));
        let credit = |brand| Instrument::Card(CardFacts { brand, funding, country: None, commercial });
        brands.into_iter().map(|brand| of(credit(brand))).max().unwrap()
    }

    /// Platform's and organization's part of the largest fee that is lawful.
    fn largest(&self) -> (u64, u64) {
        let configured = u128::from(self.platform) + u128::from(self.organization);
        let Some(limits) = self.limits() else { return (0, 0) };
        let is_lawful = |fee: u128| fee <= configured && limits.iter().all(|limit| fee <= *limit);
        // Searched rather than computed: from the highest bit down.
        let mut fee = 0_u128;
        for bit in (0..64).rev() {
            let more = fee | (1 << bit);
            if is_lawful(more) {
                fee = more;
            }
        }
        let fee = fee as u64;
        let platform = self.platform.min(fee);
        (platform, fee - platform)
    }
}

#[test]
fn no_payment_is_charged_a_cent_more_than_the_facts_allow() {
    let cases = env::var("TOLLGATE_FEE_CASES").map_or(USUAL_CASES, |text| text.parse().unwrap());
    let seed = env::var("TOLLGATE_FEE_SEED")
        .map_or_else(|_| RandomState::new().hash_one("seed"), |text| text.parse().unwrap());
    println!("TOLLGATE_FEE_SEED={seed} TOLLGATE_FEE_CASES={cases}");
    let mut draw = Draw(seed);
    let rules = built_in_fee_rules();
    let us = Country::parse("US").unwrap();
    let states = STATES.split_whitespace().map(|state| Place { country: us, state: State::parse(state) });
    let places: Vec<Place> =
        states.chain(ELSEWHERE.split_whitespace().map(|text| Place::parse(text).unwrap())).collect();
    let mut met: BTreeMap<(FeeKind, &str), u64> = BTreeMap::new();
    let began = Instant::now();
    for case in 0..cases {
        let today = draw.of(&TODAYS);
        let kind = if draw.percent(70) { FeeKind::Surcharge } else { draw.of(&FeeKind::ALL) };
        let merchant = place(&mut draw, &places);
        let program = draw.percent(97).then(|| program(&mut draw, merchant, today));
        let facts = facts(&mut draw, program.as_ref().map(|program| program.merchant), &places);
        let flow = if draw.percent(92) { Flow::PaymentComponent } else { Flow::HostedCheckout };
        let entry = FeeEntry { platform: layer(&mut draw, kind), organization: layer(&mut draw, kind) };
        let principal = draw.amount().max(1);
        let configured = entry.assess(Principal::new(principal).unwrap());
        let reports = draw.percent(95);
        let fee_case = FeeCase {
            rules: &rules,
            program: program.as_ref(),
            kind,
            provider: "cards",
            reports_surcharge: reports,
            flow,
            facts,
            today,
        };
        let decided = decide(&fee_case, &configured);
        let payment = Payment {
            kind,
            program: program.as_ref(),
            facts,
            flow,
            reports,
            principal,
            platform: configured.platform.fee.get(),
            organization: configured.organization.fee.get(),
            has_percent: [entry.platform, entry.organization]
                .iter()
                .any(|layer| layer.enabled && layer.percent.get() > 0),
            today,
        };
        let largest = payment.largest();
        let replay =
            || format!("case {case}, TOLLGATE_FEE_SEED={seed}: {fee_case:#?} {configured:#?} {decided:#?}");
        assert_eq!((decided.platform.get(), decided.organization.get()), largest, "{}", replay());
        assert_eq!(decided.fee.get(), largest.0 + largest.1, "{}", replay());
        assert_eq!(decided.range.min, decided.fee, "{}", replay());
        assert_eq!(decided.range.max.get(), payment.up_to(), "{}", replay());
        let charged = if decided.fee == Minor::ZERO && configured.fee > Minor::ZERO {
            "stopped"
        } else if decided.fee < configured.fee {
            "lowered"
        } else {
            "whole"
        };
        *met.entry((kind, charged)).or_default() += 1;
        if decided.fee < decided.range.max {
            *met.entry((kind, "open")).or_default() += 1;
        }
        *met.entry((kind, decided.reason().as_str())).or_default() += 1;
    }
    let speed = cases as f64 / began.elapsed().as_secs_f64();
    println!("{cases} payments, {speed:.0} a second, 0 cents more than allowed; {met:?}");
    // A run in which nothing was charged would prove nothing.
    for (kind, charged) in [
        (FeeKind::Surcharge, "stopped"),
        (FeeKind::Surcharge, "lowered"),
        (FeeKind::Surcharge, "whole"),
        (FeeKind::Surcharge, "open"),
        (FeeKind::Surcharge, "network_cap"),
        (FeeKind::Surcharge, "place_cap"),
        (FeeKind::Surcharge, "cost_cap"),
        (FeeKind::Convenience, "stopped"),
        (FeeKind::Convenience, "whole"),
        (FeeKind::Service, "lowered"),
        (FeeKind::Service, "whole"),
        (FeeKind::Neutral, "whole"),
    ] {
        assert!(met.contains_key(&(kind, charged)), "{kind:?} {charged}: {met:?}");
    }
}
