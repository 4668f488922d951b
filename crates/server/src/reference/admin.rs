//! The operator's operations.

use http::StatusCode;
use serde_json::json;
use tollgate_domain::id::{ApplicationId, EnvironmentId, KeyId, OrganizationId, TransactionId};

use crate::{
    admin_api::{
        applications::ApplicationResponse,
        audit::AuditResponse,
        config::{CheckedResponse, ReplacedResponse, VersionResponse},
        deliveries::DeliveryResponse,
        doctor::DoctorResponse,
        environments::{EnvironmentBody, EnvironmentResponse},
        event_endpoints::{
            EndpointBody, EndpointMadeResponse, EndpointResponse, NewEndpointBody, RemovedResponse,
            RotateBody as RotateSecretBody,
        },
        events::{EventDetail, EventResponse, ResendBody, ResendRangeBody, ResentResponse},
        exceptions::{ExceptionResponse, ResolveBody, ResolvedResponse},
        explain::ExplainResponse,
        keys::{IssueBody, KeyResponse, NewKeyResponse, RotateBody},
        organizations::{NameBody, OrganizationResponse},
        payments::{AccountDecided, PaymentDetail, PaymentSummary},
        provider_events::{EventResponse as ProviderEventResponse, RetriedResponse as ProviderEventRetried},
        providers::ProviderResponse,
        transfers::{TransferRead, TransferSummary},
        wallets::{MoveBody, MovedResponse, PostingResponse, WalletResponse},
    },
    client_api::quote::QuoteBody,
    reference::{
        configuration::{Configuration, example},
        operation::{Credential::AdminToken, Described, operation},
        parameters,
        schemas::Schemas,
    },
    response::{error_code::ErrorCode, transaction::TransactionResponse},
};

const TENANTS: &str = "Tenants";
const CONFIGURATION: &str = "Configuration";
const WALLETS: &str = "Wallets";
const EVENTS: &str = "Events";
const OPERATIONS: &str = "Operations";

pub(crate) fn operations(schemas: &mut Schemas) -> Vec<Described> {
    let mut operations = Vec::new();
    operations.extend(tenants(schemas));
    operations.extend(keys(schemas));
    operations.extend(configuration(schemas));
    operations.extend(wallets(schemas));
    operations.extend(payments(schemas));
    operations.extend(event_endpoints(schemas));
    operations.extend(events(schemas));
    operations.extend(oversight(schemas));
    operations
}

fn tenants(schemas: &mut Schemas) -> [Described; 7] {
    [
        operation("organization_create", TENANTS, AdminToken, "Create an organization")
            .takes::<NameBody<'_>>(schemas, json!({"name": "Example Ltd"}))
            .answers::<OrganizationResponse>(schemas, StatusCode::CREATED),
        operation("organization_list", TENANTS, AdminToken, "List organizations")
            .with(parameters::after(OrganizationId::PREFIX))
            .lists::<OrganizationResponse>(schemas),
        operation("application_create", TENANTS, AdminToken, "Create an application")
            .takes::<NameBody<'_>>(schemas, json!({"name": "Web shop"}))
            .answers::<ApplicationResponse>(schemas, StatusCode::CREATED),
        operation("application_list", TENANTS, AdminToken, "List an organization's applications")
            .with(parameters::after(ApplicationId::PREFIX))
            .lists::<ApplicationResponse>(schemas),
        operation("environment_create", TENANTS, AdminToken, "Create an environment")
            .takes::<EnvironmentBody<'_>>(schemas, json!({"name": "test"}))
            .answers::<EnvironmentResponse>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::NameTaken]),
        operation("environment_list", TENANTS, AdminToken, "List an application's environments")
            .with(parameters::after(EnvironmentId::PREFIX))
            .lists::<EnvironmentResponse>(schemas),
        operation("environment_read", TENANTS, AdminToken, "Read an environment")
            .answers::<EnvironmentResponse>(schemas, StatusCode::OK),
    ]
}

fn keys(schemas: &mut Schemas) -> [Described; 4] {
    [
        operation("key_issue", TENANTS, AdminToken, "Issue a key")
            .says("The key is shown in this answer only; a hash is all that is kept.")
            .takes::<IssueBody<'_>>(schemas, json!({"kind": "secret"}))
            .answers::<NewKeyResponse<'_>>(schemas, StatusCode::CREATED),
        operation("key_list", TENANTS, AdminToken, "List an environment's keys")
            .with(parameters::after(KeyId::PREFIX))
            .lists::<KeyResponse>(schemas),
        operation("key_rotate", TENANTS, AdminToken, "Rotate a key")
            .says("Issues its successor and lets the old key go on opening for a grace period.")
            .may_take::<RotateBody<'_>>(schemas, json!({"graceSeconds": 86400}))
            .answers::<NewKeyResponse<'_>>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::KeyNotLive]),
        operation("key_revoke", TENANTS, AdminToken, "Revoke a key")
            .says("On every node within a second.")
            .answers::<KeyResponse>(schemas, StatusCode::OK),
    ]
}

