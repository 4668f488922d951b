//! The first card provider: the customer pays on an intent or a hosted page, and the service looks. Also the hosted pages of
//! the second, which work alike.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::json;
use tokio::time::sleep;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow, Minor,
    card::{CardOrder, ProviderReport, ProviderStatus, ReportSource},
    hold::{CaptureMode, HoldAction},
    refund::{Refund, RefundReport},
    transaction::{Dispute, Failure},
};
use tollgate_engine::ports::{
    Call, CallError, Captures, Cards, Component, Embedded, EmbeddedCards, HostedCheckout, Prepared,
    Preparing, Reading, Refunds, RejectionKind, Subject,
};
use tollgate_vault::Secret;

use super::{
    Account, DROP_IN, Ledger, PAGES, drop_in,
    exchange::{Question, ask, refused},
    holds::{self, Held},
    keys_kept, refunds,
    webhooks::{self, News},
};
use crate::{
    life::Life,
    world::{World, lock},
};

/// The shortest time a provider keeps a hosted page open, in milliseconds.
const PAGE_LIVES: u64 = 30 * 60 * 1_000;

/// Where a page or an intent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageState {
    Open,
    /// The last card was declined; another may be tried.
    Declined,
    Processing,
    Paid,
    Closed,
}

/// Something a customer can pay on.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) account: Account,
    pub(crate) reference: String,
    pub(crate) caller: String,
    pub(crate) request: String,
    pub(crate) amount: u64,
    pub(crate) state: PageState,
    /// The payment's own name, once somebody has paid.
    pub(crate) payment: Option<String>,
    pub(crate) refunds: Vec<RefundReport>,
    /// Whether a card was ever declined on it.
    pub(crate) was_declined: bool,
    pub(crate) is_manual: bool,
    /// What became of the money, once it is paid.
    pub(crate) held: Held,
    pub(crate) news: News,
    /// Whether something of it was never told, where only that tells of it.
    pub(crate) is_untold: bool,
}

impl Page {
    pub(crate) fn is_payable(&self) -> bool {
        matches!(self.state, PageState::Open | PageState::Declined)
    }

    /// Whether the money was taken.
    pub(crate) fn is_paid(&self) -> bool {
        self.state == PageState::Paid && self.held.is_taken()
    }

    pub(super) fn report(&self) -> ProviderReport {
        ProviderReport {
            payment: self.payment.clone(),
            provider_status: match self.state {
                PageState::Open => ProviderStatus::NotStarted,
                PageState::Declined => ProviderStatus::Failed(Failure {
                    code: "card_declined".to_owned(),
                    message: "The card was declined.".to_owned(),
                }),
                PageState::Processing => ProviderStatus::Processing,
                PageState::Paid => self.held.status(),
                PageState::Closed => ProviderStatus::Canceled,
            },
            amount: Minor::new(self.amount),
            currency: Some("USD".to_owned()),
            reference: Some(self.reference.clone()),
            refunds: self.refunds.clone(),
            disputed: false,
            source: ReportSource::Read,
            card: None,
            is_not_card: false,
        }
    }
}

pub(super) struct Pages(pub(super) Arc<Life>);

fn question<'a>(operation: &'static str, provider: &'a Provider) -> Question<'a> {
    Question { wire: PAGES, operation, provider, credential: "secretKey" }
}

#[async_trait]
impl Cards for Pages {
    fn hosted_checkout(&self) -> Option<&dyn HostedCheckout> {
        Some(self)
    }

    fn embedded(&self) -> Option<Embedded<'_>> {
        Some(Embedded::InBrowser(self))
    }

    fn captures(&self, _: Flow) -> Option<&dyn Captures> {
        Some(self)
    }

    fn refunds(&self) -> Option<&dyn Refunds> {
        Some(self)
    }

    async fn read(&self, provider: &Provider, _: &CardOrder, subject: Subject<'_>) -> Call<Reading> {
        let (Subject::Object(id) | Subject::Payment(id)) = subject;
        let id = id.to_owned();
        ask(&self.0, question("pages.retrieve", provider), move |_, ledger, account| {
            read(ledger, account, &id)
        })
        .await
        .read()
    }

    async fn dispute(&self, _: &Provider, _: &str, _: Option<&str>) -> Call<Option<Dispute>> {
        Call { outcome: Ok(None), logs: Vec::new() }
    }

    async fn can_access_account(&self, _: &Provider, _: Option<&str>) -> Call<bool> {
        Call { outcome: Ok(false), logs: Vec::new() }
    }

    async fn withdraw(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Reading> {
        let id = object.to_owned();
        ask(&self.0, question("pages.close", provider), move |world, ledger, account| {
            close(world, ledger, account, &id)
        })
        .await
        .read()
    }
}

