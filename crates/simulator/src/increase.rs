//! The Increase API: ACH transfers and real-time payments.

mod ach;
mod ach_transfers;
mod bank;
mod body;
mod call;
mod directory;
mod drive;
mod error;
mod event;
mod list;
mod returns;
mod rtp;
mod rtp_transfers;
mod settle;
mod simulations;
mod state;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::simulator::Simulator;
use call::{Perform, handle, refuse};
use error::IncreaseError;

pub(crate) use ach::AchTransfer;
pub(crate) use drive::drive;
pub use returns::return_reason;
pub(crate) use rtp::RtpTransfer;
pub(crate) use settle::settle_forever;
pub(crate) use state::IncreaseState;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(simulator: Simulator) -> Router {
    let (ach, rtp) = ("/ach_transfers", "/real_time_payments_transfers");
    let one = |kind: &str, step: &str| format!("{kind}/{{id}}{step}");
    let simulated = |kind: &str, step: &str| format!("/simulations{kind}/{{id}}/{step}");
    Router::new()
        .route(ach, call(POST, "ach_transfers.create", ach_transfers::create))
        .route(ach, call(GET, "ach_transfers.list", ach_transfers::list))
        .route(&one(ach, ""), call(GET, "ach_transfers.retrieve", ach_transfers::retrieve))
        .route(&one(ach, "/approve"), call(POST, "ach_transfers.approve", ach_transfers::approve))
        .route(&one(ach, "/cancel"), call(POST, "ach_transfers.cancel", ach_transfers::cancel))
        .route(rtp, call(POST, "real_time_payments_transfers.create", rtp_transfers::create))
        .route(rtp, call(GET, "real_time_payments_transfers.list", rtp_transfers::list))
        .route(&one(rtp, ""), call(GET, "real_time_payments_transfers.retrieve", rtp_transfers::retrieve))
        .route(
            &one(rtp, "/approve"),
            call(POST, "real_time_payments_transfers.approve", rtp_transfers::approve),
        )
        .route(&one(rtp, "/cancel"), call(POST, "real_time_payments_transfers.cancel", rtp_transfers::cancel))
        .route("/routing_numbers", call(GET, "routing_numbers.list", directory::routing_numbers))
        .route("/accounts/{id}", call(GET, "accounts.retrieve", directory::account))
        .route("/accounts/{id}/balance", call(GET, "accounts.balance", directory::balance))
        .route("/account_numbers/{id}", call(GET, "account_numbers.retrieve", directory::account_number))
        .route("/events", call(GET, "events.list", event::list))
        .route("/events/{id}", call(GET, "events.retrieve", event::retrieve))
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
        .with_state(simulator)
}

fn call(method: MethodFilter, operation: &'static str, perform: Perform) -> MethodRouter<Simulator> {
    on(method, move |State(simulator): State<Simulator>, id: Option<Path<String>>, request: Request| {
        handle(simulator, operation, id.map(|Path(id)| id), request, perform)
    })
}

async fn not_found() -> Response {
    refuse(&IncreaseError::new("api_method_not_found_error", "Unknown API method."))
}
