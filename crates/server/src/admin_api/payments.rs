//! `/admin/v1/environments/<id>/payments`: preparations, whatever their outcome, and one with its whole timeline.

use serde_json::Value;
use tollgate_domain::{ServiceReference, card::Preparation};
use tollgate_engine::{
    UseAccountError,
    ports::{CardPayment, NewCardPosting, PaymentFilter},
};

use crate::{
    admin_api::{
        exceptions::ExceptionResponse,
        timeline,
        transfers::{self, TransferRead},
    },
    prelude::*,
    response::{
        payment as payment_response,
        payment::PaymentReadResponse,
        refund::{self, RefundResponse},
        transaction::DisputeResponse,
    },
    types::{schemas::Schemas, signature::Shape},
};

responses! {
    /// What an operator sees of a payment beyond what its caller sees.
    PaymentSummary<'a> as PaymentSummary {
        #[serde(flatten)]
        payment: PaymentReadResponse<'a>,
        config_version: u64,
        provider_object: Option<String>,
        confirmed: bool,
        /// When the resolver checks it next; null when there is nothing left to do.
        next_check_at: Option<Moment>,
        /// Deprecated: the same as `nextCheckAt`, until the next release.
        next_look_at: Option<Moment>,
        looks: u32,
        /// Why it waits, where something does not go its ordinary way.
        waiting_for: Option<String>,
    }

    PaymentDetail<'a> as PaymentWithTimeline {
        #[serde(flatten)]
        summary: PaymentSummary<'a>,
        attempts: Vec<AttemptResponse>,
        refunds: Vec<RefundResponse>,
        disputes: Vec<DisputeResponse>,
        /// What the payment has in the books, oldest first.
        postings: Vec<CardPostingResponse>,
        exceptions: Vec<ExceptionResponse>,
        timeline: Vec<timeline::LineResponse>,
    }

    CardPostingResponse as CardPosting {
        posting_id: String,
        at: Moment,
        kind: words::CardPostingKind,
        /// The refund or the dispute.
        subject: Option<String>,
        entries: Vec<CardEntryResponse>,
    }

    CardEntryResponse as CardEntry {
        account: words::CardAccount,
        amount_minor: SignedMinorUnits,
    }
}

impl CardPostingResponse {
    fn of(new: &NewCardPosting) -> Self {
        let entries = new.posting.amounts.accounts().into_iter().filter(|(_, amount)| *amount != 0);
        Self {
            posting_id: new.id.to_string(),
            at: Moment(new.at),
            kind: new.posting.kind.as_str().into(),
            subject: new.posting.subject.clone(),
            entries: entries
                .map(|(account, amount)| CardEntryResponse {
                    account: account.into(),
                    amount_minor: amount.into(),
                })
                .collect(),
        }
    }
}

responses! {
    AttemptResponse as PaymentAttempt {
        number: u32,
        state: words::AttemptState,
        created_at: Moment,
    }
}

/// A payment by card or by bank transfer.
pub(crate) struct PaymentOrTransfer;

impl Shape for PaymentOrTransfer {
    type Static = Self;

    fn envelope(schemas: &mut Schemas) -> Value {
        schemas.envelope_of_either::<PaymentDetail<'_>, TransferRead>("PaymentOrTransfer")
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<PaymentSummary<'static>>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let rule = "must be one of: preparing, prepared, refused, withdrawn, expired";
    let filter = PaymentFilter {
        preparation: query.value_as("status", rule, Preparation::parse),
        waiting: query.value("waiting").unwrap_or(false),
    };
    let before = query.value_as("before", "must be the reference of a card payment", |text| {
        match text.parse().ok()? {
            ServiceReference::Card(id) => Some(id),
            ServiceReference::Ach(_) => None,
        }
    });
    let (search, limit) = (query.value::<String>("search"), query.limit());
    if search.is_some() && filter.waiting {
        query.fault("search", "cannot be combined with `waiting`");
    }
    query.finish()?;
    operator.record_list("payment.list", environment).await?;
    let engine = &operator.app.engine;
    let mut payments = match search {
        Some(text) => {
            engine.find_card_payments(environment, text, filter.preparation, before, limit.to_read()).await?
        }
        None => engine.payments(environment, filter, before, limit.to_read()).await?,
    };
    respond::ok(&ListResponse::borrowed(&mut payments, limit, summary, |it| it.order.id))
}

pub(crate) async fn read(operator: Operator) -> Done<PaymentOrTransfer> {
    let environment = operator.known_environment()?;
    let reference: ServiceReference = operator.path("reference")?;
    let id = match reference {
        ServiceReference::Card(id) => id,
        ServiceReference::Ach(id) => return transfers::read(&operator, environment, id).await,
    };
    let engine = &operator.app.engine;
    let read = engine.payment_with_timeline(environment, id).await?;
    operator.record_view("payment.view", environment, reference).await?;
    let configuration = engine.decided_by(environment, read.payment.order.config_version).await?;
    let attempts = read.payment.attempts.iter().map(|attempt| AttemptResponse {
        number: attempt.number,
        state: attempt.state.as_str().into(),
        created_at: Moment(attempt.created_at),
    });
    let history = timeline::PaymentHistory::of_payment(&read.payment.order, configuration.as_deref());
    respond::ok(&PaymentDetail {
        attempts: attempts.collect(),
        refunds: refund::all(&read.payment),
        disputes: read
            .payment
            .disputes
            .iter()
            .map(|dispute| DisputeResponse::of(dispute, read.payment.order.currency))
            .collect(),
        postings: read.postings.iter().map(CardPostingResponse::of).collect(),
        exceptions: read.exceptions.iter().map(ExceptionResponse::of).collect(),
        timeline: timeline::lines(&history, &read.timeline)?,
        summary: summary(&read.payment),
    })
    .map(Answer::one_of)
}

responses! {
    AccountDecided as AccountDecision {
        service_reference: String,
    }
}

/// A payment whose account left the configuration goes on at the one configured now.
pub(crate) async fn use_configured_account(operator: Operator) -> Done<AccountDecided> {
    let (environment, reference) = (operator.known_environment()?, operator.path("reference")?);
    let decided = operator.app.engine.use_configured_account(environment, reference, &operator.origin).await;
    decided.map_err(|error| match error {
        UseAccountError::Missing => not_found_here(),
        UseAccountError::NotConfigured(provider) => {
            ApiError::provider_not_configured(&provider, &[format!("providers.{provider}")])
        }
        UseAccountError::Store(error) => error.into(),
    })?;
    respond::ok(&AccountDecided { service_reference: reference.to_string() })
}

fn summary(payment: &CardPayment) -> PaymentSummary<'_> {
    let progress = &payment.progress;
    PaymentSummary {
        payment: payment_response::read_back(payment),
        config_version: payment.order.config_version,
        provider_object: progress.object.clone(),
        confirmed: progress.confirmed,
        next_check_at: progress.due.map(Moment),
        next_look_at: progress.due.map(Moment),
        looks: progress.tries,
        waiting_for: progress.waiting.clone(),
    }
}
