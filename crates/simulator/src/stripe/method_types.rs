//! Kinds of payment methods: which there are, in which currencies, and when each says whether it was paid.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::amount::{too_large, too_small};
use super::error::StripeError;
use super::form::Params;
use super::state::Context;
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

/// What can be played here. All of it is switched on in this account's dashboard.
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

/// The kinds that an intent or a session takes: those asked for, or all that the dashboard has for the currency.
pub(super) fn taken(
    params: &Params,
    amount: i64,
    currency: &str,
    is_manual: bool,
) -> Result<Vec<String>, StripeError> {
    let asked = params.list("payment_method_types");
    let can_hold = |name: &str| !is_manual || HOLDABLE.contains(&name);
    if let Some(name) = asked.iter().find(|name| !can_hold(name)) {
        let message =
            format!("The payment method type {name} does not support `capture_method` set to `manual`.");
        return Err(StripeError::invalid(message).param("capture_method"));
    }
    let fits = |kind: &MethodType| kind.currency.is_none_or(|only| only == currency) && can_hold(kind.name);
    if asked.is_empty() {
        let pays = |kind: &MethodType| fits(kind) && check_limits(kind.name, amount, currency).is_ok();
        return Ok(PLAYED.into_iter().filter(pays).map(|kind| kind.name.to_owned()).collect());
    }
    for name in &asked {
        check_limits(name, amount, currency)?;
        let refused = match played(name) {
            Some(kind) if fits(&kind) => continue,
            Some(_) => format!(
                "The payment method type provided: {name} cannot be used with the currency {currency}."
            ),
            None if NOT_PLAYED.contains(name) => continue,
            None => format!(
                "The payment method type provided: {name} is invalid. Please ensure the provided type is activated in \
                 your dashboard and your account is enabled for any preview features that you are trying to use."
            ),
        };
        return Err(StripeError::invalid(refused).param("payment_method_types"));
    }
    Ok(asked.into_iter().map(str::to_owned).collect())
}

/// What a customer with a voucher is shown.
pub(super) fn voucher(context: &Context, kind: MethodType, days: i64) -> Value {
    let name = format!("{}_display_details", kind.name);
    let details = json!({
        "expires_after": context.now + days * 86_400,
        "expires_at": context.now + days * 86_400,
        "hosted_voucher_url": format!("{}/vouchers/{}", context.services.base_url(Wire::Stripe), context.id("")),
        "number": context.services.ids.letters(14),
    });
    let mut action = json!({ "type": name });
    if let Some(fields) = action.as_object_mut() {
        fields.insert(name, details);
    }
    action
}
