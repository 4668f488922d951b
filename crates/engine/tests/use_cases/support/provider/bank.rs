//! The bank: one transfer per idempotency key, as long as it remembers the key.

use std::time::Duration;

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor,
    ach::{AchProviderReport, AchProviderStatus, TransferOrder, TransferRail},
};
use tollgate_engine::ports::{AchTransfers, BankAccount, Call, InstantCapability, RejectionKind};

use tollgate_vault::Secret;

use super::{BankTransfer, CallKind, Line, Records, rejected};

pub(super) struct Bank {
    pub(super) line: Line,
    /// How long a key is remembered; afterwards the same key makes another transfer.
    pub(super) key_lasts: Option<Duration>,
}

#[async_trait]
impl AchTransfers for Bank {
    /// An account that lacks nothing is one of a provider that says nothing.
    async fn instant_capability(&self, provider: &Provider) -> Call<InstantCapability> {
        let Some(lacks) = self.line.providers.records().instant_lacks else {
            return Call { outcome: Ok(InstantCapability::Unknown), logs: Vec::new() };
        };
        let capability = |_: &mut Records, _| Ok(InstantCapability::Missing(lacks));
        self.line.ask("accounts.retrieve", CallKind::ProviderRead, provider, capability).await
    }

    async fn instant_rail(&self, provider: &Provider, number: &Secret) -> Call<Option<TransferRail>> {
        let rail = |records: &mut Records, _| Ok(records.instant_rails.get(number.expose()).copied());
        self.line.ask("routing_numbers.list", CallKind::ProviderRead, provider, rail).await
    }

    async fn send(
        &self,
        provider: &Provider,
        order: &TransferOrder,
        _: &BankAccount,
    ) -> Call<AchProviderReport> {
        let send = |records: &mut Records, account| {
            let key = order.id.to_string();
            let now = self.line.clock.time();
            let is_kept = |known: &&BankTransfer| {
                self.key_lasts.is_none_or(|lasts| now < known.at.saturating_add(lasts))
            };
            let mut known = records.transfers.iter().filter(|it| it.account == account && it.key == key);
            if let Some(known) = known.find(is_kept) {
                return Ok(report(known));
            }
            let amount = order.fee.principal.minor();
            if records.funds.is_some_and(|funds| funds < amount) {
                return Err(rejected(RejectionKind::Funds));
            }
            let (id, status) = (records.next_id("transfer"), AchProviderStatus::Accepted);
            records.transfers.push(BankTransfer {
                rail: order.rail,
                id,
                account,
                key,
                at: now,
                amount,
                status,
                corrections: Vec::new(),
            });
            records.transfers.last().map(report).ok_or_else(|| rejected(RejectionKind::Missing))
        };
        self.line.ask("transfers.create", CallKind::Command, provider, send).await
    }

    async fn find(&self, provider: &Provider, order: &TransferOrder) -> Call<Option<AchProviderReport>> {
        let key = order.id.to_string();
        let find = |records: &mut Records, account| Ok(find(records, account, &key));
        self.line.ask("transfers.list", CallKind::ProviderRead, provider, find).await
    }

    async fn read(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport> {
        let read = |records: &mut Records, account| {
            let mut known = records.transfers.iter().filter(|it| it.account == account);
            known.find(|it| it.id == transfer).map(report).ok_or_else(|| rejected(RejectionKind::Missing))
        };
        self.line.ask("transfers.retrieve", CallKind::ProviderRead, provider, read).await
    }

    /// Only what was not sent on can be canceled.
    async fn cancel(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport> {
        let cancel = |records: &mut Records, account| {
            let mut known = records.transfers.iter_mut().filter(|it| it.account == account);
            let known = known.find(|it| it.id == transfer).ok_or_else(|| rejected(RejectionKind::Missing))?;
            if known.status == AchProviderStatus::Accepted {
                known.status = AchProviderStatus::Canceled;
            }
            Ok(report(known))
        };
        self.line.ask("transfers.cancel", CallKind::Command, provider, cancel).await
    }

    async fn can_access_account(&self, provider: &Provider) -> Call<bool> {
        let named = provider.account_id().unwrap_or_default().to_owned();
        let sees = |_: &mut Records, account| Ok(named == format!("account {account}"));
        self.line.ask("accounts.retrieve", CallKind::ProviderRead, provider, sees).await
    }

    async fn funds(&self, provider: &Provider) -> Option<Call<Minor>> {
        if !self.line.offers("funds") {
            return None;
        }
        let funds = |records: &mut Records, _| Ok(records.funds.and_then(Minor::new).unwrap_or(Minor::MAX));
        Some(self.line.ask("accounts.balance", CallKind::ProviderRead, provider, funds).await)
    }
}

fn find(records: &Records, account: char, key: &str) -> Option<AchProviderReport> {
    records.transfers.iter().find(|it| it.account == account && it.key == key).map(report)
}

fn report(transfer: &BankTransfer) -> AchProviderReport {
    AchProviderReport {
        transfer: transfer.id.clone(),
        provider_status: transfer.status.clone(),
        amount: Minor::new(transfer.amount),
        currency: Some("USD".to_owned()),
        reference: Some(transfer.key.clone()),
        expected_on: None,
        corrections: transfer.corrections.clone(),
    }
}
