//! Every route, and the page it leads to.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::{get, post},
};
use http::{HeaderValue, header};

use crate::{
    layout::assets,
    pages::{
        cancel, config, deliveries, disputes, endpoints, environments, events, exceptions, hold, keys,
        not_found, overview, payment, payments, providers, refund, routing, sign_in, statement, try_out,
        waiting, wallets,
    },
    request::signed_in::session_of,
    state::{Console, SharedConsole},
};

/// Every page, below `/console`. Whoever serves them puts the address a request comes from into it, as an `IpAddr`.
pub fn router(console: Console) -> Router {
    let environment = Router::new()
        .route("/", get(overview::show))
        .route("/payments", get(payments::list))
        .route("/payments.csv", get(payments::export))
        .route("/payments/{reference}", get(payment::show))
        .route("/payments/{reference}/capture", get(hold::show_capture).post(hold::capture))
        .route("/payments/{reference}/void", get(hold::show_void).post(hold::void))
        .route("/payments/{reference}/cancel", get(cancel::show).post(cancel::post))
        .route("/payments/{reference}/refund", get(refund::show).post(refund::post))
        .route("/payments/{reference}/corrected-account", post(payment::reveal))
        .route("/routing", get(routing::show))
        .route("/fees/edit", get(routing::edit_fee).post(routing::review_fee))
        .route("/rules/switch", post(routing::switch_rule))
        .route("/try", get(try_out::show))
        .route("/config", get(config::edit))
        .route("/config.json", get(config::export))
        .route("/config/review", post(config::review))
        .route("/config/save", post(config::save))
        .route("/config/history", get(config::history))
        .route("/config/history/{version}", get(config::version).post(config::restore))
        .route("/wallets", get(wallets::list))
        .route("/wallets/{currency}", get(wallets::show).post(wallets::post))
        .route("/providers", get(providers::list).post(providers::retry))
        .route("/providers/test", post(providers::test))
        .route("/providers/circuit", post(providers::force_circuit))
        .route("/keys", get(keys::list).post(keys::change))
        .route("/events", get(events::list))
        .route("/events/{event}", get(events::show).post(events::resend))
        .route("/endpoints", get(endpoints::list).post(endpoints::change))
        .route("/deliveries", get(deliveries::list).post(deliveries::resend))
        .route("/exceptions", get(exceptions::list).post(exceptions::resolve))
        .route("/disputes", get(disputes::list))
        .route("/statement", get(statement::show))
        .route("/statement.csv", get(statement::export))
        .route("/waiting", get(waiting::list));
    let pages = Router::new()
        .route("/console", get(environments::enter))
        .route("/console/", get(environments::enter))
        .route("/console/environments", get(environments::list).post(environments::create))
        .route("/console/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/console/sign-out", post(sign_in::sign_out))
        .route("/console/assets/{name}", get(assets::serve))
        .route("/console/{environment}/", get(overview::show))
        .nest("/console/{environment}", environment)
        .fallback(not_found::not_found_here);
    let console = Arc::new(console);
    pages
        .layer(from_fn_with_state(Arc::clone(&console), renew_session))
        .layer(from_fn(protect))
        .with_state(console)
}

/// A session that is used does not end for lack of use. Pages alone count: an asset that is cached says nothing.
async fn renew_session(State(console): State<SharedConsole>, request: Request, next: Next) -> Response {
    let session = session_of(request.headers(), &console);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if headers.contains_key(header::SET_COOKIE) || headers.contains_key(header::CACHE_CONTROL) {
        return response;
    }
    let now = console.engine.clock().now();
    let renewed = session.and_then(|session| console.sessions.renewed(&session, now));
    if let Some(cookie) = renewed.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Nothing is fetched from elsewhere, nobody frames a page, and no answer is kept unless it says so itself.
async fn protect(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                  form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // `same-origin` rather than nothing at all: a form's origin is checked.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
