//! Domains registered for Apple Pay, Google Pay and the like.

use serde_json::Value;
use tollgate_engine::ports::{CallError, DomainWallet, RegisteredDomain};

use super::{
    call::{ApiClient, interpret},
    form::Form,
    request,
    types::{Domain, DomainList},
};
use crate::{
    failure::not_offered,
    retry::CallSession,
    text::{is_id, quote},
};

/// Registers a domain, or has one that is registered validated again.
pub(super) async fn register(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    domain: &str,
) -> Result<RegisteredDomain, CallError> {
    let list =
        api.get("payment_method_domains.list", "payment_method_domains", request::domain_query(domain))?;
    let known = calls.run(&list, interpret::<DomainList>).await?.data.into_iter().next();
    let call = match known {
        Some(known) if is_id(&known.id) => {
            let path = format!("payment_method_domains/{}/validate", known.id);
            api.post("payment_method_domains.validate", &path, Form::new(), None)?
        }
        Some(_) => return Err(not_offered("The provider's id of this domain cannot be read.")),
        None => {
            let form = request::domain(domain);
            api.post("payment_method_domains.create", "payment_method_domains", form, None)?
        }
    };
    calls.run(&call, interpret::<Domain>).await.map(registered)
}

/// A wallet is whatever says that it is active or not.
fn registered(domain: Domain) -> RegisteredDomain {
    let wallets = domain.fields.into_iter().filter_map(|(name, value)| {
        let status = value.get("status").and_then(Value::as_str)?;
        let problem = value.pointer("/status_details/error_message").and_then(Value::as_str).map(quote);
        Some(DomainWallet { name, is_active: status == "active", problem })
    });
    RegisteredDomain { id: domain.id, domain: domain.name, wallets: wallets.collect() }
}
