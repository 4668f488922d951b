//! The Stripe API.

mod account;
mod amount;
mod attempt;
mod browser;
mod call;
mod charges;
mod confirmation_tokens;
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
mod refunds;
mod sessions;
mod state;
mod surcharge;
mod versions;
mod webhook_endpoints;

use crate::call_handler::{DELETE, GET, POST, Route, refuse, router as routes};
use crate::page::allow_any_origin;
use axum::middleware;
use prelude::*;

mod prelude {
    pub(super) use super::amount::{check_amount, money};
    pub(super) use super::attempt::attempt;
    pub(super) use super::call::{Call, Stripe};
    pub(super) use super::charges::Charge;
    pub(super) use super::error::{Answer, Error};
    pub(super) use super::form::Params;
    pub(super) use super::intents::Intent;
    pub(super) use super::keys::Permissions;
    pub(super) use super::method_types::Timing;
    pub(super) use super::methods::Method;
    pub(super) use super::sessions::Session;
    pub(super) use super::state::{Context, State};
    pub(super) use super::{confirmation_tokens, disputes, list, method_types, methods, versions};
    pub(super) use crate::card::{Behavior, Card, Funding, Reason};
    pub(super) use crate::page::{amount_text, item_texts};
    pub(super) use crate::prelude::*;
}

pub(crate) use call::Stripe;
pub(crate) use drive::drive;

const ROUTES: [Route<Stripe>; 36] = [
    (POST, "/v1/payment_intents", "payment_intents.create", intents::create),
    (GET, "/v1/payment_intents", "payment_intents.list", intents::list),
    (POST, "/v1/payment_intents/{id}", "payment_intents.update", intents::update),
    (GET, "/v1/payment_intents/{id}", "payment_intents.retrieve", intents::retrieve),
    (POST, "/v1/payment_intents/{id}/confirm", "payment_intents.confirm", intents::confirm),
    (POST, "/v1/payment_intents/{id}/cancel", "payment_intents.cancel", intents::cancel),
    (POST, "/v1/payment_intents/{id}/capture", "payment_intents.capture", intents::capture),
    (GET, "/v1/accounts/{id}", "accounts.retrieve", account::retrieve_by_id),
    (POST, "/v1/payment_method_domains", "payment_method_domains.create", domains::create),
    (GET, "/v1/payment_method_domains", "payment_method_domains.list", domains::list),
    (GET, "/v1/payment_method_domains/{id}", "payment_method_domains.retrieve", domains::retrieve),
    (POST, "/v1/payment_method_domains/{id}/validate", "payment_method_domains.validate", domains::retrieve),
    (POST, "/v1/payment_methods", "payment_methods.create", methods::create),
    (POST, "/v1/confirmation_tokens", "confirmation_tokens.create", confirmation_tokens::create),
    (GET, "/v1/confirmation_tokens/{id}", "confirmation_tokens.retrieve", confirmation_tokens::retrieve),
    (
        POST,
        "/v1/test_helpers/confirmation_tokens",
        "test_helpers.confirmation_tokens.create",
        confirmation_tokens::create,
    ),
    (POST, "/v1/checkout/sessions", "checkout.sessions.create", sessions::create),
    (GET, "/v1/checkout/sessions", "checkout.sessions.list", sessions::list),
    (GET, "/v1/checkout/sessions/{id}", "checkout.sessions.retrieve", sessions::retrieve),
    (POST, "/v1/checkout/sessions/{id}/expire", "checkout.sessions.expire", sessions::expire),
    (POST, "/v1/refunds", "refunds.create", refunds::create),
    (GET, "/v1/refunds", "refunds.list", refunds::list),
    (GET, "/v1/refunds/{id}", "refunds.retrieve", refunds::retrieve),
    (GET, "/v1/charges", "charges.list", charges::list),
    (GET, "/v1/charges/{id}", "charges.retrieve", charges::retrieve),
    (GET, "/v1/disputes", "disputes.list", disputes::list),
    (GET, "/v1/disputes/{id}", "disputes.retrieve", disputes::retrieve),
    (GET, "/v1/events", "events.list", events::list),
    (GET, "/v1/events/{id}", "events.retrieve", events::retrieve),
    (GET, "/v1/account", "account.retrieve", account::retrieve),
    (GET, "/v1/balance", "balance.retrieve", account::balance),
    (POST, "/v1/webhook_endpoints", "webhook_endpoints.create", webhook_endpoints::create),
    (GET, "/v1/webhook_endpoints", "webhook_endpoints.list", webhook_endpoints::list),
    (GET, "/v1/webhook_endpoints/{id}", "webhook_endpoints.retrieve", webhook_endpoints::retrieve),
    (POST, "/v1/webhook_endpoints/{id}", "webhook_endpoints.update", webhook_endpoints::update),
    (DELETE, "/v1/webhook_endpoints/{id}", "webhook_endpoints.delete", webhook_endpoints::delete),
];

pub(crate) fn router(api: Api<Stripe>) -> Router {
    routes(&ROUTES)
        .merge(browser::routes())
        .fallback(unrecognized)
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(api)
}

async fn unrecognized(request: Request) -> Response {
    let message = format!("Unrecognized request URL ({}: {}).", request.method(), request.uri().path());
    refuse(&Error { status: http::StatusCode::NOT_FOUND, ..Error::invalid(message) })
}
