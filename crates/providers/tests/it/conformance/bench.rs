//! Everything that can be made at a provider, asked for in one way.

use serde_json::{Value, json};
use tollgate_configuration::Provider;
use tollgate_domain::ach::{AchProviderStatus, TransferOrder};
use tollgate_domain::card::{CardOrder, ProviderStatus};
use tollgate_domain::id::RefundId;
use tollgate_domain::refund::Refund;
use tollgate_domain::{Channel, Flow};
use tollgate_engine::ports::{Adapters as _, Call, Capabilities, Cards, Subject};
use tollgate_providers::{ProviderSettings, Providers};

use super::descriptions::Description;
use crate::increase_support::{bank, order as transfer_order};
use crate::offered::Offered as _;
use crate::support::{self, World, charge, order, quick, refund};

const GOOD_CARD: &str = "4242424242424242";

/// What a provider can be asked to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Make {
    /// A page of the provider's own.
    Page,
    /// What a browser pays.
    Component,
    Charge,
    Refund,
    Transfer(Channel),
}

/// One of them, to be asked for as often as a test likes.
pub(super) enum Case {
    Card(Make, CardOrder),
    Refund(CardOrder, String, Box<Refund>),
    Transfer(TransferOrder),
}

impl Case {
    /// What the idempotency key is made of.
    pub(super) fn reference(&self) -> String {
        match self {
            Self::Card(_, order) => order.id.to_string(),
            Self::Refund(_, _, refund) => refund.id.to_string(),
            Self::Transfer(order) => order.id.to_string(),
        }
    }
}

/// Where something stands at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Card(ProviderStatus),
    Transfer(AchProviderStatus),
}

/// What was made, by the provider's name for it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) name: String,
    /// Absent where the answer does not tell.
    pub(super) standing: Option<Standing>,
}

/// A simulator and the adapter under test.
pub(super) struct Bench {
    pub(super) world: World,
    pub(super) provider: Provider,
    pub(super) description: &'static Description,
}

/// An adapter with nothing behind it.
pub(super) struct Fresh<'a> {
    bench: &'a Bench,
    providers: Providers,
}

impl Fresh<'_> {
    pub(super) async fn make(&self, case: &Case) -> Call<Seen> {
        let offered = self.providers.capabilities(self.bench.description.adapter);
        make(offered, &self.bench.provider, self.bench.description, case).await
    }
}

impl Bench {
    pub(super) async fn start(description: &'static Description, settings: ProviderSettings) -> Self {
        let world = support::start_with(settings).await;
        let url = format!("{}/{}", world.origin, description.adapter.as_str());
        Self { provider: support::provider(&(description.entry)(&url)), world, description }
    }

