//! What every page begins with: somebody signed in, and the environment they look at.

use std::{collections::HashMap, fmt::Display, net::IpAddr, sync::Arc};

use axum::{
    extract::{FromRequestParts, OriginalUri, Path},
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, request::Parts};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tollgate_domain::{
    id::{EnvironmentId, RequestId},
    people::{Denied, Identity, Permission, Place},
    statement::Month,
};
use tollgate_engine::{Audited, BodyMeter, EnvironmentView, Origin, list_query, ports::AuditLogFilter};

use crate::{
    layout::{format::shortened, frame::Frame, page::PageError},
    request::session::{Session, Sessions, SignedInWith, cookies_of},
    state::SharedConsole,
};

/// The header of what a page asks for by itself.
pub(crate) const REFRESH: &str = "tollgate-refresh";
/// How many of the newest audit log entries are searched for an action's own.
const AUDIT_ENTRIES_SEARCHED: u32 = 50;

/// Somebody signed in.
pub(crate) struct SignedIn {
    pub(crate) console: SharedConsole,
    pub(crate) session: Session,
    pub(crate) identity: Identity,
    /// What the page asks for.
    pub(super) permission: Permission,
    request: String,
    address: Option<IpAddr>,
    /// Whether the page asks by itself, so that its list stays current.
    is_refresh: bool,
    /// The environment of this address, or else the one viewed last.
    recent: Option<EnvironmentId>,
    params: HashMap<String, String>,
    query: Vec<(String, String)>,
}

/// Somebody who is not let in, and what they see instead.
pub(crate) enum Anonymous {
    SignIn(String),
    /// Whether the session was ended could not be found out, or the role does not include the page.
    Refused(PageError),
}

impl IntoResponse for Anonymous {
    fn into_response(self) -> Response {
        match self {
            Self::SignIn(to) => Redirect::to(&to).into_response(),
            Self::Refused(error) => error.into_response(),
        }
    }
}

/// The session of a request, if its time is not over.
pub(crate) fn session_of(headers: &HeaderMap, console: &SharedConsole) -> Option<Session> {
    console.sessions.read(cookies_of(headers), console.engine.clock().now())
}

/// Who signed in, unless what they did it with is no longer valid.
fn identity_of(session: &Session, console: &SharedConsole) -> Option<Identity> {
    let with_token = |identity: Identity| console.tokens.open_for(&identity).then_some(identity);
    match &session.with {
        SignedInWith::AdminToken { .. } => with_token(Identity::Bootstrap),
        SignedInWith::PersonalToken(token) => console.engine.identify_token(*token).and_then(with_token),
        // Only the issuer that is trusted now vouches for anybody.
        SignedInWith::SingleSignOn { user, issuer } => {
            let trusted = console.single_sign_on.as_ref().filter(|it| it.issuer.name() == issuer);
            trusted.and_then(|_| console.engine.identify_user(*user))
        }
    }
}

/// The environment that an address of the console belongs to.
pub(crate) fn environment_in(path: &str) -> Option<EnvironmentId> {
    path.strip_prefix("/console/")?.split('/').next()?.parse().ok()
}

impl FromRequestParts<SharedConsole> for SignedIn {
    type Rejection = Anonymous;

    async fn from_request_parts(parts: &mut Parts, console: &SharedConsole) -> Result<Self, Anonymous> {
        let mut session = session_of(&parts.headers, console);
        if let Some(known) = &session {
            let ended = console.engine.is_session_ended(&known.id).await;
            if ended.map_err(|error| Anonymous::Refused(error.into()))? {
                session = None;
            }
        }
        let known = session.and_then(|session| Some((identity_of(&session, console)?, session)));
        let Some((identity, session)) = known else {
            let OriginalUri(uri) =
                OriginalUri::from_request_parts(parts, console).await.unwrap_or_else(|never| match never {});
            let wanted = uri.path_and_query().map_or("/console", http::uri::PathAndQuery::as_str);
            let next: String = form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
            return Err(Anonymous::SignIn(format!("/console/sign-in?next={next}")));
        };
        // The router puts there what its table says of the page.
        let permission = parts.extensions.get::<Permission>().copied();
        let permission = permission
            .ok_or_else(|| Anonymous::Refused(PageError::Broken("page without permission".to_owned())))?;
        let request =
            parts.extensions.get::<RequestId>().map_or_else(|| "console".to_owned(), ToString::to_string);
        let address = parts.extensions.get::<IpAddr>().copied();
        if identity.check(permission, Place::Service).is_err() {
            let origin = Origin::of(Some(&identity), None, request, address);
            let refused =
                Audited::new("access.refuse", parts.uri.path()).after(json!({ "code": "forbidden" }));
            let recorded = console.engine.record_repeatable(&origin, refused).await;
            recorded.map_err(|error| Anonymous::Refused(error.into()))?;
            return Err(Anonymous::Refused(PageError::Forbidden));
        }
        if let Some(meter) = parts.extensions.get::<Arc<BodyMeter>>() {
            meter.recognize();
        }
        let params = Path::<HashMap<String, String>>::from_request_parts(parts, console).await;
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            console: console.clone(),
            session,
            identity,
            permission,
            request,
            address,
            is_refresh: parts.headers.contains_key(REFRESH),
            recent: environment_in(parts.uri.path()).or_else(|| Sessions::last_environment(&parts.headers)),
            params: params.map(|Path(params)| params).unwrap_or_default(),
            query: query.into_owned().collect(),
        })
    }
}

