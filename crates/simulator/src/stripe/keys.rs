//! Who calls: the account's secret key, the browser's, or a key that may do only some things.

use super::prelude::*;
use http::Method;
use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Permissions {
    /// As the provider names them: `rak_charge_read`. Without a list the key may do everything.
    #[serde(rename = "permissions")]
    granted: Option<BTreeSet<String>>,
}

/// What a permission is called that lets a key do this.
fn resource(operation: &str) -> &'static str {
    match operation.rsplit_once('.').map_or(operation, |(resource, _)| resource) {
        "payment_intents" => "payment_intent",
        "checkout.sessions" => "checkout_session",
        "charges" | "refunds" => "charge",
        "disputes" => "dispute",
        "events" => "event",
        "balance" => "balance",
        // Beside the permission to read connected accounts, and not part of it.
        "account" => "accounts_kyc_basic",
        "accounts" => "connected_account",
        "webhook_endpoints" => "webhook",
        "payment_methods" => "payment_method",
        "confirmation_tokens" | "test_helpers.confirmation_tokens" => "confirmation_token",
        _ => "payment_method_domain",
    }
}

/// What may be shown whole only to a key that may read it.
fn expanded(step: &str) -> Option<&'static str> {
    match step {
        "latest_charge" | "charge" | "refunds" => Some("charge"),
        "payment_intent" => Some("payment_intent"),
        _ => None,
    }
}

impl Permissions {
    /// Refuses what the key may not do, and says what it lacks.
    pub(super) fn check(
        &self,
        (key, account): (&str, &str),
        (method, operation): (&Method, &str),
        expand: &[&str],
    ) -> Answer<()> {
        let Some(granted) = &self.granted else { return Ok(()) };
        let may = |resource: &str, level: &str| granted.contains(&format!("rak_{resource}_{level}"));
        let may_read = |resource: &str| {
            may(resource, "read")
                || may(resource, "write")
                // A key that may read sessions may read what they lead to.
                || (resource == "payment_intent"
                    && (may("checkout_session", "read") || may("checkout_session", "write")))
        };
        let asked = resource(operation);
        let missing = if method == Method::GET {
            (!may_read(asked)).then(|| format!("rak_{asked}_read"))
        } else {
            (!may(asked, "write")).then(|| format!("rak_{asked}_write"))
        };
        let steps = expand.iter().flat_map(|path| path.split('.')).filter_map(expanded);
        let unreadable = || steps.into_iter().find(|step| !may_read(step));
        let Some(missing) = missing.or_else(|| unreadable().map(|step| format!("rak_{step}_read"))) else {
            return Ok(());
        };
        let (first, last) = (key.get(..8).unwrap_or_default(), key.get(key.len().saturating_sub(6)..));
        let message = format!(
            "The provided key '{first}***{}' does not have the required permissions for this endpoint on account \
             '{account}'. Having the '{missing}' permission would allow this request to continue.",
            last.unwrap_or_default()
        );
        Err(Error { status: StatusCode::FORBIDDEN, ..Error::invalid(message) })
    }
}
