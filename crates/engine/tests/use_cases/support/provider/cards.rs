//! The card providers: one with payment intents, one that charges tokens; both have hosted pages.

use std::time::Duration;

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Currency, Flow, Minor, Timestamp,
    card::{CardOrder, ProviderReport, ProviderStatus, ReportSource},
    card_fee::{Brand, CardFacts, Country, Funding, Instrument, Place},
    hold::{CaptureMode, HoldAction, HoldActionKind},
    refund::{Refund, RefundReport, RefundStatus},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    Call, CallError, Captures, Cards, Charge, Charges, Component, Confirmation, DisputeLists, DisputePage,
    Embedded, EmbeddedCards, HostedCheckout, Identified, OrderFault, Prepared, Preparing, Reading, Refunds,
    RejectionKind, Subject, TokenCard, TokenCards,
};
use tollgate_vault::Secret;

use super::{CallKind, Line, Page, Records, Sale, credit_card, failure, given_back, rejected};

pub(super) struct ModelCards {
    line: Line,
    confirmation: Confirmation,
}

impl ModelCards {
    pub(super) fn intents(line: Line) -> Self {
        Self { line, confirmation: Confirmation::Look }
    }

    pub(super) fn register(line: Line) -> Self {
        Self { line, confirmation: Confirmation::Charge }
    }
}

#[async_trait]
impl Cards for ModelCards {
    fn hosted_checkout(&self) -> Option<&dyn HostedCheckout> {
        self.line.offers("HostedCheckout").then_some(self as _)
    }

    fn embedded(&self) -> Option<Embedded<'_>> {
        self.line.offers("EmbeddedCards").then_some(match self.confirmation {
            Confirmation::Look | Confirmation::Result => Embedded::InBrowser(self),
            Confirmation::Charge => Embedded::ByToken(self),
        })
    }

    fn captures(&self, _: Flow) -> Option<&dyn Captures> {
        self.line.offers("Captures").then_some(self as _)
    }

    fn refunds(&self) -> Option<&dyn Refunds> {
        self.line.offers("Refunds").then_some(self as _)
    }

    fn dispute_lists(&self) -> Option<&dyn DisputeLists> {
        let is_listed = !self.line.providers.records().dispute_pages.is_empty();
        (is_listed && self.confirmation == Confirmation::Charge).then_some(self as _)
    }

    async fn read(&self, provider: &Provider, _: &CardOrder, subject: Subject<'_>) -> Call<Reading> {
        let (Subject::Object(id) | Subject::Payment(id)) = subject;
        let read = |records: &mut Records, account| read(records, account, id);
        self.line.ask("pages.retrieve", CallKind::ProviderRead, provider, read).await.read()
    }

    async fn check_order(&self, _: &Provider, order: &CardOrder) -> Call<(), OrderFault> {
        let is_taken = self.confirmation == Confirmation::Look || order.currency == Currency::USD;
        let fault = || OrderFault { field: "currency", message: "must be USD".to_owned() };
        Call { outcome: if is_taken { Ok(()) } else { Err(fault()) }, logs: Vec::new() }
    }

    async fn read_by_name(
        &self,
        provider: &Provider,
        _: &CardOrder,
        name: &str,
    ) -> Call<Option<ProviderReport>> {
        let read = |records: &mut Records, account| {
            let is_it = |page: &&Page| page.account == account && format!("order of {}", page.id) == name;
            Ok(records.pages.iter().find(is_it).map(page_report))
        };
        self.line.ask("orders.retrieve", CallKind::ProviderRead, provider, read).await
    }

    async fn can_access_account(&self, provider: &Provider, account: Option<&str>) -> Call<bool> {
        let named = provider.credential("locationId").or(account).map(str::to_owned);
        let sees = |_: &mut Records, account| Ok(named == Some(format!("account {account}")));
        self.line.ask("locations.retrieve", CallKind::ProviderRead, provider, sees).await
    }

    async fn dispute(
        &self,
        provider: &Provider,
        payment: &str,
        known: Option<&str>,
    ) -> Call<Option<Dispute>> {
        let dispute = |records: &mut Records, account| {
            let mut listed = records.dispute_pages.iter().flatten();
            if let Some(listed) = listed.find(|listed| known == Some(&listed.dispute.id)) {
                return Ok(Some(listed.dispute.clone()));
            }
            let page = records.pages.iter().find(|page| page.account == account && page.id == payment);
            Ok(page.and_then(dispute_report))
        };
        self.line.ask("disputes.list", CallKind::ProviderRead, provider, dispute).await
    }

    async fn withdraw(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Reading> {
        let close = |records: &mut Records, account| {
            let is_it = |page: &&mut Page| page.account == account && page.id == object && !page.is_deleted;
            let page = records.pages.iter_mut().find(is_it);
            let page = page.ok_or_else(|| rejected(RejectionKind::Missing))?;
            if matches!(page.status, ProviderStatus::NotStarted | ProviderStatus::Failed(_)) {
                page.status = ProviderStatus::Canceled;
            }
            Ok(page_report(page))
        };
        self.line.ask("pages.close", CallKind::Command, provider, close).await.read()
    }

    /// A dispute is about the page it is called after.
    async fn identify(&self, provider: &Provider, object: &str) -> Call<Option<Identified>> {
        let identify = |records: &mut Records, account| {
            let page = object.strip_prefix("dispute of ").unwrap_or(object);
            let page = records.pages.iter().find(|known| known.account == account && known.id == page);
            let page = page.ok_or_else(|| rejected(RejectionKind::Missing))?;
            let reference = Some(page.reference.clone()).filter(|reference| !reference.is_empty());
            Ok(Some(Identified { payment: Some(page.id.clone()), reference, dispute: dispute_report(page) }))
        };
        self.line.ask("objects.retrieve", CallKind::ProviderRead, provider, identify).await
    }
}

