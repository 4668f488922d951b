//! What may be charged where: the rules and a merchant's program, place by place, without a payment at hand.

use std::sync::Arc;

use jiff::civil::Date;
use tollgate_domain::{
    BasisPoints, Flow, Minor, PaymentMethod, Principal,
    card_fee::{
        Brand, CardFacts, Cost, FeeCase, FeeKind, FeeProgram, Funding, Instrument, Mcc, PaymentFacts, Place,
        PlaceRule, ReasonCode, Rules, decide,
    },
    fee::{FeeEntry, FeeLayer},
};

use crate::Configuration;

/// The kinds that a place may forbid or limit.
pub const TABLE_KINDS: [FeeKind; 3] = [FeeKind::Surcharge, FeeKind::Convenience, FeeKind::Service];

/// Ten thousand minor units, so that a fee of so many is a share of so many basis points.
const PRINCIPAL: u64 = 10_000;
/// A cost below the fee that is tried, so that a limit at cost shows as one.
const HIGH_COST: u16 = 9_999;
/// The provider of a merchant who has done everything.
const ANY_PROVIDER: &str = "any";

/// The most a fee may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    Nothing,
    /// A share of the principal, and never more than the cost where the kind is a surcharge.
    Share(BasisPoints),
    /// What accepting the card costs.
    Cost,
    /// As configured.
    Any,
}

impl Allowance {
    /// Allowances in order: what allows more is higher.
    pub const fn rank(self) -> u16 {
        match self {
            Self::Nothing => 0,
            Self::Share(bps) => bps.get(),
            Self::Cost => HIGH_COST,
            Self::Any => u16::MAX,
        }
    }
}

/// What may be charged of a kind in a place, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableCell {
    pub place: Place,
    pub kind: FeeKind,
    pub brand: Brand,
    pub funding: Funding,
    pub allowance: Allowance,
    pub reason: ReasonCode,
    /// Where the rule is written.
    pub source: Option<Arc<str>>,
}

/// Every place of the rules with every kind, brand of its country's networks and funding, for a merchant and a payer there who have
/// done everything that can be attested.
pub fn fee_table(rules: &Rules, today: Date) -> Vec<TableCell> {
    let mut cells = Vec::new();
    for rule in in_force(rules, today) {
        let brands = brands(rules, rule.place);
        for kind in TABLE_KINDS {
            let program = ready_program(rules, rule.place, kind);
            let case = ready_case(rules, &program, kind, today);
            for brand in &brands {
                cells.extend(Funding::ALL.map(|funding| attempt(&case, *brand, funding, rule.place).cell));
            }
        }
    }
    cells
}

/// A place, and what a payer there may be charged by a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceFees<'a> {
    pub rule: &'a PlaceRule,
    /// By kind, in the order of [`TABLE_KINDS`]: with a credit card of the network whose limit is the lowest, on 100.00.
    pub fees: Vec<TableCell>,
}

