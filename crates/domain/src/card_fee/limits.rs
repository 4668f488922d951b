//! The questions a fee must pass, in order, and the limits on what is left. Each is asked here once; the decision takes the
//! first that stops it, and the explanation shows all of them.

use jiff::civil::Date;

use crate::{
    card_fee::{
        FeeCase, FeeKind, ReasonCode,
        facts::{Brand, Funding, Instrument, Place},
        program::{Cost, days_between},
        rules::{Found, NetworkRule, PAYER_AT_MERCHANT, PlaceRule, Verdict},
    },
    fee::FeeSnapshot,
    money::{BasisPoints, Minor},
    payment::Flow,
};

/// Whose place a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Merchant,
    Payer,
}

/// A question that stops a fee if the answer is yes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// One about the payment or what the merchant has attested.
    Of(ReasonCode),
    /// The same about a place.
    At(Side, ReasonCode),
    /// Whether the rules say nothing about the card's network in the merchant's country.
    NetworkUnknown,
}

const PROHIBITED: ReasonCode = ReasonCode::Prohibited;
const UNCLEAR: ReasonCode = ReasonCode::Unclear;
const NOT_POSTED: ReasonCode = ReasonCode::TotalPriceNotPosted;
const NOT_KNOWN: ReasonCode = ReasonCode::CountryNotKnown;

impl Check {
    const SURCHARGE: &'static [Self] = &[
        Self::Of(ReasonCode::CardUnknown),
        Self::Of(ReasonCode::ProviderCannotReport),
        Self::Of(ReasonCode::NotACard),
        Self::Of(ReasonCode::FundingNotCredit),
        Self::At(Side::Merchant, NOT_KNOWN),
        Self::At(Side::Merchant, PROHIBITED),
        Self::At(Side::Merchant, UNCLEAR),
        Self::Of(ReasonCode::NoNotice),
        Self::Of(ReasonCode::NoEntryNotice),
        Self::Of(ReasonCode::CostUnknown),
        Self::Of(ReasonCode::AmexParity),
        Self::At(Side::Merchant, NOT_POSTED),
        Self::Of(ReasonCode::PayerPlaceUnknown),
        Self::At(Side::Payer, NOT_KNOWN),
        Self::At(Side::Payer, PROHIBITED),
        Self::At(Side::Payer, UNCLEAR),
        Self::At(Side::Payer, NOT_POSTED),
        Self::NetworkUnknown,
    ];

    const CONVENIENCE: &'static [Self] = &[
        Self::Of(ReasonCode::ConvenienceNotFlat),
        Self::Of(ReasonCode::ConvenienceNotMerchant),
        Self::Of(ReasonCode::ConvenienceRecurring),
        Self::Of(ReasonCode::ConvenienceOnlineOnly),
        Self::At(Side::Merchant, NOT_KNOWN),
        Self::At(Side::Merchant, PROHIBITED),
        Self::At(Side::Merchant, UNCLEAR),
        Self::At(Side::Payer, NOT_KNOWN),
        Self::At(Side::Payer, PROHIBITED),
        Self::At(Side::Payer, UNCLEAR),
        Self::Of(ReasonCode::CostUnknown),
    ];

    const SERVICE: &'static [Self] = &[
        Self::Of(ReasonCode::ServiceMcc),
        Self::Of(ReasonCode::NotACard),
        Self::At(Side::Merchant, NOT_KNOWN),
        Self::At(Side::Merchant, PROHIBITED),
        Self::At(Side::Merchant, UNCLEAR),
        Self::At(Side::Payer, NOT_KNOWN),
        Self::At(Side::Payer, PROHIBITED),
        Self::At(Side::Payer, UNCLEAR),
        Self::Of(ReasonCode::CostUnknown),
    ];

    /// The questions of a kind, in the order in which one stops the fee.
    pub(super) const fn of(kind: FeeKind) -> &'static [Self] {
        match kind {
            FeeKind::Surcharge => Self::SURCHARGE,
            FeeKind::Convenience => Self::CONVENIENCE,
            FeeKind::Service => Self::SERVICE,
            FeeKind::Neutral => &[],
        }
    }

    /// What it says if it stops the fee.
    pub(super) const fn code(self) -> ReasonCode {
        match self {
            Self::Of(code) | Self::At(_, code) => code,
            Self::NetworkUnknown => ReasonCode::CardUnknown,
        }
    }

    pub(super) const fn side(self) -> Option<Side> {
        match self {
            Self::At(side, _) => Some(side),
            Self::Of(_) | Self::NetworkUnknown => None,
        }
    }
}

/// The most that something allows, as a share of the principal and a fixed part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) code: ReasonCode,
    pub(super) side: Option<Side>,
    pub(super) cap: Cost,
}

/// What the rules ask of the configured layers themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeeShape {
    /// Whether a layer is a share of the principal.
    has_share: bool,
    has_platform_fee: bool,
}

