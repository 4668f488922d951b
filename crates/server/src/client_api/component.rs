//! `POST /client/v1/payments/component`: an embedded card component.

use tollgate_domain::Flow;

use crate::{client_api::payments, prelude::*};

pub(crate) async fn prepare(Preparer(caller): Preparer, body: Body) -> ApiResult {
    payments::prepare_flow(caller, body, Flow::PaymentComponent).await
}
