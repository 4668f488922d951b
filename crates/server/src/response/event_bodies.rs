//! Events as receivers get them: made of the very answers the API gives.

use data_encoding::HEXLOWER;
use serde::Serialize;
use tollgate_domain::{approval::ProposalNotice, audit_log::AuditHead, circuit::CircuitNotice};
use tollgate_engine::ports::{Event, EventBodies, EventSubject};
use utoipa::ToSchema;

use crate::{
    json::timestamp::rfc3339,
    reference::{scalars, words},
    response::{
        payment as payment_response, payment::PaymentReadResponse, refund::RefundResponse,
        transaction::TransactionResponse,
    },
};

/// Writes events' bodies.
#[derive(Debug, Clone, Copy)]
pub struct ApiEventBodies;

#[derive(Serialize, ToSchema)]
pub(crate) struct EventBody<'a> {
    #[schema(value_type = words::EventKind)]
    r#type: &'static str,
    #[schema(value_type = scalars::Moment)]
    timestamp: String,
    data: EventData<'a>,
}

/// What an event is about, under its own name.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum EventData<'a> {
    #[schema(title = "RefundEventData")]
    Refund {
        /// The payment's revision: an event with a lower one than you have stored is older than what you have stored.
        revision: u64,
        transaction: Box<TransactionResponse>,
        refund: Box<RefundResponse>,
    },
    #[schema(title = "TransactionEventData")]
    Transaction {
        /// The payment's revision: an event with a lower one than you have stored is older than what you have stored.
        revision: u64,
        transaction: Box<TransactionResponse>,
    },
    #[schema(title = "PaymentEventData")]
    Payment {
        /// The payment's revision: an event with a lower one than you have stored is older than what you have stored.
        revision: u64,
        payment: Box<PaymentReadResponse<'a>>,
    },
    #[schema(title = "CircuitEventData")]
    Circuit {
        /// The circuit that opened or closed.
        circuit: CircuitResponse<'a>,
    },
    #[schema(title = "ProposalEventData")]
    Proposal { approval: ProposalNoticeResponse<'a> },
    #[schema(title = "AuditLogEventData")]
    #[serde(rename_all = "camelCase")]
    AuditLog { audit_log: AuditHeadResponse },
}

/// A provider's circuit: whether the provider gets new work.
#[derive(Serialize, ToSchema)]
#[schema(as = Circuit)]
pub(crate) struct CircuitResponse<'a> {
    provider: &'a str,
    #[schema(value_type = words::CircuitChange)]
    state: &'static str,
    /// Since when it is open, or closed again.
    #[schema(value_type = scalars::Moment)]
    since: String,
    /// Whether an operator decided so, rather than how the provider answers.
    forced: bool,
    /// Why it is open: the last failure, or that an operator decided so. Null when it closes.
    #[schema(required)]
    reason: Option<&'a str>,
}

impl<'a> CircuitResponse<'a> {
    fn of(notice: &'a CircuitNotice) -> Self {
        Self {
            provider: &notice.provider,
            state: if notice.is_open { "open" } else { "closed" },
            since: rfc3339(notice.since),
            forced: notice.is_forced,
            reason: notice.reason.as_deref(),
        }
    }
}

/// A change of the configuration that waits for somebody else to approve it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalNotice)]
pub(crate) struct ProposalNoticeResponse<'a> {
    id: String,
    #[schema(value_type = words::ApprovalKind)]
    kind: &'static str,
    proposed_by: &'a str,
    /// The version that the change was made from.
    from_version: u64,
}

impl<'a> ProposalNoticeResponse<'a> {
    fn of(notice: &'a ProposalNotice) -> Self {
        Self {
            id: notice.approval.to_string(),
            kind: "configuration",
            proposed_by: &notice.proposed_by,
            from_version: notice.from_version,
        }
    }
}

/// The end of the audit log.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditLogHead)]
pub(crate) struct AuditHeadResponse {
    /// How many entries there are. It never falls.
    entries: u64,
    /// The hash of the last entry.
    head: String,
}

/// An event's body.
pub(crate) fn body<'a>(event: &Event, subject: &'a EventSubject) -> EventBody<'a> {
    let data = match subject {
        EventSubject::Transaction(about) => {
            let (revision, transaction) = (about.revision, Box::new(TransactionResponse::of(about)));
            match &event.refund {
                Some(refund) => {
                    let reference = about.reference.to_string();
                    let refund = RefundResponse::new(reference, &about.provider, about.currency, refund);
                    EventData::Refund { revision, transaction, refund: Box::new(refund) }
                }
                None => EventData::Transaction { revision, transaction },
            }
        }
        EventSubject::Payment(payment) => {
            let (revision, payment) = (payment.revision, Box::new(payment_response::read_back(payment)));
            EventData::Payment { revision, payment }
        }
        EventSubject::Circuit(notice) => EventData::Circuit { circuit: CircuitResponse::of(notice) },
        EventSubject::Proposal(notice) => {
            EventData::Proposal { approval: ProposalNoticeResponse::of(notice) }
        }
        EventSubject::AuditLog(AuditHead { entries, hash }) => {
            let head = AuditHeadResponse { entries: *entries, head: HEXLOWER.encode(hash) };
            EventData::AuditLog { audit_log: head }
        }
    };
    EventBody { r#type: event.kind.as_str(), timestamp: rfc3339(event.at), data }
}

impl EventBodies for ApiEventBodies {
    fn body(&self, event: &Event, subject: &EventSubject) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&body(event, subject)).map_err(|error| error.to_string())
    }
}
