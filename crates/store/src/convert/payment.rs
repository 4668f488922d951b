//! Card payments and what belongs to them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tollgate_domain::{
    Channel, Currency, Flow,
    card::{Attempt, AttemptState, CardOrder, Preparation},
    id::{EntryId, EnvironmentId, PaymentId},
    routing::Matched,
};
use tollgate_engine::ports::{Entry, PaymentFilter, Progress};

use super::{CorruptRow, account, cells::Cells, fee};

/// The columns that [`read_order`] and then [`read_progress`] take, of card_payments as `p`.
macro_rules! payment_columns {
    () => {
        "p.environment_id, p.id, p.flow, p.provider, p.adapter, p.channel, p.matched, p.config_version, p.currency,
         p.principal_minor, p.platform_fee_minor, p.organization_fee_minor, p.fee_minor, p.total_debit_minor,
         p.fee_layers, p.description, p.customer_name, p.customer_email, p.metadata, p.success_url, p.cancel_url,
         p.request, p.created_at, p.expires_at, p.account,
         p.preparation, p.object, p.checkout_url, p.prepared_at, p.confirmed, p.due_at, p.follow_up_at, p.tries,
         p.waiting"
    };
}

/// The columns that [`read_attempt`] takes, of card_attempts as `a`.
macro_rules! attempt_columns {
    () => {
        "a.number, a.source_digest, a.sealed_source, a.state, a.created_at, a.account"
    };
}

/// The columns that [`read_entry`] takes.
macro_rules! entry_columns {
    () => {
        "id, at, kind, request, detail"
    };
}

pub(crate) use {attempt_columns, entry_columns, payment_columns};

pub(crate) fn read_order<C: Cells>(cells: &mut C) -> Result<CardOrder, C::Fault> {
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
    })
}

pub(crate) fn read_progress<C: Cells>(cells: &mut C) -> Result<Progress, C::Fault> {
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

pub(crate) fn read_attempt<C: Cells>(cells: &mut C) -> Result<Attempt, C::Fault> {
    Ok(Attempt {
        number: cells.count("number of an attempt")?,
        source_digest: cells.digest()?,
        sealed_source: cells.text_or_none()?,
        state: cells.word("state of an attempt", AttemptState::parse)?,
        created_at: cells.moment()?,
        account: account::read_or_none(cells)?,
    })
}

pub(crate) fn read_entry<C: Cells>(cells: &mut C) -> Result<Entry, C::Fault> {
    Ok(Entry {
        id: EntryId::from_bytes(cells.id()?),
        at: cells.moment()?,
        kind: cells.text()?,
        request: cells.text_or_none()?,
        detail: cells.text()?,
    })
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
