//! Why a card fee is what it is.

use std::sync::Arc;

/// What decided a card fee, or a request about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonCode {
    AsConfigured,
    FundingNotCredit,
    NotACard,
    CardUnknown,
    ProviderCannotReport,
    NoNotice,
    NoEntryNotice,
    CostUnknown,
    AmexParity,
    PayerPlaceUnknown,
    Prohibited,
    Unclear,
    TotalPriceNotPosted,
    CountryNotKnown,
    NetworkCap,
    PlaceCap,
    CostCap,
    ConvenienceNotFlat,
    ConvenienceNotMerchant,
    ConvenienceRecurring,
    ConvenienceOnlineOnly,
    KindsCombined,
    ServiceMcc,
    NeutralDiffers,
    RefundProRata,
    RefundNone,
    RefundFree,
}

impl ReasonCode {
    pub const ALL: [Self; 27] = [
        Self::AsConfigured,
        Self::FundingNotCredit,
        Self::NotACard,
        Self::CardUnknown,
        Self::ProviderCannotReport,
        Self::NoNotice,
        Self::NoEntryNotice,
        Self::CostUnknown,
        Self::AmexParity,
        Self::PayerPlaceUnknown,
        Self::Prohibited,
        Self::Unclear,
        Self::TotalPriceNotPosted,
        Self::CountryNotKnown,
        Self::NetworkCap,
        Self::PlaceCap,
        Self::CostCap,
        Self::ConvenienceNotFlat,
        Self::ConvenienceNotMerchant,
        Self::ConvenienceRecurring,
        Self::ConvenienceOnlineOnly,
        Self::KindsCombined,
        Self::ServiceMcc,
        Self::NeutralDiffers,
        Self::RefundProRata,
        Self::RefundNone,
        Self::RefundFree,
    ];

    /// The name in the API, in the rule file and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AsConfigured => "as_configured",
            Self::FundingNotCredit => "funding_not_credit",
            Self::NotACard => "not_a_card",
            Self::CardUnknown => "card_unknown",
            Self::ProviderCannotReport => "provider_cannot_report",
            Self::NoNotice => "no_notice",
            Self::NoEntryNotice => "no_entry_notice",
            Self::CostUnknown => "cost_unknown",
            Self::AmexParity => "amex_parity",
            Self::PayerPlaceUnknown => "payer_place_unknown",
            Self::Prohibited => "prohibited",
            Self::Unclear => "unclear",
            Self::TotalPriceNotPosted => "total_price_not_posted",
            Self::CountryNotKnown => "country_not_known",
            Self::NetworkCap => "network_cap",
            Self::PlaceCap => "place_cap",
            Self::CostCap => "cost_cap",
            Self::ConvenienceNotFlat => "convenience_not_flat",
            Self::ConvenienceNotMerchant => "convenience_not_merchant",
            Self::ConvenienceRecurring => "convenience_recurring",
            Self::ConvenienceOnlineOnly => "convenience_online_only",
            Self::KindsCombined => "kinds_combined",
            Self::ServiceMcc => "service_mcc",
            Self::NeutralDiffers => "neutral_differs",
            Self::RefundProRata => "refund_pro_rata",
            Self::RefundNone => "refund_none",
            Self::RefundFree => "refund_free",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// The rule behind it, as a sentence.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::AsConfigured => "The configured fee is within every limit.",
            Self::FundingNotCredit => {
                "Only credit cards may be surcharged; debit, prepaid and unknown cards pay nothing extra."
            }
            Self::NotACard => "Only cards may be surcharged; the provider's other methods pay nothing extra.",
            Self::CardUnknown => {
                "The fee depends on the card, and no card that the rules know is known when the total is set."
            }
            Self::ProviderCannotReport => {
                "The provider cannot report a surcharge of this payment to the network, or has refused to."
            }
            Self::NoNotice => {
                "The acquirer and Mastercard must have had notice for 30 days before the first surcharge."
            }
            Self::NoEntryNotice => {
                "The first page that shows card brands must say that a surcharge applies, and nobody has attested it."
            }
            Self::CostUnknown => {
                "A fee may not exceed what accepting the card costs, and no cost is recorded for this provider."
            }
            Self::AmexParity => {
                "American Express is accepted and demands the same treatment as other cards, which nobody has confirmed."
            }
            Self::PayerPlaceUnknown => {
                "The law where the payer is counts, too, and the payer's place is unknown."
            }
            Self::Prohibited => "The law of the place prohibits this fee.",
            Self::Unclear => "The law of the place is not clear enough, and no override is in force.",
            Self::TotalPriceNotPosted => {
                "The place demands that every posted price includes the surcharge, and nobody has attested it."
            }
            Self::CountryNotKnown => "The rules have nothing about this place.",
            Self::NetworkCap => "Lowered to the most that the card network allows.",
            Self::PlaceCap => "Lowered to the most that the law of the place allows.",
            Self::CostCap => "Lowered to what accepting the card costs.",
            Self::ConvenienceNotFlat => "A convenience fee is a fixed amount, not a share of the principal.",
            Self::ConvenienceNotMerchant => "Only the merchant that sells may charge a convenience fee.",
            Self::ConvenienceRecurring => {
                "Subscriptions and installments may not be charged a convenience fee."
            }
            Self::ConvenienceOnlineOnly => {
                "A convenience fee is for another channel than the usual one, so a merchant that sells only online has none."
            }
            Self::KindsCombined => "A payment carries one kind of card fee.",
            Self::ServiceMcc => {
                "A service fee is for merchants in the categories of government and education."
            }
            Self::NeutralDiffers => "A neutral fee is the same for every method that is offered.",
            Self::RefundProRata => "A refund gives back the surcharge in proportion, or all of it.",
            Self::RefundNone => "A refund may not keep the surcharge.",
            Self::RefundFree => "No network rule orders the return of this fee: whoever refunds decides.",
        }
    }
}

/// One reason, with where its rule is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub code: ReasonCode,
    /// An address; `None` where the reason is the configuration itself.
    pub source: Option<Arc<str>>,
}

impl Reason {
    pub const fn of(code: ReasonCode, source: Option<Arc<str>>) -> Self {
        Self { code, source }
    }
}
