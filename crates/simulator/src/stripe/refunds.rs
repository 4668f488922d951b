//! `/v1/refunds`.

use super::amount::check_step;
use super::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refund {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) charge: String,
    pub(crate) intent: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created: i64,
    #[serde(deserialize_with = "archive::optional_word")]
    pub(crate) failure_reason: Option<Word>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) reason: Option<String>,
    /// Whether the account's balance has paid for it.
    pub(crate) moves_balance: bool,
    #[serde(deserialize_with = "archive::optional_word")]
    pub(crate) pending_reason: Option<Word>,
}

impl Kept for Refund {
    fn label(&self) -> Option<&str> {
        Some(&self.charge)
    }
}

impl Refund {
    pub(crate) fn json(&self) -> Value {
        let balance = self.moves_balance.then(|| format!("txn_{}", self.id.trim_start_matches("re_")));
        let refund = with_unset(
            object!(self: id amount charge created currency metadata reason status;
                "object": "refund", "balance_transaction": balance,
                "destination_details": { "card": { "type": "refund" }, "type": "card" },
                "payment_intent": self.intent,
            ),
            "customer customer_account payment_method receipt_number \
             source_transfer_reversal transfer_reversal",
        );
        let reasons =
            [("failure_reason", json!(self.failure_reason)), ("pending_reason", json!(self.pending_reason))];
        with_given(refund, reasons)
    }
}

/// Why a refund waits that the account's balance does not cover.
const NO_FUNDS: &str = "insufficient_funds";

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let params = &call.params;
    params.allow(&[
        "payment_intent charge amount reason metadata metadata[*] expand[#] currency customer",
        "instructions_email origin refund_application_fee reverse_transfer",
    ])?;
    let reason = params.word("reason", &["duplicate", "fraudulent", "requested_by_customer"])?;
    let charge = match (params.text("charge"), params.text("payment_intent")) {
        (Some(id), _) => {
            state.charges.get_owned(id).ok_or_else(|| Error::not_found("charge", id, "charge"))?
        }
        (None, Some(id)) => charge_of(state, id)?,
        (None, None) => {
            let message =
                "One of the following params should be provided for this request: payment_intent or charge.";
            return Err(Error::invalid(message).code("parameter_missing").param("payment_intent"));
        }
    };
    if state.account_of_intent(&charge.intent) != call.context.account {
        return Err(Error::not_found("charge", &charge.id, "charge"));
    }
    let amount = params.integer("amount")?;
    let mut metadata = Map::new();
    params.merge_metadata("metadata", &mut metadata)?;
    let refund = refund(state, &call.context, charge, amount, reason, metadata)?;
    Ok(refund.json())
}

pub(super) fn charge_of(state: &State, intent: &str) -> Answer<Charge> {
    let missing = || Error::not_found("payment_intent", intent, "payment_intent");
    let found = state.intents.get(intent).ok_or_else(missing)?;
    let charge = found.latest_charge.as_ref().and_then(|id| state.charges.get_owned(id));
    charge.filter(|charge| charge.status == "succeeded").ok_or_else(|| {
        let message = format!("This PaymentIntent ({intent}) does not have a successful charge to refund.");
        Error::unexpected_state(message)
    })
}

