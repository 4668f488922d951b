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
mod instant_transfers;
mod list;
mod returns;
mod settle;
mod simulations;
mod state;
mod transfers;

use crate::call_handler::{GET, PATCH, POST, Route, refuse, router as routes};
use prelude::*;

mod prelude {
    pub(super) use super::body::{Fields, Letters};
    pub(super) use super::call::Call;
    pub(super) use super::directory::check_account_number;
    pub(super) use super::error::{Answer, Error};
    pub(super) use super::list::Known;
    pub(super) use super::state::{Context, State};
    pub(super) use super::transfers::{
        ACH, FEDNOW, NewTransfer, RTP, Rail, Transfer, accept, destination, rail_of,
    };
    pub(super) use super::{bank, list};
    pub(super) use crate::json::Packed;
    pub(super) use crate::prelude::*;
}

pub(crate) use call::Increase;
pub(crate) use drive::drive;
pub use returns::return_reason;
pub(crate) use transfers::Transfer;

#[rustfmt::skip]
const ROUTES: [Route<Increase>; 31] = [
    (POST, "/ach_transfers", "ach_transfers.create", ach_transfers::create),
    (GET, "/ach_transfers", "ach_transfers.list", transfers::list),
    (GET, "/ach_transfers/{id}", "ach_transfers.retrieve", transfers::retrieve),
    (POST, "/ach_transfers/{id}/approve", "ach_transfers.approve", transfers::approve),
    (POST, "/ach_transfers/{id}/cancel", "ach_transfers.cancel", transfers::cancel),
    (POST, "/real_time_payments_transfers", "real_time_payments_transfers.create", instant_transfers::create_rtp),
    (GET, "/real_time_payments_transfers", "real_time_payments_transfers.list", transfers::list),
    (GET, "/real_time_payments_transfers/{id}", "real_time_payments_transfers.retrieve", transfers::retrieve),
    (POST, "/real_time_payments_transfers/{id}/approve", "real_time_payments_transfers.approve", transfers::approve),
    (POST, "/real_time_payments_transfers/{id}/cancel", "real_time_payments_transfers.cancel", transfers::cancel),
    (POST, "/fednow_transfers", "fednow_transfers.create", instant_transfers::create_fednow),
    (GET, "/fednow_transfers", "fednow_transfers.list", transfers::list),
    (GET, "/fednow_transfers/{id}", "fednow_transfers.retrieve", transfers::retrieve),
    (POST, "/fednow_transfers/{id}/approve", "fednow_transfers.approve", transfers::approve),
    (POST, "/fednow_transfers/{id}/cancel", "fednow_transfers.cancel", transfers::cancel),
    (GET, "/routing_numbers", "routing_numbers.list", directory::routing_numbers),
    (GET, "/accounts/{id}", "accounts.retrieve", directory::account),
    (GET, "/accounts/{id}/balance", "accounts.balance", directory::balance),
    (GET, "/account_numbers/{id}", "account_numbers.retrieve", directory::account_number),
    (GET, "/event_subscriptions", "event_subscriptions.list", event_subscriptions::list),
    (POST, "/event_subscriptions", "event_subscriptions.create", event_subscriptions::create),
    (GET, "/event_subscriptions/{id}", "event_subscriptions.retrieve", event_subscriptions::retrieve),
    (PATCH, "/event_subscriptions/{id}", "event_subscriptions.update", event_subscriptions::update),
    (GET, "/events", "events.list", events::list),
    (GET, "/events/{id}", "events.retrieve", events::retrieve),
    (POST, "/simulations/ach_transfers/{id}/submit", "simulations.ach_transfers.submit", simulations::submit_ach),
    (POST, "/simulations/ach_transfers/{id}/acknowledge", "simulations.ach_transfers.acknowledge", simulations::acknowledge_ach),
    (POST, "/simulations/ach_transfers/{id}/settle", "simulations.ach_transfers.settle", simulations::settle_ach),
    (POST, "/simulations/ach_transfers/{id}/return", "simulations.ach_transfers.return", simulations::return_ach),
    (POST, "/simulations/ach_transfers/{id}/create_notification_of_change", "simulations.ach_transfers.create_notification_of_change", simulations::correct_ach),
    (POST, "/simulations/real_time_payments_transfers/{id}/complete", "simulations.real_time_payments_transfers.complete", simulations::complete_rtp),
];

pub(crate) fn router(api: Api<Increase>) -> Router {
    routes(&ROUTES).fallback(not_found).method_not_allowed_fallback(not_found).with_state(api)
}

async fn not_found() -> Response {
    refuse(&Error::new("api_method_not_found_error", "Unknown API method."))
}
