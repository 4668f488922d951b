//! What a handler's signature says of its operation: who may call it, what it takes, what it answers.

use std::marker::PhantomData;

use axum::{
    Extension,
    body::Body,
    extract::{FromRequest, RawQuery, Request, State},
};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::types::schemas::Schemas;

/// What a caller has to present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Credential {
    #[default]
    None,
    SecretKey,
    /// Either kind of key.
    AnyKey,
    /// An operator's personal token, or the admin token.
    AdminToken,
}

/// The schema of a JSON body.
pub(crate) struct BodySchema {
    pub(crate) schema: Value,
    pub(crate) is_required: bool,
}

/// An answer that is no failure.
pub(crate) struct Success {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) schema: Value,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
}

#[derive(Default)]
pub(crate) struct Signature {
    pub(crate) credential: Credential,
    pub(crate) body: Option<BodySchema>,
    pub(crate) successes: Vec<Success>,
}

impl Signature {
    /// Answers with this status and envelope.
    pub(crate) fn succeeds(&mut self, status: StatusCode, schema: Value) {
        self.succeeds_with("application/json", status, schema);
    }

    /// Answers something that is in no envelope.
    pub(crate) fn succeeds_with(&mut self, content_type: &'static str, status: StatusCode, schema: Value) {
        let headers = vec![("Request-Id", "RequestId")];
        self.successes.push(Success { status, content_type, schema, headers });
    }

    /// The last answer has this header too.
    pub(crate) fn carries(&mut self, name: &'static str, component: &'static str) {
        if let Some(last) = self.successes.last_mut() {
            last.headers.push((name, component));
        }
    }
}

pub(crate) trait Argument {
    /// Says what it asks of the caller; most ask nothing.
    fn describe(_signature: &mut Signature, _schemas: &mut Schemas) {}
}

impl Argument for Body {}
impl Argument for HeaderMap {}
impl Argument for RawQuery {}
impl Argument for Request {}
impl<T> Argument for State<T> {}
impl<T> Argument for Extension<T> {}

pub(crate) trait Answers {
    /// Says what is answered; nothing for what is in no envelope.
    fn describe(_signature: &mut Signature, _schemas: &mut Schemas) {}
}

impl Answers for axum::response::Response {}

impl<A: Answers, E> Answers for Result<A, E> {
    fn describe(signature: &mut Signature, schemas: &mut Schemas) {
        A::describe(signature, schemas);
    }
}

/// A type that is answered in the envelope.
pub(crate) trait Shape {
    /// The same type without what it borrows.
    type Static: Shape<Static = Self::Static> + 'static;

    /// The schema of the envelope around it.
    fn envelope(schemas: &mut Schemas) -> Value;
}

pub(crate) trait Endpoint<Arguments> {
    fn signature(schemas: &mut Schemas) -> Signature;
}

macro_rules! endpoints {
    ($(($($argument:ident)*))*) => {$(
        impl<F, Answer, $($argument),*> Endpoint<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Answer,
            Answer: Future<Output: Answers>,
            $($argument: Argument),*
        {
            fn signature(schemas: &mut Schemas) -> Signature {
                let mut signature = Signature::default();
                $($argument::describe(&mut signature, schemas);)*
                <Answer::Output as Answers>::describe(&mut signature, schemas);
                signature
            }
        }
    )*};
}

endpoints! { () (A) (A B) (A B C) }

pub(crate) fn of<Arguments, E: Endpoint<Arguments>>(_: E, schemas: &mut Schemas) -> Signature {
    E::signature(schemas)
}

/// A JSON body that has the fields of `T` and is not read yet.
pub(crate) struct JsonBody<T>(pub(crate) Body, PhantomData<fn() -> T>);

/// The same that may be left out.
pub(crate) struct OptionalBody<T>(pub(crate) Body, PhantomData<fn() -> T>);

impl<S: Sync, T> FromRequest<S> for JsonBody<T> {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(request.into_body(), PhantomData))
    }
}

impl<S: Sync, T> FromRequest<S> for OptionalBody<T> {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(request.into_body(), PhantomData))
    }
}

impl<T: ToSchema> Argument for JsonBody<T> {
    fn describe(signature: &mut Signature, schemas: &mut Schemas) {
        signature.body = Some(BodySchema { schema: schemas.reference::<T>(), is_required: true });
    }
}

impl<T: ToSchema> Argument for OptionalBody<T> {
    fn describe(signature: &mut Signature, schemas: &mut Schemas) {
        signature.body = Some(BodySchema { schema: schemas.reference::<T>(), is_required: false });
    }
}

/// A webhook's body, whatever the provider sends.
pub(crate) fn any_object() -> Value {
    json!({"type": "object", "additionalProperties": true})
}
