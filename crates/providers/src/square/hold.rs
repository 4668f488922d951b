//! Capturing and releasing what is held. A part is captured by lowering what is held first.

use serde_json::json;
use tollgate_domain::{
    card::{CardOrder, ProviderReport},
    hold::{HoldAction, HoldActionKind},
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    get_payment, read_payment, request, status,
    types::{Payment, PaymentBody},
};
use crate::{
    failure::{still_in_doubt, unknown},
    retry::CallSession,
};

const HELD: &str = "APPROVED";

/// Captures or releases, and where the provider will not, says why by saying where the payment stands.
pub(super) async fn act(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    id: &str,
    action: &HoldAction,
) -> Result<ProviderReport, CallError> {
    let held = get_payment(calls, api, id).await?;
    if held.status != HELD {
        return read_payment(calls, api, id).await.map_err(still_in_doubt);
    }
    let done = match action.kind {
        HoldActionKind::Capture => capture(calls, api, order, held, action).await,
        HoldActionKind::Void => {
            let call = api.post_empty("payments.cancel", &format!("payments/{id}/cancel"))?;
            calls.run(&call, interpret::<PaymentBody>).await.map(|body| body.payment)
        }
    };
    let rejection = match done {
        Ok(payment) => return Ok(status::report(&payment)),
        Err(CallError::Rejected(rejection)) if rejection.kind != RejectionKind::Credentials => rejection,
        Err(error) => return Err(error),
    };
    let seen = get_payment(calls, api, id).await.map_err(still_in_doubt)?;
    match rejection.kind {
        _ if seen.status != HELD => read_payment(calls, api, id).await.map_err(still_in_doubt),
        // Somebody changed the payment between two of our calls: the next try sees it as it is.
        RejectionKind::State => Err(unknown("the payment changed meanwhile")),
        _ => Err(CallError::Rejected(rejection)),
    }
}

async fn capture(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    held: Payment,
    action: &HoldAction,
) -> Result<Payment, CallError> {
    let mut held = held;
    if held.amount_money.amount != action.amounts(&order.fee).total_debit {
        let (path, key) = (format!("payments/{}", held.id), action.id.to_string());
        let call = api.put("payments.update", &path, &request::lower(order, action, &key), key)?;
        held = calls.run(&call, interpret::<PaymentBody>).await?.payment;
    }
    // Exactly what was just seen is captured, and nothing that somebody made of it meanwhile.
    let (path, body) =
        (format!("payments/{}/complete", held.id), json!({ "version_token": held.version_token }));
    let call = api.post("payments.complete", &path, &body)?;
    Ok(calls.run(&call, interpret::<PaymentBody>).await?.payment)
}
