//! Every route, and the page it leads to.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{FromRequestParts as _, Request, State},
    handler::Handler as _,
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::{get, post},
};
use http::{HeaderValue, StatusCode, header};
use tollgate_domain::people::Permission;

use crate::{
    layout::{assets, page::ShownError},
    pages::{
        approvals, audit_log, cancel, card_fees, config, customer, deliveries, disputes, endpoints,
        environments, erase, events, exceptions, fee_report, hold, keys, not_found, overview, payment,
        payments, provider, providers, refund, requests, routing, rule, sandbox_sign_in, sign_in,
        single_sign_on, statement, try_out, users, waiting, wallets,
    },
    request::signed_in::{REFRESH, SignedIn, environment_in, session_of},
    state::{CALLBACK, Console, SharedConsole},
};

/// Routes of pages for those who are signed in. Each names the permission it needs, which [`SignedIn`] checks.
///
/// [`SignedIn`]: crate::request::signed_in::SignedIn
macro_rules! pages {
    ($router:ident $list:ident below $base:literal: $($permission:ident $verb:ident $path:literal $page:path;)*) => {
        fn $router() -> Router<SharedConsole> {
            Router::new()$(.route($path, $verb($page).layer(Extension(Permission::$permission))))*
        }

        const $list: &[PageRoute] = &[$(PageRoute {
            permission: Permission::$permission,
            method: stringify!($verb),
            path: concat!($base, $path),
        },)*];
    };
}

/// A page, and who may open it.
#[derive(Debug, Clone, Copy)]
pub struct PageRoute {
    pub permission: Permission,
    /// `get` or `post`.
    pub method: &'static str,
    pub path: &'static str,
}

/// Every page for those who are signed in.
pub fn page_routes() -> impl Iterator<Item = &'static PageRoute> {
    OF_ENVIRONMENT.iter().chain(OF_SERVICE)
}

pages! { environment_pages OF_ENVIRONMENT below "/console/{environment}":
    Read get "/" overview::show;
    Read get "/payments" payments::list;
    Read get "/payments.csv" payments::export;
    Read get "/payments/{reference}" payment::show;
    ManagePayments get "/payments/{reference}/capture" hold::show_capture;
    ManagePayments post "/payments/{reference}/capture" hold::capture;
    ManagePayments get "/payments/{reference}/void" hold::show_void;
    ManagePayments post "/payments/{reference}/void" hold::void;
    ManagePayments get "/payments/{reference}/cancel" cancel::show;
    ManagePayments post "/payments/{reference}/cancel" cancel::post;
    Refund get "/payments/{reference}/refund" refund::show;
    Refund post "/payments/{reference}/refund" refund::post;
    WriteNotes post "/payments/{reference}/notes" payment::note;
    ManagePayments post "/payments/{reference}/corrected-account" payment::reveal;
    Read get "/customer" customer::show;
    Configure get "/erase" erase::show;
    Configure post "/erase" erase::post;
    Read get "/routing" routing::show;
    Read get "/fees" card_fees::show;
    Read get "/fee-report" fee_report::show;
    Read get "/fee-report.csv" fee_report::export;
    Configure get "/fees/program" card_fees::edit;
    Configure post "/fees/program" card_fees::review;
    Configure get "/fees/edit" routing::edit_fee;
    Configure post "/fees/edit" routing::review_fee;
    Configure get "/rules/edit" rule::edit;
    Configure post "/rules/edit" rule::review;
    Configure post "/rules/switch" routing::switch_rule;
    Read get "/try" try_out::show;
    Configure get "/config" config::edit;
    Read get "/config.json" config::export;
    Configure post "/config/review" config::review;
    Configure post "/config/save" config::save;
    Read get "/config/history" config::history;
    Read get "/config/history/{version}" config::version;
    Configure post "/config/history/{version}" config::restore;
    Read get "/wallets" wallets::list;
    Read get "/wallets/{currency}" wallets::show;
    MoveFunds post "/wallets/{currency}" wallets::post;
    Read get "/providers" providers::list;
    Resend post "/providers" providers::retry;
    Configure get "/providers/edit" provider::edit;
    Configure post "/providers/edit" provider::review;
    Configure post "/providers/test" providers::test;
    Configure post "/providers/circuit" providers::force_circuit;
    Read get "/keys" keys::list;
    ManageKeys post "/keys" keys::change;
    Read get "/events" events::list;
    Read get "/events/{event}" events::show;
    Resend post "/events/{event}" events::resend;
    Read get "/endpoints" endpoints::list;
    Configure post "/endpoints" endpoints::change;
    Read get "/deliveries" deliveries::list;
    Resend post "/deliveries" deliveries::resend;
    Read get "/requests" requests::list;
    Read get "/exceptions" exceptions::list;
    ManagePayments post "/exceptions" exceptions::resolve;
    Read get "/approvals" approvals::list;
    Read get "/approvals/{approval}" approvals::show;
    Approve post "/approvals" approvals::decide;
    Read get "/disputes" disputes::list;
    Read get "/statement" statement::show;
    Read get "/statement.csv" statement::export;
    Read get "/waiting" waiting::list;
}