impl Configuration {
    /// What payers in each place may be charged by this environment's merchant as things stand. Without a program, by one there who
    /// has done everything.
    pub fn fees_by_place(&self, today: Date) -> Vec<PlaceFees<'_>> {
        let rules = &self.fee_rules;
        let places = in_force(rules, today).into_iter().map(|rule| {
            let fees = TABLE_KINDS.map(|kind| {
                if let Some(program) = &self.settings.fee_program {
                    return self.most_lawful(program, kind, rule.place, today);
                }
                let program = ready_program(rules, rule.place, kind);
                let ready = ready_case(rules, &program, kind, today);
                lowest(&ready, &brands(rules, rule.place), rule.place).map(|tried| tried.cell)
            });
            PlaceFees { rule, fees: fees.into_iter().flatten().collect() }
        });
        places.collect()
    }

    /// What the merchant may charge a payer there, at the provider where that is most.
    fn most_lawful(
        &self,
        program: &FeeProgram,
        kind: FeeKind,
        payer: Place,
        today: Date,
    ) -> Option<TableCell> {
        let brands = if program.accepted_brands.is_empty() {
            brands(&self.fee_rules, program.merchant)
        } else {
            program.accepted_brands.clone()
        };
        let (flow, facts) = (Flow::PaymentComponent, PaymentFacts::default());
        let providers = self.card_providers(kind);
        let tried = providers.into_iter().filter_map(|provider| {
            lowest(&self.fee_case(kind, provider, flow, facts, today), &brands, payer)
        });
        tried.reduce(|most, next| if next.fee > most.fee { next } else { most }).map(|tried| tried.cell)
    }

    /// The providers whose cards are charged a fee of this kind; all that take cards where none is.
    fn card_providers(&self, kind: FeeKind) -> Vec<&str> {
        let of_kind = self.fees.kinds().filter(|(_, _, other, _)| *other == kind);
        let mut names: Vec<&str> = of_kind.map(|(provider, ..)| provider).collect();
        if names.is_empty() {
            let cards =
                self.providers.iter().filter(|provider| provider.adapter.method() == PaymentMethod::WebCard);
            names = cards.map(|provider| &*provider.name).collect();
        }
        if names.is_empty() {
            // Nobody takes cards yet, at no cost that is known.
            names.push("");
        }
        names
    }
}

/// The rule of each place that holds on a day, in the order of the places.
fn in_force(rules: &Rules, today: Date) -> Vec<&PlaceRule> {
    let mut places: Vec<&PlaceRule> = Vec::new();
    for rule in rules.all_places() {
        let is_first = places.last().is_none_or(|last| last.place != rule.place);
        if is_first && rule.from.is_none_or(|from| from <= today) {
            places.push(rule);
        }
    }
    places
}

/// The networks that the rules know in a place's country; where they know none, those they know anywhere.
fn brands(rules: &Rules, place: Place) -> Vec<Brand> {
    let mut brands: Vec<Brand> = rules
        .networks
        .iter()
        .filter(|network| network.country == place.country)
        .map(|network| network.brand)
        .collect();
    if brands.is_empty() {
        brands = rules.networks.iter().map(|network| network.brand).collect();
        brands.sort_unstable();
        brands.dedup();
    }
    brands
}

fn high_cost() -> Vec<(Arc<str>, Cost)> {
    let percent = BasisPoints::new(HIGH_COST).unwrap_or_default();
    vec![(ANY_PROVIDER.into(), Cost { percent, fixed: Minor::ZERO })]
}

/// A merchant in a place who has done everything; for a service fee one of the first category that may charge it.
fn ready_program(rules: &Rules, merchant: Place, kind: FeeKind) -> FeeProgram {
    let mcc = match kind {
        FeeKind::Service => rules.service_mccs.first().copied(),
        FeeKind::Surcharge | FeeKind::Convenience | FeeKind::Neutral => Mcc::parse("5999"),
    };
    FeeProgram {
        merchant,
        mcc,
        accepted_brands: Vec::new(),
        cost: high_cost(),
        notice_given_on: Some(Date::MIN),
        entry_notice_attested: true,
        amex_parity_confirmed: true,
        posted_total_price: true,
        online_only: Some(false),
        overrides: Vec::new(),
    }
}

/// A fee that was tried, and what came of it.
struct Tried {
    fee: Minor,
    cell: TableCell,
}

/// With a credit card of the network whose limit is the lowest.
fn lowest(case: &FeeCase<'_>, brands: &[Brand], payer: Place) -> Option<Tried> {
    let tried = brands.iter().map(|brand| attempt(case, *brand, Funding::Credit, payer));
    tried.min_by_key(|tried| tried.fee)
}

/// Where the provider can do everything, too.
fn ready_case<'a>(rules: &'a Rules, program: &'a FeeProgram, kind: FeeKind, today: Date) -> FeeCase<'a> {
    FeeCase {
        rules,
        program: Some(program),
        kind,
        provider: ANY_PROVIDER,
        reports_surcharge: true,
        flow: Flow::PaymentComponent,
        facts: PaymentFacts::default(),
        today,
    }
}

