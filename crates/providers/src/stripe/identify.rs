//! Which payment an object belongs to that an event only names.

use tollgate_engine::ports::{CallError, Identified, WebhookNotice};

use super::{
    call::{ApiClient, interpret},
    request,
    types::EventObject,
    webhook::{Kind, about},
};
use crate::{failure::missing_is_none, retry::CallSession, text::is_id};

/// What an id is the id of, and how that is read. Charges and refunds of methods other than cards have ids of their own.
fn place(id: &str) -> Option<(Kind, &'static str, &'static str)> {
    match id.split('_').next()? {
        "pi" => Some((Kind::Intent, "payment_intents.retrieve", "payment_intents")),
        "cs" => Some((Kind::Session, "checkout.sessions.retrieve", "checkout/sessions")),
        "ch" | "py" => Some((Kind::Charge, "charges.retrieve", "charges")),
        "re" | "pyr" => Some((Kind::Refund, "refunds.retrieve", "refunds")),
        "dp" | "du" => Some((Kind::Dispute, "disputes.retrieve", "disputes")),
        _ => None,
    }
}

pub(super) async fn identify(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<Option<Identified>, CallError> {
    let Some((kind, operation, path)) = place(id).filter(|_| is_id(id)) else { return Ok(None) };
    let query = match kind {
        Kind::Intent => request::intent_query(),
        Kind::Session | Kind::Charge | Kind::Refund | Kind::Dispute => request::owner_query(),
    };
    let call = api.get(operation, &format!("{path}/{id}"), query)?;
    let object = missing_is_none(calls.run(&call, interpret::<EventObject>).await)?;
    Ok(object.map(|object| {
        let WebhookNotice { payment, reference, dispute, .. } = about(WebhookNotice::default(), kind, object);
        Identified { payment, reference, dispute }
    }))
}
