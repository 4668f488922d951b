//! `POST /client/v1/ach/transfers/<reference>/cancel`: a transfer that the provider can still stop is canceled.

use std::time::Duration;

use tollgate_engine::{CancelError, TransferCanceled, ports::StoreError};

use crate::{
    client_api::{confirm::ConfirmResponse, payments::no_such_payment},
    prelude::*,
    response::transaction::TransactionResponse,
};

pub(crate) async fn cancel(Payer(caller): Payer) -> DoneOnce<ConfirmResponse> {
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let canceling =
        async move { Box::pin(engine.cancel_transfer(&caller.view, reference, None, &caller.request)).await };
    answer(&run_to_completion(&app.engine, canceling).await??)
}

pub(crate) fn answer(canceled: &TransferCanceled) -> DoneOnce<ConfirmResponse> {
    let TransferCanceled { transfer, replayed } = canceled;
    let transaction = TransactionResponse::of_transfer(transfer);
    respond::done_once(&ConfirmResponse { transaction, replayed: *replayed }, *replayed)
}

impl From<CancelError> for ApiError {
    fn from(error: CancelError) -> Self {
        match error {
            CancelError::Missing => no_such_payment(),
            CancelError::NotCancelable(why) => Self::new(ErrorCode::NotCancelable, why),
            CancelError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            CancelError::OtherAccount(reason) => Self::new(
                ErrorCode::ProviderUnavailable,
                format!("The transfer cannot be canceled now: {reason}. Nothing was changed."),
            )
            .retry_after(Duration::from_mins(1)),
            CancelError::Store(StoreError::Unknown(why)) => {
                Self::outcome_unknown("It is unknown whether the request was recorded; send it again.", why)
            }
            CancelError::Store(error) => error.into(),
        }
    }
}
