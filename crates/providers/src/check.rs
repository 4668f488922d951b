//! What the live checks of all providers share: how a first answer is judged, clocks, modes, and webhook endpoints.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use tollgate_configuration::Provider;
use tollgate_domain::tenant::Mode;
use tollgate_engine::ports::{CallError, CheckReport, CheckSubject, ProviderCheck, RejectionKind};
use tollgate_http::Answer;

use crate::{
    failure::lacking,
    retry::{ApiCall, AttemptResult, CallSession},
};

/// Webhook signatures are refused beyond five minutes; this far apart a clock is not being kept.
const MAX_SKEW: Duration = Duration::from_secs(30);

/// One provider being checked.
pub(crate) struct Checkup<'a> {
    calls: CallSession<'a>,
    subject: CheckSubject<'a>,
    checks: Vec<ProviderCheck>,
    account: Option<String>,
    /// How far the provider's clock is from ours, by the first answer.
    skew: OnceLock<Duration>,
}

/// A webhook endpoint as a provider lists it.
pub(crate) struct WebhookEndpoint {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) is_enabled: bool,
    /// `None`: all of them.
    pub(crate) events: Option<Vec<String>>,
}

impl<'a> Checkup<'a> {
    pub(crate) fn new(calls: CallSession<'a>, subject: CheckSubject<'a>) -> Self {
        Self { calls, subject, checks: Vec::new(), account: None, skew: OnceLock::new() }
    }

