//! Transfers as callers and operators see them. Of the account's number there are only the last four digits to show.

use serde_json::{Value, value::RawValue};
use tollgate_domain::ach::{AchProviderStatus, TransferOrder, TransferPurpose, TransferRail};
use tollgate_engine::{notifications_of_change, ports::Transfer};

use crate::{response::payment::RoutingResponse, types::prelude::*};

responses! {
    /// The receiving account.
    BankAccountResponse as BankAccount {
        bank_name: String,
        account_type: words::BankAccountType,
        last4: String,
    }
}

impl BankAccountResponse {
    pub(crate) fn of(order: &TransferOrder) -> Self {
        Self {
            bank_name: order.bank_name.clone(),
            account_type: order.account_type.as_str().into(),
            last4: order.last_four.clone(),
        }
    }
}

responses! {
    /// What a transfer has beyond its transaction.
    TransferDetail as TransferDetail {
        bank_account: BankAccountResponse,
        account_name: String,
        external_customer_id: String,
        /// The day it is expected to arrive, by the banking calendar or by the provider's word.
        expected_settlement_on: Option<String>,
        /// Whom it waits for, where a person has to act at the provider before it is sent: an approval, a confirmation, a
        /// review. Null otherwise.
        waiting_for: Option<&'static str>,
        /// What the receiving bank asks to be corrected before the next transfer; nothing failed by it. Of a corrected
        /// account number the last four digits are shown.
        #[schema(value_type = Vec<scalars::Metadata>)]
        notifications_of_change: Value,
        #[schema(value_type = Option<scalars::RemittanceData>, required)]
        remittance_data: Option<Box<RawValue>>,
        /// The network it takes: for instant transfers, the one that the receiving bank takes part in.
        rail: Option<words::TransferRail>,
        recipient_kind: words::RecipientKind,
        purpose: Option<words::TransferPurpose>,
        #[schema(value_type = Option<scalars::StatementDescriptor>, required)]
        statement_descriptor: Option<String>,
        routing: RoutingResponse,
    }
}

impl TransferDetail {
    pub(crate) fn of(transfer: &Transfer) -> Self {
        let order = &transfer.order;
        let waiting = transfer.progress.waiting.as_deref();
        Self {
            bank_account: BankAccountResponse::of(order),
            account_name: order.account_name.clone(),
            external_customer_id: order.external_customer_id.clone(),
            expected_settlement_on: transfer.progress.expected_on.clone(),
            waiting_for: waiting.and_then(AchProviderStatus::waiting_for_person),
            notifications_of_change: notifications_of_change(transfer),
            remittance_data: order.remittance.as_deref().map(|text| Metadata::stored(text).0),
            rail: order.rail.map(TransferRail::as_str).map(Into::into),
            recipient_kind: order.recipient_kind.as_str().into(),
            purpose: order.purpose.map(TransferPurpose::as_str).map(Into::into),
            statement_descriptor: order.statement_descriptor.clone(),
            routing: RoutingResponse::of_transfer(order),
        }
    }
}

responses! {
    /// What only an operator sees of a transfer.
    TransferProgressResponse as TransferProgress {
        config_version: u64,
        next_check_at: Option<Moment>,
        /// Deprecated: the same as `nextCheckAt`, until the next release.
        next_look_at: Option<Moment>,
        looks: u32,
        waiting_for: Option<String>,
    }
}

impl TransferProgressResponse {
    pub(crate) fn of(transfer: &Transfer) -> Self {
        Self {
            config_version: transfer.order.config_version,
            next_check_at: transfer.progress.due.map(Moment),
            next_look_at: transfer.progress.due.map(Moment),
            looks: transfer.progress.tries,
            waiting_for: transfer.progress.waiting.clone(),
        }
    }
}
