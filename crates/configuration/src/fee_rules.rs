//! The rules about card fees, read from a text: blocks at the margin, their fields indented. Everything that does not hold
//! together is a fault with its line.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use jiff::civil::Date;
use tollgate_domain::{
    BasisPoints,
    card_fee::{
        Brand, Confidence, Country, CountryRule, Mcc, NetworkRule, Place, PlaceRule, ReasonCode, Rules,
        State, Verdict,
    },
};

/// The rules that come with this release.
pub const FEE_RULES: &str = include_str!("fee_rules/rules.txt");

/// Beyond this many faults a list helps nobody.
const MAX_FAULTS: usize = 20;

static BUILT_IN: LazyLock<Arc<Rules>> = LazyLock::new(|| {
    // A test proves that they hold together; without any rules there would be no fee.
    Arc::new(parse_fee_rules(FEE_RULES).unwrap_or_default())
});

/// The rules that come with this release.
pub fn built_in_fee_rules() -> Arc<Rules> {
    Arc::clone(&BUILT_IN)
}

/// Why a text of rules cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeeRulesError {
    /// Line, counted from 1, and what is wrong there.
    faults: Vec<(usize, String)>,
}

impl fmt::Display for FeeRulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (line, reason)) in self.faults.iter().take(MAX_FAULTS).enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(f, "{separator}line {line}: {reason}")?;
        }
        match self.faults.len().saturating_sub(MAX_FAULTS) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for FeeRulesError {}

/// Parses rules strictly: unknown fields, places without a source and countries that follow an unknown place are errors.
pub fn parse_fee_rules(text: &str) -> Result<Rules, FeeRulesError> {
    let mut faults = Faults(Vec::new());
    let blocks = blocks(text, &mut faults);
    let mut reading = Reading::default();
    for block in &blocks {
        reading.take(block, &mut faults);
    }
    let rules = reading.conclude(&mut faults);
    if faults.0.is_empty() {
        return Ok(rules);
    }
    faults.0.sort_by_key(|(line, _)| *line);
    Err(FeeRulesError { faults: faults.0 })
}

struct Faults(Vec<(usize, String)>);

impl Faults {
    fn add(&mut self, line: usize, reason: impl Into<String>) {
        self.0.push((line, reason.into()));
    }
}

/// A line at the margin and those below it.
struct Block<'a> {
    line: usize,
    keyword: &'a str,
    /// What stands behind the keyword.
    subject: &'a str,
    fields: Vec<Field<'a>>,
}

#[derive(Clone, Copy)]
struct Field<'a> {
    line: usize,
    name: &'a str,
    value: &'a str,
}

fn blocks<'a>(text: &'a str, faults: &mut Faults) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let trimmed = content.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if !content.starts_with([' ', '\t']) {
            let (keyword, subject) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
            blocks.push(Block { line, keyword, subject: subject.trim(), fields: Vec::new() });
            continue;
        }
        let Some((name, value)) = trimmed.split_once(':') else {
            faults.add(line, "a field is written `name: value`");
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        match blocks.last_mut() {
            None => faults.add(line, "a field needs a block at the margin above it"),
            Some(_) if value.is_empty() => {
                faults.add(line, format!("`{name}` has no value; omit it instead"));
            }
            Some(block) if block.fields.iter().any(|field| field.name == name) => {
                faults.add(line, format!("`{name}` is given twice"));
            }
            Some(block) => block.fields.push(Field { line, name, value }),
        }
    }
    blocks
}

