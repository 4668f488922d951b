//! The Modern Treasury API: payment orders by ACH and RTP.

mod body;
mod call;
mod directory;
mod drive;
mod error;
mod objects;
mod orders;
mod reversals;
mod settle;
mod state;

use axum::Router;
use axum::response::Response;
use axum::routing::MethodFilter;

use crate::api::Api;
use crate::call_handler::{endpoint, refuse};
use error::ModernTreasuryError;

pub(crate) use call::ModernTreasury;
pub(crate) use drive::drive;
pub(crate) use settle::settle_forever;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;
const PATCH: MethodFilter = MethodFilter::PATCH;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(api: Api<ModernTreasury>) -> Router {
    let call = endpoint::<ModernTreasury>;
    let (orders, order) = ("/api/payment_orders", "/api/payment_orders/{id}");
    let reversals = "/api/payment_orders/{id}/reversals";
    Router::new()
        .route("/api/ping", call(GET, "ping", directory::ping))
        .route(orders, call(POST, "payment_orders.create", orders::create))
        .route(orders, call(GET, "payment_orders.list", orders::list))
        .route(order, call(GET, "payment_orders.retrieve", orders::retrieve))
        .route(order, call(PATCH, "payment_orders.update", orders::update))
        .route(reversals, call(POST, "reversals.create", reversals::create))
        .route(reversals, call(GET, "reversals.list", reversals::list))
        .route("/api/returns", call(GET, "returns.list", reversals::list_returns))
        .route("/api/returns/{id}", call(GET, "returns.retrieve", reversals::retrieve_return))
        .route("/api/internal_accounts/{id}", call(GET, "internal_accounts.retrieve", directory::account))
        .route(
            "/api/validations/routing_numbers",
            call(GET, "validations.routing_numbers", directory::routing_number),
        )
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .with_state(api)
}

async fn not_found() -> Response {
    refuse(&ModernTreasuryError::new("not_found", "There is nothing at this address."))
}
