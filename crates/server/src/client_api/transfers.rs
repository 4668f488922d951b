//! `POST /client/v1/ach/transfers`: money out of the wallet, once per idempotency key.

use tollgate_engine::{
    TransferCreated, TransferError, TransferRequest,
    ports::{OrderFault, StoreError},
};

use crate::{
    client_api::transfer_body::{self, TransferBody},
    prelude::*,
    response::{payment::RoutingResponse, transaction::TransactionResponse, transfer::BankAccountResponse},
};

responses! {
    TransferResponse as Transfer {
        transaction: TransactionResponse,
        replayed: bool,
        bank_account: BankAccountResponse,
        routing: RoutingResponse,
    }
}

pub(crate) async fn make(
    Payer(caller): Payer,
    body: JsonBody<TransferBody<'static>>,
) -> CreatedOnce<TransferResponse> {
    let body = body.bytes(&caller.headers).await?;
    let engine = Arc::clone(&caller.app.engine);
    let request =
        transfer_body::read(&body, &caller.headers, |token| engine.open_token(&caller.view, token))?;
    let request = TransferRequest { key: Some(caller.key), ..request };
    let app = Arc::clone(&caller.app);
    let making =
        async move { Box::pin(engine.create_transfer(&caller.view, request, &caller.request)).await };
    let TransferCreated { transfer, replayed } = run_to_completion(&app.engine, making).await??;
    call_notes::reference(&transfer.order.id);
    let answer = TransferResponse {
        transaction: TransactionResponse::of_transfer(&transfer),
        replayed,
        bank_account: BankAccountResponse::of(&transfer.order),
        routing: RoutingResponse::of_transfer(&transfer.order),
    };
    respond::created_once(&answer, replayed)
}

impl From<TransferError> for ApiError {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Token(why) => Self::invalid(vec![Detail {
                field: "customerToken".into(),
                message: why.to_string().into(),
            }]),
            TransferError::Unroutable(why) => why.into(),
            TransferError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            TransferError::InstantNotEnabled { provider, lacks } => Self::new(
                ErrorCode::ProviderNotConfigured,
                format!(
                    "The account of {provider} cannot originate instant transfers: it lacks {lacks}. Nothing was sent; ask \
                     the provider to enable it, or route instant transfers to another provider or by ACH."
                ),
            ),
            TransferError::InstantNotSupported => Self::new(
                ErrorCode::InstantNotSupported,
                "The receiving bank does not support instant transfers; nothing was recorded. Route it by ACH instead.",
            ),
            TransferError::RailUnknown { retry_after } => Self::new(
                ErrorCode::ProviderUnavailable,
                "The provider could not tell how the receiving bank can be reached, and nothing was sent; try again later.",
            )
            .retry_after(retry_after),
            TransferError::Unacceptable(OrderFault { field, message }) => {
                Self::invalid(vec![Detail { field: field.into(), message: message.into() }])
            }
            TransferError::CircuitOpen(open) => Self::circuit_open(&open),
            TransferError::KeyReused(fields) => idempotency_key::conflict(fields),
            TransferError::TooManyConflicts(limited) => idempotency_key::too_many_conflicts(limited),
            TransferError::Insufficient { available } => Self::new(
                ErrorCode::InsufficientWalletBalance,
                format!("The wallet has only {available} available, less than the total debit; nothing was sent."),
            ),
            TransferError::LimitExceeded(exceeded) => exceeded.into(),
            TransferError::ProviderFunds { retry_after } => Self::new(
                ErrorCode::ProviderUnavailable,
                "The provider's funding account has insufficient funds, and nothing was sent; try again later.",
            )
            .retry_after(retry_after),
            TransferError::Rejected { reference, failure, replayed } => {
                // What a provider says may end without a full stop.
                let said = failure.message.trim_end_matches('.');
                let error = Self::provider_rejected(format!("The provider rejected the transfer: {said}."))
                    .about(&reference);
                if replayed { error.replayed() } else { error }
            }
            TransferError::Seal(error) => Self::internal(error.to_string()),
            TransferError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the request was recorded; retry with the same idempotency key.",
                why,
            ),
            TransferError::Store(error) => error.into(),
            TransferError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
