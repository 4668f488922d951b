//! The adapters this service speaks, and what each needs to be told.

use tollgate_domain::PaymentMethod;

use crate::provider::ProviderEnvironment;

/// A provider's wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adapter {
    /// Stripe: cards, the first component variant.
    Stripe,
    /// Square: cards, the second component variant.
    Square,
    /// Increase: ACH and instant transfers.
    Increase,
}

/// A field of a provider's credentials or funding details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    pub(crate) name: &'static str,
    /// Sealed at rest and masked when read; the others are meant for browsers or are mere ids.
    pub(crate) secret: bool,
    /// Whether the provider cannot be used without it.
    pub(crate) required: bool,
    /// The most characters it may have where that is a rule of the provider's: printable ASCII then.
    pub(crate) length_max: Option<usize>,
}

const fn secret(name: &'static str) -> FieldSpec {
    FieldSpec { secret: true, ..open(name) }
}

const fn open(name: &'static str) -> FieldSpec {
    FieldSpec { name, secret: false, required: true, length_max: None }
}

const fn optional_text(name: &'static str, length_max: usize) -> FieldSpec {
    FieldSpec { required: false, length_max: Some(length_max), ..open(name) }
}

impl Adapter {
    pub const ALL: [Self; 3] = [Self::Stripe, Self::Square, Self::Increase];

    /// The name used in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::Square => "square",
            Self::Increase => "increase",
        }
    }

    /// The adapter of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|adapter| adapter.as_str() == text)
    }

    /// The payment method the provider carries.
    pub const fn method(self) -> PaymentMethod {
        match self {
            Self::Stripe | Self::Square => PaymentMethod::WebCard,
            Self::Increase => PaymentMethod::Ach,
        }
    }

    /// The base URL of the provider's own API.
    pub(crate) const fn address(self, environment: ProviderEnvironment) -> &'static str {
        match (self, environment) {
            (Self::Stripe, _) => "https://api.stripe.com",
            (Self::Square, ProviderEnvironment::Production) => "https://connect.squareup.com",
            (Self::Square, ProviderEnvironment::Sandbox) => "https://connect.squareupsandbox.com",
            (Self::Increase, ProviderEnvironment::Production) => "https://api.increase.com",
            (Self::Increase, ProviderEnvironment::Sandbox) => "https://sandbox.increase.com",
        }
    }

    pub(crate) const fn credential_fields(self) -> &'static [FieldSpec] {
        const STRIPE: &[FieldSpec] = &[secret("secretKey"), open("publishableKey"), secret("webhookSecret")];
        const SQUARE: &[FieldSpec] = &[
            secret("accessToken"),
            open("applicationId"),
            open("locationId"),
            secret("webhookSignatureKey"),
        ];
        const INCREASE: &[FieldSpec] = &[secret("apiKey"), secret("webhookSecret")];
        match self {
            Self::Stripe => STRIPE,
            Self::Square => SQUARE,
            Self::Increase => INCREASE,
        }
    }

    pub(crate) const fn funding_fields(self) -> &'static [FieldSpec] {
        // An entry has room for so much of a company's name.
        const INCREASE: &[FieldSpec] =
            &[open("accountId"), open("accountNumberId"), optional_text("companyName", 16)];
        match self {
            Self::Stripe | Self::Square => &[],
            Self::Increase => INCREASE,
        }
    }
}