    /// The adapter after a restart.
    pub(super) fn restarted(&self) -> Fresh<'_> {
        Fresh { bench: self, providers: Providers::new(quick()).unwrap() }
    }

    pub(super) fn offered(&self) -> Capabilities<'_> {
        self.world.providers.capabilities(self.description.adapter)
    }

    /// A case of its own; where money is to go back, some has come before.
    pub(super) async fn begin(&self, make: Make) -> Case {
        match make {
            Make::Page => Case::Card(make, order(Flow::HostedCheckout)),
            Make::Component | Make::Charge => Case::Card(make, order(Flow::PaymentComponent)),
            Make::Transfer(channel) => Case::Transfer(transfer_order(channel)),
            Make::Refund => {
                let (order, cards) = (order(Flow::HostedCheckout), self.offered().cards.unwrap());
                let page = cards.prepare(&self.provider, &order).await.outcome.unwrap();
                self.world.pay_page(page.checkout_url.as_ref().unwrap(), GOOD_CARD).await;
                let paid = cards.read_report(&self.provider, &order, Subject::Object(&page.object)).await;
                let refund = Refund { id: RefundId::from_bytes(order.id.to_bytes()), ..refund(1, 500, 0) };
                let payment = match paid.outcome.unwrap().payment {
                    Some(payment) => payment,
                    // Only a webhook names it.
                    None => self.named_by_webhook(&order.id.to_string()).await,
                };
                Case::Refund(order, payment, Box::new(refund))
            }
        }
    }

    /// The provider's name for the payment with our reference.
    async fn named_by_webhook(&self, reference: &str) -> String {
        let state = self.world.control("GET", "state", Value::Null).await;
        let payments = state[self.description.adapter.as_str()]["payments"].as_array().unwrap().clone();
        let payment = payments.into_iter().find(|payment| payment["reference"] == reference).unwrap();
        payment["id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn make(&self, case: &Case) -> Call<Seen> {
        make(self.offered(), &self.provider, self.description, case).await
    }

    /// Reads what was made by the provider's name for it.
    pub(super) async fn read(&self, case: &Case, name: &str) -> Call<Seen> {
        match case {
            Case::Card(make, order) => {
                let cards = self.offered().cards.unwrap();
                let subject = match make {
                    Make::Charge => Subject::Payment(name),
                    _ => Subject::Object(name),
                };
                let call = cards.read_report(&self.provider, order, subject).await;
                seen(call, |report| (name.to_owned(), Some(Standing::Card(report.provider_status))))
            }
            Case::Transfer(_) => {
                let call = self.offered().transfers.unwrap().read(&self.provider, name).await;
                seen(call, |report| (report.transfer, Some(Standing::Transfer(report.provider_status))))
            }
            Case::Refund(..) => panic!("refunds are read with their payments"),
        }
    }

    /// Looks a transfer up by our own key for it.
    pub(super) async fn find(&self, order: &TransferOrder) -> Call<Option<Seen>> {
        let call = self.offered().transfers.unwrap().find(&self.provider, order).await;
        let outcome = call.outcome.map(|found| {
            found.map(|report| Seen {
                name: report.transfer,
                standing: Some(Standing::Transfer(report.provider_status)),
            })
        });
        Call { outcome, logs: call.logs }
    }

    pub(super) async fn fault(&self, operation: &str, kind: &str, count: u32) {
        self.world.fault(self.description.adapter.as_str(), operation, kind, count).await;
    }

    /// A fault with a delay of its own.
    pub(super) async fn slow(&self, operation: &str, delay_ms: u32) {
        let wire = self.description.adapter.as_str();
        let fault = json!({ "wire": wire, "operation": operation, "fault": "slow", "delay_ms": delay_ms });
        self.world.control("POST", "faults", fault).await;
    }

    pub(super) async fn clear(&self) {
        self.world.control("DELETE", "faults", Value::Null).await;
        // What may still be on its way arrives first, so that nothing is counted too early.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    pub(super) async fn count(&self, counted: &str) -> u64 {
        self.world.count(self.description.adapter.as_str(), counted).await
    }
}

fn seen<T>(call: Call<T>, name: impl FnOnce(T) -> (String, Option<Standing>)) -> Call<Seen> {
    let outcome = call.outcome.map(name).map(|(name, standing)| Seen { name, standing });
    Call { outcome, logs: call.logs }
}

pub(super) async fn make(
    offered: Capabilities<'_>,
    provider: &Provider,
    description: &Description,
    case: &Case,
) -> Call<Seen> {
    let cards = || -> &dyn Cards { offered.cards.unwrap() };
    match case {
        Case::Card(Make::Charge, order) => {
            let card = charge(1, description.card_token);
            let call = cards().charge(provider, order, &card).await;
            let standing = |status| Some(Standing::Card(status));
            seen(call, |report| (report.payment.unwrap(), standing(report.provider_status)))
        }
        Case::Card(_, order) => {
            seen(cards().prepare(provider, order).await, |prepared| (prepared.object, None))
        }
        Case::Refund(order, payment, refund) => {
            seen(cards().refund(provider, order, payment, refund).await, |made| (made.id, None))
        }
        Case::Transfer(order) => {
            let call = offered.transfers.unwrap().send(provider, order, &bank()).await;
            seen(call, |report| (report.transfer, Some(Standing::Transfer(report.provider_status))))
        }
    }
}
