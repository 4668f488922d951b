//! Events as receivers get them: made of the very answers the API gives.

use data_encoding::HEXLOWER;
use serde::Serialize;
use tollgate_domain::{
    Currency, Minor,
    approval::{Proposal, ProposalNotice},
    audit_log::AuditHead,
    circuit::CircuitNotice,
    ledger::Cause,
};
use tollgate_engine::ports::{Event, EventBodies, EventSubject};
use utoipa::ToSchema;

use crate::{
    response::{
        payment as payment_response, payment::PaymentReadResponse, refund::RefundResponse,
        transaction::TransactionResponse,
    },
    types::prelude::*,
};

/// Writes events' bodies.
#[derive(Debug, Clone, Copy)]
pub struct ApiEventBodies;

responses! {
    EventBody<'a> as EventBody {
        r#type: words::EventKind,
        timestamp: Moment,
        data: EventData<'a>,
    }
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

responses! {
    /// A provider's circuit: whether the provider gets new work.
    CircuitResponse<'a> as Circuit {
        provider: &'a str,
        state: words::CircuitChange,
        /// Since when it is open, or closed again.
        since: Moment,
        /// Whether an operator decided so, rather than how the provider answers.
        forced: bool,
        /// Why it is open: the last failure, or that an operator decided so. Null when it closes.
        reason: Option<&'a str>,
    }
}

impl<'a> CircuitResponse<'a> {
    fn of(notice: &'a CircuitNotice) -> Self {
        Self {
            provider: &notice.provider,
            state: if notice.is_open { "open".into() } else { "closed".into() },
            since: Moment(notice.since),
            forced: notice.is_forced,
            reason: notice.reason.as_deref(),
        }
    }
}

responses! {
    /// What an operator asked for, and somebody else has to approve: a change of the configuration, or a wallet movement.
    ProposalNoticeResponse<'a> as ApprovalNotice {
        id: String,
        kind: words::ApprovalKind,
        proposed_by: &'a str,
        /// The version that a change of the configuration was made from.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        from_version: Option<u64>,
        /// What is to be moved, of a wallet movement.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        funds: Option<FundsNoticeResponse<'a>>,
    }

    FundsNoticeResponse<'a> as FundsNotice {
        cause: words::MovementCause,
        amount_minor: MinorUnits,
        currency: CurrencyCode,
        reference: &'a str,
    }
}

impl<'a> FundsNoticeResponse<'a> {
    fn of(cause: Cause, amount: Minor, currency: Currency, reference: &'a str) -> Self {
        Self {
            cause: cause.as_str().into(),
            amount_minor: amount.into(),
            currency: currency.into(),
            reference,
        }
    }
}

impl<'a> ProposalNoticeResponse<'a> {
    fn of(notice: &'a ProposalNotice) -> Self {
        let (kind, from_version, funds) = match &notice.what {
            Proposal::Configuration { from_version } => ("configuration", Some(*from_version), None),
            Proposal::Funds { cause, amount, currency, reference } => {
                ("funds", None, Some(FundsNoticeResponse::of(*cause, *amount, *currency, reference)))
            }
        };
        Self {
            id: notice.approval.to_string(),
            kind: kind.into(),
            proposed_by: &notice.proposed_by,
            from_version,
            funds,
        }
    }
}

responses! {
    /// The end of the audit log.
    AuditHeadResponse as AuditLogHead {
        /// How many entries there are. It never falls.
        entries: u64,
        /// The hash of the last entry.
        head: String,
    }
}

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
    EventBody { r#type: event.kind.as_str().into(), timestamp: Moment(event.at), data }
}

impl EventBodies for ApiEventBodies {
    fn body(&self, event: &Event, subject: &EventSubject) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&body(event, subject)).map_err(|error| error.to_string())
    }
}
