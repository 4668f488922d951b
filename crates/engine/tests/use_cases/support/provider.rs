//! Model providers: they keep what they accepted, once per idempotency key.
//!
//! A provider has two accounts, `a` and `b`, at one address; the credential in the configuration decides which one a
//! call reaches.

mod bank;
mod cards;
mod checks;
mod webhooks;

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::time::sleep;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::{
    Minor, Timestamp,
    ach::{AchProviderStatus, Correction, TransferRail},
    card::ProviderStatus,
    payment_card::PaymentCard,
    refund::{RefundReport, RefundStatus},
    transaction::{Dispute, Failure},
};
use tollgate_engine::ports::{
    Adapters, Call, CallError, CallLog, Capabilities, ListedDispute, Rejection, RejectionKind,
    TransientError, Try,
};

use super::{
    clock::TestClock,
    faults::{CallKind, Fault, Faults, Life, lock},
};

pub(crate) use cards::held_until;
pub(crate) use webhooks::{SIGNATURE, WEBHOOK_SECRET};

/// How long a slow answer takes.
pub(crate) const SLOW: Duration = Duration::from_secs(5);

/// What the providers have, all accounts together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records {
    pub(crate) transfers: Vec<BankTransfer>,
    /// By which instant network the banks of these routing numbers are reached.
    pub(crate) instant_rails: BTreeMap<&'static str, TransferRail>,
    /// What the bank account lacks for instant transfers.
    pub(crate) instant_lacks: Option<&'static str>,
    /// Intents and hosted pages.
    pub(crate) pages: Vec<Page>,
    pub(crate) sales: Vec<Sale>,
    /// How long after it was made a charge is listed.
    pub(crate) listed_after: Duration,
    /// What the register's list of disputes shows; without a page it has no such list.
    pub(crate) dispute_pages: Vec<Vec<ListedDispute>>,
    /// Where webhooks go.
    pub(crate) endpoints: Vec<WebhookEndpoint>,
    /// How long an intent can be paid at most.
    pub(crate) intent_lives: Option<Duration>,
    /// Card refunds are taken in multiples of this.
    pub(crate) amount_step: Option<u64>,
    /// What the bank account holds; `None` is unlimited.
    pub(crate) funds: Option<u64>,
    /// What the adapters do not offer, by the name of the trait or method.
    pub(crate) not_offered: Vec<&'static str>,
    /// The accounts that no call reaches.
    pub(crate) unreachable: Vec<char>,
    /// The accounts whose answers are lost.
    pub(crate) silent: Vec<char>,
    /// The account that answers preparations with errors of its own, and whether it makes them all the same.
    pub(crate) failing: Option<(char, bool)>,
    /// The names of the calls that arrived, in order.
    pub(crate) calls: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BankTransfer {
    pub(crate) rail: Option<TransferRail>,
    pub(crate) id: String,
    pub(crate) account: char,
    pub(crate) key: String,
    pub(crate) at: Timestamp,
    pub(crate) amount: u64,
    pub(crate) status: AchProviderStatus,
    pub(crate) corrections: Vec<Correction>,
}

/// Where webhooks go, and what signs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebhookEndpoint {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) secret: String,
}

/// Something a customer can pay on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) account: char,
    pub(crate) reference: String,
    pub(crate) amount: u64,
    pub(crate) status: ProviderStatus,
    pub(crate) refunds: Vec<RefundReport>,
    pub(crate) dispute: Option<Dispute>,
    pub(crate) dispute_currency: String,
    /// Whether only what was sold on it is left.
    pub(crate) is_deleted: bool,
    /// The card that it was paid or tried with last, where that is told.
    pub(crate) card: Option<PaymentCard>,
}

/// A charge of a card's token, paid or declined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sale {
    pub(crate) id: String,
    pub(crate) account: char,
    pub(crate) reference: String,
    pub(crate) number: u32,
    pub(crate) amount: u64,
    pub(crate) status: ProviderStatus,
    pub(crate) refunds: Vec<RefundReport>,
    pub(crate) at: Timestamp,
}

/// What refunds give back.
pub(crate) fn given_back(refunds: &[RefundReport]) -> u64 {
    let succeeded = refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded);
    succeeded.map(|refund| refund.total.get()).sum()
}

