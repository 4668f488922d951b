//! Warnings about card fees: more than networks allow, fees without a kind, fees that cannot be charged, overrides that end.

use jiff::civil::Date;
use tollgate_domain::{
    BasisPoints, Channel, Currency, Flow, Minor, Principal,
    card_fee::{Brand, FeeKind, NetworkRule, Override, PaymentFacts, ReasonCode},
    fee::FeeEntry,
};

use crate::{
    Configuration,
    fees::Entry,
    payment_method_type::CARD,
    warnings::{ConfigWarning, WarningKind},
};

/// Payments that a fee is tried on, in whole units of its currency: a fixed part weighs most on a small one.
const TRIED_AMOUNTS: [u64; 3] = [10, 125, 1_000];
/// Overrides that end within so many days are warned about.
const OVERRIDE_WARNING_DAYS: i32 = 30;

impl Configuration {
    pub(crate) fn card_fee_warnings(&self, today: Date, warnings: &mut Vec<ConfigWarning>) {
        let mut warn = |path: String, message: String| {
            warnings.push(ConfigWarning { path, message, kind: WarningKind::CardFee });
        };
        let entries = || self.fees.entries().filter(|entry| entry.channel == Channel::WebCard);
        for entry in entries() {
            let path = format!("fees[{}]", entry.place);
            if matches!(entry.kind(), None | Some(FeeKind::Surcharge))
                && let Some(message) = self.above_cap(entry)
            {
                warn(path.clone(), message);
            }
            if let Some(message) = entry.kind().and_then(|kind| self.never_charged(entry, kind, today)) {
                warn(path.clone(), message);
            }
            let others = self.other_methods(&entry.provider);
            if entry.kind() == Some(FeeKind::Service) && adds_anything(&entry.layers) && !others.is_empty() {
                let message = format!(
                    "is a service fee, and {} takes {} as well: whoever pays so is charged it and given it back; have \
                     options.paymentMethods name card alone",
                    entry.provider,
                    others.join(", ")
                );
                warn(path, message);
            }
        }
        let without_kind: Vec<_> =
            entries().filter(|entry| entry.kind().is_none() && adds_anything(&entry.layers)).collect();
        if let Some(first) = without_kind.first() {
            let more = match without_kind.len().saturating_sub(1) {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let mut others: Vec<_> =
                without_kind.iter().flat_map(|entry| self.other_methods(&entry.provider)).collect();
            others.sort_unstable();
            others.dedup();
            others.insert(0, "debit and prepaid cards");
            let message = format!(
                "has no feeKind{more}, so {} pay it as well, wherever the payer is; set surcharge, convenience, \
                 service or neutral",
                others.join(", ")
            );
            warn(format!("fees[{}]", first.place), message);
        }
        let overrides = self.settings.fee_program.iter().flat_map(|program| program.overrides.iter());
        for (place, given) in overrides.enumerate() {
            if let Some(message) = ending(given, today) {
                warn(format!("settings.feeProgram.overrides[{place}].expiresOn"), message);
            }
        }
    }

    /// What a provider of card payments takes besides cards, such as bank debits.
    fn other_methods(&self, provider: &str) -> Vec<&'static str> {
        let methods = self.providers.get(provider).map(|it| it.options.payment_methods.as_slice());
        methods
            .unwrap_or_default()
            .iter()
            .map(|method| method.name)
            .filter(|name| *name != CARD.name)
            .collect()
    }

    /// That an entry asks for more than the lowest cap of a network, on the smallest payment of those tried.
    fn above_cap(&self, entry: &Entry) -> Option<String> {
        let (cap, whose) = self.lowest_cap()?;
        for whole in TRIED_AMOUNTS {
            let principal = whole_units(entry.currency, whole)?;
            let (fee, most) = (entry.layers.assess(principal).fee, cap.of_rounded_down(principal));
            // Two layers that are each rounded half up may be one unit above what they are together.
            if fee.get() > most.get().saturating_add(1) {
                let currency = entry.currency;
                let of = currency.decimal(principal.into());
                return Some(format!(
                    "adds {} {currency} to {of} {currency}, more than the {} {currency} ({}) that {whose}; lower it{}",
                    currency.decimal(fee),
                    currency.decimal(most),
                    percent(cap.get()),
                    match entry.kind() {
                        Some(_) => ", or it is cut to that",
                        None => "",
                    }
                ));
            }
        }
        None
    }

