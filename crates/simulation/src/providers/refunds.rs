//! Refunds at both card providers: on our word or in the dashboard, done at once or later, and some of them undone.

use std::sync::Arc;

use tollgate_domain::{
    Minor,
    refund::{Refund, RefundReport, RefundStatus},
    transaction::Failure,
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{Account, Ledger, exchange::refused, pages, register};
use crate::world::{World, lock};

/// What refunds that succeeded give back.
pub(crate) fn given_back(refunds: &[RefundReport]) -> u64 {
    let succeeded = refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded);
    succeeded.map(|refund| refund.total.get()).sum()
}

/// What refunds that have not failed give back, or will.
pub(crate) fn counted(refunds: &[RefundReport]) -> u64 {
    refunds.iter().filter(|refund| refund.status.counts()).map(|refund| refund.total.get()).sum()
}

/// Refunds some of a payment, once per refund: our name for it goes with it, and stands for its key.
pub(super) fn make(
    world: &Arc<World>,
    ledger: &mut Ledger,
    account: Account,
    payment: &str,
    refund: &Refund,
) -> Result<RefundReport, CallError> {
    let id = ledger.next_id("refund");
    let missing = || refused(RejectionKind::Missing, "provider_object_missing");
    let place = ledger.place_of(account, payment).ok_or_else(missing)?;
    let (amount, refunds) = ledger.refunds_at(&place).ok_or_else(missing)?;
    if let Some(known) = refunds.iter().find(|known| known.reference == Some(refund.id)) {
        return Ok(known.clone());
    }
    let total = refund.total();
    if total.get() > amount - counted(refunds) {
        return Err(refused(RejectionKind::Invalid, "provider_refused"));
    }
    if world.chance(50) {
        return Err(refused(RejectionKind::Invalid, "provider_refused"));
    }
    let status = if world.chance(300) { RefundStatus::Processing } else { RefundStatus::Succeeded };
    let made = RefundReport { id: id.clone(), reference: Some(refund.id), total, status, failure: None };
    refunds.push(made.clone());
    world.note(account, format_args!("refunds {total} of {payment} as {id} {status:?}"));
    goes_on(world, &place, &id, status);
    tell(world, ledger, &place);
    Ok(made)
}

/// The dashboard's refund of a part or of everything that is left.
pub(super) fn make_in_dashboard(world: &Arc<World>, place: &Place) {
    let mut ledger = lock(&world.providers);
    let (id, whole) = (ledger.next_id("refund"), world.chance(500));
    let Some((amount, refunds)) = ledger.refunds_at(place) else { return };
    let left = amount - counted(refunds);
    let total = Minor::new(if whole { left } else { left / 3 }).unwrap_or(Minor::ZERO);
    if total == Minor::ZERO {
        return;
    }
    let status = RefundStatus::Succeeded;
    refunds.push(RefundReport { id: id.clone(), reference: None, total, status, failure: None });
    world.note("dashboard", format_args!("refunds {total} of {place:?} as {id}"));
    goes_on(world, place, &id, status);
    tell(world, &mut ledger, place);
}

/// A refund under way ends; one that has succeeded may still come back.
fn goes_on(world: &Arc<World>, place: &Place, id: &str, status: RefundStatus) {
    let fails = world.strikes(150);
    if status == RefundStatus::Succeeded && !fails {
        return;
    }
    let (world, place, id) = (Arc::clone(world), place.clone(), id.to_owned());
    tokio::spawn(async move {
        world.pause(1_000..120_000).await;
        let mut ledger = lock(&world.providers);
        let Some((_, refunds)) = ledger.refunds_at(&place) else { return };
        let Some(refund) = refunds.iter_mut().find(|refund| refund.id == id) else { return };
        refund.status = if fails { RefundStatus::Failed } else { RefundStatus::Succeeded };
        refund.failure = fails.then(|| Failure {
            code: "refund_failed".to_owned(),
            message: "The refund came back.".to_owned(),
        });
        world.note("provider", format_args!("{id} {:?}", refund.status));
        tell(&world, &mut ledger, &place);
    });
}

fn tell(world: &Arc<World>, ledger: &mut Ledger, place: &Place) {
    match place {
        Place::Page(id) => pages::tell(world, ledger, id, "refund.updated"),
        Place::Sale(id) => register::tell(world, ledger, id),
    }
}

/// Where a payment stands in the providers' records.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Page(String),
    Sale(String),
}

impl Ledger {
    fn place_of(&self, account: Account, payment: &str) -> Option<Place> {
        let is_it = |page: &&pages::Page| {
            page.account == account
                && page.is_paid()
                && (page.id == payment || page.payment.as_deref() == Some(payment))
        };
        let page = self.pages.values().find(is_it).map(|page| Place::Page(page.id.clone()));
        let sale = || self.sales.get(payment).filter(|sale| sale.account == account && sale.is_paid());
        page.or_else(|| sale().map(|sale| Place::Sale(sale.id.clone())))
    }

    fn refunds_at(&mut self, place: &Place) -> Option<(u64, &mut Vec<RefundReport>)> {
        match place {
            Place::Page(id) => {
                let page = self.pages.get_mut(id).filter(|page| page.is_paid())?;
                Some((page.amount, &mut page.refunds))
            }
            Place::Sale(id) => {
                let sale = self.sales.get_mut(id).filter(|sale| sale.is_paid())?;
                Some((sale.amount, &mut sale.refunds))
            }
        }
    }
}
