//! Injected faults: every call to the store, the providers and the endpoint passes here.

use std::{
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::{sync::Notify, task::AbortHandle};
use tollgate_engine::ports::RejectionKind;

/// What goes wrong at one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The store fails before anything happens.
    StoreUnavailable,
    /// The store does not say whether it committed.
    StoreUnknown { committed: bool },
    /// The store is unavailable from this call until the end of the request.
    StoreGone,
    /// The store takes longer for this call than a node may rely on what it committed, and is gone from then on.
    StoreLate,
    /// The provider was never reached.
    ProviderUnsent,
    /// The provider's answer was lost.
    ProviderUnknown { done: bool },
    /// The provider takes some seconds to answer.
    ProviderSlow,
    /// The provider rejects the call.
    ProviderRejects(RejectionKind),
    /// The process dies after the call took effect. (Dying before it is the same as dying after the previous one.)
    Crash,
}

impl Fault {
    pub(crate) const ALL: [Self; 12] = [
        Self::StoreUnavailable,
        Self::StoreUnknown { committed: false },
        Self::StoreUnknown { committed: true },
        Self::StoreGone,
        Self::ProviderUnsent,
        Self::ProviderUnknown { done: false },
        Self::ProviderUnknown { done: true },
        Self::ProviderSlow,
        Self::ProviderRejects(RejectionKind::Credentials),
        Self::ProviderRejects(RejectionKind::Invalid),
        Self::ProviderRejects(RejectionKind::Declined),
        Self::Crash,
    ];

    /// Whether it can happen at such a call.
    fn concerns(self, call: CallKind) -> bool {
        match self {
            Self::StoreUnavailable | Self::StoreGone => {
                matches!(call, CallKind::StoreRead | CallKind::StoreWrite)
            }
            Self::StoreUnknown { .. } | Self::StoreLate => call == CallKind::StoreWrite,
            Self::ProviderUnsent
            | Self::ProviderUnknown { done: false }
            | Self::ProviderSlow
            | Self::ProviderRejects(RejectionKind::Credentials) => call.is_provider(),
            Self::ProviderUnknown { done: true } => call.is_provider() && call != CallKind::ProviderRead,
            Self::ProviderRejects(RejectionKind::Declined) => call == CallKind::Charge,
            Self::ProviderRejects(_) => call == CallKind::Command,
            Self::Crash => !matches!(call, CallKind::StoreRead | CallKind::ProviderRead),
        }
    }
}

/// What kind of call it is. Fewer things can go wrong with a read, which has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    StoreRead,
    StoreWrite,
    ProviderRead,
    /// Creates, sends or withdraws something at the provider, or delivers an event.
    Command,
    /// Charges a card.
    Charge,
}

impl CallKind {
    const fn is_provider(self) -> bool {
        matches!(self, Self::ProviderRead | Self::Command | Self::Charge)
    }
}

/// The planned fault.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Plan>);

#[derive(Default)]
struct Plan {
    fault: Option<(Fault, usize)>,
    calls: usize,
    /// Claims of due work that were counted. They are repeated until there is none left; only the first can be struck.
    claims: Vec<&'static str>,
    struck: Option<&'static str>,
}

impl Faults {
    /// Plans the fault for the call of this number, counted among those it concerns.
    pub(crate) fn arm(&self, fault: Fault, at: usize) {
        *lock(&self.0) = Plan { fault: Some((fault, at)), ..Plan::default() };
    }

    /// Cancels the plan. Returns the call that was struck, if there was one.
    pub(crate) fn disarm(&self) -> Option<&'static str> {
        std::mem::take(&mut *lock(&self.0)).struck
    }

    /// The fault for this call, if it is the one.
    pub(crate) fn strike(&self, name: &'static str, call: CallKind) -> Option<Fault> {
        let mut plan = lock(&self.0);
        let (fault, at) = plan.fault.filter(|(fault, _)| fault.concerns(call))?;
        if name.starts_with("claim_") && !(plan.struck.is_some() && fault == Fault::StoreGone) {
            if plan.claims.contains(&name) {
                return None;
            }
            plan.claims.push(name);
        }
        plan.calls += 1;
        let is_late = plan.calls > at && fault == Fault::StoreLate;
        let strikes = plan.calls == at || is_late || (plan.calls > at && fault == Fault::StoreGone);
        if strikes {
            plan.struck.get_or_insert(name);
        }
        strikes.then_some(if is_late { Fault::StoreGone } else { fault })
    }
}

/// The lifetime of one process, and its tasks.
#[derive(Default)]
pub(crate) struct Life {
    is_over: AtomicBool,
    /// How often something was computed beside the tasks.
    pub(crate) computed: AtomicUsize,
    tasks: Mutex<Vec<AbortHandle>>,
    ended: Notify,
}

impl Life {
    /// Runs a task that ends with the process.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        if !self.is_over() {
            lock(&self.tasks).push(tokio::spawn(task).abort_handle());
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Kills the process: none of its tasks continues.
    pub(crate) async fn die<T>(&self) -> T {
        self.is_over.store(true, Ordering::Relaxed);
        self.ended.notify_one();
        for task in lock(&self.tasks).drain(..) {
            task.abort();
        }
        pending().await
    }

    /// The result of `work`; `None` where the process died first.
    pub(crate) async fn survive<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.ended.notified() => None,
            made = work => Some(made),
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
