//! Sessions of the operator: a cookie that says until when, by whom, and proves that this service wrote it.
//!
//! Any node recognises it, because only its end is kept in the store: signing out ends it everywhere. It also ends with its
//! time, when nothing is asked for a while, with the personal token, user or issuer that opened it, and for all when the admin
//! token is changed, which is part of what is proved.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use http::{HeaderMap, header};
use subtle::ConstantTimeEq as _;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, TokenId, UserId},
};
use tollgate_vault::{AdminToken, Digester, RandomnessUnavailable, random_bytes};

/// A working day.
const LIFETIME: Duration = Duration::from_hours(12);
/// How long nothing may be asked for.
const IDLE: Duration = Duration::from_mins(30);
/// How far what the cookie says of the last request may lag behind.
const SEEN_LAG: Duration = Duration::from_mins(1);
const COOKIE: &str = "tollgate_session";
const ENVIRONMENT_COOKIE: &str = "tollgate_environment";

/// Makes and reads sessions.
pub(crate) struct Sessions {
    digester: Digester,
    token_mark: [u8; 32],
    is_secure: bool,
}

/// What somebody signed in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignedInWith {
    /// The admin token, and the name they gave.
    AdminToken {
        name: String,
    },
    PersonalToken(TokenId),
    SingleSignOn {
        user: UserId,
        /// Who vouched for them.
        issuer: String,
    },
}

impl SignedInWith {
    fn to_claim(&self) -> String {
        match self {
            Self::AdminToken { name } => format!("admin:{name}"),
            Self::PersonalToken(id) => format!("token:{id}"),
            Self::SingleSignOn { user, issuer } => format!("user:{user}:{issuer}"),
        }
    }

    fn from_claim(claim: &str) -> Option<Self> {
        let (kind, rest) = claim.split_once(':')?;
        match kind {
            "admin" => Some(Self::AdminToken { name: rest.to_owned() }),
            "token" => rest.parse().ok().map(Self::PersonalToken),
            "user" => {
                let (user, issuer) = rest.split_once(':')?;
                Some(Self::SingleSignOn { user: user.parse().ok()?, issuer: issuer.to_owned() })
            }
            _ => None,
        }
    }
}

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// By which it is ended.
    pub(crate) id: [u8; 16],
    /// When it ends at the latest.
    pub(crate) until: Timestamp,
    pub(crate) with: SignedInWith,
    /// What their forms have to carry.
    pub(crate) csrf: String,
    seen: Timestamp,
}

impl Sessions {
    pub(crate) fn new(digester: Digester, token: &AdminToken, is_secure: bool) -> Self {
        let token_mark = token.mark(&digester);
        Self { digester, token_mark, is_secure }
    }

    /// The `Set-Cookie` of a new session.
    pub(crate) fn begin(&self, with: &SignedInWith, now: Timestamp) -> Result<String, RandomnessUnavailable> {
        Ok(self.written(&random_bytes()?, now.saturating_add(LIFETIME), with, now))
    }

    /// The `Set-Cookie` that says that something was asked for now, if it is time to say so.
    pub(crate) fn renewed(&self, session: &Session, now: Timestamp) -> Option<String> {
        let is_due = now >= session.seen.saturating_add(SEEN_LAG);
        is_due.then(|| self.written(&session.id, session.until, &session.with, now))
    }

    /// The `Set-Cookie` that ends it in this browser.
    pub(crate) fn end(&self) -> String {
        self.cookie("", 0)
    }

    fn written(&self, id: &[u8; 16], until: Timestamp, with: &SignedInWith, seen: Timestamp) -> String {
        let lasting = lasting(id, until, with);
        let claims = format!("{}.{lasting}", seen.unix_millis());
        let proof = self.proof("session", &claims);
        let left = until.unix_millis().saturating_sub(seen.unix_millis()) / 1_000;
        self.cookie(&format!("{claims}.{proof}"), u64::try_from(left).unwrap_or_default())
    }