#[async_trait]
impl Preparing for Pages {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let order = order.clone();
        ask(&self.0, question("pages.create", provider), move |world, ledger, account| {
            Ok(open(world, ledger, account, &order))
        })
        .await
    }
}

impl HostedCheckout for Pages {}

#[async_trait]
impl EmbeddedCards for Pages {
    async fn reopen(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Prepared> {
        let id = object.to_owned();
        ask(&self.0, question("pages.retrieve", provider), move |_, ledger, account| {
            let page = find(ledger, account, &id)?;
            let client_secret = Some(Secret::new(format!("{}_secret", page.id)));
            Ok(Prepared {
                object: page.id.clone(),
                also: Vec::new(),
                checkout_url: None,
                client_secret,
                methods: Vec::new(),
            })
        })
        .await
    }

    fn component(&self, provider: &Provider, _: &CardOrder, prepared: &Prepared) -> Option<Component> {
        Some(Component::PaymentElement {
            publishable_key: provider.credential("publishableKey")?.to_owned(),
            client_secret: prepared.client_secret.clone()?,
            payment_intent_id: prepared.object.clone(),
            account: None,
            script_url: String::new(),
            token_methods: None,
        })
    }
}

#[async_trait]
impl Captures for Pages {
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading> {
        let (payment, order, action) = (payment.to_owned(), order.clone(), action.clone());
        ask(&self.0, question("intents.change", provider), move |world, ledger, account| {
            holds::act(world, ledger, account, &payment, (&order, &action))
        })
        .await
        .read()
    }
}

#[async_trait]
impl Refunds for Pages {
    async fn refund(
        &self,
        provider: &Provider,
        _: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        let (payment, refund) = (payment.to_owned(), refund.clone());
        ask(&self.0, question("refunds.create", provider), move |world, ledger, account| {
            refunds::make(world, ledger, account, &payment, &refund)
        })
        .await
    }
}

/// Makes a page, once per key while the provider remembers that.
pub(super) fn open(world: &Arc<World>, ledger: &mut Ledger, account: Account, order: &CardOrder) -> Prepared {
    let (now, place) = (world.elapsed(), (account, order.id.to_string()));
    let remembered =
        ledger.keys.get(&place).filter(|(_, at)| now < at + keys_kept(account)).map(|(id, _)| id.clone());
    let hosted = order.flow == Flow::HostedCheckout;
    let id = remembered.unwrap_or_else(|| {
        let id = ledger.next_id(if hosted { "page" } else { "intent" });
        let caller = order.description.clone().unwrap_or_default();
        world.note(account, format_args!("opens {id} for {caller}"));
        let page = Page {
            id: id.clone(),
            account,
            reference: order.id.to_string(),
            caller,
            request: order.request.clone(),
            amount: order.fee.total_debit.get(),
            state: PageState::Open,
            payment: (!hosted && account.wire != DROP_IN).then(|| id.clone()),
            refunds: Vec::new(),
            was_declined: false,
            is_manual: order.capture == CaptureMode::Manual,
            held: Held::Never,
            news: News::default(),
            is_untold: false,
        };
        ledger.pages.insert(id.clone(), page);
        ledger.keys.insert(place, (id.clone(), now));
        if hosted || account.wire == DROP_IN {
            let lives = u64::try_from(order.expires_at.unix_millis() - world.clock(0).unix_millis());
            tokio::spawn(end(Arc::clone(world), id.clone(), lives.unwrap_or(0).max(PAGE_LIVES)));
        }
        id
    });
    Prepared {
        object: id.clone(),
        also: Vec::new(),
        checkout_url: hosted.then(|| format!("https://pay.example/{id}")),
        client_secret: (!hosted).then(|| Secret::new(format!("{id}_secret"))),
        methods: Vec::new(),
    }
}

/// A hosted page ends by itself.
async fn end(world: Arc<World>, id: String, lives: u64) {
    sleep(Duration::from_millis(lives)).await;
    let mut ledger = lock(&world.providers);
    if ledger.pages.get(&id).is_some_and(Page::is_payable) {
        change(&world, &mut ledger, &id, PageState::Closed);
    }
}

pub(super) fn read(ledger: &Ledger, account: Account, id: &str) -> Result<ProviderReport, CallError> {
    find(ledger, account, id).map(Page::report)
}

fn find<'a>(ledger: &'a Ledger, account: Account, id: &str) -> Result<&'a Page, CallError> {
    let is_it =
        |page: &&Page| page.account == account && (page.id == id || page.payment.as_deref() == Some(id));
    let found = ledger.pages.values().find(is_it);
    found.ok_or_else(|| refused(RejectionKind::Missing, "provider_object_missing"))
}

