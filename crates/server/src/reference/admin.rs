//! The operator's operations.

use http::StatusCode;
use serde_json::json;
use tollgate_domain::id::{ApplicationId, EnvironmentId, KeyId, OrganizationId, TransactionId};

use crate::{
    admin_api::{
        applications::ApplicationResponse,
        audit::AuditResponse,
        circuit::{CircuitBody, ForcedResponse},
        config::{CheckedResponse, ProposedResponse, ReplacedResponse, VersionResponse},
        deliveries::DeliveryResponse,
        doctor::DoctorResponse,
        environments::{EnvironmentBody, EnvironmentResponse},
        erase::{EraseBody, ErasureResponse},
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
        provider_check::{TestBody, TestResponse},
        provider_domains::{DomainBody, DomainResponse},
        provider_events::{EventResponse as ProviderEventResponse, RetriedResponse as ProviderEventRetried},
        providers::ProviderResponse,
        rekey::RekeyResponse,
        requests::RequestResponse,
        statement::StatementResponse,
        transfers::{RevealedResponse, TransferRead, TransferSummary},
        wallets::{MoveBody, MovedResponse, MovementWaitsResponse, PostingResponse, WalletResponse},
    },
    client_api::{
        confirm::ConfirmResponse,
        holds::{CaptureBody, VoidBody},
        quote::QuoteBody,
        refunds::RefundBody,
    },
    reference::{
        client::{CANCEL_ERRORS, HOLD_ERRORS, REFUND_ERRORS},
        configuration::{Configuration, example},
        operation::{Credential::AdminToken, Described, operation},
        parameters,
        schemas::Schemas,
    },
    response::{error_code::ErrorCode, refund::RefundCreatedResponse, transaction::TransactionResponse},
};

const TENANTS: &str = "Tenants";
const CONFIGURATION: &str = "Configuration";
const MOVEMENT: &str = "Idempotent by `reference`: repeating it returns 200 and `replayed: true`. Where `approvals.funds` asks for it, \
     nothing is moved until others have approved it (202).";
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

fn tenants(schemas: &mut Schemas) -> [Described; 9] {
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
        operation("statement_read", TENANTS, AdminToken, "Read a monthly statement")
            .says(
                "Fees earned by layer, provider and currency, with the payments, refunds and disputes of the month: the \
                 ledger's postings of that month, added up.",
            )
            .with(parameters::month())
            .answers::<StatementResponse>(schemas, StatusCode::OK),
        operation("statement_export", TENANTS, AdminToken, "Export a monthly statement")
            .says("The same as CSV, one line for each provider, payment method and currency of an environment.")
            .with(parameters::month())
            .answers_bare("text/csv", json!({"type": "string"})),
        operation("environment_create", TENANTS, AdminToken, "Create an environment")
            .takes::<EnvironmentBody<'_>>(schemas, json!({"name": "live"}))
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
            .says("The key is shown only in this response; only a hash is stored. It can be limited to endpoints and IP addresses, and expire.")
            .takes::<IssueBody<'_>>(schemas, json!({"kind": "secret"}))
            .answers::<NewKeyResponse<'_>>(schemas, StatusCode::CREATED),
        operation("key_list", TENANTS, AdminToken, "List an environment's keys")
            .with(parameters::after(KeyId::PREFIX))
            .lists::<KeyResponse>(schemas),
        operation("key_rotate", TENANTS, AdminToken, "Rotate a key")
            .says("Issues a replacement with the same name and limits, unless others are given; the old key stays valid for a grace period.")
            .may_take::<RotateBody<'_>>(schemas, json!({"graceSeconds": 86400}))
            .answers::<NewKeyResponse<'_>>(schemas, StatusCode::CREATED)
            .fails(&[ErrorCode::KeyNotLive]),
        operation("key_revoke", TENANTS, AdminToken, "Revoke a key")
            .says("On every node within a second.")
            .answers::<KeyResponse>(schemas, StatusCode::OK),
    ]
}

