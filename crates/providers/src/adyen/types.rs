//! The provider's answers and notifications, as far as they are read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::text::id;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Amount {
    #[serde(default)]
    pub(super) currency: String,
    pub(super) value: Option<i64>,
}

/// An error of Checkout, or of the Management API, which writes it in another form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorBody {
    pub(super) error_code: Option<String>,
    pub(super) error_type: Option<String>,
    pub(super) message: Option<String>,
    pub(super) detail: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) session_data: String,
    pub(super) reference: String,
    pub(super) amount: Amount,
}

#[derive(Deserialize)]
pub(super) struct SessionResult {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) reference: Option<String>,
    #[serde(default)]
    pub(super) payments: Vec<SessionPayment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionPayment {
    pub(super) psp_reference: Option<String>,
    pub(super) result_code: Option<String>,
    pub(super) amount: Option<Amount>,
}

#[derive(Deserialize)]
pub(super) struct Link {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) url: String,
    pub(super) status: String,
    pub(super) reference: String,
    pub(super) amount: Amount,
}

/// A capture, cancel or refund that was taken.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Modification {
    #[serde(deserialize_with = "id")]
    pub(super) psp_reference: String,
    pub(super) reference: Option<String>,
    pub(super) amount: Option<Amount>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notification {
    pub(super) live: Value,
    pub(super) notification_items: Vec<Wrapper>,
}

#[derive(Deserialize)]
pub(super) struct Wrapper {
    #[serde(rename = "NotificationRequestItem")]
    pub(super) item: Item,
}

/// One event. What is absent is empty where it is signed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct Item {
    pub(super) additional_data: BTreeMap<String, Value>,
    pub(super) amount: Amount,
    pub(super) event_code: String,
    pub(super) event_date: String,
    pub(super) merchant_account_code: String,
    pub(super) merchant_reference: String,
    pub(super) original_reference: String,
    pub(super) psp_reference: String,
    pub(super) reason: Option<String>,
    pub(super) success: String,
}

impl Item {
    pub(super) fn data(&self, name: &str) -> Option<&str> {
        self.additional_data.get(name)?.as_str()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Me {
    pub(super) client_key: Option<String>,
    #[serde(default)]
    pub(super) roles: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Webhooks {
    #[serde(default)]
    pub(super) data: Vec<Webhook>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhook {
    pub(super) id: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) active: bool,
    pub(super) additional_settings: Option<WebhookSettings>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookSettings {
    pub(super) include_event_codes: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HmacKey {
    pub(super) hmac_key: String,
}
