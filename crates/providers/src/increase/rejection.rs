//! The provider's errors in our words: what kind of no, and which failure.
//!
//! What the provider says about bank details may repeat them, so that its sentences are shown without their numbers.

use http::StatusCode;
use serde_json::Value;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::{CallError, Rejection, RejectionKind};

use super::types::ErrorBody;
use crate::{
    failure::{Code, refused, unknown},
    mask::masked,
    retry::AttemptResult,
    text::{quote, word},
};

/// The key has made an object, and this request reads otherwise than the one that made it.
pub(super) const KEY_USED: &str = "idempotency_key_already_used_error";

/// What the provider's own state does not allow: too little money in the account, or a request under way.
pub(super) const NOT_ALLOWED: &str = "invalid_operation_error";

/// Fields that say where the money goes.
const BANK_DETAILS: [&str; 3] = ["account_number", "routing_number", "funding"];

/// What a refusal means that is neither "busy" nor a failure of the provider's.
pub(super) fn result<T>(status: StatusCode, error: &ErrorBody) -> AttemptResult<T> {
    let rejection = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => credentials(),
        StatusCode::NOT_FOUND => missing(),
        // The key may be in use by another request of ours, and then that one decides. Only looking tells.
        StatusCode::CONFLICT => unknown("its state does not allow it, or it is still being processed"),
        _ if status.is_client_error() => invalid(error),
        // A redirect, which is not followed: no such provider sends one.
        _ => unknown(format!("the provider answered {}", status.as_u16())),
    };
    AttemptResult::fail(rejection, word(&masked(&error.kind)))
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

/// A creation that the state of the provider's account does not allow. The type says nothing of the reason, so that the
/// sentence has to: too little money is the one that decides. Anything else may be another request of ours under the same
/// key, still being processed.
pub(super) fn not_allowed<T>(error: &ErrorBody) -> AttemptResult<T> {
    let said = error.detail.as_str().unwrap_or_default();
    let lower = said.to_ascii_lowercase();
    let (kind, code) = if lower.contains("insufficient") || lower.contains("balance") {
        (RejectionKind::Funds, Code::ProviderFunds)
    } else {
        (RejectionKind::State, Code::ProviderRefused)
    };
    AttemptResult::fail(no(kind, code.as_str(), &quoting(&code.failure().message, said)), NOT_ALLOWED)
}

/// The receiving bank takes no instant transfers.
pub(super) fn instant_not_supported() -> CallError {
    no(
        RejectionKind::Invalid,
        "instant_not_supported",
        "The receiving bank does not support instant transfers.",
    )
}

/// The key belongs to something that is not this transfer, which no transfer of ours can cause.
pub(super) fn key_reused() -> CallError {
    let message = "The idempotency key belongs to another transfer at the provider. Nothing was sent.";
    no(RejectionKind::Invalid, "idempotency_key_reused", message)
}

/// The amount or its currency is none this provider can carry.
pub(super) fn amount_not_carried(message: &str) -> CallError {
    no(RejectionKind::Invalid, Code::AmountLimit.as_str(), message)
}

/// There is no name to send, and none may be made up.
pub(super) fn name_not_writable() -> CallError {
    let message = "The account holder's name has no characters allowed in instant transfers.";
    no(RejectionKind::Invalid, "account_name_not_supported", message)
}

fn credentials() -> CallError {
    refused(RejectionKind::Credentials, Code::ProviderCredentials)
}

fn missing() -> CallError {
    let message = "The provider does not know this transfer or one of its accounts.";
    no(RejectionKind::Missing, Code::ProviderObjectMissing.as_str(), message)
}

fn invalid(error: &ErrorBody) -> CallError {
    let (code, sentence) = if names_bank_details(&error.errors) {
        ("bank_details_refused", "The provider rejected these bank details.")
    } else {
        (Code::ProviderRefused.as_str(), "The provider rejected the transfer.")
    };
    no(RejectionKind::Invalid, code, &quoting(sentence, error.detail.as_str().unwrap_or_default()))
}

/// Our sentence, and the provider's own without its numbers.
fn quoting(sentence: &str, said: &str) -> String {
    let said = quote(&masked(said));
    if said.is_empty() { sentence.to_owned() } else { format!("{sentence} It says: {said}") }
}

/// Whether one of the errors is about a field that says where the money goes. Their form is not published; somewhere in
/// each stands the field's name.
fn names_bank_details(errors: &Value) -> bool {
    match errors {
        Value::String(text) => BANK_DETAILS.contains(&text.as_str()),
        Value::Array(items) => items.iter().any(names_bank_details),
        Value::Object(fields) => fields.values().any(names_bank_details),
        _ => false,
    }
}

fn no(kind: RejectionKind, code: &str, message: &str) -> CallError {
    CallError::Rejected(Rejection { kind, failure: failure(code, message), lacks: None })
}

fn failure(code: &str, message: &str) -> Failure {
    Failure { code: code.to_owned(), message: message.to_owned() }
}

/// Why the provider did not send an ACH transfer: it never says.
pub(super) fn ach_rejection() -> Failure {
    failure("provider_rejected", "The provider rejected the transfer before it was sent.")
}

