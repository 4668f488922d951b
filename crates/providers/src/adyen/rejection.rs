//! The provider's errors and refusals in our words.

use http::StatusCode;
use tollgate_domain::transaction::Failure;
use tollgate_engine::ports::{CallError, RejectionKind};
use tollgate_http::Answer;

use super::types::ErrorBody;
use crate::{
    failure::{Code, invalid, lacks_permission, refused, unknown, unsent},
    retry::AttemptResult,
    text::word,
};

/// What an answer means that is none of success. Whatever the provider lost behind itself it keeps as the answer of the
/// request's key, although the card's issuer may have acted: a server error is never a no.
pub(super) fn result<T>(answer: &Answer) -> AttemptResult<T> {
    let status = answer.status;
    let Ok(error) = serde_json::from_slice::<ErrorBody>(&answer.body) else { return unreadable(status) };
    let code = error.error_code.as_deref().unwrap_or_default();
    let told = if code.is_empty() { format!("error {}", status.as_u16()) } else { word(code) };
    // Somebody is at it under the same key, and that may be an earlier try of ours.
    if code == "704" {
        return AttemptResult::retry(unknown("the provider is still processing it"), told);
    }
    let is_transient = answer.header("transient-error") == Some("true");
    if is_transient || code == "703" || status == StatusCode::TOO_MANY_REQUESTS {
        return AttemptResult::retry(unsent("the provider is busy", None), told);
    }
    let is_configuration = error.error_type.as_deref() == Some("configuration");
    if status.is_server_error() && !is_configuration {
        let code = status.as_u16();
        return AttemptResult::retry(unknown(format!("the provider answered {code}")), told);
    }
    if status == StatusCode::REQUEST_TIMEOUT {
        return AttemptResult::retry(unknown("the provider timed out"), told);
    }
    let is_known = status.is_client_error() || is_configuration;
    let outcome = match (status, code) {
        // The Management API says that a key is right and lacks a role.
        (StatusCode::FORBIDDEN, _) if code.contains('_') => lacks_permission("a Management API role"),
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) | (_, "010" | "901") => {
            refused(RejectionKind::Credentials, Code::ProviderCredentials)
        }
        (StatusCode::NOT_FOUND, _) | (_, "167") => {
            refused(RejectionKind::Missing, Code::ProviderObjectMissing)
        }
        _ if is_known => invalid(Code::ProviderRefused, error.message.as_deref().or(error.detail.as_deref())),
        _ => unknown(format!("the provider answered {}", status.as_u16())),
    };
    AttemptResult::fail(outcome, told)
}

/// An answer in no form of this provider's: something between us and the provider, which cannot say what was done.
fn unreadable<T>(status: StatusCode) -> AttemptResult<T> {
    let code = status.as_u16();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => AttemptResult::fail(
            refused(RejectionKind::Credentials, Code::ProviderCredentials),
            format!("unreadable {code}"),
        ),
        StatusCode::TOO_MANY_REQUESTS => {
            AttemptResult::retry(unsent("the provider is busy", None), "rate limited")
        }
        status if status.is_server_error() => {
            AttemptResult::retry(unknown(format!("the provider answered {code}")), format!("error {code}"))
        }
        _ => AttemptResult::fail(
            unknown(format!("the provider answered {code} with an unreadable body")),
            format!("unreadable {code}"),
        ),
    }
}

/// Why an attempt failed. The provider's word for it is not signed, so that it says no more than which sentence is shown.
pub(super) fn failure(reason: Option<&str>) -> Failure {
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let reason = letters(reason.unwrap_or_default()).to_ascii_lowercase();
    let found = REASONS.iter().find(|(known, _)| reason == *known);
    found.map_or(Code::CardDeclined, |(_, code)| *code).failure()
}

