//! The Square API.

mod body;
mod browser;
mod call;
mod charge;
mod disputes;
mod drive;
mod error;
mod links;
mod list;
mod location;
mod objects;
mod orders;
mod payments;
mod refunds;
mod source;
mod state;
mod subscriptions;

use axum::Router;
use axum::middleware;
use axum::response::Response;
use axum::routing::MethodFilter;

use crate::api::Api;
use crate::call_handler::{endpoint, refuse};
use crate::page::allow_any_origin;
use error::SquareError;

pub(crate) use call::Square;
pub(crate) use drive::drive;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;
const PUT: MethodFilter = MethodFilter::PUT;
const DELETE: MethodFilter = MethodFilter::DELETE;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(api: Api<Square>) -> Router {
    let call = endpoint::<Square>;
    let links = "/v2/online-checkout/payment-links";
    let subscriptions = "/v2/webhooks/subscriptions";
    let subscription = "/v2/webhooks/subscriptions/{id}";
    Router::new()
        .route("/v2/payments", call(POST, "payments.create", payments::create))
        .route("/v2/payments", call(GET, "payments.list", payments::list))
        .route("/v2/payments/cancel", call(POST, "payments.cancel_by_key", payments::cancel_by_key))
        .route("/v2/payments/{id}", call(GET, "payments.get", payments::retrieve))
        .route("/v2/payments/{id}", call(PUT, "payments.update", payments::update))
        .route("/v2/payments/{id}/complete", call(POST, "payments.complete", payments::complete))
        .route("/v2/payments/{id}/cancel", call(POST, "payments.cancel", payments::cancel))
        .route("/v2/refunds", call(POST, "refunds.create", refunds::create))
        .route("/v2/refunds", call(GET, "refunds.list", refunds::list))
        .route("/v2/refunds/{id}", call(GET, "refunds.get", refunds::retrieve))
        .route("/v2/disputes", call(GET, "disputes.list", disputes::list))
        .route("/v2/disputes/{id}", call(GET, "disputes.get", disputes::retrieve))
        .route(links, call(POST, "payment_links.create", links::create))
        .route(links, call(GET, "payment_links.list", links::list))
        .route(&format!("{links}/{{id}}"), call(GET, "payment_links.get", links::retrieve))
        .route(&format!("{links}/{{id}}"), call(DELETE, "payment_links.delete", links::delete))
        .route("/v2/orders/{id}", call(GET, "orders.get", orders::retrieve))
        .route("/v2/locations", call(GET, "locations.list", location::list))
        .route("/v2/locations/{id}", call(GET, "locations.get", location::retrieve))
        .route(subscriptions, call(GET, "webhook_subscriptions.list", subscriptions::list))
        .route(subscriptions, call(POST, "webhook_subscriptions.create", subscriptions::create))
        .route(subscription, call(GET, "webhook_subscriptions.get", subscriptions::retrieve))
        .route(subscription, call(PUT, "webhook_subscriptions.update", subscriptions::update))
        .route(subscription, call(DELETE, "webhook_subscriptions.delete", subscriptions::delete))
        .merge(browser::routes())
        .fallback(not_found)
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(api)
}

async fn not_found() -> Response {
    let detail = "Resource not found.";
    refuse(&SquareError::new(http::StatusCode::NOT_FOUND, "INVALID_REQUEST_ERROR", "NOT_FOUND", detail))
}