fn configuration(schemas: &mut Schemas) -> [Described; 10] {
    [
        operation("config_read", CONFIGURATION, AdminToken, "Read the configuration")
            .says("Secrets are masked; sending back a masked secret keeps the stored value.")
            .answers::<Configuration>(schemas, StatusCode::OK)
            .carrying("ETag", "ETag"),
        operation("config_replace", CONFIGURATION, AdminToken, "Replace the configuration")
            .says("Replaces the whole document atomically. An invalid document returns 400 with every error, and nothing changes. Where the current configuration has `approvals.configuration`, the change is only proposed (202) and waits for somebody else's approval.")
            .with([parameters::if_match()])
            .with_actor()
            .takes::<Configuration>(schemas, example())
            .answers::<ReplacedResponse<'_>>(schemas, StatusCode::OK)
            .carrying("ETag", "ETag")
            .answers::<ProposedResponse<'_>>(schemas, StatusCode::ACCEPTED)
            .fails(&[ErrorCode::VersionConflict, ErrorCode::TooManyProposals]),
        operation("config_validate", CONFIGURATION, AdminToken, "Check a configuration")
            .says("Validates a document exactly as replacing would, without changing anything.")
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
            .says("Every rule with its result, and every step of the fee.")
            .takes::<QuoteBody<'_>>(schemas, json!({"amountMinor": "1999", "currency": "USD"}))
            .answers::<ExplainResponse<'_>>(schemas, StatusCode::OK)
            .without_store(),
        operation("provider_list", CONFIGURATION, AdminToken, "List the providers")
            .says("Configured providers, missing settings and webhook URLs.")
            .lists::<ProviderResponse>(schemas)
            .without_store(),
        operation("provider_test", CONFIGURATION, AdminToken, "Test a provider")
            .says(
                "Asks the provider whether the configuration is right: credentials, test or live, account, webhook \
                 endpoint, clock. Moves no money. With `registerWebhook` it creates the webhook endpoint at the \
                 provider, unless one is there, and stores its secret as a new version of the configuration.",
            )
            .with_actor()
            .may_take::<TestBody<'_>>(schemas, json!({"registerWebhook": false}))
            .answers::<TestResponse>(schemas, StatusCode::OK),
        operation("provider_circuit_force", CONFIGURATION, AdminToken, "Force a provider's circuit")
            .says(
                "Decides for every node whether a provider gets new work, or leaves it to how the provider answers again. A \
                 new version of the configuration says so. Payments that have begun go on in any case.",
            )
            .with_actor()
            .takes::<CircuitBody<'_>>(schemas, json!({"state": "open"}))
            .answers::<ForcedResponse>(schemas, StatusCode::OK),
        operation("provider_domain_register", CONFIGURATION, AdminToken, "Register a domain for wallets")
            .says(
                "Registers a page's domain with the provider, so that its component shows Apple Pay, Google Pay and the \
                 like there. A domain that is registered already is validated again.",
            )
            .with_actor()
            .takes::<DomainBody<'_>>(schemas, json!({"domain": "shop.example.com"}))
            .answers::<DomainResponse>(schemas, StatusCode::OK)
            .without_store()
            .fails(&[
                ErrorCode::ProviderRejected,
                ErrorCode::ProviderNotConfigured,
                ErrorCode::ProviderUnavailable,
            ]),
    ]
}

fn wallets(schemas: &mut Schemas) -> [Described; 5] {
    let movement = json!({"amountMinor": "1000000", "reference": "bank statement 2026-11-15"});
    [
        operation("wallet_list", WALLETS, AdminToken, "List the wallets").lists::<WalletResponse>(schemas),
        operation("wallet_read", WALLETS, AdminToken, "Read a wallet")
            .answers::<WalletResponse>(schemas, StatusCode::OK),
        operation("wallet_fund", WALLETS, AdminToken, "Fund a wallet")
            .says(MOVEMENT)
            .with_actor()
            .takes::<MoveBody<'_>>(schemas, movement.clone())
            .answers::<MovedResponse>(schemas, StatusCode::CREATED)
            .answers::<MovedResponse>(schemas, StatusCode::OK)
            .answers::<MovementWaitsResponse<'_>>(schemas, StatusCode::ACCEPTED)
            .fails(&[ErrorCode::IdempotencyConflict, ErrorCode::WalletFull, ErrorCode::TooManyProposals]),
        operation("wallet_withdraw", WALLETS, AdminToken, "Withdraw from a wallet")
            .says(MOVEMENT)
            .with_actor()
            .takes::<MoveBody<'_>>(schemas, movement)
            .answers::<MovedResponse>(schemas, StatusCode::CREATED)
            .answers::<MovedResponse>(schemas, StatusCode::OK)
            .answers::<MovementWaitsResponse<'_>>(schemas, StatusCode::ACCEPTED)
            .fails(&[
                ErrorCode::IdempotencyConflict,
                ErrorCode::TooManyProposals,
                ErrorCode::InsufficientWalletBalance,
                ErrorCode::WalletFull,
            ]),
        operation("wallet_ledger", WALLETS, AdminToken, "Read a wallet's ledger")
            .says("Newest first.")
            .with(parameters::postings())
            .lists::<PostingResponse>(schemas),
    ]
}

