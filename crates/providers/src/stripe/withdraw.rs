//! Taking back what nobody has paid: an intent is canceled, a session expired.

use tollgate_domain::{
    Flow,
    card::{CardOrder, ProviderReport, ProviderStatus},
    hold::CaptureMode,
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, Keyed, every_key_spent, interpret, interpret_keyed},
    form::Form,
    is_session, read, request, status,
    types::{Intent, Made, MadeList, Session},
};
use crate::{
    failure::{Code, refused, unknown},
    retry::CallSession,
    text::is_id,
};

/// Their clock need not be ours.
const CLOCKS_APART_MILLIS: i64 = 2 * 60 * 1_000;
/// Pages of a hundred: the caller waits.
const PAGES_MAX: usize = 10;

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

/// Takes back whatever was made for an order whose preparation got no readable answer. Lists are up to date at once,
/// which the search is not.
pub(super) async fn unanswered(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
) -> Result<(), CallError> {
    let (operation, path) = match order.flow {
        Flow::HostedCheckout => ("checkout.sessions.list", "checkout/sessions"),
        Flow::PaymentComponent => ("payment_intents.list", "payment_intents"),
    };
    let since = order.created_at.unix_millis().saturating_sub(CLOCKS_APART_MILLIS).div_euclid(1_000);
    let (since, reference) = (since.to_string(), order.id.to_string());
    let mut last: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let query = Form::new()
            .with("created[gte]", &since)
            .with("limit", "100")
            .with_some("starting_after", last.as_deref());
        let call = api.get(operation, path, query)?;
        let page = calls.run(&call, interpret::<MadeList>).await?;
        let is_ours = |made: &&Made| {
            let noted = made.metadata.as_ref().and_then(|metadata| metadata.tollgate_reference.as_ref());
            noted == Some(&reference)
        };
        for made in page.data.iter().filter(is_ours) {
            let closed = withdraw(calls, api, order, &made.id).await?;
            if !closed.provider_status.is_canceled() {
                return Err(unknown("what the provider made for it cannot be taken back"));
            }
        }
        if !page.has_more {
            return Ok(());
        }
        last = page.data.last().map(|made| made.id.clone());
    }
    Err(unknown("the provider made too many others meanwhile to search"))
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
