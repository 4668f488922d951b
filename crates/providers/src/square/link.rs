//! Payment links: the link leads to its order, the order to its payments. Our reference is on the order; what is paid
//! through a link carries none.

use tollgate_domain::card::{ProviderReport, ProviderStatus, ReportSource};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    get_payment, refund, status,
    types::{Deleted, Order, OrderBody, Payment, PaymentLinkBody},
};
use crate::{
    failure::{Code, missing_is_none, refused, unknown},
    retry::CallSession,
    text::is_id,
};

const LINKS: &str = "online-checkout/payment-links";

/// Split over more payments than this, an order is no order of ours.
const TENDERS_MAX: usize = 10;

/// Where the payment on a link stands.
pub(super) async fn read(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    link: &str,
) -> Result<ProviderReport, CallError> {
    let id = order_of(calls, api, link).await?;
    let sold = get_order(calls, api, &id).await?;
    paid_for(calls, api, &sold, None).await.map(|paid| paid.unwrap_or_else(|| unpaid(&sold)))
}

/// The same by its order, for a deleted link. An order that is unpaid by then can no longer be paid. `None` if it is not an
/// order.
pub(super) async fn read_order(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<Option<ProviderReport>, CallError> {
    let Some(sold) = missing_is_none(get_order(calls, api, id).await)? else { return Ok(None) };
    let paid = paid_for(calls, api, &sold, None).await?;
    Ok(Some(paid.unwrap_or_else(|| closed(&sold))))
}

/// The same by a payment on the link, which may be one of several.
pub(super) async fn read_payment(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    id: &str,
) -> Result<ProviderReport, CallError> {
    let payment = get_payment(calls, api, id).await?;
    let Some(order) = payment.order_id.clone() else { return Ok(status::report(&payment)) };
    let sold = get_order(calls, api, &order).await?;
    let alone = ProviderReport { reference: Some(reference(&sold)), ..status::report(&payment) };
    // A declined payment is reported only while the order has no other.
    paid_for(calls, api, &sold, Some(payment)).await.map(|paid| paid.unwrap_or(alone))
}

/// Deletes a link, and says whether it was paid before that.
pub(super) async fn withdraw(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    link: &str,
) -> Result<ProviderReport, CallError> {
    let id = order_of(calls, api, link).await?;
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
        (Ok((sold, None)), None) => Ok(closed(&sold)),
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
    let paid = paid_for(calls, api, &sold, None).await?;
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

/// What was paid for an order, all its payments together; `None` if it has none. `known` was read already.
async fn paid_for(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &Order,
    mut known: Option<Payment>,
) -> Result<Option<ProviderReport>, CallError> {
    let tenders = order.tenders.as_deref().unwrap_or_default();
    if tenders.len() > TENDERS_MAX {
        return Err(unknown("the order has too many payments to read"));
    }
    let mut payments = Vec::with_capacity(tenders.len());
    for tender in tenders {
        let id = tender.payment_id.as_ref().unwrap_or(&tender.id);
        payments.push(match known.take_if(|known| known.id == *id) {
            Some(known) => known,
            None => get_payment(calls, api, id).await?,
        });
    }
    let total = order.total_money.as_ref().map(|money| money.amount);
    let Some(paid) = status::order_report(total, &payments) else { return Ok(None) };
    let refunds = refund::of_payments(calls, api, &payments).await?;
    Ok(Some(ProviderReport { reference: Some(reference(order)), refunds, ..paid }))
}

/// An order without a payment.
fn unpaid(order: &Order) -> ProviderReport {
    let total = order.total_money.as_ref();
    ProviderReport {
        payment: None,
        provider_status: status::order_status(&order.state),
        amount: total.map(|money| money.amount),
        currency: total.map(|money| money.currency.to_ascii_uppercase()),
        reference: Some(reference(order)),
        refunds: Vec::new(),
        disputed: false,
        source: ReportSource::Read,
        card: None,
        is_not_card: false,
    }
}

/// An unpaid order whose link is deleted. Square may cancel it a moment later, but it can no longer be paid.
fn closed(order: &Order) -> ProviderReport {
    ProviderReport { provider_status: ProviderStatus::Canceled, ..unpaid(order) }
}

/// Every order of ours has our reference, so that one without is another's.
fn reference(order: &Order) -> String {
    order.reference_id.clone().unwrap_or_default()
}

fn is_missing(error: &CallError) -> bool {
    matches!(error, CallError::Rejected(rejection) if rejection.kind == RejectionKind::Missing)
}
