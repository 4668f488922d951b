//! `/v1/payment_method_domains`.

use super::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Domain {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) created: i64,
}

impl Kept for Domain {
    fn label(&self) -> Option<&str> {
        Some(&self.name)
    }
}

impl Domain {
    pub(crate) fn json(&self) -> Value {
        let active = || json!({ "status": "active" });
        // Names that lead nowhere by definition cannot show that they belong to the merchant.
        let apple_pay = if self.name.ends_with(".invalid") {
            let message = "The domain could not be reached over HTTPS.";
            json!({ "status": "inactive", "status_details": { "error_message": message } })
        } else {
            active()
        };
        json!({
            "id": self.id, "object": "payment_method_domain", "amazon_pay": active(),
            "apple_pay": apple_pay, "created": self.created, "domain_name": self.name,
            "enabled": self.enabled, "google_pay": active(), "klarna": active(), "link": active(),
            "livemode": false, "paypal": active(),
        })
    }
}

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["domain_name enabled expand[#]"])?;
    let name = call.params.required("domain_name")?.to_ascii_lowercase();
    let is_host = name.contains('.') && !name.contains(['/', ':', ' ']);
    if !is_host {
        let message =
            format!("Invalid domain name: {name}. Provide a domain without a scheme, port or path.");
        return Err(Error::invalid(message).param("domain_name"));
    }
    if let Some(known) = state.domains.labeled(Some(&name)).find(|known| known.name == name) {
        return Ok(known.json());
    }
    let enabled = call.params.boolean("enabled")?.unwrap_or(true);
    let domain = Domain { id: call.context.id("pmd_"), name, enabled, created: call.context.now };
    state.domains.put(&domain.id, domain.clone());
    Ok(domain.json())
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&list::with(&["domain_name", "enabled"]))?;
    let (name, enabled) = (call.params.text("domain_name"), call.params.boolean("enabled")?);
    list::page(&state.domains, &call.params, "/v1/payment_method_domains", Domain::json, |domain| {
        name.is_none_or(|name| domain.name == name) && enabled.is_none_or(|enabled| domain.enabled == enabled)
    })
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let missing = || Error::not_found("payment_method_domain", &call.id, "payment_method_domain");
    state.domains.get(&call.id).map(Domain::json).ok_or_else(missing)
}
