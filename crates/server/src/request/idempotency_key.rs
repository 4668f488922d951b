//! The caller's name for a business action, in the body or in the `Idempotency-Key` header.

use std::borrow::Cow;

use http::HeaderMap;
use tollgate_engine::RateLimitExceeded;
use tollgate_vault::contains_secret_key;

use crate::{
    json::text::JsonText,
    request::fields::{FieldErrors, Raw, SECRET_KEY_RULE},
    response::{
        error::{ApiError, Detail},
        error_code::ErrorCode,
    },
    types::scalars,
};

const FIELD: &str = "idempotencyKey";
const HEADER: &str = "idempotency-key";
const MIN_LENGTH: usize = 8;
const MAX_LENGTH: usize = 160;

pub(crate) type KeyText = scalars::Plain<MIN_LENGTH, MAX_LENGTH>;

/// The key of a request that needs one. Where both are given they have to be equal.
pub(crate) fn read(raw: Raw<'_>, headers: &HeaderMap, errors: &mut FieldErrors) -> Option<String> {
    let given = errors.count();
    let (body, header) = (from_body(raw, errors), from_header(headers, errors));
    match (body, header) {
        (Some(body), Some(header)) if body != header => errors
            .add(FIELD, "differs from the Idempotency-Key header; send one of them, or the same in both"),
        (None, None) if errors.count() == given => {
            errors.add(FIELD, "is required, here or in the Idempotency-Key header")
        }
        (body, header) => body.or(header),
    }
}

fn from_body(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<String> {
    let is_right = |text: &str| {
        (MIN_LENGTH..=MAX_LENGTH).contains(&text.chars().count()) && !text.chars().any(char::is_control)
    };
    match JsonText::of(raw?) {
        JsonText::String(text) if contains_secret_key(&text) => errors.add(FIELD, SECRET_KEY_RULE),
        JsonText::String(text) if is_right(&text) => Some(text.into_owned()),
        _ => errors.add(FIELD, "must be a string of 8 to 160 characters without control characters"),
    }
}

/// The key in the header, where there is one.
pub(crate) fn from_header(headers: &HeaderMap, errors: &mut FieldErrors) -> Option<String> {
    let value = headers.get(HEADER)?;
    let text = value.to_str().ok().filter(|text| {
        (MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    });
    match text {
        Some(text) if contains_secret_key(text) => errors.add(HEADER, SECRET_KEY_RULE),
        Some(text) => Some(text.to_owned()),
        None => errors.add(HEADER, "must be 8 to 160 visible ASCII characters"),
    }
}

/// The key was used for too many other requests.
pub(crate) fn too_many_conflicts(limited: RateLimitExceeded) -> ApiError {
    ApiError::rate_limited(
        "Too many different requests used this idempotencyKey; use a new key for a new request.",
        limited.retry_after,
    )
}

/// The key was used for another request.
pub(crate) fn conflict<F: Into<Cow<'static, str>>>(fields: Vec<F>) -> ApiError {
    let details = fields.into_iter().map(|field| Detail {
        field: field.into(),
        message: "differs from the request this key was used for".into(),
    });
    ApiError::new(
        ErrorCode::IdempotencyConflict,
        "This idempotencyKey was already used for a different request; use a new key.",
    )
    .with_details(details.collect())
}
