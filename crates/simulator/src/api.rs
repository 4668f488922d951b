//! One provider's API: what it is made of, and what it tells the call handler about itself.

use crate::archive::{Line, Lines, Part, Row};
use crate::idempotency::Keys;
use crate::prelude::*;
use crate::query::Query;
use crate::webhooks::WebhookEvent;
use http::HeaderMap;
use http::request::Parts;
use std::fmt::Debug;
use std::io;
use std::sync::MutexGuard;
use subtle::ConstantTimeEq as _;

/// What a provider does differently from the others.
pub(crate) trait Provider: Debug + Sized + 'static {
    const WIRE: Wire;
    /// How long an idempotency key is remembered; `None` for ever.
    const KEY_KEPT_SECONDS: Option<i64> = None;
    type State: ApiState;
    type Call: Send + 'static;
    type Error: ApiError;

    fn read(api: &Api<Self>, request: &ApiRequest) -> Result<ReadCall<Self::Call>, Self::Error>;
    /// The last touch to an endpoint's answer.
    fn finish(_state: &Self::State, _call: &Self::Call, _answer: &mut Value) {}
    /// The status of an answer that is no refusal.
    fn success_status(_operation: &str) -> StatusCode {
        StatusCode::OK
    }
    /// Whether an answer that was kept for a key is repeated; otherwise the key counts as used.
    fn replays(_operation: &str, _status: StatusCode) -> bool {
        true
    }
    /// Adds the headers of every answer. `replay_of` is the request whose answer is repeated.
    fn add_headers(request: &ApiRequest, replay_of: Option<&str>, headers: &mut HeaderMap);

    fn server_error(status: StatusCode) -> Self::Error;
    fn simulated_refusal(operation: &str, code: Option<&str>) -> Self::Error;
    fn rate_limited() -> Self::Error;
    /// `first` is what was answered to the key's own call, where that is known already.
    fn key_reused(key: &str, _first: Option<&str>) -> Self::Error {
        Self::key_in_use(key)
    }
    fn key_in_use(key: &str) -> Self::Error;
}

pub(crate) trait ApiState: Debug + Default + Send + 'static {
    /// Takes over what the configuration says, once every part has its bound.
    fn configure(&mut self, _config: &Config) {}
    /// The events since the last time, for sending.
    fn take_webhook_events(&mut self) -> Vec<WebhookEvent>;
    /// What outlives the process, where that is asked for, each part with a name.
    fn parts(&mut self) -> Vec<(&'static str, &mut dyn Part)>;
    /// Takes up what was to happen by itself when an earlier process ended.
    fn resume(&mut self, _services: &Services) {}
}

fn new_state<S: ApiState>(config: &Config) -> S {
    let mut state = S::default();
    state.parts().into_iter().for_each(|(_, part)| part.bound(config.objects_max));
    state.configure(config);
    state
}

/// What the control interface does: an action on an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Driven<'a> {
    pub(crate) kind: &'a str,
    pub(crate) id: &'a str,
    pub(crate) action: &'a str,
}

/// The part that every provider has beside those of its state.
const KEYS: &str = "idempotency_keys";

pub(crate) trait ApiError: Send {
    fn refusal(&self) -> Refusal;
    /// Whether the answer says of itself, in a header, that nothing was done and the same key may be sent again.
    fn is_transient(&self) -> bool {
        false
    }
}

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    /// Whether the call had begun to be carried out, so that its idempotency key keeps this answer.
    pub(crate) begun: bool,
}

#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) operation: &'static str,
    pub(crate) id: String,
    pub(crate) request_id: String,
    pub(crate) parts: Parts,
    pub(crate) body: Bytes,
}

impl ApiRequest {
    /// A header's text; an empty one counts as absent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok().filter(|value| !value.is_empty())
    }

    pub(crate) fn has_bearer_token(&self, token: &str) -> bool {
        let given =
            self.header(header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
        given.is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
    }

    pub(crate) fn query(&self) -> Query {
        Query::parse(self.parts.uri.query().unwrap_or_default())
    }

    /// The fields of a JSON body. `None`: the body is something else.
    pub(crate) fn json_fields(&self) -> Option<Map<String, Value>> {
        if self.body.is_empty() || [Method::GET, Method::DELETE].contains(&self.parts.method) {
            return Some(Map::new());
        }
        serde_json::from_slice(&self.body).ok()
    }
}