/// A block's fields, which are asked for by name; those nobody asked for are faults.
struct Fields<'a> {
    line: usize,
    given: Vec<Field<'a>>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    fn of(block: &Block<'a>) -> Self {
        Self { line: block.line, given: block.fields.clone(), known: Vec::new() }
    }

    fn optional(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.known.push(name);
        self.given.iter().find(|field| field.name == name).copied()
    }

    fn required(&mut self, name: &'static str, faults: &mut Faults) -> Option<Field<'a>> {
        let field = self.optional(name);
        if field.is_none() {
            faults.add(self.line, format!("`{name}` is missing"));
        }
        field
    }

    fn finish(self, faults: &mut Faults) {
        for field in self.given.iter().filter(|field| !self.known.contains(&field.name)) {
            let known = self.known.join("`, `");
            faults.add(field.line, format!("`{}` is not a known field; known here: `{known}`", field.name));
        }
    }
}

impl Field<'_> {
    fn fault(&self, faults: &mut Faults, rule: impl fmt::Display) {
        faults.add(self.line, format!("`{}` {rule}, not `{}`", self.name, self.value));
    }

    fn read<T>(
        &self,
        parse: impl FnOnce(&str) -> Option<T>,
        rule: impl fmt::Display,
        faults: &mut Faults,
    ) -> Option<T> {
        let read = parse(self.value);
        if read.is_none() {
            self.fault(faults, rule);
        }
        read
    }

    fn date(&self, faults: &mut Faults) -> Option<Date> {
        self.read(|text| text.parse().ok(), "must be a date such as 2026-11-18", faults)
    }

    fn yes(&self, faults: &mut Faults) -> bool {
        self.read(|text| (text == "yes").then_some(()), "must be yes, or be left out", faults).is_some()
    }

    fn source(&self, faults: &mut Faults) -> Option<Arc<str>> {
        let is_address = |text: &str| {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
            (!rest.is_empty() && !rest.contains(char::is_whitespace)).then(|| Arc::from(text))
        };
        self.read(is_address, "must be the address of a page", faults)
    }

    fn verdict(&self, faults: &mut Faults) -> Option<Verdict> {
        let known = Verdict::ALL.map(Verdict::as_str).join(", ");
        self.read(Verdict::parse, format!("must be one of: {known}"), faults)
    }

    /// A percentage of at most two decimals: `2.4 %`.
    fn percentage(&self, faults: &mut Faults) -> Option<BasisPoints> {
        self.read(percentage, "must be a percentage of at most two decimals such as 2.4 %", faults)
    }

    /// Every word, each once.
    fn each<T: PartialEq>(
        &self,
        parse: impl Fn(&str) -> Option<T>,
        rule: &str,
        faults: &mut Faults,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for word in self.value.split_whitespace() {
            match parse(word) {
                None => faults.add(self.line, format!("`{}` {rule}, not `{word}`", self.name)),
                Some(item) if all.contains(&item) => {
                    faults.add(self.line, format!("`{}` has {word} twice", self.name));
                }
                Some(item) => all.push(item),
            }
        }
        all
    }
}

fn percentage(text: &str) -> Option<BasisPoints> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_plain = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_plain(whole, 3) || !is_plain(decimals, 2) {
        return None;
    }
    let hundredths: u16 = format!("{decimals:0<2}").parse().ok()?;
    let whole: u16 = whole.parse().ok()?;
    whole.checked_mul(100)?.checked_add(hundredths).and_then(BasisPoints::new)
}

fn texts(value: &str) -> Vec<Arc<str>> {
    value.split_whitespace().map(Arc::from).collect()
}

const BRANDS: &str = "must be known card networks";
const PLACE: &str = "must be a place such as US-GA or JP";

/// What is read so far, with the lines that later checks are about.
#[derive(Default)]
struct Reading {
    rules: Rules,
    is_headed: bool,
    /// Where each place's rule stands.
    places: Vec<(usize, Place, Option<Date>)>,
    /// Where a country's states or the place it follows are given.
    countries: Vec<(usize, Country)>,
    /// Where each rule says that its source was read.
    read_on: Vec<(usize, Date)>,
}

