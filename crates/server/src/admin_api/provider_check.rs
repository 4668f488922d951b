//! `POST /admin/v1/environments/<id>/providers/<name>/test`: a provider's configuration, checked at the provider.

use serde::Deserialize;
use tollgate_engine::{ProviderCheckError, ports::ProviderCheck};
use utoipa::ToSchema;

use crate::{json::text::JsonText, prelude::*};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderTestRequest)]
pub(crate) struct TestBody<'a> {
    /// Create the webhook endpoint at the provider if none sends here, and store its secret.
    #[serde(borrow)]
    #[schema(value_type = Option<bool>)]
    register_webhook: Raw<'a>,
}

responses! {
    TestResponse as ProviderTest {
        /// Whether every check passed.
        ok: bool,
        /// The version of the configuration that was checked.
        config_version: u64,
        checked_at: Moment,
        checks: Vec<CheckResponse>,
    }

    CheckResponse as ProviderTestCheck {
        /// Such as `credentials`, `mode`, `account`, `webhook_events`, `clock`.
        name: String,
        ok: bool,
        message: String,
        /// What to do; null where the check passed.
        hint: Option<String>,
    }
}

impl From<ProviderCheck> for CheckResponse {
    fn from(check: ProviderCheck) -> Self {
        let ProviderCheck { name, ok, message, hint } = check;
        Self { name, ok, message, hint }
    }
}

pub(crate) async fn run(operator: Operator, body: OptionalBody<TestBody<'static>>) -> Done<TestResponse> {
    let environment = operator.path("environment")?;
    let name: String = operator.path("provider")?;
    let body = body.bytes(&operator.headers).await?;
    let register = read_register(&body)?;
    let engine = &operator.app.engine;
    let checked = engine.check_provider(environment, &name, register, operator.origin.clone()).await?;
    respond::ok(&TestResponse {
        ok: checked.is_ok(),
        config_version: checked.config_version,
        checked_at: Moment(checked.at),
        checks: checked.checks.into_iter().map(CheckResponse::from).collect(),
    })
}

fn read_register(body: &[u8]) -> Result<bool, ApiError> {
    let body: TestBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let register = match body.register_webhook.map(JsonText::of) {
        None => Some(false),
        Some(JsonText::Boolean(register)) => Some(register),
        Some(_) => errors.add("registerWebhook", "must be true or false"),
    };
    fields::complete(errors, register)
}

impl From<ProviderCheckError> for ApiError {
    fn from(error: ProviderCheckError) -> Self {
        match error {
            ProviderCheckError::Missing => not_found_here(),
            ProviderCheckError::Configure(error) => error.into(),
            ProviderCheckError::Store(error) => error.into(),
        }
    }
}
