//! `POST /client/v1/ach/customer-tokens`: who a transfer will be for, sealed.

use serde_json::value::RawValue;
use tollgate_domain::customer::Customer;
use tollgate_engine::{IssueTokenError, ports::StoreError};
use tollgate_vault::SealError;

use crate::{json::text::JsonText, prelude::*};

const MAX_ID_LENGTH: usize = 160;
const MAX_NAME_LENGTH: usize = 80;
const MAX_PHONE_LENGTH: usize = 32;

type IdText = scalars::CallerId<MAX_ID_LENGTH>;
type NameText = scalars::Line<MAX_NAME_LENGTH>;

requests! {
    TokenBody as CustomerTokenRequest {
        external_customer_id: IdText,
        email: scalars::EmailInput,
        first_name: NameText,
        last_name: NameText,
        phone: Option<scalars::PhoneInput>,
        metadata: Option<scalars::MetadataInput>,
    } => |form| {
        idempotency_key::from_header(form.headers, &mut form.errors);
    }
}

responses! {
    TokenResponse as CustomerToken {
        customer_token: String,
        token_type: words::TokenType,
        expires_at: Option<Moment>,
    }
}

pub(crate) async fn issue(Payer(caller): Payer, body: JsonBody<TokenBody>) -> CreatedOnce<TokenResponse> {
    let body = body.read(&caller).await?;
    let key = idempotency_key::from_header(&caller.headers, &mut FieldErrors::default());
    let customer = Customer {
        external_id: body.external_customer_id,
        email: body.email,
        first_name: body.first_name,
        last_name: body.last_name,
        phone: body.phone,
        metadata: form::kept(body.metadata),
    };
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

impl Field for scalars::PhoneInput {
    type Value = String;

    /// E.164 or national format, separators allowed.
    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<String> {
        let is_number = |text: &str| {
            let digits = text.chars().filter(char::is_ascii_digit).count();
            let plain = |letter: char| letter.is_ascii_digit() || " -().".contains(letter);
            digits >= 3
                && text.len() <= MAX_PHONE_LENGTH
                && text.strip_prefix('+').unwrap_or(text).chars().all(plain)
        };
        match JsonText::of(raw) {
            JsonText::String(text) if is_number(&text) => Some(text.into_owned()),
            _ => form.errors.add(name, "must be a phone number of at most 32 characters"),
        }
    }
}
