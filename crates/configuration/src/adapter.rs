//! The adapters this service speaks, and what each needs to be told.

mod stripe_methods;

use tollgate_domain::{PaymentMethod, tenant::Mode};

use crate::{
    browser_script::BrowserScript, options::OptionField, payment_method_type::PaymentMethodType,
    provider::ProviderEnvironment,
};

/// A provider's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adapter {
    /// Stripe: cards, the first component variant.
    Stripe,
    /// Square: cards, the second component variant.
    Square,
    /// Adyen: cards, the third component variant.
    Adyen,
    /// Increase: ACH and instant transfers.
    Increase,
    /// Modern Treasury: ACH and instant transfers through one's own bank.
    ModernTreasury,
}

/// A field of a provider's credentials or funding details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    pub name: &'static str,
    /// Sealed at rest and masked when read; the others are meant for browsers or are mere ids.
    pub secret: bool,
    /// Whether the provider cannot be used without it.
    pub required: bool,
    /// The most characters it may have where that is a rule of the provider's: printable ASCII then.
    pub length_max: Option<usize>,
    /// Whether it is bytes in hexadecimal.
    pub hex: bool,
}

/// Which versions of a provider's API can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionRule {
    /// One of these, the oldest first.
    Listed { releases: &'static [&'static str], previews: &'static [&'static str] },
    /// Any date.
    Dated { example: &'static str },
}

/// Stripe's releases that the adapter is tried with. Before the first, capturing a part of a hold or releasing it made a
/// refund that looks like any other, and a hosted payment in the buyer's own currency was reported in that currency.
const STRIPE_VERSIONS: [&str; 20] = [
    "2025-03-31.basil",
    "2025-04-30.basil",
    "2025-05-28.basil",
    "2025-06-30.basil",
    "2025-07-30.basil",
    "2025-08-27.basil",
    "2025-09-30.clover",
    "2025-10-29.clover",
    "2025-11-17.clover",
    "2025-12-15.clover",
    "2026-01-28.clover",
    "2026-02-25.clover",
    "2026-03-25.dahlia",
    "2026-04-22.dahlia",
    "2026-05-27.dahlia",
    "2026-06-24.dahlia",
    "2026-07-29.dahlia",
    "2026-08-26.dahlia",
    "2026-09-30.endive",
    "2026-10-28.endive",
];

/// The public preview with surcharges that Stripe checks, of the day when methods got the name they are sent by. Others are not
/// permitted: previews change without notice.
const STRIPE_PREVIEWS: [&str; 1] = ["2026-09-30.preview"];

/// The first version that can inspect a card before charging it, and charge a total other than the prepared one.
const STRIPE_SURCHARGES_SINCE: &str = "2026-04-22";

const fn secret(name: &'static str) -> FieldSpec {
    FieldSpec { secret: true, ..open(name) }
}

const fn open(name: &'static str) -> FieldSpec {
    FieldSpec { name, secret: false, required: true, length_max: None, hex: false }
}

/// Needed for some transfers only.
const fn optional_id(name: &'static str) -> FieldSpec {
    FieldSpec { required: false, ..open(name) }
}

const fn optional_text(name: &'static str, length_max: usize) -> FieldSpec {
    FieldSpec { required: false, length_max: Some(length_max), ..open(name) }
}

const SQUARE_FONTS: &str =
    "https://square-fonts-production-f.squarecdn.com https://d1g145x70srn7h.cloudfront.net";

/// The frames in which Square has a card's issuer ask for 3-D Secure come from that issuer's own host, whichever it is.
const ANY_ISSUER: &str = "https:";

impl Adapter {
    pub const ALL: [Self; 5] =
        [Self::Stripe, Self::Square, Self::Adyen, Self::Increase, Self::ModernTreasury];

