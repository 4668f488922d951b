//! Kinds of payment methods: which there are, in which currencies, and when each says whether it was paid.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::amount::{too_large, too_small};
use super::error::StripeError;
use super::form::Params;
use super::state::{Context, StripeState};
use crate::collection::{Word, word};
use crate::config::Wire;

/// When a method tells whether it was paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Timing {
    Now,
    /// Days after the customer agreed: the payment is processing meanwhile.
    Debit,
    /// When the customer has paid the voucher, within the days it is good for.
    Voucher(i64),
}

/// A kind of payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MethodType {
    #[serde(with = "word")]
    pub(crate) name: Word,
    #[serde(with = "word")]
    pub(crate) label: Word,
    pub(crate) timing: Timing,
    /// The only currency it pays in.
    #[serde(with = "word::optional")]
    currency: Option<Word>,
}

pub(crate) const CARD: MethodType = of("card", "Card", Timing::Now, None);
pub(super) const US_BANK_ACCOUNT: MethodType =
    of("us_bank_account", "US bank account", Timing::Debit, Some("usd"));

/// What can be played here.
const PLAYED: [MethodType; 10] = [
    CARD,
    of("link", "Link", Timing::Now, None),
    US_BANK_ACCOUNT,
    of("sepa_debit", "SEPA direct debit", Timing::Debit, Some("eur")),
    of("bacs_debit", "Bacs direct debit", Timing::Debit, Some("gbp")),
    of("au_becs_debit", "BECS direct debit", Timing::Debit, Some("aud")),
    of("oxxo", "OXXO", Timing::Voucher(5), Some("mxn")),
    of("boleto", "Boleto", Timing::Voucher(3), Some("brl")),
    of("konbini", "Konbini", Timing::Voucher(3), Some("jpy")),
    of("multibanco", "Multibanco", Timing::Voucher(7), Some("eur")),
];

/// What can be asked for, and not paid with here.
const NOT_PLAYED: [&str; 21] = [
    "affirm",
    "afterpay_clearpay",
    "alipay",
    "amazon_pay",
    "bancontact",
    "blik",
    "cashapp",
    "eps",
    "fpx",
    "grabpay",
    "ideal",
    "klarna",
    "mobilepay",
    "p24",
    "paynow",
    "pix",
    "promptpay",
    "revolut_pay",
    "swish",
    "twint",
    "zip",
];

/// Methods whose money can be held until it is captured.
const HOLDABLE: [&str; 6] = ["affirm", "afterpay_clearpay", "card", "cashapp", "klarna", "link"];

/// What each of these pays: in which currency, and the least and the most in minor units. Others have no limit of their own here.
const LIMITS: [(&str, &str, i64, i64); 5] = [
    ("affirm", "usd", 5_000, 3_000_000),
    ("afterpay_clearpay", "usd", 100, 400_000),
    ("boleto", "brl", 500, 4_999_999),
    ("konbini", "jpy", 120, 300_000),
    ("oxxo", "mxn", 1_000, 1_000_000),
];

/// Whether a method pays this amount.
fn check_limits(name: &str, amount: i64, currency: &str) -> Result<(), StripeError> {
    let limit = LIMITS.into_iter().find(|(method, code, ..)| (*method, *code) == (name, currency));
    match limit {
        Some((_, _, least, _)) if amount < least => Err(too_small(least, currency, "amount")),
        Some((_, _, _, most)) if amount > most => Err(too_large(most, currency, "amount")),
        _ => Ok(()),
    }
}

const fn of(
    name: &'static str,
    label: &'static str,
    timing: Timing,
    currency: Option<&'static str>,
) -> MethodType {
    MethodType { name, label, timing, currency }
}

/// The kind of this name, if it can be played.
pub(super) fn played(name: &str) -> Option<MethodType> {
    PLAYED.into_iter().find(|kind| kind.name == name)
}

/// Parameters that say which kinds are taken; one of them at most.
const ALLOWED: &str = "allowed_payment_method_types";
const REQUIRED: &str = "payment_method_types";
const EXCLUSIVE: [&str; 3] = [REQUIRED, "automatic_payment_methods", "payment_method_configuration"];