fn payments(schemas: &mut Schemas) -> [Described; 12] {
    let whole_story = "A card payment or a bank transfer with its full timeline: the request, the routing decision, \
                       the fee and everything since.";
    let either = "PaymentOrTransfer";
    [
        operation("admin_transaction_list", OPERATIONS, AdminToken, "Search transactions")
            .says("Newest first.")
            .with(parameters::searched_transactions())
            .lists::<TransactionResponse>(schemas),
        operation("payment_export", OPERATIONS, AdminToken, "Export payments")
            .says(
                "The latest 20,000 as CSV, with customers, both fee layers, and every amount in minor units and with \
                 decimals.",
            )
            .with(parameters::exported_transactions())
            .answers_bare("text/csv", json!({"type": "string"})),
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
        operation("admin_payment_capture", OPERATIONS, AdminToken, "Capture an authorized payment")
            .says("As the client API does it.")
            .with_actor()
            .takes::<CaptureBody<'_>>(
                schemas,
                json!({"idempotencyKey": "capture-2026-1002", "amountMinor": "1500"}),
            )
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(&[ErrorCode::NotCapturable])
            .fails(HOLD_ERRORS),
        operation("admin_payment_void", OPERATIONS, AdminToken, "Void an authorized payment")
            .says("As the client API does it.")
            .with_actor()
            .takes::<VoidBody<'_>>(schemas, json!({"idempotencyKey": "void-2026-1002"}))
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(&[ErrorCode::NotVoidable])
            .fails(HOLD_ERRORS),
        operation("admin_transfer_cancel", OPERATIONS, AdminToken, "Cancel a transfer")
            .says("As the client API does it.")
            .with_actor()
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(CANCEL_ERRORS),
        operation("admin_refund_create", OPERATIONS, AdminToken, "Refund a card payment")
            .says("As the client API does it; the refund's `origin` is `operator`.")
            .with_actor()
            .takes::<RefundBody<'_>>(
                schemas,
                json!({"idempotencyKey": "refund-2026-1002", "amountMinor": "500", "feeRefund": "proportional"}),
            )
            .answers::<RefundCreatedResponse>(schemas, StatusCode::CREATED)
            .answers::<RefundCreatedResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(REFUND_ERRORS),
        operation("admin_payment_account", OPERATIONS, AdminToken, "Continue a payment at the configured account")
            .says(
                "For an unresolved payment whose provider account is no longer configured (an `account_changed` \
                 exception). Binds it to the account configured now and resumes it there. Only safe once the original \
                 account is known not to have it: otherwise it can be paid twice. Restoring the configuration \
                 also resumes it.",
            )
            .with_actor()
            .answers::<AccountDecided>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::ProviderNotConfigured]),
        operation("corrected_account_reveal", OPERATIONS, AdminToken, "Reveal corrected account numbers")
            .says(
                "The account numbers that the receiving bank asked to be used from now on, whole. Everywhere else only \
                 their last four digits are shown. Who was shown them is recorded on the transfer's timeline. 404 where \
                 no account number was corrected.",
            )
            .with_actor()
            .answers::<RevealedResponse>(schemas, StatusCode::OK),
        operation("waiting_transfer_list", OPERATIONS, AdminToken, "List pending transfers")
            .says("Transfers whose outcome is not confirmed yet, newest first.")
            .with(parameters::before(TransactionId::PREFIX))
            .lists::<TransferSummary>(schemas),
    ]
}

