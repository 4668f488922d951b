//! The client API's operations.

use http::StatusCode;
use serde_json::json;

use crate::{
    admin_api::wallets::WalletResponse,
    client_api::{
        confirm::{ConfirmResponse, Fields},
        customer_tokens::{TokenBody, TokenResponse},
        holds::{CaptureBody, VoidBody},
        prepare_body::PrepareBody,
        quote::{QuoteBody, QuoteResponse},
        refunds::RefundBody,
        switch::SwitchBody,
        transactions::TransactionReadResponse,
        transfer_body::{PreviewBody, TransferBody},
        transfer_preview::PreviewResponse,
        transfers::TransferResponse,
    },
    reference::{
        operation::{
            Credential::{AnyKey, SecretKey},
            Described, operation,
        },
        parameters,
        schemas::Schemas,
    },
    response::{
        error_code::ErrorCode,
        payment::{PaymentReadResponse, PaymentResponse},
        refund::{RefundCreatedResponse, RefundResponse},
        transaction::TransactionResponse,
    },
};

const FEES: &str = "Fees";
const CARDS: &str = "Card payments";
const TRANSFERS: &str = "Bank transfers";
const REFUNDS: &str = "Refunds";
const TRANSACTIONS: &str = "Transactions";

/// What keeps a provider from being asked at all.
const UNROUTED: &[ErrorCode] = &[ErrorCode::RoutingUnavailable, ErrorCode::ProviderNotConfigured];

/// Why nothing is captured or voided.
pub(crate) const HOLD_ERRORS: &[ErrorCode] = &[
    ErrorCode::IdempotencyConflict,
    ErrorCode::ProviderNotConfigured,
    ErrorCode::ProviderRejected,
    ErrorCode::ProviderUnavailable,
];

/// Why a component stays where it is.
const SWITCHED: &[ErrorCode] = &[
    ErrorCode::NotSwitchable,
    ErrorCode::ProviderNotConfigured,
    ErrorCode::ProviderRejected,
    ErrorCode::ProviderUnavailable,
];

/// Why a transfer is not canceled.
pub(crate) const CANCEL_ERRORS: &[ErrorCode] =
    &[ErrorCode::NotCancelable, ErrorCode::ProviderNotConfigured, ErrorCode::ProviderUnavailable];

/// Why there is no refund.
pub(crate) const REFUND_ERRORS: &[ErrorCode] = &[
    ErrorCode::NotRefundable,
    ErrorCode::RefundExceedsRemaining,
    ErrorCode::IdempotencyConflict,
    ErrorCode::ProviderNotConfigured,
    ErrorCode::ProviderRejected,
    ErrorCode::ProviderUnavailable,
];

pub(crate) fn operations(schemas: &mut Schemas) -> Vec<Described> {
    let mut operations = vec![quote(schemas)];
    operations.extend(cards(schemas));
    operations.extend(transfers(schemas));
    operations.extend(holds(schemas));
    operations.extend(refunds(schemas));
    operations.extend(reading(schemas));
    operations
}

fn quote(schemas: &mut Schemas) -> Described {
    operation("fee_quote", FEES, SecretKey, "Quote a fee")
        .says(
            "The route and fees of a payment under the current configuration. Nothing is \
             recorded. With `ach`, `currency` is USD and `flow` is omitted.",
        )
        .takes::<QuoteBody<'_>>(
            schemas,
            json!({"amountMinor": "1999", "currency": "USD", "paymentMethod": "web_card"}),
        )
        .answers::<QuoteResponse>(schemas, StatusCode::OK)
        .fails(&[ErrorCode::RoutingUnavailable])
        .without_store()
}

