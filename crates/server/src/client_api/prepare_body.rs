//! The body of a card preparation, hosted or embedded.

use serde::Deserialize;
use tollgate_configuration::Settings;
use tollgate_domain::{Flow, PaymentMethod};
use tollgate_engine::{PrepareError, PrepareRequest, QuoteRequest};

use crate::{
    body,
    error::ApiError,
    fields::{self, Faults, Raw},
    json_text::JsonText,
    metadata_field::{self, metadata_text},
};

const LONGEST_DESCRIPTION: usize = 500;
const LONGEST_NAME: usize = 160;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrepareBody<'a> {
    #[serde(borrow)]
    amount_minor: Raw<'a>,
    #[serde(borrow)]
    currency: Raw<'a>,
    #[serde(borrow)]
    payment_method: Raw<'a>,
    #[serde(borrow)]
    description: Raw<'a>,
    #[serde(borrow)]
    customer: Raw<'a>,
    #[serde(borrow)]
    metadata: Raw<'a>,
    #[serde(borrow)]
    success_url: Raw<'a>,
    #[serde(borrow)]
    cancel_url: Raw<'a>,
}

#[derive(Deserialize, Default)]
struct CustomerBody<'a> {
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    email: Raw<'a>,
}

/// Reads a preparation's body, naming every faulty field.
pub(crate) fn read(bytes: &[u8], flow: Flow, settings: &Settings) -> Result<PrepareRequest, ApiError> {
    let body: PrepareBody<'_> = body::parse_object(bytes)?;
    let mut faults = Faults::default();
    let principal = fields::amount("amountMinor", body.amount_minor, &mut faults);
    let method = fields::word(
        "paymentMethod",
        body.payment_method,
        PaymentMethod::WebCard,
        |text| PaymentMethod::parse(text).filter(|method| *method == PaymentMethod::WebCard),
        "web_card",
        &mut faults,
    );
    let currency = fields::currency(body.currency, method, &mut faults);
    let description =
        fields::optional_text("description", body.description, LONGEST_DESCRIPTION, &mut faults);
    let (customer_name, customer_email) = read_customer(body.customer, &mut faults);
    let pairs = metadata_field::read(body.metadata, bytes, &mut faults);
    // An embedded component sends nobody anywhere.
    let (success_url, cancel_url) = match flow {
        Flow::HostedCheckout => (body.success_url, body.cancel_url),
        Flow::PaymentComponent => (None, None),
    };
    let success_url = fields::return_url("successUrl", success_url, settings, &mut faults);
    let cancel_url = fields::return_url("cancelUrl", cancel_url, settings, &mut faults);
    let read = (|| {
        Some(PrepareRequest {
            quote: QuoteRequest {
                principal: principal?,
                currency: currency?,
                method: method?,
                flow: Some(flow),
                metadata: pairs?,
            },
            flow,
            description,
            customer_name,
            customer_email,
            metadata: metadata_text(body.metadata),
            success_url,
            cancel_url,
        })
    })();
    fields::complete(faults, read)
}

fn read_customer(raw: Raw<'_>, faults: &mut Faults) -> (Option<String>, Option<String>) {
    let Some(raw) = raw else { return (None, None) };
    let JsonText::Object(text) = JsonText::of(raw) else {
        faults.add::<()>("customer", "must be a JSON object");
        return (None, None);
    };
    let Ok(customer) = serde_json::from_str::<CustomerBody<'_>>(text) else {
        faults.add::<()>("customer", "has a field twice");
        return (None, None);
    };
    let name = fields::optional_text("customer.name", customer.name, LONGEST_NAME, faults);
    (name, fields::email("customer.email", customer.email, faults))
}

impl From<PrepareError> for ApiError {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Unroutable(why) => why.into(),
            PrepareError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            PrepareError::Rejected(failure) => {
                Self::provider_rejected(format!("The provider refused the payment: {}", failure.message))
            }
            PrepareError::Unavailable { retry_after } => Self::provider_unavailable(retry_after),
            PrepareError::Store(error) => error.into(),
            PrepareError::Randomness(error) => Self::internal(error.to_string()),
        }
    }
}
