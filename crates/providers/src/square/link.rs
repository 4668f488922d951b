//! Payment links: the link leads to its order, the order to its payment.

use std::time::Duration;

use tollgate_domain::card::{CardOrder, ProviderReport, ProviderStatus};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    find, read_payment, status,
    types::{Deleted, Order, OrderBody, PaymentLinkBody},
};
use crate::{
    failure::{Code, refused, unknown},
    retry::CallSession,
    text::is_id,
};

const LINKS: &str = "online-checkout/payment-links";

/// Split over more payments than this, an order is no order of ours.
const TENDERS_MAX: usize = 5;

/// How long after its end a payment on a withdrawn link is still looked for.
const LATE_PAYMENT_MAX: Duration = Duration::from_hours(24);

/// Where the payment on a link stands.
pub(super) async fn read(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    link: &str,
) -> Result<ProviderReport, CallError> {
    match order_of(calls, api, link).await {
        Ok(id) => {
            let sold = get_order(calls, api, &id).await?;
            paid_for(calls, api, &sold).await.map(|paid| paid.unwrap_or_else(|| unpaid(&sold)))
        }
        Err(error) if is_missing(&error) => gone(calls, api, order).await,
        Err(error) => Err(error),
    }
}

/// Deletes a link, and says whether it was paid before that.
pub(super) async fn withdraw(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    link: &str,
) -> Result<ProviderReport, CallError> {
    // The order's id is read first: once the link is deleted and the answer lost, nothing leads there anymore.
    let id = match order_of(calls, api, link).await {
        Err(error) if is_missing(&error) => return gone(calls, api, order).await,
        other => other?,
    };
    let call = api.delete("payment_links.delete", &format!("{LINKS}/{link}"))?;
    let deleted = calls.run(&call, interpret::<Deleted>).await;
    let rejection = match deleted {
        Ok(_) => None,
        // An earlier try, or somebody else, has deleted it.
        Err(error) if is_missing(&error) => None,
        Err(error @ CallError::Rejected(_)) => Some(error),
        Err(error) => return Err(error),
    };
    let deleted = rejection.is_none();
    match (after_deletion(calls, api, &id).await, rejection) {
        (Ok((_, Some(paid))), _) => Ok(paid),
        (Ok((_, None)), Some(rejection)) => Err(rejection),
        // Its order may be canceled only a moment later, but nobody can pay it anymore.
        (Ok((sold, None)), None) => {
            Ok(ProviderReport { provider_status: ProviderStatus::Canceled, ..unpaid(&sold) })
        }
        // The link is gone, so that nobody can be told that nothing was done.
        (Err(error), _) if deleted => Err(in_doubt(error)),
        (Err(error), _) => Err(error),
    }
}

async fn after_deletion(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<(Order, Option<ProviderReport>), CallError> {
    let sold = get_order(calls, api, id).await?;
    let paid = paid_for(calls, api, &sold).await?;
    Ok((sold, paid))
}

fn in_doubt(error: CallError) -> CallError {
    match error {
        CallError::Unsent(transient) | CallError::Unknown(transient) => CallError::Unknown(transient),
        CallError::Rejected(rejection) => unknown(format!("deleted, and then {}", rejection.failure.code)),
    }
}

async fn order_of(calls: &mut CallSession<'_>, api: ApiClient<'_>, link: &str) -> Result<String, CallError> {
    if !is_id(link) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("payment_links.get", &format!("{LINKS}/{link}"))?;
    Ok(calls.run(&call, interpret::<PaymentLinkBody>).await?.payment_link.order_id)
}

async fn get_order(calls: &mut CallSession<'_>, api: ApiClient<'_>, id: &str) -> Result<Order, CallError> {
    if !is_id(id) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let call = api.get("orders.get", &format!("orders/{id}"))?;
    Ok(calls.run(&call, interpret::<OrderBody>).await?.order)
}

/// The payment of an order, the one that came furthest where there are several.
async fn paid_for(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &Order,
) -> Result<Option<ProviderReport>, CallError> {
    let mut best: Option<ProviderReport> = None;
    for tender in order.tenders.iter().flatten().take(TENDERS_MAX) {
        let id = tender.payment_id.as_ref().unwrap_or(&tender.id);
        let seen = read_payment(calls, api, id).await?;
        if best
            .as_ref()
            .is_none_or(|best| status::rank(&seen.provider_status) > status::rank(&best.provider_status))
        {
            best = Some(seen);
        }
    }
    // A payment made on a hosted page need not carry the reference itself.
    let reference = |seen: &ProviderReport| seen.reference.clone().or_else(|| order.reference_id.clone());
    Ok(best.map(|seen| ProviderReport { reference: reference(&seen), ..seen }))
}

/// An order without a payment.
fn unpaid(order: &Order) -> ProviderReport {
    let total = order.total_money.as_ref();
    ProviderReport {
        payment: None,
        provider_status: status::order_status(&order.state),
        amount: total.map(|money| money.amount),
        currency: total.map(|money| money.currency.to_ascii_uppercase()),
        reference: order.reference_id.clone(),
        refunds: Vec::new(),
        disputed: false,
    }
}

/// A link that is not there cannot be paid on anymore; whether it was before is found by our reference.
async fn gone(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
) -> Result<ProviderReport, CallError> {
    let until = order.expires_at.saturating_add(LATE_PAYMENT_MAX);
    let found = find::by_reference(calls, api, order, order.created_at, until).await?;
    let canceled = ProviderReport {
        payment: None,
        provider_status: ProviderStatus::Canceled,
        amount: None,
        currency: None,
        reference: None,
        refunds: Vec::new(),
        disputed: false,
    };
    Ok(found.filter(|seen| !matches!(seen.provider_status, ProviderStatus::Failed(_))).unwrap_or(canceled))
}

fn is_missing(error: &CallError) -> bool {
    matches!(error, CallError::Rejected(rejection) if rejection.kind == RejectionKind::Missing)
}