    fn cookie(&self, value: &str, seconds: u64) -> String {
        let secure = self.secure_mark();
        format!("{COOKIE}={value}; Path=/console; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }

    /// The `Set-Cookie` that says which environment was viewed last, if that changed. Nothing is decided by it.
    pub(crate) fn visited(&self, headers: &HeaderMap, environment: EnvironmentId) -> Option<String> {
        let is_news = Self::last_environment(headers) != Some(environment);
        let secure = self.secure_mark();
        is_news.then(|| {
            format!("{ENVIRONMENT_COOKIE}={environment}; Path=/console; HttpOnly; SameSite=Strict{secure}")
        })
    }

    /// The environment viewed last in this browser.
    pub(crate) fn last_environment(headers: &HeaderMap) -> Option<EnvironmentId> {
        values_of(cookies_of(headers), ENVIRONMENT_COOKIE).find_map(|value| value.parse().ok())
    }

    pub(super) fn secure_mark(&self) -> &'static str {
        if self.is_secure { "; Secure" } else { "" }
    }

    /// The session of a request's `Cookie` headers, if there is one and its time is not over. Whether it was ended is for
    /// the store to say.
    pub(crate) fn read<'a>(&self, cookies: impl Iterator<Item = &'a str>, now: Timestamp) -> Option<Session> {
        values_of(cookies, COOKIE).find_map(|value| self.open(value, now))
    }

    fn open(&self, value: &str, now: Timestamp) -> Option<Session> {
        let (claims, proof) = value.rsplit_once('.')?;
        let expected = self.proof("session", claims);
        if !bool::from(proof.as_bytes().ct_eq(expected.as_bytes())) {
            return None;
        }
        let (seen, lasting) = claims.split_once('.')?;
        let parts: Vec<&str> = lasting.split('.').collect();
        let [until, id, with] = parts.as_slice() else { return None };
        let moment = |text: &str| text.parse().ok().map(Timestamp::from_unix_millis);
        let (seen, until) = (moment(seen)?, moment(until)?);
        if now >= until || now >= seen.saturating_add(IDLE) {
            return None;
        }
        let with = String::from_utf8(BASE64URL_NOPAD.decode(with.as_bytes()).ok()?).ok()?;
        let id = BASE64URL_NOPAD.decode(id.as_bytes()).ok()?.try_into().ok()?;
        // The same on every page of the session, whenever that was asked for.
        let csrf = self.proof("form", lasting);
        Some(Session { id, until, with: SignedInWith::from_claim(&with)?, csrf, seen })
    }

    /// Proves that a message is the console's own.
    pub(crate) fn message_proof(&self, session: &Session, message: &str) -> String {
        self.proof("message", &format!("{}.{message}", session.csrf))
    }

    /// Whether this is the proof of this message.
    pub(crate) fn is_own_message(&self, session: &Session, message: &str, proof: &str) -> bool {
        bool::from(self.message_proof(session, message).as_bytes().ct_eq(proof.as_bytes()))
    }

    pub(super) fn proof(&self, purpose: &str, claims: &str) -> String {
        let digest = self.digester.digest(&[purpose.as_bytes(), &self.token_mark, claims.as_bytes()]);
        BASE64URL_NOPAD.encode(&digest)
    }
}

/// The `Cookie` headers of a request.
pub(crate) fn cookies_of(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok())
}

/// The values of the cookies of this name.
pub(super) fn values_of<'a>(
    cookies: impl Iterator<Item = &'a str>,
    name: &'static str,
) -> impl Iterator<Item = &'a str> {
    let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(known, _)| *known == name).map(|(_, value)| value)
}

