//! The provider's errors in our words: what kind of no, and which failure.
//!
//! What the provider says about bank details may repeat them, so that its sentences are shown without their numbers.

use http::StatusCode;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::{CallError, Rejection, RejectionKind};

use super::types::ErrorDetail;
use crate::{
    failure::{Code, refused, unknown},
    mask::masked,
    retry::AttemptResult,
    text::{quote, word},
};

/// The field of a payment order that is our reference.
const REFERENCE: &str = "external_id";

/// Fields that say where the money goes; the provider names the inner ones by path.
const BANK_DETAILS: [&str; 5] =
    ["receiving_account", "account_details", "account_number", "routing_details", "routing_number"];

/// Whether a creation is refused because our reference has an order already. Which code the provider uses for it is not
/// published; the field is named.
pub(super) fn is_taken(error: &ErrorDetail) -> bool {
    parameter(error) == REFERENCE
}

fn parameter(error: &ErrorDetail) -> &str {
    error.parameter.as_str().unwrap_or_default()
}

/// What a refusal means that is neither "busy" nor a failure of the provider's.
pub(super) fn result<T>(status: StatusCode, error: &ErrorDetail) -> AttemptResult<T> {
    let rejection = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => credentials(),
        StatusCode::NOT_FOUND => missing(),
        // Another request of ours under this key is being processed, and that one decides. Only looking tells.
        StatusCode::CONFLICT => unknown("a request under this key is still being processed"),
        _ if status.is_client_error() => invalid(error),
        // A redirect, which is not followed: no such provider sends one.
        _ => unknown(format!("the provider answered {}", status.as_u16())),
    };
    AttemptResult::fail(rejection, word(&masked(&error.code)))
}

/// A refusal in no form of this provider's: something between us and the provider, which cannot say what was done.
pub(super) fn unreadable<T>(status: StatusCode) -> AttemptResult<T> {
    let code = status.as_u16();
    let rejection = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => credentials(),
        _ => unknown(format!("the provider answered {code} with an unreadable body")),
    };
    AttemptResult::fail(rejection, format!("unreadable {code}"))
}

/// The receiving bank takes no instant transfers.
pub(super) fn instant_not_supported() -> CallError {
    let message = "The receiving bank does not support instant transfers.";
    no(RejectionKind::Invalid, "instant_not_supported", message)
}

/// Whether a creation is refused for how the money is to travel, or for the account it is to leave. Which words the provider
/// uses for an account without the capability is not published; these are the only fields it can be about.
pub(super) fn is_about_rail(error: &ErrorDetail) -> bool {
    matches!(parameter(error), "type" | "originating_account_id")
}

/// Our own account cannot originate instant transfers.
pub(super) fn instant_not_enabled(error: &ErrorDetail) -> CallError {
    let sentence = "The configured account cannot originate instant transfers; have rtp enabled for it, or use another channel.";
    let message = quoting(sentence, error.message.as_str().unwrap_or_default());
    no(RejectionKind::Invalid, "instant_not_enabled", &message)
}

/// The amount or its currency is none this provider can carry.
pub(super) fn amount_not_carried(message: &str) -> CallError {
    no(RejectionKind::Invalid, Code::AmountLimit.as_str(), message)
}

/// There is no name to send, and none may be made up.
pub(super) fn name_not_writable() -> CallError {
    let message = "The account holder's name has no characters that a bank's file can carry.";
    no(RejectionKind::Invalid, "account_name_not_supported", message)
}

fn credentials() -> CallError {
    refused(RejectionKind::Credentials, Code::ProviderCredentials)
}

fn missing() -> CallError {
    let message = "The provider does not know this transfer or one of its accounts.";
    no(RejectionKind::Missing, Code::ProviderObjectMissing.as_str(), message)
}

fn invalid(error: &ErrorDetail) -> CallError {
    let mut parts = parameter(error).split(|letter: char| !letter.is_ascii_alphabetic() && letter != '_');
    let (code, sentence) = if parts.any(|part| BANK_DETAILS.contains(&part)) {
        ("bank_details_refused", "The provider rejected these bank details.")
    } else {
        (Code::ProviderRefused.as_str(), "The provider rejected the transfer.")
    };
    no(RejectionKind::Invalid, code, &quoting(sentence, error.message.as_str().unwrap_or_default()))
}

/// Our sentence, and the provider's own without its numbers.
pub(super) fn quoting(sentence: &str, said: &str) -> String {
    let said = quote(&masked(said));
    if said.is_empty() { sentence.to_owned() } else { format!("{sentence} It says: {said}") }
}

fn no(kind: RejectionKind, code: &str, message: &str) -> CallError {
    let failure = Failure { code: code.to_owned(), message: message.to_owned() };
    CallError::Rejected(Rejection { kind, failure, lacks: None })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn interpreted(status: u16, error: &Value) -> AttemptResult<()> {
        let error: ErrorDetail = serde_json::from_value(error.clone()).unwrap();
        result(StatusCode::from_u16(status).unwrap(), &error)
    }

    #[test]
    fn every_code_the_provider_publishes() {
        use RejectionKind::{Credentials, Invalid, Missing};
        for (status, code, expected) in [
            (400, "parameter_invalid", Some((Invalid, "provider_refused"))),
            (400, "header_invalid", Some((Invalid, "provider_refused"))),
            (422, "parameter_missing", Some((Invalid, "provider_refused"))),
            (401, "invalid_key", Some((Credentials, "provider_credentials"))),
            (401, "expired_key", Some((Credentials, "provider_credentials"))),
            (403, "forbidden", Some((Credentials, "provider_credentials"))),
            (403, "invalid_ip", Some((Credentials, "provider_credentials"))),
            (404, "resource_not_found", Some((Missing, "provider_object_missing"))),
            (404, "not_found", Some((Missing, "provider_object_missing"))),
            (409, "conflict", None),
            (418, "one_from_the_future", Some((Invalid, "provider_refused"))),
            (302, "one_from_the_future", None),
        ] {
            let result = interpreted(status, &json!({ "code": code, "message": null }));
            assert_eq!((result.again, result.word.as_str()), (false, code));
            match (result.outcome, expected) {
                (Err(CallError::Rejected(rejection)), Some(expected)) => {
                    assert_eq!((rejection.kind, rejection.failure.code.as_str()), expected, "{code}");
                }
                (Err(CallError::Unknown(_)), None) => {}
                other => panic!("{code}: {other:?}"),
            }
        }
    }

    #[test]
    fn bank_details_are_told_apart_and_not_repeated() {
        for (parameter, expected) in [
            ("receiving_account", "bank_details_refused"),
            ("receiving_account.routing_details[0].routing_number", "bank_details_refused"),
            ("originating_account_id", "provider_refused"),
            ("amount", "provider_refused"),
            ("", "provider_refused"),
        ] {
            let message = "routing number 021000021 of account 0001-2345-6789 is no bank";
            let error = json!({ "code": "parameter_invalid", "message": message, "parameter": parameter });
            let Err(CallError::Rejected(rejection)) = interpreted(422, &error).outcome else { panic!() };
            let Failure { code, message } = rejection.failure;
            assert_eq!(code, expected, "{parameter}");
            assert!(
                message.ends_with("It says: routing number **** of account **** is no bank"),
                "{message}"
            );
        }
    }
}
