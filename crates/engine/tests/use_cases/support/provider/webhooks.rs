//! The providers' webhooks: signed with a shared secret, naming the object they are about.

use serde_json::Value;
use tollgate_configuration::Provider;
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{InboundWebhook, SignatureError, UnreadableEvent, WebhookNotice, Webhooks};

pub(crate) const WEBHOOK_SECRET: &str = "the webhooks' secret";
pub(crate) const SIGNATURE: &str = "signature";

pub(super) struct Reader {
    pub(super) tells_of_other_sales: bool,
}

impl Webhooks for Reader {
    fn tells_of_other_sales(&self) -> bool {
        self.tells_of_other_sales
    }

    fn verify(
        &self,
        provider: &Provider,
        delivery: InboundWebhook<'_>,
        _: Timestamp,
    ) -> Result<(), SignatureError> {
        let secret = provider.credential("webhookSecret").or(provider.credential("webhookSignatureKey"));
        let secret = secret.ok_or(SignatureError::NoSecret)?;
        let signature = delivery.headers.iter().find(|(name, _)| name == SIGNATURE);
        let (_, signature) = signature.ok_or(SignatureError::Malformed)?;
        if signature == secret { Ok(()) } else { Err(SignatureError::Forged) }
    }

    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
        vec![translate(body)]
    }
}

fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let body: Value = serde_json::from_slice(body).map_err(|error| UnreadableEvent(error.to_string()))?;
    {
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        Ok(WebhookNotice {
            event: text("id").unwrap_or_default(),
            kind: text("type").unwrap_or_default(),
            relevant: body["type"] != "ping",
            objects: text("object").into_iter().collect(),
            reference: text("reference"),
            account: text("account"),
            names_only: text("namesOnly"),
            taken_back: text("takenBack"),
            is_creation: body["type"] == "created",
            is_ping: body["type"] == "ping",
            ..WebhookNotice::default()
        })
    }
}
