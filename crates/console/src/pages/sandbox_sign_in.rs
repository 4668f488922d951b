//! Signing in to the sandbox's console with a click: whoever sits at its machine.

use std::net::IpAddr;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
};
use http::HeaderMap;
use tollgate_domain::{id::RequestId, people::Identity};
use tollgate_engine::{Audited, Origin};

use super::sign_in::{is_from_here, request_id, with_cookie};
use crate::{layout::page::PageError, request::session::SignedInWith, state::SharedConsole};

const NAME: &str = "sandbox";

/// From this machine only; others need the admin token. The sandbox hides this address, as it does its pages with keys,
/// from names that are not its own.
pub(crate) async fn sign_in(
    State(console): State<SharedConsole>,
    peer: Option<Extension<IpAddr>>,
    request: Option<Extension<RequestId>>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    if !console.is_sandbox {
        return Err(PageError::Missing);
    }
    if !is_from_here(&headers, &console) {
        return Err(PageError::Refused("This form was submitted from another site.".to_owned()));
    }
    let address = peer.map(|Extension(peer)| peer);
    if !address.is_some_and(|peer| peer.to_canonical().is_loopback()) {
        return Ok(Redirect::to("/console/sign-in").into_response());
    }
    let origin = Origin::of(Some(&Identity::Bootstrap), Some(NAME), request_id(request), address);
    console.engine.record_action(&origin, Audited::new("session.begin", "console")).await?;
    let now = console.engine.clock().now();
    let with = SignedInWith::AdminToken { name: NAME.to_owned() };
    let cookie =
        console.sessions.begin(&with, now).map_err(|error| PageError::Unavailable(error.to_string()))?;
    Ok(with_cookie(&cookie, "/console"))
}
