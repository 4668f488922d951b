//! Customer tokens: who a transfer is for, sealed so that only their own environment opens it again.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::{Timestamp, customer::Customer};
use tollgate_vault::{SealError, Secret, token_generation};

use crate::{engine::Engine, snapshot::EnvironmentView};

const VERSION: u64 = 1;

/// A token and how long it opens.
#[derive(Debug)]
pub struct IssuedToken {
    /// The token.
    pub token: String,
    /// When it ends; `None` is never.
    pub expires_at: Option<Timestamp>,
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
        let content = json!({
            "v": VERSION,
            "org": view.environment.organization.to_string(),
            "env": view.environment.id.to_string(),
            "iat": now.unix_millis(),
            "exp": expires_at.map(Timestamp::unix_millis),
            "customer": {
                "externalCustomerId": customer.external_id,
                "email": customer.email,
                "firstName": customer.first_name,
                "lastName": customer.last_name,
                "phone": customer.phone,
                "metadata": customer.metadata,
            },
        });
        let key = self.master_key.token_key(&view.environment.id.to_string(), settings.token_key());
        Ok(IssuedToken { token: key.seal(content.to_string().as_bytes())?, expires_at })
    }

    /// Opens a customer token, as far as it opens.
    pub fn open_token(&self, view: &EnvironmentView, token: &str) -> CustomerToken {
        let content = match self.token_content(view, token) {
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
        let environment = view.environment.id.to_string();
        let opened = self.master_key.token_key(&environment, generation).open(token).ok()?;
        let content: Value = serde_json::from_slice(&opened).ok()?;
        let is = |name: &str, expected: &str| content.get(name).and_then(Value::as_str) == Some(expected);
        let organization = view.environment.organization.to_string();
        let known = content.get("v").and_then(Value::as_u64) == Some(VERSION);
        if !known || !is("env", &environment) || !is("org", &organization) {
            return None;
        }
        let ends = content.get("exp").and_then(Value::as_i64).map(Timestamp::from_unix_millis);
        Some((content.get("customer").and_then(read_customer)?, ends))
    }
}

fn read_customer(value: &Value) -> Option<Customer> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Customer {
        external_id: text("externalCustomerId")?,
        email: text("email")?,
        first_name: text("firstName")?,
        last_name: text("lastName")?,
        phone: text("phone"),
        metadata: text("metadata")?,
    })
}
