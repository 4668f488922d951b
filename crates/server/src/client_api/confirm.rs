//! `POST /client/v1/payments/component/<reference>/confirm`: the caller's backend says the browser is done.

use std::{borrow::Cow, time::Duration};

use serde::Deserialize;
use serde_json::json;
use tollgate_domain::card_fee::Rules;
use tollgate_engine::{
    ConfirmBody, ConfirmError, Confirmed,
    ports::{Confirmation, StoreError},
};
use tollgate_vault::Secret;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{
    client_api::{card_fee, payments::no_such_payment},
    prelude::*,
    request::card_fee_fields::PayerBody,
    response::transaction::TransactionResponse,
};

/// How long a caller is told to wait where the provider said nothing about it.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(2);

/// Longer than any provider's tokens.
const MAX_TOKEN_LENGTH: usize = 4_096;
const MAX_NAME_LENGTH: usize = 255;
const MAX_STATUS_LENGTH: usize = 100;

/// All shapes at once; which one counts is decided by the payment's provider.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fields<'a> {
    #[serde(borrow)]
    payment_intent_id: Raw<'a>,
    #[serde(borrow)]
    client_status: Raw<'a>,
    #[serde(borrow)]
    source_id: Raw<'a>,
    #[serde(borrow)]
    verification_token: Raw<'a>,
    #[serde(borrow)]
    buyer_email: Raw<'a>,
    #[serde(borrow)]
    confirmation_token: Raw<'a>,
    #[serde(borrow)]
    accepted_total_debit_minor: Raw<'a>,
    #[serde(borrow)]
    payer: Raw<'a>,
    session_result: Raw<'a>,
}

impl PartialSchema for Fields<'_> {
    fn schema() -> RefOr<Schema> {
        let nullable = |text: RefOr<Schema>| json!({"oneOf": [{"type": "null"}, text]});
        scalars::schema(json!({
            "description": "The shape that goes with the component the payment was prepared with.",
            "anyOf": [
                {
                    "title": "PaymentElementConfirmation",
                    "type": "object",
                    "required": ["paymentIntentId"],
                    "properties": {
                        "paymentIntentId": scalars::Line::<MAX_NAME_LENGTH>::schema(),
                        "clientStatus": nullable(scalars::Prose::<MAX_STATUS_LENGTH>::schema()),
                    },
                },
                {
                    "title": "WebPaymentsConfirmation",
                    "type": "object",
                    "required": ["sourceId"],
                    "properties": {
                        "sourceId": scalars::Line::<MAX_TOKEN_LENGTH>::schema(),
                        "verificationToken": nullable(scalars::Prose::<MAX_TOKEN_LENGTH>::schema()),
                        "buyerEmail": nullable(scalars::EmailInput::schema()),
                    },
                },
                {
                    "title": "CardFeeConfirmation",
                    "type": "object",
                    "description": "The first variant, once the fee was decided for the card: what the payer agreed to is charged.",
                    "required": ["confirmationToken", "acceptedTotalDebitMinor"],
                    "properties": {
                        "confirmationToken": scalars::Line::<{ card_fee::MAX_TOKEN_LENGTH }>::schema(),
                        "acceptedTotalDebitMinor": scalars::AmountInput::schema(),
                        "payer": nullable(PayerBody::schema()),
                    },
                },
                {
                    "title": "DropInConfirmation",
                    "type": "object",
                    "required": ["sessionResult"],
                    "properties": { "sessionResult": scalars::Line::<MAX_TOKEN_LENGTH>::schema() },
                },
            ],
        }))
    }
}

impl ToSchema for Fields<'_> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ConfirmationRequest")
    }
}

responses! {
    ConfirmResponse as Confirmation {
        pub(crate) transaction: TransactionResponse,
        pub(crate) replayed: bool,
    }
}

pub(crate) async fn handle(
    Backend(caller): Backend,
    body: JsonBody<Fields<'static>>,
) -> DoneOnce<ConfirmResponse> {
    let body = body.bytes(&caller.headers).await?;
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let confirmable = caller.app.engine.confirmable(&caller.view, reference).await?;
    let body = read(&body, confirmable.confirmation, &caller.view.configuration.fee_rules)?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let confirming =
        Box::pin(async move { engine.confirm(&caller.view, confirmable, body, &caller.request).await });
    let Confirmed { payment, replayed } = run_to_completion(&app.engine, confirming).await??;
    let transaction = TransactionResponse::of_payment(&payment)
        .ok_or_else(|| ApiError::internal("a confirmed payment has no transaction"))?;
    respond::done_once(&ConfirmResponse { transaction, replayed }, replayed)
}

