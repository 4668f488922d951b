//! Capturing and releasing what is held.

use tollgate_domain::{
    card::{CardOrder, ProviderReport, ProviderStatus},
    hold::{HoldAction, HoldActionKind},
};
use tollgate_engine::ports::{CallError, Rejection, RejectionKind};

use super::{
    call::{ApiClient, Keyed, every_key_spent, interpret_keyed},
    read, request, status, token,
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
        Ok(Keyed::Answer(report)) => return Ok(report),
        Ok(Keyed::Spent) => None,
        Err(CallError::Rejected(rejection)) if speaks_of_state(&rejection) => Some(rejection),
        Err(error) => return Err(error),
    };
    let seen = read(calls, api, intent).await.map_err(still_in_doubt)?;
    if !matches!(seen.provider_status, ProviderStatus::Authorized { .. }) {
        return Ok(seen);
    }
    if let Some(rejection) = rejection.as_ref().filter(|rejection| rejection.kind != RejectionKind::State) {
        return Err(CallError::Rejected(rejection.clone()));
    }
    // It is held, and yet its state was in the way, or the key is spent: the key repeats an answer of an earlier moment. What is
    // captured or released cannot be so twice, so it needs no key.
    match send(calls, api, order, intent, action, None).await {
        Ok(Keyed::Answer(report)) => Ok(report),
        Ok(Keyed::Spent) => Err(every_key_spent()),
        Err(CallError::Rejected(later)) => Err(CallError::Rejected(rejection.unwrap_or(later))),
        Err(error) => Err(error),
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
) -> Result<Keyed<ProviderReport>, CallError> {
    let call = match action.kind {
        HoldActionKind::Capture => {
            let is_surcharge = token::takes_surcharges(api.version);
            let form = request::capture(&action.amounts(&order.fee), &order.fee, is_surcharge);
            api.post("payment_intents.capture", &format!("payment_intents/{intent}/capture"), form, key)?
        }
        HoldActionKind::Void => {
            let path = format!("payment_intents/{intent}/cancel");
            api.post("payment_intents.cancel", &path, request::void(), key)?
        }
    };
    let intent = calls.run(&call, interpret_keyed::<Intent>).await?;
    Ok(intent.map(|intent| status::intent_report(&intent)))
}
