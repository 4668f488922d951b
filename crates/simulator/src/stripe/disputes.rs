//! Disputes, opened and closed by the control interface in the issuer's place.

use super::prelude::*;
use super::refunds::charge_of;

/// What a merchant can say about it.
const EVIDENCE: &str = "access_activity_log billing_address cancellation_policy cancellation_policy_disclosure \
    cancellation_rebuttal customer_communication customer_email_address customer_name \
    customer_purchase_ip customer_signature duplicate_charge_documentation \
    duplicate_charge_explanation duplicate_charge_id product_description receipt refund_policy \
    refund_policy_disclosure refund_refusal_explanation service_date service_documentation \
    shipping_address shipping_carrier shipping_date shipping_documentation shipping_tracking_number \
    uncategorized_file uncategorized_text";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dispute {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) charge: String,
    pub(crate) created: i64,
    pub(crate) currency: String,
    pub(crate) intent: String,
    pub(crate) reason: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    /// What was taken from the balance, and what was given back.
    pub(crate) movements: Vec<Movement>,
}

/// Money taken for a dispute, or given back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Movement {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) created: i64,
}

/// What the provider charges for a dispute.
const FEE: i64 = 1_500;

impl Kept for Dispute {
    fn label(&self) -> Option<&str> {
        Some(&self.charge)
    }
}

impl Movement {
    fn json(&self, dispute: &Dispute) -> Value {
        let (category, what, fee) = if self.amount < 0 {
            ("dispute", "Chargeback withdrawal", FEE)
        } else {
            ("dispute_reversal", "Chargeback reversal", 0)
        };
        let fees = json!([{
            "amount": fee, "application": null, "currency": dispute.currency,
            "description": "Dispute fee", "type": "stripe_fee",
        }]);
        json!({
            "id": self.id, "object": "balance_transaction", "amount": self.amount,
            "available_on": self.created, "balance_type": "payments", "created": self.created,
            "currency": dispute.currency,
            "description": format!("{what} for {}", dispute.charge), "exchange_rate": null, "fee": fee,
            "fee_details": if fee > 0 { fees } else { json!([]) }, "net": self.amount - fee,
            "reporting_category": category, "source": dispute.id, "status": "available",
            "type": "adjustment",
        })
    }
}

impl Dispute {
    /// Whether its charge can still be refunded: an inquiry takes no money.
    pub(crate) fn is_refundable(&self) -> bool {
        self.movements.is_empty()
    }

    /// Whether its money was taken and not given back.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.movements.len() == 1
    }

    pub(crate) fn json(&self) -> Value {
        object!(self: id amount charge created currency reason status;
            "object": "dispute",
            "balance_transactions": self.movements.iter().map(|one| one.json(self)).collect::<Vec<_>>(),
            "enhanced_eligibility_types": [],
            "evidence": with_unset(json!({ "enhanced_evidence": {} }), EVIDENCE),
            "evidence_details": {
                "due_by": self.created + 7 * 86_400, "enhanced_eligibility": {}, "has_evidence": false,
                "past_due": false, "submission_count": 0, "submission_method": "not_submitted",
            },
            "intended_submission_method": null, "is_charge_refundable": self.is_refundable(),
            "livemode": false, "metadata": {}, "payment_intent": self.intent,
        )
    }
}

const OPEN: [&str; 4] = ["needs_response", "under_review", "warning_needs_response", "warning_under_review"];

/// How a dispute begins, and whether its money is withdrawn at once.
const BEGINNINGS: [(&str, bool); 3] =
    [("needs_response", true), ("warning_needs_response", false), ("prevented", false)];

/// What a dispute begins with.
#[derive(Default)]
pub(super) struct Claim<'a> {
    /// `needs_response` if none is given.
    pub(super) status: Option<&'a str>,
    /// Whether the money is taken at once, where that does not follow from the status.
    pub(super) withdraws: Option<bool>,
    /// Where it is not about the whole charge in the charge's currency.
    pub(super) amount: Option<i64>,
    pub(super) currency: Option<&'a str>,
}

