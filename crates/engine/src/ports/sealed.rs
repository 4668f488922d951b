//! Everything that is sealed under the master key, wherever it is stored, so that it can be sealed under another.

use async_trait::async_trait;
use tollgate_domain::id::EnvironmentId;

use super::StoreError;

/// Where sealed values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SealedKind {
    /// Documents, in all versions, with the secrets of providers.
    Configuration,
    /// Changes of the configuration that wait for approval.
    Proposal,
    /// Lists of the secrets that sign events.
    Endpoint,
    /// Tokens of cards whose charge is not decided.
    CardSource,
    /// The keys that bank details are sealed with.
    SealingKey,
    /// Bank details that release 0.1.0 sealed, of transfers that are not decided.
    BankAccount,
    /// Notifications of change with corrected account numbers.
    Corrections,
}

impl SealedKind {
    pub const ALL: [Self; 7] = [
        Self::Configuration,
        Self::Proposal,
        Self::Endpoint,
        Self::CardSource,
        Self::SealingKey,
        Self::BankAccount,
        Self::Corrections,
    ];

    /// What a person calls them.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Configuration => "configurations",
            Self::Proposal => "proposed configurations",
            Self::Endpoint => "event endpoints",
            Self::CardSource => "card tokens",
            Self::SealingKey => "sealing keys",
            Self::BankAccount => "bank accounts",
            Self::Corrections => "notifications of change",
        }
    }
}

/// The place of a sealed value within its kind, by which they are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SealedPlace {
    pub environment: EnvironmentId,
    /// A payment's, transfer's, endpoint's, approval's or key's; the environment's own for a configuration.
    pub id: [u8; 16],
    /// An attempt's number or a configuration's version; 0 for what has none.
    pub number: i64,
}

impl SealedPlace {
    /// In front of all of them.
    pub const FIRST: Self =
        Self { environment: EnvironmentId::from_bytes([0; 16]), id: [0; 16], number: i64::MIN };
}

/// A stored text in which something is sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue {
    pub place: SealedPlace,
    pub text: String,
    /// The transfer's reference; empty for other kinds.
    pub reference: String,
}

/// The part of the store that knows what is sealed.
#[async_trait]
pub trait SealedStore: Send + Sync + 'static {
    /// What is pinned under this name.
    async fn pinned(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Pins this value, whatever was pinned before.
    async fn set_pin(&self, name: &str, value: &str) -> Result<(), StoreError>;

    /// Values that the key of this name has sealed, behind `after` and in the order of their places, at most `limit`.
    /// Looks through everything that is sealed, however long it takes.
    async fn sealed_values(
        &self,
        kind: SealedKind,
        key: &str,
        after: SealedPlace,
        limit: u32,
    ) -> Result<Vec<SealedValue>, StoreError>;

    /// Puts this text in the place of the value's, if that is still stored there; says whether it was. Nothing else of
    /// what it belongs to changes.
    async fn replace_sealed(
        &self,
        kind: SealedKind,
        value: &SealedValue,
        text: &str,
    ) -> Result<bool, StoreError>;
}