#[async_trait]
impl Preparing for ModelCards {
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared> {
        let open = |records: &mut Records, account| Ok(open(records, account, order));
        self.line.ask("pages.create", CallKind::Command, provider, open).await
    }

    async fn withdraw_unanswered(&self, provider: &Provider, order: &CardOrder) -> Call<()> {
        let reference = order.id.to_string();
        let close = |records: &mut Records, account| {
            let ours = |page: &&mut Page| page.account == account && page.reference == reference;
            for page in records.pages.iter_mut().filter(ours) {
                page.status = ProviderStatus::Canceled;
            }
            Ok(())
        };
        self.line.ask("pages.close_all", CallKind::Command, provider, close).await
    }
}

impl HostedCheckout for ModelCards {}

#[async_trait]
impl EmbeddedCards for ModelCards {
    fn max_lifetime(&self) -> Option<Duration> {
        self.line.providers.records().intent_lives
    }

    async fn reopen(&self, provider: &Provider, _: &CardOrder, object: &str) -> Call<Prepared> {
        let reopen = |records: &mut Records, account| {
            let page = records.pages.iter().find(|page| page.account == account && page.id == object);
            let page = page.ok_or_else(|| rejected(RejectionKind::Missing))?;
            let client_secret = Some(Secret::new(format!("secret of {}", page.id)));
            Ok(Prepared {
                object: page.id.clone(),
                also: Vec::new(),
                checkout_url: None,
                client_secret,
                methods: Vec::new(),
            })
        };
        self.line.ask("pages.retrieve", CallKind::ProviderRead, provider, reopen).await
    }

    fn component(&self, provider: &Provider, _: &CardOrder, prepared: &Prepared) -> Option<Component> {
        Some(Component::PaymentElement {
            publishable_key: provider.credential("publishableKey")?.to_owned(),
            client_secret: prepared.client_secret.clone()?,
            payment_intent_id: prepared.object.clone(),
            account: None,
            script_url: "https://provider.example/script.js".to_owned(),
            token_methods: None,
        })
    }

    fn tokens(&self, _: &Provider) -> Option<&dyn TokenCards> {
        Some(self)
    }
}

