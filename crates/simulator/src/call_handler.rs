//! How one call is carried out: its faults, its idempotency key, its webhooks, its answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

use crate::config::Wire;
use crate::faults::{DueFaults, Fault, Kind};
use crate::idempotency::{Claim, Saved};
use crate::simulator::Simulator;
use crate::webhooks::WebhookEvent;

/// What one wire says where the others say it differently.
pub(crate) trait ProviderApi: 'static {
    const WIRE: Wire;
    fn server_error(status: StatusCode) -> Value;
    fn refusal(operation: &str, code: Option<&str>) -> (StatusCode, Value);
    fn rate_limited() -> Value;
    /// `first` is what was answered to the key's own call, where that is known already.
    fn key_reused(key: &str, first: Option<&str>) -> (StatusCode, Value);
    fn key_in_use(key: &str) -> (StatusCode, Value);
}

/// A call that has been read and may be carried out.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) operation: &'static str,
    pub(crate) key: Option<String>,
    /// The same for two requests exactly when the provider takes them for the same.
    pub(crate) fingerprint: String,
    pub(crate) request_id: String,
}

/// What carrying out a call gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    /// Whether the answer is the key's from now on. A refusal before anything began leaves the key free.
    pub(crate) keep: bool,
    pub(crate) webhook_events: Vec<WebhookEvent>,
}

/// What the caller gets to see.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Arc<str>,
    /// The request this is the repeated answer of.
    pub(crate) replay_of: Option<String>,
    /// How long the caller is asked to wait.
    retry_after: Option<Duration>,
    ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Whole,
    /// The connection closes in the middle of the body.
    Torn,
    /// The connection closes before the first byte.
    Cut,
}

impl Answer {
    fn whole(status: StatusCode, body: &Value) -> Self {
        Self::of(status, body.to_string().into(), None)
    }

    fn of(status: StatusCode, body: Arc<str>, replay_of: Option<String>) -> Self {
        Self { status, body, replay_of, retry_after: None, ending: Ending::Whole }
    }

    fn cut() -> Self {
        let answer = Self::of(StatusCode::INTERNAL_SERVER_ERROR, Arc::from(""), None);
        Self { ending: Ending::Cut, ..answer }
    }