impl SignedIn {
    /// A part of the path; what is not in the right form does not exist.
    pub(crate) fn path<T: std::str::FromStr>(&self, name: &str) -> Result<T, PageError> {
        self.params.get(name).and_then(|value| value.parse().ok()).ok_or(PageError::Missing)
    }

    /// A field of the query, if it says anything.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The month asked for, by default the one that is not over.
    pub(crate) fn month(&self) -> Result<Month, PageError> {
        let Some(text) = self.query("month") else {
            return Ok(Month::of(self.console.engine.clock().now()));
        };
        Month::parse(text).ok_or_else(|| PageError::Refused("Enter a month such as 2026-11.".to_owned()))
    }

    /// A field of the query, as text.
    pub(crate) fn query_text(&self, name: &str) -> String {
        self.query(name).unwrap_or_default().to_owned()
    }

    /// The query without a field, to be put into a link.
    pub(crate) fn query_without(&self, name: &str) -> String {
        let mut text = form_urlencoded::Serializer::new(String::new());
        for (field, value) in self.query.iter().filter(|(field, value)| field != name && !value.is_empty()) {
            text.append_pair(field, value);
        }
        text.finish()
    }

    /// A link to the same page with another value of a field, from the beginning of its list.
    pub(crate) fn link_with(&self, name: &str, value: &str) -> String {
        const OF_ONE_ANSWER: [&str; 4] = ["before", "said", "proof", "entry"];
        let mut text = form_urlencoded::Serializer::for_suffix(String::from("?"), 1);
        let kept = |field: &str| field != name && !OF_ONE_ANSWER.contains(&field);
        for (field, value) in self.query.iter().filter(|(field, value)| kept(field) && !value.is_empty()) {
            text.append_pair(field, value);
        }
        if !value.is_empty() {
            text.append_pair(name, value);
        }
        text.finish()
    }

    /// The path's environment.
    pub(crate) fn environment(&self) -> Result<EnvironmentId, PageError> {
        let id = self.path("environment")?;
        self.view(id).map(|_| id)
    }

    /// The environment with the current configuration.
    pub(crate) fn view(&self, id: EnvironmentId) -> Result<Arc<EnvironmentView>, PageError> {
        let snapshot = self.console.engine.directory().snapshot();
        let view = snapshot.environment(id).cloned().ok_or(PageError::Missing)?;
        self.require(self.permission, Place::Organization(view.environment.organization))?;
        Ok(view)
    }

    /// Whether this may be done there; what belongs to others does not exist.
    pub(crate) fn require(&self, permission: Permission, place: Place) -> Result<(), PageError> {
        self.identity.check(permission, place).map_err(|why| match why {
            Denied::Hidden => PageError::Missing,
            Denied::Role | Denied::Limited => PageError::Forbidden,
        })
    }

    /// For the history: who, and in which request.
    pub(crate) fn origin(&self) -> Origin {
        let given = self.given_name();
        Origin::of(Some(&self.identity), Some(given), self.request.clone(), self.address)
    }

    /// Puts into the audit log that customers' data were listed or searched, before they are shown.
    pub(crate) async fn record_list(
        &self,
        action: &'static str,
        environment: EnvironmentId,
    ) -> Result<(), PageError> {
        let listed = Audited::new(action, environment).in_environment(environment);
        let listed = listed.after(list_query(&self.query));
        let engine = &self.console.engine;
        // A list that renews itself is an entry a minute; the others are counted.
        if self.is_refresh {
            return Ok(engine.record_view(&self.origin(), listed).await?);
        }
        Ok(engine.record_repeatable(&self.origin(), listed).await?)
    }

    /// Puts into the audit log that one of them was viewed, once it is found and before it is shown.
    pub(crate) async fn record_view(
        &self,
        action: &'static str,
        environment: EnvironmentId,
        subject: impl Display + Send,
    ) -> Result<(), PageError> {
        let viewed = Audited::new(action, subject).in_environment(environment);
        Ok(self.console.engine.record_view(&self.origin(), viewed).await?)
    }

