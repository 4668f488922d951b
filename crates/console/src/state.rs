//! What every page can reach.

use std::sync::Arc;

use tollgate_engine::{AddressRateLimiter, Engine, ports::EventBodies};
use tollgate_oidc::Issuer;
use tollgate_vault::AdminToken;

use crate::request::session::Sessions;

/// The service behind the pages.
pub struct Console {
    pub(crate) engine: Arc<Engine>,
    pub(crate) sessions: Sessions,
    pub(crate) admin_token: AdminToken,
    pub(crate) bodies: Arc<dyn EventBodies>,
    pub(crate) attempts: AddressRateLimiter,
    /// Whoever sits at this machine may sign in without the token.
    pub(crate) is_sandbox: bool,
    pub(crate) single_sign_on: Option<SingleSignOn>,
    /// Where browsers reach the console, which may not be under the name that a proxy asks for it by.
    pub(crate) url: Option<String>,
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
            attempts: attempts(),
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

    /// Lets people sign in with this issuer to the console that is reached at this URL.
    #[must_use]
    pub fn with_single_sign_on(mut self, issuer: Arc<Issuer>, console_url: &str) -> Self {
        self.single_sign_on = Some(SingleSignOn { issuer, redirect_uri: format!("{console_url}{CALLBACK}") });
        self
    }
}

/// Slows down whoever guesses tokens: an attempt a second, after a few at once.
fn attempts() -> AddressRateLimiter {
    AddressRateLimiter::new(1_024, 1, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_is_slow() {
        let attempts = attempts();
        let peer = Some([127, 0, 0, 1].into());
        assert!((10..=12).contains(&(0..100).filter(|_| attempts.take(peer).is_ok()).count()));
    }
}
