//! What a simulator is told when it is made.

use crate::prelude::*;
use serde::Deserialize;

/// Which provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Form bodies, integer seconds, `Idempotency-Key` header.
    Stripe,
    /// JSON bodies, RFC 3339 times, `idempotency_key` in the body.
    Square,
    /// JSON bodies, RFC 3339 times, `Idempotency-Key` header, amounts whose sign is their direction.
    Increase,
    /// JSON bodies, RFC 3339 times, `Idempotency-Key` header for 24 hours, lists without an object around them.
    ModernTreasury,
    /// JSON bodies, `Idempotency-Key` header, answers that say `received`, webhooks that say what became of it.
    Adyen,
}

impl Wire {
    /// Every provider there is.
    pub const ALL: [Self; 5] =
        [Self::Stripe, Self::Square, Self::Increase, Self::ModernTreasury, Self::Adyen];

    /// Whether a webhook that failed holds up those behind it.
    pub(crate) const fn queues_webhooks(self) -> bool {
        matches!(self, Self::Adyen)
    }

    /// The name in paths and in the control interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::Square => "square",
            Self::Increase => "increase",
            Self::ModernTreasury => "modern_treasury",
            Self::Adyen => "adyen",
        }
    }
}

/// The keys accepted on the Stripe API.
#[derive(Debug, Clone)]
pub struct StripeKeys {
    /// The server's key (`sk_test_…`).
    pub secret_key: String,
    /// The browser's key (`pk_test_…`); it can only confirm and read an intent whose client secret it knows.
    pub publishable_key: String,
}

/// The identifiers accepted on the Square API.
#[derive(Debug, Clone)]
pub struct SquareKeys {
    /// The server's bearer token.
    pub access_token: String,
    /// The application the browser script names.
    pub application_id: String,
    /// The only location there is.
    pub location_id: String,
    /// The location's currency: payments in any other are refused.
    pub currency: String,
}

/// The identifiers accepted on the Increase API.
#[derive(Debug, Clone)]
pub struct IncreaseKeys {
    /// The server's bearer token.
    pub api_key: String,
    /// The only account there is; ACH transfers are paid from it.
    pub account_id: String,
    /// The account's only number; real-time payments name it as their source.
    pub account_number_id: String,
    /// What the account holds before anything happens, in cents. Transfers beyond it are refused.
    pub balance: i64,
}

impl IncreaseKeys {
    /// More than a test spends by accident: ten trillion dollars.
    pub const LARGE_BALANCE: i64 = 1_000_000_000_000_000;
}

/// The identifiers accepted on the Modern Treasury API.
#[derive(Debug, Clone)]
pub struct ModernTreasuryKeys {
    /// The user name of every call.
    pub organization_id: String,
    /// The password of every call. With `_second` behind it, it is another key of the organization; with `_live`, one of
    /// the live side.
    pub api_key: String,
    /// The only internal account that pays.
    pub account_id: String,
}

/// The identifiers accepted on the Adyen API.
#[derive(Debug, Clone)]
pub struct AdyenKeys {
    /// The server's key. With `_checkout` behind it, it is one without any role for the Management API.
    pub api_key: String,
    /// The browser's key (`test_…`).
    pub client_key: String,
    /// The only merchant account there is.
    pub merchant_account: String,
    /// Whether payments that do not say when they are captured wait for a call, as the account's setting decides.
    pub captures_manually: bool,
}

/// Where webhooks of one provider go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookTarget {
    /// Whose events.
    pub wire: Wire,
    /// A plain `http` address. On the Square API this exact text is part of what is signed. On the Adyen API it may name
    /// the user and password of Basic authentication.
    pub url: String,
    /// The signing secret (`whsec_…`), signature key, shared secret, or HMAC key in hex.
    pub secret: String,
    /// The event types wanted; empty means all of them.
    #[serde(default)]
    pub events: Vec<String>,
}

