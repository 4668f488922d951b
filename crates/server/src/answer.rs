//! Successful answers, in the one envelope.

use axum::{body::Body, response::Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::error::ApiError;

/// What handlers return.
pub(crate) type Answer = Result<Response, ApiError>;

#[derive(Serialize)]
struct SuccessEnvelope<'a, T> {
    success: bool,
    data: &'a T,
    message: (),
}

/// 200 with the data.
pub(crate) fn ok<T: Serialize>(data: &T) -> Answer {
    with_status(StatusCode::OK, data)
}

/// 201 with the data of what was created.
pub(crate) fn created<T: Serialize>(data: &T) -> Answer {
    with_status(StatusCode::CREATED, data)
}

fn with_status<T: Serialize>(status: StatusCode, data: &T) -> Answer {
    let mut body = Vec::with_capacity(1_024);
    serde_json::to_writer(&mut body, &SuccessEnvelope { success: true, data, message: () })
        .map_err(|error| ApiError::internal(error.to_string()))?;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
