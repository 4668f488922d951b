//! The wire's errors in our words: what kind of no, and which of our failure codes.

use http::StatusCode;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::RefusalKind;

use super::wire::Error;
use crate::{
    failure::{Code, declined, invalid, refused, unknown},
    retry::Verdict,
    text::word,
};

/// The object exists and is in no state for what was asked.
const STATE_CODES: [&str; 5] = [
    "payment_intent_unexpected_state",
    "charge_already_captured",
    "charge_already_refunded",
    "charge_disputed",
    "intent_invalid_state",
];

/// What a refusal means that is neither "busy" nor a failure of the provider's.
pub(super) fn verdict<T>(status: StatusCode, error: &Error) -> Verdict<T> {
    let code = error.code.as_deref().unwrap_or_default();
    let kind = error.kind.as_deref().unwrap_or_default();
    let said = error.message.as_deref();
    let told = word(if code.is_empty() { kind } else { code });
    let refusal = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            refused(RefusalKind::Credentials, Code::ProviderCredentials)
        }
        _ if kind == "card_error" || status == StatusCode::PAYMENT_REQUIRED => declined(decline(error)),
        // An address that is no endpoint is 404 as well, and says nothing about the object.
        StatusCode::NOT_FOUND if code == "resource_missing" => {
            refused(RefusalKind::Missing, Code::ProviderObjectMissing)
        }
        _ if STATE_CODES.contains(&code) => refused(RefusalKind::State, Code::ProviderState),
        _ if kind == "idempotency_error" => {
            invalid(Code::ProviderRefused, Some("the idempotency key was used for a different request"))
        }
        _ if matches!(code, "amount_too_small" | "amount_too_large") => invalid(Code::AmountLimit, said),
        _ if status.is_client_error() => invalid(Code::ProviderRefused, said),
        // A redirect, which is not followed: nothing that speaks this wire sends one.
        _ => unknown(format!("the provider answered {}", status.as_u16())),
    };
    Verdict::end(refusal, told)
}

/// A refusal in no form of this wire's: something between us and the provider, which cannot say what was done.
pub(super) fn unreadable<T>(status: StatusCode) -> Verdict<T> {
    let code = status.as_u16();
    let refusal = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            refused(RefusalKind::Credentials, Code::ProviderCredentials)
        }
        _ => unknown(format!("the provider answered {code} and nothing that can be read")),
    };
    Verdict::end(refusal, format!("unreadable {code}"))
}

/// Why the last try to pay failed.
pub(super) fn failure(error: &Error) -> Failure {
    decline(error).failure()
}

/// The bank's word is more particular than the provider's, where there is one.
fn decline(error: &Error) -> Code {
    let by_bank = error.decline_code.as_deref().map(decline_code).filter(|code| *code != Code::CardDeclined);
    let by_provider = error.code.as_deref().map_or(Code::CardDeclined, card_code);
    let plain = by_bank.is_none() && by_provider == Code::CardDeclined;
    if plain && error.kind.as_deref() == Some("api_error") {
        return Code::ProcessingError;
    }
    by_bank.unwrap_or(by_provider)
}

fn card_code(code: &str) -> Code {
    match code {
        "payment_intent_authentication_failure" => Code::AuthenticationFailed,
        // The rest of the names are shared with the bank's.
        other => decline_code(other),
    }
}

/// Every code that is not here is a plain decline: those that tell of fraud, loss or a stop must not reach the buyer.
fn decline_code(code: &str) -> Code {
    match code {
        "authentication_required" => Code::AuthenticationRequired,
        "insufficient_funds" => Code::InsufficientFunds,
        "expired_card" => Code::ExpiredCard,
        "invalid_expiry_month" | "invalid_expiry_year" => Code::InvalidExpiry,
        "incorrect_cvc" | "invalid_cvc" => Code::IncorrectCvc,
        "incorrect_number" | "invalid_number" => Code::IncorrectNumber,
        "incorrect_zip" => Code::IncorrectZip,
        "card_not_supported" | "currency_not_supported" => Code::CardNotSupported,
        "invalid_amount" | "card_velocity_exceeded" | "withdrawal_count_limit_exceeded" => Code::AmountLimit,
        "processing_error"
        | "issuer_not_available"
        | "try_again_later"
        | "reenter_transaction"
        | "approve_with_id" => Code::ProcessingError,
        "invalid_account" | "new_account_information_available" => Code::InvalidCard,
        _ => Code::CardDeclined,
    }
}
