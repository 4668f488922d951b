//! The Square API.

mod body;
mod browser;
mod call;
mod drive;
mod error;
mod link;
mod list;
mod location;
mod order;
mod payment;
mod payments;
mod refund;
mod source;
mod state;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::middleware;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::page::allow_any_origin;
use crate::simulator::Simulator;
use call::{Perform, handle, refuse};
use error::SquareError;

pub(crate) use drive::drive;
pub(crate) use state::SquareState;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;
const DELETE: MethodFilter = MethodFilter::DELETE;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(simulator: Simulator) -> Router {
    let links = "/v2/online-checkout/payment-links";
    Router::new()
        .route("/v2/payments", call(POST, "payments.create", payments::create))
        .route("/v2/payments", call(GET, "payments.list", payments::list))
        .route("/v2/payments/cancel", call(POST, "payments.cancel_by_key", payments::cancel_by_key))
        .route("/v2/payments/{id}", call(GET, "payments.get", payments::retrieve))
        .route("/v2/payments/{id}/complete", call(POST, "payments.complete", payments::complete))
        .route("/v2/payments/{id}/cancel", call(POST, "payments.cancel", payments::cancel))
        .route("/v2/refunds", call(POST, "refunds.create", refund::create))
        .route("/v2/refunds", call(GET, "refunds.list", refund::list))
        .route("/v2/refunds/{id}", call(GET, "refunds.get", refund::retrieve))
        .route(links, call(POST, "payment_links.create", link::create))
        .route(links, call(GET, "payment_links.list", link::list))
        .route(&format!("{links}/{{id}}"), call(GET, "payment_links.get", link::retrieve))
        .route(&format!("{links}/{{id}}"), call(DELETE, "payment_links.delete", link::delete))
        .route("/v2/orders/{id}", call(GET, "orders.get", order::retrieve))
        .route("/v2/locations", call(GET, "locations.list", location::list))
        .route("/v2/locations/{id}", call(GET, "locations.get", location::retrieve))
        .merge(browser::routes())
        .fallback(not_found)
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(simulator)
}

fn call(method: MethodFilter, operation: &'static str, perform: Perform) -> MethodRouter<Simulator> {
    on(method, move |State(simulator): State<Simulator>, id: Option<Path<String>>, request: Request| {
        handle(simulator, operation, id.map(|Path(id)| id), request, perform)
    })
}

async fn not_found() -> Response {
    let detail = "Resource not found.";
    refuse(&SquareError::new(http::StatusCode::NOT_FOUND, "INVALID_REQUEST_ERROR", "NOT_FOUND", detail))
}
