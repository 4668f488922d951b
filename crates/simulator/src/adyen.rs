//! The Adyen API: Checkout, and what of the Management API sets it up.
//!
//! No call reads a payment. Captures, cancels and refunds are answered `received`, and a webhook says what became of them.

mod body;
mod browser;
mod call;
mod drive;
mod error;
mod management;
mod modifications;
mod offers;
mod payments;
mod state;

use crate::call_handler::{DELETE, GET, PATCH, POST, Route, refuse, router as routes};
use crate::page::allow_any_origin;
use axum::{middleware, routing::post};
use prelude::*;

mod prelude {
    pub(super) use super::body::{Fields, Terms};
    pub(super) use super::call::{Adyen, Call};
    pub(super) use super::error::{Answer, Error};
    pub(super) use super::offers::Offer;
    pub(super) use super::payments::Payment;
    pub(super) use super::state::{Context, DAY, State, notification, time};
    pub(super) use crate::json::{Packed, merged};
    pub(super) use crate::prelude::*;
}

pub(crate) use call::Adyen;
pub(crate) use drive::drive;

const ROUTES: [Route<Adyen>; 25] = [
    (POST, "/v72/sessions", "sessions.create", offers::create),
    (GET, "/v72/sessions/{id}", "sessions.result", offers::result),
    (POST, "/v72/paymentLinks", "payment_links.create", offers::create),
    (GET, "/v72/paymentLinks/{id}", "payment_links.get", offers::retrieve_link),
    (PATCH, "/v72/paymentLinks/{id}", "payment_links.update", offers::expire_link),
    (POST, "/v72/paymentMethods", "payment_methods.list", payments::methods),
    (POST, "/v72/payments", "payments.create", payments::create),
    (POST, "/v72/payments/details", "payments.details", payments::details),
    (POST, "/v72/payments/{id}/captures", "captures.create", modifications::create),
    (POST, "/v72/payments/{id}/cancels", "cancels.create", modifications::create),
    (POST, "/v72/payments/{id}/refunds", "refunds.create", modifications::create),
    (POST, "/v72/payments/{id}/reversals", "reversals.create", modifications::create),
    (POST, "/v72/cancels", "cancels.by_reference", modifications::cancel_by_reference),
    (GET, "/v3/me", "me.get", management::me),
    (GET, "/v3/me/allowedOrigins", "allowed_origins.list", management::list_origins),
    (POST, "/v3/me/allowedOrigins", "allowed_origins.create", management::add_origin),
    (DELETE, "/v3/me/allowedOrigins/{id}", "allowed_origins.delete", management::remove_origin),
    (GET, "/v3/merchants/{id}", "merchants.get", management::merchant),
    (GET, "/v3/merchants/{of}/webhooks", "webhooks.list", management::list_webhooks),
    (POST, "/v3/merchants/{of}/webhooks", "webhooks.create", management::add_webhook),
    (GET, "/v3/merchants/{of}/webhooks/{id}", "webhooks.get", management::webhook),
    (PATCH, "/v3/merchants/{of}/webhooks/{id}", "webhooks.update", management::change_webhook),
    (DELETE, "/v3/merchants/{of}/webhooks/{id}", "webhooks.delete", management::remove_webhook),
    (POST, "/v3/merchants/{of}/webhooks/{id}/generateHmac", "webhooks.generate_hmac", management::new_key),
    (
        POST,
        "/v3/merchants/{of}/paymentMethodSettings/{id}/addApplePayDomains",
        "apple_pay_domains.add",
        management::add_apple_pay_domains,
    ),
];

pub(crate) fn router(api: Api<Adyen>) -> Router {
    routes(&ROUTES)
        .merge(browser::routes())
        .route("/v3/merchants/{of}/webhooks/{id}/test", post(management::test_webhook))
        .fallback(async || refuse(&Error::plain(StatusCode::NOT_FOUND, "Not Found")))
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(api)
}
