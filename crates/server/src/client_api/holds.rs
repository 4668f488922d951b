//! `POST /client/v1/transactions/<reference>/capture` and `/void`: what is held is taken or released.

use std::time::Duration;

use tollgate_domain::hold::HoldActionKind;
use tollgate_engine::{
    HoldChanged, HoldError, HoldRequest, Origin,
    ports::{OrderFault, StoreError},
};

use crate::{
    client_api::{confirm::ConfirmResponse, payments::no_such_payment},
    prelude::*,
    response::transaction::TransactionResponse,
};

requests! {
    CaptureBody as CaptureRequest {
        /// One capture per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative.
        idempotency_key: idempotency_key::KeyText,
        /// The principal to capture; all that was authorized if omitted. What is left is released.
        amount_minor: Option<scalars::AmountInput>,
    }

    VoidBody as VoidRequest {
        /// One void per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative.
        idempotency_key: idempotency_key::KeyText,
    }
}

pub(crate) async fn capture(
    Backend(caller): Backend,
    body: JsonBody<CaptureBody>,
) -> DoneOnce<ConfirmResponse> {
    change(caller, body.0, HoldActionKind::Capture).await
}

pub(crate) async fn void(Backend(caller): Backend, body: JsonBody<VoidBody>) -> DoneOnce<ConfirmResponse> {
    change(caller, body.0, HoldActionKind::Void).await
}

async fn change(caller: Caller, body: Body, kind: HoldActionKind) -> DoneOnce<ConfirmResponse> {
    let body = body::read_json(&caller.headers, body, body::CLIENT_LIMIT).await?;
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let request = read_body(Form::new(&caller, &body), kind, None)?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let changing =
        async move { Box::pin(engine.change_hold(&caller.view, reference, request, &caller.request)).await };
    answer(run_to_completion(&app.engine, changing).await??)
}

pub(crate) fn answer(changed: HoldChanged) -> DoneOnce<ConfirmResponse> {
    let HoldChanged { payment, replayed } = changed;
    let transaction = TransactionResponse::of_payment(&payment)
        .ok_or_else(|| ApiError::internal("a payment that was captured or voided has no transaction"))?;
    respond::done_once(&ConfirmResponse { transaction, replayed }, replayed)
}

/// Reads the body of a capture or void.
pub(crate) fn read_body(
    form: Form<'_>,
    kind: HoldActionKind,
    operator: Option<Origin>,
) -> Result<HoldRequest, ApiError> {
    let (idempotency_key, amount) = match kind {
        HoldActionKind::Capture => {
            let body = CaptureBody::read(form)?;
            (body.idempotency_key, body.amount_minor)
        }
        HoldActionKind::Void => (VoidBody::read(form)?.idempotency_key, None),
    };
    Ok(HoldRequest { kind, idempotency_key, amount, operator })
}

impl From<HoldError> for ApiError {
    fn from(error: HoldError) -> Self {
        let again = |error: Self, replayed: bool| if replayed { error.replayed() } else { error };
        match error {
            HoldError::Missing => no_such_payment(),
            HoldError::NotAllowed { kind, why, replayed } => again(Self::new(code(kind), why), replayed),
            HoldError::Exceeds { authorized } => {
                let message = format!("must be at most {authorized}, which was authorized");
                Self::new(
                    ErrorCode::NotCapturable,
                    format!("Only {authorized} was authorized; capture at most that."),
                )
                .with_details(vec![Detail { field: "amountMinor".into(), message: message.into() }])
            }
            HoldError::Unacceptable(OrderFault { field, message }) => {
                Self::invalid(vec![Detail { field: field.into(), message: message.into() }])
            }
            HoldError::KeyReused(fields) => idempotency_key::conflict(fields),
            HoldError::TooManyConflicts(limited) => idempotency_key::too_many_conflicts(limited),
            HoldError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            HoldError::OtherAccount(reason) => Self::new(
                ErrorCode::ProviderUnavailable,
                format!("The payment cannot be captured or voided now: {reason}. Nothing was changed."),
            )
            .retry_after(Duration::from_mins(1)),
            HoldError::Rejected { kind, payment, failure, replayed } => {
                let (done, said) = (kind.as_str(), failure.message.trim_end_matches('.'));
                // What has become of the payment since, an old answer does not know.
                let now = if replayed {
                    "Read the transaction to see where the payment stands now."
                } else {
                    "The payment is still authorized."
                };
                let message = format!("The provider rejected the {done}: {said}. {now}");
                again(Self::provider_rejected(message).about(&payment), replayed)
            }
            HoldError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the request was recorded; retry with the same idempotency key.",
                why,
            ),
            HoldError::Store(error) => error.into(),
        }
    }
}

const fn code(kind: HoldActionKind) -> ErrorCode {
    match kind {
        HoldActionKind::Capture => ErrorCode::NotCapturable,
        HoldActionKind::Void => ErrorCode::NotVoidable,
    }
}