fn cards(schemas: &mut Schemas) -> [Described; 5] {
    let customer = json!({"name": "Ada Lovelace", "email": "ada@example.com"});
    let refused = [
        ErrorCode::ProviderRejected,
        ErrorCode::ProviderUnavailable,
        ErrorCode::IdempotencyConflict,
        ErrorCode::LimitExceeded,
    ];
    [
        operation("payment_prepare", CARDS, AnyKey, "Prepare a hosted checkout")
            .says("Send the customer to `checkoutUrl`. An environment can require a secret key here.")
            .takes::<PrepareBody<'_>>(
                schemas,
                json!({"amountMinor": "1999", "currency": "USD", "description": "Order 1001", "customer": customer,
                       "metadata": {"order": "1001"}, "successUrl": "https://shop.example/thanks"}),
            )
            .answers::<PaymentResponse<'_>>(schemas, StatusCode::CREATED)
            .answers::<PaymentResponse<'_>>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .with_key()
            .fails(UNROUTED)
            .fails(&refused),
        operation("component_prepare", CARDS, AnyKey, "Prepare an embedded component")
            .says(
                "Render the provider's component in the browser with `component`, then confirm from your backend. \
                 An environment can require a secret key here.",
            )
            .takes_without::<PrepareBody<'_>>(
                schemas,
                "ComponentRequest",
                &["successUrl", "cancelUrl"],
                json!({"amountMinor": "1999", "currency": "USD", "description": "Order 1001", "customer": customer}),
            )
            .answers::<PaymentResponse<'_>>(schemas, StatusCode::CREATED)
            .answers::<PaymentResponse<'_>>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .with_key()
            .fails(UNROUTED)
            .fails(&refused),
        operation("component_confirm", CARDS, SecretKey, "Confirm a component payment")
            .says(
                "Reads or charges the payment at the provider and records the transaction. A decline is 200 with \
                 `status: \"failed\"`; another `sourceId` may then be used. Confirming again returns the same result.",
            )
            .takes::<Fields<'_>>(
                schemas,
                json!({"paymentIntentId": "pi_3PxTollgate", "clientStatus": "succeeded"}),
            )
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(&[
                ErrorCode::PaymentNotConfirmable,
                ErrorCode::ProviderNotConfigured,
                ErrorCode::ProviderRejected,
            ]),
        operation("component_switch", CARDS, SecretKey, "Switch a declined component to the next provider")
            .says(
                "After a decline: withdraws the component at the provider that `from` names and answers with a new one at \
                 the next target of the payment's route, under the same reference and with that provider's fee. Repeating \
                 the request returns the component the payment has now; after a 503 it goes on where it stopped.",
            )
            .takes::<SwitchBody<'_>>(schemas, json!({"from": "card_provider_a"}))
            .answers::<PaymentResponse<'_>>(schemas, StatusCode::CREATED)
            .answers::<PaymentResponse<'_>>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(SWITCHED),
        operation("payment_read", CARDS, SecretKey, "Read a prepared payment")
            .says("The preparation, with its transaction once it exists.")
            .answers::<PaymentReadResponse<'_>>(schemas, StatusCode::OK),
    ]
}

fn transfers(schemas: &mut Schemas) -> [Described; 4] {
    [
        operation("customer_token_issue", TRANSFERS, SecretKey, "Issue a customer token")
            .says("An encrypted token for the customer a transfer is for. Without a credential the response is 403, as for all bank transfers.")
            .takes::<TokenBody<'_>>(
                schemas,
                json!({"externalCustomerId": "customer-1001", "email": "ada@example.com", "firstName": "Ada",
                       "lastName": "Lovelace"}),
            )
            .answers::<TokenResponse>(schemas, StatusCode::CREATED)
            .answers::<TokenResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .with_key()
            .fails(&[ErrorCode::IdempotencyConflict]),
        operation("transfer_preview", TRANSFERS, SecretKey, "Preview a transfer")
            .says("The route and cost of a transfer.")
            .takes::<PreviewBody<'_>>(schemas, json!({"amountMinor": "125000", "currency": "USD"}))
            .answers::<PreviewResponse>(schemas, StatusCode::OK)
            .fails(UNROUTED)
            .without_store(),
        operation("transfer_make", TRANSFERS, SecretKey, "Create a transfer")
            .says(
                "Idempotent by `idempotencyKey`: repeating the request returns the same transfer with 200 and \
                 `replayed: true`. If the outcome is unknown, the transfer is `pending` and resolved later.",
            )
            .takes::<TransferBody<'_>>(
                schemas,
                json!({"idempotencyKey": "payout-2026-1001", "amountMinor": "125000", "currency": "USD",
                       "customerToken": "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0…", "routingNumber": "110000000",
                       "accountNumber": "000123456789", "bankAccountType": "checking", "bankName": "First Bank",
                       "accountName": "Ada Lovelace"}),
            )
            .answers::<TransferResponse>(schemas, StatusCode::CREATED)
            .answers::<TransferResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(UNROUTED)
            .fails(&[
                ErrorCode::InsufficientWalletBalance,
                ErrorCode::LimitExceeded,
                ErrorCode::IdempotencyConflict,
                ErrorCode::InstantNotSupported,
                ErrorCode::ProviderRejected,
                ErrorCode::ProviderUnavailable,
            ]),
        operation("transfer_cancel", TRANSFERS, SecretKey, "Cancel a transfer")
            .says(
                "While the provider still can; the transaction becomes `canceled` and its funds are available again. Takes no \
                 body; sending it again is safe. If the outcome is unknown, the transaction keeps its status with \
                 `pendingAction: \"cancel\"` and is resolved later.",
            )
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(CANCEL_ERRORS),
    ]
}