#[derive(Debug)]
pub(crate) struct ReadCall<C> {
    pub(crate) call: C,
    pub(crate) key: Option<String>,
    /// The same for two requests exactly when the provider takes them for the same.
    pub(crate) fingerprint: String,
}

/// A handle on one provider's API. Clones share everything.
#[derive(Debug)]
pub(crate) struct Api<P: Provider>(Arc<Inner<P>>);

#[derive(Debug)]
struct Inner<P: Provider> {
    services: Arc<Services>,
    state: Mutex<P::State>,
    keys: Arc<Keys>,
}

impl<P: Provider> Clone for Api<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Provider> Api<P> {
    pub(crate) fn new(services: &Arc<Services>) -> Self {
        let objects_max = services.config.objects_max;
        Self(Arc::new(Inner {
            services: Arc::clone(services),
            state: Mutex::new(new_state(&services.config)),
            keys: Arc::new(Keys::new(objects_max.saturating_mul(2), P::KEY_KEPT_SECONDS)),
        }))
    }

    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.0.services
    }

    pub(crate) fn keys(&self) -> &Arc<Keys> {
        &self.0.keys
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, P::State> {
        lock(&self.0.state)
    }

    pub(crate) fn reset(&self) {
        let mut state = self.state();
        *state = new_state(&self.services().config);
        self.keys().clear();
        if self.services().archive.is_some() {
            state.parts().into_iter().for_each(|(_, part)| part.keep_changes());
        }
    }

    /// Makes a change, and hands out the webhooks it causes. Where there is a file, the change is in it before it can be answered.
    pub(crate) fn change<T>(&self, make: impl FnOnce(&mut P::State) -> T) -> (T, Vec<WebhookEvent>) {
        let services = self.services();
        let mut state = self.state();
        let made = make(&mut state);
        let webhook_events = state.take_webhook_events();
        if let Some(archive) = &services.archive {
            let mut line = Line::default();
            let owner = P::WIRE.name();
            for (name, part) in state.parts() {
                part.write_changes(&mut line.rows(owner, name));
            }
            (&**self.keys()).write_changes(&mut line.rows(owner, KEYS));
            services.write_unsent(P::WIRE, &webhook_events, &mut line);
            archive.append(line);
        }
        (made, webhook_events)
    }

    /// Takes a row of the file, at the start; `name` is that of the part.
    pub(crate) fn restore(&self, name: &str, row: &Row) -> serde_json::Result<()> {
        if name == KEYS {
            return (&**self.keys()).restore(row);
        }
        let mut state = self.state();
        let part = state.parts().into_iter().find(|(known, _)| *known == name);
        part.map_or(Ok(()), |(_, part)| part.restore(row))
    }

    /// Once everything is restored: from now on changes are written, and what was to happen by itself goes on.
    pub(crate) fn resume(&self) {
        let mut state = self.state();
        state.parts().into_iter().for_each(|(_, part)| part.keep_changes());
        (&**self.keys()).keep_changes();
        state.resume(self.services());
    }

    /// Writes everything there is, of a state that is locked.
    pub(crate) fn write_all(&self, state: &mut P::State, lines: &mut Lines) -> io::Result<()> {
        let owner = P::WIRE.name();
        for (name, part) in state.parts() {
            lines.write(owner, name, part)?;
        }
        lines.write(owner, KEYS, &&**self.keys())
    }

    /// Makes a change that no API call asks for, and sends its webhooks.
    pub(crate) async fn change_and_announce<T>(&self, make: impl FnOnce(&mut P::State) -> T) -> T {
        let (made, webhook_events) = self.change(make);
        self.services().announce(P::WIRE, webhook_events, None).await;
        made
    }

    /// Makes a change that a customer asks for on a page, and sends its webhooks.
    pub(crate) async fn change_by_page(
        &self,
        operation: &str,
        make: impl FnOnce(&mut P::State) -> Response,
    ) -> Response {
        let services = self.services();
        services.count_call(P::WIRE, operation);
        let faults = services.faults.take(P::WIRE, operation);
        let (response, webhook_events) = self.change(make);
        services.announce(P::WIRE, webhook_events, faults.webhooks.as_ref()).await;
        response
    }
}
