//! What was decided about a payment's card fee, as JSON.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Minor, Timestamp,
    card_fee::{
        Brand, CardDecision, CardFacts, Consent, Country, FeeDecision, FeeKind, FeeRange, Funding,
        Instrument, PaymentFee, Place, Reason, ReasonCode,
    },
    fee::FeeSnapshot,
};

use super::fee::StoredFee;
use crate::prelude::*;

/// The whole history; what is not there is left out.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredPaymentFee {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payer: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    recurring: bool,
    decision: StoredDecision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    card: Option<StoredCardDecision>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    consents: Vec<StoredConsent>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredDecision {
    kind: String,
    configured_minor: u64,
    platform_minor: u64,
    organization_minor: u64,
    fee_minor: u64,
    min_minor: u64,
    max_minor: u64,
    /// Each with its source.
    reasons: Vec<(String, Option<String>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cap_minor: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_minor: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sentences: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    overrides: Vec<String>,
    rules_version: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredCardDecision {
    token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instrument: Option<StoredInstrument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payer: Option<String>,
    decision: StoredDecision,
    amounts: StoredFee,
    at: i64,
}

/// Something that the payer pays with and that is known; without a brand it is not a card.
#[derive(Serialize, Deserialize)]
struct StoredInstrument {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    brand: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    funding: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    country: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commercial: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct StoredConsent {
    attempt: u32,
    text: String,
    card: StoredCardDecision,
    at: i64,
}

const DAMAGED: CorruptRow = CorruptRow("decision about a card fee");

fn kind(stored: &str) -> Result<FeeKind, CorruptRow> {
    FeeKind::parse(stored).ok_or(DAMAGED)
}

fn minor(stored: u64) -> Result<Minor, CorruptRow> {
    Minor::new(stored).ok_or(DAMAGED)
}

fn place(stored: &str) -> Result<Place, CorruptRow> {
    Place::parse(stored).ok_or(DAMAGED)
}

impl StoredDecision {
    fn of(decision: &FeeDecision) -> Self {
        let texts = |all: &[std::sync::Arc<str>]| all.iter().map(|text| text.to_string()).collect();
        let reason = |reason: &Reason| {
            (reason.code.as_str().to_owned(), reason.source.as_ref().map(|source| source.to_string()))
        };
        Self {
            kind: decision.kind.as_str().to_owned(),
            configured_minor: decision.configured.get(),
            platform_minor: decision.platform.get(),
            organization_minor: decision.organization.get(),
            fee_minor: decision.fee.get(),
            min_minor: decision.range.min.get(),
            max_minor: decision.range.max.get(),
            reasons: decision.reasons.iter().map(reason).collect(),
            cap_minor: decision.cap.map(Minor::get),
            cost_minor: decision.cost.map(Minor::get),
            places: decision.places.iter().map(ToString::to_string).collect(),
            sentences: texts(&decision.sentences),
            overrides: texts(&decision.overrides),
            rules_version: decision.rules_version.to_string(),
        }
    }

    fn read(self) -> Result<FeeDecision, CorruptRow> {
        let reason = |(code, source): (String, Option<String>)| {
            let code = ReasonCode::parse(&code).ok_or(DAMAGED)?;
            Ok(Reason { code, source: source.map(Into::into) })
        };
        Ok(FeeDecision {
            kind: kind(&self.kind)?,
            configured: minor(self.configured_minor)?,
            platform: minor(self.platform_minor)?,
            organization: minor(self.organization_minor)?,
            fee: minor(self.fee_minor)?,
            range: FeeRange { min: minor(self.min_minor)?, max: minor(self.max_minor)? },
            reasons: self.reasons.into_iter().map(reason).collect::<Result<_, _>>()?,
            cap: self.cap_minor.map(minor).transpose()?,
            cost: self.cost_minor.map(minor).transpose()?,
            places: self.places.iter().map(|stored| place(stored)).collect::<Result<_, _>>()?,
            sentences: self.sentences.into_iter().map(Into::into).collect(),
            overrides: self.overrides.into_iter().map(Into::into).collect(),
            rules_version: self.rules_version.into(),
        })
    }
}

impl StoredInstrument {
    fn of(instrument: Instrument) -> Option<Self> {
        let nothing = Self { brand: None, funding: None, country: None, commercial: None };
        match instrument {
            Instrument::Unknown | Instrument::Brand(_) => None,
            Instrument::NotCard => Some(nothing),
            Instrument::Card(card) => Some(Self {
                brand: Some(card.brand.as_str().to_owned()),
                funding: Some(card.funding.as_str().to_owned()),
                country: card.country.map(|country| country.to_string()),
                commercial: card.commercial,
            }),
        }
    }

    fn read(self) -> Result<Instrument, CorruptRow> {
        let (Some(brand), Some(funding)) = (self.brand, self.funding) else { return Ok(Instrument::NotCard) };
        let country = |stored: String| Country::parse(&stored).ok_or(DAMAGED);
        Ok(Instrument::Card(CardFacts {
            brand: Brand::parse(&brand).ok_or(DAMAGED)?,
            funding: Funding::parse(&funding).ok_or(DAMAGED)?,
            country: self.country.map(country).transpose()?,
            commercial: self.commercial,
        }))
    }
}

impl StoredCardDecision {
    fn of(card: &CardDecision) -> Self {
        Self {
            token: HEXLOWER.encode(&card.token),
            instrument: StoredInstrument::of(card.instrument),
            payer: card.payer.map(|payer| payer.to_string()),
            decision: StoredDecision::of(&card.decision),
            amounts: StoredFee::of(&card.amounts),
            at: card.at.unix_millis(),
        }
    }

    fn read(self) -> Result<CardDecision, CorruptRow> {
        let token = HEXLOWER.decode(self.token.as_bytes()).map_err(|_| DAMAGED)?;
        Ok(CardDecision {
            token: token.try_into().map_err(|_| DAMAGED)?,
            instrument: self.instrument.map(StoredInstrument::read).transpose()?.unwrap_or_default(),
            payer: self.payer.as_deref().map(place).transpose()?,
            decision: self.decision.read()?,
            amounts: self.amounts.read()?,
            at: Timestamp::from_unix_millis(self.at),
        })
    }
}

#[expect(clippy::borrowed_box, reason = "a payment has its fee in a box")]
fn write(fee: &Box<PaymentFee>) -> String {
    let consent = |consent: &Consent| StoredConsent {
        attempt: consent.attempt,
        text: consent.text.clone(),
        card: StoredCardDecision::of(&consent.card),
        at: consent.at.unix_millis(),
    };
    let stored = StoredPaymentFee {
        payer: fee.payer.map(|payer| payer.to_string()),
        recurring: fee.recurring,
        decision: StoredDecision::of(&fee.decision),
        card: fee.card.as_ref().map(StoredCardDecision::of),
        consents: fee.consents.iter().map(consent).collect(),
    };
    // Texts and numbers under fixed names always make JSON.
    serde_json::to_string(&stored).unwrap_or_default()
}

fn read(stored: &str) -> Result<Box<PaymentFee>, CorruptRow> {
    let stored: StoredPaymentFee = serde_json::from_str(stored).map_err(|_| DAMAGED)?;
    let consent = |consent: StoredConsent| {
        Ok(Consent {
            attempt: consent.attempt,
            text: consent.text,
            card: consent.card.read()?,
            at: Timestamp::from_unix_millis(consent.at),
        })
    };
    Ok(Box::new(PaymentFee {
        payer: stored.payer.as_deref().map(place).transpose()?,
        recurring: stored.recurring,
        decision: stored.decision.read()?,
        card: stored.card.map(StoredCardDecision::read).transpose()?,
        consents: stored.consents.into_iter().map(consent).collect::<Result<_, _>>()?,
    }))
}

#[expect(clippy::borrowed_box, reason = "a transaction has its charge in a box")]
fn write_charge(charged: &Box<FeeSnapshot>) -> String {
    serde_json::to_string(&StoredFee::of(charged)).unwrap_or_default()
}

fn read_charge(stored: &str) -> Result<Box<FeeSnapshot>, CorruptRow> {
    let stored: StoredFee = serde_json::from_str(stored).map_err(|_| DAMAGED)?;
    stored.read().map(Box::new)
}

texts! {
    Box<PaymentFee>: write, read;
    Box<FeeSnapshot>: write_charge, read_charge;
}
