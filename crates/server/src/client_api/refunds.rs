//! `POST` and `GET /client/v1/transactions/<reference>/refunds`, `GET /client/v1/refunds/<refund>`.

use tollgate_domain::{
    Currency, Minor,
    card_fee::ReasonCode,
    id::RefundId,
    refund::{OffStep, RefundTerms},
};
use tollgate_engine::{Origin, RefundCreated, RefundError, RefundRequest, ports::StoreError};

use crate::{
    client_api::payments::{from_read_error, no_such_payment},
    prelude::*,
    response::refund::{self, RefundCreatedResponse, RefundResponse},
};

const MAX_DESCRIPTION_LENGTH: usize = 500;

type DescriptionText = scalars::Prose<MAX_DESCRIPTION_LENGTH>;

requests! {
    RefundBody as RefundRequest {
        /// One refund per key: send the same again to retry safely. The `Idempotency-Key` header is the alternative.
        idempotency_key: idempotency_key::KeyText,
        /// The principal to refund; everything that is left if omitted.
        amount_minor: Option<scalars::AmountInput>,
        /// How much of the service fee goes back with it.
        fee_refund: Option<words::FeeRefund>,
        reason: Option<words::RefundReason>,
        description: Option<DescriptionText>,
        metadata: Option<scalars::MetadataInput>,
    }
}

pub(crate) async fn create(
    Backend(caller): Backend,
    body: JsonBody<RefundBody>,
) -> CreatedOnce<RefundCreatedResponse> {
    let body = body.bytes(&caller.headers).await?;
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let request = RefundRequest { key: Some(caller.key), ..read_body(Form::new(&caller, &body), None)? };
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let refunding =
        async move { Box::pin(engine.refund(&caller.view, reference, request, &caller.request)).await };
    answer(run_to_completion(&app.engine, refunding).await??)
}

pub(crate) async fn list(Backend(caller): Backend) -> Done<ListResponse<RefundResponse>> {
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let payment = caller.app.engine.refunds(caller.view.environment.id, reference).await;
    let items = payment.map_err(from_read_error)?.as_ref().map(refund::all).unwrap_or_default();
    respond::ok(&ListResponse::whole(items))
}

pub(crate) async fn read(Backend(caller): Backend) -> Done<RefundResponse> {
    let missing = || ApiError::not_found("This refund does not exist.");
    let id: RefundId = caller.location.path("refund").map_err(|_| missing())?;
    let read = caller.app.engine.find_refund(caller.view.environment.id, id).await;
    let (payment, refund) = read.map_err(|error| match error {
        tollgate_engine::ReadError::Missing => missing(),
        error @ tollgate_engine::ReadError::Store(_) => from_read_error(error),
    })?;
    respond::ok(&RefundResponse::of(&payment, &refund))
}

pub(crate) fn answer(created: RefundCreated) -> CreatedOnce<RefundCreatedResponse> {
    let RefundCreated { payment, refund, replayed } = created;
    let answer = RefundCreatedResponse { refund: RefundResponse::of(&payment, &refund), replayed };
    respond::created_once(&answer, replayed)
}

pub(crate) fn read_body(form: Form<'_>, operator: Option<Origin>) -> Result<RefundRequest, ApiError> {
    let body = RefundBody::read(form)?;
    let terms = RefundTerms {
        amount: body.amount_minor.map(Minor::from),
        fee_refund: body.fee_refund,
        reason: body.reason,
        description: body.description.flatten(),
        metadata: form::kept(body.metadata),
    };
    Ok(RefundRequest { idempotency_key: body.idempotency_key, terms, operator, key: None })
}

fn off_step(currency: Currency, off: &OffStep) -> ApiError {
    let detail =
        |field: &'static str, message: String| Detail { field: field.into(), message: message.into() };
    let amounts: Vec<_> = off.nearest.iter().map(|near| near.principal.to_string()).collect();
    let hint = match amounts.as_slice() {
        [] => "no other amount is near".to_owned(),
        amounts => format!("amounts that work: {}", amounts.join(" or ")),
    };
    let OffStep { share, step, fee_refunds, .. } = off;
    let message = format!(
        "leads to a refund of {} with {} of the fee, but the provider takes {currency} only in multiples of {step}; {hint}",
        share.total(),
        share.fee,
    );
    let words: Vec<_> = fee_refunds.iter().map(|word| format!("`{}`", word.as_str())).collect();
    let other = (!words.is_empty())
        .then(|| detail("feeRefund", format!("works for this amount with {}", words.join(" or "))));
    let details = [Some(detail("amountMinor", message)), other].into_iter().flatten().collect();
    ApiError::invalid(details)
}

impl From<RefundError> for ApiError {
    fn from(error: RefundError) -> Self {
        match error {
            RefundError::Missing => no_such_payment(),
            RefundError::NotRefundable(why) => Self::new(ErrorCode::NotRefundable, why),
            RefundError::KeepsSurcharge => {
                let mut errors = FieldErrors::default();
                let (code, rule) = (ReasonCode::RefundNone.as_str(), ReasonCode::RefundNone.rule());
                errors.add::<()>("feeRefund", format!("must be `proportional` or `full`, {code}: {rule}"));
                errors.into_error()
            }
            RefundError::Exceeds { left } => {
                let detail = |field: &'static str, amount: Minor| Detail {
                    field: field.into(),
                    message: format!("at most {amount} is left").into(),
                };
                let message = if left.total() == Minor::ZERO {
                    "Everything has been refunded already, or is on its way back.".to_owned()
                } else {
                    format!("Only {} of the principal is left to refund; ask for less.", left.principal)
                };
                Self::new(ErrorCode::RefundExceedsRemaining, message)
                    .with_details(vec![detail("amountMinor", left.principal), detail("feeMinor", left.fee)])
            }
            RefundError::OffStep { currency, off } => off_step(currency, &off),
            RefundError::KeyReused(fields) => idempotency_key::conflict(fields),
            RefundError::TooManyConflicts(limited) => idempotency_key::too_many_conflicts(limited),
            RefundError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            RefundError::OtherAccount(reason) => Self::new(
                ErrorCode::ProviderUnavailable,
                format!("The payment cannot be refunded now: {reason}. Nothing was refunded."),
            ),
            RefundError::Rejected { payment, failure, replayed } => {
                let said = failure.message.trim_end_matches('.');
                let error = Self::provider_rejected(format!("The provider rejected the refund: {said}."))
                    .about(&payment);
                if replayed { error.replayed() } else { error }
            }
            RefundError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the refund was recorded; retry with the same idempotency key.",
                why,
            ),
            RefundError::Store(error) => error.into(),
        }
    }
}
