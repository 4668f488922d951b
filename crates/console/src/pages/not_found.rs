//! What every other address shows.

use axum::response::{IntoResponse, Response};

use crate::{layout::page::PageError, request::signed_in::SignedIn};

pub(crate) async fn not_found_here(_signed_in: SignedIn) -> Response {
    PageError::Missing.into_response()
}
