//! How one call is carried out: its faults, its idempotency key, its webhooks, its answer.

use crate::api::{ApiError, ApiRequest, ReadCall, Refusal};
use crate::faults::{DueFaults, Kind};
use crate::idempotency::{Claim, Saved};
use crate::prelude::*;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::routing::{MethodFilter, get, on};
use futures_util::{StreamExt as _, stream};
use http::HeaderValue;

pub(crate) type Perform<P> =
    fn(&mut <P as Provider>::State, &<P as Provider>::Call) -> Result<Value, <P as Provider>::Error>;

/// An endpoint: its method, path and operation, and what it does.
pub(crate) type Route<P> = (MethodFilter, &'static str, &'static str, Perform<P>);

pub(crate) const GET: MethodFilter = MethodFilter::GET;
pub(crate) const POST: MethodFilter = MethodFilter::POST;
pub(crate) const PUT: MethodFilter = MethodFilter::PUT;
pub(crate) const PATCH: MethodFilter = MethodFilter::PATCH;
pub(crate) const DELETE: MethodFilter = MethodFilter::DELETE;

pub(crate) fn router<P: Provider>(routes: &[Route<P>]) -> Router<Api<P>> {
    routes.iter().fold(Router::new(), |router, &(method, path, operation, perform)| {
        // Where an object stands under another, the path names both, its own id last.
        let endpoint =
            move |State(api): State<Api<P>>, Path(mut ids): Path<Vec<String>>, request: Request| {
                handle(api, operation, ids.pop().unwrap_or_default(), request, perform)
            };
        router.route(path, on(method, endpoint))
    })
}

type Show<P> = fn(&mut <P as Provider>::State, &Arc<Services>, &str) -> Response;
type Submit<P> = fn(&mut <P as Provider>::State, &Arc<Services>, &str, &[u8]) -> Response;

/// A customer's page about an object, and what becomes of its form.
pub(crate) fn form_page<P: Provider>(
    path: &str,
    operation: &'static str,
    show: Show<P>,
    submit: Submit<P>,
) -> Router<Api<P>> {
    let shown = move |State(api): State<Api<P>>, Path(id): Path<String>| async move {
        show(&mut api.state(), api.services(), &id)
    };
    let submitted = move |State(api): State<Api<P>>, Path(id): Path<String>, request: Request| async move {
        let form = read_body(request.into_body()).await;
        api.change_by_page(operation, |state| submit(state, api.services(), &id, &form)).await
    };
    Router::new().route(path, get(shown).post(submitted))
}