/// A credit card of the United States.
pub(crate) fn credit_card(brand: &str) -> PaymentCard {
    let word = |word: &str| Some(word.to_owned());
    PaymentCard { brand: word(brand), funding: word("credit"), country: word("US"), ..PaymentCard::default() }
}

/// A refund of everything, made in the dashboard.
pub(crate) fn whole_refund(amount: u64) -> RefundReport {
    RefundReport {
        id: "refund_d".to_owned(),
        reference: None,
        total: Minor::new(amount).unwrap(),
        status: RefundStatus::Succeeded,
        failure: None,
    }
}

impl Records {
    fn next_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.transfers.len() + self.pages.len() + self.sales.len() + 1)
    }

    fn is_as(&self, other: &Self) -> bool {
        (&self.transfers, &self.pages, &self.sales, &self.endpoints)
            == (&other.transfers, &other.pages, &other.sales, &other.endpoints)
    }

    /// How often a call of this name arrived.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.calls.iter().filter(|call| **call == name).count()
    }

    /// How many refunds there are of any payment.
    pub(crate) fn refund_count(&self) -> usize {
        let pages = self.pages.iter().map(|page| page.refunds.len());
        pages.chain(self.sales.iter().map(|sale| sale.refunds.len())).sum()
    }

    /// What becomes of the only payment.
    pub(crate) fn set_status(&mut self, status: ProviderStatus) {
        match self.pages.first_mut() {
            Some(page) => page.status = status,
            None => self.sale().status = status,
        }
    }

    /// The only page.
    pub(crate) fn page(&mut self) -> &mut Page {
        only(&mut self.pages)
    }

    /// The only transfer.
    pub(crate) fn transfer(&mut self) -> &mut BankTransfer {
        only(&mut self.transfers)
    }

    /// The only charge.
    pub(crate) fn sale(&mut self) -> &mut Sale {
        only(&mut self.sales)
    }
}

fn only<T: Debug>(records: &mut [T]) -> &mut T {
    assert_eq!(records.len(), 1, "{records:?}");
    &mut records[0]
}

/// The providers' records, shared by all processes.
#[derive(Clone, Default)]
pub(crate) struct Providers(Arc<Mutex<Records>>);

impl Providers {
    pub(crate) fn records(&self) -> MutexGuard<'_, Records> {
        lock(&self.0)
    }
}

/// One process's connection to the providers.
#[derive(Clone)]
struct Line {
    providers: Providers,
    faults: Arc<Faults>,
    life: Arc<Life>,
    clock: TestClock,
}

impl Line {
    fn offers(&self, capability: &str) -> bool {
        !self.providers.records().not_offered.contains(&capability)
    }

    /// Calls a provider; `act` is what it does and answers.
    async fn ask<T>(
        &self,
        name: &'static str,
        kind: CallKind,
        provider: &Provider,
        act: impl FnOnce(&mut Records, char) -> Result<T, CallError>,
    ) -> Call<T> {
        if self.life.is_over() {
            return self.life.die().await;
        }
        let is_in = |accounts: &[char]| account_of(provider).is_some_and(|it| accounts.contains(&it));
        let (is_unreachable, is_silent, failing) = {
            let records = self.providers.records();
            (is_in(&records.unreachable), is_in(&records.silent), records.failing)
        };
        let fails = failing.filter(|(account, _)| name == "pages.create" && is_in(&[*account]));
        let outcome = match self.faults.strike(name, kind) {
            None if is_unreachable => Err(CallError::Unsent(no_answer())),
            None if is_silent => {
                let _ = self.act(name, provider, act);
                Err(CallError::Unknown(no_answer()))
            }
            None if let Some((_, done)) = fails => {
                if done {
                    let _ = self.act(name, provider, act);
                }
                Err(CallError::Unknown(no_answer()))
            }
            Some(Fault::ProviderUnsent) => Err(CallError::Unsent(no_answer())),
            Some(Fault::ProviderSlow) => {
                sleep(SLOW).await;
                self.act(name, provider, act)
            }
            Some(Fault::ProviderUnknown { done }) => {
                if done {
                    let _ = self.act(name, provider, act);
                }
                Err(CallError::Unknown(no_answer()))
            }
            Some(Fault::ProviderRejects(kind @ (RejectionKind::Declined | RejectionKind::Invalid))) => {
                let before = self.providers.records().clone();
                let done = self.act(name, provider, act);
                let mut records = self.providers.records();
                // A key that was used before is answered with what it led to.
                if before.is_as(&records) {
                    done
                } else {
                    *records = before;
                    Err(rejected(kind))
                }
            }
            Some(Fault::ProviderRejects(kind)) => Err(rejected(kind)),
            Some(Fault::Crash) => {
                let _ = self.act(name, provider, act);
                return self.life.die().await;
            }
            _ => self.act(name, provider, act),
        };
        let (word, status) = match &outcome {
            Ok(_) => ("ok", Some(200)),
            Err(CallError::Rejected(_)) => ("refused", Some(400)),
            Err(_) if fails.is_some() => ("error 500", Some(500)),
            Err(CallError::Unsent(_) | CallError::Unknown(_)) => ("timed out", None),
        };
        let (at, took) = (self.clock.time(), Duration::from_millis(20));
        let tries = vec![Try { at, took, status, provider_request: None, outcome: word.to_owned() }];
        Call { outcome, logs: vec![CallLog { operation: name, idempotency_key: None, tries }] }
    }

