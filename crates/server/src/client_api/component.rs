//! `POST /client/v1/payments/component`: an embedded card component.

use axum::body::Body;
use tollgate_domain::Flow;

use crate::{
    client_api::{caller::Preparer, payments},
    response::respond::ApiResult,
};

pub(crate) async fn prepare(Preparer(caller): Preparer, body: Body) -> ApiResult {
    payments::prepare_flow(caller, body, Flow::PaymentComponent).await
}
