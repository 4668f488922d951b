//! The calls of the client API that callers made, kept for some days for those who look for a mistake.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId, RequestId},
};

use super::StoreError;

/// One call: never a body, a query or a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    pub id: RequestId,
    pub environment: EnvironmentId,
    pub at: Timestamp,
    /// The key it was made with.
    pub key: KeyId,
    pub method: String,
    /// As it was asked for.
    pub path: String,
    /// The operation's path, `/client/v1/payments/{reference}`: what errors are grouped by.
    pub endpoint: String,
    pub status: u16,
    /// The error's code; `None` of one that succeeded.
    pub code: Option<String>,
    /// The names of faulty and of unknown fields, never their values.
    pub fields: Vec<String>,
    pub took_millis: u32,
    /// The payment it was about, where one is known.
    pub reference: Option<String>,
}

/// Which calls; everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestFilter {
    /// Only those that failed.
    pub failed: bool,
    pub code: Option<String>,
    pub endpoint: Option<String>,
    pub key: Option<KeyId>,
    pub reference: Option<String>,
    pub request: Option<RequestId>,
}

/// Calls that failed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorGroup {
    pub code: String,
    pub endpoint: String,
    pub count: u64,
    /// The latest of them.
    pub last: RequestId,
    pub last_at: Timestamp,
}

/// Quotes that succeeded: there are too many of them to keep each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteCount {
    pub environment: EnvironmentId,
    pub key: KeyId,
    /// The beginning of the hour.
    pub hour: Timestamp,
    pub count: u64,
}

/// When a key last opened something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyUse {
    pub environment: EnvironmentId,
    pub key: KeyId,
    pub at: Timestamp,
}

/// The part of the store that keeps calls.
#[async_trait]
pub trait RequestLogStore: Send + Sync + 'static {
    /// Keeps calls, each once, adds to the quotes of their hours, and notes the latest use of keys.
    async fn record_requests(
        &self,
        requests: &[LoggedRequest],
        quotes: &[QuoteCount],
        uses: &[KeyUse],
    ) -> Result<(), StoreError>;

    /// Calls of an environment, newest first, below `before` if given.
    async fn requests(
        &self,
        environment: EnvironmentId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<LoggedRequest>, StoreError>;

    /// The latest `most` failed calls since then, grouped by code and endpoint, the most frequent first.
    async fn request_errors(
        &self,
        environment: EnvironmentId,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<ErrorGroup>, StoreError>;

    /// The quotes of the hours that begin at `from` or later, oldest first.
    async fn quote_counts(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
    ) -> Result<Vec<QuoteCount>, StoreError>;

    /// Forgets up to `limit` calls, and the quotes, of an environment from before that moment. Returns how many calls.
    async fn forget_requests(
        &self,
        environment: EnvironmentId,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;
}