impl FeeShape {
    pub fn of(configured: &FeeSnapshot) -> Self {
        let mut layers = [&configured.platform, &configured.organization].into_iter();
        Self {
            has_share: layers.any(|fee| fee.layer.enabled && fee.layer.percent.get() > 0),
            has_platform_fee: configured.platform.fee > Minor::ZERO,
        }
    }
}

/// A case with what the rules say about its places.
pub(super) struct Asked<'a> {
    pub(super) case: &'a FeeCase<'a>,
    pub(super) shape: FeeShape,
    pub(super) merchant: Found<'a>,
    /// `None` where the payer's place is not known well enough to look it up.
    pub(super) payer: Option<Found<'a>>,
    pub(super) network: Option<&'a NetworkRule>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(case: &'a FeeCase<'a>, shape: FeeShape) -> Self {
        let merchant_place = case.program.map(|program| program.merchant);
        let find = |place: Place| case.rules.at(place, case.today);
        let merchant = merchant_place.map_or(Found::Nothing, find);
        // Most payers are where the merchant is.
        let payer = if case.facts.payer == merchant_place {
            merchant_place.map(|_| merchant)
        } else {
            case.facts.payer.map(find)
        };
        let payer = payer.filter(|found| !matches!(found, Found::StateMissing));
        let at_merchant =
            || case.program.is_some_and(|program| program.overrides(PAYER_AT_MERCHANT, case.today));
        let payer = payer.or_else(|| at_merchant().then_some(merchant));
        let network = match (case.facts.instrument.card(), merchant_place) {
            (Some(card), Some(place)) => case.rules.network(card.brand, place.country),
            _ => None,
        };
        Self { case, shape, merchant, payer, network }
    }

    pub(super) fn found(&self, side: Side) -> Option<Found<'a>> {
        match side {
            Side::Merchant => Some(self.merchant),
            Side::Payer => self.payer,
        }
    }

    pub(super) fn rule(&self, side: Side) -> Option<&'a PlaceRule> {
        match self.found(side) {
            Some(Found::Rule(rule)) => Some(rule),
            Some(Found::StateMissing | Found::Nothing) | None => None,
        }
    }

    pub(super) fn cost(&self) -> Option<Cost> {
        self.case.program?.cost_at(self.case.provider).copied()
    }

    /// Whether a question stops the fee.
    pub(super) fn stops(&self, check: Check) -> bool {
        match check {
            Check::Of(code) => self.payment_stops(code),
            Check::At(side, code) => self.found(side).is_some_and(|found| self.place_stops(found, code)),
            Check::NetworkUnknown => self.network.is_none(),
        }
    }

    fn payment_stops(&self, code: ReasonCode) -> bool {
        let FeeCase { facts, program, today, .. } = self.case;
        let attested = |has: fn(&super::FeeProgram) -> bool| program.is_some_and(has);
        match code {
            // A hosted page fixes its total before the card is entered, whatever the caller says it will be.
            ReasonCode::CardUnknown => self.case.flow == Flow::HostedCheckout || facts.instrument.is_open(),
            ReasonCode::ProviderCannotReport => !self.case.reports_surcharge,
            ReasonCode::NotACard => facts.instrument == Instrument::NotCard,
            ReasonCode::FundingNotCredit => {
                facts.instrument.card().is_none_or(|card| card.funding != Funding::Credit)
            }
            ReasonCode::NoNotice => {
                let given = program.and_then(|program| program.notice_given_on);
                given.is_none_or(|given| days_between(given, *today) < self.case.rules.notice_days)
            }
            ReasonCode::NoEntryNotice => !attested(|program| program.entry_notice_attested),
            ReasonCode::CostUnknown => self.is_limited_by_cost() && self.cost().is_none(),
            ReasonCode::AmexParity => {
                self.accepts_parity_brand() && !attested(|program| program.amex_parity_confirmed)
            }
            ReasonCode::PayerPlaceUnknown => self.payer.is_none(),
            ReasonCode::ConvenienceNotFlat => self.shape.has_share,
            ReasonCode::ConvenienceNotMerchant => self.shape.has_platform_fee,
            ReasonCode::ConvenienceRecurring => facts.recurring,
            ReasonCode::ConvenienceOnlineOnly => {
                program.and_then(|program| program.online_only) != Some(false)
            }
            ReasonCode::ServiceMcc => {
                let mcc = program.and_then(|program| program.mcc);
                mcc.is_none_or(|mcc| !self.case.rules.service_mccs.contains(&mcc))
            }
            _ => false,
        }
    }

    fn accepts_parity_brand(&self) -> bool {
        let demands = |brand: Brand| {
            self.case.rules.networks.iter().any(|network| network.parity && network.brand == brand)
        };
        let accepted = self.case.program.map(|program| program.accepted_brands.as_slice());
        let paid_with = self.case.facts.instrument.card().map(|card| card.brand);
        // Whoever does not say what is accepted accepts everything.
        accepted.is_none_or(|brands| brands.is_empty() || brands.iter().copied().any(demands))
            || paid_with.is_some_and(demands)
    }

    fn place_stops(&self, found: Found<'_>, code: ReasonCode) -> bool {
        let rule = match (found, code) {
            (Found::Nothing | Found::StateMissing, code) => return code == NOT_KNOWN,
            (Found::Rule(rule), _) => rule,
        };
        match code {
            ReasonCode::Prohibited => self.verdict(rule) == Verdict::Prohibited,
            ReasonCode::Unclear => self.verdict(rule) == Verdict::Unclear,
            ReasonCode::TotalPriceNotPosted => {
                rule.posted_price && !self.case.program.is_some_and(|program| program.posted_total_price)
            }
            _ => false,
        }
    }

    /// What a place says to this merchant and card, overrides included.
    fn verdict(&self, rule: &PlaceRule) -> Verdict {
        let FeeCase { kind, facts, program, .. } = self.case;
        let mcc = program.and_then(|program| program.mcc);
        if mcc.is_some_and(|mcc| rule.banned_mccs.contains(&mcc)) && *kind != FeeKind::Neutral {
            return Verdict::Prohibited;
        }
        let card = facts.instrument.card();
        match rule.verdict(*kind) {
            Verdict::Prohibited if *kind == FeeKind::Surcharge => {
                let is_commercial = card.is_some_and(|card| card.commercial == Some(true));
                if is_commercial && self.any_override(&rule.commercial_by) {
                    Verdict::Cost
                } else if card.is_some_and(|card| rule.except_brands.contains(&card.brand)) {
                    Verdict::Unclear
                } else {
                    Verdict::Prohibited
                }
            }
            Verdict::Unclear if self.any_override(&rule.allowed_by) => {
                // Whoever overrides vouches for the research; what the law plainly says stays.
                let written = rule.written(*kind);
                if written == Verdict::Unclear { Verdict::Allowed } else { written }
            }
            verdict => verdict,
        }
    }

    fn any_override(&self, ids: &[std::sync::Arc<str>]) -> bool {
        let today: Date = self.case.today;
        self.case.program.is_some_and(|program| ids.iter().any(|id| program.overrides(id, today)))
    }

    fn sides(&self) -> impl Iterator<Item = (Side, &'a PlaceRule)> {
        [Side::Merchant, Side::Payer].into_iter().filter_map(|side| Some((side, self.rule(side)?)))
    }

    /// Whether the cost is a limit of this fee: always of a surcharge, of others where a place says so.
    fn is_limited_by_cost(&self) -> bool {
        match self.case.kind {
            FeeKind::Surcharge => true,
            FeeKind::Neutral => false,
            FeeKind::Convenience | FeeKind::Service => {
                self.sides().any(|(_, rule)| self.verdict(rule) == Verdict::Cost)
            }
        }
    }

    pub(super) fn is_cap_lifted(&self, rule: &PlaceRule) -> bool {
        let lifted_by = rule.cap_lifted_by.as_ref();
        lifted_by
            .is_some_and(|id| self.case.program.is_some_and(|program| program.overrides(id, self.case.today)))
    }

    /// Every limit of the fee. Of equal ones the first counts.
    pub(super) fn limits(&self) -> impl Iterator<Item = Limit> {
        let is_surcharge = self.case.kind == FeeKind::Surcharge;
        let share = |percent| Cost { percent, fixed: Minor::ZERO };
        let network = self.network.filter(|_| is_surcharge).and_then(|network| self.network_cap(network));
        let network = network.map(|cap| Limit { code: ReasonCode::NetworkCap, side: None, cap: share(cap) });
        let places = self.sides().filter(move |_| is_surcharge).filter_map(move |(side, rule)| {
            let cap = rule.cap.filter(|_| !self.is_cap_lifted(rule))?;
            Some(Limit { code: ReasonCode::PlaceCap, side: Some(side), cap: share(cap) })
        });
        let cost = self.cost().filter(|_| self.is_limited_by_cost());
        let at_cost =
            self.sides().find(|(_, rule)| self.verdict(rule) == Verdict::Cost).map(|(side, _)| side);
        let cost = cost.map(|cap| Limit { code: ReasonCode::CostCap, side: at_cost, cap });
        network.into_iter().chain(places).chain(cost)
    }

    /// The cap of the card's network. One that demands parity is surcharged no more than the others that are accepted.
    fn network_cap(&self, network: &NetworkRule) -> Option<BasisPoints> {
        if !network.parity {
            return network.cap;
        }
        let accepted =
            self.case.program.map(|program| program.accepted_brands.as_slice()).unwrap_or_default();
        let others = self.case.rules.networks.iter().filter(|other| {
            other.country == network.country && (accepted.is_empty() || accepted.contains(&other.brand))
        });
        others.filter_map(|other| other.cap).chain(network.cap).min()
    }
}