fn read(bytes: &[u8], confirmation: Confirmation, rules: &Rules) -> Result<ConfirmBody, ApiError> {
    let body: Fields<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let read = match confirmation {
        Confirmation::Look if body.confirmation_token.is_some() => read_agreed(&body, rules, &mut errors),
        Confirmation::Look => read_look(&body, &mut errors),
        Confirmation::Charge => read_charge(&body, &mut errors),
        Confirmation::Result => read_result(&body, &mut errors),
    };
    fields::complete(errors, read)
}

fn read_look(body: &Fields<'_>, errors: &mut FieldErrors) -> Option<ConfirmBody> {
    if body.payment_intent_id.is_none() && body.source_id.is_some() {
        return errors.add(
            "paymentIntentId",
            "is required: the provider of this payment uses paymentIntentId, not sourceId",
        );
    }
    let intent = fields::required_text("paymentIntentId", body.payment_intent_id, MAX_NAME_LENGTH, errors);
    let status = fields::optional_text("clientStatus", body.client_status, MAX_STATUS_LENGTH, errors);
    Some(ConfirmBody::Look { payment_intent: intent?, client_status: status })
}

fn read_agreed(body: &Fields<'_>, rules: &Rules, errors: &mut FieldErrors) -> Option<ConfirmBody> {
    let most = card_fee::MAX_TOKEN_LENGTH;
    let token = fields::required_text("confirmationToken", body.confirmation_token, most, errors);
    let total = fields::amount("acceptedTotalDebitMinor", body.accepted_total_debit_minor, errors);
    let payer = card_fee::payer(body.payer, rules, errors);
    Some(ConfirmBody::Agreed { token: Secret::new(token?), total: total?.into(), payer: payer?.payer })
}

fn read_result(body: &Fields<'_>, errors: &mut FieldErrors) -> Option<ConfirmBody> {
    let is_other = body.payment_intent_id.is_some() || body.source_id.is_some();
    if body.session_result.is_none() && is_other {
        return errors.add(
            "sessionResult",
            "is required: the provider of this payment uses sessionResult, as its Drop-in gives it to the page",
        );
    }
    let result = fields::required_text("sessionResult", body.session_result, MAX_TOKEN_LENGTH, errors);
    Some(ConfirmBody::Result(Secret::new(result?)))
}

fn read_charge(body: &Fields<'_>, errors: &mut FieldErrors) -> Option<ConfirmBody> {
    if body.source_id.is_none() && body.payment_intent_id.is_some() {
        return errors
            .add("sourceId", "is required: the provider of this payment uses sourceId, not paymentIntentId");
    }
    let source = fields::required_text("sourceId", body.source_id, MAX_TOKEN_LENGTH, errors);
    let proof = fields::optional_text("verificationToken", body.verification_token, MAX_TOKEN_LENGTH, errors);
    let email = fields::email("buyerEmail", body.buyer_email, errors);
    Some(ConfirmBody::Charge {
        source: Secret::new(source?),
        verification: proof.map(Secret::new),
        buyer_email: email,
    })
}

impl From<ConfirmError> for ApiError {
    fn from(error: ConfirmError) -> Self {
        match error {
            ConfirmError::Missing => no_such_payment(),
            ConfirmError::NotConfirmable(why) => Self::new(ErrorCode::PaymentNotConfirmable, why),
            ConfirmError::OtherIntent => {
                let mut errors = FieldErrors::default();
                errors.add::<()>("paymentIntentId", "is not the one this payment was prepared with");
                errors.into_error()
            }
            ConfirmError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            ConfirmError::Token(why) => {
                let mut errors = FieldErrors::default();
                errors.add::<()>("confirmationToken", why);
                errors.into_error()
            }
            ConfirmError::FeeChanged(payment) => Self::fee_changed(&payment),
            ConfirmError::Unavailable { retry_after } => {
                Self::provider_unclear(retry_after.unwrap_or(DEFAULT_RETRY_AFTER))
            }
            ConfirmError::Rejected(failure) => {
                Self::provider_rejected(format!("The provider rejected the request: {}", failure.message))
            }
            ConfirmError::Seal(error) => Self::internal(error.to_string()),
            ConfirmError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the request was recorded; send the same confirmation again. The card is charged at most once.",
                why,
            ),
            ConfirmError::Store(error) => error.into(),
        }
    }
}