/// Every token is a Visa credit card of the United States. What else it is, its words say: `at US-GA` is its billing address,
/// `vague` a state in it that cannot be read; `declined`, `refused` for its surcharge, or first `asked` by its bank.
#[async_trait]
impl TokenCards for ModelCards {
    async fn read_token(&self, provider: &Provider, token: &Secret) -> Call<TokenCard> {
        let look = |_: &mut Records, _| {
            let said = token.expose();
            let payer = said.split_once("at ").and_then(|(_, rest)| Place::parse(rest.split(' ').next()?));
            let country = Country::parse("US");
            let card = CardFacts { brand: Brand::Visa, funding: Funding::Credit, country, commercial: None };
            let (instrument, has_unreadable_state) = (Instrument::Card(card), said.contains("vague"));
            Ok(TokenCard { instrument, payer, has_unreadable_state, is_spent: false })
        };
        self.line.ask("tokens.retrieve", CallKind::ProviderRead, provider, look).await
    }

    fn amount_step(&self, _: Currency) -> u64 {
        self.line.providers.records().amount_step.unwrap_or(1)
    }

    async fn charge_token(
        &self,
        provider: &Provider,
        _: &CardOrder,
        charge: &Charge,
    ) -> Call<ProviderReport> {
        let now = self.line.clock.time();
        let charge = |records: &mut Records, account| charge_token(records, account, charge, now);
        self.line.ask("pages.confirm", CallKind::Charge, provider, charge).await
    }
}

#[async_trait]
impl Charges for ModelCards {
    fn component(&self, provider: &Provider) -> Option<Component> {
        Some(Component::WebPayments {
            application_id: provider.credential("applicationId")?.to_owned(),
            location_id: provider.credential("locationId")?.to_owned(),
            environment: "sandbox",
            script_url: "https://provider.example/script.js".to_owned(),
        })
    }

    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport> {
        let now = self.line.clock.time();
        let charge = |records: &mut Records, account| sell(records, account, order, charge, now);
        self.line.ask("payments.create", CallKind::Charge, provider, charge).await
    }

    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>> {
        let (reference, now) = (order.id.to_string(), self.line.clock.time());
        let find = |records: &mut Records, account| {
            let mut ours =
                records.sales.iter().filter(|sale| sale.account == account && sale.reference == reference);
            let listed_until = Timestamp::from_unix_millis(
                now.unix_millis() - i64::try_from(records.listed_after.as_millis()).unwrap(),
            );
            let is_listed = |sale: &&Sale| (from..=until.min(listed_until)).contains(&sale.at);
            Ok(ours.rfind(is_listed).map(sale_report))
        };
        self.line.ask("payments.list", CallKind::ProviderRead, provider, find).await
    }
}

#[async_trait]
impl DisputeLists for ModelCards {
    async fn list_disputes(&self, provider: &Provider, from: Option<&str>) -> Call<DisputePage> {
        let list = |records: &mut Records, _| {
            let place = from.map_or(0, |from| from.parse().unwrap());
            let next = Some(place + 1).filter(|next| *next < records.dispute_pages.len());
            let disputes = records.dispute_pages[place].clone();
            Ok(DisputePage { disputes, next: next.map(|next| next.to_string()) })
        };
        self.line.ask("disputes.page", CallKind::ProviderRead, provider, list).await
    }
}

#[async_trait]
impl Captures for ModelCards {
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading> {
        let act = |records: &mut Records, account| act_on_hold(records, account, order, payment, action);
        self.line.ask("holds.change", CallKind::Command, provider, act).await.read()
    }
}

#[async_trait]
impl Refunds for ModelCards {
    fn amount_step(&self, _: Currency) -> u64 {
        self.line.providers.records().amount_step.unwrap_or(1)
    }

