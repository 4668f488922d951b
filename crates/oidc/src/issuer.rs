//! Asking the issuer: where it is, what its keys are, and whom a code stands for.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use form_urlencoded::{Serializer, byte_serialize};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, timeout},
};
use tollgate_domain::Timestamp;
use tollgate_http::{Answer, HttpClient, Request, TransportError};
use tollgate_vault::Secret;

use crate::{
    Assurance, OidcError, OidcSettings, Person, SignInAttempt, TokenFault,
    discovery::{self, Discovery},
    id_token::{self, EmailClaims, Expected, Verified},
    keys::{self, Key},
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// How long what the issuer says of itself is believed.
const KNOWN_FOR: Duration = Duration::from_hours(1);
/// An issuer that has just answered, or failed to, is not asked again by everybody who waits.
const JUST_NOW: Duration = Duration::from_secs(5);
/// Whoever invents key ids must not make this server ask for keys all the time.
const KEYS_PAUSE: Duration = Duration::from_secs(30);
/// Codes redeemed at once.
const MAX_EXCHANGES: usize = 8;
const MAX_EMAIL: usize = 254;

/// The issuer that says who people are.
#[derive(Debug)]
pub struct Issuer {
    settings: OidcSettings,
    http: HttpClient,
    known: Mutex<Known>,
    exchanges: Semaphore,
}

#[derive(Debug, Default)]
struct Known {
    published: Option<Arc<Published>>,
    failed: Option<(Timestamp, OidcError)>,
}

/// What the issuer says of itself.
#[derive(Debug)]
struct Published {
    discovery: Arc<Discovery>,
    keys: Arc<Vec<Key>>,
    read_at: Timestamp,
    /// When keys were last asked for.
    keys_at: Timestamp,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct ErrorAnswer {
    error: String,
}

#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    #[serde(flatten)]
    email: EmailClaims,
}

impl Issuer {
    /// Makes the client without asking anything.
    pub fn new(settings: OidcSettings) -> Result<Self, rustls::Error> {
        let http = HttpClient::new(CONNECT_TIMEOUT, ANSWER_BYTES_MAX, None)?;
        Ok(Self { settings, http, known: Mutex::default(), exchanges: Semaphore::new(MAX_EXCHANGES) })
    }

    /// How it writes itself.
    pub fn name(&self) -> &str {
        &self.settings.issuer
    }

    /// Whether its configuration and keys can be read now; what is known from before does not count.
    pub async fn check(&self, now: Timestamp) -> Result<(), OidcError> {
        self.published_within(JUST_NOW, now).await.map(drop)
    }

    /// Where the browser is sent to begin a sign-in.
    pub async fn authorization_url(
        &self,
        attempt: &SignInAttempt,
        now: Timestamp,
    ) -> Result<String, OidcError> {
        let published = self.published(now).await?;
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(attempt.verifier.expose()));
        let mut query = Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &attempt.redirect_uri)
            .append_pair("scope", "openid email")
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        let Assurance { contexts, max_age, .. } = &self.settings.assurance;
        if !contexts.is_empty() {
            query.append_pair("acr_values", &contexts.join(" "));
        }
        if let Some(max_age) = max_age {
            query.append_pair("max_age", &max_age.as_secs().to_string());
        }
        let query = query.finish();
        let endpoint = &published.discovery.authorization_endpoint;
        let joint = if endpoint.contains('?') { '&' } else { '?' };
        Ok(format!("{endpoint}{joint}{query}"))
    }

    /// Whom the code stands for that the issuer sent in answer to this attempt.
    pub async fn person(
        &self,
        code: &Secret,
        attempt: &SignInAttempt,
        now: Timestamp,
    ) -> Result<Person, OidcError> {
        let busy = || OidcError::Unreachable("too many sign-ins wait for it".to_owned());
        let turn = timeout(REQUEST_TIMEOUT, self.exchanges.acquire()).await;
        let _turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        let published = self.published(now).await?;
        let tokens = self.redeem(&published.discovery, code, attempt).await?;
        let verified = self.verified(&published, &tokens.id_token, &attempt.nonce, now).await?;
        self.vouched(&published.discovery, verified, tokens.access_token).await
    }

    /// Exchanges the code for tokens. It is good for one try, so that nothing is repeated here.
    async fn redeem(
        &self,
        discovery: &Discovery,
        code: &Secret,
        attempt: &SignInAttempt,
    ) -> Result<TokenAnswer, OidcError> {
        let request = self.token_request(discovery, code, attempt)?;
        let answer = self.ask(request, "token endpoint").await?;
        if answer.status.is_success() {
            return serde_json::from_slice(&answer.body).map_err(|_| {
                OidcError::Misconfigured(
                    "the issuer's token endpoint answered without an ID token".to_owned(),
                )
            });
        }
        let error = serde_json::from_slice::<ErrorAnswer>(&answer.body).ok();
        let code = error.map_or_else(|| answer.status.to_string(), |answer| plain_word(&answer.error));
        if code == "invalid_grant" {
            return Err(OidcError::CodeRefused(code));
        }
        Err(OidcError::Misconfigured(format!(
            "the issuer refused this client ({code}); check TOLLGATE_OIDC_CLIENT_ID, TOLLGATE_OIDC_CLIENT_SECRET and \
             the redirect URI registered there"
        )))
    }

    fn token_request(
        &self,
        discovery: &Discovery,
        code: &Secret,
        attempt: &SignInAttempt,
    ) -> Result<Request, OidcError> {
        let OidcSettings { client_id, client_secret, .. } = &self.settings;
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code.expose())
            .append_pair("redirect_uri", &attempt.redirect_uri)
            .append_pair("code_verifier", attempt.verifier.expose());
        let mut headers = HeaderMap::new();
        if discovery.takes_basic_authentication() {
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encoded(client_id), encoded(client_secret.expose()));
            headers.insert(
                header::AUTHORIZATION,
                secret_header(format!("Basic {}", BASE64.encode(pair.as_bytes())))?,
            );
        } else {
            form.append_pair("client_id", client_id).append_pair("client_secret", client_secret.expose());
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let body = Bytes::from(form.finish());
        let url = discovery.token_endpoint.clone();
        Ok(Request { method: Method::POST, url, headers, body })
    }

    /// Checks the token, with keys read again where it is signed with one that is not known yet.
    async fn verified(
        &self,
        published: &Arc<Published>,
        token: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Verified, OidcError> {
        let OidcSettings { issuer, client_id, assurance, .. } = &self.settings;
        let expected = Expected { issuer, client_id, nonce, now, assurance };
        match id_token::verify(token, &published.keys, expected) {
            Err(TokenFault::UnknownKey) => {
                let keys = self.newer_keys(published, now).await?;
                Ok(id_token::verify(token, &keys, expected)?)
            }
            other => Ok(other?),
        }
    }

    /// The verified email address: from the token, or from the user info where the token is silent.
    async fn vouched(
        &self,
        discovery: &Discovery,
        verified: Verified,
        access_token: Option<String>,
    ) -> Result<Person, OidcError> {
        let Verified { subject, mut email } = verified;
        let is_silent = email.email.is_none() || email.email_verified.is_none();
        if let (true, Some(url), Some(token)) = (is_silent, &discovery.userinfo_endpoint, access_token) {
            let info = self.user_info(url.clone(), &Secret::new(token)).await?;
            if info.sub != subject {
                return Err(TokenFault::Subject.into());
            }
            email = info.email;
        }
        let address = email.email.filter(|address| !address.is_empty() && address.len() <= MAX_EMAIL);
        let address = address.ok_or(OidcError::NoEmail)?;
        if email.email_verified != Some(true.into()) {
            return Err(OidcError::UnverifiedEmail(address));
        }
        Ok(Person { subject, email: address })
    }

    async fn user_info(&self, url: String, token: &Secret) -> Result<UserInfo, OidcError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, secret_header(format!("Bearer {}", token.expose()))?);
        let request = Request { method: Method::GET, url, headers, body: Bytes::new() };
        let answer = self.ask(request, "user info").await?;
        let info = serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == StatusCode::OK);
        info.ok_or_else(|| OidcError::Misconfigured("the issuer's user info cannot be read".to_owned()))
    }

    /// What the issuer says of itself, read at most once an hour.
    async fn published(&self, now: Timestamp) -> Result<Arc<Published>, OidcError> {
        self.published_within(KNOWN_FOR, now).await
    }

    /// What the issuer says of itself, read no longer ago than this.
    async fn published_within(&self, age: Duration, now: Timestamp) -> Result<Arc<Published>, OidcError> {
        let mut known = self.known.lock().await;
        if let Some(published) = &known.published
            && now.since(published.read_at) < age
        {
            return Ok(Arc::clone(published));
        }
        if let Some((at, error)) = &known.failed
            && now.since(*at) < JUST_NOW
        {
            return Err(error.clone());
        }
        let started = Instant::now();
        match self.read(now).await {
            Ok(published) => {
                let published = Arc::new(published);
                *known = Known { published: Some(Arc::clone(&published)), failed: None };
                Ok(published)
            }
            Err(error) => {
                // From the end of the attempt: whoever waited for it learns the same, and does not try in turn.
                known.failed = Some((now.saturating_add(started.elapsed()), error.clone()));
                Err(error)
            }
        }
    }

    async fn read(&self, now: Timestamp) -> Result<Published, OidcError> {
        let document = self.get(discovery::location(&self.settings.issuer), "configuration").await?;
        let discovery = Discovery::read(&document, &self.settings.issuer)?;
        let keys = self.read_keys(&discovery).await?;
        Ok(Published { discovery: Arc::new(discovery), keys: Arc::new(keys), read_at: now, keys_at: now })
    }

    /// The keys, asked for again unless that was done just now.
    async fn newer_keys(&self, seen: &Arc<Published>, now: Timestamp) -> Result<Arc<Vec<Key>>, OidcError> {
        let mut known = self.known.lock().await;
        let current = known.published.as_ref().unwrap_or(seen);
        if now.since(current.keys_at) < KEYS_PAUSE {
            return Ok(Arc::clone(&current.keys));
        }
        let (discovery, read_at) = (Arc::clone(&current.discovery), current.read_at);
        let old = Arc::clone(&current.keys);
        let read = self.read_keys(&discovery).await.map(Arc::new);
        let keys = read.as_ref().map_or(old, Arc::clone);
        known.published = Some(Arc::new(Published { discovery, keys, read_at, keys_at: now }));
        read
    }

    async fn read_keys(&self, discovery: &Discovery) -> Result<Vec<Key>, OidcError> {
        let document = self.get(discovery.jwks_uri.clone(), "keys").await?;
        let keys = keys::read(&document);
        keys.ok_or_else(|| OidcError::Misconfigured("the issuer's keys cannot be read".to_owned()))
    }

    async fn get(&self, url: String, what: &str) -> Result<Bytes, OidcError> {
        let request = Request { method: Method::GET, url, headers: HeaderMap::new(), body: Bytes::new() };
        let answer = self.ask(request, what).await?;
        if answer.status == StatusCode::OK {
            return Ok(answer.body);
        }
        let status = answer.status;
        Err(OidcError::Misconfigured(format!(
            "the issuer answered {status} for its {what}; check TOLLGATE_OIDC_ISSUER"
        )))
    }

    /// One exchange; a failure of the issuer's own is no answer.
    async fn ask(&self, mut request: Request, what: &str) -> Result<Answer, OidcError> {
        request.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let sent = self.http.send(&request, REQUEST_TIMEOUT).await;
        let answer = sent.map_err(|error| match error {
            TransportError::Unsent(reason) | TransportError::Lost(reason) => {
                OidcError::Unreachable(format!("{what}: {reason}"))
            }
        })?;
        if answer.status.is_server_error() {
            return Err(OidcError::Unreachable(format!("{what}: {}", answer.status)));
        }
        Ok(answer)
    }
}

fn secret_header(text: String) -> Result<HeaderValue, OidcError> {
    let value = HeaderValue::try_from(text);
    let mut value = value.map_err(|_| OidcError::Misconfigured("a token is not plain text".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// An error code as the standard writes it: it is shown and logged, and whoever sent it may have written anything.
pub fn plain_word(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_plain && (1..=40).contains(&text.len()) { text.to_owned() } else { "unknown_error".to_owned() }
}
