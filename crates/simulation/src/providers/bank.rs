//! The banks: transfers under keys that belong to them for good.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor,
    ach::{AchProviderReport, AchProviderStatus, TransferOrder, TransferRail},
    id::TransferId,
    transaction::Failure,
};
use tollgate_engine::ports::{AchTransfers, BankAccount, Call, CallError, RejectionKind};

use tollgate_vault::Secret;

use super::{
    Account, BANK, Ledger,
    exchange::{Question, ask, refused, transient},
    webhooks::{self, News},
};
use crate::{
    life::Life,
    plants::Plant,
    world::{World, lock},
};

/// Amounts that end like this are refused by the bank's own validation.
pub(crate) const REFUSED_ENDING: u64 = 13;

/// Where a transfer stands at the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Accepted,
    Sent,
    Settled,
    Returned,
    Rejected,
    Canceled,
}

impl Standing {
    /// The status that tells of it.
    pub(crate) const fn status(self) -> &'static str {
        match self {
            Self::Accepted | Self::Sent => "processing",
            Self::Settled => "succeeded",
            Self::Returned | Self::Rejected => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// A transfer the bank took.
#[derive(Debug, Clone)]
pub(crate) struct BankTransfer {
    pub(crate) id: String,
    pub(crate) account: Account,
    pub(crate) key: String,
    /// The caller's own name for it, which travels as the description.
    pub(crate) caller: String,
    /// The request that asked for it.
    pub(crate) request: String,
    pub(crate) amount: u64,
    pub(crate) standing: Standing,
    /// Every standing it had, in order.
    pub(crate) past: Vec<Standing>,
    pub(crate) news: News,
}

pub(super) struct Bank {
    life: Arc<Life>,
    wire: &'static str,
    /// Transfers that the resolver asked for: the next time one is sent is not the first.
    asked_for: Mutex<BTreeSet<TransferId>>,
}

impl Bank {
    pub(super) fn new(life: &Arc<Life>, wire: &'static str) -> Self {
        Self { life: Arc::clone(life), wire, asked_for: Mutex::default() }
    }

    /// The order as it is sent, under another key where that is planted.
    fn sent(&self, order: &TransferOrder) -> TransferOrder {
        let mut order = order.clone();
        if self.life.world.is_planted(Plant::NewKeyOnRetry) && lock(&self.asked_for).contains(&order.id) {
            let mut bytes = order.id.to_bytes();
            bytes[15] ^= 1;
            order.id = TransferId::from_bytes(bytes);
        }
        order
    }

    fn question<'a>(&self, operation: &'static str, provider: &'a Provider) -> Question<'a> {
        Question { wire: self.wire, operation, provider, credential: "apiKey" }
    }

    /// The account that pays, as the configuration names it.
    fn funding(&self, provider: &Provider) -> String {
        let name = if self.wire == BANK { "accountId" } else { "originatingAccountId" };
        provider.funding(name).unwrap_or_default().to_owned()
    }
}

#[async_trait]
impl AchTransfers for Bank {
    async fn instant_rail(&self, provider: &Provider, _: &Secret) -> Call<Option<TransferRail>> {
        ask(&self.life, self.question("routing_numbers.list", provider), |_, _, _| {
            Ok(Some(TransferRail::RealTimePayments))
        })
        .await
    }

    async fn send(
        &self,
        provider: &Provider,
        order: &TransferOrder,
        _: &BankAccount,
    ) -> Call<AchProviderReport> {
        let order = self.sent(order);
        // Funding details that are not the account's own are a matter of the configuration.
        let funding = self.funding(provider);
        let mut call =
            ask(&self.life, self.question("transfers.create", provider), move |world, ledger, account| {
                if funding != format!("account-{}", account.name) {
                    return Err(refused(RejectionKind::Credentials, "provider_credentials"));
                }
                take(world, ledger, account, &order)
            })
            .await;
        if self.life.world.is_planted(Plant::ReleaseOnTimeout)
            && matches!(call.outcome, Err(CallError::Unknown(_)))
        {
            call.outcome = Err(refused(RejectionKind::Declined, "timed_out"));
        }
        if self.life.world.is_planted(Plant::FallbackInDoubt)
            && matches!(call.outcome, Err(CallError::Unknown(_)))
        {
            call.outcome = Err(CallError::Unsent(transient("it cannot be reached")));
        }
        call
    }

    async fn find(&self, provider: &Provider, order: &TransferOrder) -> Call<Option<AchProviderReport>> {
        if self.life.world.is_planted(Plant::NewKeyOnRetry) {
            lock(&self.asked_for).insert(order.id);
            return ask(&self.life, self.question("transfers.list", provider), |_, _, _| Ok(None)).await;
        }
        let key = order.id.to_string();
        ask(&self.life, self.question("transfers.list", provider), move |_, ledger, account| {
            Ok(ledger.transfers.values().find(|it| it.account == account && it.key == key).map(report))
        })
        .await
    }

    async fn read(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport> {
        let id = transfer.to_owned();
        let mut call =
            ask(&self.life, self.question("transfers.retrieve", provider), move |_, ledger, account| {
                let found = ledger.transfers.get(&id).filter(|it| it.account == account);
                found.map(report).ok_or_else(|| refused(RejectionKind::Missing, "provider_object_missing"))
            })
            .await;
        if self.life.world.is_planted(Plant::WebhookLostWhileRefused)
            && matches!(&call.outcome, Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials)
        {
            call.outcome = Err(refused(RejectionKind::Missing, "provider_object_missing"));
        }
        call
    }

    async fn cancel(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport> {
        let (id, world) = (transfer.to_owned(), Arc::clone(&self.life.world));
        ask(&self.life, self.question("transfers.cancel", provider), move |_, ledger, account| {
            let found = ledger.transfers.get_mut(&id).filter(|it| it.account == account);
            let found = found.ok_or_else(|| refused(RejectionKind::Missing, "provider_object_missing"))?;
            if found.standing == Standing::Accepted {
                found.standing = Standing::Canceled;
                found.past.push(Standing::Canceled);
                world.note(account, format_args!("{id} Canceled"));
            }
            Ok(report(found))
        })
        .await
    }

    async fn can_access_account(&self, provider: &Provider) -> Call<bool> {
        let named = self.funding(provider);
        ask(&self.life, self.question("accounts.retrieve", provider), move |_, _, account| {
            Ok(named == format!("account-{}", account.name))
        })
        .await
    }

    async fn funds(&self, provider: &Provider) -> Option<Call<Minor>> {
        // The second one shows no balance.
        if self.wire != BANK {
            return None;
        }
        let asked = ask(&self.life, self.question("accounts.balance", provider), |_, _, _| {
            Ok(Minor::new(1_000_000_000).unwrap_or(Minor::MAX))
        });
        Some(asked.await)
    }
}

fn take(
    world: &Arc<World>,
    ledger: &mut Ledger,
    account: Account,
    order: &TransferOrder,
) -> Result<AchProviderReport, CallError> {
    let key = order.id.to_string();
    if let Some(known) = ledger.transfers.values().find(|it| it.account == account && it.key == key) {
        return Ok(report(known));
    }
    let caller = order.description.clone().unwrap_or_default();
    let amount = order.fee.principal.minor();
    if amount % 100 == REFUSED_ENDING {
        ledger.refused.push(caller);
        return Err(refused(RejectionKind::Invalid, "invalid_account"));
    }
    let id = ledger.next_id("ach_transfer");
    world.note(account, format_args!("takes {id} for {caller}"));
    let transfer = BankTransfer {
        id: id.clone(),
        account,
        key,
        caller,
        request: order.request.clone(),
        amount,
        standing: Standing::Accepted,
        past: vec![Standing::Accepted],
        news: News::default(),
    };
    let seen = report(&transfer);
    ledger.transfers.insert(id.clone(), transfer);
    tokio::spawn(follow(Arc::clone(world), id));
    Ok(seen)
}

/// What happens to a transfer by and by.
async fn follow(world: Arc<World>, id: String) {
    let pace = *world.pick(&[2_000, 20_000, 90_000]);
    world.pause(500..pace).await;
    if world.chance(60) {
        return change(&world, &id, Standing::Canceled);
    }
    change(&world, &id, Standing::Sent);
    world.pause(500..pace).await;
    if world.chance(120) {
        return change(&world, &id, Standing::Rejected);
    }
    change(&world, &id, Standing::Settled);
    if world.chance(300) {
        world.pause(1_000..3 * pace).await;
        change(&world, &id, Standing::Returned);
    }
}

fn change(world: &Arc<World>, id: &str, standing: Standing) {
    let mut ledger = lock(&world.providers);
    let Some(transfer) = ledger.transfers.get_mut(id) else { return };
    // Canceled by us, it goes no further.
    if transfer.standing == Standing::Canceled {
        return;
    }
    transfer.standing = standing;
    transfer.past.push(standing);
    let number = transfer.news.next();
    let account = transfer.account;
    drop(ledger);
    world.note(account, format_args!("{id} {standing:?}"));
    let body = serde_json::json!({ "kind": "ach_transfer.updated", "objects": [id] });
    let _ = webhooks::send(world, account.wire, account, id, number, body);
}

fn report(transfer: &BankTransfer) -> AchProviderReport {
    let provider_status = match transfer.standing {
        Standing::Accepted => AchProviderStatus::Accepted,
        Standing::Sent => AchProviderStatus::Sent,
        Standing::Settled => AchProviderStatus::Settled,
        Standing::Returned => AchProviderStatus::Returned { code: "R03".to_owned() },
        Standing::Rejected => AchProviderStatus::Rejected(Failure {
            code: "rejected".to_owned(),
            message: "The bank rejected it.".to_owned(),
        }),
        Standing::Canceled => AchProviderStatus::Canceled,
    };
    AchProviderReport {
        transfer: transfer.id.clone(),
        provider_status,
        amount: Minor::new(transfer.amount),
        currency: Some("USD".to_owned()),
        reference: Some(transfer.key.clone()),
        expected_on: None,
        corrections: Vec::new(),
    }
}
