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

            /// The answer's status.
            pub(crate) const fn status(self) -> StatusCode {
                match self { $($(Self::$code => StatusCode::$status,)*)* }
            }

            /// When it is answered.
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
            "The body is not a JSON object, or a field of the body, the query or the headers breaks its rule.",
            "Correct every field that `error.details` names and send the request again.";
        MalformedRequest "malformed_request":
            "The request's first line or headers are not valid HTTP/1.1.",
            "Correct the client; a proxy or a hand-written request is usually the cause.";
    }
    UNAUTHORIZED {
        Unauthenticated "unauthenticated":
            "No credential was sent, or it is malformed, mistyped, unknown, expired or revoked.",
            "Send a live key as `Authorization: Bearer …`; the message tells a typo from an unknown key.";
    }
    FORBIDDEN {
        SecretKeyRequired "secret_key_required":
            "A publishable key was sent where a secret one is needed, or no credential at all to an ACH endpoint.",
            "Call the endpoint from your backend with a secret key (`sk_…`).";
    }
    NOT_FOUND {
        NotFound "not_found":
            "There is nothing at this path, or no such thing in the credential's own environment.",
            "Check the path and the reference; another tenant's reference looks like one that never existed.";
    }
    METHOD_NOT_ALLOWED {
        MethodNotAllowed "method_not_allowed":
            "The path exists and does not answer this method.",
            "Use a method that the `Allow` header names.";
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
            "The wallet's available funds are below what is to be taken; nothing was recorded.",
            "Fund the wallet and send the same request again, with the same key.";
        IdempotencyConflict "idempotency_conflict":
            "The same idempotency key or reference was used for another request; `error.details` names what differs.",
            "Use a new key for another business action; repeat the first request unchanged to see its outcome.";
        PaymentNotConfirmable "payment_not_confirmable":
            "The payment is not a component preparation, or it has expired or was canceled.",
            "Prepare a new payment.";
        VersionConflict "version_conflict":
            "The configuration has changed since the version that `If-Match` names.",
            "Read the configuration, make the change again and send it with the new `ETag`.";
        NameTaken "name_taken":
            "There is one of this name already.",
            "Choose another name.";
        KeyNotLive "key_not_live":
            "The key to rotate is revoked, has expired or was rotated before.",
            "Issue a new key instead.";
        TooManyEndpoints "too_many_endpoints":
            "The environment has as many event endpoints as it may have.",
            "Remove one first.";
        EndpointBusy "endpoint_busy":
            "Somebody else is changing this event endpoint.",
            "Send the request again.";
        EndpointDisabled "endpoint_disabled":
            "The event endpoint is disabled, so nothing can be sent there again.",
            "Enable it first.";
        WalletFull "wallet_full":
            "The wallet would hold more than can be counted; nothing was added.",
            "Fund it with less.";
    }
    PAYLOAD_TOO_LARGE {
        BodyTooLarge "body_too_large":
            "The body is larger than the endpoint takes: 64 KiB, and 16 MiB for a configuration.",
            "Send less.";
    }
    URI_TOO_LONG {
        UriTooLong "uri_too_long":
            "The address, with its query, does not fit into the 32 KiB before the body.",
            "Send less in the query.";
    }
    UNSUPPORTED_MEDIA_TYPE {
        UnsupportedMediaType "unsupported_media_type":
            "The body's content type is not `application/json`.",
            "Send JSON with `Content-Type: application/json`.";
    }
    UNPROCESSABLE_ENTITY {
        ProviderRejected "provider_rejected":
            "The provider's own validation refused the transfer or the payment.",
            "Correct what the message names. A transfer replays as 422 under its key: use a new key for another try.";
    }
    TOO_MANY_REQUESTS {
        RateLimited "rate_limited":
            "The key's share of requests is used up, or too many bad credentials came from this address.",
            "Wait as long as `Retry-After` says.";
    }
    REQUEST_HEADER_FIELDS_TOO_LARGE {
        HeadersTooLarge "headers_too_large":
            "The request has more than 100 headers, or more than 32 KiB before its body.",
            "Send fewer or shorter headers.";
    }
    INTERNAL_SERVER_ERROR {
        Internal "internal":
            "Something went wrong on our side.",
            "Report it with the request id. A transfer may be sent again with the same key at any time.";
    }
    SERVICE_UNAVAILABLE {
        ProviderNotConfigured "provider_not_configured":
            "The selected provider lacks credentials or its source funding details, or does not accept them.",
            "Have an operator complete the provider's configuration; the message names what is missing.";
        ProviderUnavailable "provider_unavailable":
            "The provider could not be reached or gave no clear answer, and nothing can be paid by this request.",
            "Send the request again after `Retry-After`.";
        StoreUnavailable "store_unavailable":
            "The service's database does not answer, and nothing was changed or sent to a provider.",
            "Send the request again after `Retry-After`.";
        OutcomeUnknown "outcome_unknown":
            "The service's database was cut off while it worked: it is not known whether the request was recorded.",
            "Send the same request again, with the same idempotency key where it has one; nothing is done twice. Read back other changes first.";
    }
}
