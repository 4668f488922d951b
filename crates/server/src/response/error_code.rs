//! Every code a failure can carry, with its status and what it means: the one list that the answers, the OpenAPI
//! document and `docs/errors.md` are made from.

use http::StatusCode;

macro_rules! error_codes {
    ($($status:ident { $($code:ident $text:literal: $when:literal, $remedy:literal;)* })*) => {
        /// What went wrong, as programs tell it apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ErrorCode {
            $($(#[doc = $when] $code,)*)*
        }

        impl ErrorCode {
            /// All of them, in the order of their statuses.
            pub(crate) const ALL: &'static [Self] = &[$($(Self::$code,)*)*];

            /// As `error.code` has it.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $($(Self::$code => $text,)*)* }
            }

            /// Where it is explained, on this server.
            pub(crate) const fn docs(self) -> &'static str {
                match self { $($(Self::$code => concat!("/docs/errors#", $text),)*)* }
            }

            pub(crate) const fn status(self) -> StatusCode {
                match self { $($(Self::$code => StatusCode::$status,)*)* }
            }

            pub(crate) const fn when(self) -> &'static str {
                match self { $($(Self::$code => $when,)*)* }
            }

            /// What the caller does about it.
            pub(crate) const fn remedy(self) -> &'static str {
                match self { $($(Self::$code => $remedy,)*)* }
            }
        }
    };
}

