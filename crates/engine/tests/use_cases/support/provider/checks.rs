//! The providers' webhook endpoints: one is made once per key, and its secret is shown to whoever has that key.

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_engine::ports::{
    Call, CheckReport, CheckSubject, NewWebhook, ProviderCheck, ProviderChecks, RegisteredWebhook,
};

use super::{Line, WebhookEndpoint};
use crate::support::faults::CallKind;

pub(super) struct Checks(pub(super) Line);

#[async_trait]
impl ProviderChecks for Checks {
    async fn check(&self, subject: CheckSubject<'_>) -> CheckReport {
        let asked = self.0.ask("check", CallKind::ProviderRead, subject.provider, |records, account| {
            let sends_here = records.endpoints.iter().any(|endpoint| endpoint.url == subject.webhook_url);
            Ok((sends_here, format!("account {account}")))
        });
        let Call { outcome, logs } = asked.await;
        let check = match outcome {
            Ok((true, _)) => ProviderCheck::pass("webhook_url", "It sends here."),
            _ => ProviderCheck::fail("webhook_url", "It does not send here.", "Register it."),
        };
        CheckReport { checks: vec![check], logs, account: outcome.ok().map(|(_, account)| account) }
    }

    async fn register_webhook(
        &self,
        provider: &Provider,
        new: NewWebhook<'_>,
    ) -> Option<Call<RegisteredWebhook>> {
        if !self.0.offers("register_webhook") {
            return None;
        }
        let register = self.0.ask("register_webhook", CallKind::Command, provider, |records, _| {
            let found = records.endpoints.iter().find(|endpoint| endpoint.url == new.url);
            if let Some(found) = found {
                let secret = (found.key == new.key).then(|| new.secret.clone());
                return Ok(RegisteredWebhook { id: "endpoint".to_owned(), is_new: false, secret });
            }
            records.endpoints.push(WebhookEndpoint {
                url: new.url.to_owned(),
                key: new.key.to_owned(),
                secret: new.secret.expose().to_owned(),
            });
            let secret = Some(new.secret.clone());
            Ok(RegisteredWebhook { id: "endpoint".to_owned(), is_new: true, secret })
        });
        Some(register.await)
    }
}
