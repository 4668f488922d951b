//! Card payments and what belongs to them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tollgate_domain::{
    Channel, Currency, Flow, Minor,
    card::{Attempt, AttemptState, CardOrder, Preparation},
    hold::CaptureMode,
    id::{EnvironmentId, PaymentId, RefundId},
    refund::{FeeRefund, Refund, RefundOrigin, RefundReason, RefundStatus, RefundTerms},
    routing::Matched,
    transaction::Failure,
};
use tollgate_engine::ports::{PaymentFilter, Progress};

use super::{account, approval, fee, route, version};
use crate::prelude::*;

table! {
    PAYMENTS = "card_payments" ("ON CONFLICT DO NOTHING");
    fn payment_row(order: &'a CardOrder, progress: &'a Progress, timeline: Vec<u8>) {
        environment_id: Id = order.environment,
        id: Id = order.id,
        flow: Text = order.flow.as_str(),
        provider: Text = &order.provider,
        adapter: Text = &order.adapter,
        channel: Text = order.channel.as_str(),
        matched: Text = order.matched.as_ref().map(matched),
        config_version: Number = version(order.config_version),
        currency: Text = order.currency.code(),
        principal_minor: Number = Minor::from(order.fee.principal),
        platform_fee_minor: Number = order.fee.platform.fee,
        organization_fee_minor: Number = order.fee.organization.fee,
        fee_minor: Number = order.fee.fee,
        total_debit_minor: Number = order.fee.total_debit,
        fee_layers: Text = fee::layers(&order.fee),
        description: Text = &order.description,
        customer_name: Text = &order.customer_name,
        customer_email: Text = &order.customer_email,
        metadata: Text = &order.metadata,
        success_url: Text = &order.success_url,
        cancel_url: Text = &order.cancel_url,
        request: Text = &order.request,
        created_at: Number = order.created_at,
        expires_at: Number = order.expires_at,
        account: Text = order.account.as_ref().map(account::write),
        key_digest: Bytes = order.key,
        capture: Text = order.capture.as_str(),
        route: Text = route::write(&order.route),
        preparation: Text = progress.preparation.as_str(),
        object: Text = &progress.object,
        checkout_url: Text = &progress.checkout_url,
        prepared_at: Number = progress.prepared_at,
        confirmed: Flag = progress.confirmed,
        due_at: Number = progress.due,
        follow_up_at: Number = progress.follow_up,
        tries: Number = progress.tries,
        waiting: Text = &progress.waiting,
        revision: Number = 0_u32,
        timeline: Bytes = timeline,
    }
}

/// From how many columns a payment is read: all but its timeline, the last one.
pub(crate) fn read_columns() -> usize {
    PAYMENTS.columns.len().saturating_sub(1)
}

/// The columns from `preparation` to `waiting`.
pub(crate) fn progress_values(progress: &Progress) -> Vec<Value<'_>> {
    row![
        progress.preparation.as_str(),
        &progress.object,
        &progress.checkout_url,
        progress.prepared_at,
        progress.confirmed,
        progress.due,
        progress.follow_up,
        progress.tries,
        &progress.waiting
    ]
}

table! {
    ATTEMPTS = "card_attempts" (
        "ON CONFLICT (environment_id, payment_id, number) DO UPDATE SET
             source_digest = excluded.source_digest, sealed_source = excluded.sealed_source,
             state = excluded.state, created_at = excluded.created_at, account = excluded.account"
    );
    fn attempt_row(environment: EnvironmentId, payment: PaymentId, attempt: &'a Attempt) {
        environment_id: Id = environment,
        payment_id: Id = payment,
        number: Number = attempt.number,
        source_digest: Bytes = &attempt.source_digest,
        sealed_source: Text = &attempt.sealed_source,
        state: Text = attempt.state.as_str(),
        created_at: Number = attempt.created_at,
        account: Text = attempt.account.as_ref().map(account::write),
    }
}

