//! Card payments and what belongs to them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tollgate_domain::{
    card::{Attempt, CardOrder, Preparation},
    refund::{Refund, RefundTerms},
    routing::Matched,
};
use tollgate_engine::ports::{PaymentFilter, Progress};

use crate::prelude::*;

record! {
    PAYMENTS, payment_columns = "card_payments" as p of () "ON CONFLICT DO NOTHING";
    CardOrder {
        environment_id: Id = environment,
        id: Id = id,
        flow: Text = flow,
        provider: Text = provider,
        adapter: Text = adapter,
        channel: Text = channel,
        matched: Text = matched,
        config_version: Number = config_version,
        currency: Text = currency,
        principal_minor: Number, platform_fee_minor: Number, organization_fee_minor: Number, fee_minor: Number,
            total_debit_minor: Number, fee_layers: Text = fee,
        description: Text = description,
        customer_name: Text = customer_name,
        customer_email: Text = customer_email,
        metadata: Text = metadata,
        success_url: Text = success_url,
        cancel_url: Text = cancel_url,
        request: Text = request,
        created_at: Number = created_at,
        expires_at: Number = expires_at,
        account: Text = account,
        key_digest: Bytes = key,
        capture: Text = capture,
        route: Text = route,
    }
    Progress {
        preparation: Text = preparation,
        object: Text = object,
        checkout_url: Text = checkout_url,
        prepared_at: Number = prepared_at,
        confirmed: Flag = confirmed,
        due_at: Number = due,
        follow_up_at: Number = follow_up,
        tries: Number = tries,
        waiting: Text = waiting,
        card_fee: Text = card_fee,
    }
    + (revision: Number, timeline: Bytes)
}

record! {
    ATTEMPTS, attempt_columns = "card_attempts" as a of (environment_id: Id, payment_id: Id)
        "ON CONFLICT (environment_id, payment_id, number) DO UPDATE SET
             source_digest = excluded.source_digest, sealed_source = excluded.sealed_source,
             state = excluded.state, created_at = excluded.created_at, account = excluded.account";
    Attempt ?_ {
        number: Number = number,
        source_digest: Bytes = source_digest,
        sealed_source: Text = sealed_source,
        state: Text = state,
        created_at: Number = created_at,
        account: Text = account,
    }
}

record! {
    REFUNDS, refund_columns = "refunds" as r of (environment_id: Id, payment_id: Id)
        "ON CONFLICT (environment_id, payment_id, id) DO UPDATE SET
             status = excluded.status, provider_reference = excluded.provider_reference,
             failure_code = excluded.failure_code, failure_message = excluded.failure_message,
             updated_at = excluded.updated_at, approval_state = excluded.approval_state,
             approval = excluded.approval";
    Refund ?_ {
        id: Id = id,
        principal_minor: Number = principal,
        fee_minor: Number = fee,
        asked_minor: Number, fee_refund: Text, reason: Text, description: Text, metadata: Text = terms,
        origin: Text = origin,
        status: Text = status,
        provider_reference: Text = provider_reference,
        failure_code: Text, failure_message: Text = failure,
        request: Text = request,
        created_at: Number = created_at,
        updated_at: Number = updated_at,
        approval_id: Text, approval_state: Text, approval: Text = approval,
    }
}

stored! { RefundTerms { amount, fee_refund, reason, description, metadata } }

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

#[derive(Deserialize)]
struct StoredMatch {
    rule: String,
    conditions: Vec<String>,
}

fn write_matched(matched: &Matched) -> String {
    let conditions: Vec<&str> = matched.conditions.iter().map(AsRef::as_ref).collect();
    json!({ "rule": &*matched.rule, "conditions": conditions }).to_string()
}

fn read_matched(stored: &str) -> Result<Matched, CorruptRow> {
    let stored: StoredMatch = serde_json::from_str(stored).map_err(|_| CorruptRow("matched rule"))?;
    Ok(Matched {
        rule: Arc::from(stored.rule),
        conditions: stored.conditions.into_iter().map(Arc::from).collect(),
    })
}

texts! { Matched: write_matched, read_matched; }
