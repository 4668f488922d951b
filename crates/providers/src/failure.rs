//! Our own failure codes, the same for every wire, each with one sentence; and the errors made of them.
//!
//! A provider's own words about a declined card are never repeated: they differ between providers, and some of them
//! ("stolen") are not for the person holding the card.

use std::time::Duration;

use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::{CallError, Rejection, RejectionKind, TransientError, UnreadableEvent};

use crate::{mask::masked, text::quote};

/// Why a payment or a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    CardDeclined,
    InsufficientFunds,
    ExpiredCard,
    InvalidExpiry,
    IncorrectCvc,
    IncorrectNumber,
    IncorrectZip,
    AuthenticationRequired,
    AuthenticationFailed,
    CardNotSupported,
    AmountLimit,
    ProcessingError,
    CardTokenUsed,
    CardTokenExpired,
    InvalidCard,
    BankDeclined,
    PaymentExpired,
    CustomerCanceled,
    ProviderRefused,
    ProviderCredentials,
    ProviderPermission,
    ProviderObjectMissing,
    ProviderState,
    ProviderFunds,
    RefundFailed,
    RefundCardClosed,
}

impl Code {
    /// The code in the API.
    pub(crate) const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// The code and its sentence as they are handed out.
    pub(crate) fn failure(self) -> Failure {
        let (code, message) = self.row();
        Failure { code: code.to_owned(), message: message.to_owned() }
    }

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::CardDeclined => ("card_declined", "The card was declined."),
            Self::InsufficientFunds => ("insufficient_funds", "The card has insufficient funds."),
            Self::ExpiredCard => ("expired_card", "The card has expired."),
            Self::InvalidExpiry => ("invalid_expiry", "The card's expiration date is invalid."),
            Self::IncorrectCvc => ("incorrect_cvc", "The card's security code is incorrect."),
            Self::IncorrectNumber => ("incorrect_number", "The card number is incorrect."),
            Self::IncorrectZip => ("incorrect_zip", "The postal code does not match the card."),
            Self::AuthenticationRequired => {
                ("authentication_required", "The card issuer requires authentication.")
            }
            Self::AuthenticationFailed => ("authentication_failed", "Card authentication failed."),
            Self::CardNotSupported => ("card_not_supported", "This card type or currency is not supported."),
            Self::AmountLimit => {
                ("amount_limit", "The amount is outside the limits of the card or provider.")
            }
            Self::ProcessingError => {
                ("processing_error", "The card could not be processed. Try again later.")
            }
            Self::CardTokenUsed => {
                ("card_token_used", "The card token was already used. Enter the card again.")
            }
            Self::CardTokenExpired => {
                ("card_token_expired", "The card token has expired. Enter the card again.")
            }
            Self::InvalidCard => ("invalid_card", "The card details are invalid."),
            Self::BankDeclined => ("bank_declined", "The customer's bank declined the payment."),
            Self::PaymentExpired => ("payment_expired", "The customer did not pay in time."),
            Self::CustomerCanceled => ("customer_canceled", "The customer canceled the payment."),
            Self::ProviderRefused => ("provider_refused", "The provider rejected the request."),
            Self::ProviderCredentials => {
                ("provider_credentials", "The provider rejected the configured credentials.")
            }
            Self::ProviderPermission => {
                ("provider_permission", "The provider's key does not have the permission for this.")
            }
            Self::ProviderFunds => {
                ("provider_funds", "The provider's account has insufficient funds; add funds there.")
            }
            Self::RefundFailed => {
                ("refund_failed", "The refund did not reach the customer; refund them another way.")
            }
            Self::RefundCardClosed => (
                "refund_card_closed",
                "The card was closed, lost or stolen, so the refund came back; refund the customer another way.",
            ),
            Self::ProviderObjectMissing => ("provider_object_missing", "The provider has no such payment."),
            Self::ProviderState => {
                ("provider_state", "The payment's state at the provider does not allow this.")
            }
        }
    }
}

/// A signed event that cannot be read, told without what it says of anybody.
pub(crate) fn unreadable_event(error: &serde_json::Error) -> UnreadableEvent {
    UnreadableEvent(masked(&quote(&error.to_string())))
}

/// A no of some kind.
pub(crate) fn refused(kind: RejectionKind, code: Code) -> CallError {
    CallError::Rejected(Rejection { kind, failure: code.failure(), lacks: None })
}

/// The key is accepted, and may not do this.
pub(crate) fn lacks_permission(permission: &str) -> CallError {
    let mut failure = Code::ProviderPermission.failure();
    failure.message = format!(
        "{} Add {permission} to the key in the provider's dashboard, or use a key that has it.",
        failure.message
    );
    let lacks = Some(permission.to_owned());
    CallError::Rejected(Rejection { kind: RejectionKind::Credentials, failure, lacks })
}

/// The permission that is lacking, where the key is accepted otherwise.
pub(crate) fn lacking<T>(outcome: &Result<T, CallError>) -> Option<&str> {
    match outcome {
        Err(CallError::Rejected(rejection)) => rejection.lacks.as_deref(),
        _ => None,
    }
}

/// The customer's card was declined.
pub(crate) fn declined(code: Code) -> CallError {
    refused(RejectionKind::Declined, code)
}

/// The request itself was refused, for a reason worth repeating.
pub(crate) fn invalid(code: Code, reason: Option<&str>) -> CallError {
    refused_because(RejectionKind::Invalid, code, reason)
}

/// The same of another kind.
pub(crate) fn refused_because(kind: RejectionKind, code: Code, reason: Option<&str>) -> CallError {
    let mut failure = code.failure();
    if let Some(reason) = reason.map(quote).filter(|reason| !reason.is_empty()) {
        let api = if reason.ends_with(['.', '!', '?']) { "" } else { "." };
        failure.message = format!("{} It says: {reason}{api}", failure.message);
    }
    CallError::Rejected(Rejection { kind, failure, lacks: None })
}

/// Something this provider or this configuration cannot do; the provider was not asked.
pub(crate) fn not_offered(reason: &str) -> CallError {
    let failure = Failure { code: Code::ProviderRefused.as_str().to_owned(), message: reason.to_owned() };
    CallError::Rejected(Rejection { kind: RejectionKind::Invalid, failure, lacks: None })
}

/// What was read, or `None` if the provider has no such object.
pub(crate) fn missing_is_none<T>(read: Result<T, CallError>) -> Result<Option<T>, CallError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Missing => Ok(None),
        Err(error) => Err(error),
    }
}

/// Trouble with a question that comes before anything is sent.
pub(crate) fn nothing_sent(error: CallError) -> CallError {
    match error {
        CallError::Unknown(transient) => CallError::Unsent(transient),
        other => other,
    }
}

/// Whatever became of reading it, what was asked before may have been done.
pub(crate) fn still_in_doubt(error: CallError) -> CallError {
    match error {
        CallError::Unsent(transient) | CallError::Unknown(transient) => CallError::Unknown(transient),
        CallError::Rejected(rejection) => unknown(format!("it cannot be read: {}", rejection.failure.code)),
    }
}

/// It may have been done.
pub(crate) fn unknown(reason: impl Into<String>) -> CallError {
    CallError::Unknown(transient(reason, None))
}

/// It was never taken.
pub(crate) fn unsent(reason: impl Into<String>, retry_after: Option<Duration>) -> CallError {
    CallError::Unsent(transient(reason, retry_after))
}

fn transient(reason: impl Into<String>, retry_after: Option<Duration>) -> TransientError {
    TransientError { reason: reason.into(), retry_after }
}
