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
use serde_json::json;
use tollgate_domain::{id::RequestId, people::Identity};
use tollgate_engine::{Audited, Origin, RateLimitExceeded};
use tracing::{info, warn};

use super::single_sign_on;
use crate::{
    layout::page::{self, Page, PageError},
    request::{
        session::SignedInWith,
        signed_in::SignedIn,
        submitted::{self, Submitted},
    },
    state::{Console, ConsoleTokens, SharedConsole},
};

const MAX_NAME_LENGTH: usize = 80;
/// Nobody is known yet whose form this is, so that it had better be short.
const LARGEST: usize = 16 * 1024;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    next: String,
    fault: Option<String>,
    /// Where single sign-on begins, if there is one.
    single_sign_on: Option<String>,
    takes_tokens: bool,
}

pub(crate) async fn show(State(console): State<SharedConsole>, RawQuery(query): RawQuery) -> Page {
    let next = query_field(query.as_deref(), "next").unwrap_or_default();
    show_form(&console, own_path(&next), None, StatusCode::OK)
}

/// The form, with what went wrong before.
pub(super) fn show_form(console: &Console, next: String, fault: Option<String>, status: StatusCode) -> Page {
    let single_sign_on = console.single_sign_on.as_ref().map(|_| {
        let escaped: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
        format!("{}?next={escaped}", single_sign_on::START)
    });
    let mut response = page::render(&SignInPage {
        next,
        fault,
        single_sign_on,
        takes_tokens: console.tokens != ConsoleTokens::None,
    })?;
    *response.status_mut() = status;
    Ok(response)
}

/// A field of the query.
pub(super) fn query_field(query: Option<&str>, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    fields.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

pub(crate) async fn sign_in(
    State(console): State<SharedConsole>,
    peer: Option<Extension<IpAddr>>,
    request: Option<Extension<RequestId>>,
    headers: HeaderMap,
    body: Body,
) -> Page {
    if !is_from_here(&headers, &console) {
        return Err(PageError::Refused("This form was submitted from another site.".to_owned()));
    }
    let fields = submitted::read(body, LARGEST).await?;
    let field = |name: &str| {
        fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim()).to_owned()
    };
    let next = own_path(&field("next"));
    let address = peer.map(|Extension(address)| address);
    let request = request_id(request);
    // Only wrong tokens are counted: whoever guesses must not lock out those who know, behind one proxy least of all.
    let identity = match console.engine.identify_operator(&console.admin_token, &field("token")) {
        Ok(identity) if !console.tokens.open_for(&identity) => {
            let refused =
                Audited::new("session.refuse", "console").after(json!({ "reason": "single sign-on only" }));
            let origin = Origin::of(Some(&identity), None, request, address);
            console.engine.record_repeatable(&origin, refused).await?;
            let fault = "Not signed in: this console takes single sign-on only.".to_owned();
            return show_form(&console, next, Some(fault), StatusCode::FORBIDDEN);
        }
        Ok(identity) => identity,
        Err(fault) => {
            warn!(peer = ?address, "console sign-in failed");
            if let Err(RateLimitExceeded { retry_after }) = console.engine.count_bad_credential(address) {
                return too_many(&console, next, retry_after);
            }
            let origin = Origin::of(None, None, request, address);
            let refused = Audited::new("session.refuse", "console");
            console.engine.record_repeatable(&origin, refused).await?;
            let fault = format!("Not signed in: {fault}.");
            return show_form(&console, next, Some(fault), StatusCode::UNAUTHORIZED);
        }
    };
    let name: String = field("name").chars().filter(|c| !c.is_control()).take(MAX_NAME_LENGTH).collect();
    info!(peer = ?address, actor = identity.actor(Some(&name)), "console sign-in");
    let given_name = Some(name.as_str()).filter(|name| !name.is_empty());
    let origin = Origin::of(Some(&identity), given_name, request, address);
    let began = Audited::new("session.begin", "console");
    console.engine.record_action(&origin, began).await?;
    let with = match identity {
        Identity::Bootstrap => SignedInWith::AdminToken { name },
        Identity::User { token: Some(token), .. } => SignedInWith::PersonalToken(token),
        Identity::User { .. } => return Err(PageError::Broken("a user without a token".to_owned())),
    };
    let now = console.engine.clock().now();
    let cookie =
        console.sessions.begin(&with, now).map_err(|error| PageError::Unavailable(error.to_string()))?;
    Ok(with_cookie(&cookie, if next.is_empty() { "/console" } else { &next }))
}