/// The kinds that an intent or a session takes: those required, those of the allowed ones that fit, or all that the
/// dashboard has for the currency.
pub(super) fn taken(
    state: &StripeState,
    params: &Params,
    (amount, currency): (i64, &str),
    is_manual: bool,
) -> Result<Vec<String>, StripeError> {
    let can_hold = |name: &str| !is_manual || HOLDABLE.contains(&name);
    let is_on = |name: &str| !state.switched_off.contains(name);
    let fits = |kind: &MethodType| {
        kind.currency.is_none_or(|only| only == currency) && can_hold(kind.name) && is_on(kind.name)
    };
    let pays = |kind: &MethodType| fits(kind) && check_limits(kind.name, amount, currency).is_ok();
    let (allowed, required) = (params.list(ALLOWED), params.list(REQUIRED));
    if !allowed.is_empty() {
        if let Some(other) = EXCLUSIVE.into_iter().find(|name| params.has(name)) {
            let message = format!("You may only specify one of these parameters: {ALLOWED}, {other}.");
            return Err(StripeError::invalid(message).param(ALLOWED));
        }
        for name in &allowed {
            if played(name).is_none() && !NOT_PLAYED.contains(name) {
                return Err(StripeError::invalid(format!("Invalid {ALLOWED}[]: {name}")).param(ALLOWED));
            }
        }
        let is_taken = |name: &str| match played(name) {
            Some(kind) => pays(&kind),
            None => can_hold(name) && is_on(name) && check_limits(name, amount, currency).is_ok(),
        };
        let taken: Vec<_> = allowed.into_iter().filter(|name| is_taken(name)).map(str::to_owned).collect();
        if taken.is_empty() {
            let message = "No valid payment method types for this Payment Intent. Please ensure that you have activated \
                           payment methods compatible with your chosen currency in your dashboard \
                           (https://dashboard.stripe.com/settings/payment_methods).";
            return Err(StripeError::invalid(message));
        }
        return Ok(taken);
    }
    if required.is_empty() {
        return Ok(PLAYED.into_iter().filter(pays).map(|kind| kind.name.to_owned()).collect());
    }
    if let Some(name) = required.iter().find(|name| !can_hold(name)) {
        let message =
            format!("The payment method type {name} does not support `capture_method` set to `manual`.");
        return Err(StripeError::invalid(message).param("capture_method"));
    }
    for name in &required {
        check_limits(name, amount, currency)?;
        let refused = match played(name) {
            Some(kind) if fits(&kind) => continue,
            Some(_) if is_on(name) => format!(
                "The payment method type provided: {name} cannot be used with the currency {currency}."
            ),
            None if NOT_PLAYED.contains(name) && is_on(name) => continue,
            _ => format!(
                "The payment method type provided: {name} is invalid. Please ensure the provided type is activated in \
                 your dashboard and your account is enabled for any preview features that you are trying to use."
            ),
        };
        return Err(StripeError::invalid(refused).param(REQUIRED));
    }
    Ok(required.into_iter().map(str::to_owned).collect())
}

/// What a customer with a voucher is shown.
pub(super) fn voucher(context: &Context, kind: MethodType, days: i64) -> Value {
    let name = format!("{}_display_details", kind.name);
    let until = context.now + days * 86_400;
    let number = || context.services.ids.letters(14);
    let url = format!("{}/vouchers/{}", context.services.base_url(Wire::Stripe), context.id(""));
    let mut details = match kind.name {
        "oxxo" => json!({ "expires_after": until, "number": number() }),
        "boleto" => json!({ "expires_at": until, "number": number(), "pdf": format!("{url}.pdf") }),
        "multibanco" => json!({ "entity": "12345", "expires_at": until, "reference": number() }),
        _ => {
            let store = || json!({ "confirmation_number": number(), "payment_code": number() });
            let stores =
                ["familymart", "lawson", "ministop", "seicomart"].map(|name| (name.to_owned(), store()));
            json!({ "expires_at": until, "stores": Map::from_iter(stores) })
        }
    };
    if let Some(fields) = details.as_object_mut() {
        fields.insert("hosted_voucher_url".to_owned(), url.into());
    }
    let mut action = json!({ "type": name });
    if let Some(fields) = action.as_object_mut() {
        fields.insert(name, details);
    }
    action
}