    /// The lowest cap of the networks that are accepted, with the words for whose it is.
    fn lowest_cap(&self) -> Option<(BasisPoints, String)> {
        if let Some(bps) = self.settings.surcharge_warning_bps {
            let cap = u16::try_from(bps).ok().and_then(BasisPoints::new)?;
            return Some((cap, "settings.surchargeWarningBps sets".to_owned()));
        }
        let program = self.settings.fee_program.as_ref();
        let accepted = program.map(|program| program.accepted_brands.as_slice()).unwrap_or_default();
        let counts = |rule: &&NetworkRule| {
            program.is_none_or(|program| program.merchant.country == rule.country)
                && (accepted.is_empty() || accepted.contains(&rule.brand))
        };
        let caps = self.fee_rules.networks.iter().filter(counts);
        let capped = caps.filter_map(|rule| rule.cap.map(|cap| (cap, rule.brand)));
        let (cap, brand) = capped.min_by_key(|(cap, _)| *cap)?;
        Some((cap, format!("{} allows", Brand::title(brand))))
    }

    /// The reason why a configured fee cannot be charged, whatever the card.
    fn never_charged(&self, entry: &Entry, kind: FeeKind, today: Date) -> Option<String> {
        let principal = whole_units(entry.currency, 100)?;
        let configured = entry.layers.assess(principal);
        if configured.fee == Minor::ZERO {
            return None;
        }
        let payer = self.settings.fee_program.as_ref().map(|program| program.merchant);
        let facts = PaymentFacts { payer, ..PaymentFacts::default() };
        let flow = Flow::PaymentComponent;
        let decision = self.decide_card_fee(kind, &entry.provider, &configured, flow, facts, today);
        let reason = decision.reasons.first().filter(|_| decision.range.max == Minor::ZERO)?;
        let source = reason.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        // The adapter's own version could report it.
        let provider = self.providers.get(&entry.provider).filter(|it| it.adapter.reports_surcharge(None));
        let version = provider.and_then(|provider| provider.options.api_version.as_deref());
        let missing = match (&self.settings.fee_program, version) {
            (None, _) => " settings.feeProgram is not set.".to_owned(),
            (_, Some(version)) if reason.code == ReasonCode::ProviderCannotReport => {
                format!(" options.apiVersion is {version}; remove it, or choose a later one.")
            }
            _ => String::new(),
        };
        let (code, rule) = (reason.code.as_str(), reason.code.rule());
        Some(format!("is a {} that cannot be charged now, {code}: {rule}{source}{missing}", kind.as_str()))
    }
}

/// That an override ends soon, or has ended.
fn ending(given: &Override, today: Date) -> Option<String> {
    let (id, days) = (&given.id, given.days_left(today));
    let when = match days {
        ..=0 => format!("the override {id} does not count any more"),
        1..=OVERRIDE_WARNING_DAYS => {
            let unit = if days == 1 { "day" } else { "days" };
            format!("the override {id} ends in {days} {unit}")
        }
        _ => return None,
    };
    Some(format!("is {}: {when}; renew it with a later date, or remove it", given.expires_on))
}

fn adds_anything(layers: &FeeEntry) -> bool {
    [&layers.platform, &layers.organization].into_iter().any(|layer| {
        layer.enabled
            && (layer.fixed > Minor::ZERO || layer.percent.get() > 0 || layer.minimum > Some(Minor::ZERO))
    })
}

fn whole_units(currency: Currency, whole: u64) -> Option<Principal> {
    let scale = 10_u64.checked_pow(u32::from(currency.exponent()))?;
    Principal::new(whole.checked_mul(scale)?)
}

/// Basis points as a percentage: 350 is `3.5 %`.
fn percent(bps: u16) -> String {
    let text = format!("{}.{:02}", bps / 100, bps % 100);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
