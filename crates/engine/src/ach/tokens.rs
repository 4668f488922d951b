//! Customer tokens: who a transfer is for, sealed so that only their own environment opens it again.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;
use tollgate_domain::{Timestamp, customer::Customer};
use tollgate_trace::span;
use tollgate_vault::{SealError, Secret, token_generation};

use crate::{
    engine::Engine,
    ports::{KeyedToken, StoreError},
    rate_limiter::RateLimitExceeded,
    snapshot::EnvironmentView,
};

const VERSION: u64 = 1;

/// What a token holds.
#[derive(Serialize, Deserialize)]
struct Content<'a> {
    v: u64,
    org: String,
    env: String,
    iat: i64,
    exp: Option<i64>,
    #[serde(borrow)]
    customer: CustomerContent<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CustomerContent<'a> {
    external_customer_id: String,
    email: String,
    first_name: String,
    last_name: String,
    phone: Option<String>,
    /// As it came. Earlier versions put the same in a text.
    #[serde(borrow)]
    metadata: &'a RawValue,
}

/// A token and how long it opens.
#[derive(Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: String,
    /// When it ends; `None` is never.
    pub expires_at: Option<Timestamp>,
}

/// Why no token was issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueTokenError {
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The key was used for another request; these fields differ.
    #[error("the idempotency key was used for a different request")]
    KeyReused(Vec<String>),
    /// The key was used for too many other requests.
    #[error("too many different requests used the idempotency key")]
    TooManyConflicts(#[from] RateLimitExceeded),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a token names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It was altered, or made elsewhere: both look alike.
    #[error("is not a customer token of this environment")]
    Refused,
    /// Its time is over.
    #[error("has expired; issue a new one")]
    Expired,
}

/// A customer token as a caller sent it.
#[derive(Debug, Clone)]
pub struct CustomerToken {
    text: Secret,
    content: TokenContent,
}

#[derive(Debug, Clone)]
enum TokenContent {
    Valid(Customer),
    /// Enough to compare a repeated request with the first one.
    Expired(Customer),
    Unreadable,
}

impl CustomerToken {
    /// The customer, if the token is good for a new transfer.
    pub fn customer(&self) -> Result<&Customer, TokenError> {
        match &self.content {
            TokenContent::Valid(customer) => Ok(customer),
            TokenContent::Expired(_) => Err(TokenError::Expired),
            TokenContent::Unreadable => Err(TokenError::Refused),
        }
    }

    /// The customer, if the token can be read at all.
    pub(super) fn readable_customer(&self) -> Option<&Customer> {
        match &self.content {
            TokenContent::Valid(customer) | TokenContent::Expired(customer) => Some(customer),
            TokenContent::Unreadable => None,
        }
    }

    pub(super) fn text(&self) -> &str {
        self.text.expose()
    }
}

impl Engine {
    /// Makes a token for a customer.
    pub fn issue_token(&self, view: &EnvironmentView, customer: &Customer) -> Result<IssuedToken, SealError> {
        let settings = &view.configuration.settings;
        let now = self.clock.now();
        let lifetime = settings.customer_token_lifetime_seconds.map(Duration::from_secs);
        let expires_at = lifetime.map(|lifetime| now.saturating_add(lifetime));
        let metadata: &RawValue =
            serde_json::from_str(&customer.metadata).map_err(|_| SealError::Malformed)?;
        let content = Content {
            v: VERSION,
            org: view.environment.organization.to_string(),
            env: view.environment.id.to_string(),
            iat: now.unix_millis(),
            exp: expires_at.map(Timestamp::unix_millis),
            customer: CustomerContent {
                external_customer_id: customer.external_id.clone(),
                email: customer.email.clone(),
                first_name: customer.first_name.clone(),
                last_name: customer.last_name.clone(),
                phone: customer.phone.clone(),
                metadata,
            },
        };
        let content = serde_json::to_vec(&content).map_err(|_| SealError::Malformed)?;
        let key = self.master_key.token_key(&view.environment.id.to_string(), settings.token_key());
        Ok(IssuedToken { token: key.seal(&content)?, expires_at })
    }