    fn act<T>(
        &self,
        name: &'static str,
        provider: &Provider,
        act: impl FnOnce(&mut Records, char) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let mut records = self.providers.records();
        records.calls.push(name);
        let account = account_of(provider).ok_or_else(|| rejected(RejectionKind::Credentials))?;
        act(&mut records, account)
    }
}

/// The account that a provider's credential opens.
fn account_of(provider: &Provider) -> Option<char> {
    let secret = provider.api_secret().map(tollgate_vault::Secret::expose).unwrap_or_default();
    secret.strip_prefix("key of account ").and_then(|text| text.chars().next())
}

fn no_answer() -> TransientError {
    TransientError { reason: "the provider does not answer".to_owned(), retry_after: None }
}

pub(crate) fn failure(code: &str) -> Failure {
    Failure { code: code.to_owned(), message: format!("The provider says {code}.") }
}

fn rejected(kind: RejectionKind) -> CallError {
    let code = match kind {
        RejectionKind::Declined => "card_declined",
        RejectionKind::Invalid | RejectionKind::Surcharge => "provider_rejected",
        RejectionKind::Credentials => "provider_credentials",
        RejectionKind::Missing => "provider_object_missing",
        RejectionKind::State => "provider_state",
        RejectionKind::Funds => "provider_funds",
    };
    CallError::Rejected(Rejection { kind, failure: failure(code), lacks: None })
}

/// The adapters of one process.
pub(crate) struct ModelAdapters {
    bank: bank::Bank,
    forgetful_bank: bank::Bank,
    intents: cards::ModelCards,
    register: cards::ModelCards,
    webhooks: webhooks::Reader,
    register_webhooks: webhooks::Reader,
    checks: checks::Checks,
}

impl ModelAdapters {
    pub(crate) fn new(
        providers: &Providers,
        faults: &Arc<Faults>,
        life: &Arc<Life>,
        clock: &TestClock,
    ) -> Self {
        let line = || Line {
            providers: providers.clone(),
            faults: Arc::clone(faults),
            life: Arc::clone(life),
            clock: clock.clone(),
        };
        Self {
            bank: bank::Bank { line: line(), key_lasts: None },
            forgetful_bank: bank::Bank { line: line(), key_lasts: Some(Duration::from_hours(24)) },
            intents: cards::ModelCards::intents(line()),
            register: cards::ModelCards::register(line()),
            webhooks: webhooks::Reader { tells_of_other_sales: false },
            register_webhooks: webhooks::Reader { tells_of_other_sales: true },
            checks: checks::Checks(line()),
        }
    }
}

impl Adapters for ModelAdapters {
    fn capabilities(&self, adapter: Adapter) -> Capabilities<'_> {
        let offered =
            Capabilities { webhooks: Some(&self.webhooks), checks: Some(&self.checks), ..Default::default() };
        match adapter {
            Adapter::Stripe => Capabilities { cards: Some(&self.intents), ..offered },
            Adapter::Square => Capabilities {
                cards: Some(&self.register),
                webhooks: Some(&self.register_webhooks),
                ..offered
            },
            Adapter::Adyen => Capabilities::default(),
            Adapter::Increase => Capabilities { transfers: Some(&self.bank), ..offered },
            Adapter::ModernTreasury => Capabilities { transfers: Some(&self.forgetful_bank), ..offered },
        }
    }
}
