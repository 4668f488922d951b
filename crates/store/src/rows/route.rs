//! Where a payment is on its route, as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Channel,
    routing::{RouteAttempt, RouteOutcome, RouteProgress, Target},
};

use crate::prelude::*;

#[derive(Serialize, Deserialize)]
struct StoredRoute {
    attempts: Vec<StoredAttempt>,
    next: Vec<StoredTarget>,
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

/// `None` for an ordinary route.
pub(crate) fn write(route: &RouteProgress) -> Option<String> {
    if route.is_empty() {
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
    let stored = StoredRoute {
        attempts: route.attempts.iter().map(attempt).collect(),
        next: route.next.iter().map(target).collect(),
    };
    // Texts are always JSON, so this cannot fail.
    serde_json::to_string(&stored).ok()
}

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<RouteProgress, Fault> {
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
    Ok(RouteProgress {
        attempts: stored.attempts.into_iter().map(attempt).collect::<Result<_, CorruptRow>>()?,
        next: stored.next.into_iter().map(target).collect::<Result<_, CorruptRow>>()?,
    })
}
