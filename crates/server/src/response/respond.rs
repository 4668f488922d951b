//! Successful answers, in the one envelope.

use axum::{body::Body, response::Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::response::error::{ApiError, IDEMPOTENT_REPLAYED};

/// What handlers return.
pub(crate) type ApiResult = Result<Response, ApiError>;

#[derive(Serialize)]
struct SuccessEnvelope<'a, T> {
    success: bool,
    data: &'a T,
    message: (),
}

/// 200 with the data.
pub(crate) fn ok<T: Serialize>(data: &T) -> ApiResult {
    with_status(StatusCode::OK, data)
}

/// 201 with the data of what was created.
pub(crate) fn created<T: Serialize>(data: &T) -> ApiResult {
    with_status(StatusCode::CREATED, data)
}

/// 202 with the data of what waits for somebody.
pub(crate) fn accepted<T: Serialize>(data: &T) -> ApiResult {
    with_status(StatusCode::ACCEPTED, data)
}

/// The same answer, marked as the repetition of an earlier one.
pub(crate) fn replayed(mut response: Response) -> Response {
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

/// 200 with data that `write` writes as JSON.
pub(crate) fn ok_written(write: impl FnOnce(&mut Vec<u8>)) -> Response {
    let mut body = Vec::with_capacity(1_024);
    body.extend_from_slice(br#"{"success":true,"data":"#);
    write(&mut body);
    body.extend_from_slice(br#","message":null}"#);
    json_response(StatusCode::OK, body)
}

fn with_status<T: Serialize>(status: StatusCode, data: &T) -> ApiResult {
    let body = serde_json::to_vec(&SuccessEnvelope { success: true, data, message: () })
        .map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(json_response(status, body))
}

fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
