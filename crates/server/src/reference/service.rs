//! What is asked for by others than callers and operators: providers, customers' browsers, monitoring, readers.

use http::StatusCode;
use serde_json::json;

use crate::{
    operations::StatusResponse,
    provider_webhooks::WebhookResponse,
    reference::{
        operation::{Credential, Described, operation},
        schemas::Schemas,
    },
    response::error_code::ErrorCode,
};

const SERVICE: &str = "Service";

pub(crate) fn operations(schemas: &mut Schemas) -> Vec<Described> {
    let page = || json!({"type": "string"});
    let open = |name, summary| operation(name, SERVICE, Credential::None, summary);
    vec![
        open("webhook", "Receive a provider's webhook")
            .says("Give this address to the provider, as `provider_list` has it. The raw body's signature is checked first.")
            .takes_raw()
            .answers::<WebhookResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::Unauthenticated, ErrorCode::ProviderNotConfigured]),
        open("checkout_paid", "Thank a customer")
            .says("Where a hosted checkout ends without a `successUrl`.")
            .answers_bare("text/html", page())
            .without_store(),
        open("checkout_canceled", "Tell a customer that nothing was paid")
            .says("Where a hosted checkout ends without a `cancelUrl`.")
            .answers_bare("text/html", page())
            .without_store(),
        open("health", "Is it alive?").answers::<StatusResponse>(schemas, StatusCode::OK).without_store(),
        open("ready", "Would it take work?")
            .says("Its database answers and can be written to.")
            .answers::<StatusResponse>(schemas, StatusCode::OK),
        open("metrics", "Read the metrics")
            .answers_bare("application/openmetrics-text", page())
            .without_store(),
        open("openapi", "Read this document")
            .answers_bare("application/json", json!({"type": "object", "additionalProperties": true}))
            .without_store(),
        open("docs", "Show this document")
            .answers_bare("text/html", page())
            .without_store(),
        open("docs_script", "Read the script of that page")
            .answers_bare("text/javascript", page())
            .without_store(),
    ]
}
