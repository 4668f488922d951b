//! Where a payment is on its route, as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Channel, Timestamp,
    card_fee::Place,
    routing::{LeftTarget, RouteAttempt, RouteOutcome, RouteProgress, Target},
};

use super::fee::StoredFee;
use crate::prelude::*;

#[derive(Serialize, Deserialize)]
struct StoredRoute {
    attempts: Vec<StoredAttempt>,
    next: Vec<StoredTarget>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<StoredLeft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payer: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    recurring: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredLeft {
    provider: String,
    channel: String,
    fee: StoredFee,
    prepared_at: Option<i64>,
    expires_at: i64,
    until: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredAttempt {
    provider: String,
    outcome: String,
    reason: String,
}

#[derive(Serialize, Deserialize)]
struct StoredTarget {
    provider: String,
    channel: String,
}

/// Nothing for an ordinary route.
impl Stored for RouteProgress {
    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.push(write(self).into());
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        read(cells).map(Some)
    }
}

fn write(route: &RouteProgress) -> Option<String> {
    if *route == RouteProgress::default() {
        return None;
    }
    let attempt = |attempt: &RouteAttempt| StoredAttempt {
        provider: attempt.provider.clone(),
        outcome: attempt.outcome.as_str().to_owned(),
        reason: attempt.reason.clone(),
    };
    let target = |target: &Target| StoredTarget {
        provider: target.provider.to_string(),
        channel: target.channel.as_str().to_owned(),
    };
    let left = |left: &LeftTarget| StoredLeft {
        provider: left.provider.clone(),
        channel: left.channel.as_str().to_owned(),
        fee: StoredFee::of(&left.fee),
        prepared_at: left.prepared_at.map(Timestamp::unix_millis),
        expires_at: left.expires_at.unix_millis(),
        until: left.until.unix_millis(),
    };
    let stored = StoredRoute {
        attempts: route.attempts.iter().map(attempt).collect(),
        next: route.next.iter().map(target).collect(),
        left: route.left.iter().map(left).collect(),
        payer: route.payer.map(|payer| payer.to_string()),
        recurring: route.recurring,
    };
    // Texts are always JSON, so this cannot fail.
    serde_json::to_string(&stored).ok()
}

fn read(cells: &mut Cells<'_>) -> Result<RouteProgress, Fault> {
    const CORRUPT: CorruptRow = CorruptRow("route of a payment");
    let Some(stored) = cells.text_or_none()? else { return Ok(RouteProgress::default()) };
    let stored: StoredRoute = serde_json::from_str(&stored).map_err(|_| CORRUPT)?;
    let attempt = |attempt: StoredAttempt| {
        let outcome = RouteOutcome::parse(&attempt.outcome).ok_or(CORRUPT)?;
        Ok(RouteAttempt { provider: attempt.provider, outcome, reason: attempt.reason })
    };
    let target = |target: StoredTarget| {
        let channel = Channel::parse(&target.channel).ok_or(CORRUPT)?;
        Ok(Target { provider: Arc::from(target.provider), channel })
    };
    let left = |left: StoredLeft| {
        let moment = Timestamp::from_unix_millis;
        Ok(LeftTarget {
            provider: left.provider,
            channel: Channel::parse(&left.channel).ok_or(CORRUPT)?,
            fee: left.fee.read()?,
            prepared_at: left.prepared_at.map(moment),
            expires_at: moment(left.expires_at),
            until: moment(left.until),
        })
    };
    Ok(RouteProgress {
        attempts: stored.attempts.into_iter().map(attempt).collect::<Result<_, CorruptRow>>()?,
        next: stored.next.into_iter().map(target).collect::<Result<_, CorruptRow>>()?,
        left: stored.left.into_iter().map(left).collect::<Result<_, CorruptRow>>()?,
        payer: stored.payer.map(|payer| Place::parse(&payer).ok_or(CORRUPT)).transpose()?,
        recurring: stored.recurring,
    })
}
