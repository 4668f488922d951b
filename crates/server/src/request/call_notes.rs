//! What is learned about a call while it is answered: for its headers, and for the request log.

use std::cell::RefCell;

use tollgate_domain::id::{EnvironmentId, KeyId};

tokio::task_local! {
    static NOTES: RefCell<CallNotes>;
}

thread_local! {
    /// For what answers without waiting, and so stays on its thread.
    static NOTES_HERE: RefCell<CallNotes> = RefCell::default();
}

/// The fields of a body that nothing reads.
#[derive(Debug, Default)]
pub(crate) struct UnknownFields {
    pub(crate) names: Vec<String>,
    /// The known fields that were probably meant, in the same order.
    pub(super) meant: Vec<Option<String>>,
    /// How many there are beyond those.
    pub(super) more: usize,
}

/// What was learned about a call. It is moved about with every answer, so what few calls have is kept elsewhere.
#[derive(Debug, Default)]
pub(crate) struct CallNotes {
    /// Whose key it was made with; unknown keys belong to nobody.
    pub(crate) caller: Option<(EnvironmentId, KeyId)>,
    pub(crate) reference: Option<Box<str>>,
    pub(crate) unknown_fields: Option<Box<UnknownFields>>,
    /// Whether the environment refuses fields that nothing reads.
    pub(crate) is_strict: bool,
}

/// Runs what answers a call, and returns what was learned meanwhile.
pub(crate) async fn collecting<F: Future>(answering: F) -> (F::Output, CallNotes) {
    let answering = async {
        let answer = answering.await;
        (answer, NOTES.with(RefCell::take))
    };
    NOTES.scope(RefCell::default(), answering).await
}

/// The same for what answers without waiting.
pub(crate) fn collected<A>(answer: impl FnOnce() -> A) -> (A, CallNotes) {
    NOTES_HERE.take();
    let answer = answer();
    (answer, NOTES_HERE.take())
}

pub(crate) fn caller(environment: EnvironmentId, key: KeyId, is_strict: bool) {
    note(|notes| {
        notes.caller = Some((environment, key));
        notes.is_strict = is_strict;
    });
}

/// Takes note of the payment that was made.
pub(crate) fn reference(reference: &impl ToString) {
    note(|notes| notes.reference = Some(reference.to_string().into()));
}

/// Reads or changes what was learned so far. Where nobody collects notes, nobody reads them.
pub(super) fn note<R: Default>(change: impl FnOnce(&mut CallNotes) -> R) -> R {
    let mut change = Some(change);
    let mut make = |notes: &RefCell<CallNotes>| {
        change.take().map(|change| change(&mut notes.borrow_mut())).unwrap_or_default()
    };
    NOTES.try_with(&mut make).unwrap_or_else(|_| NOTES_HERE.with(make))
}
