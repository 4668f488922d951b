//! The third card provider, which cannot be asked: what becomes of a payment is told by signed webhooks alone, one step at a
//! time. Captures, voids and refunds are taken first and decided later.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow,
    card::{CardOrder, ProviderReport, ProviderStatus, ReportSource},
    hold::HoldAction,
    refund::{Refund, RefundReport, RefundStatus},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    BrowserResults, Call, CallError, Captures, Cards, Component, Embedded, EmbeddedCards, HostedCheckout,
    Prepared, Preparing, Reading, Refunds, RejectionKind, Subject,
};
use tollgate_vault::Secret;

use super::{
    DROP_IN, Ledger,
    exchange::{Question, ask, refused, transient},
    holds::{self, Held},
    pages::{self, Page, PageState},
    refunds, webhooks,
};
use crate::{life::Life, plants::Plant, world::World};

/// How long what is made can be paid.
const SESSION_LIVES: Duration = Duration::from_hours(24);

pub(super) struct DropIn(pub(super) Arc<Life>);

fn question<'a>(operation: &'static str, provider: &'a Provider) -> Question<'a> {
    Question { wire: DROP_IN, operation, provider, credential: "apiKey" }
}

/// Sometimes the connection behind the provider is lost: that is the key's answer for good, whatever was done. Of what was not
/// done then no webhook tells.
fn unless_lost<T>(
    world: &World,
    ledger: &mut Ledger,
    (payment, key): (&str, String),
    act: impl FnOnce(&mut Ledger) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let lost = || CallError::Unknown(transient("the connection behind it was lost"));
    if ledger.broken_keys.contains(&key) {
        return Err(lost());
    }
    let answer = act(ledger);
    if !world.strikes(world.profile.provider_fails / 4) {
        return answer;
    }
    ledger.broken_keys.insert(key);
    let page = ledger.pages.values_mut().find(|page| page.payment.as_deref() == Some(payment));
    if let Some(page) = page.filter(|_| answer.is_err()) {
        page.is_untold = true;
    }
    Err(lost())
}

/// Where a link stands: it never says what became of a payment on it.
fn link(report: &ProviderReport, state: PageState) -> Reading {
    let told = |provider_status| ProviderReport {
        payment: None,
        provider_status,
        refunds: Vec::new(),
        ..report.clone()
    };
    match state {
        PageState::Open | PageState::Declined => Reading::Report(told(ProviderStatus::NotStarted)),
        PageState::Closed => Reading::Report(told(ProviderStatus::Canceled)),
        // What is pending may be declined yet.
        PageState::Processing => Reading::CannotBeAsked(Some(Box::new(told(ProviderStatus::ActionRequired)))),
        PageState::Paid => Reading::CannotBeAsked(Some(Box::new(told(ProviderStatus::Processing)))),
    }
}

fn link_of(ledger: &Ledger, account: super::Account, id: &str) -> Result<Reading, CallError> {
    let report = pages::read(ledger, account, id)?;
    let state = ledger.pages.get(id).map_or(PageState::Closed, |page| page.state);
    Ok(link(&report, state))
}

const UNASKED: Call<Reading> = Call { outcome: Ok(Reading::CannotBeAsked(None)), logs: Vec::new() };

impl DropIn {
    /// A plant: what cannot be asked is taken for a word that there is nothing.
    fn unasked(&self) -> Call<Reading> {
        if !self.0.world.is_planted(Plant::ResolvedWithoutWord) {
            return UNASKED;
        }
        let nothing = ProviderReport {
            payment: None,
            provider_status: ProviderStatus::Canceled,
            amount: None,
            currency: None,
            reference: None,
            refunds: Vec::new(),
            disputed: false,
            source: ReportSource::Read,
            card: None,
            is_not_card: false,
        };
        Call { outcome: Ok(Reading::Report(nothing)), logs: Vec::new() }
    }
}

#[async_trait]
impl Cards for DropIn {
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

