//! The provider's errors in our words: what kind of no, and which of our failure codes.
//!
//! They are told apart by category and code. The HTTP status alone says little: declines come with 400 as well as 402.

use http::StatusCode;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::{CallError, RejectionKind};

use super::types::Error;
use crate::{
    failure::{Code, declined, invalid, refused, unknown, unsent},
    retry::AttemptResult,
    text::word,
};

/// What the refused request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Anything,
    Charge,
}

/// What a refusal means that is neither "busy" nor a failure of the provider's.
pub(super) fn result<T>(status: StatusCode, errors: &[Error], asked: Operation) -> AttemptResult<T> {
    // Several may be given; what says most about the card comes first.
    let telling = errors.iter().find(|error| decline(&error.code).is_some() || is_about_card(error));
    let Some(error) = telling.or_else(|| errors.first()) else { return unreadable(status) };
    let told = word(&error.code);
    match error.category.as_str() {
        "RATE_LIMIT_ERROR" => return AttemptResult::retry(unsent("the provider is busy", None), told),
        "API_ERROR" => return AttemptResult::retry(unknown("the provider failed"), told),
        _ => {}
    }
    AttemptResult {
        again: error.code == "TEMPORARY_ERROR",
        ..AttemptResult::fail(rejection(status, error, asked), told)
    }
}

fn rejection(status: StatusCode, error: &Error, asked: Operation) -> CallError {
    let said = error.detail.as_deref();
    match (error.category.as_str(), error.code.as_str()) {
        ("AUTHENTICATION_ERROR", _) => refused(RejectionKind::Credentials, Code::ProviderCredentials),
        _ if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            refused(RejectionKind::Credentials, Code::ProviderCredentials)
        }
        // Our own location, which stands in the configuration beside the token.
        _ if is_about_location(error) => refused(RejectionKind::Credentials, Code::ProviderCredentials),
        (_, code) if decline(code).is_some() => declined(decline(code).unwrap_or(Code::CardDeclined)),
        _ if is_about_card(error) => declined(Code::CardDeclined),
        // A token nobody has heard of: another may be tried.
        (_, "NOT_FOUND") if asked == Operation::Charge && is_about_token(error) => {
            declined(Code::InvalidCard)
        }
        (_, "NOT_FOUND") => refused(RejectionKind::Missing, Code::ProviderObjectMissing),
        // A charge that failed uses up its key, too. The list of payments shows which it was.
        (_, "IDEMPOTENCY_KEY_REUSED") if asked == Operation::Charge => {
            refused(RejectionKind::State, Code::ProviderState)
        }
        (_, "IDEMPOTENCY_KEY_REUSED") => {
            invalid(Code::ProviderRefused, Some("the idempotency key was used for a different request"))
        }
        (_, "VERSION_MISMATCH" | "CONFLICT") => refused(RejectionKind::State, Code::ProviderState),
        (_, "VALUE_TOO_LOW" | "VALUE_TOO_HIGH") if is_about_amount(error) => invalid(Code::AmountLimit, said),
        _ if status.is_client_error() => invalid(Code::ProviderRefused, said),
        // A redirect, which is not followed: no such provider sends one.
        _ => unknown(format!("the provider answered {}", status.as_u16())),
    }
}

/// A refusal in no form of this provider's: something between us and the provider, which cannot say what was done.
pub(super) fn unreadable<T>(status: StatusCode) -> AttemptResult<T> {
    let code = status.as_u16();
    let rejection = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            refused(RejectionKind::Credentials, Code::ProviderCredentials)
        }
        _ => unknown(format!("the provider answered {code} with an unreadable body")),
    };
    AttemptResult::fail(rejection, format!("unreadable {code}"))
}

/// Why a payment failed, by the errors it carries.
pub(super) fn failure(errors: &[Error]) -> Failure {
    let code = errors.iter().find_map(|error| decline(&error.code)).unwrap_or(Code::CardDeclined);
    code.failure()
}

fn is_about_card(error: &Error) -> bool {
    error.category == "PAYMENT_METHOD_ERROR"
}

fn is_about_token(error: &Error) -> bool {
    let detail = error.detail.as_deref().unwrap_or_default().to_ascii_lowercase();
    error.field.as_deref() == Some("source_id") || detail.contains("nonce") || detail.contains("source")
}

