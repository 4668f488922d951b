//! Taking back what nobody has paid: an intent is canceled, a session expired.

use tollgate_domain::{
    card::{CardOrder, ProviderReport, ProviderStatus},
    hold::CaptureMode,
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, Keyed, every_key_spent, interpret_keyed},
    is_session, read, request, status,
    types::{Intent, Session},
};
use crate::{
    failure::{Code, refused},
    retry::CallSession,
    text::is_id,
};

/// Cancels or expires, and where the provider will not, says why by saying where it stands.
pub(super) async fn withdraw(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    id: &str,
) -> Result<ProviderReport, CallError> {
    // The wire cancels an intent whose voucher the customer holds, or whose money is held. A session that has come so far
    // refuses.
    let may_be_under_way = api.provider.options.may_take_days() || order.capture == CaptureMode::Manual;
    if may_be_under_way && !is_session(id) {
        let seen = read(calls, api, id).await?;
        if !is_payable(&seen.provider_status) {
            return Ok(seen);
        }
    }
    let key = format!("{}-withdraw", order.provider_key());
    let error = match close(calls, api, id, Some(key)).await {
        Ok(Keyed::Answer(report)) => return Ok(report),
        Ok(Keyed::Spent) => every_key_spent(),
        Err(error) if is_about_state(&error) => error,
        Err(error) => return Err(error),
    };
    let seen = read(calls, api, id).await?;
    if !is_payable(&seen.provider_status) {
        return Ok(seen);
    }
    // It can still be paid, and yet would not be closed: the key repeats an answer of an earlier moment, when the
    // payment was under way or the provider in trouble. Closing does no harm twice, so it needs no key.
    match close(calls, api, id, None).await {
        Ok(Keyed::Answer(report)) => Ok(report),
        Ok(Keyed::Spent) => Err(error),
        Err(later) if is_about_state(&later) => Err(error),
        Err(later) => Err(later),
    }
}

async fn close(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
    key: Option<String>,
) -> Result<Keyed<ProviderReport>, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    if is_session(id) {
        let path = format!("checkout/sessions/{id}/expire");
        let call = api.post("checkout.sessions.expire", &path, request::session_query(), key)?;
        let session = calls.run(&call, interpret_keyed::<Session>).await?;
        return Ok(session.map(|session| status::session_report(&session)));
    }
    let path = format!("payment_intents/{id}/cancel");
    let call = api.post("payment_intents.cancel", &path, request::cancel(), key)?;
    let intent = calls.run(&call, interpret_keyed::<Intent>).await?;
    Ok(intent.map(|intent| status::intent_report(&intent)))
}

/// The wire has no code of its own for a session that cannot be expired.
fn is_about_state(error: &CallError) -> bool {
    let CallError::Rejected(rejection) = error else { return false };
    matches!(rejection.kind, RejectionKind::State | RejectionKind::Invalid)
}

fn is_payable(provider_status: &ProviderStatus) -> bool {
    matches!(
        provider_status,
        ProviderStatus::NotStarted | ProviderStatus::ActionRequired | ProviderStatus::Failed(_)
    )
}
