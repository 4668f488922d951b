//! What neither the router nor a handler's signature says of an operation: its query and headers, and how it fails.

use serde_json::{Value, json};
use tollgate_domain::id::{ApplicationId, EnvironmentId, KeyId, OrganizationId, TransactionId, UserId};

use crate::{
    reference::{
        operation::{Described, texts},
        parameters,
    },
    response::error_code::ErrorCode,
    router::OPERATIONS,
    types::{schemas::Schemas, signature::any_object},
};
// The tables below name little else.
#[allow(clippy::enum_glob_use)]
use crate::response::error_code::ErrorCode::*;

const CAPTURE: &[ErrorCode] =
    &[NotCapturable, IdempotencyConflict, ProviderNotConfigured, ProviderRejected, ProviderUnavailable];
const VOID: &[ErrorCode] =
    &[NotVoidable, IdempotencyConflict, ProviderNotConfigured, ProviderRejected, ProviderUnavailable];
const CANCEL: &[ErrorCode] = &[NotCancelable, ProviderNotConfigured, ProviderUnavailable];
const REFUND: &[ErrorCode] = &[
    NotRefundable,
    RefundExceedsRemaining,
    IdempotencyConflict,
    ProviderNotConfigured,
    ProviderRejected,
    ProviderUnavailable,
];

/// Describes every operation that has a text, in the order of the texts.
pub(crate) fn all(schemas: &mut Schemas) -> Vec<Described> {
    let mut described = Vec::new();
    for text in texts() {
        let Some(route) = OPERATIONS.iter().find(|route| route.name == text.name) else { continue };
        let operation = Described::new(route, text, schemas);
        let is_admin = route.path.starts_with("/admin/");
        described.push(if is_admin { operators(operation) } else { others(operation) });
    }
    described
}

fn text() -> Value {
    json!({"type": "string"})
}

/// Adds what is known by the name of an operation of the client API, or of one without callers.
fn others(operation: Described) -> Described {
    match operation.name() {
        "fee_quote" => operation.without_store().fails(&[RoutingUnavailable]),
        "payment_prepare" | "component_prepare" => operation.with_key().fails(&[
            RoutingUnavailable,
            ProviderNotConfigured,
            ProviderRejected,
            ProviderUnavailable,
            IdempotencyConflict,
            LimitExceeded,
        ]),
        "component_confirm" => {
            operation.fails(&[PaymentNotConfirmable, FeeChanged, ProviderNotConfigured, ProviderRejected])
        }
        "component_card" => operation.fails(&[
            PaymentNotConfirmable,
            ProviderNotConfigured,
            ProviderRejected,
            ProviderUnavailable,
        ]),
        "component_switch" => {
            operation.fails(&[NotSwitchable, ProviderNotConfigured, ProviderRejected, ProviderUnavailable])
        }
        "customer_token_issue" => operation.with_key().fails(&[IdempotencyConflict]),
        "transfer_preview" => operation.without_store().fails(&[RoutingUnavailable, ProviderNotConfigured]),
        "transfer_make" => operation.fails(&[
            RoutingUnavailable,
            ProviderNotConfigured,
            InsufficientWalletBalance,
            LimitExceeded,
            IdempotencyConflict,
            InstantNotSupported,
            ProviderRejected,
            ProviderUnavailable,
        ]),
        "transfer_cancel" => operation.fails(CANCEL),
        "payment_capture" => operation.fails(CAPTURE),
        "payment_void" => operation.fails(VOID),
        "refund_create" => operation.fails(REFUND),
        "transaction_list" => operation.with(parameters::transactions()),
        "transaction_read" => operation.fails(&[NotPaidYet]),
        "health" => operation.without_store(),
        "webhook" => operation.takes_raw().fails(&[Unauthenticated]),
        "checkout_paid" | "checkout_canceled" | "docs" | "error_reference" => {
            operation.answers_bare("text/html", text()).without_store()
        }
        "metrics" => operation.answers_bare("application/openmetrics-text", text()).without_store(),
        "policy_report" => {
            operation.takes_raw().answers_bare("application/json", any_object()).without_store()
        }
        "openapi" => operation.answers_bare("application/json", any_object()).without_store(),
        "docs_script" | "browser_script" | "browser_script_version" => {
            operation.answers_bare("text/javascript", text()).without_store()
        }
        _ => operation,
    }
}

