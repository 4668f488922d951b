//! The Increase API: ACH transfers, real-time payments and payments by FedNow.

mod ach_transfers;
mod bank;
mod body;
mod call;
mod directory;
mod drive;
mod error;
mod event_subscriptions;
mod events;
mod fednow_transfers;
mod list;
mod objects;
mod returns;
mod rtp_transfers;
mod settle;
mod simulations;
mod state;
mod transfers;

use axum::Router;
use axum::response::Response;
use axum::routing::MethodFilter;

use crate::api::Api;
use crate::call_handler::{endpoint, refuse};
use error::IncreaseError;
use objects::{Ach, FedNow, Rtp};

pub(crate) use call::Increase;
pub(crate) use drive::drive;
pub use returns::return_reason;
pub(crate) use settle::settle_forever;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;
const PATCH: MethodFilter = MethodFilter::PATCH;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(api: Api<Increase>) -> Router {
    let call = endpoint::<Increase>;
    let (ach, rtp) = ("/ach_transfers", "/real_time_payments_transfers");
    let fednow = "/fednow_transfers";
    let subscriptions = "/event_subscriptions";
    let one = |kind: &str, step: &str| format!("{kind}/{{id}}{step}");
    let simulated = |kind: &str, step: &str| format!("/simulations{kind}/{{id}}/{step}");
    Router::new()
        .route(ach, call(POST, "ach_transfers.create", ach_transfers::create))
        .route(ach, call(GET, "ach_transfers.list", transfers::list::<Ach>))
        .route(&one(ach, ""), call(GET, "ach_transfers.retrieve", transfers::retrieve::<Ach>))
        .route(&one(ach, "/approve"), call(POST, "ach_transfers.approve", transfers::approve::<Ach>))
        .route(&one(ach, "/cancel"), call(POST, "ach_transfers.cancel", transfers::cancel::<Ach>))
        .route(rtp, call(POST, "real_time_payments_transfers.create", rtp_transfers::create))
        .route(rtp, call(GET, "real_time_payments_transfers.list", transfers::list::<Rtp>))
        .route(&one(rtp, ""), call(GET, "real_time_payments_transfers.retrieve", transfers::retrieve::<Rtp>))
        .route(
            &one(rtp, "/approve"),
            call(POST, "real_time_payments_transfers.approve", transfers::approve::<Rtp>),
        )
        .route(
            &one(rtp, "/cancel"),
            call(POST, "real_time_payments_transfers.cancel", transfers::cancel::<Rtp>),
        )
        .route(fednow, call(POST, "fednow_transfers.create", fednow_transfers::create))
        .route(fednow, call(GET, "fednow_transfers.list", transfers::list::<FedNow>))
        .route(&one(fednow, ""), call(GET, "fednow_transfers.retrieve", transfers::retrieve::<FedNow>))
        .route(&one(fednow, "/approve"), call(POST, "fednow_transfers.approve", transfers::approve::<FedNow>))
        .route(&one(fednow, "/cancel"), call(POST, "fednow_transfers.cancel", transfers::cancel::<FedNow>))
        .route("/routing_numbers", call(GET, "routing_numbers.list", directory::routing_numbers))
        .route("/accounts/{id}", call(GET, "accounts.retrieve", directory::account))
        .route("/accounts/{id}/balance", call(GET, "accounts.balance", directory::balance))
        .route("/account_numbers/{id}", call(GET, "account_numbers.retrieve", directory::account_number))
        .route(subscriptions, call(GET, "event_subscriptions.list", event_subscriptions::list))
        .route(subscriptions, call(POST, "event_subscriptions.create", event_subscriptions::create))
        .route(
            &one(subscriptions, ""),
            call(GET, "event_subscriptions.retrieve", event_subscriptions::retrieve),
        )
        .route(
            &one(subscriptions, ""),
            call(PATCH, "event_subscriptions.update", event_subscriptions::update),
        )
        .route("/events", call(GET, "events.list", events::list))
        .route("/events/{id}", call(GET, "events.retrieve", events::retrieve))
        .route(
            &simulated(ach, "submit"),
            call(POST, "simulations.ach_transfers.submit", simulations::submit_ach),
        )
        .route(
            &simulated(ach, "acknowledge"),
            call(POST, "simulations.ach_transfers.acknowledge", simulations::acknowledge_ach),
        )
        .route(
            &simulated(ach, "settle"),
            call(POST, "simulations.ach_transfers.settle", simulations::settle_ach),
        )
        .route(
            &simulated(ach, "return"),
            call(POST, "simulations.ach_transfers.return", simulations::return_ach),
        )
        .route(
            &simulated(ach, "create_notification_of_change"),
            call(POST, "simulations.ach_transfers.create_notification_of_change", simulations::correct_ach),
        )
        .route(
            &simulated(rtp, "complete"),
            call(POST, "simulations.real_time_payments_transfers.complete", simulations::complete_rtp),
        )
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .with_state(api)
}

async fn not_found() -> Response {
    refuse(&IncreaseError::new("api_method_not_found_error", "Unknown API method."))
}
