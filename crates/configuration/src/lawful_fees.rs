//! What no configuration of card fees may say, because it could never be lawful. Each refusal cites its rule.

use jiff::{ToSpan, civil::Date};
use tollgate_domain::{
    Channel, Currency, Minor, PaymentMethod,
    card_fee::{FeeKind, FeeProgram, MAX_OVERRIDE_DAYS, ReasonCode, Rules, State, check_refund},
    fee::{FeeEntry, FeeLayer},
};

use crate::{Configuration, fees::Entry, validation_error::ValidationErrors, warnings::reachable};

impl Configuration {
    /// Refuses what can never be lawful. With the day it is, also overrides that are given for too long.
    pub fn check_fees(&self, today: Option<Date>) -> ValidationErrors {
        let mut errors = ValidationErrors::default();
        if let Some(program) = &self.settings.fee_program {
            check_program(program, &self.fee_rules, today, &mut errors);
        }
        for entry in self.fees.entries() {
            self.check_entry(entry, &mut errors);
        }
        self.check_refunds(&mut errors);
        errors
    }

    /// What refunds keep where the caller does not say.
    fn check_refunds(&self, errors: &mut ValidationErrors) {
        let refund = self.settings.fee_refund;
        let kept = self.fees.entries().find_map(|entry| {
            let kind = entry.kind()?;
            Some((entry, kind, check_refund(kind, refund).err()?))
        });
        if let Some((entry, kind, code)) = kept {
            let what = format!("set proportional or full: fees[{}] is a {}", entry.place, kind.as_str());
            errors.add("settings.feeRefund", self.refusal(code, &what));
        }
    }

    fn check_entry(&self, entry: &Entry, errors: &mut ValidationErrors) {
        let path = |rest: &str| format!("fees[{}]{rest}", entry.place);
        let (platform, organization) = (entry.kinds.platform, entry.kinds.organization);
        if let (Some(one), Some(other)) = (platform, organization)
            && one != other
        {
            let what = format!("the layers are `{}` and `{}`; choose one", one.as_str(), other.as_str());
            errors.add(path(".organization.feeKind"), self.refusal(ReasonCode::KindsCombined, &what));
            return;
        }
        let (Some(kind), kind_path) = (
            entry.kind(),
            match platform {
                Some(_) => path(".platform.feeKind"),
                None => path(".organization.feeKind"),
            },
        ) else {
            return;
        };
        match kind {
            FeeKind::Surcharge => {}
            FeeKind::Convenience => {
                let layers =
                    [(".platform", &entry.layers.platform), (".organization", &entry.layers.organization)];
                for (layer, configured) in layers {
                    if configured.percent.get() > 0 {
                        let what = "set percentFeeBps to 0, and fixedFeeMinor instead";
                        let path = path(&format!("{layer}.percentFeeBps"));
                        errors.add(path, self.refusal(ReasonCode::ConvenienceNotFlat, what));
                    }
                }
                if platform.is_some() || costs(&entry.layers.platform) {
                    let what = "move it to the organization's layer";
                    let refusal = self.refusal(ReasonCode::ConvenienceNotMerchant, what);
                    errors.add(path(".platform.feeKind"), refusal);
                }
                let program = self.settings.fee_program.as_ref();
                if program.is_some_and(|program| program.online_only == Some(true)) {
                    let what = "settings.feeProgram.onlineOnly is true";
                    errors.add(kind_path, self.refusal(ReasonCode::ConvenienceOnlineOnly, what));
                }
            }
            FeeKind::Service => {
                let mcc = self.settings.fee_program.as_ref().and_then(|program| program.mcc);
                if mcc.is_none_or(|mcc| !self.fee_rules.service_mccs.contains(&mcc)) {
                    let known: Vec<_> = self.fee_rules.service_mccs.iter().map(ToString::to_string).collect();
                    let is = mcc.map_or_else(|| "not set".to_owned(), |mcc| mcc.to_string());
                    let what =
                        format!("settings.feeProgram.merchant.mcc is {is}; allowed are {}", known.join(", "));
                    errors.add(kind_path, self.refusal(ReasonCode::ServiceMcc, &what));
                }
            }
            FeeKind::Neutral => {
                if let Some(other) = self.differs(entry) {
                    let what = format!("{other} costs something else");
                    errors.add(kind_path, self.refusal(ReasonCode::NeutralDiffers, &what));
                }
            }
        }
    }

