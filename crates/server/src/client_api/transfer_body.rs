//! The bodies of transfers and their previews.

use http::HeaderMap;
use serde::Deserialize;
use tollgate_domain::{
    PaymentMethod,
    ach::{BankAccountType, RecipientKind, TransferPurpose, is_routing_number},
};
use tollgate_engine::{Bank, CustomerToken, QuoteRequest, TransferRequest, ports::BankAccount};
use tollgate_vault::{MAX_TOKEN_LENGTH, Secret};
use utoipa::ToSchema;

use crate::{
    json::{compact::compact, text::JsonText},
    prelude::*,
    request::fields::SECRET_KEY_RULE,
};

const TOKEN_FIELD: &str = "customerToken";
const MAX_NAME_LENGTH: usize = 120;
const MAX_DESCRIPTION_LENGTH: usize = 500;
const MAX_DESCRIPTOR_LENGTH: usize = 10;
const MAX_REMITTANCE_TEXT_LENGTH: usize = 1_000;
const MAX_REMITTANCE_OBJECT: usize = 4 * 1024;

type NameText = scalars::Line<MAX_NAME_LENGTH>;
type DescriptionText = scalars::Prose<MAX_DESCRIPTION_LENGTH>;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferRequest)]
pub(crate) struct TransferBody<'a> {
    /// One transfer per key: send the same again to retry the same business action safely. The `Idempotency-Key` header
    /// is the alternative.
    #[serde(borrow)]
    #[schema(value_type = idempotency_key::KeyText, required, inline)]
    idempotency_key: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::AmountInput, required)]
    amount_minor: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::DollarInput, required)]
    currency: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::CustomerTokenInput, required)]
    customer_token: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::RoutingNumberInput, required)]
    routing_number: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::AccountNumberInput, required)]
    account_number: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = words::BankAccountType, required)]
    bank_account_type: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = NameText, required, inline)]
    bank_name: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = NameText, required, inline)]
    account_name: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<DescriptionText>, inline)]
    description: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::MetadataInput>)]
    metadata: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::RemittanceInput>)]
    remittance_data: Raw<'a>,
    /// Whom it pays: a person (an ACH entry of class PPD) or a company (CCD).
    #[serde(borrow)]
    #[schema(value_type = Option<words::RecipientKind>)]
    recipient_kind: Raw<'a>,
    /// What it is for: `payroll` makes the description of the ACH entry PAYROLL, as the network's rules want it.
    #[serde(borrow)]
    #[schema(value_type = Option<words::TransferPurpose>)]
    purpose: Raw<'a>,
    /// What the receiver's statement is to say, such as a short name: at most 10 characters of printable ASCII.
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::StatementDescriptor>)]
    statement_descriptor: Raw<'a>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferPreviewRequest)]
pub(crate) struct PreviewBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = scalars::AmountInput, required)]
    amount_minor: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::DollarInput, required)]
    currency: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::MetadataInput>)]
    metadata: Raw<'a>,
}

/// Reads a preview's body.
pub(crate) fn read_preview(bytes: &[u8]) -> Result<QuoteRequest, ApiError> {
    let body: PreviewBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let read = quote(body.amount_minor, body.currency, body.metadata, bytes, &mut errors);
    fields::complete(errors, read)
}

/// Reads a transfer's body, naming every faulty field; `open` opens the customer token. One that does not open anymore
/// is a fault only beside others: by itself, it may still repeat an earlier request.
pub(crate) fn read(
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
    Some(QuoteRequest { principal: principal?, currency: currency?, method, flow: None, metadata: metadata? })
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