fn holds(schemas: &mut Schemas) -> [Described; 2] {
    [
        operation("payment_capture", CARDS, SecretKey, "Capture an authorized payment")
            .says(
                "For payments prepared with `capture: \"manual\"`, before `captureBefore`. Idempotent by `idempotencyKey` \
                 (or the `Idempotency-Key` header). Less than the principal can be captured once; the rest is released, \
                 and the fee is computed anew on what is captured. If the outcome is unknown, the transaction stays \
                 `authorized` with `pendingAction: \"capture\"` and is resolved later.",
            )
            .takes::<CaptureBody<'_>>(
                schemas,
                json!({"idempotencyKey": "capture-2026-1001", "amountMinor": "1500"}),
            )
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(&[ErrorCode::NotCapturable])
            .fails(HOLD_ERRORS),
        operation("payment_void", CARDS, SecretKey, "Void an authorized payment")
            .says(
                "Releases what is held; the transaction becomes `canceled`. Idempotent by `idempotencyKey` (or the \
                 `Idempotency-Key` header). If the outcome is unknown, the transaction stays `authorized` with \
                 `pendingAction: \"void\"` and is resolved later.",
            )
            .takes::<VoidBody<'_>>(schemas, json!({"idempotencyKey": "void-2026-1001"}))
            .answers::<ConfirmResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(&[ErrorCode::NotVoidable])
            .fails(HOLD_ERRORS),
    ]
}

fn refunds(schemas: &mut Schemas) -> [Described; 3] {
    [
        operation("refund_create", REFUNDS, SecretKey, "Refund a card payment")
            .says(
                "Idempotent by `idempotencyKey` (or the `Idempotency-Key` header). By default the same share of the \
                 service fee goes back as of the principal, rounded half up. If the outcome is unknown, the refund is \
                 `pending` and resolved later; a refund can also fail after it succeeded, which is an event. Where the \
                 configuration asks for approvals of refunds, it is `pending` with `approval` until people have approved it.",
            )
            .takes::<RefundBody<'_>>(
                schemas,
                json!({"idempotencyKey": "refund-2026-1001", "amountMinor": "500", "reason": "requested_by_customer"}),
            )
            .answers::<RefundCreatedResponse>(schemas, StatusCode::CREATED)
            .answers::<RefundCreatedResponse>(schemas, StatusCode::OK)
            .carrying("Idempotent-Replayed", "IdempotentReplayed")
            .fails(REFUND_ERRORS),
        operation("refund_list", REFUNDS, SecretKey, "List a transaction's refunds")
            .says("Oldest first, those made at the provider included.")
            .lists::<RefundResponse>(schemas),
        operation("refund_read", REFUNDS, SecretKey, "Read a refund")
            .says("By its `refundReference`.")
            .answers::<RefundResponse>(schemas, StatusCode::OK),
    ]
}

fn reading(schemas: &mut Schemas) -> [Described; 3] {
    [
        operation("transaction_list", TRANSACTIONS, SecretKey, "List transactions")
            .says("Newest first.")
            .with(parameters::transactions())
            .lists::<TransactionResponse>(schemas),
        operation("transaction_read", TRANSACTIONS, SecretKey, "Read a transaction")
            .says("Not found until a transaction is recorded: on confirm, or on the provider's first report.")
            .fails(&[ErrorCode::NotPaidYet])
            .answers::<TransactionReadResponse>(schemas, StatusCode::OK),
        operation("client_wallet", TRANSACTIONS, SecretKey, "Read the wallets")
            .says("One per funded currency.")
            .lists::<WalletResponse>(schemas),
    ]
}