/// Reads a call, has it carried out, and answers it.
async fn handle<P: Provider>(
    api: Api<P>,
    operation: &'static str,
    id: String,
    request: Request,
    perform: Perform<P>,
) -> Response {
    let skew = api.services().skew_seconds();
    let request = read_request(&api, operation, id, request).await;
    let (mut response, replay_of) = match P::read(&api, &request) {
        Ok(read) => {
            let asked = Asked { operation, request_id: request.request_id.clone(), read, perform };
            let mut answer = handle_call(api, asked).await;
            let replay_of = answer.replay_of.take();
            (answer.into_response(), replay_of)
        }
        Err(error) => (refuse(&error), None),
    };
    P::add_headers(&request, replay_of.as_deref(), response.headers_mut());
    if skew != 0
        && let Ok(date) = HeaderValue::from_str(&calendar::http_date(skew))
    {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

pub(crate) async fn read_request<P: Provider>(
    api: &Api<P>,
    operation: &'static str,
    id: String,
    request: Request,
) -> ApiRequest {
    let (parts, body) = request.into_parts();
    let request_id = api.services().ids.with_prefix("req_");
    ApiRequest { operation, id, request_id, parts, body: read_body(body).await }
}

struct Asked<P: Provider> {
    operation: &'static str,
    request_id: String,
    read: ReadCall<P::Call>,
    perform: Perform<P>,
}

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    body: Arc<str>,
    /// The request this is the repeated answer of.
    replay_of: Option<String>,
    retry_after: Option<Duration>,
    is_transient: bool,
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

    fn refused(error: &impl ApiError) -> Self {
        let Refusal { status, body, .. } = error.refusal();
        Self { is_transient: error.is_transient(), ..Self::whole(status, &body) }
    }

    fn of(status: StatusCode, body: Arc<str>, replay_of: Option<String>) -> Self {
        Self { status, body, replay_of, retry_after: None, is_transient: false, ending: Ending::Whole }
    }

    fn cut() -> Self {
        let answer = Self::of(StatusCode::INTERNAL_SERVER_ERROR, Arc::from(""), None);
        Self { ending: Ending::Cut, ..answer }
    }

    fn into_response(self) -> Response {
        let whole = Bytes::copy_from_slice(self.body.as_bytes());
        let length = HeaderValue::from(whole.len());
        let body = match self.ending {
            Ending::Whole => Body::from(whole),
            Ending::Torn => {
                let half = whole.slice(..whole.len() / 2);
                let rest = stream::once(async {
                    // The first half has to be sent before the connection goes.
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
        if self.is_transient {
            response.headers_mut().insert("transient-error", HeaderValue::from_static("true"));
        }
        if let Some(pause) = self.retry_after {
            let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Carries out a call, with whatever faults were asked for it.
async fn handle_call<P: Provider>(api: Api<P>, asked: Asked<P>) -> Answer {
    api.services().count_call(P::WIRE, asked.operation);
    let faults = api.services().faults.take(P::WIRE, asked.operation);
    if faults.exchange.is_none() && faults.webhooks.is_none() {
        return carry_out(api, asked, faults).await;
    }
    // A caller who hangs up during a fault must not stop what the provider would have done all the same.
    let task = tokio::spawn(carry_out(api, asked, faults));
    task.await.unwrap_or_else(|_| Answer::cut())
}

async fn carry_out<P: Provider>(api: Api<P>, asked: Asked<P>, faults: DueFaults) -> Answer {
    let Asked { operation, request_id, read: ReadCall { call, key, fingerprint }, perform } = asked;
    let (services, keys) = (api.services(), api.keys());
    if let Some(fault) = &faults.exchange
        && let Some(answer) = strike_before::<P>(services, fault, operation).await
    {
        return answer;
    }
    let now = services.unix_seconds();
    let claim = key.as_ref().map(|key| (key, keys.claim(key, &fingerprint, now)));
    let (answer, webhook_events) = match claim {
        Some((key, Claim::Answered(saved))) if !P::replays(operation, saved.status) => {
            (Answer::refused(&P::key_reused(key, Some(&saved.body))), Vec::new())
        }
        Some((_, Claim::Answered(saved))) => {
            let Saved { status, body, request_id } = saved;
            (Answer::of(status, body, Some(request_id)), Vec::new())
        }
        Some((key, Claim::Reused(first))) => {
            (Answer::refused(&P::key_reused(key, first.as_deref())), Vec::new())
        }
        Some((key, Claim::Busy)) => (Answer::refused(&P::key_in_use(key)), Vec::new()),
        Some((_, Claim::Fresh)) | None => {
            if let Some(fault) = faults.exchange.as_ref().filter(|fault| fault.kind == Kind::Slow) {
                services.pause(fault.delay()).await;
            }
            let kept_error = faults.exchange.as_ref().filter(|fault| fault.kind.is_kept_error());
            // What is done and what the key answers from now on are one change.
            api.change(|state| {
                let mut carry_out = || match perform(state, &call) {
                    Ok(mut value) => {
                        P::finish(state, &call, &mut value);
                        (Answer::whole(P::success_status(operation), &value), true)
                    }
                    Err(error) => (Answer::refused(&error), error.refusal().begun),
                };
                let (answer, keep) = match kept_error {
                    Some(fault) => {
                        if fault.kind != Kind::ErrorKept {
                            carry_out();
                        }
                        (server_error::<P>(fault), true)
                    }
                    None => carry_out(),
                };
                match &key {
                    Some(key) if keep => {
                        let (status, body) = (answer.status, Arc::clone(&answer.body));
                        keys.settle(key, &fingerprint, Saved { status, body, request_id }, now);
                    }
                    Some(key) => keys.release(key),
                    None => {}
                }
                answer
            })
        }
    };
    services.announce(P::WIRE, webhook_events, faults.webhooks.as_ref()).await;
    match &faults.exchange {
        Some(fault) => strike_after::<P>(services, fault, answer).await,
        None => answer,
    }
}

/// `None`: the fault lies later, and the call goes ahead.
async fn strike_before<P: Provider>(services: &Services, fault: &Fault, operation: &str) -> Option<Answer> {
    match fault.kind {
        Kind::TimeoutBefore => {
            services.pause(fault.delay()).await;
            Some(Answer::cut())
        }
        Kind::Reset => Some(Answer::cut()),
        Kind::ErrorBefore => Some(server_error::<P>(fault)),
        Kind::Refuse => Some(Answer::refused(&P::simulated_refusal(operation, fault.code.as_deref()))),
        Kind::RateLimited => {
            let answer = Answer::refused(&P::rate_limited());
            Some(Answer { retry_after: Some(fault.delay()), ..answer })
        }
        _ => None,
    }
}

async fn strike_after<P: Provider>(services: &Services, fault: &Fault, answer: Answer) -> Answer {
    match fault.kind {
        Kind::TimeoutAfter => {
            services.pause(fault.delay()).await;
            Answer::cut()
        }
        // The key keeps the true answer: the error stands for one in front of the provider, and a retry learns it.
        Kind::ErrorAfter => server_error::<P>(fault),
        Kind::Malformed => Answer { body: Arc::from("<html><body>It worked!</body"), ..answer },
        Kind::Torn => Answer { ending: Ending::Torn, ..answer },
        Kind::UnknownStatus => {
            let body = serde_json::from_str(&answer.body).map(unheard_of).unwrap_or_default();
            Answer { body: body.to_string().into(), ..answer }
        }
        _ => answer,
    }
}

fn server_error<P: Provider>(fault: &Fault) -> Answer {
    let asked = fault.status.and_then(|status| StatusCode::from_u16(status).ok());
    Answer::refused(&P::server_error(asked.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)))
}

/// Replaces the object's status, whether it stands at the top, inside a `payment`, `refund` and the like, or in each row
/// of a list.
fn unheard_of(mut body: Value) -> Value {
    let strange = Value::from("a_status_from_the_future");
    if let Some(rows) = body.as_array_mut() {
        for status in rows.iter_mut().filter_map(|row| row.get_mut("status")) {
            *status = strange.clone();
        }
    } else if let Some(fields) = body.as_object_mut() {
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

/// The answer to a call that is refused before it is carried out.
pub(crate) fn refuse(error: &impl ApiError) -> Response {
    Answer::refused(error).into_response()
}

pub(crate) fn json_response(status: StatusCode, body: &Value) -> Response {
    Answer::whole(status, body).into_response()
}

/// The whole of a request's body, or nothing where it is larger than any provider takes.
pub(crate) async fn read_body(body: Body) -> Bytes {
    axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default()
}
