//! Transfers on all rails: what they have in common, and what their endpoints do alike.

use super::bank::last_four;
use super::prelude::*;

#[derive(Debug)]
pub(crate) struct Rail {
    /// The type of its transfers on the wire, and the beginning of their ids.
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    /// The status of a transfer that is about to be sent.
    pub(super) queued: &'static str,
    /// Which fields of the others its transfers do not show.
    hidden: &'static str,
    /// Which of its own fields the control interface shows.
    summary: &'static str,
}

pub(crate) static ACH: Rail = Rail {
    kind: "ach_transfer",
    name: "ACH Transfer",
    queued: "pending_submission",
    hidden: "",
    summary: "funding individual_id individual_name company_name company_entry_description statement_descriptor \
              standard_entry_class_code",
};

pub(crate) static RTP: Rail = Rail {
    kind: "real_time_payments_transfer",
    name: "Real-Time Payments Transfer",
    queued: "pending_submission",
    hidden: "",
    summary: "creditor_name debtor_name unstructured_remittance_information",
};

pub(crate) static FEDNOW: Rail = Rail {
    kind: "fednow_transfer",
    name: "FedNow Transfer",
    queued: "pending_submitting",
    hidden: "approval cancellation",
    summary: "creditor_name debtor_name unstructured_remittance_information",
};

/// The rail of transfers that stand under this name in addresses and operations.
pub(super) fn rail_of(plural: &str) -> Option<&'static Rail> {
    [&ACH, &RTP, &FEDNOW].into_iter().find(|rail| plural.strip_suffix('s') == Some(rail.kind))
}

impl Serialize for Rail {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.kind)
    }
}

fn read_rail<'de, D: serde::Deserializer<'de>>(from: D) -> Result<&'static Rail, D::Error> {
    let kind = String::deserialize(from)?;
    let rail = [&ACH, &RTP, &FEDNOW].into_iter().find(|rail| rail.kind == kind);
    rail.ok_or_else(|| serde::de::Error::custom("unknown rail"))
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Transfer {
    #[serde(deserialize_with = "read_rail")]
    pub(super) rail: &'static Rail,
    pub(super) id: String,
    #[serde(deserialize_with = "archive::word")]
    pub(super) status: Word,
    account_id: String,
    account_number: String,
    routing_number: String,
    /// Cents; positive pushes money out of our account.
    pub(super) amount: i64,
    created_at: String,
    idempotency_key: Option<String>,
    pending_transaction_id: String,
    pub(super) transaction_id: Option<String>,
    approved_at: Option<String>,
    canceled_at: Option<String>,
    pub(super) submission: Packed,
    pub(super) acknowledged_at: Option<String>,
    /// What transfers of its rail alone have, as it is shown.
    own: Packed,
    is_settled: bool,
}

impl Kept for Transfer {
    fn label(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    fn class(&self) -> Class {
        match self.status {
            "returned" => Class::Returned,
            "rejected" | "reviewing_rejected" | "canceled" => Class::Closed,
            _ if self.is_settled() => Class::Done,
            _ => Class::Open,
        }
    }
}

impl Transfer {
    /// Whether the money arrived. The status of an ACH transfer does not say so, and a return takes it back; that of an instant
    /// one does.
    fn is_settled(&self) -> bool {
        self.status == "complete" || (self.is_settled && self.status == "submitted")
    }

    pub(super) fn own(&self, pointer: &str) -> Value {
        self.own.value().pointer_mut(pointer).map(Value::take).unwrap_or_default()
    }

    pub(super) fn set(&mut self, field: &str, value: Value) {
        self.is_settled |= field == "settlement";
        self.own = with(self.own.value(), [(field, value)]).into();
    }

    pub(super) fn json(&self) -> Value {
        let by = |done: &str, who: &str, time: &Option<String>| {
            time.as_ref().map(|time| json!({ done: time, who: null }))
        };
        let mut shown = object!(self: account_id account_number amount created_at id idempotency_key
            pending_transaction_id routing_number status transaction_id;
            "submission": self.submission.value(),
            "acknowledgement": self.acknowledged_at.as_ref().map(|time| json!({ "acknowledged_at": time })),
            "approval": by("approved_at", "approved_by", &self.approved_at),
            "cancellation": by("canceled_at", "canceled_by", &self.canceled_at),
            "created_by": { "category": "api_key", "api_key": { "description": "Simulator" } },
            "currency": "USD", "external_account_id": null, "type": self.rail.kind,
        );
        if let (Value::Object(fields), Value::Object(own)) = (&mut shown, self.own.value()) {
            fields.extend(own);
            fields.retain(|name, _| !is_listed(name, &[self.rail.hidden]));
            fields.sort_keys();
        }
        shown
    }