impl Reading {
    fn take(&mut self, block: &Block<'_>, faults: &mut Faults) {
        match block.keyword {
            "rules" => self.take_head(block, faults),
            "reason" => self.take_reason(block, faults),
            "network" => self.take_network(block, faults),
            "country" => self.take_countries(block, faults),
            "place" => self.take_place(block, faults),
            other => faults.add(
                block.line,
                format!("`{other}` begins no block; known: `rules`, `reason`, `network`, `country`, `place`"),
            ),
        }
    }

    fn take_head(&mut self, block: &Block<'_>, faults: &mut Faults) {
        if std::mem::replace(&mut self.is_headed, true) {
            faults.add(block.line, "`rules` is given twice");
        }
        let is_version = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
            (1..=40).contains(&text.len()) && text.bytes().all(plain)
        };
        if !is_version(block.subject) {
            faults.add(block.line, "`rules` needs a version of 1 to 40 letters, digits, `-`, `.` or `_`");
        }
        self.rules.version = block.subject.into();
        let mut fields = Fields::of(block);
        let as_of = fields.required("as of", faults);
        let days = fields.required("notice days", faults);
        let categories = fields.required("service categories", faults);
        fields.finish(faults);
        self.rules.as_of = as_of.and_then(|field| field.date(faults)).unwrap_or_default();
        let read_days = |text: &str| text.parse().ok().filter(|days| (0..=3_660).contains(days));
        self.rules.notice_days = days
            .and_then(|field| field.read(read_days, "must be a number of days up to 3660", faults))
            .unwrap_or_default();
        self.rules.service_mccs =
            categories.map(|field| field.each(Mcc::parse, "must be four digits", faults)).unwrap_or_default();
    }

    fn take_reason(&mut self, block: &Block<'_>, faults: &mut Faults) {
        let mut fields = Fields::of(block);
        let source = fields.required("source", faults);
        fields.finish(faults);
        let source = source.and_then(|field| field.source(faults));
        let Some(code) = ReasonCode::parse(block.subject) else {
            let known = ReasonCode::ALL.map(ReasonCode::as_str).join(", ");
            faults.add(block.line, format!("`{}` is not a reason; known: {known}", block.subject));
            return;
        };
        let Some(source) = source else { return };
        if self.rules.sources.insert(code, source).is_some() {
            faults.add(block.line, format!("`{}` has a source already", block.subject));
        }
    }

    fn take_network(&mut self, block: &Block<'_>, faults: &mut Faults) {
        let mut fields = Fields::of(block);
        let cap = fields.optional("cap");
        let parity = fields.optional("parity");
        let source = fields.required("source", faults);
        fields.finish(faults);
        let cap = cap.and_then(|field| field.percentage(faults));
        let parity = parity.is_some_and(|field| field.yes(faults));
        let source = source.and_then(|field| field.source(faults));
        let (brand, country) = block.subject.split_once(' ').unwrap_or((block.subject, ""));
        let (Some(brand), Some(country)) = (known_brand(brand), Country::parse(country.trim())) else {
            faults.add(
                block.line,
                format!("a network is written `network visa US`, with one of: {}", brands()),
            );
            return;
        };
        let Some(source) = source else { return };
        let is_same = |rule: &NetworkRule| rule.brand == brand && rule.country == country;
        if self.rules.networks.iter().any(is_same) {
            faults.add(block.line, format!("{} has a rule in {country} already", brand.as_str()));
        }
        self.rules.networks.push(NetworkRule { brand, country, cap, parity, source });
    }

    fn take_countries(&mut self, block: &Block<'_>, faults: &mut Faults) {
        let mut fields = Fields::of(block);
        let states = fields.optional("states");
        let follows = fields.optional("follows");
        fields.finish(faults);
        if states.is_none() && follows.is_none() {
            faults.add(block.line, "a country needs `states` or `follows`");
        }
        let states = states
            .map(|field| {
                field.each(State::parse, "must be states by the letters behind the country's", faults)
            })
            .unwrap_or_default();
        let follows = follows.and_then(|field| field.read(Place::parse, PLACE, faults));
        if block.subject.is_empty() {
            faults.add(block.line, "`country` needs one or more countries by their two letters");
        }
        for word in block.subject.split_whitespace() {
            let Some(country) = Country::parse(word) else {
                faults.add(block.line, format!("`{word}` is not a country by its two letters"));
                continue;
            };
            let rule = CountryRule { states: states.clone(), follows };
            if self.rules.countries.insert(country, rule).is_some() {
                faults.add(block.line, format!("{country} is described already"));
            }
            self.countries.push((block.line, country));
        }
    }

    fn take_place(&mut self, block: &Block<'_>, faults: &mut Faults) {
        let mut fields = Fields::of(block);
        let from = fields.optional("from");
        let surcharge = fields.required("surcharge", faults);
        let convenience = fields.required("convenience", faults);
        let service = fields.required("service", faults);
        let cap = fields.optional("cap");
        let cap_lifted_by = fields.optional("cap lifted by");
        let allowed_by = fields.optional("override");
        let commercial_by = fields.optional("commercial override");
        let except_brands = fields.optional("except brands");
        let posted_price = fields.optional("posted price");
        let banned = fields.optional("banned categories");
        let sentence = fields.optional("sentence");
        let sentence_at_cost = fields.optional("sentence at cost");
        let confidence = fields.required("confidence", faults);
        let statute = fields.optional("statute");
        let note = fields.optional("note");
        let source = fields.required("source", faults);
        let read_on = fields.required("read on", faults);
        fields.finish(faults);

        let (code, name) = block.subject.split_once(' ').unwrap_or((block.subject, ""));
        let place = Place::parse(code);
        if place.is_none() || name.trim().is_empty() {
            faults.add(block.line, "a place is written `place US-GA Georgia`");
        }
        if let (Some(field), None) = (sentence_at_cost, cap_lifted_by) {
            faults.add(field.line, "`sentence at cost` needs `cap lifted by`");
        }
        if let (Some(field), None) = (cap_lifted_by, cap) {
            faults.add(field.line, "`cap lifted by` needs a `cap`");
        }
        let own_override = |field: &Field<'_>, faults: &mut Faults| {
            for id in field.value.split_whitespace() {
                if id != code && id.strip_prefix(code).is_none_or(|rest| !rest.starts_with(':')) {
                    faults.add(
                        field.line,
                        format!("`{}` must be {code}, or {code}: and a word, not `{id}`", field.name),
                    );
                }
            }
        };
        for field in [cap_lifted_by, allowed_by, commercial_by].iter().flatten() {
            own_override(field, faults);
        }
        let known = Confidence::ALL.map(Confidence::as_str).join(", ");
        let rule = (|| {
            Some(PlaceRule {
                place: place?,
                name: name.trim().into(),
                from: from.and_then(|field| field.date(faults)),
                surcharge: surcharge.and_then(|field| field.verdict(faults))?,
                service: service.and_then(|field| field.verdict(faults))?,
                convenience: convenience.and_then(|field| field.verdict(faults))?,
                cap: cap.and_then(|field| field.percentage(faults)),
                cap_lifted_by: cap_lifted_by.map(|field| field.value.into()),
                allowed_by: allowed_by.map(|field| texts(field.value)).unwrap_or_default(),
                commercial_by: commercial_by.map(|field| texts(field.value)).unwrap_or_default(),
                except_brands: except_brands
                    .map(|field| field.each(known_brand, BRANDS, faults))
                    .unwrap_or_default(),
                posted_price: posted_price.is_some_and(|field| field.yes(faults)),
                banned_mccs: banned
                    .map(|field| field.each(Mcc::parse, "must be four digits", faults))
                    .unwrap_or_default(),
                sentence: sentence.map(|field| field.value.into()),
                sentence_at_cost: sentence_at_cost.map(|field| field.value.into()),
                confidence: confidence.and_then(|field| {
                    field.read(Confidence::parse, format!("must be one of: {known}"), faults)
                })?,
                statute: statute.map(|field| field.value.into()),
                note: note.map(|field| field.value.into()),
                source: source.and_then(|field| field.source(faults))?,
                read_on: read_on.and_then(|field| {
                    let date = field.date(faults)?;
                    self.read_on.push((field.line, date));
                    Some(date)
                })?,
            })
        })();
        let Some(rule) = rule else { return };
        let is_same =
            |(_, place, from): &(usize, Place, Option<Date>)| *place == rule.place && *from == rule.from;
        if self.places.iter().any(is_same) {
            let since = rule.from.map_or_else(|| "always".to_owned(), |from| from.to_string());
            faults.add(block.line, format!("{} has a rule since {since} already", rule.place));
        }
        self.places.push((block.line, rule.place, rule.from));
        self.rules.places.entry(rule.place).or_default().push(rule);
    }

    /// What only the whole can tell.
    fn conclude(mut self, faults: &mut Faults) -> Rules {
        if !self.is_headed {
            faults.add(
                1,
                "the block `rules` is missing: its version, `as of`, `notice days`, `service categories`",
            );
        }
        for (line, date) in &self.read_on {
            if *date > self.rules.as_of {
                faults.add(
                    *line,
                    format!("`read on` {date} is after the file's own `as of` {}", self.rules.as_of),
                );
            }
        }
        for (line, country) in &self.countries {
            let Some(rule) = self.rules.countries.get(country) else { continue };
            if let Some(followed) = rule.follows
                && !self.rules.places.contains_key(&followed)
            {
                faults.add(*line, format!("{country} follows {followed}, which has no rule"));
            }
        }
        for (line, place, _) in &self.places {
            let Some(state) = place.state else { continue };
            let states = self.rules.countries.get(&place.country).map(|country| country.states.as_slice());
            if !states.is_some_and(|states| states.contains(&state)) {
                faults.add(*line, format!("{state} is not among the states of {}", place.country));
            }
        }
        for rules in self.rules.places.values_mut() {
            rules.sort_by_key(|rule| std::cmp::Reverse(rule.from));
        }
        self.rules
    }
}

