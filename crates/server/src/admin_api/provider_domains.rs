//! `POST /admin/v1/environments/<id>/providers/<name>/domains`: registers a shop's web domain for wallets.

use std::{borrow::Cow, time::Duration};

use serde_json::{json, value::RawValue};
use tollgate_engine::{Audited, RegisterDomainError, ports::RegisteredDomain};
use tracing::info;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::prelude::*;

const MAX_DOMAIN_LENGTH: usize = 253;
const DOMAIN_RULE: &str = "must be a host name such as `shop.example.com`, without scheme, port or path";

const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(2);

/// A host name as the API takes it.
pub(crate) struct HostName;

impl PartialSchema for HostName {
    fn schema() -> RefOr<Schema> {
        let label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
        let pattern = format!(r"^{label}(\.{label})+$");
        scalars::schema(json!({"type": "string", "maxLength": MAX_DOMAIN_LENGTH, "pattern": pattern}))
    }
}

impl ToSchema for HostName {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("=HostName")
    }
}

impl Field for HostName {
    type Value = String;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<String> {
        let domain = fields::required_text(name, Some(raw), MAX_DOMAIN_LENGTH, &mut form.errors)?;
        let domain = domain.to_ascii_lowercase();
        if is_host_name(&domain) { Some(domain) } else { form.errors.add(name, DOMAIN_RULE) }
    }
}

requests! {
    DomainBody as ProviderDomainRequest {
        /// The host name of the page that shows the component, such as `shop.example.com`.
        domain: HostName,
    }
}

responses! {
    DomainResponse as ProviderDomain {
        /// The provider's ID of the registration.
        id: String,
        domain: String,
        wallets: Vec<WalletResponse>,
    }

    WalletResponse as ProviderDomainWallet {
        /// Such as `apple_pay` or `google_pay`.
        name: String,
        /// Whether the provider's component shows it on this domain.
        active: bool,
        /// Why not, in the provider's words.
        problem: Option<String>,
    }
}

impl DomainResponse {
    fn of(registered: RegisteredDomain) -> Self {
        let wallets = registered.wallets.into_iter().map(|wallet| WalletResponse {
            name: wallet.name,
            active: wallet.is_active,
            problem: wallet.problem,
        });
        Self { id: registered.id, domain: registered.domain, wallets: wallets.collect() }
    }
}

pub(crate) async fn register(operator: Operator, body: JsonBody<DomainBody>) -> Done<DomainResponse> {
    let environment = operator.known_environment()?;
    let provider: String = operator.path("provider")?;
    let DomainBody { domain } = body.read(&operator).await?;
    let audited = Audited::new("provider.register_domain", &provider)
        .in_environment(environment)
        .after(json!({ "domain": domain }));
    operator.app.engine.record_action(&operator.origin, audited).await?;
    let registered = operator.app.engine.register_domain(environment, &provider, &domain).await?;
    let (actor, request_id) = (&operator.origin.actor, &operator.origin.request);
    info!(request_id, actor, provider, domain, "domain registered at the provider");
    respond::ok(&DomainResponse::of(registered))
}

fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (1..=63).contains(&label.len()) && plain && !label.starts_with('-') && !label.ends_with('-')
    };
    text.contains('.') && text.split('.').all(is_label)
}

impl From<RegisterDomainError> for ApiError {
    fn from(error: RegisterDomainError) -> Self {
        match error {
            RegisterDomainError::Missing => not_found_here(),
            RegisterDomainError::NotOffered(provider) => Self::provider_rejected(format!(
                "The provider `{provider}` does not register domains by API; do it in its dashboard."
            )),
            RegisterDomainError::NotConfigured { provider, missing } => {
                Self::provider_not_configured(&provider, &missing)
            }
            RegisterDomainError::Rejected(failure) => {
                Self::provider_rejected(format!("The domain was not registered. {}", failure.message))
            }
            RegisterDomainError::Unavailable(transient) => {
                let message = "The provider did not respond; register the domain again.";
                Self::new(ErrorCode::ProviderUnavailable, message)
                    .retry_after(transient.retry_after.unwrap_or(DEFAULT_RETRY_AFTER))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_host_name;

    #[test]
    fn host_names() {
        for good in ["shop.example.com", "example.co", "xn--bcher-kva.example", "a-b.example"] {
            assert!(is_host_name(good), "{good}");
        }
        for bad in [
            "localhost",
            "https://shop.example",
            "shop.example/",
            "shop.example:443",
            "-a.example",
            "a..b",
            "",
        ] {
            assert!(!is_host_name(bad), "{bad}");
        }
    }
}
