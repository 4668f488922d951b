//! What a caller asks for, and what may come of it.

use std::time::Duration;

use tollgate_domain::{
    Minor,
    ach::{BankAccountType, RecipientKind, TransferPurpose},
    id::{KeyId, TransferId},
    routing::Unroutable,
    transaction::Failure,
};
use tollgate_vault::{RandomnessUnavailable, SealError};

use super::tokens::{CustomerToken, TokenError};
use crate::{
    circuits::CircuitOpen,
    limits::ExceededLimit,
    ports::{BankAccount, OrderFault, StoreError, Transfer},
    quote::QuoteRequest,
    rate_limiter::RateLimitExceeded,
};

/// Where the money goes.
#[derive(Debug, Clone)]
pub struct Bank {
    /// The numbers.
    pub account: BankAccount,
    /// What kind of account.
    pub account_type: BankAccountType,
    /// The bank, as a person calls it.
    pub bank_name: String,
    /// The account's holder.
    pub account_name: String,
}

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct TransferRequest {
    /// The caller's name for this business action.
    pub idempotency_key: String,
    /// Amount, currency and metadata, as routing sees them.
    pub quote: QuoteRequest,
    /// Who it is for.
    pub token: CustomerToken,
    /// Where it goes.
    pub bank: Bank,
    /// The caller's description.
    pub description: Option<String>,
    /// The metadata as JSON text.
    pub metadata: String,
    /// Remittance information for the receiver, as JSON text.
    pub remittance: Option<String>,
    /// Whom it pays.
    pub recipient_kind: RecipientKind,
    /// What it is for, where that has to be said.
    pub purpose: Option<TransferPurpose>,
    /// What the receiver's statement is to say.
    pub statement_descriptor: Option<String>,
    /// The key that asks for it.
    pub key: Option<KeyId>,
}

/// A transfer, made now or before.
#[derive(Debug)]
pub struct TransferCreated {
    /// The transfer.
    pub transfer: Transfer,
    /// Whether it was made before.
    pub replayed: bool,
}

impl TransferCreated {
    /// A transfer that the provider never took is answered as rejected: at first, in a replay, and where the resolver
    /// was the one to learn of it.
    pub(super) fn unless_rejected(self) -> Result<Self, TransferError> {
        let state = &self.transfer.state;
        match &state.failure {
            Some(failure) if state.provider_reference.is_none() => Err(TransferError::Rejected {
                reference: self.transfer.order.id,
                failure: failure.clone(),
                replayed: self.replayed,
            }),
            _ => Ok(self),
        }
    }
}

/// Why no transfer was made. Except for [`TransferError::Rejected`], nothing was recorded and the same key may be used
/// again.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The customer token is not good for a new transfer.
    #[error("the customer token {0}")]
    Token(#[from] TokenError),
    /// There is no route.
    #[error(transparent)]
    Unroutable(#[from] Unroutable),
    /// The provider picked is not configured completely, or does not accept our credentials.
    #[error("the provider {provider} cannot be used: {}", missing.join(", "))]
    NotConfigured {
        provider: String,
        /// The paths of what is missing; empty where the provider refuses what is there.
        missing: Vec<String>,
    },
    /// The provider's own account cannot originate instant transfers.
    #[error("the account of {provider} cannot originate instant transfers: it lacks {lacks}")]
    InstantNotEnabled {
        provider: String,
        /// As the provider calls it.
        lacks: &'static str,
    },
    /// The receiving bank takes part in no instant network that the provider reaches.
    #[error("the receiving bank does not support instant transfers")]
    InstantNotSupported,
    /// The provider could not say which instant network reaches the receiving bank.
    #[error("the provider does not say how the receiving bank can be reached")]
    RailUnknown {
        /// When to try again.
        retry_after: Duration,
    },
    /// The rail it would take cannot carry part of it.
    #[error("{}: {}", .0.field, .0.message)]
    Unacceptable(OrderFault),
    /// The provider picked has failed lately and gets no new work now.
    #[error("{}", .0.reason)]
    CircuitOpen(CircuitOpen),
    /// The key was used for another request.
    #[error("the key was used for a request with different: {}", .0.join(", "))]
    KeyReused(Vec<String>),
    /// The key was used for too many other requests.
    #[error("too many different requests used the idempotency key")]
    TooManyConflicts(#[from] RateLimitExceeded),
    /// The wallet's available funds are below the total debit.
    #[error("only {available} is available")]
    Insufficient {
        /// What is there.
        available: Minor,
    },
    /// A limit of the environment does not allow it.
    #[error(transparent)]
    LimitExceeded(#[from] ExceededLimit),
    /// The provider's own funding account is known to lack the principal.
    #[error("the provider's funding account has insufficient funds")]
    ProviderFunds {
        /// When to try again.
        retry_after: Duration,
    },
    /// The provider refused the transfer; it is recorded as failed and the funds are available again.
    #[error("the provider rejected it: {}", failure.message)]
    Rejected {
        reference: TransferId,
        /// Why.
        failure: Failure,
        /// Whether that was answered to the same key before.
        replayed: bool,
    },
    /// Something could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}
