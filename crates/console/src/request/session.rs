//! Sessions of the operator: a cookie that says until when, by whom, and proves that this service wrote it.
//!
//! Nothing is kept on the server, so any node recognises it. It ends with its time, with the browser's sign-out, and for
//! all when the admin token is changed, which is part of what is proved.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use subtle::ConstantTimeEq as _;
use tollgate_domain::Timestamp;
use tollgate_vault::{AdminToken, Digester, RandomnessUnavailable, random_bytes};

/// A working day.
const LIFETIME: Duration = Duration::from_hours(12);
const COOKIE: &str = "tollgate_session";

/// Makes and reads sessions.
pub(crate) struct Sessions {
    digester: Digester,
    token_mark: [u8; 32],
    is_secure: bool,
}

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// The name they gave.
    pub(crate) actor: String,
    /// What their forms have to carry.
    pub(crate) csrf: String,
}

impl Sessions {
    pub(crate) fn new(digester: Digester, token: &AdminToken, is_secure: bool) -> Self {
        let token_mark = token.mark(&digester);
        Self { digester, token_mark, is_secure }
    }

    /// The `Set-Cookie` of a new session.
    pub(crate) fn begin(&self, actor: &str, now: Timestamp) -> Result<String, RandomnessUnavailable> {
        let until = now.saturating_add(LIFETIME).unix_millis();
        let nonce: [u8; 16] = random_bytes()?;
        let nonce = BASE64URL_NOPAD.encode(&nonce);
        let actor = BASE64URL_NOPAD.encode(actor.as_bytes());
        let claims = format!("{until}.{nonce}.{actor}");
        let proof = self.proof("session", &claims);
        Ok(self.cookie(&format!("{claims}.{proof}"), LIFETIME.as_secs()))
    }

    /// The `Set-Cookie` that ends it in this browser.
    pub(crate) fn end(&self) -> String {
        self.cookie("", 0)
    }

    fn cookie(&self, value: &str, seconds: u64) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{COOKIE}={value}; Path=/console; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }

    /// The session of a request's `Cookie` headers, if there is one and its time is not over.
    pub(crate) fn read<'a>(&self, cookies: impl Iterator<Item = &'a str>, now: Timestamp) -> Option<Session> {
        let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value);
        values.find_map(|value| self.open(value, now))
    }

    fn open(&self, value: &str, now: Timestamp) -> Option<Session> {
        let (claims, proof) = value.rsplit_once('.')?;
        let expected = self.proof("session", claims);
        if !bool::from(proof.as_bytes().ct_eq(expected.as_bytes())) {
            return None;
        }
        let mut parts = claims.splitn(3, '.');
        let until: i64 = parts.next()?.parse().ok()?;
        if now.unix_millis() >= until {
            return None;
        }
        let actor = BASE64URL_NOPAD.decode(parts.nth(1)?.as_bytes()).ok()?;
        Some(Session { actor: String::from_utf8(actor).ok()?, csrf: self.proof("form", claims) })
    }

    fn proof(&self, purpose: &str, claims: &str) -> String {
        let digest = self.digester.digest(&[purpose.as_bytes(), &self.token_mark, claims.as_bytes()]);
        BASE64URL_NOPAD.encode(&digest)
    }
}

/// Whether a form carries what its session's forms carry.
pub(crate) fn is_own_form(session: &Session, sent: &str) -> bool {
    bool::from(session.csrf.as_bytes().ct_eq(sent.as_bytes()))
}

#[cfg(test)]
mod tests {
    use tollgate_vault::{MasterKey, Secret};

    use super::*;

    fn sessions(token: &str) -> Sessions {
        let master =
            MasterKey::from_setting(&Secret::new("a master key of thirty-two letters or more")).unwrap();
        let token = AdminToken::from_setting(&Secret::new(token)).unwrap();
        Sessions::new(master.digester("sessions"), &token, true)
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    #[test]
    fn a_session_is_recognised_until_its_end() {
        let sessions = sessions("a long admin token");
        let cookie = sessions.begin("Ada; name", at(0)).unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Strict") && cookie.ends_with("; Secure"), "{cookie}");
        let sent = cookie.split(';').next().unwrap();
        let read = |line: &str, now| sessions.read([line].into_iter(), at(now));
        let session = read(&format!("other=1; {sent}"), 1_000).unwrap();
        assert_eq!(session.actor, "Ada; name");
        assert!(is_own_form(&session, &session.csrf.clone()) && !is_own_form(&session, ""));
        let twelve_hours = 12 * 3_600_000;
        assert!(read(sent, twelve_hours - 1).is_some() && read(sent, twelve_hours).is_none());
        for place in 0..sent.len() {
            let mut forged = sent.as_bytes().to_vec();
            forged[place] ^= 1;
            let forged = String::from_utf8_lossy(&forged).into_owned();
            assert!(read(&forged, 1_000).is_none(), "{forged}");
        }
    }

    #[test]
    fn another_token_ends_all_sessions() {
        let cookie = sessions("a long admin token").begin("x", at(0)).unwrap();
        let sent = cookie.split(';').next().unwrap();
        assert!(sessions("another admin token").read([sent].into_iter(), at(1)).is_none());
    }
}
