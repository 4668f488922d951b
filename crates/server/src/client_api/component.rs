//! `POST /client/v1/payments/component`: an embedded card component.

use tollgate_domain::Flow;

use crate::{
    client_api::{payments, prepare_body::ComponentBody},
    prelude::*,
    response::payment::PaymentResponse,
};

pub(crate) async fn prepare(
    Preparer(caller): Preparer,
    body: JsonBody<ComponentBody>,
) -> CreatedOnce<PaymentResponse<'static>> {
    payments::prepare_flow(caller, body.0, Flow::PaymentComponent).await
}
