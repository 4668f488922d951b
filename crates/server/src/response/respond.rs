//! Successful answers, in the one envelope. Their types say under which statuses they come, and with which headers.

use std::marker::PhantomData;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;

use crate::{
    request::unknown_fields,
    response::error::{ApiError, IDEMPOTENT_REPLAYED},
    types::{
        schemas::Schemas,
        signature::{Answers, Shape, Signature},
    },
};

/// What handlers return whose answers are in no envelope.
pub(crate) type ApiResult = Result<Response, ApiError>;

/// A finished answer of a kind that its operation's description is made from.
pub(crate) struct Answer<K>(Response, PhantomData<fn() -> K>);

pub(crate) type Done<T> = Result<Answer<kind::Done<T>>, ApiError>;
/// 201 with the data of what was created.
pub(crate) type Created<T> = Result<Answer<kind::Created<T>>, ApiError>;
/// 201 with the data of what was created; 200 where that was done by an earlier request.
pub(crate) type CreatedOnce<T> = Result<Answer<kind::CreatedOnce<T>>, ApiError>;
/// 200, marked where it repeats an earlier answer.
pub(crate) type DoneOnce<T> = Result<Answer<kind::DoneOnce<T>>, ApiError>;
/// 200 with the version of the data as its `ETag`.
pub(crate) type Versioned<T> = Result<Answer<kind::Versioned<T>>, ApiError>;
pub(crate) type OneOf<K> = Result<Answer<K>, ApiError>;

pub(crate) mod kind {
    use std::marker::PhantomData;

    pub(crate) struct Done<T>(PhantomData<T>);
    pub(crate) struct Created<T>(PhantomData<T>);
    pub(crate) struct Accepted<T>(PhantomData<T>);
    pub(crate) struct CreatedOnce<T>(PhantomData<T>);
    pub(crate) struct DoneOnce<T>(PhantomData<T>);
    pub(crate) struct Versioned<T>(PhantomData<T>);
}

/// Declares what a kind's answers are, as an operation's description lists them.
macro_rules! kinds {
    ($($kind:ident { $($status:ident)* $(, $header:literal as $component:literal)? })*) => {$(
        impl<T: Shape> Answers for kind::$kind<T> {
            fn describe(signature: &mut Signature, schemas: &mut Schemas) {
                let schema = T::envelope(schemas);
                $(signature.succeeds(StatusCode::$status, schema.clone());)*
                $(signature.carries($header, $component);)?
            }
        }
    )*};
}

kinds! {
    Done { OK }
    Created { CREATED }
    Accepted { ACCEPTED }
    CreatedOnce { CREATED OK, "Idempotent-Replayed" as "IdempotentReplayed" }
    DoneOnce { OK, "Idempotent-Replayed" as "IdempotentReplayed" }
    Versioned { OK, "ETag" as "ETag" }
}

impl<A: Answers, B: Answers> Answers for (A, B) {
    fn describe(signature: &mut Signature, schemas: &mut Schemas) {
        A::describe(signature, schemas);
        B::describe(signature, schemas);
    }
}

impl<K: Answers> Answers for Answer<K> {
    fn describe(signature: &mut Signature, schemas: &mut Schemas) {
        K::describe(signature, schemas);
    }
}

impl<K> IntoResponse for Answer<K> {
    fn into_response(self) -> Response {
        self.0
    }
}

impl<K> Answer<K> {
    /// The same answer as one of several kinds.
    pub(crate) fn one_of<L>(self) -> Answer<L> {
        Answer(self.0, PhantomData)
    }
}

#[derive(Serialize)]
struct SuccessEnvelope<'a, T> {
    success: bool,
    data: &'a T,
    message: (),
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

pub(crate) fn ok<T: Serialize + Shape>(data: &T) -> Done<T::Static> {
    with_status(StatusCode::OK, data)
}

pub(crate) fn created<T: Serialize + Shape>(data: &T) -> Created<T::Static> {
    with_status(StatusCode::CREATED, data)
}

/// 202 with the data of what waits for somebody.
pub(crate) fn accepted<T: Serialize + Shape>(
    data: &T,
) -> Result<Answer<kind::Accepted<T::Static>>, ApiError> {
    with_status(StatusCode::ACCEPTED, data)
}

pub(crate) fn created_once<T: Serialize + Shape>(data: &T, replayed: bool) -> CreatedOnce<T::Static> {
    let status = if replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok(marked(with_status(status, data)?, replayed))
}

pub(crate) fn done_once<T: Serialize + Shape>(data: &T, replayed: bool) -> DoneOnce<T::Static> {
    Ok(marked(with_status(StatusCode::OK, data)?, replayed))
}

pub(crate) fn versioned<T: Serialize + Shape>(data: &T, version: u64) -> Versioned<T::Static> {
    Ok(tagged(with_status(StatusCode::OK, data)?, version))
}

/// The same for a document that is kept as JSON.
pub(crate) fn versioned_document<T>(document: &Value, version: u64) -> Versioned<T> {
    Ok(tagged(with_status(StatusCode::OK, document)?, version))
}

fn tagged<K>(mut answer: Answer<K>, version: u64) -> Answer<K> {
    if let Ok(tag) = HeaderValue::try_from(format!("\"{version}\"")) {
        answer.0.headers_mut().insert(header::ETAG, tag);
    }
    answer
}

fn marked<K>(mut answer: Answer<K>, replayed: bool) -> Answer<K> {
    if replayed {
        answer.0.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    }
    answer
}

/// 200 with data that `write` writes as JSON.
pub(crate) fn ok_written<T>(write: impl FnOnce(&mut Vec<u8>)) -> Answer<kind::Done<T>> {
    let mut body = Vec::with_capacity(2_048);
    body.extend_from_slice(br#"{"success":true,"data":"#);
    write(&mut body);
    body.extend_from_slice(br#","message":null"#);
    if let Some(warnings) = unknown_fields::warnings() {
        body.extend_from_slice(br#","warnings":"#);
        body.extend(serde_json::to_vec(&warnings).unwrap_or_else(|_| b"[]".to_vec()));
    }
    body.push(b'}');
    Answer(json_response(StatusCode::OK, body), PhantomData)
}

fn with_status<T: Serialize, K>(status: StatusCode, data: &T) -> Result<Answer<K>, ApiError> {
    let warnings = unknown_fields::warnings();
    let body = serde_json::to_vec(&SuccessEnvelope { success: true, data, message: (), warnings })
        .map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Answer(json_response(status, body), PhantomData))
}

/// 200 with a file of this type.
pub(crate) fn file(content_type: &'static str, content: impl Into<Body>) -> Response {
    let mut response = Response::new(content.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
