//! Signing in with an OpenID Connect issuer: off to the issuer, and back with its answer.

use std::net::IpAddr;

use askama::Template;
use axum::{
    Extension,
    extract::{RawQuery, State},
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;
use tollgate_domain::{
    id::{RequestId, UserId},
    people::{Identity, SignOnSubject},
};
use tollgate_engine::{Audited, Origin, UserError, ports::StoreError};
use tollgate_oidc::{Issuer, OidcError, TokenFault, plain_word};
use tollgate_vault::Secret;
use tracing::{info, warn};

use super::sign_in::{own_path, query_field, request_id, show_form, too_many};
use crate::{
    layout::page::{self, Page, PageError},
    request::session::SignedInWith,
    state::{Console, SharedConsole, SingleSignOn},
};

/// Where a sign-in begins.
pub(crate) const START: &str = "/console/oidc/sign-in";

/// A page that leads on by itself. A redirect would still count as coming from the issuer's site, and the browser would
/// keep the new session's cookie to itself.
#[derive(Template)]
#[template(path = "signed_in.html")]
struct SignedInPage {
    next: String,
}

/// Why a sign-in is refused.
enum Refusal {
    /// The answer belongs to no sign-in of this browser that is still open.
    Expired,
    Used,
    /// The issuer says no, and its word for it.
    ByIssuer(String),
    Oidc(OidcError),
    UnknownUser {
        email: String,
    },
    /// Somebody else has signed in as this user before.
    OtherSubject {
        email: String,
    },
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<OidcError> for Refusal {
    fn from(error: OidcError) -> Self {
        Self::Oidc(error)
    }
}

/// A person who is known, and where they wanted to go.
struct Known {
    user: UserId,
    identity: Identity,
    subject: String,
    next: String,
}

/// Sends the browser to the issuer.
pub(crate) async fn begin(State(console): State<SharedConsole>, RawQuery(query): RawQuery) -> Page {
    let SingleSignOn { issuer, redirect_uri } = console.single_sign_on.as_ref().ok_or(PageError::Missing)?;
    let next = own_path(&query_field(query.as_deref(), "next").unwrap_or_default());
    let now = console.engine.clock().now();
    let (pending, cookie) = console
        .sessions
        .begin_single_sign_on(next.clone(), redirect_uri.clone(), now)
        .map_err(|error| PageError::Unavailable(error.to_string()))?;
    match issuer.authorization_url(&pending.attempt, now).await {
        Ok(url) => {
            let mut response = Redirect::to(&url).into_response();
            add_cookie(&mut response, &cookie);
            Ok(response)
        }
        Err(error) => unavailable(&console, next, &error),
    }
}

/// Takes the issuer's answer, once.
pub(crate) async fn callback(
    State(console): State<SharedConsole>,
    peer: Option<Extension<IpAddr>>,
    request: Option<Extension<RequestId>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Page {
    let single_sign_on = console.single_sign_on.as_ref().ok_or(PageError::Missing)?;
    let visitor = Visitor { address: peer.map(|Extension(address)| address), request: request_id(request) };
    let known = identify(&console, single_sign_on, query.as_deref(), &headers, &visitor).await;
    // Another sign-in of this browser may still wait for its answer.
    let keeps_pending = matches!(known, Err(Refusal::Expired));
    let mut response = match known {
        Ok(known) => sign_in(&console, &single_sign_on.issuer, visitor, known).await?,
        Err(Refusal::Store(error)) => return Err(error.into()),
        Err(Refusal::Oidc(error @ (OidcError::Unreachable(_) | OidcError::Misconfigured(_)))) => {
            unavailable(&console, String::new(), &error)?
        }
        Err(refusal) => refuse(&console, visitor, &refusal).await?,
    };
    if !keeps_pending {
        add_cookie(&mut response, &console.sessions.end_single_sign_on());
    }
    Ok(response)
}

/// Where a request comes from.
struct Visitor {
    address: Option<IpAddr>,
    request: String,
}

async fn identify(
    console: &Console,
    SingleSignOn { issuer, redirect_uri }: &SingleSignOn,
    query: Option<&str>,
    headers: &HeaderMap,
    visitor: &Visitor,
) -> Result<Known, Refusal> {
    let now = console.engine.clock().now();
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pending = console.sessions.read_single_sign_on(cookies, redirect_uri, now);
    let state = query_field(query, "state").unwrap_or_default();
    let pending = pending.filter(|it| it.is_answered_by(&state)).ok_or(Refusal::Expired)?;
    if console.engine.is_session_ended(&pending.id).await? {
        return Err(Refusal::Used);
    }
    if query_field(query, "iss").is_some_and(|named| named != issuer.name()) {
        return Err(OidcError::from(TokenFault::Issuer).into());
    }
    if let Some(error) = query_field(query, "error") {
        return Err(Refusal::ByIssuer(plain_word(&error)));
    }
    let code = query_field(query, "code").map(Secret::new).ok_or(Refusal::Expired)?;
    let person = issuer.person(&code, &pending.attempt, now).await?;
    // Only an answer that proved itself is worth a row: anybody can bring another.
    console.engine.end_session(&pending.id, pending.until).await?;
    let user = console.engine.user_of_email(&person.email);
    let known = user.and_then(|user| Some((user, console.engine.identify_user(user)?)));
    let email = person.email;
    let Some((user, identity)) = known else { return Err(Refusal::UnknownUser { email }) };
    let subject = SignOnSubject { issuer: issuer.name().to_owned(), subject: person.subject.clone() };
    let origin = Origin::of(Some(&identity), None, visitor.request.clone(), visitor.address);
    match console.engine.bind_subject(user, &subject, &origin).await {
        Ok(()) => {}
        Err(UserError::OtherSubject) => return Err(Refusal::OtherSubject { email }),
        Err(UserError::Store(error)) => return Err(error.into()),
        Err(_) => return Err(Refusal::UnknownUser { email }),
    }
    Ok(Known { user, identity, subject: person.subject, next: pending.next })
}

async fn sign_in(console: &Console, issuer: &Issuer, visitor: Visitor, known: Known) -> Page {
    let Visitor { address, request } = visitor;
    let origin = Origin::of(Some(&known.identity), None, request, address);
    info!(peer = ?address, actor = origin.actor, "console sign-in by single sign-on");
    let began = Audited::new("session.begin", "console").after(json!({
        "method": "single_sign_on",
        "issuer": issuer.name(),
        "subject": known.subject,
    }));
    console.engine.record_action(&origin, began).await?;
    let now = console.engine.clock().now();
    let cookie = console
        .sessions
        .begin(&SignedInWith::SingleSignOn { user: known.user, issuer: issuer.name().to_owned() }, now)
        .map_err(|error| PageError::Unavailable(error.to_string()))?;
    let next = if known.next.is_empty() { "/console".to_owned() } else { known.next };
    let mut response = page::render(&SignedInPage { next })?;
    add_cookie(&mut response, &cookie);
    Ok(response)
}

/// Says why, in the audit log and to the person. As with tokens, whoever keeps failing is slowed down.
async fn refuse(console: &Console, visitor: Visitor, refusal: &Refusal) -> Page {
    let Visitor { address, request } = visitor;
    let (status, reason, email, sentence) = explain(refusal);
    warn!(peer = ?address, reason, "console sign-in by single sign-on refused");
    if let Err(exceeded) = console.engine.count_bad_credential(address) {
        return too_many(console, String::new(), exceeded.retry_after);
    }
    let origin = Origin::of(None, None, request, address);
    let refused = Audited::new("session.refuse", "console").after(json!({
        "method": "single_sign_on",
        "reason": reason,
        "email": email,
    }));
    console.engine.record_repeatable(&origin, refused).await?;
    show_form(console, String::new(), Some(format!("Not signed in: {sentence}")), status)
}

/// The answer's status, a word or two for the log, the address it is about, and what to do.
fn explain(refusal: &Refusal) -> (StatusCode, String, Option<&str>, String) {
    let (not_known, not_allowed) = (StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN);
    match refusal {
        Refusal::Expired => (
            not_known,
            "expired".to_owned(),
            None,
            "this sign-in has expired or was started in another browser. Start again.".to_owned(),
        ),
        Refusal::Used | Refusal::Oidc(OidcError::CodeRefused(_)) => (
            not_known,
            "already used".to_owned(),
            None,
            "this sign-in was already used or has expired. Start again.".to_owned(),
        ),
        Refusal::ByIssuer(code) => (
            not_known,
            code.clone(),
            None,
            format!("your identity provider answered {code}. Start again, or ask its administrator for access."),
        ),
        Refusal::Oidc(OidcError::NoEmail) => (
            not_allowed,
            "no email".to_owned(),
            None,
            "your identity provider did not share your email address. Ask its administrator to release the email \
             claim to Tollgate."
                .to_owned(),
        ),
        Refusal::Oidc(OidcError::UnverifiedEmail(email)) => (
            not_allowed,
            "unverified email".to_owned(),
            Some(email),
            format!("{email} is not verified. Verify it at your identity provider, then sign in again."),
        ),
        Refusal::UnknownUser { email } => (
            not_allowed,
            "unknown user".to_owned(),
            Some(email),
            format!("no user has the address {email}. Ask an admin to add you on the Users page, then sign in again."),
        ),
        Refusal::OtherSubject { email } => (
            not_allowed,
            "other subject".to_owned(),
            Some(email),
            format!(
                "the user {email} belongs to another account of your identity provider. Sign in with that one; if it no \
                 longer exists, ask an admin to remove the user and add it again."
            ),
        ),
        Refusal::Oidc(OidcError::InvalidToken(fault @ (TokenFault::Assurance | TokenFault::Stale))) => (
            not_allowed,
            fault.to_string(),
            None,
            "this console demands a stronger or more recent sign-in. Sign in at your identity provider with your \
             second factor, then start again."
                .to_owned(),
        ),
        Refusal::Oidc(error) => (
            not_known,
            error.to_string(),
            None,
            "the answer of your identity provider could not be verified. Start again; if it happens again, the \
             server's log says why."
                .to_owned(),
        ),
        Refusal::Store(error) => (not_known, error.to_string(), None, "try again in a moment.".to_owned()),
    }
}

/// The issuer cannot be asked: nobody's fault who signs in, and a token still works.
fn unavailable(console: &Console, next: String, error: &OidcError) -> Page {
    warn!(%error, "single sign-on is not available");
    let sentence = match error {
        OidcError::Unreachable(_) => {
            "Your identity provider is not responding. Try again in a moment, or sign in with a token."
        }
        _ => {
            "Single sign-on is not set up correctly. Sign in with a token; `tollgate doctor` and the server's log say \
             what is wrong."
        }
    };
    show_form(console, next, Some(sentence.to_owned()), StatusCode::SERVICE_UNAVAILABLE)
}

fn add_cookie(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}