/// Everything a simulator is told when it is made. The default suits tests: fixed keys, no webhook targets.
#[derive(Debug, Clone)]
pub struct Config {
    /// Keys of the Stripe API.
    pub stripe: StripeKeys,
    /// Identifiers of the Square API.
    pub square: SquareKeys,
    /// Identifiers of the Increase API.
    pub increase: IncreaseKeys,
    /// Identifiers of the Modern Treasury API.
    pub modern_treasury: ModernTreasuryKeys,
    /// Identifiers of the Adyen API.
    pub adyen: AdyenKeys,
    /// Where webhooks go from the start; more can be added through the control interface.
    pub webhooks: Vec<WebhookTarget>,
    /// The only provider there is, at the root of the router instead of under its name; for client libraries that take a
    /// host but no path. Everything else stays where it is.
    pub only: Option<Wire>,
    /// The origin customers reach the router at, used in checkout links: `http://127.0.0.1:4010`.
    pub public_url: String,
    /// How many objects of each kind a provider remembers; the oldest are dropped beyond it.
    pub objects_max: usize,
    /// Where the sequence of identifiers starts. Two simulators with one seed make the same identifiers.
    pub seed: u64,
    /// How many deliveries run at once. With one, webhooks arrive in the order of what happened.
    pub webhook_workers: usize,
    /// How often one delivery is tried before it is given up.
    pub webhook_attempts_max: u32,
    /// The pause after the first failed attempt; it doubles with each further one, to a minute at most.
    pub webhook_backoff_ms: u64,
    /// Whether Square refunds complete by themselves right after they are accepted, or wait for a control call.
    pub square_refunds_settle: bool,
    /// Whether captures, cancels and refunds of the Adyen API come to their end by themselves, or wait for a control call.
    pub adyen_modifications_settle: bool,
    /// How long after it was made a Square payment appears in lists. By its name it is found at once.
    pub square_listed_after_ms: u64,
    /// After how long a bank transfer is sent and settles by itself (a real-time payment completes).
    /// Where it is not given, transfers wait for the sandbox calls.
    pub ach_settles_after_ms: Option<u64>,
    /// Where it is given, the control interface wants it as a bearer token.
    pub control_token: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            stripe: StripeKeys {
                secret_key: "sk_test_simulator".to_owned(),
                publishable_key: "pk_test_simulator".to_owned(),
            },
            square: SquareKeys {
                access_token: "square_simulator_token".to_owned(),
                application_id: "sandbox-sq0idb-simulator".to_owned(),
                location_id: "LSIMULATOR001".to_owned(),
                currency: "USD".to_owned(),
            },
            increase: IncreaseKeys {
                api_key: "increase_simulator_key".to_owned(),
                account_id: "account_simulator".to_owned(),
                account_number_id: "account_number_simulator".to_owned(),
                balance: IncreaseKeys::LARGE_BALANCE,
            },
            modern_treasury: ModernTreasuryKeys {
                organization_id: "organization_simulator".to_owned(),
                api_key: "modern_treasury_simulator_key".to_owned(),
                account_id: "0f7a61a2-5d30-4c3c-9f5e-6a1f0a6f5a01".to_owned(),
            },
            adyen: AdyenKeys {
                api_key: "adyen_simulator_key".to_owned(),
                client_key: "test_SIMULATOR".to_owned(),
                merchant_account: "TollgateTestECOM".to_owned(),
                captures_manually: true,
            },
            webhooks: Vec::new(),
            only: None,
            public_url: "http://127.0.0.1".to_owned(),
            objects_max: 200_000,
            seed: crate::calendar::unix_nanos(),
            webhook_workers: 1,
            webhook_attempts_max: 12,
            webhook_backoff_ms: 250,
            square_refunds_settle: true,
            adyen_modifications_settle: true,
            square_listed_after_ms: 3_000,
            ach_settles_after_ms: None,
            control_token: None,
        }
    }
}
