//! Bank transfers: `POST /client/v1/ach/transfers`, money out of the wallet, once per idempotency key; `…/preview`, which way a
//! transfer would go and what it would cost; `…/<reference>/cancel`, while the provider can still stop it.

use std::time::Duration;

use http::HeaderMap;
use tollgate_domain::{
    PaymentMethod,
    ach::{BankAccountType, RecipientKind, TransferPurpose, is_routing_number},
    card_fee::PaymentFacts,
};
use tollgate_engine::{
    Bank, CancelError, CustomerToken, QuoteRequest, TransferCanceled, TransferCreated, TransferError,
    TransferRequest,
    ports::{BankAccount, OrderFault, StoreError},
};
use tollgate_vault::{MAX_TOKEN_LENGTH, Secret};

use crate::{
    client_api::{confirm::ConfirmResponse, payments::no_such_payment},
    json::{compact::compact, text::JsonText},
    prelude::*,
    request::fields::SECRET_KEY_RULE,
    response::{
        payment::{AttemptResponse, RoutingResponse, ShareResponse},
        transaction::TransactionResponse,
        transfer::BankAccountResponse,
    },
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
    let request = read_body(&body, &caller.headers, |token| engine.open_token(&caller.view, token))?;
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

responses! {
    PreviewResponse as TransferPreview {
        amount_minor: MinorUnits,
        currency: CurrencyCode,
        routing: TransferRoutingResponse,
        fee: FeeResponse,
        total_debit_minor: MinorUnits,
    }

    TransferRoutingResponse as TransferRouting {
        provider: String,
        channel: words::Channel,
        channel_label: &'static str,
        matched_rule_id: Option<String>,
        matched_condition_ids: Vec<String>,
        fallback: bool,
        /// Every target, where the route is split; the first-named provider is the heaviest one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        split: Option<Vec<ShareResponse>>,
        /// Where targets were passed over: each of them in order, the selected one last.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        attempts: Option<Vec<AttemptResponse>>,
    }

    #[expect(clippy::struct_field_names, reason = "the API's own names")]
    FeeResponse as TransferFee {
        platform_fee_minor: MinorUnits,
        organization_fee_minor: MinorUnits,
        fee_minor: MinorUnits,
    }
}

pub(crate) async fn preview(
    Payer(caller): Payer,
    body: JsonBody<PreviewBody<'static>>,
) -> Done<PreviewResponse> {
    let body = body.bytes(&caller.headers).await?;
    let request = read_preview(&body)?;
    let preview = caller.app.engine.preview_transfer(&caller.view, &request).await?;
    let (decision, fee) = (&preview.decision, &preview.fee);
    let (matched, target) = (decision.matched.as_ref(), &preview.target);
    let conditions = matched.into_iter().flat_map(|matched| matched.conditions.iter());
    respond::ok(&PreviewResponse {
        amount_minor: fee.principal.into(),
        currency: request.currency.into(),
        routing: TransferRoutingResponse {
            provider: target.provider.to_string(),
            channel: target.channel.as_str().into(),
            channel_label: target.channel.label(),
            matched_rule_id: matched.map(|matched| matched.rule.to_string()),
            matched_condition_ids: conditions.map(ToString::to_string).collect(),
            fallback: matched.is_none(),
            split: decision.destination.shares().map(ShareResponse::all),
            attempts: AttemptResponse::all(&preview.route, &target.provider),
        },
        fee: FeeResponse {
            platform_fee_minor: fee.platform.fee.into(),
            organization_fee_minor: fee.organization.fee.into(),
            fee_minor: fee.fee.into(),
        },
        total_debit_minor: fee.total_debit.into(),
    })
}

pub(crate) async fn cancel(Payer(caller): Payer) -> DoneOnce<ConfirmResponse> {
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let canceling =
        async move { Box::pin(engine.cancel_transfer(&caller.view, reference, None, &caller.request)).await };
    canceled(&run_to_completion(&app.engine, canceling).await??)
}

pub(crate) fn canceled(canceled: &TransferCanceled) -> DoneOnce<ConfirmResponse> {
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

const TOKEN_FIELD: &str = "customerToken";
const MAX_NAME_LENGTH: usize = 120;
const MAX_DESCRIPTION_LENGTH: usize = 500;
const MAX_DESCRIPTOR_LENGTH: usize = 10;
const MAX_REMITTANCE_TEXT_LENGTH: usize = 1_000;
const MAX_REMITTANCE_OBJECT: usize = 4 * 1024;

type NameText = scalars::Line<MAX_NAME_LENGTH>;
type DescriptionText = scalars::Prose<MAX_DESCRIPTION_LENGTH>;

bodies! {
    TransferBody as TransferRequest {
        /// One transfer per key: send the same again to retry the same business action safely. The `Idempotency-Key` header
        /// is the alternative.
        idempotency_key: idempotency_key::KeyText,
        amount_minor: scalars::AmountInput,
        currency: scalars::DollarInput,
        customer_token: scalars::CustomerTokenInput,
        routing_number: scalars::RoutingNumberInput,
        account_number: scalars::AccountNumberInput,
        bank_account_type: words::BankAccountType,
        bank_name: NameText,
        account_name: NameText,
        description: Option<DescriptionText>,
        metadata: Option<scalars::MetadataInput>,
        remittance_data: Option<scalars::RemittanceInput>,
        /// Whom it pays: a person (an ACH entry of class PPD) or a company (CCD).
        recipient_kind: Option<words::RecipientKind>,
        /// What it is for: `payroll` makes the description of the ACH entry PAYROLL, as the network's rules want it.
        purpose: Option<words::TransferPurpose>,
        /// What the receiver's statement is to say, such as a short name: at most 10 characters of printable ASCII.
        statement_descriptor: Option<scalars::StatementDescriptor>,
    }

    PreviewBody as TransferPreviewRequest {
        amount_minor: scalars::AmountInput,
        currency: scalars::DollarInput,
        metadata: Option<scalars::MetadataInput>,
    }
}

fn read_preview(bytes: &[u8]) -> Result<QuoteRequest, ApiError> {
    let body: PreviewBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let read = quote(body.amount_minor, body.currency, body.metadata, bytes, &mut errors);
    fields::complete(errors, read)
}

/// Reads a transfer's body, naming every faulty field; `open` opens the customer token. One that does not open anymore
/// is a fault only beside others: by itself, it may still repeat an earlier request.
fn read_body(
    bytes: &[u8],
    headers: &HeaderMap,
    open: impl FnOnce(&str) -> CustomerToken,
) -> Result<TransferRequest, ApiError> {
    let body: TransferBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let key = idempotency_key::read(body.idempotency_key, headers, &mut errors);
    let quote = quote(body.amount_minor, body.currency, body.metadata, bytes, &mut errors);
    let token = read_token(body.customer_token, open, &mut errors);
    let routing_number = read_routing_number(body.routing_number, &mut errors);
    let account_number = fields::digits("accountNumber", body.account_number, 4..=17, &mut errors);
    let account_type = match body.bank_account_type {
        None => errors.add("bankAccountType", "is required"),
        raw => fields::word(
            "bankAccountType",
            raw,
            BankAccountType::Checking,
            BankAccountType::parse,
            "checking, savings",
            &mut errors,
        ),
    };
    let bank_name = fields::required_text("bankName", body.bank_name, MAX_NAME_LENGTH, &mut errors);
    let account_name = fields::required_text("accountName", body.account_name, MAX_NAME_LENGTH, &mut errors);
    let description =
        fields::optional_text("description", body.description, MAX_DESCRIPTION_LENGTH, &mut errors);
    let remittance = read_remittance(body.remittance_data, &mut errors);
    let recipient_kind = fields::word(
        "recipientKind",
        body.recipient_kind,
        RecipientKind::default(),
        RecipientKind::parse,
        "individual, business",
        &mut errors,
    );
    let purpose = fields::word(
        "purpose",
        body.purpose,
        None,
        |text| TransferPurpose::parse(text).map(Some),
        "payroll",
        &mut errors,
    );
    let statement_descriptor = read_descriptor(body.statement_descriptor, &mut errors);
    if !errors.is_empty()
        && let Some(Err(error)) = token.as_ref().map(CustomerToken::customer)
    {
        errors.add::<()>(TOKEN_FIELD, error.to_string());
    }
    let read = (|| {
        let account = BankAccount {
            routing_number: Secret::new(routing_number?),
            account_number: Secret::new(account_number?),
        };
        Some(TransferRequest {
            idempotency_key: key?,
            quote: quote?,
            token: token?,
            bank: Bank {
                account,
                account_type: account_type?,
                bank_name: bank_name?,
                account_name: account_name?,
            },
            description,
            metadata: metadata_text(body.metadata),
            remittance,
            recipient_kind: recipient_kind?,
            purpose: purpose?,
            statement_descriptor,
            key: None,
        })
    })();
    fields::complete(errors, read)
}

fn quote(
    amount: Raw<'_>,
    currency: Raw<'_>,
    pairs: Raw<'_>,
    bytes: &[u8],
    errors: &mut FieldErrors,
) -> Option<QuoteRequest> {
    let method = PaymentMethod::Ach;
    let principal = fields::amount("amountMinor", amount, errors);
    let currency = fields::currency(currency, Some(method), errors);
    let metadata = metadata_field::read(pairs, bytes, errors);
    Some(QuoteRequest {
        principal: principal?,
        currency: currency?,
        method,
        flow: None,
        metadata: metadata?,
        card_fee: PaymentFacts::default(),
    })
}

fn read_routing_number(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<String> {
    const FIELD: &str = "routingNumber";
    let digits = fields::digits(FIELD, raw, 9..=9, errors)?;
    if is_routing_number(&digits) {
        return Some(digits);
    }
    errors.add(FIELD, "is not a valid routing number: the check digit is wrong")
}

fn read_token(
    raw: Raw<'_>,
    open: impl FnOnce(&str) -> CustomerToken,
    errors: &mut FieldErrors,
) -> Option<CustomerToken> {
    let Some(raw) = raw else { return errors.add(TOKEN_FIELD, "is required") };
    match JsonText::of(raw) {
        JsonText::String(text) if text.len() <= MAX_TOKEN_LENGTH => Some(open(&text)),
        _ => errors.add(TOKEN_FIELD, "must be a token from /client/v1/ach/customer-tokens"),
    }
}

/// One to ten characters as an ACH entry has them, not all of them blank.
fn read_descriptor(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<String> {
    let is_right = |text: &str| {
        (1..=MAX_DESCRIPTOR_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
            && !text.trim().is_empty()
    };
    match JsonText::of(raw?) {
        JsonText::String(text) if is_right(&text) => Some(text.trim().to_owned()),
        _ => errors.add("statementDescriptor", "must be a string of 1 to 10 printable ASCII characters"),
    }
}

/// A text of at most 1,000 characters or an object of at most 4 KiB, kept as JSON.
fn read_remittance(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<String> {
    const FIELD: &str = "remittanceData";
    let raw = raw?;
    let most = match JsonText::of(raw) {
        JsonText::String(text) if text.chars().count() <= MAX_REMITTANCE_TEXT_LENGTH => usize::MAX,
        JsonText::BrokenString => usize::MAX,
        JsonText::Object(_) => MAX_REMITTANCE_OBJECT,
        _ => 0,
    };
    match compact(raw.get()) {
        Err(fault) => errors.add(FIELD, fault.to_string()),
        Ok(compact) if compact.holds_secret => errors.add(FIELD, SECRET_KEY_RULE),
        Ok(compact) if compact.holds_card_number => errors.add_card_number(FIELD),
        Ok(compact) if compact.text.len() <= most => Some(compact.text),
        Ok(_) => errors
            .add(FIELD, "must be a string of at most 1000 characters or a JSON object of at most 4096 bytes"),
    }
}
