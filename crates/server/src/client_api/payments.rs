//! `POST /client/v1/payments`: a hosted checkout. `GET /client/v1/payments/<reference>`: a preparation read back.

use tollgate_domain::{Flow, ServiceReference};
use tollgate_engine::ReadError;

use crate::{
    client_api::prepare_body::{self, PrepareBody},
    prelude::*,
    response::{
        payment as payment_response,
        payment::{PaymentReadResponse, PaymentResponse},
    },
};

/// A hosted checkout.
pub(crate) async fn prepare(
    Preparer(caller): Preparer,
    body: JsonBody<PrepareBody<'static>>,
) -> CreatedOnce<PaymentResponse<'static>> {
    prepare_flow(caller, body.0, Flow::HostedCheckout).await
}

/// Both flows are prepared alike; only their answers differ.
pub(crate) async fn prepare_flow(
    caller: Caller,
    body: Body,
    flow: Flow,
) -> CreatedOnce<PaymentResponse<'static>> {
    let body = body::read_json(&caller.headers, body, body::CLIENT_LIMIT).await?;
    let request =
        prepare_body::read(&body, &caller.headers, flow, caller.kind, &caller.view.configuration.settings)?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let preparing = async move { Box::pin(engine.prepare(&caller.view, request, &caller.request)).await };
    let prepared = run_to_completion(&app.engine, preparing).await??;
    call_notes::reference(&prepared.payment.order.id);
    let response = payment_response::prepared(&prepared);
    respond::created_once(&response, prepared.replayed)
}

pub(crate) async fn read(Backend(caller): Backend) -> Done<PaymentReadResponse<'static>> {
    let reference: ServiceReference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let ServiceReference::Card(id) = reference else { return Err(no_such_payment()) };
    let payment = caller.app.engine.payment(caller.view.environment.id, id).await;
    respond::ok(&payment_response::read_back(&payment.map_err(from_read_error)?))
}

/// A reference of another environment looks like one that never was.
pub(crate) fn no_such_payment() -> ApiError {
    ApiError::not_found("No payment with this serviceReference in this key's environment.")
}

pub(crate) fn from_read_error(error: ReadError) -> ApiError {
    match error {
        ReadError::Missing => no_such_payment(),
        ReadError::Store(error) => error.into(),
    }
}
