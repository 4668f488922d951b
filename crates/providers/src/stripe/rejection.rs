//! The provider's errors in our words: what kind of no, and which of our failure codes.

use http::StatusCode;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::RejectionKind;

use super::types::Error;
use crate::{
    failure::{Code, declined, invalid, lacks_permission, refused, refused_because, unknown},
    retry::AttemptResult,
    text::word,
};

/// The object exists and is in no state for what was asked.
const STATE_CODES: [&str; 7] = [
    "payment_intent_unexpected_state",
    "charge_already_captured",
    "charge_already_refunded",
    "charge_expired_for_capture",
    "capture_charge_authorization_expired",
    "charge_disputed",
    "intent_invalid_state",
];

/// Our keys are not the ones for this, whatever the status of the answer.
const CONFIGURATION_CODES: [&str; 7] = [
    "account_invalid",
    "api_key_expired",
    "livemode_mismatch",
    "platform_account_required",
    "platform_api_key_expired",
    "secret_key_required",
    "testmode_charges_only",
];

const SURCHARGE_PARAMETER: &str = "amount_details[surcharge]";

/// What a refusal means that is neither "busy" nor a failure of the provider's.
pub(super) fn result<T>(status: StatusCode, error: &Error) -> AttemptResult<T> {
    let code = error.code.as_deref().unwrap_or_default();
    let kind = error.kind.as_deref().unwrap_or_default();
    let said = error.message.as_deref();
    let told = word(if code.is_empty() { kind } else { code });
    let permission = permission(error).filter(|_| status == StatusCode::FORBIDDEN);
    let rejection = match status {
        _ if permission.is_some() => lacks_permission(&permission.unwrap_or_default()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            refused(RejectionKind::Credentials, Code::ProviderCredentials)
        }
        _ if CONFIGURATION_CODES.contains(&code) => {
            refused(RejectionKind::Credentials, Code::ProviderCredentials)
        }
        _ if STATE_CODES.contains(&code) => refused(RejectionKind::State, Code::ProviderState),
        _ if kind == "card_error" || status == StatusCode::PAYMENT_REQUIRED => declined(decline(error)),
        // An address that is no endpoint is 404 as well, and says nothing about the object.
        StatusCode::NOT_FOUND if code == "resource_missing" => {
            refused(RejectionKind::Missing, Code::ProviderObjectMissing)
        }
        _ if kind == "idempotency_error" => {
            invalid(Code::ProviderRefused, Some("the idempotency key was used for a different request"))
        }
        _ if is_about_surcharge(error) && status.is_client_error() => {
            refused_because(RejectionKind::Surcharge, Code::ProviderRefused, said)
        }
        _ if matches!(code, "amount_too_small" | "amount_too_large") => invalid(Code::AmountLimit, said),
        _ if status.is_client_error() => invalid(Code::ProviderRefused, said),
        // A redirect, which is not followed: no such provider sends one.
        _ => unknown(format!("the provider answered {}", status.as_u16())),
    };
    AttemptResult::fail(rejection, told)
}

/// Whether a preview, which checks surcharges, has refused this one; the card itself was not tried.
fn is_about_surcharge(error: &Error) -> bool {
    error.param.as_deref().is_some_and(|param| param.starts_with(SURCHARGE_PARAMETER))
}

/// The permission of a restricted key that a refusal says would have sufficed.
fn permission(error: &Error) -> Option<String> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let words = error.message.as_deref()?.split(|letter| !is_part(letter));
    let names: Vec<_> = words.filter(|word| word.starts_with("rak_")).collect();
    (!names.is_empty()).then(|| names.join(" or "))
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

/// Why the last try to pay failed.
pub(super) fn failure(error: &Error) -> Failure {
    decline(error).failure()
}

/// The bank's word is more particular than the provider's, if there is one.
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
        "payment_intent_payment_attempt_expired" => Code::PaymentExpired,
        "payment_intent_payment_attempt_failed"
        | "payment_method_bank_account_blocked"
        | "debit_not_authorized" => Code::BankDeclined,
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

