//! Making a transfer: checked, set aside and recorded, sent, and its outcome recorded.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tollgate_domain::{
    Minor,
    ach::{BankAccountType, TransferOrder},
    customer::Customer,
    id::{PostingId, TransactionId, TransferId},
    routing::Unroutable,
    transaction::{Failure, TransactionState},
};
use tollgate_vault::{RandomnessUnavailable, SealError};

use super::{
    AchProvider, MAX_ROUNDS,
    replay::ReplayRequest,
    tokens::{CustomerToken, TokenError},
};
use crate::{
    engine::Engine,
    failpoint::failpoint,
    ports::{BankAccount, NewTransfer, Reserved, StoreError, Transfer, TransferProgress},
    quote::QuoteRequest,
    snapshot::EnvironmentView,
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
    /// What the receiver is told, as JSON text.
    pub remittance: Option<String>,
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
    /// The key was used for another request.
    #[error("the key was used for a request with different: {}", .0.join(", "))]
    KeyReused(Vec<String>),
    /// The wallet's available funds are below the total debit.
    #[error("only {available} is available")]
    Insufficient {
        /// What is there.
        available: Minor,
    },
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

/// How long a caller waits before the provider's funding account may hold more.
const FUNDS_RETRY: Duration = Duration::from_mins(1);

impl Engine {
    /// The reference of a transfer: the same for the same organization, environment and key, on every node and after
    /// every restart, and nothing of the key can be learned from it.
    pub fn transfer_reference(&self, view: &EnvironmentView, idempotency_key: &str) -> TransferId {
        let environment = &view.environment;
        let digest = self.reference_digester.digest(&[
            &environment.organization.to_bytes(),
            &environment.id.to_bytes(),
            idempotency_key.as_bytes(),
        ]);
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(digest) {
            *to = from;
        }
        TransferId::from_bytes(bytes)
    }

    /// Makes a transfer, once per key.
    pub async fn create_transfer(
        self: &Arc<Self>,
        view: &EnvironmentView,
        request: TransferRequest,
        request_id: &str,
    ) -> Result<TransferCreated, TransferError> {
        let deadline = Instant::now() + self.options.request_deadline;
        let id = self.transfer_reference(view, &request.idempotency_key);
        let environment = view.environment.id;
        let repetition = ReplayRequest { environment, id, request: &request, request_id, deadline };
        for _ in 0..MAX_ROUNDS {
            let planned = self.plan(view, id, &request, request_id).await;
            let (provider, order) = match planned {
                Ok(planned) => planned,
                // What was made before is answered, whatever has changed since.
                Err(error) => return self.replay_or(&repetition, error).await,
            };
            let progress = TransferProgress {
                sealed_account: Some(self.seal_account(&order, &request.bank.account)?),
                expected_on: expected_on(view, &order),
                corrections: "[]".to_owned(),
                due: Some(order.created_at.saturating_add(self.options.resolver.lease)),
                tries: 0,
                waiting: None,
            };
            let new = NewTransfer {
                transaction: self.new_id(TransactionId::new)?,
                order,
                fingerprints: self.fingerprints(environment, &request),
                progress,
                posting: self.new_id(PostingId::new)?,
            };
            failpoint!("transfer.before_reserve");
            let reserving = || self.store.reserve_transfer(environment, &new);
            let transfer = match self.retry_until_known(deadline, reserving).await? {
                Reserved::Created => begun(new),
                // Our own call, whose answer was lost on the way.
                Reserved::Existing(known) if known.transaction == new.transaction => *known,
                Reserved::Existing(known) => match self.replay(&repetition, *known).await? {
                    Some(made) => return Ok(made),
                    // It was never sent and is taken back: this request is the first one now.
                    None => continue,
                },
                Reserved::Insufficient { available } => {
                    return Err(TransferError::Insufficient { available });
                }
                Reserved::EnvironmentMissing => {
                    return Err(
                        StoreError::Broken("the environment of a live key is not stored".to_owned()).into()
                    );
                }
            };
            failpoint!("transfer.before_send");
            let call = provider.wire.send(provider.provider, &transfer.order, &request.bank.account).await;
            failpoint!("transfer.after_send");
            return Box::pin(self.answer_sending(transfer, call, request_id)).await;
        }
        Err(StoreError::Unavailable("too many concurrent requests with this key".to_owned()).into())
    }

    /// Routes, prices and checks readiness, before anything is reserved.
    async fn plan<'a>(
        &'a self,
        view: &'a EnvironmentView,
        id: TransferId,
        request: &TransferRequest,
        request_id: &str,
    ) -> Result<(AchProvider<'a>, TransferOrder), TransferError> {
        let customer: &Customer = request.token.customer()?;
        let preview = self.preview_transfer(view, &request.quote)?;
        let name = preview.decision.target.provider.to_string();
        let found = self.ach_provider(view, &name);
        let provider =
            found.map_err(|missing| TransferError::NotConfigured { provider: name.clone(), missing })?;
        // A repeated request asks the provider nothing.
        if view.configuration.settings.check_provider_funds
            && self.store.transfer(view.environment.id, id).await?.is_none()
        {
            let funds = provider.wire.funds(provider.provider).await;
            if funds.outcome.is_ok_and(|funds| funds < Minor::from(request.quote.principal)) {
                return Err(TransferError::ProviderFunds { retry_after: FUNDS_RETRY });
            }
        }
        let bank = &request.bank;
        let number = bank.account.account_number.expose();
        let order = TransferOrder {
            environment: view.environment.id,
            id,
            adapter: provider.provider.adapter.as_str().to_owned(),
            account: Some(self.configured_account(view.environment.id, provider.provider)),
            provider: name,
            channel: preview.decision.target.channel,
            matched: preview.decision.matched,
            config_version: view.config_version,
            currency: request.quote.currency,
            fee: preview.fee,
            external_customer_id: customer.external_id.clone(),
            customer_name: format!("{} {}", customer.first_name, customer.last_name),
            customer_email: customer.email.clone(),
            bank_name: bank.bank_name.clone(),
            account_name: bank.account_name.clone(),
            account_type: bank.account_type,
            last_four: number.get(number.len().saturating_sub(4)..).unwrap_or_default().to_owned(),
            description: request.description.clone(),
            metadata: request.metadata.clone(),
            remittance: request.remittance.clone(),
            request: request_id.to_owned(),
            created_at: self.clock.now(),
        };
        Ok((provider, order))
    }
}

fn expected_on(view: &EnvironmentView, order: &TransferOrder) -> Option<String> {
    let usual = tollgate_domain::ach::Calendar::default();
    let configured = view.configuration.settings.ach_calendar.as_ref();
    let calendar = configured.map_or(&usual, |configured| configured.calendar());
    let principal = Minor::from(order.fee.principal);
    calendar.expected_on(order.channel, principal, order.created_at).map(|day| day.to_string())
}

/// A transfer as it is right after its reservation.
fn begun(new: NewTransfer) -> Transfer {
    Transfer {
        revision: 0,
        transaction: new.transaction,
        updated_at: new.order.created_at,
        order: new.order,
        fingerprints: new.fingerprints,
        progress: new.progress,
        state: TransactionState::pending(),
    }
}
