//! Signing in with a personal token or the admin token, and out again.

use std::{net::IpAddr, time::Duration};

use askama::Template;
use axum::{
    Extension,
    body::Body,
    extract::{RawQuery, State},
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tollgate_domain::people::Identity;
use tollgate_engine::RateLimitExceeded;
use tracing::{info, warn};

use crate::{
    layout::page::{self, Page, PageError},
    request::{
        session::SignedInWith,
        signed_in::SignedIn,
        submitted::{self, Submitted},
    },
    state::SharedConsole,
};

const MAX_NAME_LENGTH: usize = 80;
/// Nobody is known yet whose form this is, so that it had better be short.
const LARGEST: usize = 16 * 1024;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    next: String,
    fault: Option<String>,
}

pub(crate) async fn show(RawQuery(query): RawQuery) -> Page {
    let query = query.unwrap_or_default();
    let next = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "next");
    let next = next.map(|(_, value)| value.into_owned()).unwrap_or_default();
    page::render(&SignInPage { next: own_path(&next), fault: None })
}

pub(crate) async fn sign_in(
    State(console): State<SharedConsole>,
    peer: Option<Extension<IpAddr>>,
    headers: HeaderMap,
    body: Body,
) -> Page {
    if !is_from_here(&headers) {
        return Err(PageError::Refused("This form was submitted from another site.".to_owned()));
    }
    let fields = submitted::read(body, LARGEST).await?;
    let field = |name: &str| {
        fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim()).to_owned()
    };
    let next = own_path(&field("next"));
    let address = peer.map(|Extension(address)| address);
    // Only wrong tokens are counted: whoever guesses must not lock out those who know, behind one proxy least of all.
    let identity = match console.engine.identify_operator(&console.admin_token, &field("token")) {
        Ok(identity) => identity,
        Err(fault) => {
            warn!(peer = ?address, "console sign-in failed");
            if let Err(RateLimitExceeded { retry_after }) = console.attempts.take(address) {
                return too_many(next, retry_after);
            }
            let fault = format!("Not signed in: {fault}.");
            let mut response = page::render(&SignInPage { next, fault: Some(fault) })?;
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            return Ok(response);
        }
    };
    let name: String = field("name").chars().filter(|c| !c.is_control()).take(MAX_NAME_LENGTH).collect();
    info!(peer = ?address, actor = identity.actor(Some(&name)), "console sign-in");
    let with = match identity {
        Identity::Bootstrap => SignedInWith::AdminToken { name },
        Identity::User { token, .. } => SignedInWith::PersonalToken(token),
    };
    let now = console.engine.clock().now();
    let cookie =
        console.sessions.begin(&with, now).map_err(|error| PageError::Unavailable(error.to_string()))?;
    Ok(with_cookie(&cookie, if next.is_empty() { "/console" } else { &next }))
}

fn too_many(next: String, retry_after: Duration) -> Page {
    let fault = "Too many wrong tokens from this address; wait a minute.".to_owned();
    let mut response = page::render(&SignInPage { next, fault: Some(fault) })?;
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let seconds = retry_after.as_secs().saturating_add(1);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

/// Ends the session everywhere, and says so only then.
pub(crate) async fn sign_out(form: Submitted) -> Result<Response, PageError> {
    let SignedIn { console, session, .. } = &form.signed_in;
    console.engine.end_session(&session.id, session.until).await?;
    info!(actor = form.signed_in.actor(), "console sign-out");
    Ok(with_cookie(&console.sessions.end(), "/console/sign-in"))
}

pub(super) fn with_cookie(cookie: &str, to: &str) -> Response {
    let mut response = Redirect::to(to).into_response();
    if let Ok(value) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// Only where the browser says that another site sent it; there is no session yet that could tell.
pub(super) fn is_from_here(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none")
}

/// A path of these pages, or nothing: nobody is sent elsewhere by a link to the sign-in.
fn own_path(text: &str) -> String {
    let is_own = text == "/console" || text.starts_with("/console/");
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && is_plain { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        assert_eq!(own_path("/console/env_1/payments?q=x"), "/console/env_1/payments?q=x");
        for text in [
            "https://evil.example",
            "//evil.example",
            "/consolex",
            "/console/\\evil",
            "/console/\r\nX: y",
            "",
        ] {
            assert_eq!(own_path(text), "", "{text:?}");
        }
    }
}
