//! What every other address shows.

use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::{
    layout::page::{ErrorPage, PageError, render},
    request::signed_in::SignedIn,
};

pub(crate) async fn not_found_here(signed_in: SignedIn) -> Response {
    let page =
        ErrorPage { frame: signed_in.bare_frame("Not found"), message: PageError::Missing.to_string() };
    let mut response = render(&page).unwrap_or_else(IntoResponse::into_response);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