/// Why a real-time payment was rejected. What a bank adds in its own words is not repeated.
pub(super) fn real_time_rejection(reason: Option<&str>) -> Failure {
    let known = REJECTIONS.iter().find(|(code, _)| Some(*code) == reason);
    let (code, sentence) = known.copied().unwrap_or(("bank_rejected", "The receiving bank rejected it."));
    failure(code, sentence)
}

/// Every reason that says something; `narrative` and `other` do not.
const REJECTIONS: [(&str, &str); 19] = [
    ("account_closed", "The account is closed."),
    ("account_blocked", "The account is blocked."),
    ("invalid_creditor_account_type", "The account cannot receive instant transfers."),
    ("invalid_creditor_account_number", "The account does not exist."),
    ("invalid_creditor_financial_institution_identifier", "The routing number is not valid."),
    ("end_customer_deceased", "The account owner has died."),
    ("transaction_forbidden", "Instant transfers to this account are not allowed."),
    ("transaction_type_not_supported", "The account is not enabled for instant transfers."),
    ("unexpected_amount", "The receiver expects a different amount."),
    ("amount_exceeds_bank_limits", "The amount is above the receiving bank's limit."),
    ("invalid_creditor_address", "The receiving bank needs the receiver's address."),
    ("unknown_end_customer", "The receiving bank does not know the receiver."),
    ("invalid_debtor_address", "The receiving bank needs the sender's address."),
    ("timeout", "The receiving bank did not answer in time."),
    ("unsupported_message_for_recipient", "The account is not enabled for instant transfers."),
    ("recipient_connection_not_available", "The receiving bank is not connected at the moment."),
    ("real_time_payments_suspended", "The network for instant transfers is not available at the moment."),
    ("instructed_agent_signed_off", "The receiving bank is not accepting instant transfers at the moment."),
    ("processing_error", "The provider could not process it."),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn interpreted(status: u16, error: &Value) -> AttemptResult<()> {
        let error: ErrorBody = serde_json::from_value(error.clone()).unwrap();
        result(StatusCode::from_u16(status).unwrap(), &error)
    }

    #[test]
    fn every_type_the_wire_publishes() {
        use RejectionKind::{Credentials, Invalid, Missing};
        for (status, kind, expected) in [
            (400, "invalid_parameters_error", Some((Invalid, "provider_refused"))),
            (400, "malformed_request_error", Some((Invalid, "provider_refused"))),
            (401, "invalid_api_key_error", Some((Credentials, "provider_credentials"))),
            (403, "insufficient_permissions_error", Some((Credentials, "provider_credentials"))),
            (403, "environment_mismatch_error", Some((Credentials, "provider_credentials"))),
            (403, "private_feature_error", Some((Credentials, "provider_credentials"))),
            (404, "object_not_found_error", Some((Missing, "provider_object_missing"))),
            (404, "api_method_not_found_error", Some((Missing, "provider_object_missing"))),
            (409, "invalid_operation_error", None),
            (409, KEY_USED, None),
            (422, "one_from_the_future", Some((Invalid, "provider_refused"))),
            (302, "one_from_the_future", None),
        ] {
            let result =
                interpreted(status, &json!({ "type": kind, "detail": null, "title": "", "status": status }));
            assert_eq!((result.again, result.word.as_str()), (false, kind));
            match (result.outcome, expected) {
                (Err(CallError::Rejected(rejection)), Some(expected)) => {
                    assert_eq!((rejection.kind, rejection.failure.code.as_str()), expected, "{kind}");
                }
                (Err(CallError::Unknown(_)), None) => {}
                other => panic!("{kind}: {other:?}"),
            }
        }
    }

    #[test]
    fn bank_details_are_told_apart_and_not_repeated() {
        let error = json!({
            "type": "invalid_parameters_error", "title": "021000021",
            "detail": "routing_number: 021000021 with account 0001-2345-6789 is no bank",
            "errors": [{ "field": "routing_number", "message": "021000021" }],
        });
        let Err(CallError::Rejected(rejection)) = interpreted(400, &error).outcome else { panic!() };
        let message = "The provider rejected these bank details. It says: routing_number: **** with account **** is no bank";
        let expected = Failure { code: "bank_details_refused".to_owned(), message: message.to_owned() };
        assert_eq!((rejection.kind, rejection.failure), (RejectionKind::Invalid, expected));

        let about = |errors: Value| {
            let error = json!({ "type": "invalid_parameters_error", "errors": errors, "detail": [1] });
            match interpreted(400, &error).outcome {
                Err(CallError::Rejected(rejection)) => rejection.failure.code,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(about(json!([{ "path": ["account_number"] }])), "bank_details_refused");
        assert_eq!(about(json!([{ "field": "source_account_number_id" }])), "provider_refused");
        assert_eq!(about(json!("?")), "provider_refused");
        assert_eq!(about(Value::Null), "provider_refused");
        let strange = interpreted(400, &json!({ "type": "account_000123456789" }));
        assert_eq!(strange.word, "unreadable code");
    }

    #[test]
    fn every_reason_of_a_rejection_has_words() {
        for (code, sentence) in REJECTIONS {
            assert_eq!(real_time_rejection(Some(code)), failure(code, sentence));
        }
        for unsaid in [Some("narrative"), Some("other"), Some("account 000123456789"), Some(""), None] {
            assert_eq!(real_time_rejection(unsaid).code, "bank_rejected");
        }
    }
}
