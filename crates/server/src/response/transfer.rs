//! Transfers as callers and operators see them. Of the account's number there are only the last four digits to show.

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tollgate_domain::ach::{AchProviderStatus, TransferOrder, TransferPurpose, TransferRail};
use tollgate_engine::{notifications_of_change, ports::Transfer};
use utoipa::ToSchema;

use crate::{
    json::timestamp::rfc3339,
    reference::{scalars, words},
    response::{payment::RoutingResponse, transaction::stored_json},
};

/// The receiving account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BankAccount)]
pub(crate) struct BankAccountResponse {
    bank_name: String,
    #[schema(value_type = words::BankAccountType)]
    account_type: &'static str,
    last4: String,
}

impl BankAccountResponse {
    pub(crate) fn of(order: &TransferOrder) -> Self {
        Self {
            bank_name: order.bank_name.clone(),
            account_type: order.account_type.as_str(),
            last4: order.last_four.clone(),
        }
    }
}

/// What a transfer has beyond its transaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransferDetail {
    bank_account: BankAccountResponse,
    account_name: String,
    external_customer_id: String,
    /// The day it is expected to arrive, by the banking calendar or by the provider's word.
    #[schema(required)]
    expected_settlement_on: Option<String>,
    /// Whom it waits for, where a person has to act at the provider before it is sent: an approval, a confirmation, a
    /// review. Null otherwise.
    #[schema(required)]
    waiting_for: Option<&'static str>,
    /// What the receiving bank asks to be corrected before the next transfer; nothing failed by it. Of a corrected
    /// account number the last four digits are shown.
    #[schema(value_type = Vec<scalars::Metadata>)]
    notifications_of_change: Value,
    #[schema(value_type = Option<scalars::RemittanceData>, required)]
    remittance_data: Option<Box<RawValue>>,
    /// The network it takes: for instant transfers, the one that the receiving bank takes part in.
    #[schema(value_type = Option<words::TransferRail>, required)]
    rail: Option<&'static str>,
    #[schema(value_type = words::RecipientKind)]
    recipient_kind: &'static str,
    #[schema(value_type = Option<words::TransferPurpose>, required)]
    purpose: Option<&'static str>,
    #[schema(value_type = Option<scalars::StatementDescriptor>, required)]
    statement_descriptor: Option<String>,
    routing: RoutingResponse,
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
            remittance_data: order.remittance.as_deref().map(stored_json),
            rail: order.rail.map(TransferRail::as_str),
            recipient_kind: order.recipient_kind.as_str(),
            purpose: order.purpose.map(TransferPurpose::as_str),
            statement_descriptor: order.statement_descriptor.clone(),
            routing: RoutingResponse::of_transfer(order),
        }
    }
}

/// What only an operator sees of a transfer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferProgress)]
pub(crate) struct TransferProgressResponse {
    config_version: u64,
    #[schema(value_type = Option<scalars::Moment>, required)]
    next_look_at: Option<String>,
    looks: u32,
    #[schema(required)]
    waiting_for: Option<String>,
}

impl TransferProgressResponse {
    pub(crate) fn of(transfer: &Transfer) -> Self {
        Self {
            config_version: transfer.order.config_version,
            next_look_at: transfer.progress.due.map(rfc3339),
            looks: transfer.progress.tries,
            waiting_for: transfer.progress.waiting.clone(),
        }
    }
}