    pub(crate) fn into_response(self) -> Response {
        let whole = Bytes::copy_from_slice(self.body.as_bytes());
        let length = HeaderValue::from(whole.len());
        let body = match self.ending {
            Ending::Whole => Body::from(whole),
            Ending::Torn => {
                let half = whole.slice(..whole.len() / 2);
                let rest = stream::once(async {
                    // The first half has to be on the wire before the connection goes.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    Err(std::io::Error::other("torn on request"))
                });
                Body::from_stream(stream::once(async { Ok(half) }).chain(rest))
            }
            Ending::Cut => Body::from_stream(stream::once(async {
                Err::<Bytes, _>(std::io::Error::other("cut on request"))
            })),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.ending == Ending::Torn {
            response.headers_mut().insert(header::CONTENT_LENGTH, length);
        }
        if let Some(pause) = self.retry_after {
            let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Carries out a call, with whatever faults were asked for it.
pub(crate) async fn handle_call<M, F>(simulator: Simulator, ask: Ask, perform: F) -> Answer
where
    M: ProviderApi,
    F: FnOnce(&Simulator) -> Outcome + Send + 'static,
{
    simulator.start();
    simulator.count_call(M::WIRE, ask.operation);
    let strike = simulator.faults().take(M::WIRE, ask.operation);
    if strike.exchange.is_none() && strike.webhooks.is_none() {
        return carry_out::<M, F>(simulator, ask, strike, perform).await;
    }
    // A caller who hangs up during a fault must not stop what the provider would have done all the same.
    let task = tokio::spawn(carry_out::<M, F>(simulator, ask, strike, perform));
    task.await.unwrap_or_else(|_| Answer::cut())
}

async fn carry_out<M, F>(simulator: Simulator, ask: Ask, strike: DueFaults, perform: F) -> Answer
where
    M: ProviderApi,
    F: FnOnce(&Simulator) -> Outcome + Send + 'static,
{
    if let Some(fault) = &strike.exchange
        && let Some(answer) = strike_before::<M>(&simulator, fault, ask.operation).await
    {
        return answer;
    }
    let keys = simulator.keys(M::WIRE);
    let claim = ask.key.as_ref().map(|key| (key, keys.claim(key, &ask.fingerprint)));
    let (answer, webhook_events) = match claim {
        Some((_, Claim::Answered(saved))) => {
            let Saved { status, body, request_id } = saved;
            (Answer::of(status, body, Some(request_id)), Vec::new())
        }
        Some((key, Claim::Reused(first))) => {
            let (status, body) = M::key_reused(key, first.as_deref());
            (Answer::whole(status, &body), Vec::new())
        }
        Some((key, Claim::Busy)) => {
            let (status, body) = M::key_in_use(key);
            (Answer::whole(status, &body), Vec::new())
        }
        Some((_, Claim::Fresh)) | None => {
            if let Some(fault) = strike.exchange.as_ref().filter(|fault| fault.kind == Kind::Slow) {
                simulator.pause(fault.delay()).await;
            }
            let outcome = perform(&simulator);
            let answer = Answer::whole(outcome.status, &outcome.body);
            if let Some(key) = &ask.key {
                if outcome.keep {
                    let (status, body) = (answer.status, Arc::clone(&answer.body));
                    let saved = Saved { status, body, request_id: ask.request_id.clone() };
                    keys.settle(key, &ask.fingerprint, saved);
                } else {
                    keys.release(key);
                }
            }
            (answer, outcome.webhook_events)
        }
    };
    simulator.announce(M::WIRE, webhook_events, strike.webhooks.as_ref()).await;
    match &strike.exchange {
        Some(fault) => strike_after::<M>(&simulator, fault, answer).await,
        None => answer,
    }
}

/// `None`: the fault lies later, and the call goes ahead.
async fn strike_before<M: ProviderApi>(
    simulator: &Simulator,
    fault: &Fault,
    operation: &str,
) -> Option<Answer> {
    match fault.kind {
        Kind::TimeoutBefore => {
            simulator.pause(fault.delay()).await;
            Some(Answer::cut())
        }
        Kind::Reset => Some(Answer::cut()),
        Kind::ErrorBefore => Some(server_error::<M>(fault)),
        Kind::Refuse => {
            let (status, body) = M::refusal(operation, fault.code.as_deref());
            Some(Answer::whole(status, &body))
        }
        Kind::RateLimited => {
            let answer = Answer::whole(StatusCode::TOO_MANY_REQUESTS, &M::rate_limited());
            Some(Answer { retry_after: Some(fault.delay()), ..answer })
        }
        _ => None,
    }
}

async fn strike_after<M: ProviderApi>(simulator: &Simulator, fault: &Fault, answer: Answer) -> Answer {
    match fault.kind {
        Kind::TimeoutAfter => {
            simulator.pause(fault.delay()).await;
            Answer::cut()
        }
        // The key keeps the true answer: the error stands for one in front of the provider, and a retry learns it.
        Kind::ErrorAfter => server_error::<M>(fault),
        Kind::Malformed => Answer { body: Arc::from("<html><body>It worked!</body"), ..answer },
        Kind::Torn => Answer { ending: Ending::Torn, ..answer },
        Kind::UnknownStatus => {
            let body = serde_json::from_str(&answer.body).map(unheard_of).unwrap_or_default();
            Answer { body: body.to_string().into(), ..answer }
        }
        _ => answer,
    }
}

fn server_error<M: ProviderApi>(fault: &Fault) -> Answer {
    let asked = fault.status.and_then(|status| StatusCode::from_u16(status).ok());
    let status = asked.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Answer::whole(status, &M::server_error(status))
}

/// Replaces the object's status, whether it stands at the top, inside a `payment`, `refund` and the like, or in each row
/// of a list.
fn unheard_of(mut body: Value) -> Value {
    let strange = Value::from("a_status_from_the_future");
    if let Some(fields) = body.as_object_mut() {
        if let Some(status) = fields.get_mut("status") {
            *status = strange;
        } else if let Some(status) = fields.values_mut().find_map(|inner| inner.get_mut("status")) {
            *status = strange;
        } else if let Some(rows) = fields.values_mut().find_map(Value::as_array_mut) {
            for status in rows.iter_mut().filter_map(|row| row.get_mut("status")) {
                *status = strange.clone();
            }
        }
    }
    body
}

/// The whole of a request's body, or nothing where it is larger than any provider takes.
pub(crate) async fn read_body(body: Body) -> Bytes {
    axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default()
}
