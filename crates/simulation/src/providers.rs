//! The providers: what they keep, how they are reached, and what a node's adapters make of it.
//!
//! Nothing here knows how the engine decides. Each provider has three accounts, `a` and `c` at one address and `b` at
//! another; what reaches which is decided by the address and the credentials in the configuration alone.

mod bank;
mod drop_in;
mod exchange;
mod holds;
mod pages;
mod refunds;
mod register;
mod webhooks;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tollgate_configuration::{Adapter, Provider};
use tollgate_engine::ports::{Adapters, Capabilities};

use crate::{life::Life, plants::Plant};

pub(crate) use bank::{BankTransfer, Standing};
pub(crate) use holds::{Held, act_in_dashboard};
pub(crate) use pages::{Page, PageState, pay_page};
pub(crate) use refunds::{counted, given_back};
pub(crate) use register::Sale;
pub(crate) use webhooks::SECRET as WEBHOOK_SECRET;

/// The adapters' names, as history and trouble call them.
pub(crate) const WIRES: [&str; 5] = [BANK, PAGES, REGISTER, SECOND_BANK, DROP_IN];
pub(crate) const BANK: &str = "bank";
/// Where transfers go that the first bank is proven not to have.
pub(crate) const SECOND_BANK: &str = "second-bank";
pub(crate) const PAGES: &str = "pages";
pub(crate) const REGISTER: &str = "register";
/// The card provider that cannot be asked.
pub(crate) const DROP_IN: &str = "drop-in";

/// How long a card provider remembers a key, in milliseconds: a day, the one that cannot be asked a week.
fn keys_kept(account: Account) -> u64 {
    let days = if account.wire == DROP_IN { 7 } else { 1 };
    days * 24 * 3_600 * 1_000
}

/// Everything the providers know, in both accounts of each.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Bank transfers by their own id.
    pub(crate) transfers: BTreeMap<String, BankTransfer>,
    /// Callers' names of transfers that the bank's own validation refused.
    pub(crate) refused: Vec<String>,
    /// Intents and hosted pages, of both card providers, by their own id.
    pub(crate) pages: BTreeMap<String, Page>,
    /// Charges made on our word.
    pub(crate) sales: BTreeMap<String, Sale>,
    /// Keys of commands: by account and key, what they made and when.
    keys: BTreeMap<(Account, String), (String, u64)>,
    /// Keys whose answer for good is that the connection behind the provider was lost, whatever was done.
    broken_keys: BTreeSet<String>,
    /// Tokens of cards that were used up.
    used: BTreeMap<String, String>,
    count: u64,
}

/// An account at a provider, such as `bank a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Account {
    pub(crate) wire: &'static str,
    pub(crate) name: char,
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.wire, self.name)
    }
}

impl Ledger {
    /// The accounts that have anything of a payment or transfer.
    pub(crate) fn accounts_of(&self, reference: &str) -> Vec<char> {
        let transfers = self.transfers.values().filter(|it| it.key == reference).map(|it| it.account.name);
        let pages = self.pages.values().filter(|it| it.reference == reference).map(|it| it.account.name);
        let sales = self.sales.values().filter(|it| it.reference == reference).map(|it| it.account.name);
        transfers.chain(pages).chain(sales).collect()
    }

    fn next_id(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}_{:06}", self.count)
    }
}

/// Where a provider's configuration leads: the account, if its credentials open it.
fn account(wire: &'static str, provider: &Provider, credential: &str) -> Option<Account> {
    let url = provider.base_url.as_deref().unwrap_or_default();
    let key = provider.credential(credential).unwrap_or_default();
    let leads_to = |name: &char| url == address(wire, *name) && key.starts_with(&key_prefix(wire, *name));
    ['a', 'b', 'c'].into_iter().find(leads_to).map(|name| Account { wire, name })
}

/// An account's address.
pub(crate) fn address(wire: &str, name: char) -> String {
    let host = if name == 'b' { 'b' } else { 'a' };
    format!("https://{wire}-{host}.example")
}

/// What every credential of an account begins with; they are rotated behind that.
pub(crate) fn key_prefix(wire: &str, name: char) -> String {
    format!("{wire}-key-{name}-")
}

/// The adapters of one node.
pub(crate) struct ModelAdapters {
    bank: bank::Bank,
    second_bank: bank::Bank,
    pages: pages::Pages,
    register: register::Register,
    drop_in: drop_in::DropIn,
    webhooks: [webhooks::Reader; 5],
}

impl ModelAdapters {
    pub(crate) fn new(life: &Arc<Life>) -> Self {
        Self {
            bank: bank::Bank::new(life, BANK),
            second_bank: bank::Bank::new(life, SECOND_BANK),
            pages: pages::Pages(Arc::clone(life)),
            register: register::Register(Arc::clone(life)),
            drop_in: drop_in::DropIn(Arc::clone(life)),
            webhooks: ["webhookSecret", "webhookSecret", "webhookSignatureKey", "webhookKey", "hmacKey"].map(
                |credential| webhooks::Reader {
                    credential,
                    believes_everybody: life.world.is_planted(Plant::WebhookBelievedUnsigned),
                },
            ),
        }
    }
}

impl Adapters for ModelAdapters {
    fn capabilities(&self, adapter: Adapter) -> Capabilities<'_> {
        let [bank, pages, register, second_bank, drop_in] = &self.webhooks;
        let none = Capabilities::default();
        match adapter {
            Adapter::Adyen => Capabilities { cards: Some(&self.drop_in), webhooks: Some(drop_in), ..none },
            Adapter::Stripe => Capabilities { cards: Some(&self.pages), webhooks: Some(pages), ..none },
            Adapter::Square => Capabilities { cards: Some(&self.register), webhooks: Some(register), ..none },
            Adapter::Increase => Capabilities { transfers: Some(&self.bank), webhooks: Some(bank), ..none },
            Adapter::ModernTreasury => {
                Capabilities { transfers: Some(&self.second_bank), webhooks: Some(second_bank), ..none }
            }
        }
    }
}

/// The provider of a wire, by its name in the configuration.
pub(crate) fn configured_name(wire: &str) -> &'static str {
    match wire {
        BANK => "ach_provider",
        SECOND_BANK => "ach_provider_b",
        PAGES => "card_provider_a",
        DROP_IN => "card_provider_c",
        _ => "card_provider_b",
    }
}

/// The dashboard gives a payment back, in part or whole, whichever provider has it.
pub(crate) fn refund(world: &Arc<crate::world::World>, reference: &str) {
    let ledger = world.providers();
    let page = ledger.pages.values().find(|page| page.reference == reference).map(|page| page.id.clone());
    let is_it = |sale: &&Sale| sale.reference == reference && sale.is_taken;
    let sale = ledger.sales.values().find(is_it).map(|sale| sale.id.clone());
    drop(ledger);
    if let Some(id) = page {
        refunds::make_in_dashboard(world, &refunds::Place::Page(id));
    }
    if let Some(id) = sale {
        refunds::make_in_dashboard(world, &refunds::Place::Sale(id));
    }
}
