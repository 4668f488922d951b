//! `POST /admin/v1/environments/<id>/providers/<name>/test`: a provider's configuration, checked at the provider.

use tollgate_engine::{ProviderCheckError, ports::ProviderCheck};

use crate::prelude::*;

requests! {
    TestBody as ProviderTestRequest {
        /// Create the webhook endpoint at the provider if none sends here, and store its secret.
        register_webhook: Option<bool>,
    }
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

pub(crate) async fn run(operator: Operator, body: OptionalBody<TestBody>) -> Done<TestResponse> {
    let environment = operator.path("environment")?;
    let name: String = operator.path("provider")?;
    let register = body.read(&operator).await?.register_webhook.unwrap_or(false);
    let engine = &operator.app.engine;
    let checked = engine.check_provider(environment, &name, register, operator.origin.clone()).await?;
    respond::ok(&TestResponse {
        ok: checked.is_ok(),
        config_version: checked.config_version,
        checked_at: Moment(checked.at),
        checks: checked.checks.into_iter().map(CheckResponse::from).collect(),
    })
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
