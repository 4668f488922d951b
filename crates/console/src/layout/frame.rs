//! What stands around every page.

use axum::response::{IntoResponse, Redirect, Response};

/// What stands around every page.
pub(crate) struct Frame {
    pub(crate) title: String,
    /// Which entry of the menu is the page's own.
    pub(crate) section: &'static str,
    /// What the links of this environment begin with; empty outside of one.
    pub(crate) base: String,
    pub(crate) place: String,
    pub(crate) csrf: String,
    pub(crate) actor: String,
    /// What the last form has to say.
    pub(crate) said: Option<String>,
}

/// Where a form's answer leads, with what it has to say.
pub(crate) fn back(to: &str, said: &str) -> Response {
    let said: String = form_urlencoded::byte_serialize(said.as_bytes()).collect();
    let joint = if to.contains('?') { '&' } else { '?' };
    Redirect::to(&format!("{to}{joint}said={said}")).into_response()
}