/// Gives back a charge's money, the rest of it where no amount is given.
pub(super) fn refund(
    state: &mut State,
    context: &Context,
    mut charge: Charge,
    amount: Option<i64>,
    reason: Option<String>,
    metadata: Map<String, Value>,
) -> Answer<Refund> {
    let rest = charge.refundable();
    if !charge.captured {
        return Err(Error::invalid(format!("Charge {} has not been captured.", charge.id)).begun());
    }
    if state.disputes.labeled(Some(&charge.id)).any(|dispute| !dispute.is_refundable()) {
        let message = format!("Charge {} has been charged back; cannot issue a refund.", charge.id);
        return Err(Error::invalid(message).code("charge_disputed").begun());
    }
    if rest <= 0 {
        let message = format!("Charge {} has already been refunded.", charge.id);
        return Err(Error::invalid(message).code("charge_already_refunded").begun());
    }
    let amount = amount.unwrap_or(rest);
    if amount < 1 {
        let message = "This value must be greater than or equal to 1.";
        return Err(Error::invalid(message).code("parameter_invalid_integer").param("amount"));
    }
    if amount > rest {
        let message =
            format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({rest})");
        return Err(Error::invalid(message).param("amount").begun());
    }
    check_step(amount, &charge.currency, "amount")?;
    let pending_reason = match charge.method.card.behavior {
        _ if state.is_drained => Some(NO_FUNDS),
        Behavior::RefundLater => Some("processing"),
        _ => None,
    };
    let refund = Refund {
        id: context.id("re_"),
        amount,
        currency: charge.currency.clone(),
        charge: charge.id.clone(),
        intent: charge.intent.clone(),
        status: if pending_reason.is_some() { "pending" } else { "succeeded" },
        idempotency_key: context.idempotency_key.clone(),
        created: context.now,
        failure_reason: None,
        metadata,
        reason,
        moves_balance: !state.is_drained,
        pending_reason,
    };
    let before = json!({ "amount_refunded": charge.amount_refunded });
    charge.amount_refunded += amount;
    state.refunds.put(&refund.id, refund.clone());
    state.emit(context, "refund.created", refund.json());
    state.emit_change(context, "charge.refunded", charge.json(), &before);
    state.charges.put(&charge.id.clone(), charge);
    Ok(refund)
}

/// Where the account has money again, the refunds that waited for it are made.
pub(super) fn repay(state: &mut State, context: &Context) -> Answer<()> {
    if state.is_drained {
        return Ok(());
    }
    let waiting = state.refunds.newest_first().filter(|refund| refund.pending_reason == Some(NO_FUNDS));
    let mut waiting: Vec<String> = waiting.map(|refund| refund.id.clone()).collect();
    waiting.reverse();
    waiting.iter().try_for_each(|id| finish(state, context, id, true).map(drop))
}

/// Ends a refund later: a pending one succeeds, and even a succeeded one can still fail.
pub(super) fn finish(state: &mut State, context: &Context, id: &str, paid: bool) -> Answer<Refund> {
    let mut refund = state.refunds.get_owned(id).ok_or_else(|| Error::not_found("refund", id, "refund"))?;
    if refund.status == "failed" || (paid && refund.status == "succeeded") {
        return Err(Error::invalid(format!("The refund has a status of {}.", refund.status)));
    }
    let before = json!({ "status": refund.status });
    refund.status = if paid { "succeeded" } else { "failed" };
    refund.pending_reason = None;
    refund.moves_balance |= paid;
    if !paid {
        refund.failure_reason = Some("expired_or_canceled_card");
        if let Some(mut charge) = state.charges.get_owned(&refund.charge) {
            charge.amount_refunded -= refund.amount;
            state.charges.put(&charge.id.clone(), charge);
        }
    }
    state.refunds.put(&refund.id, refund.clone());
    state.emit_change(context, "refund.updated", refund.json(), &before);
    state.emit_change(context, "charge.refund.updated", refund.json(), &before);
    if !paid {
        state.emit(context, "refund.failed", refund.json());
    }
    Ok(refund)
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let is_its = |refund: &Refund| state.account_of_intent(&refund.intent) == call.context.account;
    let refund = state.refunds.get(&call.id).filter(|refund| is_its(refund));
    refund.map(Refund::json).ok_or_else(|| Error::not_found("refund", &call.id, "refund"))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&list::with(&["payment_intent", "charge", "created", "created[*]"]))?;
    let (intent, charge) = (call.params.text("payment_intent"), call.params.text("charge"));
    list::page(&state.refunds, &call.params, "/v1/refunds", Refund::json, |refund| {
        intent.is_none_or(|intent| refund.intent == intent)
            && charge.is_none_or(|charge| refund.charge == charge)
            && list::created_fits(&call.params, refund.created)
            && state.account_of_intent(&refund.intent) == call.context.account
    })
}
