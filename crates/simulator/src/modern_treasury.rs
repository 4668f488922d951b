//! The Modern Treasury API: payment orders by ACH and RTP.

mod body;
mod call;
mod directory;
mod drive;
mod error;
mod orders;
mod reversals;
mod settle;
mod state;

use crate::call_handler::{GET, PATCH, POST, Route, refuse, router as routes};
use prelude::*;

mod prelude {
    pub(super) use super::body::Fields;
    pub(super) use super::call::Call;
    pub(super) use super::error::{Answer, Error};
    pub(super) use super::orders::PaymentOrder;
    pub(super) use super::reversals::record_return;
    pub(super) use super::state::{Context, State};
    pub(super) use crate::due::Due;
    pub(super) use crate::prelude::*;
}

pub(crate) use call::ModernTreasury;
pub(crate) use drive::drive;
pub(crate) use orders::PaymentOrder;

const ROUTES: [Route<ModernTreasury>; 11] = [
    (GET, "/api/ping", "ping", directory::ping),
    (POST, "/api/payment_orders", "payment_orders.create", orders::create),
    (GET, "/api/payment_orders", "payment_orders.list", orders::list),
    (GET, "/api/payment_orders/{id}", "payment_orders.retrieve", orders::retrieve),
    (PATCH, "/api/payment_orders/{id}", "payment_orders.update", orders::update),
    (POST, "/api/payment_orders/{id}/reversals", "reversals.create", reversals::create),
    (GET, "/api/payment_orders/{id}/reversals", "reversals.list", reversals::list),
    (GET, "/api/returns", "returns.list", reversals::list_returns),
    (GET, "/api/returns/{id}", "returns.retrieve", reversals::retrieve_return),
    (GET, "/api/internal_accounts/{id}", "internal_accounts.retrieve", directory::account),
    (GET, "/api/validations/routing_numbers", "validations.routing_numbers", directory::routing_number),
];

pub(crate) fn router(api: Api<ModernTreasury>) -> Router {
    routes(&ROUTES).fallback(not_found).method_not_allowed_fallback(not_found).with_state(api)
}

async fn not_found() -> Response {
    refuse(&Error::new("not_found", "There is nothing at this address."))
}