table! {
    REFUNDS = "refunds" (
        "ON CONFLICT (environment_id, payment_id, id) DO UPDATE SET
             status = excluded.status, provider_reference = excluded.provider_reference,
             failure_code = excluded.failure_code, failure_message = excluded.failure_message,
             updated_at = excluded.updated_at, approval_state = excluded.approval_state,
             approval = excluded.approval"
    );
    fn refund_row(environment: EnvironmentId, payment: PaymentId, refund: &'a Refund) {
        environment_id: Id = environment,
        payment_id: Id = payment,
        id: Id = refund.id,
        principal_minor: Number = refund.principal,
        fee_minor: Number = refund.fee,
        asked_minor: Number = refund.terms.amount,
        fee_refund: Text = refund.terms.fee_refund.map(FeeRefund::as_str),
        reason: Text = refund.terms.reason.map(RefundReason::as_str),
        description: Text = &refund.terms.description,
        metadata: Text = &refund.terms.metadata,
        origin: Text = refund.origin.as_str(),
        status: Text = refund.status.as_str(),
        provider_reference: Text = &refund.provider_reference,
        failure_code: Text = refund.failure.as_ref().map(|failure| &failure.code),
        failure_message: Text = refund.failure.as_ref().map(|failure| &failure.message),
        request: Text = &refund.request,
        created_at: Number = refund.created_at,
        updated_at: Number = refund.updated_at,
        approval_id: Text = refund.approval.as_ref().map(|it| it.id.to_string()),
        approval_state: Text = refund.approval.as_ref().map(|it| it.state.as_str()),
        approval: Text = refund.approval.as_ref().and_then(approval::write),
    }
}

/// The columns that [`read_refund`] takes, of refunds as `r`.
macro_rules! refund_columns {
    () => {
        "r.id, r.principal_minor, r.fee_minor, r.asked_minor, r.fee_refund, r.reason, r.description, r.metadata,
         r.origin, r.status, r.provider_reference, r.failure_code, r.failure_message, r.request, r.created_at,
         r.updated_at, r.approval_id, r.approval_state, r.approval"
    };
}

/// The columns that [`read_attempt`] takes, of card_attempts as `a`.
macro_rules! attempt_columns {
    () => {
        "a.number, a.source_digest, a.sealed_source, a.state, a.created_at, a.account"
    };
}

pub(crate) use {attempt_columns, refund_columns};

pub(crate) fn read_order(cells: &mut Cells<'_>) -> Result<CardOrder, Fault> {
    Ok(CardOrder {
        environment: EnvironmentId::from_bytes(cells.id()?),
        id: PaymentId::from_bytes(cells.id()?),
        flow: cells.word("flow", Flow::parse)?,
        provider: cells.text()?,
        adapter: cells.text()?,
        channel: cells.word("channel", Channel::parse)?,
        matched: cells.text_or_none()?.map(|stored| read_matched(&stored)).transpose()?,
        config_version: cells.count("version of a configuration")?,
        currency: cells.word("currency", Currency::parse)?,
        fee: fee::read(cells)?,
        description: cells.text_or_none()?,
        customer_name: cells.text_or_none()?,
        customer_email: cells.text_or_none()?,
        metadata: cells.text()?,
        success_url: cells.text_or_none()?,
        cancel_url: cells.text_or_none()?,
        request: cells.text()?,
        created_at: cells.moment()?,
        expires_at: cells.moment()?,
        account: account::read_or_none(cells)?,
        key: cells.digest_or_none()?,
        capture: cells.word("capture", CaptureMode::parse)?,
        route: route::read(cells)?,
    })
}

pub(crate) fn read_progress(cells: &mut Cells<'_>) -> Result<Progress, Fault> {
    Ok(Progress {
        preparation: cells.word("preparation", Preparation::parse)?,
        object: cells.text_or_none()?,
        checkout_url: cells.text_or_none()?,
        prepared_at: cells.moment_or_none()?,
        confirmed: cells.flag()?,
        due: cells.moment_or_none()?,
        follow_up: cells.moment_or_none()?,
        tries: cells.count("number of tries")?,
        waiting: cells.text_or_none()?,
    })
}

