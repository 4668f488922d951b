//! The second card provider: the browser hands over a token, and the service charges it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Flow, Minor, Timestamp,
    card::{CardOrder, ProviderReport, ProviderStatus, ReportSource},
    hold::{CaptureMode, HoldAction},
    refund::{Refund, RefundReport},
    transaction::{Dispute, Failure},
};
use tollgate_engine::ports::{
    Call, CallError, Captures, Cards, Charge, Charges, Component, Embedded, HostedCheckout, Prepared,
    Preparing, Reading, Refunds, RejectionKind, Subject,
};

use super::{
    Account, Ledger, REGISTER,
    exchange::{Question, ask, refused},
    holds::{self, Held},
    keys_kept, pages, refunds,
    webhooks::{self, News},
};
use crate::{life::Life, plants::Plant, world::World};

/// A charge, taken or declined.
#[derive(Debug, Clone)]
pub(crate) struct Sale {
    pub(crate) id: String,
    pub(crate) account: Account,
    pub(crate) reference: String,
    pub(crate) caller: String,
    pub(crate) source: String,
    pub(crate) amount: u64,
    /// Whether the card was not declined.
    pub(crate) is_taken: bool,
    pub(crate) held: Held,
    pub(crate) refunds: Vec<RefundReport>,
    pub(crate) at: Timestamp,
    pub(crate) news: News,
}

impl Sale {
    /// Whether the money was taken.
    pub(crate) fn is_paid(&self) -> bool {
        self.is_taken && self.held.is_taken()
    }

