//! `POST /client/v1/ach/customer-tokens`: who a transfer will be for, sealed.

use http::HeaderMap;
use serde::Deserialize;
use tollgate_domain::customer::Customer;
use tollgate_engine::{IssueTokenError, ports::StoreError};
use tollgate_vault::SealError;
use utoipa::ToSchema;

use crate::{json::text::JsonText, prelude::*};

const MAX_ID_LENGTH: usize = 160;
const MAX_NAME_LENGTH: usize = 80;
const MAX_PHONE_LENGTH: usize = 32;

type IdText = scalars::Line<MAX_ID_LENGTH>;
type NameText = scalars::Line<MAX_NAME_LENGTH>;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CustomerTokenRequest)]
pub(crate) struct TokenBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = IdText, required, inline)]
    external_customer_id: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::EmailInput, required)]
    email: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = NameText, required, inline)]
    first_name: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = NameText, required, inline)]
    last_name: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::PhoneInput>)]
    phone: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::MetadataInput>)]
    metadata: Raw<'a>,
}

responses! {
    TokenResponse as CustomerToken {
        customer_token: String,
        token_type: words::TokenType,
        expires_at: Option<Moment>,
    }
}

pub(crate) async fn issue(
    Payer(caller): Payer,
    body: JsonBody<TokenBody<'static>>,
) -> CreatedOnce<TokenResponse> {
    let body = body.bytes(&caller.headers).await?;
    let (customer, key) = read(&body, &caller.headers)?;
    let engine = &caller.app.engine;
    let (issued, replayed) = match key {
        Some(key) => engine.issue_token_once(&caller.view, &customer, &key).await?,
        None => (engine.issue_token(&caller.view, &customer).map_err(IssueTokenError::from)?, false),
    };
    let answer = TokenResponse {
        customer_token: issued.token,
        token_type: "JWE".into(),
        expires_at: issued.expires_at.map(Moment),
    };
    respond::created_once(&answer, replayed)
}

impl From<IssueTokenError> for ApiError {
    fn from(error: IssueTokenError) -> Self {
        match error {
            IssueTokenError::Seal(SealError::TooLarge) => {
                let mut errors = FieldErrors::default();
                errors.add::<()>("metadata", "is too large for a token");
                errors.into_error()
            }
            IssueTokenError::Seal(error) => Self::internal(error.to_string()),
            IssueTokenError::KeyReused(fields) => idempotency_key::conflict(fields),
            IssueTokenError::TooManyConflicts(limited) => idempotency_key::too_many_conflicts(limited),
            IssueTokenError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the token was recorded; retry with the same idempotency key.",
                why,
            ),
            IssueTokenError::Store(error) => error.into(),
        }
    }
}

/// The customer, and the key in the header where there is one.
fn read(bytes: &[u8], headers: &HeaderMap) -> Result<(Customer, Option<String>), ApiError> {
    let body: TokenBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let external_id =
        fields::required_id("externalCustomerId", body.external_customer_id, MAX_ID_LENGTH, &mut errors);
    let email = fields::required_email("email", body.email, &mut errors);
    let first_name = fields::required_text("firstName", body.first_name, MAX_NAME_LENGTH, &mut errors);
    let last_name = fields::required_text("lastName", body.last_name, MAX_NAME_LENGTH, &mut errors);
    let phone = read_phone(body.phone, &mut errors);
    let key = idempotency_key::from_header(headers, &mut errors);
    metadata_field::read(body.metadata, bytes, &mut errors);
    let read = (|| {
        Some(Customer {
            external_id: external_id?,
            email: email?,
            first_name: first_name?,
            last_name: last_name?,
            phone,
            metadata: metadata_text(body.metadata),
        })
    })();
    fields::complete(errors, read.map(|customer| (customer, key)))
}

/// E.164 or national format, separators allowed.
fn read_phone(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<String> {
    let is_number = |text: &str| {
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let plain = |letter: char| letter.is_ascii_digit() || " -().".contains(letter);
        digits >= 3
            && text.len() <= MAX_PHONE_LENGTH
            && text.strip_prefix('+').unwrap_or(text).chars().all(plain)
    };
    match JsonText::of(raw?) {
        JsonText::String(text) if is_number(&text) => Some(text.into_owned()),
        _ => errors.add("phone", "must be a phone number of at most 32 characters"),
    }
}
