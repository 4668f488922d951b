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
            .says("Register this URL with the provider; `provider_list` shows it. The signature of the raw body is verified first.")
            .takes_raw()
            .answers::<WebhookResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::Unauthenticated]),
        open("checkout_paid", "Checkout success page")
            .says("Shown after a hosted checkout without a `successUrl`.")
            .answers_bare("text/html", page())
            .without_store(),
        open("checkout_canceled", "Checkout cancel page")
            .says("Shown after a hosted checkout without a `cancelUrl`.")
            .answers_bare("text/html", page())
            .without_store(),
        open("health", "Liveness check").answers::<StatusResponse>(schemas, StatusCode::OK).without_store(),
        open("ready", "Readiness check")
            .says("Ready if the database responds and accepts writes.")
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
        open("error_reference", "Explain every error code")
            .says("Each code has an anchor of its own name; failures point there in `error.docs`.")
            .answers_bare("text/html", page())
            .without_store(),
        open("browser_script", "Read the script for card fields on your page")
            .says("An ES module for browsers: `mount` draws the card fields of a prepared payment, whichever provider it was routed to.")
            .answers_bare("text/javascript", page())
            .without_store(),
    ]
}