fn is_about_location(error: &Error) -> bool {
    let codes = ["INVALID_LOCATION", "LOCATION_MISMATCH", "CARD_PROCESSING_NOT_ENABLED"];
    let detail = error.detail.as_deref().unwrap_or_default().to_ascii_lowercase();
    codes.contains(&error.code.as_str())
        || error.field.as_deref().is_some_and(|field| field.ends_with("location_id"))
        || (error.code == "NOT_FOUND" && detail.contains("location"))
}

fn is_about_amount(error: &Error) -> bool {
    error.field.as_deref().is_some_and(|field| field.contains("money"))
}

/// Codes that say no to this card and leave room for another. A code of the card's that is not here is a plain decline.
fn decline(code: &str) -> Option<Code> {
    let code = match code {
        "INSUFFICIENT_FUNDS" => Code::InsufficientFunds,
        "CARD_EXPIRED" | "EXPIRATION_FAILURE" => Code::ExpiredCard,
        "INVALID_EXPIRATION" | "BAD_EXPIRATION" => Code::InvalidExpiry,
        "CVV_FAILURE" => Code::IncorrectCvc,
        "PAN_FAILURE" => Code::IncorrectNumber,
        "ADDRESS_VERIFICATION_FAILURE" | "INVALID_POSTAL_CODE" => Code::IncorrectZip,
        "CARD_DECLINED_VERIFICATION_REQUIRED" => Code::AuthenticationRequired,
        "CARD_NOT_SUPPORTED" | "UNSUPPORTED_CARD_BRAND" => Code::CardNotSupported,
        "TRANSACTION_LIMIT" | "PAYMENT_LIMIT_EXCEEDED" => Code::AmountLimit,
        "TEMPORARY_ERROR" => Code::ProcessingError,
        "CARD_TOKEN_USED" => Code::CardTokenUsed,
        "CARD_TOKEN_EXPIRED" => Code::CardTokenExpired,
        "INVALID_ACCOUNT" | "INVALID_CARD" | "INVALID_CARD_DATA" => Code::InvalidCard,
        "GENERIC_DECLINE" | "CARD_DECLINED" | "CARD_DECLINED_CALL_ISSUER" | "VOICE_FAILURE" => {
            Code::CardDeclined
        }
        _ => return None,
    };
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(category: &str, code: &str, field: Option<&str>) -> Error {
        Error {
            category: category.to_owned(),
            code: code.to_owned(),
            detail: Some("Their words.".to_owned()),
            field: field.map(str::to_owned),
        }
    }

    #[test]
    fn every_code_about_a_card_the_wire_publishes() {
        for (code, expected) in [
            ("GENERIC_DECLINE", "card_declined"),
            ("INSUFFICIENT_FUNDS", "insufficient_funds"),
            ("CVV_FAILURE", "incorrect_cvc"),
            ("ADDRESS_VERIFICATION_FAILURE", "incorrect_zip"),
            ("INVALID_EXPIRATION", "invalid_expiry"),
            ("EXPIRATION_FAILURE", "expired_card"),
            ("CARD_EXPIRED", "expired_card"),
            ("PAN_FAILURE", "incorrect_number"),
            ("INVALID_ACCOUNT", "invalid_card"),
            ("INVALID_CARD", "invalid_card"),
            ("INVALID_CARD_DATA", "invalid_card"),
            ("TRANSACTION_LIMIT", "amount_limit"),
            ("PAYMENT_LIMIT_EXCEEDED", "amount_limit"),
            ("VOICE_FAILURE", "card_declined"),
            ("CARD_NOT_SUPPORTED", "card_not_supported"),
            ("INVALID_POSTAL_CODE", "incorrect_zip"),
            ("CARD_DECLINED_VERIFICATION_REQUIRED", "authentication_required"),
            ("CARD_DECLINED", "card_declined"),
            ("CARD_DECLINED_CALL_ISSUER", "card_declined"),
            ("BAD_EXPIRATION", "invalid_expiry"),
            ("TEMPORARY_ERROR", "processing_error"),
            ("ONE_FROM_THE_FUTURE", "card_declined"),
        ] {
            for status in [StatusCode::BAD_REQUEST, StatusCode::PAYMENT_REQUIRED] {
                let errors = [error("PAYMENT_METHOD_ERROR", code, None)];
                let result = result::<()>(status, &errors, Operation::Charge);
                let Err(CallError::Rejected(rejection)) = result.outcome else { panic!("{code}") };
                assert_eq!(
                    (rejection.kind, rejection.failure.code.as_str()),
                    (RejectionKind::Declined, expected)
                );
                assert!(!rejection.failure.message.contains("Their words"));
                assert_eq!(result.again, code == "TEMPORARY_ERROR");
                assert_eq!(failure(&errors).code, expected, "{code}");
            }
        }
        assert_eq!(failure(&[]).code, "card_declined");
    }

    #[test]
    fn every_other_kind_of_refusal() {
        use RejectionKind::{Credentials, Declined, Invalid, Missing, State};
        let (request, money) = ("INVALID_REQUEST_ERROR", Some("amount_money.amount"));
        for (status, category, code, field, expected) in [
            (400, request, "BAD_REQUEST", None, (Invalid, "provider_refused")),
            (400, request, "VALUE_TOO_LONG", Some("note"), (Invalid, "provider_refused")),
            (400, request, "VALUE_TOO_LOW", money, (Invalid, "amount_limit")),
            (400, request, "VALUE_TOO_HIGH", money, (Invalid, "amount_limit")),
            (400, request, "VALUE_TOO_LOW", Some("limit"), (Invalid, "provider_refused")),
            (400, request, "INVALID_LOCATION", None, (Credentials, "provider_credentials")),
            (400, request, "LOCATION_MISMATCH", None, (Credentials, "provider_credentials")),
            (400, request, "INVALID_VALUE", Some("location_id"), (Credentials, "provider_credentials")),
            (404, request, "NOT_FOUND", Some("order.location_id"), (Credentials, "provider_credentials")),
            (403, request, "CARD_PROCESSING_NOT_ENABLED", None, (Credentials, "provider_credentials")),
            (400, request, "IDEMPOTENCY_KEY_REUSED", None, (Invalid, "provider_refused")),
            (400, request, "VERSION_MISMATCH", None, (State, "provider_state")),
            (400, request, "CARD_TOKEN_USED", None, (Declined, "card_token_used")),
            (400, request, "CARD_TOKEN_EXPIRED", None, (Declined, "card_token_expired")),
            (400, "REFUND_ERROR", "REFUND_DECLINED", None, (Invalid, "provider_refused")),
            (401, "AUTHENTICATION_ERROR", "UNAUTHORIZED", None, (Credentials, "provider_credentials")),
            (403, "AUTHENTICATION_ERROR", "INSUFFICIENT_SCOPES", None, (Credentials, "provider_credentials")),
            (403, request, "FORBIDDEN", None, (Credentials, "provider_credentials")),
            (404, request, "NOT_FOUND", None, (Missing, "provider_object_missing")),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let result = result::<()>(status, &[error(category, code, field)], Operation::Anything);
            let Err(CallError::Rejected(rejection)) = result.outcome else { panic!("{status} {code}") };
            assert_eq!((rejection.kind, rejection.failure.code.as_str()), expected, "{status} {code}");
            assert!(!result.again);
        }
    }

    #[test]
    fn charges_that_may_have_been_made_and_tokens_nobody_knows() {
        let status = StatusCode::BAD_REQUEST;
        let reused = [error("INVALID_REQUEST_ERROR", "IDEMPOTENCY_KEY_REUSED", None)];
        let outcome = result::<()>(status, &reused, Operation::Charge).outcome;
        assert_eq!(outcome, Err(refused(RejectionKind::State, Code::ProviderState)));
        let unknown_token = [error("INVALID_REQUEST_ERROR", "NOT_FOUND", Some("source_id"))];
        let outcome = result::<()>(StatusCode::NOT_FOUND, &unknown_token, Operation::Charge).outcome;
        assert_eq!(outcome, Err(declined(Code::InvalidCard)));
        // Of several errors the one about the card tells most.
        let both = [
            error("INVALID_REQUEST_ERROR", "BAD_REQUEST", None),
            error("PAYMENT_METHOD_ERROR", "CVV_FAILURE", None),
        ];
        let outcome = result::<()>(status, &both, Operation::Charge).outcome;
        assert_eq!(outcome, Err(declined(Code::IncorrectCvc)));
        let failed = [error("API_ERROR", "INTERNAL_SERVER_ERROR", None)];
        assert!(result::<()>(status, &failed, Operation::Charge).again);
    }
}
