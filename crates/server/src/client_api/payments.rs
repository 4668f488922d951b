//! Card preparations: `POST /client/v1/payments`, a hosted checkout, and `POST /client/v1/payments/component`, an embedded
//! component; `GET /client/v1/payments/<reference>` reads one back.

use std::{borrow::Cow, time::Duration};

use http::HeaderMap;
use serde_json::Value;
use tollgate_configuration::Configuration;
use tollgate_domain::{Flow, PaymentMethod, ServiceReference, hold::CaptureMode, tenant::KeyKind};
use tollgate_engine::{
    PrepareError, PrepareRequest, QuoteRequest, ReadError,
    ports::{OrderFault, StoreError},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{
    json::text::JsonText,
    prelude::*,
    request::{
        card_fee_fields::{self, CardBody, CardFeeFields, PayerBody},
        unknown_fields,
    },
    response::{
        payment as payment_response,
        payment::{PaymentReadResponse, PaymentResponse},
    },
};

pub(crate) async fn prepare(
    Preparer(caller): Preparer,
    body: JsonBody<PrepareBody<'static>>,
) -> CreatedOnce<PaymentResponse<'static>> {
    prepare_flow(caller, body.0, Flow::HostedCheckout).await
}

/// Both flows are prepared alike; only their answers differ.
async fn prepare_flow(caller: Caller, body: Body, flow: Flow) -> CreatedOnce<PaymentResponse<'static>> {
    let body = body::read_json(&caller.headers, body, body::CLIENT_LIMIT).await?;
    let request = read_body(&body, &caller.headers, flow, caller.kind, &caller.view.configuration)?;
    let (app, engine) = (Arc::clone(&caller.app), Arc::clone(&caller.app.engine));
    let preparing = async move { Box::pin(engine.prepare(&caller.view, request, &caller.request)).await };
    let prepared = run_to_completion(&app.engine, preparing).await??;
    call_notes::reference(&prepared.payment.order.id);
    let response = payment_response::prepared(&prepared);
    respond::created_once(&response, prepared.replayed)
}

pub(crate) async fn read(Backend(caller): Backend) -> Done<PaymentReadResponse<'static>> {
    let reference: ServiceReference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let ServiceReference::Card(id) = reference else { return Err(no_such_payment()) };
    let payment = caller.app.engine.payment(caller.view.environment.id, id).await;
    respond::ok(&payment_response::read_back(&payment.map_err(from_read_error)?))
}

/// A reference of another environment looks like one that never was.
pub(crate) fn no_such_payment() -> ApiError {
    ApiError::not_found("No payment with this serviceReference in this key's environment.")
}

pub(crate) fn from_read_error(error: ReadError) -> ApiError {
    match error {
        ReadError::Missing => no_such_payment(),
        ReadError::Store(error) => error.into(),
    }
}

pub(crate) async fn prepare_component(
    Preparer(caller): Preparer,
    body: JsonBody<ComponentBody>,
) -> CreatedOnce<PaymentResponse<'static>> {
    prepare_flow(caller, body.0, Flow::PaymentComponent).await
}

const MAX_DESCRIPTION_LENGTH: usize = 500;
const MAX_NAME_LENGTH: usize = 160;

type DescriptionText = scalars::Prose<MAX_DESCRIPTION_LENGTH>;
type NameText = scalars::Prose<MAX_NAME_LENGTH>;

bodies! {
    PrepareBody as PaymentRequest {
        amount_minor: scalars::AmountInput,
        currency: scalars::CurrencyInput,
        payment_method: Option<scalars::CardMethodInput>,
        description: Option<DescriptionText>,
        customer: Option<CustomerBody<'static>>,
        metadata: Option<scalars::MetadataInput>,
        /// When the money is taken: `automatic` as soon as the customer pays, `manual` when you capture it. 400 where the selected
        /// provider cannot hold it.
        capture: Option<words::Capture>,
        /// The card that will be charged, if it is known. The fee is decided once the provider has told it.
        card: Option<CardBody<'static>>,
        /// Where the payer is, which decides a card fee that has a kind.
        payer: Option<PayerBody<'static>>,
        /// Whether the payment is one of a series: a subscription, installments. False where it is left out.
        recurring: Option<bool>,
        /// Hosted checkout only: where the customer goes after paying.
        success_url: Option<scalars::ReturnUrlInput>,
        /// Hosted checkout only: where the customer goes without having paid.
        cancel_url: Option<scalars::ReturnUrlInput>,
    }
}

/// The same for an embedded component, which sends nobody anywhere.
pub(crate) struct ComponentBody;

impl PartialSchema for ComponentBody {
    fn schema() -> RefOr<Schema> {
        let mut body = serde_json::to_value(PrepareBody::schema()).unwrap_or_default();
        if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| !["successUrl", "cancelUrl"].contains(&name.as_str()));
        }
        scalars::schema(body)
    }
}

impl ToSchema for ComponentBody {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ComponentRequest")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        PrepareBody::schemas(schemas);
    }
}