error_codes! {
    BAD_REQUEST {
        InvalidBody "invalid_body":
            "The body is not a JSON object, or a field of the body, query or headers is invalid.",
            "Correct every field listed in `error.details` and send the request again.";
        MalformedRequest "malformed_request":
            "The request's first line or headers are not valid HTTP/1.1.",
            "Correct the client; a proxy or a hand-written request is usually the cause.";
        CardDataNotAllowed "card_data_not_allowed":
            "A text field contains a card number: 13 to 19 digits that pass the Luhn check. Nothing was stored or logged of it.",
            "Remove the number from the field; card details go from the customer's browser to the provider only.";
    }
    UNAUTHORIZED {
        Unauthenticated "unauthenticated":
            "No credential was sent, or it is malformed, mistyped, unknown, expired or revoked.",
            "Send a valid key as `Authorization: Bearer …`; the message distinguishes a typo from an unknown key.";
    }
    FORBIDDEN {
        SecretKeyRequired "secret_key_required":
            "A publishable key was sent where a secret one is needed, or no credential at all to an ACH endpoint.",
            "Call the endpoint from your backend with a secret key (`sk_…`).";
        KeyNotAllowed "key_not_allowed":
            "The key is limited to other endpoints, or to other IP addresses than the one the request came from.",
            "Use a key that is not limited so, or have one issued; an operator sees a key's limits in `tollgate keys list`.";
        OriginNotAllowed "origin_not_allowed":
            "The request comes from a page in a browser, and its origin is not in `settings.allowedOrigins`, or the key is a secret one.",
            "Add the page's origin to the environment's configuration and use a publishable key; use secret keys in your backend only.";
        Forbidden "forbidden":
            "The operator's role does not include the operation, or it covers every organization and the role is limited to some.",
            "Ask somebody whose role allows it, or an admin for another role.";
    }
    NOT_FOUND {
        NotFound "not_found":
            "The path does not exist, or the object does not exist in the credential's environment.",
            "Check the path and the reference; another tenant's reference looks the same as one that never existed.";
        NotPaidYet "not_paid_yet":
            "The payment is prepared, but has not been paid yet, so there is no transaction.",
            "Read the preparation at `GET /client/v1/payments/<reference>`, or wait for an event about its transaction.";
    }
    METHOD_NOT_ALLOWED {
        MethodNotAllowed "method_not_allowed":
            "The path does not support this method.",
            "Use a method listed in the `Allow` header.";
    }
    REQUEST_TIMEOUT {
        RequestTimeout "request_timeout":
            "The body did not arrive in time; nothing was done.",
            "Send the request again.";
    }
    CONFLICT {
        RoutingUnavailable "routing_unavailable":
            "Routing for the payment method is disabled, or no rule matched and there is no default target.",
            "Enable or complete the routing in the environment's configuration, then send the request again.";
        InsufficientWalletBalance "insufficient_wallet_balance":
            "The wallet's available funds are too low; nothing was recorded.",
            "Fund the wallet and send the same request again, with the same key.";
        LimitExceeded "limit_exceeded":
            "A limit in the environment's configuration does not allow the payment; `error.details` names it. Nothing was recorded.",
            "Send the same request again once earlier payments are outside the limit's window, or have the limit raised.";
        IdempotencyConflict "idempotency_conflict":
            "The idempotency key or reference was already used for a different request; `error.details` lists what differs.",
            "Use a new key for a new request; repeat the original request unchanged to see its outcome.";
        PaymentNotConfirmable "payment_not_confirmable":
            "The payment was not prepared for a component, has expired, or was canceled.",
            "Prepare a new payment.";
        FeeChanged "fee_changed":
            "What the payer agreed to is not what is decided for the card now; nothing was charged. `error.feeDecision` and `error.totalDebitMinor` are the new decision.",
            "Show the payer the new fee and total, and confirm with that total once they agree.";
        NotSwitchable "not_switchable":
            "No card was declined at the provider that `from` names, no other provider of the route can take the payment, or it was paid or has expired.",
            "Read the payment; confirm what is being paid, try another card, or prepare a new payment.";
        NotCapturable "not_capturable":
            "The payment is not `authorized`, was captured or voided already, or less was authorized than is to be captured.",
            "Read the transaction; capture only payments whose status is `authorized`, before `captureBefore`.";
        NotVoidable "not_voidable":
            "The payment is not `authorized`, or was captured or voided already.",
            "Read the transaction; refund what was captured.";
        NotCancelable "not_cancelable":
            "The transfer has been sent, has ended, or is at a provider that cannot cancel it anymore; or it is a card payment.",
            "Read the transaction; cancel only transfers that wait for an approval or were not handed to the bank yet.";
        NotApprovable "not_approvable":
            "It is approved, denied or canceled already, or you created or approved it yourself; or the configuration has changed since the change was proposed.",
            "Read the approval; another person must approve it, or the change must be proposed again.";
        NotRefundable "not_refundable":
            "The transaction is a bank transfer, has not been paid, or has as many refunds as one can have.",
            "Refund only card payments whose status is `succeeded`.";
        RefundExceedsRemaining "refund_exceeds_remaining":
            "The refund is larger than what is left of the payment; `error.details` says how much that is.",
            "Ask for at most what is left, or omit `amountMinor` for all of it.";
        VersionConflict "version_conflict":
            "The configuration has changed since the version that `If-Match` names.",
            "Read the configuration, make the change again and send it with the new `ETag`.";
        NoPreviousMasterKey "no_previous_master_key":
            "The server was started without a previous master key, so there is nothing to encrypt anew.",
            "Set `TOLLGATE_MASTER_KEY` to the new key and `TOLLGATE_MASTER_KEY_PREVIOUS` to the old one, and restart.";
        NameTaken "name_taken":
            "The name is already taken.",
            "Choose another name.";
        EmailTaken "email_taken":
            "Another user has this email address.",
            "Use the existing user, or remove it first.";
        TooManyTokens "too_many_tokens":
            "The user has as many valid personal tokens as one can have.",
            "Revoke one first.";
        TooManyProposals "too_many_proposals":
            "The limit of configuration changes, or of movements of the wallet, that wait for approval is reached.",
            "Approve or deny one first.";
        KeyNotLive "key_not_live":
            "The key is revoked, expired or already rotated.",
            "Issue a new key instead.";
        TooManyEndpoints "too_many_endpoints":
            "The environment has reached its limit of event endpoints.",
            "Remove one first.";
        EndpointBusy "endpoint_busy":
            "Another request is changing this event endpoint.",
            "Send the request again.";
        EndpointDisabled "endpoint_disabled":
            "The event endpoint is disabled, so events cannot be resent to it.",
            "Enable it first.";
        WalletFull "wallet_full":
            "The balance would exceed the maximum; nothing was added.",
            "Fund it with less.";
    }
    PAYLOAD_TOO_LARGE {
        BodyTooLarge "body_too_large":
            "The body is larger than the limit: 64 KiB, 128 KiB for a webhook, or 16 MiB for a configuration (4 MiB where the role is limited to some organizations).",
            "Send less.";
    }
    URI_TOO_LONG {
        UriTooLong "uri_too_long":
            "The URL, including its query, exceeds 32 KiB.",
            "Send less in the query.";
    }
    UNSUPPORTED_MEDIA_TYPE {
        UnsupportedMediaType "unsupported_media_type":
            "The body's content type is not `application/json`.",
            "Send JSON with `Content-Type: application/json`.";
    }
    UNPROCESSABLE_ENTITY {
        InstantNotSupported "instant_not_supported":
            "The receiving bank takes part in no instant network that the provider reaches; nothing was recorded.",
            "Route the transfer to a standard or same-day channel; the same key can be used again.";
        ProviderRejected "provider_rejected":
            "The provider's own validation rejected the transfer or payment.",
            "Correct what the message describes. A transfer keeps returning 422 under its key: use a new key for a new attempt.";
    }
    TOO_MANY_REQUESTS {
        RateLimited "rate_limited":
            "The rate limit of the key is exceeded, too many invalid credentials came from this address, or more than 20 different requests used one idempotency key within an hour.",
            "Retry after the time in `Retry-After`.";
    }
    REQUEST_HEADER_FIELDS_TOO_LARGE {
        HeadersTooLarge "headers_too_large":
            "The request has more than 100 headers, or more than 32 KiB before its body.",
            "Send fewer or shorter headers.";
    }
    INTERNAL_SERVER_ERROR {
        Internal "internal":
            "Something went wrong on our side.",
            "Report it with the request ID. A transfer can safely be sent again with the same key.";
    }
    SERVICE_UNAVAILABLE {
        ServerBusy "server_busy":
            "This server is receiving more large bodies at once than it has room for, or is busy with another configuration document. Nothing was done.",
            "Send the request again after `Retry-After`.";
        ProviderNotConfigured "provider_not_configured":
            "The selected provider has no credentials or funding details, or rejects them.",
            "Ask an operator to complete the provider's configuration; the message says what is missing.";
        ProviderUnavailable "provider_unavailable":
            "The provider could not be reached or its response was unclear, and no payment can be made with this request.",
            "Send the request again after `Retry-After`.";
        StoreUnavailable "store_unavailable":
            "The database is not responding. Nothing was changed or sent to a provider.",
            "Send the request again after `Retry-After`.";
        OutcomeUnknown "outcome_unknown":
            "The database connection was lost during the request: it is unknown whether the request was recorded.",
            "Send the same request again with the same idempotency key; nothing happens twice. For requests without one, read the state first.";
    }
}
