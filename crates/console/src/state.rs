//! What every page can reach.

use std::sync::Arc;

use tollgate_domain::people::Identity;
use tollgate_engine::{Engine, ports::EventBodies};
use tollgate_oidc::Issuer;
use tollgate_vault::AdminToken;

use crate::request::session::Sessions;

/// The service behind the pages.
pub struct Console {
    pub(crate) engine: Arc<Engine>,
    pub(crate) sessions: Sessions,
    pub(crate) admin_token: AdminToken,
    pub(crate) bodies: Arc<dyn EventBodies>,
    /// Whoever sits at this machine may sign in without the token.
    pub(crate) is_sandbox: bool,
    pub(crate) single_sign_on: Option<SingleSignOn>,
    /// Where browsers reach the console, which may not be under the name that a proxy asks for it by.
    pub(crate) url: Option<String>,
    pub(crate) tokens: ConsoleTokens,
}

/// Which tokens open the console, beside single sign-on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsoleTokens {
    /// Personal ones and the admin token.
    All,
    /// The admin token, for emergencies.
    AdminOnly,
    None,
}

impl ConsoleTokens {
    pub(crate) fn open_for(self, identity: &Identity) -> bool {
        match self {
            Self::All => true,
            Self::AdminOnly => *identity == Identity::Bootstrap,
            Self::None => false,
        }
    }
}

/// The issuer people may sign in with, and where it sends them back to.
pub(crate) struct SingleSignOn {
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) redirect_uri: String,
}

/// Where the issuer's answer is taken.
pub(crate) const CALLBACK: &str = "/console/oidc/callback";

pub(crate) type SharedConsole = Arc<Console>;

impl Console {
    /// Puts pages in front of an engine. Cookies are marked as for HTTPS only where this service is reached by it.
    pub fn new(
        engine: Arc<Engine>,
        admin_token: AdminToken,
        bodies: Arc<dyn EventBodies>,
        behind_https: bool,
    ) -> Self {
        let sessions = Sessions::new(engine.session_digester(), &admin_token, behind_https);
        Self {
            engine,
            sessions,
            admin_token,
            bodies,
            tokens: ConsoleTokens::All,
            is_sandbox: false,
            single_sign_on: None,
            url: None,
        }
    }
}

impl Console {
    /// Lets whoever sits at this machine sign in with a click. For a sandbox only.
    #[must_use]
    pub fn for_sandbox(mut self) -> Self {
        self.is_sandbox = true;
        self
    }

    /// Takes forms from pages at this URL, also where a proxy asks under another name.
    #[must_use]
    pub fn reached_at(mut self, url: &str) -> Self {
        self.url = Some(url.to_owned());
        self
    }

    /// Closes the console to tokens, or to all but the admin token.
    #[must_use]
    pub fn with_tokens(mut self, tokens: ConsoleTokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Lets people sign in with this issuer to the console that is reached at this URL.
    #[must_use]
    pub fn with_single_sign_on(mut self, issuer: Arc<Issuer>, console_url: &str) -> Self {
        self.single_sign_on = Some(SingleSignOn { issuer, redirect_uri: format!("{console_url}{CALLBACK}") });
        self
    }
}
