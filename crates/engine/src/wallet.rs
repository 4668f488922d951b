//! The operator's side of a wallet: put in, take out, look.

use serde_json::json;
use tollgate_domain::{
    Currency, Minor,
    id::{EnvironmentId, PostingId},
    ledger::{Balances, Cause, Movement},
};
use tollgate_vault::RandomnessUnavailable;

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{AppliedMovement, Audit, AuditScope, LedgerLine, MoveOrder, Moved, StoreError},
};

/// Why no money moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// No such environment.
    #[error("environment not found")]
    Missing,
    /// The reference was used for another amount.
    #[error("the reference was used for {amount}")]
    ReferenceReused {
        /// The amount it was used for.
        amount: Minor,
    },
    /// The available funds are below the amount.
    #[error("only {available} is available")]
    Insufficient {
        /// What is there.
        available: Minor,
    },
    /// The wallet would hold more than can be counted.
    #[error("the balance would exceed the maximum")]
    TooMuch,
    /// As many movements of the wallet wait for approval as may.
    #[error("too many movements wait for approval; approve or deny one first")]
    TooManyRequests,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// What the audit log says of a movement.
pub(crate) fn audited_movement(environment: EnvironmentId, movement: &Movement) -> Audited {
    let action = match movement.cause {
        Cause::Fund => "wallet.fund",
        Cause::Withdraw => "wallet.withdraw",
    };
    Audited::new(action, movement.posting).in_environment(environment).after(json!({
        "currency": movement.currency.to_string(),
        "amountMinor": movement.amount.to_string(),
        "reference": movement.reference,
    }))
}

pub(crate) fn applied(moved: Moved) -> Result<AppliedMovement, MoveError> {
    match moved {
        Moved::Done(applied) => Ok(applied),
        Moved::ReferenceReused { amount } => Err(MoveError::ReferenceReused { amount }),
        Moved::Insufficient { available } => Err(MoveError::Insufficient { available }),
        Moved::TooMuch => Err(MoveError::TooMuch),
        Moved::EnvironmentMissing => Err(MoveError::Missing),
    }
}

impl Engine {
    /// Recomputes the books from their entries and checks what must always hold.
    pub async fn audit(&self, scope: AuditScope) -> Result<Audit, StoreError> {
        self.store.audit(scope, self.clock.now()).await
    }

    /// Posts money into or out of a wallet, once per reference, whoever would have to approve it.
    pub async fn move_funds(
        &self,
        environment: EnvironmentId,
        order: MoveOrder,
        origin: &Origin,
    ) -> Result<AppliedMovement, MoveError> {
        let movement = Movement {
            posting: self.new_id(PostingId::new)?,
            currency: order.currency,
            cause: order.cause,
            amount: order.amount,
            reference: order.reference,
            actor: origin.actor.clone(),
            at: self.clock.now(),
        };
        let audited = audited_movement(environment, &movement);
        applied(self.audited(origin, audited).move_funds(environment, &movement).await?)
    }

    /// What a wallet holds.
    pub async fn balances(
        &self,
        environment: EnvironmentId,
        currency: Currency,
    ) -> Result<Balances, MoveError> {
        self.store.balances(environment, currency).await?.ok_or(MoveError::Missing)
    }

    /// The wallets of an environment with what they hold.
    pub async fn wallets(&self, environment: EnvironmentId) -> Result<Vec<(Currency, Balances)>, MoveError> {
        self.store.environment(environment).await?.ok_or(MoveError::Missing)?;
        let mut wallets = Vec::new();
        for currency in self.store.wallet_currencies(environment).await? {
            wallets.push((currency, self.balances(environment, currency).await?));
        }
        Ok(wallets)
    }

    /// The entries of a wallet, newest posting first.
    pub async fn ledger(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        before: Option<PostingId>,
        limit: u32,
    ) -> Result<Vec<LedgerLine>, MoveError> {
        self.store.environment(environment).await?.ok_or(MoveError::Missing)?;
        Ok(self.store.ledger(environment, currency, before, limit).await?)
    }
}