    /// A turn at reading stored configurations, until the page is made.
    pub(crate) async fn config_read_turn(&self) -> Result<OwnedSemaphorePermit, PageError> {
        self.console.engine.config_read_turn().await.ok_or(PageError::Busy)
    }

    /// Where a form's answer leads, with what it has to say.
    pub(crate) fn back(&self, to: &str, said: &str) -> Response {
        let proof = self.console.sessions.message_proof(&self.session, said);
        let mut message = form_urlencoded::Serializer::new(String::new());
        message.append_pair("said", said).append_pair("proof", &proof);
        let joint = if to.contains('?') { '&' } else { '?' };
        Redirect::to(&format!("{to}{joint}{}", message.finish())).into_response()
    }

    /// Where an action leads once it is done: what it did, and its entry in the audit log.
    pub(crate) async fn done(&self, to: &str, said: &str) -> Response {
        let joint = if to.contains('?') { '&' } else { '?' };
        match self.audit_entry().await {
            Some(entry) => self.back(&format!("{to}{joint}entry={entry}"), said),
            None => self.back(to, said),
        }
    }

    /// The number of this request's entry in the audit log.
    pub(crate) async fn audit_entry(&self) -> Option<u64> {
        let newest = AuditLogFilter::default();
        let entries = self.console.engine.audit_log(&newest, None, AUDIT_ENTRIES_SEARCHED).await.ok()?;
        let own = entries.iter().find(|read| read.entry.request == self.request);
        own.map(|read| read.sequence)
    }

    /// What the last form has to say. A link may carry any text: only what this console wrote is shown as its words.
    fn said(&self) -> Option<String> {
        let (said, proof) = (self.query("said")?, self.query("proof")?);
        self.console.sessions.is_own_message(&self.session, said, proof).then(|| said.to_owned())
    }

    /// The entry in the audit log of what the last form did.
    fn said_entry(&self) -> Option<u64> {
        self.said().and_then(|_| self.query("entry")?.parse().ok())
    }

    /// Who.
    pub(crate) fn actor(&self) -> String {
        self.identity.actor(Some(self.given_name()))
    }

    fn given_name(&self) -> &str {
        match &self.session.with {
            SignedInWith::AdminToken { name } if name.is_empty() => "console",
            SignedInWith::AdminToken { name } => name,
            SignedInWith::PersonalToken(_) | SignedInWith::SingleSignOn { .. } => "",
        }
    }

    /// What stands around a page of an environment.
    pub(crate) async fn frame(&self, title: &str, section: &'static str) -> Result<Frame, PageError> {
        let view = self.view(self.environment()?)?;
        self.frame_in(&view, title, section).await
    }

    /// What stands around a page that belongs to no environment: the menu of the one viewed last.
    pub(crate) async fn service_frame(&self, title: &str, section: &'static str) -> Result<Frame, PageError> {
        match self.recent_view() {
            Some(view) => self.frame_in(&view, title, section).await,
            None => Ok(self.bare_frame(title)),
        }
    }

    /// The environment viewed last, or the only one there is to see.
    fn recent_view(&self) -> Option<Arc<EnvironmentView>> {
        let snapshot = self.console.engine.directory().snapshot();
        let is_visible = |view: &Arc<EnvironmentView>| {
            let place = Place::Organization(view.environment.organization);
            self.identity.check(Permission::Read, place).is_ok()
        };
        let recent = self.recent.and_then(|id| snapshot.environment(id).cloned()).filter(is_visible);
        recent.or_else(|| {
            let mut visible = snapshot.environments().into_iter().filter(|view| is_visible(view));
            let only = visible.next().cloned();
            only.filter(|_| visible.next().is_none())
        })
    }

    async fn frame_in(
        &self,
        view: &EnvironmentView,
        title: &str,
        section: &'static str,
    ) -> Result<Frame, PageError> {
        let id = view.environment.id;
        let (organization, application) = self.console.engine.lineage(&view.environment).await?;
        Ok(Frame {
            title: title.to_owned(),
            section,
            base: format!("/console/{id}"),
            place: format!(
                "{} / {} / {}",
                shortened(&organization.name, 40),
                shortened(&application.name, 40),
                view.environment.name.as_str()
            ),
            mode: view.environment.name.mode(),
            csrf: self.session.csrf.clone(),
            actor: self.actor(),
            identity: Some(self.identity.clone()),
            said: self.said(),
            entry: self.said_entry(),
            checks: self.console.engine.environment_checks(view).await,
        })
    }

    fn bare_frame(&self, title: &str) -> Frame {
        Frame {
            title: title.to_owned(),
            csrf: self.session.csrf.clone(),
            actor: self.actor(),
            identity: Some(self.identity.clone()),
            said: self.said(),
            entry: self.said_entry(),
            ..Frame::default()
        }
    }
}