    pub(super) fn report(&self) -> ProviderReport {
        let failed = || Failure { code: "card_declined".to_owned(), message: "It was declined.".to_owned() };
        ProviderReport {
            payment: Some(self.id.clone()),
            provider_status: if self.is_taken {
                self.held.status()
            } else {
                ProviderStatus::Failed(failed())
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

pub(super) struct Register(pub(super) Arc<Life>);

fn question<'a>(operation: &'static str, provider: &'a Provider) -> Question<'a> {
    Question { wire: REGISTER, operation, provider, credential: "accessToken" }
}

#[async_trait]
impl Cards for Register {
    fn hosted_checkout(&self) -> Option<&dyn HostedCheckout> {
        Some(self)
    }

    fn embedded(&self) -> Option<Embedded<'_>> {
        Some(Embedded::ByToken(self))
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
        ask(&self.0, question("payments.get", provider), move |_, ledger, account| {
            match ledger.sales.get(&id).filter(|sale| sale.account == account) {
                Some(sale) => Ok(sale.report()),
                None => pages::read(ledger, account, &id),
            }
        })
        .await
        .read()
    }

    async fn dispute(&self, _: &Provider, _: &str, _: Option<&str>) -> Call<Option<Dispute>> {
        Call { outcome: Ok(None), logs: Vec::new() }
    }

    async fn can_access_account(&self, provider: &Provider, _: Option<&str>) -> Call<bool> {
        let named = provider.credential("locationId").unwrap_or_default().to_owned();
        ask(&self.0, question("locations.get", provider), move |_, _, account| {
            Ok(named == format!("location-{}", account.name))
        })
        .await
    }

    async fn withdraw(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Reading> {
        let id = object.to_owned();
        ask(&self.0, question("links.delete", provider), move |world, ledger, account| {
            pages::close(world, ledger, account, &id)
        })
        .await
        .read()
    }
}

#[async_trait]
impl Preparing for Register {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let order = order.clone();
        ask(&self.0, question("links.create", provider), move |world, ledger, account| {
            Ok(pages::open(world, ledger, account, &order))
        })
        .await
    }
}

impl HostedCheckout for Register {}

#[async_trait]
impl Charges for Register {
    fn component(&self, provider: &Provider) -> Option<Component> {
        Some(Component::WebPayments {
            application_id: provider.credential("applicationId")?.to_owned(),
            location_id: provider.credential("locationId")?.to_owned(),
            environment: "sandbox",
            script_url: String::new(),
        })
    }

    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport> {
        let (order, charge) = (order.clone(), charge.clone());
        // A location that is not the account's own is a matter of the configuration.
        let location = provider.credential("locationId").unwrap_or_default().to_owned();
        let call = ask(&self.0, question("payments.create", provider), move |world, ledger, account| {
            if location != format!("location-{}", account.name) {
                return Err(refused(RejectionKind::Credentials, "provider_credentials"));
            }
            sell(world, ledger, account, &order, &charge)
        });
        call.await
    }

    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>> {
        let reference = order.id.to_string();
        ask(&self.0, question("payments.list", provider), move |_, ledger, account| {
            let is_ours = |sale: &&Sale| {
                sale.account == account && sale.reference == reference && (from..=until).contains(&sale.at)
            };
            let ours = ledger.sales.values().filter(is_ours);
            Ok(ours.max_by_key(|sale| (sale.is_taken, sale.at)).map(Sale::report))
        })
        .await
    }
}

#[async_trait]
impl Captures for Register {
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading> {
        let (payment, order, action) = (payment.to_owned(), order.clone(), action.clone());
        ask(&self.0, question("payments.change", provider), move |world, ledger, account| {
            holds::act(world, ledger, account, &payment, (&order, &action))
        })
        .await
        .read()
    }
}

#[async_trait]
impl Refunds for Register {
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

fn sell(
    world: &Arc<World>,
    ledger: &mut Ledger,
    account: Account,
    order: &CardOrder,
    charge: &Charge,
) -> Result<ProviderReport, CallError> {
    let source = charge.source.expose().to_owned();
    let mut key = format!("{}-{}", order.id, charge.number);
    if world.is_planted(Plant::ChargeKeyDiffers) {
        key = format!("{key}-{}", world.elapsed() / 1_000);
    }
    let (now, place) = (world.elapsed(), (account, key));
    let remembered =
        ledger.keys.get(&place).filter(|(_, at)| now < at + keys_kept(account)).map(|(id, _)| id.clone());
    if let Some(sale) = remembered.and_then(|id| ledger.sales.get(&id)) {
        return answer(sale);
    }
    // Where the fault is planted that keys differ, tokens are such as can be charged again.
    if ledger.used.contains_key(&source) && !world.is_planted(Plant::ChargeKeyDiffers) {
        return Err(refused(RejectionKind::Declined, "card_token_used"));
    }
    let id = ledger.next_id("sale");
    let is_taken = !source.contains("declined");
    let is_held = is_taken && order.capture == CaptureMode::Manual;
    let sale = Sale {
        held: if is_held { holds::hold(world, refunds::Place::Sale(id.clone())) } else { Held::Never },
        id: id.clone(),
        account,
        reference: order.id.to_string(),
        caller: order.description.clone().unwrap_or_default(),
        is_taken,
        source: source.clone(),
        amount: order.fee.total_debit.get(),
        refunds: Vec::new(),
        at: world.clock(0),
        news: News::default(),
    };
    world.note(
        account,
        format_args!("{} {id} with {source}", if sale.is_taken { "takes" } else { "declines" }),
    );
    ledger.used.insert(source, id.clone());
    ledger.keys.insert(place, (id.clone(), now));
    let answered = answer(&sale);
    ledger.sales.insert(id.clone(), sale);
    tell(world, ledger, &id);
    answered
}

fn answer(sale: &Sale) -> Result<ProviderReport, CallError> {
    if sale.is_taken { Ok(sale.report()) } else { Err(refused(RejectionKind::Declined, "card_declined")) }
}

pub(super) fn tell(world: &Arc<World>, ledger: &mut Ledger, id: &str) {
    let Some(sale) = ledger.sales.get_mut(id) else { return };
    let number = sale.news.next();
    let body = json!({
        "kind": "payment.updated", "objects": [id], "payment": id, "reference": sale.reference,
        "amount": sale.amount,
    });
    let _ = webhooks::send(world, REGISTER, sale.account, id, number, body);
}