    pub(crate) fn provider(&self) -> &'a Provider {
        self.subject.provider
    }

    pub(crate) fn subject(&self) -> CheckSubject<'a> {
        self.subject
    }

    pub(crate) fn pass(&mut self, name: &str, message: impl Into<String>) {
        self.checks.push(ProviderCheck::pass(name, message));
    }

    pub(crate) fn fail(&mut self, name: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.checks.push(ProviderCheck::fail(name, message, hint));
    }

    /// The account that the credentials belong to, learned from the provider.
    pub(crate) fn belongs_to(&mut self, account: &str) {
        self.account = Some(account.to_owned());
    }

    /// Asks the provider something, and takes note of its clock.
    pub(crate) async fn ask<T>(
        &mut self,
        call: Result<ApiCall, CallError>,
        interpret: impl Fn(&Answer) -> AttemptResult<T>,
    ) -> Result<T, CallError> {
        let call = call?;
        let (skew, asked_at) = (&self.skew, SystemTime::now());
        let run = self.calls.run(&call, |answer| {
            if let Some(apart) = apart(answer, asked_at, SystemTime::now()) {
                skew.get_or_init(|| apart);
            }
            interpret(answer)
        });
        run.await
    }

    /// Judges the answer to a first question that the provider's API cannot refuse for any other reason than the
    /// credentials. `true`: go on.
    pub(crate) fn connected<T>(&mut self, first: &Result<T, CallError>) -> bool {
        let address = self.provider().address().to_owned();
        // A key that may not ask this is accepted all the same.
        if first.is_ok() || lacking(first).is_some() {
            self.pass("connection", format!("{address} answers."));
            self.pass("credentials", "The provider accepts the credentials.");
            return true;
        }
        let why = match first {
            Ok(_) => return true,
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
                self.pass("connection", format!("{address} answers."));
                let field = self.provider().api_secret_field();
                let message = format!("The provider rejected credentials.{field}.");
                let hint = "Copy the key again from the provider's dashboard: of the right account, of the right \
                            environment (test or live), not revoked, and with the permissions it needs.";
                self.fail("credentials", message, hint);
                return false;
            }
            Err(CallError::Rejected(rejection)) => rejection.failure.message.clone(),
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                format!("{}.", transient.reason)
            }
        };
        let message = format!("{address} does not answer as this provider's API: {why}");
        let hint = "Check baseUrl (remove it to use the provider's own address), name resolution and the firewall for \
                    outgoing connections.";
        self.fail("connection", message, hint);
        false
    }

    /// Whether the provider's side is the one the environment is for.
    pub(crate) fn mode(&mut self, found: Option<Mode>) {
        match (self.subject.mode, found) {
            (Some(wanted), Some(found)) if wanted != found => {
                let (what, hint) = match found {
                    Mode::Live => ("live, in an environment for tests: real money would move", "sandbox"),
                    Mode::Test => ("for tests, in a live environment: no real money would move", "live"),
                };
                let field = self.provider().mode_field();
                let message = format!("The credentials are {what}.");
                self.fail(
                    "mode",
                    message,
                    format!("Use the provider's {hint} credentials, and check {field}."),
                );
            }
            (_, Some(found)) => self.pass("mode", format!("The credentials are for {found} payments.")),
            (_, None) => self.pass("mode", "The provider does not say whether money is real here."),
        }
    }

    /// A question the provider did not answer as it should.
    pub(crate) fn unanswered(&mut self, name: &str, error: &CallError, hint: &str) {
        let why = match error {
            CallError::Rejected(rejection) => rejection.failure.message.clone(),
            CallError::Unsent(transient) | CallError::Unknown(transient) => format!("{}.", transient.reason),
        };
        self.fail(name, format!("The provider did not answer the question. {why}"), hint);
    }

    /// Whether one of the provider's endpoints tells us everything we need, and which one. What depends on a check that
    /// did not pass is left out.
    pub(crate) fn webhooks(&mut self, endpoints: &[WebhookEndpoint], needed: &[&str]) -> Option<String> {
        let url = self.subject.webhook_url;
        let register = format!(
            "Run `tollgate providers test {} --register-webhook`, or create an endpoint for {url} in the provider's \
             dashboard.",
            self.provider().name
        );
        if endpoints.is_empty() {
            self.fail("webhook_endpoint", "The provider has no webhook endpoint at all.", register);
            return None;
        }
        let ours: Vec<_> = endpoints.iter().filter(|endpoint| endpoint.url == url).collect();
        let enabled: Vec<_> = ours.iter().copied().filter(|endpoint| endpoint.is_enabled).collect();
        let Some(first) = enabled.first().or(ours.first()).copied() else {
            self.pass("webhook_endpoint", "The provider has a webhook endpoint.");
            let others: Vec<_> = endpoints.iter().take(3).map(|endpoint| endpoint.url.as_str()).collect();
            let message = format!("No endpoint sends to {url}; the provider sends to {}.", others.join(", "));
            self.fail("webhook_url", message, register);
            return None;
        };
        if enabled.len() > 1 {
            let ids: Vec<_> = enabled.iter().map(|endpoint| endpoint.id.as_str()).collect();
            let message = format!("{} endpoints send to the same URL: {}.", ids.len(), ids.join(", "));
            let hint = "Delete all but the one whose secret is configured: each signs with its own, and what the others \
                        send is rejected.";
            self.fail("webhook_endpoint", message, hint);
            return None;
        }
        self.pass("webhook_endpoint", format!("The provider has the endpoint {}.", first.id));
        self.pass("webhook_url", format!("It sends to {url}."));
        self.endpoint(first, needed);
        Some(first.id.clone())
    }

    fn endpoint(&mut self, endpoint: &WebhookEndpoint, needed: &[&str]) {
        if endpoint.is_enabled {
            self.pass("webhook_enabled", "The endpoint is enabled.");
        } else {
            let message = format!("The endpoint {} is disabled.", endpoint.id);
            let hint =
                "Enable it in the provider's dashboard: until then outcomes are only found by polling.";
            self.fail("webhook_enabled", message, hint);
        }
        let has = |event: &&&str| match &endpoint.events {
            None => true,
            Some(events) => events.iter().any(|known| known == "*" || known == **event),
        };
        let missing: Vec<_> = needed.iter().filter(|event| !has(event)).copied().collect();
        if missing.is_empty() {
            self.pass("webhook_events", "It sends every event type that is needed.");
        } else {
            let message = format!("It does not send {}.", missing.join(", "));
            let hint = "Add these event types to the endpoint in the provider's dashboard, or delete the endpoint \
                        there and run this with --register-webhook.";
            self.fail("webhook_events", message, hint);
        }
    }

    /// Whether there is a secret to check webhooks with; `actual` is the endpoint's, where the provider shows it.
    pub(crate) fn webhook_secret(&mut self, actual: Option<&str>) {
        let field = self.provider().webhook_secret_field();
        let path = format!("providers.{}.credentials.{field}", self.provider().name);
        match (self.provider().credential(field), actual) {
            (None, _) => {
                let hint = format!("Copy it from the provider's dashboard to {path}.");
                self.fail("webhook_secret", "No secret is configured: every webhook is rejected.", hint);
            }
            (Some(configured), Some(actual)) if configured != actual => {
                let hint = format!(
                    "Copy it from the provider's dashboard to {path}, or run this with --register-webhook."
                );
                self.fail("webhook_secret", "The configured secret is not this endpoint's.", hint);
            }
            (Some(_), Some(_)) => self.pass("webhook_secret", "The configured secret is this endpoint's."),
            (Some(_), None) => {
                self.pass(
                    "webhook_secret",
                    "A secret is configured; the provider does not show its own again.",
                );
            }
        }
    }

    pub(crate) fn finish(mut self) -> CheckReport {
        if let Some(skew) = self.skew.get().copied() {
            let message = format!("The provider's clock and ours are {} s apart.", skew.as_secs());
            if skew > MAX_SKEW {
                let hint = "Run a time service (chrony, systemd-timesyncd) on this machine: beyond five minutes every \
                            webhook is rejected.";
                self.fail("clock", message, hint);
            } else {
                self.pass("clock", message);
            }
        }
        let logs = self.calls.finish::<(), CallError>(Ok(())).logs;
        CheckReport { checks: self.checks, logs, account: self.account }
    }
}

/// How far the answer's `Date`, which has whole seconds, is outside the time of the exchange.
fn apart(answer: &Answer, asked_at: SystemTime, answered_at: SystemTime) -> Option<Duration> {
    let date = jiff::fmt::rfc2822::parse(answer.header("date")?).ok()?;
    let date = SystemTime::from(date.timestamp());
    let early = asked_at.duration_since(date).unwrap_or_default().saturating_sub(Duration::from_secs(1));
    Some(early.max(date.duration_since(answered_at).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_within_the_exchange_is_right() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for (date, expected) in [
            ("Thu, 01 Jan 1970 00:01:40 GMT", Some(0)),
            ("Thu, 01 Jan 1970 00:01:39 GMT", Some(0)),
            ("Thu, 01 Jan 1970 00:01:42 GMT", Some(0)),
            ("Thu, 01 Jan 1970 00:00:40 GMT", Some(59)),
            ("Thu, 01 Jan 1970 00:11:42 GMT", Some(600)),
            ("yesterday", None),
        ] {
            let mut headers = http::HeaderMap::new();
            headers.insert("date", date.parse().unwrap());
            let answer = Answer { status: http::StatusCode::OK, headers, body: bytes::Bytes::new() };
            let found = apart(&answer, at(100), at(102)).map(|skew| skew.as_secs());
            assert_eq!(found, expected, "{date}");
        }
    }
}