/// The provider's refusal reasons, without what is no letter or digit, that are more than a plain decline. What is said of
/// fraud is not for the person holding the card.
const REASONS: [(&str, Code); 27] = [
    ("3dnotauthenticated", Code::AuthenticationFailed),
    ("3dsecureauthenticationfailed", Code::AuthenticationFailed),
    ("3dsauthenticationerror", Code::AuthenticationFailed),
    ("rreqnotreceivedfromds", Code::AuthenticationFailed),
    ("authenticationrequired", Code::AuthenticationRequired),
    ("acquirererror", Code::ProcessingError),
    ("issuerunavailable", Code::ProcessingError),
    ("notsubmitted", Code::ProcessingError),
    ("error", Code::ProcessingError),
    ("avsdeclined", Code::IncorrectZip),
    ("cancelled", Code::CustomerCanceled),
    ("shoppercancelled", Code::CustomerCanceled),
    ("cvcdeclined", Code::IncorrectCvc),
    ("expiredcard", Code::ExpiredCard),
    ("cardexpired", Code::ExpiredCard),
    ("invalidamount", Code::AmountLimit),
    ("invalidcardnumber", Code::IncorrectNumber),
    ("nocheckingaccountavailableoncard", Code::CardNotSupported),
    ("nosavingsaccountavailableoncard", Code::CardNotSupported),
    ("notsupported", Code::CardNotSupported),
    ("transactionnotpermitted", Code::CardNotSupported),
    ("notenoughbalance", Code::InsufficientFunds),
    ("paymentdetailnotfound", Code::InvalidCard),
    ("withdrawalamountexceeded", Code::AmountLimit),
    ("withdrawalcountexceeded", Code::AmountLimit),
    ("withdrawalamountlimitexceeded", Code::AmountLimit),
    ("withdrawalcountlimitexceeded", Code::AmountLimit),
];

/// A request that was taken and then refused, told with the provider's reason for it.
pub(super) fn refused_later(reason: Option<&str>) -> Failure {
    match invalid(Code::ProviderRefused, reason) {
        CallError::Rejected(rejection) => rejection.failure,
        CallError::Unsent(_) | CallError::Unknown(_) => Code::ProviderRefused.failure(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;

    use super::*;

    fn outcome(status: u16, headers: &[(&'static str, &str)], body: &str) -> (CallError, bool) {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let status = StatusCode::from_u16(status).unwrap();
        let answer = Answer { status, headers, body: Bytes::copy_from_slice(body.as_bytes()) };
        let result = result::<()>(&answer);
        (result.outcome.unwrap_err(), result.again)
    }

    fn error(code: &str, kind: &str) -> String {
        format!(r#"{{"status":1,"errorCode":"{code}","message":"No.","errorType":"{kind}"}}"#)
    }

    #[test]
    fn errors_are_told_apart_as_the_table_says() {
        let kind = |error: CallError| match error {
            CallError::Rejected(rejection) => format!("{:?}", rejection.kind),
            CallError::Unsent(_) => "unsent".to_owned(),
            CallError::Unknown(_) => "unknown".to_owned(),
        };
        let transient: &[_] = &[("transient-error", "true")];
        let not: &[_] = &[("transient-error", "false")];
        for (status, headers, body, expected, again) in [
            (401, not, error("000", "security"), "Credentials", false),
            (403, not, error("901", "security"), "Credentials", false),
            (422, not, error("010", "security"), "Credentials", false),
            (422, not, error("167", "validation"), "Missing", false),
            (404, not, error("000", "validation"), "Missing", false),
            (422, not, error("702", "validation"), "Invalid", false),
            (400, not, error("702", "validation"), "Invalid", false),
            (500, not, error("905", "configuration"), "Invalid", false),
            (422, transient, error("704", "internal"), "unknown", true),
            (409, not, error("704", "internal"), "unknown", true),
            (503, not, error("703", "internal"), "unsent", true),
            (503, transient, error("000", "internal"), "unsent", true),
            (429, not, error("000", "internal"), "unsent", true),
            (429, not, String::new(), "unsent", true),
            (500, not, error("000", "internal"), "unknown", true),
            (502, not, "<html>".to_owned(), "unknown", true),
            (302, not, String::new(), "unknown", false),
        ] {
            let (found, retried) = outcome(status, headers, &body);
            assert_eq!((kind(found).as_str(), retried), (expected, again), "{status} {body}");
        }
    }

    #[test]
    fn refusals_are_said_in_our_words() {
        for (reason, code) in [
            (Some("Not enough balance"), "insufficient_funds"),
            (Some("NOT_ENOUGH_BALANCE"), "insufficient_funds"),
            (Some("Expired Card"), "expired_card"),
            (Some("CVC Declined"), "incorrect_cvc"),
            (Some("3D Not Authenticated"), "authentication_failed"),
            (Some("Issuer Unavailable"), "processing_error"),
            (Some("Shopper Cancelled"), "customer_canceled"),
            (Some("FRAUD"), "card_declined"),
            (Some("Refused"), "card_declined"),
            (None, "card_declined"),
        ] {
            assert_eq!(failure(reason).code, code, "{reason:?}");
        }
    }
}
