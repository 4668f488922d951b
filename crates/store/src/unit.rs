//! A unit of work as the drivers take it: with its arguments inside and its answer in a box, so that all units are of one
//! type and a driver is compiled once, not once for each of them.

use std::{any::Any, marker::PhantomData};

use futures_util::future::BoxFuture;
use tollgate_engine::ports::StoreError;

use crate::fault::Fault;

/// What a unit of work leaves behind.
#[derive(Debug)]
pub(crate) enum Effect<T> {
    /// Nothing: what it may have written is undone.
    Nothing(T),
    /// What it wrote.
    Written(T),
    /// What it wrote, the directory's version included: those who wait for that are notified.
    Directory(T),
}

impl<T> Effect<T> {
    pub(crate) fn into_value(self) -> T {
        match self {
            Self::Nothing(value) | Self::Written(value) | Self::Directory(value) => value,
        }
    }

    /// Written, or nothing.
    pub(crate) fn written_if(written: bool, value: T) -> Self {
        if written { Self::Written(value) } else { Self::Nothing(value) }
    }
}

/// What a unit answers, of whatever type.
pub(crate) type Answer = Box<dyn Any + Send>;

/// A unit under way.
pub(crate) type Run<'a> = BoxFuture<'a, Result<Effect<Answer>, Fault>>;

/// A unit of work with its arguments, on one kind of session.
pub(crate) trait Unit<S>: Send + Sync {
    /// Does the work. It may be asked for again where everything was undone.
    fn run<'a>(&'a self, session: &'a mut S) -> Run<'a>;
}

/// A unit under way that will answer with an `R`.
pub(crate) struct Running<'a, R> {
    run: Run<'a>,
    answer: PhantomData<fn() -> R>,
}

impl<'a, R: Send + 'static> Running<'a, R> {
    /// One that only reads.
    pub(crate) fn reading(work: impl Future<Output = Result<R, Fault>> + Send + 'a) -> Self {
        Self::new(async move { Ok(Effect::Nothing(Box::new(work.await?) as Answer)) })
    }

    /// One that writes, and says by itself what becomes of it.
    pub(crate) fn writing(work: impl Future<Output = Result<Effect<R>, Fault>> + Send + 'a) -> Self {
        Self::new(async move {
            Ok(match work.await? {
                Effect::Nothing(value) => Effect::Nothing(Box::new(value) as Answer),
                Effect::Written(value) => Effect::Written(Box::new(value) as Answer),
                Effect::Directory(value) => Effect::Directory(Box::new(value) as Answer),
            })
        })
    }

    fn new(run: impl Future<Output = Result<Effect<Answer>, Fault>> + Send + 'a) -> Self {
        Self { run: Box::pin(run), answer: PhantomData }
    }
}

/// How a unit is begun at its arguments.
pub(crate) type Work<S, A, R> = for<'a> fn(&'a mut S, &'a A) -> Running<'a, R>;

struct Typed<S, A, R> {
    args: A,
    work: Work<S, A, R>,
}

impl<S, A: Send + Sync, R> Unit<S> for Typed<S, A, R> {
    fn run<'a>(&'a self, session: &'a mut S) -> Run<'a> {
        (self.work)(session, &self.args).run
    }
}

/// A unit for a driver to run.
pub(crate) fn unit<S: 'static, A: Send + Sync + 'static, R: 'static>(
    args: A,
    work: Work<S, A, R>,
) -> Box<dyn Unit<S>> {
    Box::new(Typed { args, work })
}

/// The answer of a unit whose [`Work`] says that it is an `R`.
pub(crate) fn answer<R: 'static>(answer: Answer) -> Result<R, StoreError> {
    let other = |_| StoreError::Broken("a unit of work answered with something else".to_owned());
    answer.downcast().map(|value| *value).map_err(other)
}