fn known_brand(text: &str) -> Option<Brand> {
    Brand::parse(text).filter(|brand| *brand != Brand::Unknown)
}

fn brands() -> String {
    let known = Brand::ALL.into_iter().filter(|brand| *brand != Brand::Unknown);
    known.map(Brand::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_this_release_hold_together() {
        let rules = parse_fee_rules(FEE_RULES).unwrap_or_else(|error| panic!("{error}"));
        let us = Country::parse("US").unwrap();
        // 50 states, the District and Puerto Rico, each with a rule of its own.
        assert_eq!(rules.states(us).len(), 52);
        for state in rules.states(us) {
            assert!(rules.places.contains_key(&Place { country: us, state: Some(*state) }), "{state}");
        }
        assert_eq!(*built_in_fee_rules(), rules);
    }

    /// The text of this release with one part replaced, and what is said of it.
    fn fault(from: &str, to: &str) -> String {
        assert!(FEE_RULES.contains(from), "{from}");
        parse_fee_rules(&FEE_RULES.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn every_fault_has_its_line_and_reason() {
        let line = |part: &str| FEE_RULES.lines().position(|line| line.contains(part)).unwrap() + 1;
        for (from, to, part, reason) in [
            ("place US-AL Alabama", "place US-AL", "place US-AL", "a place is written"),
            ("place US-AL Alabama", "place US-XX Nowhere", "place US-AL", "XX is not among the states of US"),
            (
                "place US-AK Alaska",
                "place US-AL Alabama",
                "place US-AK",
                "US-AL has a rule since always already",
            ),
            ("place US-AL Alabama", "plaice US-AL Alabama", "place US-AL", "`plaice` begins no block"),
            ("  cap: 2.4 %", "  cap: 2.405 %", "cap: 2.4 %", "`cap` must be a percentage"),
            ("  cap: 2.4 %", "  cap: 240 %", "cap: 2.4 %", "`cap` must be a percentage"),
            ("  cap: 2.4 %", "  cap:", "cap: 2.4 %", "`cap` has no value"),
            ("  cap: 2.4 %", "  cup: 2.4 %", "cap: 2.4 %", "`cup` is not a known field"),
            ("  cap: 2.4 %", "  cap 2.4 %", "cap: 2.4 %", "a field is written"),
            ("  cap: 2.4 %", "  surcharge: cost", "cap: 2.4 %", "`surcharge` is given twice"),
            ("  cap lifted by: US-CO", "  cap lifted by: US-CT", "cap lifted by", "must be US-CO"),
            (
                "  service categories: 8211",
                "  service categories: 821",
                "service categories: 8211",
                "four digits",
            ),
            ("  notice days: 30", "  notice days: soon", "notice days", "must be a number of days"),
            ("  as of: 2026-11-18", "  as of: 18.11.2026", "as of:", "must be a date"),
            ("reason no_notice", "reason no_reason", "reason no_notice", "`no_reason` is not a reason"),
            ("network amex US", "network visa US", "network amex US", "visa has a rule in US already"),
            ("network amex US", "network solo US", "network amex US", "a network is written"),
            ("  parity: yes", "  parity: no", "parity: yes", "must be yes"),
            ("  follows: US-PR", "  follows: US-GU", "country PR", "PR follows US-GU, which has no rule"),
            ("rules 2026-11-18", "rules", "rules 2026-11-18", "needs a version"),
        ] {
            let told = fault(from, to);
            assert!(told.contains(&format!("line {}: ", line(part))), "{from} -> {to}: {told}");
            assert!(told.contains(reason), "{from} -> {to}: {told}");
        }
        assert!(fault("rules 2026-11-18\n", "# none\n").contains("a field needs a block"));
        assert!(
            fault("  surcharge: prohibited", "  surcharge: forbidden").contains("must be one of: allowed")
        );
        assert!(fault("  confidence: high", "  confidence: sure").contains("must be one of: low"));
        assert!(fault("  source: https", "  source: ftp").contains("must be the address of a page"));
        let future = fault("  read on: 2026-09-04", "  read on: 2027-09-04");
        assert!(
            future.contains("`read on` 2027-09-04 is after the file's own `as of` 2026-11-18"),
            "{future}"
        );
        assert!(
            parse_fee_rules("").unwrap_err().to_string().starts_with("line 1: the block `rules` is missing")
        );
    }

    #[test]
    fn the_newest_rule_of_a_place_comes_first() {
        let georgia = "place US-GA Georgia\n";
        let rules = parse_fee_rules(&FEE_RULES.replacen(
            georgia,
            "place US-GA Georgia\n  from: 2027-01-01\n  surcharge: prohibited\n  convenience: allowed\n  service: \
             allowed\n  confidence: high\n  source: https://law.example\n  read on: 2026-11-01\n\nplace US-GA Georgia\n",
            1,
        ))
        .unwrap();
        let dated: Vec<_> =
            rules.places[&Place::parse("US-GA").unwrap()].iter().map(|rule| rule.from).collect();
        assert_eq!(dated, ["2027-01-01".parse().ok(), None]);
    }

    #[test]
    fn percentages_have_two_decimals_at_most() {
        for (text, bps) in [("3 %", 300), ("2.4%", 240), ("0.05 %", 5), ("100 %", 10_000), ("12.34 %", 1_234)]
        {
            assert_eq!(percentage(text).map(BasisPoints::get), Some(bps), "{text}");
        }
        for text in ["3", "%", "-1 %", "+1 %", "1.234 %", ".5 %", "1. %", "101 %", "1e1 %", "\u{661} %"] {
            assert_eq!(percentage(text), None, "{text}");
        }
    }
}
