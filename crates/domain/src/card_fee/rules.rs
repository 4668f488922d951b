//! The rules of networks and places, as values. They come from a file; nothing here knows a state by its name.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use jiff::civil::Date;

use crate::{
    card_fee::{
        FeeKind,
        facts::{Brand, Country, Place, State},
        program::Mcc,
        reason::ReasonCode,
    },
    money::BasisPoints,
};

/// All rules, at one version.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// What decisions say they were made by.
    pub version: Arc<str>,
    /// When the file was last researched.
    pub as_of: Date,
    /// How many days the notice to acquirer and networks must have had.
    pub notice_days: i32,
    /// Categories that may charge a service fee.
    pub service_mccs: Vec<Mcc>,
    /// Where the rule behind a reason is written, for those that no place or network has.
    pub sources: HashMap<ReasonCode, Arc<str>>,
    pub networks: Vec<NetworkRule>,
    /// By country, for those whose states matter.
    pub countries: BTreeMap<Country, CountryRule>,
    /// By place: of a state, of a country, or of a union under a code of its own. Newest first within a place.
    pub places: HashMap<Place, Vec<PlaceRule>>,
}

/// A country of which the rules know more than its own rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CountryRule {
    /// Its states or provinces; without one of them the place is not known. Empty where they make no difference.
    pub states: Vec<State>,
    /// The place whose rules hold here; `None` for its own.
    pub follows: Option<Place>,
}

/// What a network allows in a country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRule {
    pub brand: Brand,
    pub country: Country,
    /// `None`: only the cost limits it.
    pub cap: Option<BasisPoints>,
    /// Whether it demands to be treated like every other brand that is accepted.
    pub parity: bool,
    pub source: Arc<str>,
}

/// Whether a place allows a kind of fee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Allowed,
    /// Allowed up to the cost of acceptance.
    Cost,
    Unclear,
    Prohibited,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Allowed, Self::Cost, Self::Unclear, Self::Prohibited];

    /// The name in the rule file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Cost => "cost",
            Self::Unclear => "unclear",
            Self::Prohibited => "prohibited",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }
}

/// How sure the research is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Too little to charge anything by.
    Low,
    Medium,
    High,
}

impl Confidence {
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The name in the rule file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|confidence| confidence.as_str() == text)
    }
}

/// The law of a place from a day on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRule {
    pub place: Place,
    /// Its name in English.
    pub name: Arc<str>,
    /// The first day it holds; `None` for as long as is known.
    pub from: Option<Date>,
    pub surcharge: Verdict,
    pub service: Verdict,
    pub convenience: Verdict,
    /// The most a surcharge may be.
    pub cap: Option<BasisPoints>,
    /// An override that replaces the cap by the cost.
    pub cap_lifted_by: Option<Arc<str>>,
    /// Overrides that make an unclear rule one that allows.
    pub allowed_by: Vec<Arc<str>>,
    /// Overrides under which commercial cards may be surcharged up to the cost although consumers' may not.
    pub commercial_by: Vec<Arc<str>>,
    /// Brands that the prohibition does not reach, so that the law about them is unclear.
    pub except_brands: Vec<Brand>,
    /// Whether every posted price must include the surcharge.
    pub posted_price: bool,
    /// Categories whose merchants may charge no card fee here.
    pub banned_mccs: Vec<Mcc>,
    /// A sentence that the payer must be shown, word for word.
    pub sentence: Option<Arc<str>>,
    /// The same where `cap_lifted_by` is in force.
    pub sentence_at_cost: Option<Arc<str>>,
    pub confidence: Confidence,
    /// The statute, in short.
    pub statute: Option<Arc<str>>,
    /// What somebody who configures fees should know.
    pub note: Option<Arc<str>>,
    pub source: Arc<str>,
    /// When the source was read, or what it is as of.
    pub read_on: Date,
}

impl PlaceRule {
    /// What it says about a kind; one that rests on too little is unclear, if it is not a prohibition.
    pub fn verdict(&self, kind: FeeKind) -> Verdict {
        let verdict = self.written(kind);
        if kind == FeeKind::Neutral {
            return verdict;
        }
        if self.confidence == Confidence::Low { verdict.max(Verdict::Unclear) } else { verdict }
    }

    /// What it would say about a kind if the research were surer.
    pub(crate) const fn written(&self, kind: FeeKind) -> Verdict {
        match kind {
            FeeKind::Surcharge => self.surcharge,
            FeeKind::Service => self.service,
            FeeKind::Convenience => self.convenience,
            FeeKind::Neutral => Verdict::Allowed,
        }
    }

    /// Whether an override is one of this place.
    pub(crate) fn has_override(&self, id: &str) -> bool {
        let mut ids = self.allowed_by.iter().chain(&self.commercial_by).chain(self.cap_lifted_by.as_ref());
        ids.any(|known| &**known == id)
    }
}

/// What is found about a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    Rule(&'a PlaceRule),
    /// The country's states matter, and the state is not given.
    StateMissing,
    /// Nothing is recorded.
    Nothing,
}

/// The override that takes an unknown payer to be where the merchant is.
pub const PAYER_AT_MERCHANT: &str = "payer_place:merchant";

impl Rules {
    /// The rule of a place on a day.
    pub fn at(&self, place: Place, today: Date) -> Found<'_> {
        let country = self.countries.get(&place.country);
        if let Some(country) = country
            && !country.states.is_empty()
        {
            match place.state {
                None => return Found::StateMissing,
                Some(state) if !country.states.contains(&state) => return Found::Nothing,
                Some(_) => {}
            }
        }
        let whole = Place { country: place.country, state: None };
        let follows = country.and_then(|country| country.follows);
        let rule = [Some(place), Some(whole), follows]
            .into_iter()
            .flatten()
            .find_map(|place| self.in_force(place, today));
        rule.map_or(Found::Nothing, Found::Rule)
    }

    fn in_force(&self, place: Place, today: Date) -> Option<&PlaceRule> {
        let dated = self.places.get(&place)?;
        dated.iter().find(|rule| rule.from.is_none_or(|from| from <= today))
    }

    /// What a network allows in a country.
    pub(crate) fn network(&self, brand: Brand, country: Country) -> Option<&NetworkRule> {
        self.networks.iter().find(|rule| rule.brand == brand && rule.country == country)
    }

    /// Whether a place says too little: its country's states matter, and it names none.
    pub fn needs_state(&self, place: Place) -> bool {
        place.state.is_none() && !self.states(place.country).is_empty()
    }

    /// The states that are known of a country; empty where they make no difference.
    pub fn states(&self, country: Country) -> &[State] {
        self.countries.get(&country).map(|country| country.states.as_slice()).unwrap_or_default()
    }

    /// Every override there is, in order.
    pub fn override_ids(&self) -> Vec<Arc<str>> {
        let rules = self.places.values().flatten();
        let mut ids: Vec<Arc<str>> = rules
            .flat_map(|rule| {
                rule.allowed_by.iter().chain(&rule.commercial_by).chain(rule.cap_lifted_by.as_ref())
            })
            .cloned()
            .chain([PAYER_AT_MERCHANT.into()])
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Every rule in the order of the places, newest first within each.
    pub fn all_places(&self) -> Vec<&PlaceRule> {
        let mut all: Vec<_> = self.places.values().flatten().collect();
        all.sort_by_key(|rule| (rule.place, std::cmp::Reverse(rule.from)));
        all
    }

    pub fn source(&self, code: ReasonCode) -> Option<Arc<str>> {
        self.sources.get(&code).cloned()
    }
}