/// An attempt, from columns that are all empty if there is none.
pub(crate) fn read_attempt(cells: &mut Cells<'_>) -> Result<Option<Attempt>, Fault> {
    let Some(number) = cells.number_or_none()? else {
        cells.skip(5);
        return Ok(None);
    };
    Ok(Some(Attempt {
        number: u32::try_from(number).map_err(|_| CorruptRow("number of an attempt"))?,
        source_digest: cells.digest()?,
        sealed_source: cells.text_or_none()?,
        state: cells.word("state of an attempt", AttemptState::parse)?,
        created_at: cells.moment()?,
        account: account::read_or_none(cells)?,
    }))
}

/// A refund, from columns that are all empty if there is none. They are the last ones.
pub(crate) fn read_refund(cells: &mut Cells<'_>) -> Result<Option<Refund>, Fault> {
    let Some(id) = cells.id_or_none()? else { return Ok(None) };
    let (principal, fee) = (cells.amount()?, cells.amount()?);
    let amount = cells.amount_or_none()?;
    let word = |text: Option<String>| text.unwrap_or_default();
    let fee_refund = cells.text_or_none()?;
    let fee_refund = match fee_refund {
        Some(stored) => Some(FeeRefund::parse(&stored).ok_or(CorruptRow("fee of a refund"))?),
        None => None,
    };
    let reason = match cells.text_or_none()? {
        Some(stored) => Some(RefundReason::parse(&stored).ok_or(CorruptRow("reason of a refund"))?),
        None => None,
    };
    let terms = RefundTerms {
        amount,
        fee_refund,
        reason,
        description: cells.text_or_none()?,
        metadata: cells.text()?,
    };
    let origin = cells.word("origin of a refund", RefundOrigin::parse)?;
    let status = cells.word("status of a refund", RefundStatus::parse)?;
    let provider_reference = cells.text_or_none()?;
    let (code, message) = (cells.text_or_none()?, cells.text_or_none()?);
    Ok(Some(Refund {
        id: RefundId::from_bytes(id),
        terms,
        principal,
        fee,
        origin,
        status,
        provider_reference,
        failure: code.map(|code| Failure { code, message: word(message) }),
        request: cells.text_or_none()?,
        created_at: cells.moment()?,
        updated_at: cells.moment()?,
        approval: approval::read(cells)?,
    }))
}

/// The conditions of a list beside environment and id. They are written so that both databases see that the partial
/// indexes hold all that is wanted.
pub(crate) fn list_conditions(filter: PaymentFilter) -> String {
    let mut conditions = String::new();
    if let Some(preparation) = filter.preparation {
        conditions = format!(" AND preparation = '{}'", preparation.as_str());
        if preparation != Preparation::Prepared {
            conditions.push_str(" AND preparation <> 'prepared'");
        }
    }
    if filter.waiting {
        conditions.push_str(" AND waiting IS NOT NULL");
    }
    conditions
}

/// The rule that decided, as JSON.
pub(crate) fn matched(matched: &Matched) -> String {
    let conditions: Vec<&str> = matched.conditions.iter().map(AsRef::as_ref).collect();
    json!({ "rule": &*matched.rule, "conditions": conditions }).to_string()
}

#[derive(Deserialize)]
struct StoredMatch {
    rule: String,
    conditions: Vec<String>,
}

pub(crate) fn read_matched(stored: &str) -> Result<Matched, CorruptRow> {
    let stored: StoredMatch = serde_json::from_str(stored).map_err(|_| CorruptRow("matched rule"))?;
    Ok(Matched {
        rule: Arc::from(stored.rule),
        conditions: stored.conditions.into_iter().map(Arc::from).collect(),
    })
}
