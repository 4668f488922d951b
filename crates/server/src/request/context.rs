//! What every handler knows of its request.

use std::net::IpAddr;

use tollgate_domain::{Timestamp, id::RequestId};

use crate::response::error::ApiError;

/// What is known of a request before anything is read of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestContext {
    /// On the answer and in the log.
    pub(crate) id: RequestId,
    /// When it came.
    pub(crate) at: Timestamp,
    /// Where it comes from; behind trusted proxies, where the first of them got it from.
    pub(crate) client: IpAddr,
    /// The method and path of the operation it is for, as the API reference writes them.
    pub(crate) endpoint: (&'static str, &'static str),
}

impl RequestContext {
    /// As the edge put it there.
    pub(crate) fn of(parts: &http::request::Parts) -> Result<Self, ApiError> {
        let context = parts.extensions.get::<Self>().copied();
        context.ok_or_else(|| ApiError::internal("request without context"))
    }
}