    async fn read(&self, provider: &Provider, order: &CardOrder, subject: Subject<'_>) -> Call<Reading> {
        let Subject::Object(id) = subject else { return self.unasked() };
        if order.flow == Flow::PaymentComponent {
            return self.unasked();
        }
        let id = id.to_owned();
        ask(&self.0, question("links.get", provider), move |_, ledger, account| link_of(ledger, account, &id))
            .await
    }

    async fn dispute(&self, _: &Provider, _: &str, _: Option<&str>) -> Call<Option<Dispute>> {
        Call { outcome: Ok(None), logs: Vec::new() }
    }

    async fn can_access_account(&self, _: &Provider, _: Option<&str>) -> Call<bool> {
        Call { outcome: Ok(false), logs: Vec::new() }
    }

    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Reading> {
        if order.flow == Flow::PaymentComponent {
            return self.unasked();
        }
        let id = object.to_owned();
        ask(&self.0, question("links.expire", provider), move |world, ledger, account| {
            pages::close(world, ledger, account, &id)?;
            link_of(ledger, account, &id)
        })
        .await
    }

    fn can_withdraw(&self, flow: Flow) -> bool {
        flow == Flow::HostedCheckout
    }
}

#[async_trait]
impl Preparing for DropIn {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let order = order.clone();
        ask(&self.0, question("sessions.create", provider), move |world, ledger, account| {
            Ok(pages::open(world, ledger, account, &order))
        })
        .await
    }

    async fn withdraw_unanswered(&self, _: &Provider, _: &CardOrder) -> Call<()> {
        Call { outcome: Ok(()), logs: Vec::new() }
    }
}

impl HostedCheckout for DropIn {}

#[async_trait]
impl EmbeddedCards for DropIn {
    fn max_lifetime(&self) -> Option<Duration> {
        Some(SESSION_LIVES)
    }

    fn results(&self) -> Option<&dyn BrowserResults> {
        Some(self)
    }