    /// Makes a token for a customer, once per key; also says whether this call only repeats an earlier one.
    pub async fn issue_token_once(
        &self,
        view: &EnvironmentView,
        customer: &Customer,
        key: &str,
    ) -> Result<(IssuedToken, bool), IssueTokenError> {
        let environment = view.environment.id;
        let IssuedToken { token, expires_at } = self.issue_token(view, customer)?;
        let new = KeyedToken {
            key: self.reference_digester.digest(&[
                b"customer token",
                &environment.to_bytes(),
                key.as_bytes(),
            ]),
            fingerprints: self.customer_fingerprints(environment, customer),
            token,
            expires_at,
            created_at: self.clock.now(),
        };
        let deadline = Instant::now() + self.options.request_deadline;
        let keeping = || self.store.keep_customer_token(environment, &new);
        let kept = self.retry_until_known(deadline, keeping).await?;
        let kept =
            kept.ok_or_else(|| StoreError::Broken("the environment of a live key is not stored".to_owned()))?;
        let differing = self.customer_differences(environment, &kept.fingerprints, customer);
        if !differing.is_empty() {
            self.count_key_conflict(environment, &new.key)?;
            return Err(IssueTokenError::KeyReused(differing));
        }
        let replayed = kept.token != new.token;
        Ok((IssuedToken { token: kept.token, expires_at: kept.expires_at }, replayed))
    }

    /// Opens a customer token, as far as it opens.
    pub fn open_token(&self, view: &EnvironmentView, token: &str) -> CustomerToken {
        let content = match span!("open token").in_scope(|| self.token_content(view, token)) {
            None => TokenContent::Unreadable,
            Some((customer, ends)) if ends.is_some_and(|ends| self.clock.now() >= ends) => {
                TokenContent::Expired(customer)
            }
            Some((customer, _)) => TokenContent::Valid(customer),
        };
        CustomerToken { text: Secret::new(token), content }
    }

    /// The customer inside a token, and when it ends.
    fn token_content(&self, view: &EnvironmentView, token: &str) -> Option<(Customer, Option<Timestamp>)> {
        let generation = token_generation(token).ok()?;
        if !view.configuration.settings.opens_token_key(generation) {
            return None;
        }
        self.decrypted(view, token, generation)
    }

    /// The customer inside a token, also if it opens nothing anymore.
    pub(crate) fn customer_in(&self, view: &EnvironmentView, token: &str) -> Option<Customer> {
        let generation = token_generation(token).ok()?;
        self.decrypted(view, token, generation).map(|(customer, _)| customer)
    }

    fn decrypted(
        &self,
        view: &EnvironmentView,
        token: &str,
        generation: u32,
    ) -> Option<(Customer, Option<Timestamp>)> {
        let environment = view.environment.id.to_string();
        let mut keys = self.master_key.token_keys(&environment, generation);
        let opened = keys.find_map(|key| key.open(token).ok())?;
        let content: Content<'_> = serde_json::from_slice(&opened).ok()?;
        let organization = view.environment.organization.to_string();
        if content.v != VERSION || content.env != environment || content.org != organization {
            return None;
        }
        let ends = content.exp.map(Timestamp::from_unix_millis);
        Some((content.customer.read()?, ends))
    }
}

impl CustomerContent<'_> {
    fn read(self) -> Option<Customer> {
        let metadata = match self.metadata.get() {
            text if text.starts_with('"') => serde_json::from_str(text).ok()?,
            json => json.to_owned(),
        };
        Some(Customer {
            external_id: self.external_customer_id,
            email: self.email,
            first_name: self.first_name,
            last_name: self.last_name,
            phone: self.phone,
            metadata,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_in_both_spellings() {
        let read = |metadata: &str| {
            let json = format!(
                r#"{{"externalCustomerId":"c","email":"a@b.example","firstName":"A","lastName":"B","phone":null,"metadata":{metadata}}}"#
            );
            serde_json::from_str::<CustomerContent<'_>>(&json).unwrap().read().unwrap().metadata
        };
        assert_eq!(read(r#"{"a":[1.50,"x\""]}"#), r#"{"a":[1.50,"x\""]}"#);
        assert_eq!(read(r#""{\"a\":[1.50,\"x\\\"\"]}""#), r#"{"a":[1.50,"x\""]}"#);
    }
}