fn lasting(id: &[u8; 16], until: Timestamp, with: &SignedInWith) -> String {
    let (id, with) = (BASE64URL_NOPAD.encode(id), BASE64URL_NOPAD.encode(with.to_claim().as_bytes()));
    format!("{}.{id}.{with}", until.unix_millis())
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
        let token = AdminToken::from_weak_setting(&Secret::new(token)).unwrap();
        Sessions::new(master.digester("sessions"), &token, true)
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis)
    }

    fn named(name: &str) -> SignedInWith {
        SignedInWith::AdminToken { name: name.to_owned() }
    }

    #[test]
    fn a_session_is_recognised_until_its_end() {
        let sessions = sessions("a long admin token");
        let cookie = sessions.begin(&named("Ada; name"), at(0)).unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Strict") && cookie.ends_with("; Secure"), "{cookie}");
        let sent = cookie.split(';').next().unwrap();
        let read = |line: &str, now| sessions.read([line].into_iter(), at(now));
        let session = read(&format!("other=1; {sent}"), 1_000).unwrap();
        assert_eq!(session.with, named("Ada; name"));
        assert!(is_own_form(&session, &session.csrf.clone()) && !is_own_form(&session, ""));
        let half_an_hour = 30 * 60_000;
        assert!(read(sent, half_an_hour - 1).is_some(), "idle for less than half an hour");
        assert!(read(sent, half_an_hour).is_none(), "idle for half an hour");
        for place in 0..sent.len() {
            let mut forged = sent.as_bytes().to_vec();
            forged[place] ^= 1;
            let forged = String::from_utf8_lossy(&forged).into_owned();
            assert!(read(&forged, 1_000).is_none(), "{forged}");
        }
    }

    #[test]
    fn a_session_says_which_token_opened_it() {
        let sessions = sessions("a long admin token");
        let with = SignedInWith::PersonalToken(TokenId::from_bytes([5; 16]));
        // Nobody becomes a user by choosing a name.
        let issuer = "https://id.example.com".to_owned();
        let user = SignedInWith::SingleSignOn { user: UserId::from_bytes([6; 16]), issuer };
        for with in [with.clone(), named(&with.to_claim()), user.clone(), named(&user.to_claim())] {
            let cookie = sessions.begin(&with, at(0)).unwrap();
            let session = sessions.read([cookie.split(';').next().unwrap()].into_iter(), at(1)).unwrap();
            assert_eq!(session.with, with);
        }
    }

    #[test]
    fn a_session_in_use_lasts_for_half_a_day() {
        let sessions = sessions("a long admin token");
        let mut cookie = sessions.begin(&named("Ada"), at(0)).unwrap();
        let read =
            |cookie: &str, now| sessions.read([cookie.split(';').next().unwrap()].into_iter(), at(now));
        let first = read(&cookie, 0).unwrap();
        assert!(sessions.renewed(&first, at(1_000)).is_none(), "not with every request");
        let minute = 60_000;
        let mut now = 0;
        while let Some(session) = read(&cookie, now + 20 * minute) {
            now += 20 * minute;
            assert_eq!((session.id, &session.csrf), (first.id, &first.csrf), "forms stay good");
            cookie = sessions.renewed(&session, at(now)).unwrap();
        }
        assert_eq!(now, (12 * 60 - 20) * minute);
    }

    #[test]
    fn a_message_is_proved_for_one_session() {
        let sessions = sessions("a long admin token");
        let session = |actor: &str| {
            let cookie = sessions.begin(&named(actor), at(0)).unwrap();
            sessions.read([cookie.split(';').next().unwrap()].into_iter(), at(1)).unwrap()
        };
        let (one, other) = (session("one"), session("other"));
        let proof = sessions.message_proof(&one, "Saved.");
        assert!(sessions.is_own_message(&one, "Saved.", &proof));
        assert!(!sessions.is_own_message(&one, "Call 555-0100.", &proof));
        assert!(!sessions.is_own_message(&other, "Saved.", &proof));
        assert!(!sessions.is_own_message(&one, "Saved.", ""));
    }

    #[test]
    fn the_environment_viewed_last_is_remembered() {
        let (sessions, mut headers) = (sessions("a long admin token"), HeaderMap::new());
        let [one, other] = [1, 2].map(|byte| EnvironmentId::from_bytes([byte; 16]));
        assert_eq!(Sessions::last_environment(&headers), None);
        let cookie = sessions.visited(&headers, one).unwrap();
        assert!(cookie.ends_with("; Path=/console; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
        let sent = format!("other=1; {}", cookie.split(';').next().unwrap());
        headers.insert(header::COOKIE, sent.parse().unwrap());
        assert_eq!(Sessions::last_environment(&headers), Some(one));
        assert_eq!(sessions.visited(&headers, one), None, "it is no news");
        assert!(sessions.visited(&headers, other).is_some());
    }

    #[test]
    fn another_token_ends_all_sessions() {
        let cookie = sessions("a long admin token").begin(&named("x"), at(0)).unwrap();
        let sent = cookie.split(';').next().unwrap();
        assert!(sessions("another admin token").read([sent].into_iter(), at(1)).is_none());
    }
}