#[cfg(test)]
mod tests {
    use tollgate_engine::ports::CallError;

    use super::*;

    fn error(kind: &str, code: &str, decline_code: Option<&str>) -> Error {
        Error {
            kind: Some(kind.to_owned()),
            code: Some(code.to_owned()).filter(|code| !code.is_empty()),
            decline_code: decline_code.map(str::to_owned),
            message: Some("Their words.".to_owned()),
            param: None,
        }
    }

    #[test]
    fn a_surcharge_that_is_refused_says_nothing_against_the_card() {
        for (param, kind) in [
            ("amount_details[surcharge][amount]", RejectionKind::Surcharge),
            ("amount_details[surcharge]", RejectionKind::Surcharge),
            ("amount_to_confirm", RejectionKind::Invalid),
        ] {
            let about = Error { param: Some(param.to_owned()), ..error("invalid_request_error", "", None) };
            let result = result::<()>(StatusCode::BAD_REQUEST, &about);
            let Err(CallError::Rejected(rejection)) = result.outcome else { panic!("{param}") };
            assert_eq!(rejection.kind, kind, "{param}");
        }
    }

    #[test]
    fn every_decline_code_the_wire_publishes() {
        let plain = [
            "call_issuer",
            "do_not_honor",
            "do_not_try_again",
            "duplicate_transaction",
            "fraudulent",
            "generic_decline",
            "incorrect_pin",
            "invalid_pin",
            "lost_card",
            "merchant_blacklist",
            "no_action_taken",
            "not_permitted",
            "offline_pin_required",
            "online_or_offline_pin_required",
            "pickup_card",
            "pin_try_exceeded",
            "restricted_card",
            "revocation_of_all_authorizations",
            "revocation_of_authorization",
            "security_violation",
            "service_not_allowed",
            "stolen_card",
            "stop_payment_order",
            "testmode_decline",
            "transaction_not_allowed",
            "one_from_the_future",
        ];
        let telling = [
            ("authentication_required", "authentication_required"),
            ("approve_with_id", "processing_error"),
            ("card_not_supported", "card_not_supported"),
            ("card_velocity_exceeded", "amount_limit"),
            ("currency_not_supported", "card_not_supported"),
            ("expired_card", "expired_card"),
            ("incorrect_number", "incorrect_number"),
            ("incorrect_cvc", "incorrect_cvc"),
            ("incorrect_zip", "incorrect_zip"),
            ("insufficient_funds", "insufficient_funds"),
            ("invalid_account", "invalid_card"),
            ("invalid_amount", "amount_limit"),
            ("invalid_cvc", "incorrect_cvc"),
            ("invalid_expiry_month", "invalid_expiry"),
            ("invalid_expiry_year", "invalid_expiry"),
            ("invalid_number", "incorrect_number"),
            ("issuer_not_available", "processing_error"),
            ("new_account_information_available", "invalid_card"),
            ("processing_error", "processing_error"),
            ("reenter_transaction", "processing_error"),
            ("try_again_later", "processing_error"),
            ("withdrawal_count_limit_exceeded", "amount_limit"),
        ];
        for (given, expected) in plain.map(|code| (code, "card_declined")).into_iter().chain(telling) {
            let failure = failure(&error("card_error", "card_declined", Some(given)));
            assert_eq!(failure.code, expected, "{given}");
            assert!(!failure.message.contains("Their words"));
        }
    }

