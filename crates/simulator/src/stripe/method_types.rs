//! Kinds of payment methods: which there are, in which currencies, and when each says whether it was paid.

use super::amount::{too_large, too_small};
use super::prelude::*;

/// When a method tells whether it was paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Timing {
    Now,
    /// Days after the customer agreed: the payment is processing meanwhile.
    Debit,
    /// When the customer has paid the voucher, within the days it is good for.
    Voucher(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MethodType {
    #[serde(deserialize_with = "archive::word")]
    pub(crate) name: Word,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) label: Word,
    pub(crate) timing: Timing,
    /// What it pays in, separated by commas; empty means any currency.
    #[serde(deserialize_with = "archive::word")]
    currencies: Word,
}

pub(crate) const CARD: MethodType = of("card", "Card", Timing::Now, "");
pub(super) const US_BANK_ACCOUNT: MethodType = of("us_bank_account", "US bank account", Timing::Debit, "usd");

const PLAYED: [MethodType; 10] = [
    CARD,
    of("link", "Link", Timing::Now, ""),
    US_BANK_ACCOUNT,
    of("sepa_debit", "SEPA direct debit", Timing::Debit, "eur"),
    of("bacs_debit", "Bacs direct debit", Timing::Debit, "gbp"),
    of("au_becs_debit", "BECS direct debit", Timing::Debit, "aud"),
    of("oxxo", "OXXO", Timing::Voucher(5), "mxn"),
    of("boleto", "Boleto", Timing::Voucher(3), "brl"),
    of("konbini", "Konbini", Timing::Voucher(3), "jpy"),
    of("multibanco", "Multibanco", Timing::Voucher(7), "eur"),
];

/// What can be asked for in these currencies, and not paid with here.
const NOT_PLAYED: &str = "\
    affirm=cad,usd afterpay_clearpay=aud,cad,gbp,nzd,usd alipay=aud,cad,cny,eur,gbp,hkd,jpy,myr,nzd,sgd,usd \
    amazon_pay= bancontact=eur blik=pln cashapp=usd eps=eur fpx=myr grabpay=myr,sgd ideal=eur \
    klarna=aud,cad,chf,czk,dkk,eur,gbp,nok,nzd,pln,sek,usd mobilepay=dkk,eur,nok,sek p24=eur,pln paynow=sgd \
    pix=brl promptpay=thb revolut_pay= swish=sek twint=chf zip=aud";

/// Methods whose money can be held until it is captured.
const HOLDABLE: [&str; 6] = ["affirm", "afterpay_clearpay", "card", "cashapp", "klarna", "link"];

/// What each of these pays: in which currency, and the least and the most in minor units. Others have no limit of their own here.
const LIMITS: [(&str, &str, i64, i64); 10] = [
    ("affirm", "cad", 5_000, 3_000_000),
    ("affirm", "usd", 5_000, 3_000_000),
    ("afterpay_clearpay", "aud", 100, 400_000),
    ("afterpay_clearpay", "cad", 100, 200_000),
    ("afterpay_clearpay", "gbp", 100, 120_000),
    ("afterpay_clearpay", "nzd", 100, 400_000),
    ("afterpay_clearpay", "usd", 100, 400_000),
    ("boleto", "brl", 500, 4_999_999),
    ("konbini", "jpy", 120, 300_000),
    ("oxxo", "mxn", 1_000, 1_000_000),
];

fn check_limits(name: &str, amount: i64, currency: &str) -> Answer<()> {
    let limit = LIMITS.into_iter().find(|(method, code, ..)| (*method, *code) == (name, currency));
    match limit {
        Some((_, _, least, _)) if amount < least => Err(too_small(least, currency, "amount")),
        Some((_, _, _, most)) if amount > most => Err(too_large(most, currency, "amount")),
        _ => Ok(()),
    }
}

const fn of(name: &'static str, label: &'static str, timing: Timing, currencies: &'static str) -> MethodType {
    MethodType { name, label, timing, currencies }
}

/// The kind of this name, if it can be played.
pub(super) fn played(name: &str) -> Option<MethodType> {
    PLAYED.into_iter().find(|kind| kind.name == name)
}

