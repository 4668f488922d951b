//! One call to a provider, over a line that fails before and after the provider has acted.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use tollgate_configuration::Provider;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::{Call, CallError, CallLog, Rejection, RejectionKind, TransientError, Try};

use super::{Account, Ledger, account};
use crate::{
    life::Life,
    plants::Plant,
    world::{World, lock},
};

/// What is asked of a provider.
pub(super) struct Question<'a> {
    pub(super) wire: &'static str,
    pub(super) operation: &'static str,
    pub(super) provider: &'a Provider,
    /// The credential that opens the account.
    pub(super) credential: &'static str,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Never sent.
    Unsent,
    /// Sent and lost: nobody acts.
    LostBefore,
    /// The provider acts, and its answer is lost or torn.
    LostAfter,
    /// The caller gives up, and the provider acts after that.
    ActsLater,
}

/// Asks; `act` is what the provider does, and what it answers.
pub(super) async fn ask<T: Send + 'static>(
    life: &Arc<Life>,
    question: Question<'_>,
    act: impl FnOnce(&Arc<World>, &mut Ledger, Account) -> Result<T, CallError> + Send + 'static,
) -> Call<T> {
    let Question { wire, operation, provider, credential } = question;
    let world = Arc::clone(&life.world);
    let began = world.elapsed();
    life.survives(operation).await;
    let outcome = match account(wire, provider, credential) {
        _ if world.is_provider_away(wire) => {
            wait(life, 1_000..9_000).await;
            Err(CallError::Unknown(transient("it does not answer")))
        }
        None => Err(not_let_in(&world)),
        Some(_) if world.does_provider_refuse(wire) => {
            wait(life, 5..80).await;
            Err(not_let_in(&world))
        }
        Some(account) => exchange(life, account, operation, act).await,
    };
    life.survives(operation).await;
    let word = match &outcome {
        Ok(_) => "ok",
        Err(CallError::Rejected(_)) => "refused",
        Err(CallError::Unsent(_)) => "unsent",
        Err(CallError::Unknown(_)) => "unknown",
    };
    life.note(format_args!("{wire} {operation} {word}"));
    let took = Duration::from_millis(world.elapsed() - began);
    let at = world.clock(0);
    let status = match &outcome {
        Ok(_) => Some(200),
        Err(CallError::Rejected(_)) => Some(400),
        Err(CallError::Unsent(_) | CallError::Unknown(_)) => None,
    };
    let tries = vec![Try { at, took, status, provider_request: None, outcome: word.to_owned() }];
    Call { outcome, logs: vec![CallLog { operation, idempotency_key: None, tries }] }
}

async fn exchange<T: Send + 'static>(
    life: &Arc<Life>,
    account: Account,
    operation: &'static str,
    act: impl FnOnce(&Arc<World>, &mut Ledger, Account) -> Result<T, CallError> + Send + 'static,
) -> Result<T, CallError> {
    let world = Arc::clone(&life.world);
    wait(life, 2..120).await;
    let fault = world.strikes(world.profile.provider_fails).then(|| {
        let faults = [Fault::Unsent, Fault::LostBefore, Fault::LostAfter, Fault::LostAfter, Fault::ActsLater];
        *world.pick(&faults)
    });
    if let Some(fault) = fault {
        life.note(format_args!("{account} {operation} {fault:?}"));
    }
    match fault {
        Some(Fault::Unsent) => Err(CallError::Unsent(transient("it cannot be reached"))),
        Some(Fault::LostBefore) => {
            wait(life, 100..10_000).await;
            Err(CallError::Unknown(transient("it timed out")))
        }
        Some(Fault::ActsLater) => {
            let pause = world.draw(50..20_000);
            let later = Arc::clone(&world);
            tokio::spawn(async move {
                sleep(Duration::from_millis(pause)).await;
                let _ = act(&later, &mut lock(&later.providers), account);
            });
            wait(life, 100..3_000).await;
            Err(CallError::Unknown(transient("it timed out")))
        }
        Some(Fault::LostAfter) => {
            let _ = act(&world, &mut lock(&world.providers), account);
            wait(life, 0..10_000).await;
            Err(CallError::Unknown(transient("its answer was torn")))
        }
        None => {
            let done = act(&world, &mut lock(&world.providers), account);
            wait(life, 2..200).await;
            done
        }
    }
}

async fn wait(life: &Life, range: std::ops::Range<u64>) {
    life.world.pause(range).await;
    if !life.is_alive() {
        std::future::pending::<()>().await;
    }
}

pub(super) fn transient(reason: &str) -> TransientError {
    TransientError { reason: reason.to_owned(), retry_after: None }
}

pub(super) fn refused(kind: RejectionKind, code: &str) -> CallError {
    let failure = Failure { code: code.to_owned(), message: format!("The provider says {code}.") };
    CallError::Rejected(Rejection { kind, failure, lacks: None })
}

fn not_let_in(world: &World) -> CallError {
    if world.is_planted(Plant::CredentialsDecide) {
        return refused(RejectionKind::Invalid, "provider_refused");
    }
    refused(RejectionKind::Credentials, "provider_credentials")
}