    #[test]
    fn every_card_code_the_wire_publishes() {
        for (code, expected) in [
            ("card_declined", "card_declined"),
            ("expired_card", "expired_card"),
            ("incorrect_cvc", "incorrect_cvc"),
            ("incorrect_number", "incorrect_number"),
            ("incorrect_zip", "incorrect_zip"),
            ("invalid_cvc", "incorrect_cvc"),
            ("invalid_expiry_month", "invalid_expiry"),
            ("invalid_expiry_year", "invalid_expiry"),
            ("invalid_number", "incorrect_number"),
            ("processing_error", "processing_error"),
            ("authentication_required", "authentication_required"),
            ("payment_intent_authentication_failure", "authentication_failed"),
            ("", "card_declined"),
        ] {
            assert_eq!(failure(&error("card_error", code, None)).code, expected, "{code}");
            // A bank that says nothing in particular does not hide what the provider knows.
            assert_eq!(failure(&error("card_error", code, Some("generic_decline"))).code, expected, "{code}");
        }
        assert_eq!(failure(&error("api_error", "", None)).code, "processing_error");
    }

    #[test]
    fn a_permission_that_is_lacking_is_named() {
        let said = "The provided key 'rk_test_***x' does not have the required permissions for this endpoint on \
                    account 'acct_1'. Having the 'rak_charge_read' permission would allow this request to continue.";
        let error = |message: &str| Error {
            message: Some(message.to_owned()),
            ..error("invalid_request_error", "", None)
        };
        let lacking = |status: u16, message: &str| {
            let result = result::<()>(StatusCode::from_u16(status).unwrap(), &error(message));
            let Err(CallError::Rejected(rejection)) = result.outcome else { panic!("{message}") };
            assert_eq!((rejection.kind, result.again), (RejectionKind::Credentials, false));
            (rejection.failure, rejection.lacks)
        };
        let (failure, permission) = lacking(403, said);
        assert_eq!(
            (failure.code.as_str(), permission.as_deref()),
            ("provider_permission", Some("rak_charge_read"))
        );
        assert!(failure.message.contains("Add rak_charge_read to the key"), "{}", failure.message);
        for (status, message) in [(401, said), (403, "The required permissions are not available.")] {
            let (failure, permission) = lacking(status, message);
            assert_eq!((failure.code.as_str(), permission), ("provider_credentials", None));
        }
    }

    #[test]
    fn every_kind_of_refusal() {
        use RejectionKind::{Credentials, Declined, Invalid, Missing, State};
        for (status, kind, code, expected) in [
            (400, "invalid_request_error", "parameter_missing", (Invalid, "provider_refused")),
            (400, "invalid_request_error", "parameter_unknown", (Invalid, "provider_refused")),
            (400, "invalid_request_error", "amount_too_small", (Invalid, "amount_limit")),
            (400, "invalid_request_error", "amount_too_large", (Invalid, "amount_limit")),
            (400, "invalid_request_error", "payment_intent_unexpected_state", (State, "provider_state")),
            (400, "invalid_request_error", "charge_already_refunded", (State, "provider_state")),
            (400, "invalid_request_error", "charge_disputed", (State, "provider_state")),
            (402, "card_error", "capture_charge_authorization_expired", (State, "provider_state")),
            (400, "invalid_request_error", "email_invalid", (Invalid, "provider_refused")),
            (400, "idempotency_error", "", (Invalid, "provider_refused")),
            (400, "invalid_request_error", "livemode_mismatch", (Credentials, "provider_credentials")),
            (400, "invalid_request_error", "account_invalid", (Credentials, "provider_credentials")),
            (402, "invalid_request_error", "testmode_charges_only", (Credentials, "provider_credentials")),
            (401, "invalid_request_error", "", (Credentials, "provider_credentials")),
            (402, "card_error", "expired_card", (Declined, "expired_card")),
            (402, "invalid_request_error", "card_declined", (Declined, "card_declined")),
            (403, "invalid_request_error", "", (Credentials, "provider_credentials")),
            (404, "invalid_request_error", "resource_missing", (Missing, "provider_object_missing")),
            (404, "invalid_request_error", "", (Invalid, "provider_refused")),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let result = result::<()>(status, &error(kind, code, None));
            let Err(CallError::Rejected(rejection)) = result.outcome else {
                panic!("{status} {kind} {code}")
            };
            let found = (rejection.kind, rejection.failure.code.as_str());
            assert_eq!((found, result.again), (expected, false), "{status} {kind} {code}");
        }
    }
}