/// Adds what is known by the name of an operation of the admin API.
fn operators(operation: Described) -> Described {
    match operation.name() {
        "user_create" => operation.fails(&[EmailTaken]),
        "user_list" => operation.with(parameters::after(UserId::PREFIX)),
        "user_token_issue" => operation.fails(&[TooManyTokens]),
        "account_token_issue" => {
            operation.example(json!({"name": "laptop", "lifetimeSeconds": 7_776_000})).fails(&[TooManyTokens])
        }
        "approval_list" => operation.with(parameters::approvals()),
        "approval_approve" => operation.fails(&[NotApprovable, InsufficientWalletBalance, WalletFull]),
        "approval_deny" => operation.fails(&[NotApprovable]),
        "audit_log" => operation.with(parameters::audit_log()).with([parameters::limit()]),
        "audit_log_export" => {
            operation.with(parameters::audit_log()).answers_bare("application/jsonl", text())
        }
        "organization_list" => operation.with(parameters::after(OrganizationId::PREFIX)),
        "application_list" => operation.with(parameters::after(ApplicationId::PREFIX)),
        "statement_read" | "fee_report_read" => operation.with(parameters::month()),
        "statement_export" | "fee_report_export" => {
            operation.with(parameters::month()).answers_bare("text/csv", text())
        }
        "environment_create" => operation.fails(&[NameTaken]),
        "environment_list" => operation.with(parameters::after(EnvironmentId::PREFIX)),
        "key_list" => operation.with(parameters::after(KeyId::PREFIX)),
        "key_rotate" => operation.fails(&[KeyNotLive]),
        "config_replace" => {
            operation.with([parameters::if_match()]).with_actor().fails(&[VersionConflict, TooManyProposals])
        }
        "config_history" => operation.with(parameters::versions()),
        "quote_explain" | "provider_list" => operation.without_store(),
        "payment_note" => {
            operation.with_actor().example(json!({"text": "The customer called: the lamp arrived broken."}))
        }
        "exception_resolve" => {
            operation.with_actor().example(json!({"note": "Refunded by hand, ticket 1001."}))
        }
        "audit_log_accept"
        | "provider_test"
        | "provider_circuit_force"
        | "corrected_account_reveal"
        | "provider_event_retry"
        | "customer_erase" => operation.with_actor(),
        "provider_domain_register" => operation.with_actor().without_store().fails(&[
            ProviderRejected,
            ProviderNotConfigured,
            ProviderUnavailable,
        ]),
        "wallet_fund" => operation.with_actor().fails(&[IdempotencyConflict, WalletFull, TooManyProposals]),
        "wallet_withdraw" => operation.with_actor().fails(&[
            IdempotencyConflict,
            TooManyProposals,
            InsufficientWalletBalance,
            WalletFull,
        ]),
        "wallet_ledger" => operation.with(parameters::postings()),
        "admin_transaction_list" => operation.with(parameters::searched_transactions()),
        "payment_export" => {
            operation.with(parameters::exported_transactions()).answers_bare("text/csv", text())
        }
        "admin_payment_list" => operation.with(parameters::payments()),
        "admin_payment_capture" => operation.with_actor().fails(CAPTURE),
        "admin_payment_void" => operation.with_actor().fails(VOID),
        "admin_transfer_cancel" => operation.with_actor().fails(CANCEL),
        "admin_refund_create" => operation.with_actor().fails(REFUND),
        "admin_payment_account" => operation.with_actor().fails(&[ProviderNotConfigured]),
        "waiting_transfer_list" => operation.with(parameters::before(TransactionId::PREFIX)),
        "event_endpoint_create" => operation.with_actor().fails(&[TooManyEndpoints]),
        "event_endpoint_change" | "event_endpoint_remove" | "event_endpoint_rotate" => {
            operation.with_actor().fails(&[EndpointBusy])
        }
        "event_list" => operation.with(parameters::events()),
        "event_resend" | "event_resend_range" => operation.with_actor().fails(&[EndpointDisabled]),
        "delivery_list" => operation.with(parameters::deliveries()),
        "request_list" => operation.with(parameters::requests()),
        "exception_list" => operation.with(parameters::exceptions()),
        "provider_event_list" => operation.with(parameters::provider_events()),
        "audit" => operation.with(parameters::audit()),
        "rekey" => operation.with_actor().fails(&[NoPreviousMasterKey]),
        _ => operation,
    }
}