/// The request's id; only tests serve pages without one.
pub(super) fn request_id(request: Option<Extension<RequestId>>) -> String {
    request.map_or_else(|| "console".to_owned(), |Extension(id)| id.to_string())
}

pub(super) fn too_many(console: &Console, next: String, retry_after: Duration) -> Page {
    let fault = "Too many failed sign-ins from this address; wait a minute.".to_owned();
    let mut response = show_form(console, next, Some(fault), StatusCode::TOO_MANY_REQUESTS)?;
    let seconds = retry_after.as_secs().saturating_add(1);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

/// Ends the session everywhere, and says so only then.
pub(crate) async fn sign_out(form: Submitted) -> Result<Response, PageError> {
    let SignedIn { console, session, .. } = &form.signed_in;
    let ended = Audited::new("session.end", "console");
    console.engine.record_action(&form.signed_in.origin(), ended).await?;
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

/// Whether the form may have been sent from one of our pages; there is no session yet to check. Browsers name the
/// origin of a form in at least one of these headers; a request without any is not from a browser, so it cannot be a forged form.
pub(super) fn is_from_here(headers: &HeaderMap, console: &Console) -> bool {
    is_same_origin_form(headers, console.url.as_deref())
}

fn is_same_origin_form(headers: &HeaderMap, console_url: Option<&str>) -> bool {
    let is_same_site =
        headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let authority =
        |url: &str| url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest).to_owned());
    let own = [
        headers.get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_owned),
        console_url.and_then(authority),
    ];
    let is_own = |from: &HeaderValue| {
        let from = from.to_str().ok().and_then(authority);
        from.is_some_and(|from| own.iter().flatten().any(|own| own.eq_ignore_ascii_case(&from)))
    };
    // A page without an origin says `null`, and is none of ours.
    is_same_site && headers.get(header::ORIGIN).or_else(|| headers.get(header::REFERER)).is_none_or(is_own)
}

/// A path of these pages, or nothing: nobody is sent elsewhere by a link to the sign-in.
pub(super) fn own_path(text: &str) -> String {
    let is_own = text == "/console" || text.starts_with("/console/");
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own && is_plain { text.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_other_sites_are_recognized_by_any_header() {
        let taken = |sent: &[(&'static str, &'static str)]| {
            let headers = sent.iter().map(|(name, value)| {
                (name.parse::<http::HeaderName>().unwrap(), HeaderValue::from_static(value))
            });
            let host = (header::HOST, HeaderValue::from_static("10.0.0.7:8080"));
            is_same_origin_form(&headers.chain([host]).collect(), Some("https://pay.example.com"))
        };
        assert!(taken(&[]));
        assert!(taken(&[("origin", "http://10.0.0.7:8080"), ("sec-fetch-site", "same-origin")]));
        assert!(taken(&[("origin", "https://pay.example.com")]));
        assert!(taken(&[("referer", "https://pay.example.com/console/sign-in?next=x")]));
        for sign in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "https://evil.example"),
            ("origin", "https://pay.example.com.evil.example"),
            ("origin", "https://pay.example.com:8443"),
            ("origin", "null"),
            ("referer", "https://evil.example/https://pay.example.com/"),
        ] {
            assert!(!taken(&[sign]), "{sign:?}");
        }
        assert!(!taken(&[("origin", "https://evil.example"), ("referer", "https://pay.example.com/")]));
    }

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
