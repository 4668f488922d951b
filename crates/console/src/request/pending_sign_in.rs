//! A single sign-on that waits for the issuer's answer: a short-lived cookie that binds the answer to this browser.
//!
//! The cookie has an id alone; what must not be guessed is made from that id by the key of the sessions, so that the
//! secret of PKCE never leaves the servers.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use subtle::ConstantTimeEq as _;
use tollgate_domain::Timestamp;
use tollgate_oidc::SignInAttempt;
use tollgate_vault::{RandomnessUnavailable, Secret, random_bytes};

use super::session::{Sessions, values_of};

/// Time enough for a password and a second factor.
const LIFETIME: Duration = Duration::from_mins(10);
const COOKIE: &str = "tollgate_sign_in";
/// Where a sign-in leads is part of a cookie, which browsers do not keep at any length.
const MAX_NEXT_LENGTH: usize = 1_024;

/// A single sign-on between its start and its end.
pub(crate) struct PendingSignIn {
    /// By which it is ended: an answer is taken once.
    pub(crate) id: [u8; 16],
    pub(crate) until: Timestamp,
    /// Where the person wanted to go; a path of the console, or nothing.
    pub(crate) next: String,
    pub(crate) attempt: SignInAttempt,
}

impl PendingSignIn {
    /// Whether the answer belongs to the question.
    pub(crate) fn is_answered_by(&self, state: &str) -> bool {
        bool::from(self.attempt.state.as_bytes().ct_eq(state.as_bytes()))
    }
}

impl Sessions {
    /// A new sign-in and its `Set-Cookie`.
    pub(crate) fn begin_single_sign_on(
        &self,
        next: String,
        redirect_uri: String,
        now: Timestamp,
    ) -> Result<(PendingSignIn, String), RandomnessUnavailable> {
        let next = if next.len() <= MAX_NEXT_LENGTH { next } else { String::new() };
        let (id, until) = (random_bytes()?, now.saturating_add(LIFETIME));
        let encoded = BASE64URL_NOPAD.encode(next.as_bytes());
        let claims = format!("{}.{}.{encoded}", until.unix_millis(), BASE64URL_NOPAD.encode(&id));
        let value = format!("{claims}.{}", self.proof("single sign-on", &claims));
        let cookie = self.sign_in_cookie(&value, LIFETIME.as_secs());
        Ok((self.pending(id, until, next, redirect_uri), cookie))
    }

    /// The sign-in that a request's `Cookie` headers belong to, if its time is not over. Whether it was answered before is
    /// for the store to say.
    pub(crate) fn read_single_sign_on<'a>(
        &self,
        cookies: impl Iterator<Item = &'a str>,
        redirect_uri: &str,
        now: Timestamp,
    ) -> Option<PendingSignIn> {
        values_of(cookies, COOKIE).find_map(|value| {
            let (claims, proof) = value.rsplit_once('.')?;
            let expected = self.proof("single sign-on", claims);
            if !bool::from(proof.as_bytes().ct_eq(expected.as_bytes())) {
                return None;
            }
            let parts: Vec<&str> = claims.split('.').collect();
            let [until, id, next] = parts.as_slice() else { return None };
            let until = Timestamp::from_unix_millis(until.parse().ok()?);
            let id = BASE64URL_NOPAD.decode(id.as_bytes()).ok()?.try_into().ok()?;
            let next = String::from_utf8(BASE64URL_NOPAD.decode(next.as_bytes()).ok()?).ok()?;
            (now < until).then(|| self.pending(id, until, next, redirect_uri.to_owned()))
        })
    }

    /// The `Set-Cookie` that forgets a sign-in in this browser.
    pub(crate) fn end_single_sign_on(&self) -> String {
        self.sign_in_cookie("", 0)
    }

    fn pending(&self, id: [u8; 16], until: Timestamp, next: String, redirect_uri: String) -> PendingSignIn {
        let name = BASE64URL_NOPAD.encode(&id);
        let attempt = SignInAttempt {
            redirect_uri,
            state: self.proof("single sign-on state", &name),
            nonce: self.proof("single sign-on nonce", &name),
            verifier: Secret::new(self.proof("single sign-on verifier", &name)),
        };
        PendingSignIn { id, until, next, attempt }
    }

    /// Lax rather than strict: the issuer sends the browser back from another site.
    fn sign_in_cookie(&self, value: &str, seconds: u64) -> String {
        let secure = self.secure_mark();
        format!("{COOKIE}={value}; Path=/console/oidc; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
    }
}

#[cfg(test)]
mod tests {
    use tollgate_vault::{AdminToken, MasterKey};

    use super::*;

    const BACK: &str = "https://pay.example.com/console/oidc/callback";

    fn sessions() -> Sessions {
        let master =
            MasterKey::from_setting(&Secret::new("a master key of thirty-two letters or more")).unwrap();
        let token = AdminToken::from_weak_setting(&Secret::new("a long admin token")).unwrap();
        Sessions::new(master.digester("sessions"), &token, true)
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn an_answer_belongs_to_the_browser_that_asked() {
        let sessions = sessions();
        let begin =
            || sessions.begin_single_sign_on("/console/x".to_owned(), BACK.to_owned(), at(0)).unwrap();
        let ((one, cookie), (other, _)) = (begin(), begin());
        assert!(cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=600; Secure"), "{cookie}");
        assert!(!cookie.contains(one.attempt.verifier.expose()), "{cookie}");
        let sent = cookie.split(';').next().unwrap();
        let read = |line: &str, now| sessions.read_single_sign_on([line].into_iter(), BACK, at(now));
        let found = read(sent, 599_999).unwrap();
        assert_eq!((found.id, found.next.as_str()), (one.id, "/console/x"));
        assert_eq!(found.attempt.nonce, one.attempt.nonce);
        assert_eq!(found.attempt.verifier, one.attempt.verifier);
        assert!(found.is_answered_by(&one.attempt.state));
        assert!(!found.is_answered_by(&other.attempt.state) && !found.is_answered_by(""));
        assert!(read(sent, 600_000).is_none(), "its time is over");
        for place in 0..sent.len() {
            let mut forged = sent.as_bytes().to_vec();
            forged[place] ^= 1;
            assert!(read(&String::from_utf8_lossy(&forged), 1).is_none(), "{place}");
        }
    }

    #[test]
    fn neither_cookie_passes_for_the_other() {
        let sessions = sessions();
        let (_, cookie) = sessions.begin_single_sign_on(String::new(), BACK.to_owned(), at(0)).unwrap();
        let as_session = cookie.replace(COOKIE, "tollgate_session");
        assert!(sessions.read([as_session.split(';').next().unwrap()].into_iter(), at(1)).is_none());
    }
}
