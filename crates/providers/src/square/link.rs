//! Payment links: the link leads to its order, the order to its payment.

use std::time::Duration;

use tollgate_domain::{
    Minor,
    card::{CardOrder, Sighting, Standing},
};
use tollgate_engine::ports::{CallError, RefusalKind};

use super::{
    call::{Stop, judge},
    find, read_payment, status,
    wire::{Deleted, Order, OrderBody, PaymentLinkBody},
};
use crate::{
    failure::{Code, refused, unknown},
    retry::Errand,
    text::is_id,
};

const LINKS: &str = "online-checkout/payment-links";

/// Split over more payments than this, an order is no order of ours.
const TENDERS_MAX: usize = 5;

/// How long after its end a payment on a withdrawn link is still looked for.
const LATE_PAYMENT_MAX: Duration = Duration::from_hours(24);

/// Where the payment on a link stands.
pub(super) async fn read(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &CardOrder,
    link: &str,
) -> Result<Sighting, CallError> {
    match order_of(errand, stop, link).await {
        Ok(id) => {
            let sold = get_order(errand, stop, &id).await?;
            paid_for(errand, stop, &sold).await.map(|paid| paid.unwrap_or_else(|| unpaid(&sold)))
        }
        Err(error) if is_missing(&error) => gone(errand, stop, order).await,
        Err(error) => Err(error),
    }
}

/// Deletes a link, and says whether it was paid before that.
pub(super) async fn withdraw(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &CardOrder,
    link: &str,
) -> Result<Sighting, CallError> {
    // The order's id is read first: once the link is deleted and the answer lost, nothing leads there any more.
    let id = match order_of(errand, stop, link).await {
        Err(error) if is_missing(&error) => return gone(errand, stop, order).await,
        other => other?,
    };
    let ask = stop.delete("payment_links.delete", &format!("{LINKS}/{link}"))?;
    let deleted = errand.run(&ask, judge::<Deleted>).await;
    let refusal = match deleted {
        Ok(_) => None,
        // An earlier try, or somebody else, has deleted it.
        Err(error) if is_missing(&error) => None,
        Err(error @ CallError::Refused(_)) => Some(error),
        Err(error) => return Err(error),
    };
    let deleted = refusal.is_none();
    match (after_deletion(errand, stop, &id).await, refusal) {
        (Ok((_, Some(paid))), _) => Ok(paid),
        (Ok((_, None)), Some(refusal)) => Err(refusal),
        // Its order may be canceled only a moment later, but nobody can pay it any more.
        (Ok((sold, None)), None) => Ok(Sighting { standing: Standing::Canceled, ..unpaid(&sold) }),
        // The link is gone, so that nobody can be told that nothing was done.
        (Err(error), _) if deleted => Err(in_doubt(error)),
        (Err(error), _) => Err(error),
    }
}

async fn after_deletion(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    id: &str,
) -> Result<(Order, Option<Sighting>), CallError> {
    let sold = get_order(errand, stop, id).await?;
    let paid = paid_for(errand, stop, &sold).await?;
    Ok((sold, paid))
}

fn in_doubt(error: CallError) -> CallError {
    match error {
        CallError::Unsent(trouble) | CallError::Unknown(trouble) => CallError::Unknown(trouble),
        CallError::Refused(refusal) => unknown(format!("deleted, and then {}", refusal.failure.code)),
    }
}

async fn order_of(errand: &mut Errand<'_>, stop: Stop<'_>, link: &str) -> Result<String, CallError> {
    if !is_id(link) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    let ask = stop.get("payment_links.get", &format!("{LINKS}/{link}"))?;
    Ok(errand.run(&ask, judge::<PaymentLinkBody>).await?.payment_link.order_id)
}

async fn get_order(errand: &mut Errand<'_>, stop: Stop<'_>, id: &str) -> Result<Order, CallError> {
    if !is_id(id) {
        return Err(refused(RefusalKind::Missing, Code::ProviderObjectMissing));
    }
    let ask = stop.get("orders.get", &format!("orders/{id}"))?;
    Ok(errand.run(&ask, judge::<OrderBody>).await?.order)
}

/// The payment of an order, the one that came furthest where there are several.
async fn paid_for(
    errand: &mut Errand<'_>,
    stop: Stop<'_>,
    order: &Order,
) -> Result<Option<Sighting>, CallError> {
    let mut best: Option<Sighting> = None;
    for tender in order.tenders.iter().flatten().take(TENDERS_MAX) {
        let id = tender.payment_id.as_ref().unwrap_or(&tender.id);
        let seen = read_payment(errand, stop, id).await?;
        if best.as_ref().is_none_or(|best| status::rank(&seen.standing) > status::rank(&best.standing)) {
            best = Some(seen);
        }
    }
    // A payment made on a hosted page need not carry the reference itself.
    let reference = |seen: &Sighting| seen.reference.clone().or_else(|| order.reference_id.clone());
    Ok(best.map(|seen| Sighting { reference: reference(&seen), ..seen }))
}

/// An order without a payment.
fn unpaid(order: &Order) -> Sighting {
    let total = order.total_money.as_ref();
    Sighting {
        payment: None,
        standing: status::order_standing(&order.state),
        amount: total.map(|money| money.amount),
        currency: total.map(|money| money.currency.to_ascii_uppercase()),
        reference: order.reference_id.clone(),
        refunded: Minor::ZERO,
        disputed: false,
    }
}

/// A link that is not there cannot be paid on any more; whether it was before is found by our reference.
async fn gone(errand: &mut Errand<'_>, stop: Stop<'_>, order: &CardOrder) -> Result<Sighting, CallError> {
    let until = order.expires_at.saturating_add(LATE_PAYMENT_MAX);
    let found = find::by_reference(errand, stop, order, order.created_at, until).await?;
    let canceled = Sighting {
        payment: None,
        standing: Standing::Canceled,
        amount: None,
        currency: None,
        reference: None,
        refunded: Minor::ZERO,
        disputed: false,
    };
    Ok(found.filter(|seen| !matches!(seen.standing, Standing::Failed(_))).unwrap_or(canceled))
}

fn is_missing(error: &CallError) -> bool {
    matches!(error, CallError::Refused(refusal) if refusal.kind == RefusalKind::Missing)
}