    async fn refund(
        &self,
        provider: &Provider,
        _: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport> {
        let make = |records: &mut Records, account| give_back(records, account, payment, refund);
        self.line.ask("refunds.create", CallKind::Command, provider, make).await
    }
}

fn open(records: &mut Records, account: char, order: &CardOrder) -> Prepared {
    let reference = order.id.to_string();
    let known = records.pages.iter().find(|page| page.account == account && page.reference == reference);
    let hosted = order.flow == Flow::HostedCheckout;
    let id = known.map(|page| page.id.clone());
    let id = id.unwrap_or_else(|| {
        let id = records.next_id(if hosted { "page" } else { "intent" });
        records.pages.push(Page {
            id: id.clone(),
            account,
            reference,
            amount: order.fee.total_debit.get(),
            status: ProviderStatus::NotStarted,
            refunds: Vec::new(),
            dispute: None,
            dispute_currency: order.currency.code().to_owned(),
            is_deleted: false,
            card: None,
        });
        id
    });
    Prepared {
        object: id.clone(),
        also: vec![format!("order of {id}")],
        checkout_url: hosted.then(|| format!("https://provider.example/{id}")),
        client_secret: (!hosted).then(|| Secret::new(format!("secret of {id}"))),
        methods: Vec::new(),
    }
}

/// A page keeps the total that it was last tried with.
fn charge_token(
    records: &mut Records,
    account: char,
    charge: &Charge,
    at: Timestamp,
) -> Result<ProviderReport, CallError> {
    let (said, terms) = (charge.source.expose(), charge.terms.as_ref());
    let terms = terms.ok_or_else(|| rejected(RejectionKind::Invalid))?;
    if said.contains("refused") && terms.surcharge > Minor::ZERO {
        return Err(rejected(RejectionKind::Surcharge));
    }
    if !terms.total.get().is_multiple_of(records.amount_step.unwrap_or(1)) {
        return Err(rejected(RejectionKind::Invalid));
    }
    let is_it = |page: &&mut Page| page.account == account && page.id == terms.object;
    let page = records.pages.iter_mut().find(is_it).ok_or_else(|| rejected(RejectionKind::Missing))?;
    page.amount = terms.total.get();
    page.card.get_or_insert_with(|| credit_card("visa"));
    page.status = match () {
        () if said.contains("declined") => ProviderStatus::Failed(failure("card_declined")),
        () if said.contains("asked") => ProviderStatus::ActionRequired,
        () if said.contains("held") => held_until(at),
        () => ProviderStatus::Succeeded,
    };
    match page.status {
        ProviderStatus::Failed(_) => Err(rejected(RejectionKind::Declined)),
        _ => Ok(page_report(page)),
    }
}

fn sell(
    records: &mut Records,
    account: char,
    order: &CardOrder,
    charge: &Charge,
    at: Timestamp,
) -> Result<ProviderReport, CallError> {
    let reference = order.id.to_string();
    let is_it =
        |sale: &&Sale| sale.account == account && sale.reference == reference && sale.number == charge.number;
    let known = records.sales.iter().find(is_it).cloned();
    // The key of a charge that failed is used up, and its answer is not repeated.
    if known.as_ref().is_some_and(|sale| matches!(sale.status, ProviderStatus::Failed(_))) {
        return Err(rejected(RejectionKind::State));
    }
    let sale = known.unwrap_or_else(|| {
        let declined = charge.source.expose().contains("declined");
        let sale = Sale {
            id: records.next_id("sale"),
            account,
            reference: reference.clone(),
            number: charge.number,
            amount: order.fee.total_debit.get(),
            status: match order.capture {
                _ if declined => ProviderStatus::Failed(failure("card_declined")),
                CaptureMode::Automatic => ProviderStatus::Succeeded,
                CaptureMode::Manual => held_until(at),
            },
            refunds: Vec::new(),
            at,
        };
        records.sales.push(sale.clone());
        sale
    });
    match sale.status {
        ProviderStatus::Failed(_) => Err(rejected(RejectionKind::Declined)),
        _ => Ok(sale_report(&sale)),
    }
}

/// Held for a week.
pub(crate) fn held_until(from: Timestamp) -> ProviderStatus {
    let capture_before = Some(from.saturating_add(Duration::from_hours(24 * 7)));
    ProviderStatus::Authorized { capture_before }
}

fn act_on_hold(
    records: &mut Records,
    account: char,
    order: &CardOrder,
    payment: &str,
    action: &HoldAction,
) -> Result<ProviderReport, CallError> {
    let page = records.pages.iter_mut().find(|page| page.account == account && page.id == payment);
    let sale = records.sales.iter_mut().find(|sale| sale.account == account && sale.id == payment);
    let (amount, status) = page
        .map(|page| (&mut page.amount, &mut page.status))
        .or(sale.map(|sale| (&mut sale.amount, &mut sale.status)))
        .ok_or_else(|| rejected(RejectionKind::Missing))?;
    if matches!(status, ProviderStatus::Authorized { .. }) {
        match action.kind {
            HoldActionKind::Capture => {
                *amount = action.amounts(&order.fee).total_debit.get();
                *status = ProviderStatus::Succeeded;
            }
            HoldActionKind::Void => *status = ProviderStatus::Canceled,
        }
    }
    read(records, account, payment)
}

fn give_back(
    records: &mut Records,
    account: char,
    payment: &str,
    refund: &Refund,
) -> Result<RefundReport, CallError> {
    let id = format!("refund_{}", refund.id);
    let step = records.amount_step.unwrap_or(1);
    let page = records.pages.iter_mut().find(|page| page.account == account && page.id == payment);
    let sale = records.sales.iter_mut().find(|sale| sale.account == account && sale.id == payment);
    let (amount, refunds) = page
        .map(|page| (page.amount, &mut page.refunds))
        .or(sale.map(|sale| (sale.amount, &mut sale.refunds)))
        .ok_or_else(|| rejected(RejectionKind::Missing))?;
    if let Some(known) = refunds.iter().find(|known| known.id == id) {
        return Ok(known.clone());
    }
    let is_taken = refund.total().get().is_multiple_of(step);
    if !is_taken || given_back(refunds) + refund.total().get() > amount {
        return Err(rejected(RejectionKind::Invalid));
    }
    let (reference, total) = (Some(refund.id), refund.total());
    let made = RefundReport { id, reference, total, status: RefundStatus::Succeeded, failure: None };
    refunds.push(made.clone());
    Ok(made)
}

fn read(records: &Records, account: char, id: &str) -> Result<ProviderReport, CallError> {
    let is_it = |page: &&Page| page.account == account && page.id == id && !page.is_deleted;
    let page = records.pages.iter().find(is_it).map(page_report);
    let sale = || records.sales.iter().find(|sale| sale.account == account && sale.id == id).map(sale_report);
    page.or_else(sale).ok_or_else(|| rejected(RejectionKind::Missing))
}

fn page_report(page: &Page) -> ProviderReport {
    ProviderReport {
        payment: (page.status != ProviderStatus::NotStarted).then(|| page.id.clone()),
        provider_status: page.status.clone(),
        amount: Minor::new(page.amount),
        currency: Some("USD".to_owned()),
        reference: Some(page.reference.clone()),
        refunds: page.refunds.clone(),
        disputed: page.dispute.is_some(),
        source: ReportSource::Read,
        card: page.card.clone().map(Box::new),
        is_not_card: false,
    }
}

fn sale_report(sale: &Sale) -> ProviderReport {
    ProviderReport {
        payment: Some(sale.id.clone()),
        provider_status: sale.status.clone(),
        amount: Minor::new(sale.amount),
        currency: Some("USD".to_owned()),
        reference: Some(sale.reference.clone()),
        refunds: sale.refunds.clone(),
        disputed: false,
        source: ReportSource::Read,
        card: None,
        is_not_card: false,
    }
}

fn dispute_report(page: &Page) -> Option<Dispute> {
    let dispute = page.dispute.clone()?;
    Some(Dispute { currency: Some(page.dispute_currency.clone()), ..dispute })
}
