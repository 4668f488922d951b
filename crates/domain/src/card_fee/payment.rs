//! What was decided about the card fee of one payment, from its preparation to the payer's consent.

use crate::{
    card_fee::{FeeDecision, FeeKind, Instrument, Place, Reason, ReasonCode},
    fee::FeeSnapshot,
    money::Minor,
    time::Timestamp,
};

/// The card fee of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentFee {
    /// Where the payer is, as the caller said when it was prepared.
    pub payer: Option<Place>,
    pub recurring: bool,
    /// As it was prepared, when no card was known.
    pub decision: FeeDecision,
    /// For the card that the payer entered last.
    pub card: Option<CardDecision>,
    /// What the payer agreed to, each time a card was charged.
    pub consents: Vec<Consent>,
}

/// A decision for a card, which is known by its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDecision {
    /// A keyed digest of the token.
    pub token: [u8; 32],
    pub instrument: Instrument,
    /// The payer's place that counted.
    pub payer: Option<Place>,
    pub decision: FeeDecision,
    /// The payment's numbers with the fee that was decided.
    pub amounts: FeeSnapshot,
    pub at: Timestamp,
}

impl CardDecision {
    /// What is left of it once the provider has refused the surcharge.
    #[must_use]
    pub fn refused(self, reason: Reason, at: Timestamp) -> Self {
        let amounts = self.amounts.with_fees(self.decision.kind, Minor::ZERO, Minor::ZERO);
        Self { decision: self.decision.without_fee(reason), amounts, at, ..self }
    }

    /// Whether the provider has refused a surcharge on this card. Cards are only looked at where it could be reported.
    pub fn is_refused(&self) -> bool {
        self.decision.reason() == ReasonCode::ProviderCannotReport
    }
}

/// The payer agreed to a total, which was then charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The number of the attempt that charged it.
    pub attempt: u32,
    /// What the payer was shown.
    pub text: String,
    pub card: CardDecision,
    pub at: Timestamp,
}

impl PaymentFee {
    /// As prepared.
    pub const fn new(payer: Option<Place>, recurring: bool, decision: FeeDecision) -> Self {
        Self { payer, recurring, decision, card: None, consents: Vec::new() }
    }

    pub const fn kind(&self) -> FeeKind {
        self.decision.kind
    }

    /// The latest decision.
    pub fn latest(&self) -> &FeeDecision {
        self.card.as_ref().map_or(&self.decision, |card| &card.decision)
    }

    /// The decision for the card of this token, if it is the latest.
    pub fn of_token(&self, token: &[u8; 32]) -> Option<&CardDecision> {
        self.card.as_ref().filter(|card| card.token == *token)
    }

    /// The consent to this total, the latest if there are several.
    pub fn consent_to(&self, total: Minor) -> Option<&Consent> {
        self.consents.iter().rev().find(|consent| consent.card.amounts.total_debit == total)
    }

    /// The consent that an attempt rests on.
    pub fn consent_of(&self, attempt: u32) -> Option<&Consent> {
        self.consents.iter().rev().find(|consent| consent.attempt == attempt)
    }

    /// What the payer last agreed to; what was prepared, if there is no consent.
    pub fn agreed(&self, prepared: &FeeSnapshot) -> FeeSnapshot {
        self.consents.last().map_or(*prepared, |consent| consent.card.amounts)
    }
}