/// Contests an intent's charge.
pub(super) fn open(
    state: &mut State,
    context: &Context,
    intent: &str,
    reason: &str,
    claim: &Claim<'_>,
) -> Answer {
    let mut charge = charge_of(state, intent)?;
    let status = claim.status.unwrap_or("needs_response");
    let beginning = BEGINNINGS.into_iter().find(|(beginning, _)| *beginning == status);
    let (status, usually_withdraws) =
        beginning.ok_or_else(|| Error::invalid(format!("No dispute begins as {status}.")))?;
    if state
        .disputes
        .labeled(Some(&charge.id))
        .any(|dispute| dispute.charge == charge.id && OPEN.contains(&dispute.status))
    {
        return Err(Error::invalid(format!("Charge {} is already disputed.", charge.id)));
    }
    charge.disputed = true;
    let mut dispute = Dispute {
        id: context.id("dp_"),
        amount: claim.amount.unwrap_or(charge.amount_captured),
        charge: charge.id.clone(),
        created: context.now,
        currency: claim.currency.unwrap_or(&charge.currency).to_owned(),
        intent: intent.to_owned(),
        reason: reason.to_owned(),
        status,
        movements: Vec::new(),
    };
    state.charges.put(&charge.id.clone(), charge);
    if claim.withdraws.unwrap_or(usually_withdraws) {
        let (id, amount) = (context.id("txn_"), -dispute.amount);
        dispute.movements.push(Movement { id, amount, created: context.now });
    }
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "charge.dispute.created", dispute.json());
    if dispute.is_withdrawn() {
        state.emit(context, "charge.dispute.funds_withdrawn", dispute.json());
    }
    Ok(dispute.json())
}

/// The merchant has sent its evidence, and the issuer looks at it.
pub(super) fn review(state: &mut State, context: &Context, id: &str) -> Answer {
    let mut dispute = find(state, id)?;
    let before = json!({ "status": dispute.status });
    dispute.status = match dispute.status {
        "needs_response" => "under_review",
        "warning_needs_response" => "warning_under_review",
        other => return Err(Error::invalid(format!("The dispute is {other} already."))),
    };
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit_change(context, "charge.dispute.updated", dispute.json(), &before);
    Ok(dispute.json())
}

fn find(state: &State, id: &str) -> Answer<Dispute> {
    state.disputes.get_owned(id).ok_or_else(|| Error::not_found("dispute", id, "dispute"))
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let is_its = |dispute: &Dispute| state.account_of_intent(&dispute.intent) == call.context.account;
    let missing = || Error::not_found("dispute", &call.id, "dispute");
    let dispute = state.disputes.get(&call.id).filter(|dispute| is_its(dispute));
    dispute.map(Dispute::json).ok_or_else(missing)
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&list::with(&["payment_intent", "charge", "created", "created[*]"]))?;
    let (intent, charge) = (call.params.text("payment_intent"), call.params.text("charge"));
    list::page(&state.disputes, &call.params, "/v1/disputes", Dispute::json, |dispute| {
        intent.is_none_or(|intent| dispute.intent == intent)
            && charge.is_none_or(|charge| dispute.charge == charge)
            && list::created_fits(&call.params, dispute.created)
            && state.account_of_intent(&dispute.intent) == call.context.account
    })
}

/// Decides a dispute: `won` gives the money back, at once or by [`reinstate`] later, `lost` does not. An inquiry ends with
/// `warning_closed`.
pub(super) fn close(
    state: &mut State,
    context: &Context,
    id: &str,
    (won, reinstates): (bool, bool),
) -> Answer {
    let mut dispute = find(state, id)?;
    if !OPEN.contains(&dispute.status) {
        return Err(Error::invalid(format!("The dispute was {} already.", dispute.status)));
    }
    let before = json!({ "status": dispute.status });
    dispute.status = match (dispute.is_withdrawn(), won) {
        (false, _) => "warning_closed",
        (true, true) => "won",
        (true, false) => "lost",
    };
    state.disputes.put(&dispute.id, dispute.clone());
    if dispute.status == "won" && reinstates {
        reinstate(state, context, id)?;
    }
    let dispute = find(state, id)?;
    state.emit_change(context, "charge.dispute.closed", dispute.json(), &before);
    Ok(dispute.json())
}

/// The money of a dispute that was won comes back.
pub(super) fn reinstate(state: &mut State, context: &Context, id: &str) -> Answer {
    let mut dispute = find(state, id)?;
    if dispute.status != "won" || !dispute.is_withdrawn() {
        return Err(Error::invalid("There is nothing to give back."));
    }
    let (id, amount) = (context.id("txn_"), dispute.amount);
    dispute.movements.push(Movement { id, amount, created: context.now });
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "charge.dispute.funds_reinstated", dispute.json());
    Ok(dispute.json())
}