fn configuration(schemas: &mut Schemas) -> [Described; 7] {
    [
        operation("config_read", CONFIGURATION, AdminToken, "Read the configuration")
            .says("Secrets are masked; a masked secret sent back keeps what is stored.")
            .answers::<Configuration>(schemas, StatusCode::OK)
            .carrying("ETag", "ETag"),
        operation("config_replace", CONFIGURATION, AdminToken, "Replace the configuration")
            .says("Whole and at once. A document that does not hold together is 400 with every fault, and nothing changes.")
            .with([parameters::if_match()])
            .with_actor()
            .takes::<Configuration>(schemas, example())
            .answers::<ReplacedResponse<'_>>(schemas, StatusCode::OK)
            .carrying("ETag", "ETag")
            .fails(&[ErrorCode::VersionConflict]),
        operation("config_validate", CONFIGURATION, AdminToken, "Check a configuration")
            .says("Reads a document exactly as replacing would, and changes nothing.")
            .takes::<Configuration>(schemas, example())
            .answers::<CheckedResponse>(schemas, StatusCode::OK)
            .carrying("ETag", "ETag"),
        operation("config_history", CONFIGURATION, AdminToken, "List the configuration's versions")
            .with(parameters::versions())
            .lists::<VersionResponse>(schemas),
        operation("config_version_read", CONFIGURATION, AdminToken, "Read a version of the configuration")
            .answers::<Configuration>(schemas, StatusCode::OK)
            .carrying("ETag", "ETag"),
        operation("quote_explain", CONFIGURATION, AdminToken, "Explain a quote")
            .says("Every rule with what became of it, and every step of the fee.")
            .takes::<QuoteBody<'_>>(schemas, json!({"amountMinor": "1999", "currency": "USD"}))
            .answers::<ExplainResponse<'_>>(schemas, StatusCode::OK)
            .without_store(),
        operation("provider_list", CONFIGURATION, AdminToken, "List the providers")
            .says("What is configured, what is missing, where webhooks go.")
            .lists::<ProviderResponse>(schemas)
            .without_store(),
    ]
}

fn wallets(schemas: &mut Schemas) -> [Described; 5] {
    let movement = json!({"amountMinor": "1000000", "reference": "bank statement 2026-11-15"});
    [
        operation("wallet_list", WALLETS, AdminToken, "List the wallets").lists::<WalletResponse>(schemas),
        operation("wallet_read", WALLETS, AdminToken, "Read a wallet")
            .answers::<WalletResponse>(schemas, StatusCode::OK),
        operation("wallet_fund", WALLETS, AdminToken, "Fund a wallet")
            .says("Once per `reference`; the same again answers 200 and `replayed: true`.")
            .with_actor()
            .takes::<MoveBody<'_>>(schemas, movement.clone())
            .answers::<MovedResponse>(schemas, StatusCode::CREATED)
            .answers::<MovedResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::IdempotencyConflict, ErrorCode::WalletFull]),
        operation("wallet_withdraw", WALLETS, AdminToken, "Withdraw from a wallet")
            .says("Once per `reference`; the same again answers 200 and `replayed: true`.")
            .with_actor()
            .takes::<MoveBody<'_>>(schemas, movement)
            .answers::<MovedResponse>(schemas, StatusCode::CREATED)
            .answers::<MovedResponse>(schemas, StatusCode::OK)
            .fails(&[
                ErrorCode::IdempotencyConflict,
                ErrorCode::InsufficientWalletBalance,
                ErrorCode::WalletFull,
            ]),
        operation("wallet_ledger", WALLETS, AdminToken, "Read a wallet's ledger")
            .says("Newest first.")
            .with(parameters::postings())
            .lists::<PostingResponse>(schemas),
    ]
}

fn payments(schemas: &mut Schemas) -> [Described; 6] {
    let whole_story = "A card payment or a bank transfer with its whole timeline: what was asked, why it went where it \
                       went, what it cost, and everything since.";
    let either = "PaymentOrTransfer";
    [
        operation("admin_transaction_list", OPERATIONS, AdminToken, "Search transactions")
            .says("Newest first.")
            .with(parameters::transactions())
            .lists::<TransactionResponse>(schemas),
        operation("admin_transaction_read", OPERATIONS, AdminToken, "Read a transaction with its timeline")
            .says(whole_story)
            .answers_either::<PaymentDetail<'_>, TransferRead>(schemas, either),
        operation("admin_payment_list", OPERATIONS, AdminToken, "Search prepared payments")
            .says("Newest first.")
            .with(parameters::payments())
            .lists::<PaymentSummary<'_>>(schemas),
        operation("admin_payment_read", OPERATIONS, AdminToken, "Read a payment with its timeline")
            .says(whole_story)
            .answers_either::<PaymentDetail<'_>, TransferRead>(schemas, either),
        operation("admin_payment_account", OPERATIONS, AdminToken, "Continue a payment at the configured account")
            .says(
                "For a payment in doubt whose account at the provider left the configuration (an `account_changed` \
                 exception). Ties it to the account configured now and resumes it there. Only safe once the earlier \
                 account is known not to have it: otherwise it can be paid twice. Restoring the configuration resumes \
                 it by itself.",
            )
            .with_actor()
            .answers::<AccountDecided>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::ProviderNotConfigured]),
        operation("waiting_transfer_list", OPERATIONS, AdminToken, "List transfers that wait")
            .says("Those whose outcome is still being looked for, newest first.")
            .with(parameters::before(TransactionId::PREFIX))
            .lists::<TransferSummary>(schemas),
    ]
}