pages! { service_pages OF_SERVICE below "":
    Read get "/console" environments::enter;
    Read get "/console/" environments::enter;
    Read get "/console/environments" environments::list;
    Configure post "/console/environments" environments::create;
    ReadAuditLog get "/console/audit-log" audit_log::list;
    ManageUsers get "/console/users" users::list;
    ManageUsers post "/console/users" users::change;
    OwnAccount get "/console/account" users::account;
    OwnAccount post "/console/account" users::change_account;
    Read post "/console/sign-out" sign_in::sign_out;
    Read get "/console/{environment}/" overview::show;
}

/// Every page, below `/console`. Whoever serves them puts the address a request comes from into it, as an `IpAddr`.
pub fn router(console: Console) -> Router {
    let pages = service_pages()
        .route("/console/sign-in", get(sign_in::show).post(sign_in::sign_in))
        .route("/console/sandbox-sign-in", post(sandbox_sign_in::sign_in))
        .route(single_sign_on::START, get(single_sign_on::begin))
        .route(CALLBACK, get(single_sign_on::callback))
        .route("/console/assets/{name}", get(assets::serve))
        .nest("/console/{environment}", environment_pages())
        .fallback(not_found::not_found_here.layer(Extension(Permission::Read)));
    let console = Arc::new(console);
    pages
        .layer(from_fn_with_state(Arc::clone(&console), frame_error))
        .layer(from_fn_with_state(Arc::clone(&console), renew_session))
        .layer(from_fn(protect))
        .with_state(console)
}

/// A session that is used does not end for lack of use. Pages alone count: an asset that is cached says nothing.
async fn renew_session(State(console): State<SharedConsole>, request: Request, next: Next) -> Response {
    // What a page asks for by itself says nothing of anybody being there.
    let is_refresh = request.headers().contains_key(REFRESH);
    let session = session_of(request.headers(), &console).filter(|_| !is_refresh);
    let visited = environment_in(request.uri().path()).filter(|_| !is_refresh);
    let visited = visited.and_then(|environment| console.sessions.visited(request.headers(), environment));
    let mut response = next.run(request).await;
    let is_shown = response.status() == StatusCode::OK;
    let headers = response.headers_mut();
    let visited = visited.filter(|_| is_shown).and_then(|cookie| HeaderValue::try_from(cookie).ok());
    if headers.contains_key(header::SET_COOKIE) || headers.contains_key(header::CACHE_CONTROL) {
        return response;
    }
    let now = console.engine.clock().now();
    let renewed = session.and_then(|session| console.sessions.renewed(&session, now));
    let renewed = renewed.and_then(|cookie| HeaderValue::try_from(cookie).ok());
    for cookie in renewed.into_iter().chain(visited) {
        headers.append(header::SET_COOKIE, cookie);
    }
    response
}

/// Puts the menu around the page of an error, for whoever is signed in.
async fn frame_error(State(console): State<SharedConsole>, request: Request, next: Next) -> Response {
    let (mut kept, body) = request.into_parts();
    let mut response = next.run(Request::from_parts(kept.clone(), body)).await;
    let Some(shown) = response.extensions_mut().remove::<ShownError>() else { return response };
    kept.extensions.insert(Permission::Read);
    let Ok(signed_in) = SignedIn::from_request_parts(&mut kept, &console).await else { return response };
    let framed = signed_in.service_frame(shown.title, "").await.and_then(|frame| shown.page(frame));
    if let Ok(framed) = framed {
        *response.body_mut() = framed.into_body();
        response.headers_mut().remove(header::CONTENT_LENGTH);
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