    async fn reopen(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Prepared> {
        let mut call = self.prepare(provider, order).await;
        let other = || CallError::Unknown(transient("another session"));
        call.outcome =
            call.outcome.and_then(|made| if made.object == object { Ok(made) } else { Err(other()) });
        call
    }

    fn component(&self, provider: &Provider, _: &CardOrder, prepared: &Prepared) -> Option<Component> {
        Some(Component::DropIn {
            client_key: provider.credential("clientKey")?.to_owned(),
            environment: "live",
            session_id: prepared.object.clone(),
            session_data: prepared.client_secret.clone()?,
            country_code: "US".to_owned(),
            script_url: String::new(),
            style_url: String::new(),
        })
    }
}

#[async_trait]
impl BrowserResults for DropIn {
    /// As the browser saw it last: one that is done is not followed any further.
    async fn read_result(
        &self,
        provider: &Provider,
        _: &CardOrder,
        object: &str,
        _: &Secret,
    ) -> Call<Reading> {
        let id = object.to_owned();
        let call = ask(&self.0, question("sessions.result", provider), move |_, ledger, account| {
            let mut report = pages::read(ledger, account, &id)?;
            if report.provider_status == ProviderStatus::Canceled {
                report.provider_status = ProviderStatus::NotStarted;
            }
            Ok(ProviderReport { refunds: Vec::new(), source: ReportSource::Result, ..report })
        });
        call.await.read()
    }
}

#[async_trait]
impl Captures for DropIn {
    /// Taken once per key; what is refused is told later.
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading> {
        let (payment, order, action) = (payment.to_owned(), order.clone(), action.clone());
        ask(&self.0, question("modifications.create", provider), move |world, ledger, account| {
            unless_lost(world, ledger, (&payment, action.id.to_string()), |ledger| {
                let key = (account, action.id.to_string());
                if ledger.keys.contains_key(&key) {
                    return Ok(Reading::CannotBeAsked(None));
                }
                ledger.keys.insert(key, (action.id.to_string(), world.elapsed()));
                let page = ledger.pages.values().find(|page| page.payment.as_deref() == Some(&*payment));
                let page = page.ok_or_else(|| refused(RejectionKind::Missing, "provider_object_missing"))?;
                let (id, is_held) = (page.id.clone(), matches!(page.held, Held::Until(_)));
                let acted = holds::act(world, ledger, account, &payment, (&order, &action));
                if acted.is_err() || !is_held {
                    let step = json!({ "step": "hold_action_failed", "action": action.id.to_string() });
                    send(world, ledger, &id, &step, &payment);
                }
                Ok(Reading::CannotBeAsked(None))
            })
        })
        .await
    }
}

#[async_trait]
impl Refunds for DropIn {
    async fn refund(
        &self,
        provider: &Provider,
        _: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        let (payment, refund) = (payment.to_owned(), refund.clone());
        ask(&self.0, question("refunds.create", provider), move |world, ledger, account| {
            unless_lost(world, ledger, (&payment, refund.id.to_string()), |ledger| {
                let made = refunds::make(world, ledger, account, &payment, &refund)?;
                Ok(RefundReport { status: RefundStatus::Processing, failure: None, ..made })
            })
        })
        .await
    }
}

/// Tells of a page's latest step, or of every refund that has ended. A decline is another attempt's, under a name of its own.
pub(super) fn tell(world: &Arc<World>, ledger: &mut Ledger, id: &str, kind: &str, attempt: &str) {
    let Some(page) = ledger.pages.get(id) else { return };
    let payment = page.payment.clone().unwrap_or_default();
    if kind == "refund.updated" {
        let ended = page.refunds.iter().filter(|refund| refund.status != RefundStatus::Processing);
        let steps: Vec<_> = ended.map(refund_step).collect();
        for step in steps {
            send(world, ledger, id, &step, &payment);
        }
        return;
    }
    let (step, name) = match (page.state, page.held) {
        (PageState::Open | PageState::Processing, _) => return,
        (PageState::Declined, _) => ("declined", attempt.to_owned()),
        (PageState::Closed, _) => ("closed", attempt.to_owned()),
        (PageState::Paid, Held::Never | Held::Until(_)) => ("approved", payment),
        (PageState::Paid, Held::Captured) => ("captured", payment),
        (PageState::Paid, Held::Voided) => ("released", payment),
        (PageState::Paid, Held::Lapsed) => ("expired", payment),
    };
    let told = json!({ "step": step, "amount": page.amount });
    send(world, ledger, id, &told, &name);
    if step == "closed" {
        return;
    }
    // Somebody who does not have the key claims that it was paid.
    if world.strikes(100) || world.is_planted(Plant::WebhookBelievedUnsigned) {
        let Some(page) = ledger.pages.get(id) else { return };
        let claim = json!({ "step": "approved", "amount": page.amount });
        let body = body(page, &claim, &format!("forged_{attempt}"));
        webhooks::forge(world, DROP_IN, body);
    }
}

fn refund_step(refund: &RefundReport) -> Value {
    json!({
        "step": "refund", "amount": refund.total.get(), "id": refund.id,
        "refund": refund.reference.map(|reference| reference.to_string()), "status": refund.status.as_str(),
    })
}

fn body(page: &Page, step: &Value, payment: &str) -> Value {
    // What we asked for is called as it was then. Everything else is called after the payment.
    let is_asked = !step["refund"].is_null() || !step["action"].is_null();
    json!({
        "kind": step["step"], "objects": [payment], "payment": payment,
        "reference": (!is_asked).then_some(&page.reference), "signed": step,
    })
}

fn send(world: &Arc<World>, ledger: &mut Ledger, id: &str, step: &Value, payment: &str) {
    let Some(page) = ledger.pages.get_mut(id) else { return };
    let (number, account) = (page.news.next(), page.account);
    let body = body(page, step, payment);
    page.is_untold |= !webhooks::send(world, DROP_IN, account, id, number, body);
}
