//! `/v1/payment_method_domains`.

use serde_json::Value;

use super::call::Call;
use super::error::StripeError;
use super::list;
use super::objects::Domain;
use super::state::StripeState;

pub(super) fn create(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["domain_name enabled expand[#]"])?;
    let name = call.params.required("domain_name")?.to_ascii_lowercase();
    let is_host = name.contains('.') && !name.contains(['/', ':', ' ']);
    if !is_host {
        let message =
            format!("Invalid domain name: {name}. Provide a domain without a scheme, port or path.");
        return Err(StripeError::invalid(message).param("domain_name"));
    }
    if let Some(known) = state.domains.labeled(Some(&name)).find(|known| known.name == name) {
        return Ok(known.json());
    }
    let enabled = call.params.boolean("enabled")?.unwrap_or(true);
    let domain = Domain { id: call.context.id("pmd_"), name, enabled, created: call.context.now };
    state.domains.put(&domain.id, domain.clone());
    Ok(domain.json())
}

pub(super) fn list(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&list::with(&["domain_name", "enabled"]))?;
    let (name, enabled) = (call.params.text("domain_name"), call.params.boolean("enabled")?);
    list::page(&state.domains, &call.params, "/v1/payment_method_domains", Domain::json, |domain| {
        name.is_none_or(|name| domain.name == name) && enabled.is_none_or(|enabled| domain.enabled == enabled)
    })
}

pub(super) fn retrieve(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    let missing = || StripeError::not_found("payment_method_domain", &call.id, "payment_method_domain");
    state.domains.get(&call.id).map(|domain| domain.json()).ok_or_else(missing)
}