/// Takes a page back where nobody has paid, and says where it stands.
pub(super) fn close(
    world: &Arc<World>,
    ledger: &mut Ledger,
    account: Account,
    id: &str,
) -> Result<ProviderReport, CallError> {
    let page = find(ledger, account, id)?;
    let (id, is_payable) = (page.id.clone(), page.is_payable());
    if is_payable {
        change(world, ledger, &id, PageState::Closed);
    }
    read(ledger, account, &id)
}

/// A customer pays; `false` if the page does not let them.
pub(crate) fn pay_page(world: &Arc<World>, id: &str) -> bool {
    let mut ledger = lock(&world.providers);
    if !ledger.pages.get(id).is_some_and(Page::is_payable) {
        return false;
    }
    let outcome = world.draw(0..10);
    match outcome {
        0 | 1 => change(world, &mut ledger, id, PageState::Declined),
        2 => {
            change(world, &mut ledger, id, PageState::Processing);
            tokio::spawn(come_through(Arc::clone(world), id.to_owned()));
        }
        _ => change(world, &mut ledger, id, PageState::Paid),
    }
    true
}

async fn come_through(world: Arc<World>, id: String) {
    world.pause(1_000..60_000).await;
    let fails = world.chance(250);
    change(
        &world,
        &mut lock(&world.providers),
        &id,
        if fails { PageState::Declined } else { PageState::Paid },
    );
}

fn change(world: &Arc<World>, ledger: &mut Ledger, id: &str, state: PageState) {
    let mut payment = ledger.next_id("payment");
    let Some(page) = ledger.pages.get_mut(id) else { return };
    // What was under way there and came to nothing is told under its own name; the next card has another.
    if page.account.wire == DROP_IN && (page.state, state) == (PageState::Processing, PageState::Declined) {
        payment = page.payment.take().unwrap_or(payment);
    }
    page.state = state;
    if state == PageState::Paid && page.is_manual {
        page.held = holds::hold(world, refunds::Place::Page(id.to_owned()));
    }
    page.was_declined |= state == PageState::Declined;
    let is_attempt = page.account.wire != DROP_IN && state == PageState::Declined;
    if page.payment.is_none() && (is_attempt || matches!(state, PageState::Paid | PageState::Processing)) {
        page.payment = Some(payment.clone());
    }
    world.note(page.account, format_args!("{id} {state:?}"));
    tell_of(world, ledger, id, "payment.updated", &payment);
}

pub(super) fn tell(world: &Arc<World>, ledger: &mut Ledger, id: &str, kind: &str) {
    tell_of(world, ledger, id, kind, id);
}

fn tell_of(world: &Arc<World>, ledger: &mut Ledger, id: &str, kind: &str, attempt: &str) {
    let Some(page) = ledger.pages.get_mut(id) else { return };
    if page.account.wire == DROP_IN {
        drop_in::tell(world, ledger, id, kind, attempt);
        return;
    }
    let number = page.news.next();
    let objects: Vec<_> = [Some(page.id.clone()), page.payment.clone()].into_iter().flatten().collect();
    let body = json!({
        "kind": kind, "objects": objects, "payment": page.payment, "reference": page.reference,
        "amount": page.amount,
    });
    let _ = webhooks::send(world, page.account.wire, page.account, id, number, body);
}
