//! `POST /admin/v1/environments/<id>/transactions/<reference>/refunds`: an operator refunds a payment.

use tollgate_domain::ServiceReference;

use crate::{
    client_api::refunds::{self, RefundBody},
    prelude::*,
    response::refund::RefundCreatedResponse,
};

pub(crate) async fn create(
    operator: Operator,
    body: JsonBody<RefundBody>,
) -> CreatedOnce<RefundCreatedResponse> {
    let body = body.bytes(&operator.headers).await?;
    let environment = operator.known_environment()?;
    let reference: ServiceReference = operator.path("reference")?;
    let origin = operator.origin.clone();
    let request = refunds::read_body(Form::new(&operator, &body), Some(origin.clone()))?;
    let engine = Arc::clone(&operator.app.engine);
    let view =
        engine.directory().snapshot().environment(environment).map(Arc::clone).ok_or_else(not_found_here)?;
    let refunding = async move { Box::pin(engine.refund(&view, reference, request, &origin.request)).await };
    refunds::answer(run_to_completion(&operator.app.engine, refunding).await??)
}
