//! Trying again: within bounds, after pauses, and without losing sight of what an earlier try may have done.
//!
//! Each adapter judges one answer by itself. What the tries of one request come to together is decided here, for all
//! adapters: once a try may have been carried out, a later one that was turned away does not make it undone.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use tollgate_configuration::Provider;
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{Call, CallError, CallLog, Rejection, RejectionKind, TransientError, Try};
use tollgate_http::{Answer, HttpClient, Request, TransportError};
use tollgate_trace::{Instrument as _, Span};
use tracing::field::Empty;

use crate::{
    failure::{Code, unknown, unsent},
    settings::ProviderSettings,
    text::fit,
};

/// The longest pause a provider can ask for that is passed on.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// One request of a wire, sent as it is on every try.
pub(crate) struct ApiCall {
    /// The provider's name for it.
    pub(crate) operation: &'static str,
    /// The idempotency key inside it.
    pub(crate) key: Option<String>,
    pub(crate) request: Request,
    /// Whether it makes something: then a refusal of a later try says nothing about an earlier one.
    pub(crate) makes: bool,
}

/// What a wire makes of one answer.
pub(crate) struct AttemptResult<T> {
    /// What it would mean if there were no other try.
    pub(crate) outcome: Result<T, CallError>,
    /// Whether another try may tell more.
    pub(crate) again: bool,
    /// In a few words, for the log.
    pub(crate) word: String,
}

impl<T> AttemptResult<T> {
    pub(crate) fn ok(value: T) -> Self {
        Self { outcome: Ok(value), again: false, word: "ok".to_owned() }
    }

    pub(crate) fn fail(error: CallError, word: impl Into<String>) -> Self {
        Self { outcome: Err(error), again: false, word: word.into() }
    }

    pub(crate) fn retry(error: CallError, word: impl Into<String>) -> Self {
        Self { outcome: Err(error), again: true, word: word.into() }
    }
}

/// Everything one call of a port does at a provider: its requests share a deadline, and their logs end up together.
pub(crate) struct CallSession<'a> {
    http: &'a HttpClient,
    settings: &'a ProviderSettings,
    provider: &'a str,
    ends: Instant,
    /// Texts of the customer's, and our key, that no refusal may repeat.
    private: Vec<String>,
    logs: Vec<CallLog>,
}

impl<'a> CallSession<'a> {
    pub(crate) fn new(http: &'a HttpClient, settings: &'a ProviderSettings, provider: &'a Provider) -> Self {
        let ends = Instant::now() + settings.deadline;
        let calls =
            Self { http, settings, provider: &provider.name, ends, private: Vec::new(), logs: Vec::new() };
        calls.hiding(provider.credential(provider.api_secret_field()))
    }

    /// Keeps a text out of what providers say about it.
    pub(crate) fn hiding(mut self, text: Option<&str>) -> Self {
        self.private.extend(text.filter(|text| !text.is_empty()).map(str::to_owned));
        self
    }

    /// The outcome together with what was asked on the way.
    pub(crate) fn finish<T, E>(self, outcome: Result<T, E>) -> Call<T, E> {
        Call { outcome, logs: self.logs }
    }

    /// Sends one request until its answer is clear, or tries or time have run out.
    pub(crate) async fn run<T>(
        &mut self,
        call: &ApiCall,
        interpret: impl Fn(&Answer) -> AttemptResult<T>,
    ) -> Result<T, CallError> {
        let mut log =
            CallLog { operation: call.operation, idempotency_key: call.key.clone(), tries: Vec::new() };
        let span = tollgate_trace::span!(
            "provider call",
            otel.name = call.operation,
            otel.kind = "client",
            provider = self.provider,
            operation = call.operation,
            outcome = Empty,
            tries = Empty,
            otel.status_code = Empty
        );
        let trying = self.try_until_clear(call, interpret, &mut log.tries);
        let mut outcome = trying.instrument(span.clone()).await;
        record(&span, &outcome, log.tries.len());
        if let Err(CallError::Rejected(rejection)) = &mut outcome {
            for private in &self.private {
                rejection.failure.message = rejection.failure.message.replace(private, "[hidden]");
            }
        }
        self.logs.push(log);
        outcome
    }