/// The currencies of the kind of this name, if there is such a kind.
fn currencies_of(name: &str) -> Option<&'static str> {
    let mut others = NOT_PLAYED.split_whitespace().filter_map(|entry| entry.split_once('='));
    let other = || others.find(|(other, _)| *other == name).map(|(_, currencies)| currencies);
    played(name).map(|kind| kind.currencies).or_else(other)
}

/// Parameters that say which kinds are taken; one of them at most.
const ALLOWED: &str = "allowed_payment_method_types";
const REQUIRED: &str = "payment_method_types";
const EXCLUSIVE: [&str; 3] = [REQUIRED, "automatic_payment_methods", "payment_method_configuration"];

/// The kinds that an intent or a session takes: those required, those of the allowed ones that fit, or all that the
/// dashboard has for the currency.
pub(super) fn taken(
    state: &State,
    params: &Params,
    (amount, currency): (i64, &str),
    is_manual: bool,
) -> Answer<Vec<String>> {
    let can_hold = |name: &str| !is_manual || HOLDABLE.contains(&name);
    let is_on = |name: &str| !state.switched_off.contains(name);
    let takes_currency = |name: &str| {
        currencies_of(name)
            .is_some_and(|codes| codes.is_empty() || codes.split(',').any(|code| code == currency))
    };
    let fits = |name: &str| takes_currency(name) && can_hold(name) && is_on(name);
    let pays = |name: &str| fits(name) && check_limits(name, amount, currency).is_ok();
    let (allowed, required) = (params.list(ALLOWED), params.list(REQUIRED));
    if !allowed.is_empty() {
        if let Some(other) = EXCLUSIVE.into_iter().find(|name| params.has(name)) {
            let message = format!("You may only specify one of these parameters: {ALLOWED}, {other}.");
            return Err(Error::invalid(message).param(ALLOWED));
        }
        for name in &allowed {
            if currencies_of(name).is_none() {
                return Err(Error::invalid(format!("Invalid {ALLOWED}[]: {name}")).param(ALLOWED));
            }
        }
        let taken: Vec<_> = allowed.into_iter().filter(|name| pays(name)).map(str::to_owned).collect();
        if taken.is_empty() {
            let message = "No valid payment method types for this Payment Intent. Please ensure that you have activated \
                           payment methods compatible with your chosen currency in your dashboard \
                           (https://dashboard.stripe.com/settings/payment_methods).";
            return Err(Error::invalid(message));
        }
        return Ok(taken);
    }
    if required.is_empty() {
        return Ok(PLAYED
            .into_iter()
            .map(|kind| kind.name)
            .filter(|name| pays(name))
            .map(str::to_owned)
            .collect());
    }
    if let Some(name) = required.iter().find(|name| !can_hold(name)) {
        let message =
            format!("The payment method type {name} does not support `capture_method` set to `manual`.");
        return Err(Error::invalid(message).param("capture_method"));
    }
    for name in &required {
        check_limits(name, amount, currency)?;
        let refused = match currencies_of(name) {
            Some(_) if fits(name) => continue,
            Some(_) if is_on(name) => format!(
                "The payment method type provided: {name} cannot be used with the currency {currency}."
            ),
            _ => format!(
                "The payment method type provided: {name} is invalid. Please ensure the provided type is activated in \
                 your dashboard and your account is enabled for any preview features that you are trying to use."
            ),
        };
        return Err(Error::invalid(refused).param(REQUIRED));
    }
    Ok(required.into_iter().map(str::to_owned).collect())
}

/// What a customer with a voucher is shown.
pub(super) fn voucher(context: &Context, kind: MethodType, days: i64) -> Value {
    let name = format!("{}_display_details", kind.name);
    let until = context.now + days * 86_400;
    let number = || context.services.ids.letters(14);
    let url = format!("{}/vouchers/{}", context.services.base_url(Wire::Stripe), context.id(""));
    let details = match kind.name {
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
    let details = with(details, [("hosted_voucher_url", url.into())]);
    with(json!({ "type": name }), [(name.as_str(), details)])
}
