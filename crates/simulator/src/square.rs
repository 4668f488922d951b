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
mod orders;
mod payments;
mod refunds;
mod source;
mod state;
mod subscriptions;

use crate::call_handler::{DELETE, GET, POST, PUT, Route, refuse, router as routes};
use crate::page::allow_any_origin;
use axum::middleware;
use prelude::*;

mod prelude {
    pub(super) use super::body::{Fields, Money};
    pub(super) use super::call::Call;
    pub(super) use super::charge::{PaymentParams, TEMPORARY, changed};
    pub(super) use super::error::{Answer, Error, mistake_text};
    pub(super) use super::links::Link;
    pub(super) use super::orders::Order;
    pub(super) use super::payments::Payment;
    pub(super) use super::source::bent_by_details;
    pub(super) use super::state::{Context, State, Token};
    pub(super) use super::{disputes, list, orders};
    pub(super) use crate::card::{Behavior, Card, Reason};
    pub(super) use crate::prelude::*;
}

pub(crate) use call::Square;
pub(crate) use drive::drive;

const ROUTES: [Route<Square>; 24] = [
    (POST, "/v2/payments", "payments.create", payments::create),
    (GET, "/v2/payments", "payments.list", payments::list),
    (POST, "/v2/payments/cancel", "payments.cancel_by_key", payments::cancel_by_key),
    (GET, "/v2/payments/{id}", "payments.get", payments::retrieve),
    (PUT, "/v2/payments/{id}", "payments.update", payments::update),
    (POST, "/v2/payments/{id}/complete", "payments.complete", payments::complete),
    (POST, "/v2/payments/{id}/cancel", "payments.cancel", payments::cancel),
    (POST, "/v2/refunds", "refunds.create", refunds::create),
    (GET, "/v2/refunds", "refunds.list", refunds::list),
    (GET, "/v2/refunds/{id}", "refunds.get", refunds::retrieve),
    (GET, "/v2/disputes", "disputes.list", disputes::list),
    (GET, "/v2/disputes/{id}", "disputes.get", disputes::retrieve),
    (POST, "/v2/online-checkout/payment-links", "payment_links.create", links::create),
    (GET, "/v2/online-checkout/payment-links", "payment_links.list", links::list),
    (GET, "/v2/online-checkout/payment-links/{id}", "payment_links.get", links::retrieve),
    (DELETE, "/v2/online-checkout/payment-links/{id}", "payment_links.delete", links::delete),
    (GET, "/v2/orders/{id}", "orders.get", orders::retrieve),
    (GET, "/v2/locations", "locations.list", location::list),
    (GET, "/v2/locations/{id}", "locations.get", location::retrieve),
    (GET, "/v2/webhooks/subscriptions", "webhook_subscriptions.list", subscriptions::list),
    (POST, "/v2/webhooks/subscriptions", "webhook_subscriptions.create", subscriptions::create),
    (GET, "/v2/webhooks/subscriptions/{id}", "webhook_subscriptions.get", subscriptions::retrieve),
    (PUT, "/v2/webhooks/subscriptions/{id}", "webhook_subscriptions.update", subscriptions::update),
    (DELETE, "/v2/webhooks/subscriptions/{id}", "webhook_subscriptions.delete", subscriptions::delete),
];

pub(crate) fn router(api: Api<Square>) -> Router {
    routes(&ROUTES)
        .merge(browser::routes())
        .fallback(not_found)
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(api)
}

async fn not_found() -> Response {
    let detail = "Resource not found.";
    refuse(&Error::new(http::StatusCode::NOT_FOUND, "INVALID_REQUEST_ERROR", "NOT_FOUND", detail))
}