/// Asks for the whole principal: whatever is lower is a limit.
fn attempt(case: &FeeCase<'_>, brand: Brand, funding: Funding, payer: Place) -> Tried {
    let all =
        FeeLayer { enabled: true, fixed: Minor::new(PRINCIPAL).unwrap_or_default(), ..FeeLayer::default() };
    let entry = FeeEntry { organization: all, ..FeeEntry::default() };
    let card = CardFacts { brand, funding, country: None, commercial: None };
    let facts = PaymentFacts { instrument: Instrument::Card(card), payer: Some(payer), recurring: false };
    let case = FeeCase { facts, ..*case };
    let decision = Principal::new(PRINCIPAL).map(|principal| decide(&case, &entry.assess(principal)));
    let fee = decision.as_ref().map(|decision| decision.fee).unwrap_or_default();
    let reason = decision.as_ref().and_then(|decision| decision.reasons.first());
    let code = reason.map_or(ReasonCode::CountryNotKnown, |reason| reason.code);
    let share = u16::try_from(fee.get()).ok().and_then(BasisPoints::new);
    let allowance = match (code, share) {
        _ if fee == Minor::ZERO => Allowance::Nothing,
        (ReasonCode::CostCap, _) => Allowance::Cost,
        (ReasonCode::AsConfigured, _) | (_, None) => Allowance::Any,
        (_, Some(bps)) => Allowance::Share(bps),
    };
    let (kind, source) = (case.kind, reason.and_then(|reason| reason.source.clone()));
    Tried { fee, cell: TableCell { place: payer, kind, brand, funding, allowance, reason: code, source } }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::built_in_fee_rules;

    #[test]
    fn every_cell_of_the_states_has_a_reason_and_a_source() {
        let rules = built_in_fee_rules();
        let table = fee_table(&rules, date(2026, 11, 18));
        let states: Vec<_> = table
            .iter()
            .filter(|cell| cell.place.to_string().starts_with("US-") && cell.place.to_string() != "US-PR")
            .collect();
        assert_eq!(states.len(), 51 * 4 * 4 * 3);
        for cell in &states {
            assert!(cell.source.is_some(), "{cell:?}");
            let is_credit = cell.funding == Funding::Credit;
            if cell.kind == FeeKind::Surcharge && !is_credit {
                assert_eq!(cell.allowance, Allowance::Nothing, "{cell:?}");
            }
        }
        let visa = |place: &str, kind| {
            let place = Place::parse(place);
            let fits = |cell: &&&TableCell| {
                Some(cell.place) == place
                    && cell.kind == kind
                    && cell.brand == Brand::Visa
                    && cell.funding == Funding::Credit
            };
            let cell = states.iter().find(fits).unwrap();
            (cell.allowance, cell.reason)
        };
        let share = |bps| Allowance::Share(BasisPoints::new(bps).unwrap());
        for (place, kind, allowance, reason) in [
            ("US-GA", FeeKind::Surcharge, share(300), ReasonCode::NetworkCap),
            ("US-CO", FeeKind::Surcharge, share(200), ReasonCode::PlaceCap),
            ("US-CT", FeeKind::Surcharge, Allowance::Nothing, ReasonCode::Prohibited),
            ("US-TX", FeeKind::Surcharge, Allowance::Nothing, ReasonCode::Unclear),
            ("US-DE", FeeKind::Surcharge, Allowance::Nothing, ReasonCode::Unclear),
            ("US-ME", FeeKind::Service, Allowance::Cost, ReasonCode::CostCap),
            ("US-GA", FeeKind::Service, Allowance::Any, ReasonCode::AsConfigured),
            ("US-GA", FeeKind::Convenience, Allowance::Any, ReasonCode::AsConfigured),
            ("US-MA", FeeKind::Convenience, Allowance::Nothing, ReasonCode::Prohibited),
        ] {
            assert_eq!(visa(place, kind), (allowance, reason), "{place} {kind:?}");
        }
    }
}