fn event_endpoints(schemas: &mut Schemas) -> [Described; 6] {
    [
        operation("event_endpoint_create", EVENTS, AdminToken, "Add an event endpoint")
            .says("The secret is shown in this answer only. Events are signed as Standard Webhooks has it.")
            .with_actor()
            .takes::<NewEndpointBody>(
                schemas,
                json!({"url": "https://shop.example/events", "events": ["transaction.succeeded"]}),
            )
            .answers::<EndpointMadeResponse<'_>>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::TooManyEndpoints]),
        operation("event_endpoint_list", EVENTS, AdminToken, "List event endpoints")
            .lists::<EndpointResponse>(schemas),
        operation("event_endpoint_read", EVENTS, AdminToken, "Read an event endpoint")
            .answers::<EndpointResponse>(schemas, StatusCode::OK),
        operation("event_endpoint_change", EVENTS, AdminToken, "Change an event endpoint")
            .says("Fields that are left out stay as they are; `description` is taken away by null.")
            .with_actor()
            .takes::<EndpointBody<'_>>(schemas, json!({"events": ["*"], "enabled": true}))
            .answers::<EndpointResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::EndpointBusy]),
        operation("event_endpoint_remove", EVENTS, AdminToken, "Remove an event endpoint")
            .with_actor()
            .answers::<RemovedResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::EndpointBusy]),
        operation("event_endpoint_rotate", EVENTS, AdminToken, "Rotate an event endpoint's secret")
            .says("Both secrets sign for a grace period.")
            .with_actor()
            .may_take::<RotateSecretBody<'_>>(schemas, json!({"graceSeconds": 86400}))
            .answers::<EndpointMadeResponse<'_>>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::EndpointBusy]),
    ]
}

fn events(schemas: &mut Schemas) -> [Described; 5] {
    [
        operation("event_list", EVENTS, AdminToken, "List events")
            .says("Newest first, or with `after` oldest first.")
            .with(parameters::events())
            .lists::<EventResponse>(schemas),
        operation("event_read", EVENTS, AdminToken, "Read an event")
            .says("With its body as receivers get it, and where it was sent.")
            .answers::<EventDetail<'_>>(schemas, StatusCode::OK),
        operation("event_resend", EVENTS, AdminToken, "Send an event again")
            .with_actor()
            .may_take::<ResendBody<'_>>(schemas, json!({}))
            .answers::<ResentResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::EndpointDisabled]),
        operation("event_resend_range", EVENTS, AdminToken, "Send the events of a time again")
            .says("In slices: where `hasMore`, go on with `nextAfter` as `after`.")
            .with_actor()
            .takes::<ResendRangeBody<'_>>(
                schemas,
                json!({"from": "2026-11-15T00:00:00.000Z", "parkedOnly": true}),
            )
            .answers::<ResentResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::EndpointDisabled]),
        operation("delivery_list", EVENTS, AdminToken, "List deliveries")
            .says("Which event is on its way whereto, and what came of it, newest first.")
            .with(parameters::deliveries())
            .lists::<DeliveryResponse>(schemas),
    ]
}

fn oversight(schemas: &mut Schemas) -> [Described; 6] {
    [
        operation("exception_list", OPERATIONS, AdminToken, "List reconciliation exceptions")
            .says("Where a provider and our books disagree, newest first.")
            .with(parameters::exceptions())
            .lists::<ExceptionResponse>(schemas),
        operation("exception_resolve", OPERATIONS, AdminToken, "Resolve an exception")
            .says("Notes that somebody has looked; nothing else changes by it.")
            .with_actor()
            .takes::<ResolveBody<'_>>(schemas, json!({"note": "Refunded by hand, ticket 1001."}))
            .answers::<ResolvedResponse>(schemas, StatusCode::OK),
        operation("provider_event_list", OPERATIONS, AdminToken, "List providers' events")
            .says("What providers sent, and what became of it, newest first.")
            .with(parameters::provider_events())
            .lists::<ProviderEventResponse>(schemas),
        operation("provider_event_retry", OPERATIONS, AdminToken, "Retry a parked provider event")
            .says("An event that failed too often is parked; it waits again and is applied within seconds, or says why not.")
            .with_actor()
            .answers::<ProviderEventRetried>(schemas, StatusCode::OK),
        operation("audit", OPERATIONS, AdminToken, "Audit the books")
            .says("Recomputes every balance from its entries and checks every invariant.")
            .answers::<AuditResponse>(schemas, StatusCode::OK),
        operation("doctor", OPERATIONS, AdminToken, "Examine the installation")
            .says("Disk, clocks, providers and what waits, each with a verdict and what to do.")
            .answers::<DoctorResponse>(schemas, StatusCode::OK),
    ]
}
