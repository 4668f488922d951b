//! Refunds at both card providers: on our word or in the dashboard, done at once or later, and some of them undone.

use std::sync::Arc;

use tollgate_domain::{
    Minor,
    refund::{Refund, RefundReport, RefundStatus},
    transaction::Failure,
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{Account, Ledger, exchange::refused, keys_kept, pages, register};
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

/// Refunds some of a payment, once per key while the provider remembers that: our name of the refund is its key.
pub(super) fn make(
    world: &Arc<World>,
    ledger: &mut Ledger,
    account: Account,
    payment: &str,
    refund: &Refund,
) -> Result<RefundReport, CallError> {
    let id = ledger.next_id("refund");
    let missing = || refused(RejectionKind::Missing, "provider_object_missing");
    let (now, key) = (world.elapsed(), (account, refund.id.to_string()));
    let remembered =
        ledger.keys.get(&key).filter(|(_, at)| now < at + keys_kept(account)).map(|(id, _)| id.clone());
    let place = ledger.place_of(account, payment).ok_or_else(missing)?;
    let (amount, refunds) = ledger.refunds_at(&place).ok_or_else(missing)?;
    if let Some(first) = refunds.iter().find(|first| remembered.as_ref() == Some(&first.id)) {
        return Ok(first.clone());
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
    ledger.keys.insert(key, (id.clone(), now));
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use std::time::Duration;

    use tollgate_domain::{
        Timestamp,
        id::RefundId,
        refund::{RefundOrigin, RefundTerms},
    };

    use super::*;
    use crate::providers::{PAGES, holds::Held, pages::PageState};

    fn refund() -> Refund {
        let at = Timestamp::from_unix_millis(0);
        Refund {
            id: RefundId::new(at, *b"refund-001"),
            terms: RefundTerms {
                amount: None,
                fee_refund: None,
                reason: None,
                description: None,
                metadata: "{}".to_owned(),
            },
            principal: Minor::new(10).unwrap(),
            fee: Minor::ZERO,
            origin: RefundOrigin::Api,
            status: RefundStatus::Processing,
            provider_reference: None,
            failure: None,
            request: None,
            approval: None,
            created_at: at,
            updated_at: at,
        }
    }

    #[test]
    fn the_key_of_a_refund_is_forgotten_after_a_day() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let (world, account) = (World::new(1, None, false), Account { wire: PAGES, name: 'a' });
            let page = pages::Page {
                id: "page".to_owned(),
                account,
                reference: "payment".to_owned(),
                caller: String::new(),
                request: String::new(),
                amount: 1_000,
                state: PageState::Paid,
                payment: Some("intent".to_owned()),
                refunds: Vec::new(),
                was_declined: false,
                is_manual: false,
                held: Held::Never,
                news: super::super::webhooks::News::default(),
                is_untold: false,
            };
            world.providers().pages.insert("page".to_owned(), page);
            // Some of the first tries are refused by chance, which leaves the key free.
            let make = || {
                let mut ledger = world.providers();
                let mut tries = (0..20).map(|_| make(&world, &mut ledger, account, "intent", &refund()));
                tries.find_map(Result::ok).unwrap().id
            };
            let first = make();
            tokio::time::sleep(Duration::from_millis(keys_kept(account) - 1)).await;
            assert_eq!(make(), first);
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_ne!(make(), first);
        });
    }
}
