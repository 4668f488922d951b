//! The checkout Session object.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::with_unset;
use crate::collection::{Kept, Word, word};
use crate::stripe::form::Params;

/// A visit to the hosted page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    #[serde(with = "word")]
    pub(crate) status: Word,
    pub(crate) intent: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) cancel_url: Option<String>,
    pub(crate) success_url: String,
    /// What is bought, for the page.
    pub(crate) items: Vec<String>,
    pub(crate) client_reference_id: Option<String>,
    pub(crate) created: i64,
    pub(crate) customer_email: Option<String>,
    pub(crate) expires_at: i64,
    pub(crate) intent_params: Params,
    pub(crate) paid: bool,
    pub(crate) url: String,
    pub(crate) method_types: Vec<String>,
    /// What the buyer is shown in a currency of their own: amount and currency.
    pub(crate) presentment: Option<(i64, String)>,
    /// The connected account it was made for.
    pub(crate) account: Option<String>,
}

impl Kept for Session {}

impl Session {
    pub(crate) fn is_open(&self) -> bool {
        self.status == "open"
    }

    pub(crate) fn json(&self) -> Value {
        let session = json!({
            "id": self.id,
            "object": "checkout.session",
            "adaptive_pricing": { "enabled": self.presentment.is_some() },
            "amount_subtotal": self.amount,
            "amount_total": self.amount,
            "automatic_tax": { "enabled": false, "liability": null, "provider": null, "status": null },
            "cancel_url": self.cancel_url,
            "client_reference_id": self.client_reference_id,
            "created": self.created,
            "currency": self.currency,
            "custom_fields": [],
            "custom_text": {
                "after_submit": null,
                "shipping_address": null,
                "submit": null,
                "terms_of_service_acceptance": null,
            },
            "customer_creation": "if_required",
            "customer_details": {
                "address": null,
                "business_name": null,
                "email": self.customer_email,
                "individual_name": null,
                "name": null,
                "phone": null,
                "tax_exempt": "none",
                "tax_ids": [],
            },
            "customer_email": self.customer_email,
            "expires_at": self.expires_at,
            "livemode": false,
            "metadata": self.metadata,
            "mode": "payment",
            "payment_intent": self.intent,
            "payment_method_collection": "if_required",
            "payment_method_options": {},
            "payment_method_types": self.method_types,
            "payment_status": if self.paid { "paid" } else { "unpaid" },
            "phone_number_collection": { "enabled": false },
            "shipping_options": [],
            "status": self.status,
            "success_url": self.success_url,
            "total_details": { "amount_discount": 0, "amount_shipping": 0, "amount_tax": 0 },
            "ui_mode": "hosted_page",
            "url": self.is_open().then_some(&self.url),
        });
        let mut session = with_unset(
            session,
            "after_expiration allow_promotion_codes allowed_payment_method_types billing_address_collection \
             client_secret collected_information consent consent_collection currency_conversion customer \
             customer_account discounts integration_identifier invoice invoice_creation locale \
             managed_payments origin_context payment_link payment_method_configuration_details permissions \
             recovered_from saved_payment_method_options setup_intent shipping_address_collection \
             shipping_cost submit_type subscription wallet_options",
        );
        if let (Some((amount, currency)), Some(fields)) = (&self.presentment, session.as_object_mut()) {
            let shown = json!({ "presentment_amount": amount, "presentment_currency": currency });
            fields.insert("presentment_details".to_owned(), shown);
        }
        session
    }
}
