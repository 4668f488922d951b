//! What operators do to payments, as the client API does it: capture, void, refund.

use tollgate_domain::{ServiceReference, hold::HoldActionKind};

use crate::{
    client_api::{
        confirm::ConfirmResponse,
        holds::{self, CaptureBody, VoidBody},
        refunds::{self, RefundBody},
    },
    prelude::*,
    response::refund::RefundCreatedResponse,
};

pub(crate) async fn capture(operator: Operator, body: JsonBody<CaptureBody>) -> DoneOnce<ConfirmResponse> {
    change(operator, body.0, HoldActionKind::Capture).await
}

pub(crate) async fn void(operator: Operator, body: JsonBody<VoidBody>) -> DoneOnce<ConfirmResponse> {
    change(operator, body.0, HoldActionKind::Void).await
}

async fn change(operator: Operator, body: Body, kind: HoldActionKind) -> DoneOnce<ConfirmResponse> {
    let body = body::read_json(&operator.headers, body, body::CLIENT_LIMIT).await?;
    let environment = operator.known_environment()?;
    let reference: ServiceReference = operator.path("reference")?;
    let origin = operator.origin.clone();
    let request = holds::read_body(Form::new(&operator, &body), kind, Some(origin.clone()))?;
    let engine = Arc::clone(&operator.app.engine);
    let view =
        engine.directory().snapshot().environment(environment).map(Arc::clone).ok_or_else(not_found_here)?;
    let changing =
        async move { Box::pin(engine.change_hold(&view, reference, request, &origin.request)).await };
    holds::answer(run_to_completion(&operator.app.engine, changing).await??)
}

pub(crate) async fn refund(
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
