//! Disputes: read by their name, and listed by location and state, because a payment does not say that it is disputed.

use form_urlencoded::Serializer;
use tollgate_domain::transaction::Dispute;
use tollgate_engine::ports::{CallError, DisputePage, ListedDispute, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    types::{DisputeList, DisputeObject, EventDispute},
    webhook,
};
use crate::{
    failure::{Code, refused},
    retry::{ApiCall, CallSession},
    text::is_id,
};

/// Those that need a response first. A list is of one of them.
const STATES: [&str; 8] = [
    "EVIDENCE_REQUIRED",
    "INQUIRY_EVIDENCE_REQUIRED",
    "PROCESSING",
    "INQUIRY_PROCESSING",
    "LOST",
    "ACCEPTED",
    "WON",
    "INQUIRY_CLOSED",
];

pub(super) async fn read(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<Dispute, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("disputes.get", &format!("disputes/{id}"))?;
    let read = calls.run(&call, interpret::<DisputeObject>).await?.dispute;
    Ok(webhook::told(read, id.to_owned()))
}

/// One page of one state. `from` is the state, with the provider's cursor behind it where a state has several pages.
pub(super) async fn list(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    from: Option<&str>,
) -> Result<DisputePage, CallError> {
    let from = from.unwrap_or_else(|| STATES.first().copied().unwrap_or_default());
    let (state, cursor) = from.split_once(' ').map_or((from, None), |(state, cursor)| (state, Some(cursor)));
    let page = calls.run(&list_call(api, state, cursor)?, interpret::<DisputeList>).await?;
    let next_page = page.cursor.filter(|cursor| !cursor.is_empty()).map(|cursor| format!("{state} {cursor}"));
    let next_state = || STATES.iter().skip_while(|known| **known != state).nth(1).copied().map(str::to_owned);
    let disputes = page.disputes.unwrap_or_default().into_iter().filter_map(listed).collect();
    Ok(DisputePage { disputes, next: next_page.or_else(next_state) })
}

pub(super) fn list_call(api: ApiClient<'_>, state: &str, cursor: Option<&str>) -> Result<ApiCall, CallError> {
    let mut query = Serializer::new(String::new());
    query.append_pair("location_id", api.location()?).append_pair("states", state);
    if let Some(cursor) = cursor {
        query.append_pair("cursor", cursor);
    }
    api.get("disputes.list", &format!("disputes?{}", query.finish()))
}

/// `None` for one that cannot be read by its name, or says nothing of its payment.
fn listed(dispute: EventDispute) -> Option<ListedDispute> {
    let id = dispute.id.clone().filter(|id| is_id(id))?;
    let payment = dispute.disputed_payment.as_ref()?.payment_id.clone()?;
    Some(ListedDispute { payment, dispute: webhook::told(dispute, id) })
}
