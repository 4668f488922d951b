//! Capturing and releasing what is held.

use tollgate_domain::{
    card::{CardOrder, ProviderReport, ProviderStatus},
    hold::{HoldAction, HoldActionKind},
};
use tollgate_engine::ports::{CallError, Rejection, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    read, request, status,
    types::Intent,
};
use crate::{
    failure::{Code, refused, still_in_doubt},
    retry::CallSession,
    text::is_id,
};

/// Captures or releases, and where the provider will not, says why by saying where the payment stands.
pub(super) async fn act(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    intent: &str,
    action: &HoldAction,
) -> Result<ProviderReport, CallError> {
    if !is_id(intent) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let rejection = match send(calls, api, order, intent, action, Some(action.id.to_string())).await {
        Err(CallError::Rejected(rejection)) if speaks_of_state(&rejection) => rejection,
        other => return other,
    };
    let seen = read(calls, api, intent).await.map_err(still_in_doubt)?;
    if !matches!(seen.provider_status, ProviderStatus::Authorized { .. }) {
        return Ok(seen);
    }
    if rejection.kind != RejectionKind::State {
        return Err(CallError::Rejected(rejection));
    }
    // It is held, and yet its state was in the way: the key repeats a refusal of an earlier moment. What is captured or released
    // cannot be so twice, so it needs no key.
    match send(calls, api, order, intent, action, None).await {
        Err(CallError::Rejected(_)) => Err(CallError::Rejected(rejection)),
        other => other,
    }
}

/// Whether reading the payment can tell more than the refusal.
fn speaks_of_state(rejection: &Rejection) -> bool {
    !matches!(rejection.kind, RejectionKind::Credentials | RejectionKind::Missing)
}

async fn send(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    intent: &str,
    action: &HoldAction,
    key: Option<String>,
) -> Result<ProviderReport, CallError> {
    let call = match action.kind {
        HoldActionKind::Capture => {
            let form = request::capture(action.amounts(&order.fee).total_debit);
            api.post("payment_intents.capture", &format!("payment_intents/{intent}/capture"), form, key)?
        }
        HoldActionKind::Void => {
            let path = format!("payment_intents/{intent}/cancel");
            api.post("payment_intents.cancel", &path, request::void(), key)?
        }
    };
    let intent = calls.run(&call, interpret::<Intent>).await?;
    Ok(status::intent_report(&intent))
}
