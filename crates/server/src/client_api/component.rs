//! `POST /client/v1/payments/component`: an embedded card component.

use axum::body::Body;
use tollgate_domain::Flow;

use crate::{
    answer::Answer,
    client_api::{caller::Preparer, payments},
};

pub(crate) async fn prepare(Preparer(caller): Preparer, body: Body) -> Answer {
    payments::prepare_flow(caller, body, Flow::PaymentComponent).await
}
