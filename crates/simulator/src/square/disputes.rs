//! Disputes, opened and decided by the control interface in the bank's place, or by the sandbox's special amounts.

use super::payments::find as find_payment;
use super::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dispute {
    pub(crate) id: String,
    pub(crate) money: Money,
    pub(crate) reason: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) state: Word,
    pub(crate) due_at: String,
    pub(crate) payment_id: String,
    pub(crate) location_id: String,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: i64,
}

impl Kept for Dispute {
    fn label(&self) -> Option<&str> {
        Some(&self.payment_id)
    }
}

impl Dispute {
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, "EVIDENCE_REQUIRED" | "PROCESSING")
    }

    pub(crate) fn json(&self) -> Value {
        object!(self: id reason state due_at created_at updated_at version location_id;
            "amount_money": self.money.json(),
            "disputed_payment": { "payment_id": self.payment_id }, "card_brand": "VISA",
            "reported_at": self.created_at,
        )
    }
}

/// The reasons, in the order of the sandbox's amounts from 8801 on.
const REASONS: &str = "AMOUNT_DIFFERS CANCELLED DUPLICATE NO_KNOWLEDGE NOT_AS_DESCRIBED NOT_RECEIVED \
    PAID_BY_OTHER_MEANS CUSTOMER_REQUESTS_CREDIT EMV_LIABILITY_SHIFT";
const STATES: &str = "INQUIRY_EVIDENCE_REQUIRED INQUIRY_PROCESSING INQUIRY_CLOSED EVIDENCE_REQUIRED \
    PROCESSING WON LOST ACCEPTED";
const FIRST_AMOUNT: i64 = 8_801;
const DAYS_TO_RESPOND: i64 = 14;

/// A payment over one of the sandbox's special amounts is disputed as soon as it is completed.
pub(super) fn open_by_amount(state: &mut State, context: &Context, payment: &Payment) -> Answer<()> {
    let place = usize::try_from(payment.money.amount - FIRST_AMOUNT).ok();
    if let Some(reason) = place
        .and_then(|place| REASONS.split_whitespace().nth(place))
        .filter(|_| payment.status == "COMPLETED")
    {
        open(state, context, &payment.id, reason)?;
    }
    Ok(())
}

pub(super) fn open(state: &mut State, context: &Context, payment: &str, reason: &str) -> Answer {
    let payment = find_payment(state, payment)?.clone();
    if payment.status != "COMPLETED" {
        return Err(Error::bad_request(format!("Payment {} is not completed.", payment.id)));
    }
    if is_disputed(state, &payment.id) {
        return Err(Error::bad_request(format!("Payment {} is disputed already.", payment.id)));
    }
    let dispute = Dispute {
        id: context.id(22),
        money: payment.money.clone(),
        reason: reason.to_owned(),
        state: "EVIDENCE_REQUIRED",
        due_at: calendar::rfc3339_in_seconds(DAYS_TO_RESPOND * 86_400),
        payment_id: payment.id.clone(),
        location_id: payment.location_id.clone(),
        created_at: context.now.clone(),
        updated_at: context.now.clone(),
        version: 1,
    };
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "dispute.created", "dispute", &dispute.id, &dispute.json());
    Ok(dispute.json())
}

pub(super) fn is_disputed(state: &State, payment: &str) -> bool {
    state.disputes.labeled(Some(payment)).any(|dispute| dispute.payment_id == payment && dispute.is_open())
}

/// The seller has sent its evidence, and the bank looks at it; or the bank has decided.
pub(super) fn advance(state: &mut State, context: &Context, id: &str, to: &'static str) -> Answer {
    let mut dispute = find(state, id)?;
    if !dispute.is_open() || dispute.state == to {
        return Err(Error::bad_request(format!("Dispute {id} is {} already.", dispute.state)));
    }
    dispute.state = to;
    dispute.version += 1;
    dispute.updated_at.clone_from(&context.now);
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "dispute.state.updated", "dispute", &dispute.id, &dispute.json());
    Ok(dispute.json())
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    Ok(json!({ "dispute": find(state, &call.id)?.json() }))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    if let Some(unknown) = call.query.unknown(&["cursor location_id states"]) {
        let detail = format!("Query parameter not recognized: {unknown}");
        return Err(Error::invalid("UNKNOWN_QUERY_PARAMETER", unknown, detail));
    }
    let states = call.query.get("states");
    if let Some(unknown) = states.filter(|state| !is_listed(state, &[STATES])) {
        let detail = format!("`{unknown}` is not a valid enum value");
        return Err(Error::invalid("INVALID_ENUM_VALUE", "states", detail));
    }
    list::page(&state.disputes, call, "disputes", "states", |dispute| {
        let fits = states.is_none_or(|state| state == dispute.state)
            && call.query.get("location_id").is_none_or(|location| location == dispute.location_id);
        fits.then(|| {
            (dispute.id.clone(), dispute.created_at.clone(), dispute.updated_at.clone(), dispute.json())
        })
    })
}

fn find(state: &State, id: &str) -> Answer<Dispute> {
    state.disputes.get_owned(id).ok_or_else(|| Error::not_found("dispute", id))
}
