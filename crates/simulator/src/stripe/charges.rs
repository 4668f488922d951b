//! `/v1/charges`.

use super::prelude::*;

const HELD_SECONDS: i64 = 7 * 86_400;
const CARD_UNSET: &str = "amount_authorized authorization_code electronic_commerce_indicator installments mandate network \
    network_transaction_id three_d_secure transaction_link_id";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) amount_refunded: i64,
    pub(crate) intent: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) amount_captured: i64,
    pub(crate) captured: bool,
    pub(crate) created: i64,
    pub(crate) currency: String,
    pub(crate) description: Option<String>,
    pub(crate) disputed: bool,
    /// The code, the decline code and the text of a decline.
    pub(crate) failure: Option<(String, String, String)>,
    pub(crate) metadata: serde_json::Map<String, Value>,
    pub(crate) method: Method,
    pub(crate) receipt_email: Option<String>,
    pub(crate) receipt_url: String,
    /// Whether the customer has proven who they are for it.
    pub(crate) authenticated: bool,
}

impl Kept for Charge {
    fn class(&self) -> Class {
        match self.status {
            "succeeded" => Class::Done,
            "pending" => Class::Open,
            _ => Class::Closed,
        }
    }
}

impl Charge {
    pub(crate) fn refundable(&self) -> i64 {
        self.amount_captured - self.amount_refunded
    }

    /// When what is held is released by itself.
    pub(crate) fn capture_before(&self) -> i64 {
        self.created + HELD_SECONDS
    }

    fn details(&self) -> Value {
        let unset = match self.method.kind() {
            "card" => CARD_UNSET,
            "us_bank_account" => "payment_reference",
            "sepa_debit" | "bacs_debit" => "mandate",
            "oxxo" => "number",
            "konbini" => "store",
            "multibanco" => "entity reference",
            _ => "",
        };
        let details = with_unset(self.method.details(), unset);
        let is_held = self.status == "succeeded" && !self.captured;
        let capture_before = (is_held && self.method.kind() == "card").then(|| self.capture_before());
        let proven = self.authenticated && self.method.kind() == "card";
        let three_d_secure = proven.then(|| {
            json!({
                "authentication_flow": "challenge", "electronic_commerce_indicator": "05",
                "exemption_indicator": null, "result": "authenticated", "result_reason": null,
                "transaction_id": format!("simulated-{}", self.id), "version": "2.2.0",
            })
        });
        let given = [("capture_before", json!(capture_before)), ("three_d_secure", json!(three_d_secure))];
        with_given(details, given)
    }

    pub(crate) fn json(&self) -> Value {
        let (failure_code, decline_code, failure_message) = match &self.failure {
            Some((code, decline, message)) => (Some(code), Some(decline), Some(message)),
            None => (None, None, None),
        };
        let (network_status, message, kind) = match &self.failure {
            Some(_) => (
                "declined_by_network",
                "The bank did not return any further details with this decline.",
                "issuer_declined",
            ),
            None => ("approved_by_network", "Payment complete.", "authorized"),
        };
        let outcome = json!({
            "network_status": network_status, "reason": decline_code, "risk_level": "normal",
            "seller_message": message, "type": kind,
        });
        let details = json!({ "type": self.method.kind(), self.method.kind(): self.details() });
        let balance = self.captured.then(|| format!("txn_{}", self.id.trim_start_matches("ch_")));
        with_unset(
            object!(self: id amount amount_captured amount_refunded captured created currency description
                disputed metadata receipt_email receipt_url status;
                "object": "charge", "balance_transaction": balance,
                "billing_details": billing_details(&self.method.address),
                "calculated_statement_descriptor": "TOLLGATE SIMULATOR", "failure_code": failure_code,
                "failure_message": failure_message, "fraud_details": {}, "livemode": false,
                "outcome": with_unset(outcome, "advice_code network_advice_code network_decline_code"),
                "paid": self.status == "succeeded", "payment_intent": self.intent,
                "payment_method": self.method.id, "payment_method_details": details,
                "refunded": self.amount_refunded > 0 && self.amount_refunded >= self.amount_captured,
            ),
            "application application_fee application_fee_amount customer \
             failure_balance_transaction on_behalf_of receipt_number review shipping \
             source source_transfer statement_descriptor statement_descriptor_suffix \
             transfer_data transfer_group",
        )
    }
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let is_its = |charge: &Charge| state.account_of_intent(&charge.intent) == call.context.account;
    let charge = state.charges.get(&call.id).filter(|charge| is_its(charge));
    charge.map(Charge::json).ok_or_else(|| Error::not_found("charge", &call.id, "id"))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&list::with(&["payment_intent", "customer", "created", "created[*]"]))?;
    let intent = call.params.text("payment_intent");
    list::page(&state.charges, &call.params, "/v1/charges", Charge::json, |charge| {
        intent.is_none_or(|intent| charge.intent == intent)
            && list::created_fits(&call.params, charge.created)
            && state.account_of_intent(&charge.intent) == call.context.account
    })
}

pub(super) fn billing_details(address: &Map<String, Value>) -> Value {
    let unset = with_unset(json!({}), "city country line1 line2 postal_code state");
    let address = with(unset, address.iter().map(|(name, value)| (name.as_str(), value.clone())));
    with_unset(json!({ "address": address }), "email name phone tax_id")
}
