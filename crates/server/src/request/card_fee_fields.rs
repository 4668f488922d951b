//! What callers say of card and payer, by which a card fee is decided: `card`, `payer`, `recurring`, `paymentMethodType`.

use tollgate_domain::{
    PaymentMethod,
    card_fee::{Brand, CardFacts, Country, Funding, Instrument, PaymentFacts, Place, Rules, State},
};

use crate::{json::text::JsonText, prelude::*, request::unknown_fields};

const CARD: &str = "card";
const PAYER: &str = "payer";

bodies! {
    /// The card that will be charged, as far as it is known. Without a brand and a funding it counts as unknown.
    CardBody as CardFeeCard {
        /// The network.
        brand: Option<words::CardBrand>,
        funding: Option<words::CardFunding>,
        /// The country of its issuer.
        country: Option<scalars::CountryInput>,
        /// Whether it was issued to a business.
        commercial: Option<bool>,
    }

    /// Where the payer is.
    PayerBody as CardFeePayer {
        country: scalars::CountryInput,
        /// The state or province by the letters behind the country's; where these matter, the fee is zero without it.
        state: Option<scalars::StateInput>,
    }
}

/// The fields as a body has them.
#[derive(Default)]
pub(crate) struct CardFeeFields<'a> {
    pub(crate) card: Raw<'a>,
    pub(crate) payer: Raw<'a>,
    pub(crate) recurring: Raw<'a>,
    pub(crate) payment_method_type: Raw<'a>,
}

/// What is known of a payment; nothing where nothing is said.
pub(crate) fn read(
    fields: &CardFeeFields<'_>,
    method: Option<PaymentMethod>,
    rules: &Rules,
    errors: &mut FieldErrors,
) -> Option<PaymentFacts> {
    let CardFeeFields { card, payer, recurring, payment_method_type } = *fields;
    if card.is_none() && payer.is_none() && recurring.is_none() && payment_method_type.is_none() {
        return Some(PaymentFacts::default());
    }
    if method == Some(PaymentMethod::Ach) {
        let given = [(CARD, card), (PAYER, payer), ("recurring", recurring)];
        for (field, _) in given.into_iter().filter(|(_, raw)| raw.is_some()) {
            errors.add::<()>(field, "is only allowed with web_card; omit it for ach");
        }
        return None;
    }
    let is_card = is_card(payment_method_type, errors);
    let instrument = match (card, is_card?) {
        (None, false) => Some(Instrument::NotCard),
        (Some(_), false) => errors.add(CARD, "is only allowed where paymentMethodType is `card`"),
        (None, true) => Some(Instrument::Unknown),
        (Some(raw), true) => read_card(raw, errors),
    };
    let payer = match payer {
        None => Some(None),
        Some(raw) => read_payer(raw, rules, errors).map(Some),
    };
    let recurring = match recurring.map(JsonText::of) {
        None => Some(false),
        Some(JsonText::Boolean(recurring)) => Some(recurring),
        Some(_) => errors.add("recurring", "must be true or false"),
    };
    Some(PaymentFacts { instrument: instrument?, payer: payer?, recurring: recurring? })
}

/// Whether what pays is a card, by the provider's name for it.
fn is_card(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<bool> {
    let Some(raw) = raw else { return Some(true) };
    let is_name = |text: &str| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    match JsonText::of(raw) {
        JsonText::String(text) if is_name(&text) => Some(text == "card"),
        _ => errors.add("paymentMethodType", "must be `card`, or another method by its provider's name"),
    }
}

/// The card, as far as it is said.
fn read_card(raw: &serde_json::value::RawValue, errors: &mut FieldErrors) -> Option<Instrument> {
    let JsonText::Object(text) = JsonText::of(raw) else {
        return errors.add(CARD, "must be a JSON object");
    };
    let Ok(card) = unknown_fields::read::<CardBody<'_>>(Some(CARD), text) else {
        return errors.add(CARD, "has a duplicate field");
    };
    let brand = match card.brand {
        None => Some(None),
        Some(raw) => {
            known("card.brand", raw, Brand::parse, || Brand::ALL.map(Brand::as_str).join(", "), errors)
                .map(Some)
        }
    };
    let funding = match card.funding {
        None => Some(None),
        Some(raw) => known(
            "card.funding",
            raw,
            Funding::parse,
            || Funding::ALL.map(Funding::as_str).join(", "),
            errors,
        )
        .map(Some),
    };
    let country = match card.country {
        None => Some(None),
        Some(raw) => read_country("card.country", raw, errors).map(Some),
    };
    let commercial = match card.commercial.map(JsonText::of) {
        None => Some(None),
        Some(JsonText::Boolean(commercial)) => Some(Some(commercial)),
        Some(_) => errors.add("card.commercial", "must be true or false"),
    };
    let (brand, funding, country, commercial) = (brand?, funding?, country?, commercial?);
    Some(match (brand, funding) {
        (Some(brand), Some(funding)) => Instrument::Card(CardFacts { brand, funding, country, commercial }),
        (Some(brand), None) => Instrument::Brand(brand),
        (None, _) => Instrument::Unknown,
    })
}

fn read_payer(raw: &serde_json::value::RawValue, rules: &Rules, errors: &mut FieldErrors) -> Option<Place> {
    let JsonText::Object(text) = JsonText::of(raw) else {
        return errors.add(PAYER, "must be a JSON object");
    };
    let Ok(payer) = unknown_fields::read::<PayerBody<'_>>(Some(PAYER), text) else {
        return errors.add(PAYER, "has a duplicate field");
    };
    let country = match payer.country {
        Some(raw) => read_country("payer.country", raw, errors),
        None => errors.add("payer.country", "is required"),
    };
    let state = match payer.state {
        None => Some(None),
        Some(raw) => read_state(raw, country.map(|country| rules.states(country)), errors).map(Some),
    };
    Some(Place { country: country?, state: state? })
}

fn read_country(
    field: &'static str,
    raw: &serde_json::value::RawValue,
    errors: &mut FieldErrors,
) -> Option<Country> {
    let read = match JsonText::of(raw) {
        JsonText::String(text) => Country::parse(&text),
        _ => None,
    };
    read.or_else(|| errors.add(field, "must be a country by its two letters (ISO 3166-1), such as US"))
}

/// A state of a country: one of those that are known, or any where they make no difference.
fn read_state(
    raw: &serde_json::value::RawValue,
    known: Option<&[State]>,
    errors: &mut FieldErrors,
) -> Option<State> {
    const FIELD: &str = "payer.state";
    let read = match JsonText::of(raw) {
        JsonText::String(text) => State::parse(&text),
        _ => None,
    };
    match known {
        Some(known) if !known.is_empty() => {
            let read = read.filter(|state| known.contains(state));
            let known = || known.iter().map(State::as_str).collect::<Vec<_>>().join(", ");
            read.or_else(|| errors.add(FIELD, format!("must be one of: {}", known())))
        }
        _ => read.or_else(|| {
            errors.add(FIELD, "must be a state or province by the letters behind the country's, such as GA")
        }),
    }
}

/// One of the words that are known; all of them are named where it is not.
fn known<T>(
    field: &'static str,
    raw: &serde_json::value::RawValue,
    parse: impl Fn(&str) -> Option<T>,
    words: impl Fn() -> String,
    errors: &mut FieldErrors,
) -> Option<T> {
    let read = match JsonText::of(raw) {
        JsonText::String(text) => parse(&text),
        _ => None,
    };
    read.or_else(|| errors.add(field, format!("must be one of: {}", words())))
}
