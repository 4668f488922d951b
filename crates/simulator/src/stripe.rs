//! The Stripe API.

mod account;
mod amount;
mod attempt;
mod browser;
mod call;
mod charges;
mod disputes;
mod domains;
mod drive;
mod error;
mod events;
mod form;
mod intents;
mod keys;
mod list;
mod method_types;
mod methods;
mod objects;
mod refunds;
mod sessions;
mod state;
mod versions;
mod webhook_endpoints;

use axum::extract::Request;
use axum::middleware;
use axum::routing::MethodFilter;
use axum::{Router, response::Response};

use crate::api::Api;
use crate::call_handler::{endpoint, refuse};
use crate::page::allow_any_origin;
use error::StripeError;

pub(crate) use call::Stripe;
pub(crate) use drive::drive;
pub(crate) use sessions::expire_sessions_forever;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;
const DELETE: MethodFilter = MethodFilter::DELETE;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(api: Api<Stripe>) -> Router {
    let call = endpoint::<Stripe>;
    let intent = "/v1/payment_intents/{id}";
    let endpoint = "/v1/webhook_endpoints/{id}";
    let domain = "/v1/payment_method_domains/{id}";
    Router::new()
        .route("/v1/payment_intents", call(POST, "payment_intents.create", intents::create))
        .route("/v1/payment_intents", call(GET, "payment_intents.list", intents::list))
        .route(intent, call(POST, "payment_intents.update", intents::update))
        .route(intent, call(GET, "payment_intents.retrieve", intents::retrieve))
        .route(&format!("{intent}/confirm"), call(POST, "payment_intents.confirm", intents::confirm))
        .route(&format!("{intent}/cancel"), call(POST, "payment_intents.cancel", intents::cancel))
        .route(&format!("{intent}/capture"), call(POST, "payment_intents.capture", intents::capture))
        .route("/v1/accounts/{id}", call(GET, "accounts.retrieve", account::retrieve_by_id))
        .route("/v1/payment_method_domains", call(POST, "payment_method_domains.create", domains::create))
        .route("/v1/payment_method_domains", call(GET, "payment_method_domains.list", domains::list))
        .route(domain, call(GET, "payment_method_domains.retrieve", domains::retrieve))
        .route(
            &format!("{domain}/validate"),
            call(POST, "payment_method_domains.validate", domains::retrieve),
        )
        .route("/v1/payment_methods", call(POST, "payment_methods.create", methods::create))
        .route("/v1/checkout/sessions", call(POST, "checkout.sessions.create", sessions::create))
        .route("/v1/checkout/sessions", call(GET, "checkout.sessions.list", sessions::list))
        .route("/v1/checkout/sessions/{id}", call(GET, "checkout.sessions.retrieve", sessions::retrieve))
        .route("/v1/checkout/sessions/{id}/expire", call(POST, "checkout.sessions.expire", sessions::expire))
        .route("/v1/refunds", call(POST, "refunds.create", refunds::create))
        .route("/v1/refunds", call(GET, "refunds.list", refunds::list))
        .route("/v1/refunds/{id}", call(GET, "refunds.retrieve", refunds::retrieve))
        .route("/v1/charges", call(GET, "charges.list", charges::list))
        .route("/v1/charges/{id}", call(GET, "charges.retrieve", charges::retrieve))
        .route("/v1/disputes", call(GET, "disputes.list", disputes::list))
        .route("/v1/disputes/{id}", call(GET, "disputes.retrieve", disputes::retrieve))
        .route("/v1/events", call(GET, "events.list", events::list))
        .route("/v1/events/{id}", call(GET, "events.retrieve", events::retrieve))
        .route("/v1/account", call(GET, "account.retrieve", account::retrieve))
        .route("/v1/balance", call(GET, "balance.retrieve", account::balance))
        .route("/v1/webhook_endpoints", call(POST, "webhook_endpoints.create", webhook_endpoints::create))
        .route("/v1/webhook_endpoints", call(GET, "webhook_endpoints.list", webhook_endpoints::list))
        .route(endpoint, call(GET, "webhook_endpoints.retrieve", webhook_endpoints::retrieve))
        .route(endpoint, call(POST, "webhook_endpoints.update", webhook_endpoints::update))
        .route(endpoint, call(DELETE, "webhook_endpoints.delete", webhook_endpoints::delete))
        .merge(browser::routes())
        .fallback(unrecognized)
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(api)
}

async fn unrecognized(request: Request) -> Response {
    let message = format!("Unrecognized request URL ({}: {}).", request.method(), request.uri().path());
    refuse(&StripeError { status: http::StatusCode::NOT_FOUND, ..StripeError::invalid(message) })
}