    /// What the control interface shows: enough to tell transfers apart, and no account number.
    pub(crate) fn summary(&self) -> Value {
        let own = self.own.value();
        let inside = |path: &str| own.pointer(path).cloned().unwrap_or_default();
        let common = object!(self: id amount status idempotency_key routing_number;
            "currency": "USD", "account_number_last4": last_four(&self.account_number),
            "settled": self.is_settled(), "return_reason_code": inside("/return/return_reason_code"),
            "reject_reason_code": inside("/rejection/reject_reason_code"),
            "settlement_schedule": inside("/preferred_effective_date/settlement_schedule"),
        );
        let names = self.rail.summary.split_whitespace();
        with(common, names.map(|name| (name, own.get(name).cloned().unwrap_or_default())))
    }

    pub(super) fn must_be(&self, statuses: &[&str]) -> Answer<()> {
        if statuses.contains(&self.status) {
            return Ok(());
        }
        let (name, wanted) = (self.rail.name, statuses.join(" or "));
        let detail = format!("The {name} must have a status of {wanted}; it is {}.", self.status);
        Err(Error::conflict(detail))
    }
}

pub(super) struct NewTransfer {
    pub(super) account_id: String,
    pub(super) destination: (String, String),
    pub(super) amount: i64,
    pub(super) require_approval: bool,
    pub(super) own: Value,
}

/// The account and routing number a transfer goes to, at a bank that takes part in the rail.
pub(super) fn destination(fields: &Fields<'_>, length_max: usize) -> Answer<(String, String)> {
    if let Some(id) = fields.text("external_account_id", 200, Letters::Any)? {
        if fields.value("account_number").is_some()
            || fields.value("routing_number").is_some()
            || fields.value("funding").is_some()
        {
            let message = "cannot be given together with account_number, routing_number or funding";
            return Err(fields.invalid("external_account_id", message));
        }
        return Err(Error::not_found("External Account", &id));
    }
    let account_number = fields.required("account_number", length_max, Letters::Alphanumeric)?;
    let routing_number = fields.required("routing_number", 9, Letters::Digits)?;
    if bank::rails(&routing_number).is_none() {
        return Err(fields.invalid("routing_number", "is not a valid routing number"));
    }
    Ok((account_number, routing_number))
}

pub(super) fn accept(state: &mut State, call: &Call, new: NewTransfer) -> Answer {
    let (context, rail) = (&call.context, call.rail);
    state.set_aside(new.amount)?;
    let (account_number, routing_number) = new.destination;
    let transfer = Transfer {
        rail,
        id: context.id(&format!("{}_", rail.kind)),
        status: if new.require_approval { "pending_approval" } else { rail.queued },
        account_id: new.account_id,
        account_number,
        routing_number,
        amount: new.amount,
        created_at: context.now.clone(),
        idempotency_key: call.key.clone(),
        pending_transaction_id: context.id("pending_transaction_"),
        transaction_id: None,
        approved_at: None,
        canceled_at: None,
        submission: Value::Null.into(),
        acknowledged_at: None,
        own: new.own.into(),
        is_settled: false,
    };
    state.keep(context, "created", &transfer);
    if !new.require_approval {
        state.due.add(&context.services, &transfer.id);
    }
    Ok(transfer.json())
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    state.find(call.rail, &call.id).map(|transfer| transfer.json())
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    let parameters = "account_id external_account_id idempotency_key status.in";
    let known = Known { parameters, label: Some("idempotency_key") };
    list::page(state.transfers(call.rail), call, known, false, |transfer| {
        let fits = call.query.is("account_id", Some(&transfer.account_id))
            && call.query.is("external_account_id", None)
            && call.query.is("idempotency_key", transfer.idempotency_key.as_deref())
            && call.query.has("status.in", transfer.status);
        fits.then(|| (transfer.id.clone(), transfer.created_at.clone(), transfer.json()))
    })
}

pub(super) fn approve(state: &mut State, call: &Call) -> Answer {
    let mut transfer = state.find(call.rail, &call.id)?;
    transfer.must_be(&["pending_approval"])?;
    transfer.status = call.rail.queued;
    transfer.approved_at = Some(call.context.now.clone());
    state.keep(&call.context, "updated", &transfer);
    state.due.add(&call.context.services, &transfer.id);
    Ok(transfer.json())
}

pub(super) fn cancel(state: &mut State, call: &Call) -> Answer {
    let mut transfer = state.find(call.rail, &call.id)?;
    transfer.must_be(&["pending_approval"])?;
    transfer.status = "canceled";
    transfer.canceled_at = Some(call.context.now.clone());
    state.put_back(transfer.amount);
    state.keep(&call.context, "updated", &transfer);
    Ok(transfer.json())
}