    /// The first other way to pay in the same currency that costs something else.
    fn differs(&self, neutral: &Entry) -> Option<String> {
        let same_currency = self.fees.entries().filter(|entry| entry.currency == neutral.currency);
        let other = same_currency.filter(|entry| entry.place != neutral.place).find(|entry| {
            let is_other_kind = entry.channel == Channel::WebCard && entry.kind() != Some(FeeKind::Neutral);
            is_other_kind || amounts(&entry.layers) != amounts(&neutral.layers)
        });
        if let Some(other) = other {
            return Some(format!("fees[{}] ({}, {})", other.place, other.provider, other.channel.as_str()));
        }
        if amounts(&neutral.layers) == amounts(&FeeEntry::default()) {
            return None;
        }
        // A way without an entry costs nothing.
        PaymentMethod::ALL.into_iter().find_map(|method| {
            let table = self.routing(method);
            let is_offered =
                table.enabled() && (method != PaymentMethod::Ach || neutral.currency == Currency::USD);
            let mut targets = reachable(table).filter(|_| is_offered);
            let free = targets.find(|(_, target, _)| {
                !self.fees.has_entry(&target.provider, target.channel, neutral.currency)
            });
            free.map(|(place, target, _)| {
                format!("routing.{method}.{place} ({}, {})", target.provider, target.channel.as_str())
            })
        })
    }

    /// A rule, what to do, and where it is written.
    fn refusal(&self, code: ReasonCode, what: &str) -> String {
        let source = self.fee_rules.source(code).map(|source| format!(" ({source})")).unwrap_or_default();
        format!("can never be lawful, {}: {} {what}{source}", code.as_str(), code.rule())
    }
}

/// What a layer adds, where it is enabled.
type Amounts = (Minor, u16, Option<Minor>, Option<Minor>);

fn amounts(layers: &FeeEntry) -> [Option<Amounts>; 2] {
    [&layers.platform, &layers.organization]
        .map(|layer| costs(layer).then(|| (layer.fixed, layer.percent.get(), layer.minimum, layer.cap)))
}

/// Whether a layer ever adds anything.
fn costs(layer: &FeeLayer) -> bool {
    let adds = layer.fixed > Minor::ZERO || layer.percent.get() > 0 || layer.minimum > Some(Minor::ZERO);
    layer.enabled && adds && layer.cap != Some(Minor::ZERO)
}

fn check_program(program: &FeeProgram, rules: &Rules, today: Option<Date>, errors: &mut ValidationErrors) {
    let (path, merchant) = ("settings.feeProgram", program.merchant);
    let states = rules.states(merchant.country);
    if !states.is_empty() && merchant.state.is_none_or(|state| !states.contains(&state)) {
        let known: Vec<_> = states.iter().map(State::as_str).collect();
        let is = if merchant.state.is_some() { "must be" } else { "is required here:" };
        errors.add(format!("{path}.merchant.state"), format!("{is} one of: {}", known.join(", ")));
    }
    let known = rules.override_ids();
    for (place, given) in program.overrides.iter().enumerate() {
        if !known.contains(&given.id) {
            let message = format!("is not a known override; known: {}", known.join(", "));
            errors.add(format!("{path}.overrides[{place}].id"), message);
        }
        if today.is_some_and(|today| given.days_left(today) > MAX_OVERRIDE_DAYS) {
            let latest = today.and_then(|today| today.checked_add(MAX_OVERRIDE_DAYS.days()).ok());
            let latest = latest.map(|day| day.to_string()).unwrap_or_default();
            let message = format!("must be within a year, {latest} at the latest; renew it then");
            errors.add(format!("{path}.overrides[{place}].expiresOn"), message);
        }
    }
}