    async fn try_until_clear<T>(
        &self,
        call: &ApiCall,
        interpret: impl Fn(&Answer) -> AttemptResult<T>,
        tries: &mut Vec<Try>,
    ) -> Result<T, CallError> {
        let mut doubt = None;
        let mut number = 1;
        loop {
            let left = self.ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return settled(Err(unsent("deadline exceeded", None)), doubt.as_ref(), call.makes);
            }
            let timeout = left.min(self.settings.attempt_timeout);
            let AttemptResult { outcome, again, .. } = self.try_once(call, &interpret, timeout, tries).await;
            let pause = self.pause(number, &outcome);
            let enough = number >= self.settings.tries_max || Instant::now() + pause >= self.ends;
            // Without a key, what may have been made would be made once more.
            let is_twice = call.makes && call.key.is_none() && matches!(outcome, Err(CallError::Unknown(_)));
            if !again || enough || is_twice {
                return settled(outcome, doubt.as_ref(), call.makes);
            }
            if let Err(CallError::Unknown(transient)) = outcome {
                doubt = Some(transient);
            }
            tokio::time::sleep(pause).await;
            number += 1;
        }
    }

    async fn try_once<T>(
        &self,
        call: &ApiCall,
        interpret: impl Fn(&Answer) -> AttemptResult<T>,
        timeout: Duration,
        tries: &mut Vec<Try>,
    ) -> AttemptResult<T> {
        let (at, began) = (now(), Instant::now());
        let exchange = self.http.send_with(&call.request, tollgate_trace::header(), timeout).await;
        let took = began.elapsed();
        let result = match &exchange {
            Ok(answer) => with_retry_after(interpret(answer), answer),
            Err(TransportError::Unsent(reason)) => {
                AttemptResult::retry(unsent(reason.as_str(), None), reason.as_str())
            }
            Err(TransportError::Lost(reason)) => {
                AttemptResult::retry(unknown(reason.as_str()), reason.as_str())
            }
        };
        let answer = exchange.as_ref().ok();
        tries.push(Try {
            at,
            took,
            status: answer.map(|answer| answer.status.as_u16()),
            provider_request: answer.and_then(request_id),
            outcome: result.word.clone(),
        });
        result
    }

    /// How long to wait after so many tries: twice as long each time, a random part less, and as long as the provider
    /// wants.
    fn pause<T>(&self, number: u32, outcome: &Result<T, CallError>) -> Duration {
        let doubled = self.settings.backoff_first.saturating_mul(1 << number.saturating_sub(1).min(16));
        let longest = doubled.min(self.settings.backoff_max);
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        let pause = Duration::from_millis(rand::random_range(millis / 2..=millis));
        match outcome {
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                pause.max(transient.retry_after.unwrap_or_default())
            }
            _ => pause,
        }
    }
}

/// Classes only: a rejection's text is the provider's.
fn record<T>(span: &Span, outcome: &Result<T, CallError>, tries: usize) {
    if span.is_disabled() {
        return;
    }
    let class = match outcome {
        Ok(_) => "done",
        Err(CallError::Rejected(_)) => "rejected",
        Err(CallError::Unsent(_)) => "unsent",
        Err(CallError::Unknown(_)) => "unknown",
    };
    span.record("outcome", class).record("tries", tries);
    if matches!(outcome, Err(CallError::Unsent(_) | CallError::Unknown(_))) {
        tollgate_trace::failed(span);
    }
}

/// What the last try's outcome means after an earlier try that may have been carried out.
fn settled<T>(
    outcome: Result<T, CallError>,
    doubt: Option<&TransientError>,
    makes: bool,
) -> Result<T, CallError> {
    let Some(doubt) = doubt else { return outcome };
    let after = |later: &str, retry_after| {
        let reason = format!("{}; then {later}", doubt.reason);
        Err(CallError::Unknown(TransientError { reason, retry_after }))
    };
    match outcome {
        Err(CallError::Unsent(transient)) => after(&transient.reason, transient.retry_after),
        Err(CallError::Rejected(rejection)) if makes && !speaks_for_every_try(&rejection) => {
            after(&rejection.failure.code, None)
        }
        other => other,
    }
}

/// A decline under the same key is what became of that key. Anything else can be said before the key is looked at:
/// credentials revoked in between, a passing trouble, or a token that the earlier try itself has used up.
fn speaks_for_every_try(rejection: &Rejection) -> bool {
    let unsure = [Code::CardTokenUsed, Code::ProcessingError];
    rejection.kind == RejectionKind::Declined
        && unsure.iter().all(|code| rejection.failure.code != code.as_str())
}

fn with_retry_after<T>(mut result: AttemptResult<T>, answer: &Answer) -> AttemptResult<T> {
    if let Err(CallError::Unsent(transient) | CallError::Unknown(transient)) = &mut result.outcome {
        let seconds = answer.header("retry-after").and_then(|text| text.trim().parse().ok());
        let asked = seconds.map(Duration::from_secs).or(transient.retry_after);
        transient.retry_after = asked.map(|pause| pause.min(RETRY_AFTER_MAX));
    }
    result
}

fn request_id(answer: &Answer) -> Option<String> {
    let id = ["request-id", "x-request-id"].iter().find_map(|name| answer.header(name))?;
    Some(fit(id, 100))
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> i64 {
    now().unix_millis().div_euclid(1_000)
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{declined, refused};

    fn doubt() -> TransientError {
        TransientError { reason: "timed out".to_owned(), retry_after: None }
    }

    #[test]
    fn what_may_have_been_done_is_not_undone_by_a_later_no() {
        let credentials = || refused(RejectionKind::Credentials, Code::ProviderCredentials);
        for (later, makes, expected) in [
            (unsent("turned away", None), true, Err(unknown("timed out; then turned away"))),
            (unsent("turned away", None), false, Err(unknown("timed out; then turned away"))),
            (credentials(), true, Err(unknown("timed out; then provider_credentials"))),
            (credentials(), false, Err(credentials())),
            (declined(Code::CardTokenUsed), true, Err(unknown("timed out; then card_token_used"))),
            (declined(Code::ProcessingError), true, Err(unknown("timed out; then processing_error"))),
            (declined(Code::ExpiredCard), true, Err(declined(Code::ExpiredCard))),
            (unknown("lost"), true, Err(unknown("lost"))),
        ] {
            assert_eq!(settled::<()>(Err(later.clone()), Some(&doubt()), makes), expected, "{later:?}");
            assert_eq!(settled::<()>(Err(later.clone()), None, makes), Err(later));
        }
        assert_eq!(settled(Ok(1), Some(&doubt()), true), Ok(1));
    }
}