fn event_endpoints(schemas: &mut Schemas) -> [Described; 6] {
    [
        operation("event_endpoint_create", EVENTS, AdminToken, "Add an event endpoint")
            .says("The secret is shown only in this response. Events are signed following Standard Webhooks.")
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
            .says("Omitted fields keep their values; null removes `description`.")
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
            .says("With the body as delivered, and its deliveries.")
            .answers::<EventDetail<'_>>(schemas, StatusCode::OK),
        operation("event_resend", EVENTS, AdminToken, "Resend an event")
            .with_actor()
            .may_take::<ResendBody<'_>>(schemas, json!({}))
            .answers::<ResentResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::EndpointDisabled]),
        operation("event_resend_range", EVENTS, AdminToken, "Resend events by time range")
            .says("In pages: while `hasMore`, continue with `nextAfter` as `after`.")
            .with_actor()
            .takes::<ResendRangeBody<'_>>(
                schemas,
                json!({"from": "2026-11-15T00:00:00.000Z", "parkedOnly": true}),
            )
            .answers::<ResentResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::EndpointDisabled]),
        operation("delivery_list", EVENTS, AdminToken, "List deliveries")
            .says("Deliveries of events to endpoints with their results, newest first.")
            .with(parameters::deliveries())
            .lists::<DeliveryResponse>(schemas),
    ]
}

fn oversight(schemas: &mut Schemas) -> [Described; 9] {
    [
        operation("request_list", OPERATIONS, AdminToken, "List client API calls")
            .says(
                "The request log: calls of the client API, newest first, kept for `settings.requestLogDays` days. \
                 Successful quotes are only counted.",
            )
            .with(parameters::requests())
            .lists::<RequestResponse>(schemas),
        operation("exception_list", OPERATIONS, AdminToken, "List reconciliation exceptions")
            .says("Discrepancies between a provider and our ledger, newest first.")
            .with(parameters::exceptions())
            .lists::<ExceptionResponse>(schemas),
        operation("exception_resolve", OPERATIONS, AdminToken, "Resolve an exception")
            .says("Marks the exception as resolved; nothing else changes.")
            .with_actor()
            .takes::<ResolveBody<'_>>(schemas, json!({"note": "Refunded by hand, ticket 1001."}))
            .answers::<ResolvedResponse>(schemas, StatusCode::OK),
        operation("provider_event_list", OPERATIONS, AdminToken, "List provider events")
            .says("Events received from providers and their state, newest first.")
            .with(parameters::provider_events())
            .lists::<ProviderEventResponse>(schemas),
        operation("provider_event_retry", OPERATIONS, AdminToken, "Retry a parked provider event")
            .says("A parked event failed too often. It is queued again and applied within seconds, or records why not.")
            .with_actor()
            .answers::<ProviderEventRetried>(schemas, StatusCode::OK),
        operation("customer_erase", OPERATIONS, AdminToken, "Erase a customer's personal data")
            .says(
                "Removes names, addresses, bank details, descriptions, metadata and timelines of the customer's payments that \
                 have ended. Amounts, statuses, references and the books stay. It may be repeated.",
            )
            .with_actor()
            .takes::<EraseBody<'_>>(schemas, json!({"externalCustomerId": "cust_42"}))
            .answers::<ErasureResponse>(schemas, StatusCode::OK),
        operation("audit", OPERATIONS, AdminToken, "Audit the ledger")
            .says(
                "Recomputes every balance from its entries and checks every invariant. An audit that finds nothing leaves a \
                 checkpoint, and the next one verifies what was written since; `earlier` says what it relies on. Whether \
                 something older was tampered with is for `full` to find.",
            )
            .with(parameters::audit())
            .answers::<AuditResponse>(schemas, StatusCode::OK),
        operation("rekey", OPERATIONS, AdminToken, "Encrypt under the current master key")
            .says(
                "Encrypts some of what the previous master key has encrypted under the current one, for up to two \
                 seconds. Call it until `done` is true. It can be interrupted and repeated.",
            )
            .with_actor()
            .answers::<RekeyResponse>(schemas, StatusCode::OK)
            .fails(&[ErrorCode::NoPreviousMasterKey]),
        operation("doctor", OPERATIONS, AdminToken, "Check the installation")
            .says("Checks disk, clocks, providers and pending work, with advice for each.")
            .answers::<DoctorResponse>(schemas, StatusCode::OK),
    ]
}