bodies! {
    CustomerBody as CustomerInput {
        name: Option<NameText>,
        email: Option<scalars::EmailInput>,
    }
}

/// Reads a preparation's body, naming every faulty field.
fn read_body(
    bytes: &[u8],
    headers: &HeaderMap,
    flow: Flow,
    caller: KeyKind,
    configuration: &Configuration,
) -> Result<PrepareRequest, ApiError> {
    let (settings, rules) = (&configuration.settings, &configuration.fee_rules);
    let body: PrepareBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let principal = fields::amount("amountMinor", body.amount_minor, &mut errors);
    let method = fields::word(
        "paymentMethod",
        body.payment_method,
        PaymentMethod::WebCard,
        |text| PaymentMethod::parse(text).filter(|method| *method == PaymentMethod::WebCard),
        "web_card",
        &mut errors,
    );
    let currency = fields::currency(body.currency, method, &mut errors);
    let description =
        fields::optional_text("description", body.description, MAX_DESCRIPTION_LENGTH, &mut errors);
    let (customer_name, customer_email) = read_customer(body.customer, &mut errors);
    let pairs = metadata_field::read(body.metadata, bytes, &mut errors);
    // An embedded component sends nobody anywhere.
    let (success_url, cancel_url) = match flow {
        Flow::HostedCheckout => (body.success_url, body.cancel_url),
        Flow::PaymentComponent => (None, None),
    };
    let capture = fields::word(
        "capture",
        body.capture,
        CaptureMode::Automatic,
        CaptureMode::parse,
        "automatic, manual",
        &mut errors,
    );
    let facts = CardFeeFields {
        card: body.card,
        payer: body.payer,
        recurring: body.recurring,
        payment_method_type: None,
    };
    let card_fee = card_fee_fields::read(&facts, method, rules, &mut errors);
    let idempotency_key = idempotency_key::from_header(headers, &mut errors);
    let success_url = fields::return_url("successUrl", success_url, settings, &mut errors);
    let cancel_url = fields::return_url("cancelUrl", cancel_url, settings, &mut errors);
    let read = (|| {
        Some(PrepareRequest {
            quote: QuoteRequest {
                principal: principal?,
                currency: currency?,
                method: method?,
                flow: Some(flow),
                metadata: pairs?,
                card_fee: card_fee?,
            },
            flow,
            description,
            customer_name,
            customer_email,
            metadata: metadata_text(body.metadata),
            capture: capture?,
            success_url,
            cancel_url,
            idempotency_key,
            caller,
        })
    })();
    fields::complete(errors, read)
}

fn read_customer(raw: Raw<'_>, errors: &mut FieldErrors) -> (Option<String>, Option<String>) {
    let Some(raw) = raw else { return (None, None) };
    let JsonText::Object(text) = JsonText::of(raw) else {
        errors.add::<()>("customer", "must be a JSON object");
        return (None, None);
    };
    let Ok(customer) = unknown_fields::read::<CustomerBody<'_>>(Some("customer"), text) else {
        errors.add::<()>("customer", "has a duplicate field");
        return (None, None);
    };
    let name = fields::optional_text("customer.name", customer.name, MAX_NAME_LENGTH, errors);
    (name, fields::email("customer.email", customer.email, errors))
}

impl From<PrepareError> for ApiError {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Unroutable(why) => why.into(),
            PrepareError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            PrepareError::Unacceptable(OrderFault { field: field @ "capture", message }) => {
                Self::invalid(vec![Detail { field: field.into(), message: message.into() }])
            }
            PrepareError::Unacceptable(fault) => {
                let OrderFault { field, message } = fault;
                Self::provider_rejected(format!("{field} {message}. Nothing was recorded."))
                    .with_details(vec![Detail { field: field.into(), message: message.into() }])
            }
            PrepareError::Rejected(failure) => {
                Self::provider_rejected(format!("The provider rejected the payment: {}", failure.message))
            }
            PrepareError::Unavailable { retry_after } => Self::provider_unavailable(retry_after),
            PrepareError::CircuitOpen(open) => Self::circuit_open(&open),
            PrepareError::Unrecorded => Self::outcome_unknown(
                "The payment could not be recorded after the provider prepared it. It is being canceled; prepare it \
                 again.",
                "preparation not recorded".to_owned(),
            ),
            PrepareError::Recorded { reference, error } => match *error {
                error @ PrepareError::Rejected(_) => error.into(),
                error => Self::from(error).about(&reference),
            },
            PrepareError::KeyReused(fields) => idempotency_key::conflict(fields),
            PrepareError::TooManyConflicts(limited) => idempotency_key::too_many_conflicts(limited),
            PrepareError::LimitExceeded(exceeded) => exceeded.into(),
            PrepareError::Replayed(error) => Self::from(*error).replayed(),
            PrepareError::UnderWay => Self::provider_unavailable(Duration::from_secs(2)),
            PrepareError::Store(StoreError::Unknown(why)) => Self::outcome_unknown(
                "It is unknown whether the payment was recorded, but it cannot be paid. Prepare it again.",
                why,
            ),
            PrepareError::Store(error) => error.into(),
            PrepareError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
