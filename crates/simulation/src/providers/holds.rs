//! Money that both card providers hold: captured or released on our word, in the dashboard, or released by itself.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use tollgate_domain::{
    Timestamp,
    card::{CardOrder, ProviderReport, ProviderStatus},
    hold::{HoldAction, HoldActionKind},
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    Account, Ledger,
    exchange::refused,
    pages::{self, PageState},
    refunds::Place,
    register,
};
use crate::world::{World, lock};

/// Longer than any run is busy, in milliseconds.
const LONG: u64 = 6 * 3_600 * 1_000;

/// What became of money that was to be held first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// It was taken at once.
    Never,
    Until(Timestamp),
    Captured,
    Voided,
    Lapsed,
}

impl Held {
    pub(super) fn status(self) -> ProviderStatus {
        match self {
            Self::Never | Self::Captured => ProviderStatus::Succeeded,
            Self::Until(end) => ProviderStatus::Authorized { capture_before: Some(end) },
            Self::Voided => ProviderStatus::Canceled,
            Self::Lapsed => ProviderStatus::AuthorizationExpired,
        }
    }

    /// Whether the money was taken.
    pub(crate) fn is_taken(self) -> bool {
        matches!(self, Self::Never | Self::Captured)
    }
}

/// Holds money from now on; some of it for a short time only.
pub(super) fn hold(world: &Arc<World>, place: Place) -> Held {
    let lives = if world.chance(200) { world.draw(20_000..120_000) } else { LONG };
    let (lapsing, end) = (Arc::clone(world), world.clock(0).saturating_add(Duration::from_millis(lives)));
    tokio::spawn(async move {
        sleep(Duration::from_millis(lives)).await;
        let mut ledger = lock(&lapsing.providers);
        if ledger.held_at(&place).is_some() {
            change(&lapsing, &mut ledger, &place, Held::Lapsed, None);
        }
    });
    Held::Until(end)
}

/// Captures or releases what is held; what is not held anymore says where it stands.
pub(super) fn act(
    world: &Arc<World>,
    ledger: &mut Ledger,
    account: Account,
    payment: &str,
    (order, action): (&CardOrder, &HoldAction),
) -> Result<ProviderReport, CallError> {
    let missing = || refused(RejectionKind::Missing, "provider_object_missing");
    let place = ledger.any_place_of(account, payment).ok_or_else(missing)?;
    if ledger.held_at(&place).is_some() {
        if world.chance(50) {
            return Err(refused(RejectionKind::Invalid, "provider_refused"));
        }
        match action.kind {
            HoldActionKind::Capture => {
                let total = action.amounts(&order.fee).total_debit.get();
                change(world, ledger, &place, Held::Captured, Some(total));
            }
            HoldActionKind::Void => change(world, ledger, &place, Held::Voided, None),
        }
    }
    ledger.report_of(&place).ok_or_else(missing)
}

/// Somebody captures or cancels a held payment in the dashboard.
pub(crate) fn act_in_dashboard(world: &Arc<World>, reference: &str) {
    let mut ledger = lock(&world.providers);
    let page = ledger.pages.values().find(|page| page.reference == reference).map(|page| page.id.clone());
    let sale = ledger.sales.values().find(|it| it.reference == reference && it.is_taken);
    let place = page.map(Place::Page).or(sale.map(|sale| Place::Sale(sale.id.clone())));
    let Some((place, amount)) = place.and_then(|it| ledger.held_at(&it).map(|amount| (it, amount))) else {
        return;
    };
    if world.chance(500) {
        change(world, &mut ledger, &place, Held::Voided, None);
    } else {
        let part = world.chance(500).then(|| (amount / 2).max(1));
        change(world, &mut ledger, &place, Held::Captured, part);
    }
}

fn change(world: &Arc<World>, ledger: &mut Ledger, place: &Place, to: Held, amount: Option<u64>) {
    world.note("provider", format_args!("{place:?} {to:?} {amount:?}"));
    match place {
        Place::Page(id) => {
            if let Some(page) = ledger.pages.get_mut(id) {
                page.amount = amount.unwrap_or(page.amount);
                (page.held, page.state) = (to, PageState::Paid);
            }
            pages::tell(world, ledger, id, "payment.updated");
        }
        Place::Sale(id) => {
            if let Some(sale) = ledger.sales.get_mut(id) {
                sale.amount = amount.unwrap_or(sale.amount);
                sale.held = to;
            }
            register::tell(world, ledger, id);
        }
    }
}

impl Ledger {
    /// Where a payment stands in the records, paid or held.
    fn any_place_of(&self, account: Account, payment: &str) -> Option<Place> {
        let is_it = |page: &&pages::Page| {
            page.account == account && (page.id == payment || page.payment.as_deref() == Some(payment))
        };
        let page = self.pages.values().find(is_it).map(|page| Place::Page(page.id.clone()));
        let sale = || self.sales.get(payment).filter(|sale| sale.account == account);
        page.or_else(|| sale().map(|sale| Place::Sale(sale.id.clone())))
    }

    /// The amount that is held there, if it is.
    fn held_at(&self, place: &Place) -> Option<u64> {
        let (held, amount) = match place {
            Place::Page(id) => {
                let page = self.pages.get(id).filter(|page| page.state == PageState::Paid)?;
                (page.held, page.amount)
            }
            Place::Sale(id) => {
                let sale = self.sales.get(id).filter(|sale| sale.is_taken)?;
                (sale.held, sale.amount)
            }
        };
        matches!(held, Held::Until(_)).then_some(amount)
    }

    fn report_of(&self, place: &Place) -> Option<ProviderReport> {
        match place {
            Place::Page(id) => self.pages.get(id).map(pages::Page::report),
            Place::Sale(id) => self.sales.get(id).map(register::Sale::report),
        }
    }
}
