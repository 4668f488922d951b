//! Disputes: those that are open, and what is shown of one on its payment's page.

use askama::Template;
use tollgate_domain::{
    Currency, Timestamp,
    transaction::{Dispute, DisputeStage},
};

use crate::{
    layout::{
        format::minor,
        frame::Frame,
        page::{self, Page},
    },
    request::signed_in::SignedIn,
};

/// How many open disputes are shown; few ever have so many.
const MAX_SHOWN: u32 = 200;

/// A dispute as a person reads it.
pub(crate) struct DisputeView {
    pub(crate) id: String,
    pub(crate) status: String,
    pub(crate) tone: &'static str,
    pub(crate) reason: String,
    pub(crate) amount: String,
    pub(crate) respond_by: Option<String>,
    pub(crate) is_open: bool,
    /// What is to be known first.
    pub(crate) sentence: String,
    pub(crate) is_late: bool,
    /// Where it is answered at the provider.
    pub(crate) link: Option<String>,
}

/// Where a dispute stands, at a glance: a tone and a word.
pub(crate) fn mark(dispute: &Dispute) -> (&'static str, &'static str) {
    match dispute.stage() {
        DisputeStage::Inquiry => ("warn", "inquiry"),
        DisputeStage::Open => ("bad", "disputed"),
        DisputeStage::Returned => ("", "dispute closed"),
        DisputeStage::Lost => ("bad", "dispute lost"),
    }
}

impl DisputeView {
    pub(crate) fn of(dispute: &Dispute, currency: Currency, now: Timestamp, link: Option<String>) -> Self {
        let (tone, _) = mark(dispute);
        let amount = dispute.amount.map(|amount| match dispute.currency.as_deref().map(Currency::parse) {
            None => minor(amount, currency),
            Some(Some(foreign)) => minor(amount, foreign),
            Some(None) => format!("{amount} {}", dispute.currency.as_deref().unwrap_or_default()),
        });
        let amount = amount.unwrap_or_default();
        let withdrawn = minor(dispute.amount_withdrawn(), currency);
        let sentence = match dispute.stage() {
            DisputeStage::Inquiry => {
                "The customer's bank asks about this payment; no money is held.".to_owned()
            }
            DisputeStage::Open if dispute.status.eq_ignore_ascii_case("won") => {
                format!("The dispute was won; the provider still holds {withdrawn}.")
            }
            DisputeStage::Open => {
                format!("The customer disputes this payment; the provider holds {withdrawn}.")
            }
            DisputeStage::Returned => format!("The dispute is over; {amount} is no longer held."),
            DisputeStage::Lost => format!("The dispute was lost; the customer got {withdrawn} back."),
        };
        let due = dispute.respond_by.filter(|_| dispute.needs_response());
        Self {
            id: dispute.id.clone(),
            status: dispute.status.clone(),
            tone,
            reason: dispute.reason.clone().unwrap_or_default(),
            amount,
            is_open: !dispute.is_closed(),
            sentence,
            respond_by: due.map(Timestamp::utc_minute),
            is_late: due.is_some_and(|due| due <= now),
            link,
        }
    }
}

struct Row {
    reference: String,
    dispute: DisputeView,
}

#[derive(Template)]
#[template(path = "disputes.html")]
struct DisputesPage {
    frame: Frame,
    rows: Vec<Row>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Disputes", "disputes").await?;
    signed_in.record_list("payment.list", environment).await?;
    let engine = &signed_in.console.engine;
    let (view, now) = (signed_in.view(environment)?, engine.clock().now());
    let mut rows = Vec::new();
    for (id, dispute) in engine.open_disputes(environment, MAX_SHOWN).await? {
        let order = engine.payment_with_timeline(environment, id).await?.payment.order;
        let provider = view.configuration.providers.get(&order.provider);
        let link = provider.and_then(|provider| provider.dispute_page(&dispute.id));
        rows.push(Row {
            reference: id.to_string(),
            dispute: DisputeView::of(&dispute, order.currency, now, link),
        });
    }
    page::render(&DisputesPage { frame, rows })
}
