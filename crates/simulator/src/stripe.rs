//! The Stripe API.

mod attempt;
mod browser;
mod call;
mod charge;
mod dispute;
mod drive;
mod error;
mod event;
mod form;
mod intent;
mod intents;
mod list;
mod method;
mod refund;
mod session;
mod state;

use axum::extract::{Path, Request, State};
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Router, response::Response};

use crate::page::allow_any_origin;
use crate::simulator::Simulator;
use call::{Call, Perform, handle, refuse};
use error::StripeError;
use state::StripeState as Stripe;

pub(crate) use drive::drive;
pub(crate) use session::expire_sessions_forever;
pub(crate) use state::StripeState;

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;

/// Every route of the provider, relative to its base address.
pub(crate) fn router(simulator: Simulator) -> Router {
    let intent = "/v1/payment_intents/{id}";
    Router::new()
        .route("/v1/payment_intents", call(POST, "payment_intents.create", intents::create))
        .route("/v1/payment_intents", call(GET, "payment_intents.list", intents::list))
        .route(intent, call(POST, "payment_intents.update", intents::update))
        .route(intent, call(GET, "payment_intents.retrieve", intents::retrieve))
        .route(&format!("{intent}/confirm"), call(POST, "payment_intents.confirm", intents::confirm))
        .route(&format!("{intent}/cancel"), call(POST, "payment_intents.cancel", intents::cancel))
        .route(&format!("{intent}/capture"), call(POST, "payment_intents.capture", intents::capture))
        .route("/v1/payment_methods", call(POST, "payment_methods.create", create_method))
        .route("/v1/checkout/sessions", call(POST, "checkout.sessions.create", session::create))
        .route("/v1/checkout/sessions", call(GET, "checkout.sessions.list", session::list))
        .route("/v1/checkout/sessions/{id}", call(GET, "checkout.sessions.retrieve", session::retrieve))
        .route("/v1/checkout/sessions/{id}/expire", call(POST, "checkout.sessions.expire", session::expire))
        .route("/v1/refunds", call(POST, "refunds.create", refund::create))
        .route("/v1/refunds", call(GET, "refunds.list", refund::list))
        .route("/v1/refunds/{id}", call(GET, "refunds.retrieve", refund::retrieve))
        .route("/v1/charges", call(GET, "charges.list", charge::list))
        .route("/v1/charges/{id}", call(GET, "charges.retrieve", charge::retrieve))
        .route("/v1/disputes", call(GET, "disputes.list", dispute::list))
        .route("/v1/disputes/{id}", call(GET, "disputes.retrieve", dispute::retrieve))
        .route("/v1/events", call(GET, "events.list", event::list))
        .route("/v1/events/{id}", call(GET, "events.retrieve", event::retrieve))
        .merge(browser::routes())
        .fallback(unrecognized)
        .layer(middleware::from_fn(allow_any_origin))
        .with_state(simulator)
}

fn call(method: MethodFilter, operation: &'static str, perform: Perform) -> MethodRouter<Simulator> {
    on(method, move |State(simulator): State<Simulator>, id: Option<Path<String>>, request: Request| {
        handle(simulator, operation, id.map(|Path(id)| id), request, perform)
    })
}

fn create_method(state: &mut Stripe, call: &Call) -> Result<serde_json::Value, StripeError> {
    let params = &call.params;
    params.allow(&[
        "type",
        "card[number]",
        "card[exp_month]",
        "card[exp_year]",
        "card[cvc]",
        "billing_details[**]",
        "metadata[*]",
        "expand[#]",
    ])?;
    Ok(method::read(state, &call.context, params, "")?.json())
}

async fn unrecognized(request: Request) -> Response {
    let message = format!("Unrecognized request URL ({}: {}).", request.method(), request.uri().path());
    refuse(&StripeError { status: http::StatusCode::NOT_FOUND, ..StripeError::invalid(message) })
}