    /// The name used in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::Square => "square",
            Self::Adyen => "adyen",
            Self::Increase => "increase",
            Self::ModernTreasury => "modern_treasury",
        }
    }

    /// The name people know it by.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Stripe => "Stripe",
            Self::Square => "Square",
            Self::Adyen => "Adyen",
            Self::Increase => "Increase",
            Self::ModernTreasury => "Modern Treasury",
        }
    }

    /// The adapter of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|adapter| adapter.as_str() == text)
    }

    /// The payment method the provider carries.
    pub const fn method(self) -> PaymentMethod {
        match self {
            Self::Stripe | Self::Square | Self::Adyen => PaymentMethod::WebCard,
            Self::Increase | Self::ModernTreasury => PaymentMethod::Ach,
        }
    }

    /// Whether it can tell the card network that an online payment carries a surcharge, in this version of its API; `None` is the one
    /// that the adapter was written for.
    pub fn reports_surcharge(self, version: Option<&str>) -> bool {
        match self {
            Self::Stripe => version.is_none_or(|version| version >= STRIPE_SURCHARGES_SINCE),
            Self::Square | Self::Adyen | Self::Increase | Self::ModernTreasury => false,
        }
    }

    /// The base URL of the provider's own API. Where each customer has another one, [`Self::address_with`] makes it.
    pub(crate) const fn address(self, environment: ProviderEnvironment) -> &'static str {
        match (self, environment) {
            (Self::Stripe, _) => "https://api.stripe.com",
            (Self::Square, ProviderEnvironment::Production) => "https://connect.squareup.com",
            (Self::Square, ProviderEnvironment::Sandbox) => "https://connect.squareupsandbox.com",
            (Self::Adyen, ProviderEnvironment::Production) => {
                "https://checkout-live.adyenpayments.com/checkout"
            }
            (Self::Adyen, ProviderEnvironment::Sandbox) => "https://checkout-test.adyen.com",
            (Self::Increase, ProviderEnvironment::Production) => "https://api.increase.com",
            (Self::Increase, ProviderEnvironment::Sandbox) => "https://sandbox.increase.com",
            (Self::ModernTreasury, _) => "https://app.moderntreasury.com",
        }
    }

    /// The base URL of the production API for a company with this prefix, where each has its own.
    pub(crate) fn address_with(self, prefix: &str) -> Option<String> {
        (self == Self::Adyen).then(|| format!("https://{prefix}-checkout-live.adyenpayments.com/checkout"))
    }

    /// Where people answer a dispute at the provider: its own page where it has an address, otherwise the list of them.
    pub(crate) fn dispute_page(self, mode: Option<Mode>, id: &str) -> Option<String> {
        let is_name = is_name(id);
        let test = if mode == Some(Mode::Test) { "test/" } else { "" };
        match self {
            Self::Stripe if is_name => Some(format!("https://dashboard.stripe.com/{test}disputes/{id}")),
            Self::Square => Some("https://squareup.com/dashboard/sales/disputes".to_owned()),
            Self::Adyen => {
                let side = if mode == Some(Mode::Test) { "test" } else { "live" };
                Some(format!("https://ca-{side}.adyen.com/ca/ca/disputes/overview.shtml"))
            }
            Self::Stripe | Self::Increase | Self::ModernTreasury => None,
        }
    }

    /// Where people see a payment at the provider, where it has a page of its own.
    pub(crate) fn payment_page(self, mode: Option<Mode>, id: &str) -> Option<String> {
        if !is_name(id) {
            return None;
        }
        let is_test = mode == Some(Mode::Test);
        match self {
            Self::Stripe => {
                let test = if is_test { "test/" } else { "" };
                Some(format!("https://dashboard.stripe.com/{test}payments/{id}"))
            }
            Self::Square if is_test => {
                Some(format!("https://squareupsandbox.com/dashboard/sales/transactions/{id}"))
            }
            Self::Square => Some(format!("https://squareup.com/dashboard/sales/transactions/{id}")),
            Self::Adyen => {
                let side = if is_test { "test" } else { "live" };
                Some(format!(
                    "https://ca-{side}.adyen.com/ca/ca/accounts/showTx.shtml?pspReference={id}&txType=Payment"
                ))
            }
            Self::Increase => Some(format!("https://dashboard.increase.com/transfers/{id}")),
            Self::ModernTreasury => None,
        }
    }

    /// The hosts of the provider's own API; a star at the beginning stands for a part of a name without dots.
    pub fn hosts(self) -> Vec<&'static str> {
        if self == Self::Adyen {
            return vec![
                "*-checkout-live.adyenpayments.com",
                "checkout-test.adyen.com",
                "management-live.adyen.com",
                "management-test.adyen.com",
            ];
        }
        [ProviderEnvironment::Production, ProviderEnvironment::Sandbox]
            .map(|environment| self.address(environment).trim_start_matches("https://"))
            .into()
    }

    /// Where webhooks and credentials are set up, for adapters with an API of its own for that.
    pub const fn management_address(self, environment: ProviderEnvironment) -> Option<&'static str> {
        match (self, environment) {
            (Self::Adyen, ProviderEnvironment::Production) => Some("https://management-live.adyen.com"),
            (Self::Adyen, ProviderEnvironment::Sandbox) => Some("https://management-test.adyen.com"),
            _ => None,
        }
    }

    /// What stands in its entry beside the credentials.
    pub const fn entry_fields(self) -> &'static [FieldSpec] {
        const ADYEN: &[FieldSpec] = &[open("merchantAccount"), optional_id("livePrefix")];
        match self {
            Self::Adyen => ADYEN,
            Self::Stripe | Self::Square | Self::Increase | Self::ModernTreasury => &[],
        }
    }

    /// What its API and its webhooks need.
    pub const fn credential_fields(self) -> &'static [FieldSpec] {
        const STRIPE: &[FieldSpec] = &[secret("secretKey"), open("publishableKey"), secret("webhookSecret")];
        const SQUARE: &[FieldSpec] = &[
            secret("accessToken"),
            open("applicationId"),
            open("locationId"),
            secret("webhookSignatureKey"),
        ];
        // While the key is replaced, webhooks signed with the one before still arrive.
        const ADYEN: &[FieldSpec] = &[
            secret("apiKey"),
            open("clientKey"),
            FieldSpec { hex: true, ..secret("hmacKey") },
            FieldSpec { required: false, hex: true, ..secret("hmacKeyPrevious") },
            FieldSpec { required: false, ..secret("webhookPassword") },
        ];
        const INCREASE: &[FieldSpec] = &[secret("apiKey"), secret("webhookSecret")];
        const MODERN_TREASURY: &[FieldSpec] =
            &[open("organizationId"), secret("apiKey"), secret("webhookKey")];
        match self {
            Self::Stripe => STRIPE,
            Self::Square => SQUARE,
            Self::Adyen => ADYEN,
            Self::Increase => INCREASE,
            Self::ModernTreasury => MODERN_TREASURY,
        }
    }

    /// Where its money comes from.
    pub const fn funding_fields(self) -> &'static [FieldSpec] {
        // An entry has room for so much of a company's name.
        const INCREASE: &[FieldSpec] =
            &[open("accountId"), optional_id("accountNumberId"), optional_text("companyName", 16)];
        const MODERN_TREASURY: &[FieldSpec] =
            &[open("originatingAccountId"), optional_text("companyName", 16)];
        match self {
            Self::Stripe | Self::Square | Self::Adyen => &[],
            Self::Increase => INCREASE,
            Self::ModernTreasury => MODERN_TREASURY,
        }
    }

    /// What it can do beyond the ordinary.
    pub const fn option_fields(self) -> &'static [OptionField] {
        match self {
            Self::Stripe => &OptionField::ALL,
            Self::Square => &[OptionField::ApiVersion],
            Self::Adyen | Self::Increase | Self::ModernTreasury => &[],
        }
    }

    /// The methods that `options.paymentMethods` may name.
    pub const fn payment_methods(self) -> &'static [PaymentMethodType] {
        match self {
            Self::Stripe => stripe_methods::METHODS,
            Self::Square | Self::Adyen | Self::Increase | Self::ModernTreasury => &[],
        }
    }

    /// The releases of its API that can be asked for by name, the oldest first; empty if they are not known one by one.
    pub const fn api_versions(self) -> &'static [&'static str] {
        match self.version_rule() {
            VersionRule::Listed { releases, .. } => releases,
            VersionRule::Dated { .. } => &[],
        }
    }

    pub(crate) const fn version_rule(self) -> VersionRule {
        match self {
            Self::Stripe => VersionRule::Listed { releases: &STRIPE_VERSIONS, previews: &STRIPE_PREVIEWS },
            Self::Square | Self::Adyen | Self::Increase | Self::ModernTreasury => {
                VersionRule::Dated { example: "2026-09-16" }
            }
        }
    }

    /// The provider's own script for a page that takes cards, for adapters that have one.
    pub(crate) const fn script(self, environment: ProviderEnvironment) -> Option<BrowserScript> {
        match (self, environment) {
            (Self::Stripe, _) => Some(BrowserScript {
                // The release that goes with the API version we ask for.
                url: "https://js.stripe.com/endive/stripe.js",
                simulated: "v3.js",
                style: None,
                sources: &[
                    ("script-src", "https://js.stripe.com https://*.js.stripe.com"),
                    ("connect-src", "https://api.stripe.com"),
                    ("frame-src", "https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com"),
                ],
            }),
            (Self::Square, ProviderEnvironment::Sandbox) => Some(BrowserScript {
                url: "https://sandbox.web.squarecdn.com/v1/square.js",
                simulated: "web-payments.js",
                style: None,
                sources: &[
                    ("script-src", "https://sandbox.web.squarecdn.com"),
                    ("style-src", "https://sandbox.web.squarecdn.com"),
                    (
                        "connect-src",
                        "https://connect.squareupsandbox.com https://pci-connect.squareupsandbox.com",
                    ),
                    ("frame-src", ANY_ISSUER),
                    ("font-src", SQUARE_FONTS),
                ],
            }),
            (Self::Square, ProviderEnvironment::Production) => Some(BrowserScript {
                url: "https://web.squarecdn.com/v1/square.js",
                simulated: "web-payments.js",
                style: None,
                sources: &[
                    ("script-src", "https://web.squarecdn.com"),
                    ("style-src", "https://web.squarecdn.com"),
                    ("connect-src", "https://connect.squareup.com https://pci-connect.squareup.com"),
                    ("frame-src", ANY_ISSUER),
                    ("font-src", SQUARE_FONTS),
                ],
            }),
            (Self::Adyen, ProviderEnvironment::Sandbox) => Some(BrowserScript {
                url: "https://checkoutshopper-test.cdn.adyen.com/checkoutshopper/sdk/6.36.0/adyen.js",
                simulated: "checkoutshopper/sdk/6.36.0/adyen.js",
                style: Some((
                    "https://checkoutshopper-test.cdn.adyen.com/checkoutshopper/sdk/6.36.0/adyen.css",
                    "checkoutshopper/sdk/6.36.0/adyen.css",
                )),
                sources: &[
                    ("script-src", "https://checkoutshopper-test.cdn.adyen.com"),
                    ("style-src", "https://checkoutshopper-test.cdn.adyen.com"),
                    ("img-src", "https://checkoutshopper-test.cdn.adyen.com"),
                    (
                        "connect-src",
                        "https://checkoutshopper-test.cdn.adyen.com https://checkoutshopper-test.adyen.com \
                         https://checkoutanalytics-test.adyen.com",
                    ),
                    ("frame-src", ANY_ISSUER),
                ],
            }),
            (Self::Adyen, ProviderEnvironment::Production) => Some(BrowserScript {
                url: "https://checkoutshopper-live.cdn.adyen.com/checkoutshopper/sdk/6.36.0/adyen.js",
                simulated: "checkoutshopper/sdk/6.36.0/adyen.js",
                style: Some((
                    "https://checkoutshopper-live.cdn.adyen.com/checkoutshopper/sdk/6.36.0/adyen.css",
                    "checkoutshopper/sdk/6.36.0/adyen.css",
                )),
                sources: &[
                    ("script-src", "https://checkoutshopper-live.cdn.adyen.com"),
                    ("style-src", "https://checkoutshopper-live.cdn.adyen.com"),
                    ("img-src", "https://checkoutshopper-live.cdn.adyen.com"),
                    (
                        "connect-src",
                        "https://checkoutshopper-live.cdn.adyen.com https://checkoutshopper-live.adyen.com \
                         https://checkoutanalytics-live.adyen.com",
                    ),
                    ("frame-src", ANY_ISSUER),
                ],
            }),
            (Self::Increase | Self::ModernTreasury, _) => None,
        }
    }
}
/// Whether a text can be a provider's own name for something: any other leads nowhere.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
}
