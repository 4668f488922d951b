//! The log of client API calls.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, RequestId},
};
use tollgate_engine::ports::{
    ErrorGroup, KeyUse, LoggedRequest, QuoteCount, RequestFilter, RequestLogStore, StoreError,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::request_log,
};

port! {
    impl RequestLogStore {
        Write request_log::record => record_requests(
            requests: &[LoggedRequest], quotes: &[QuoteCount], uses: &[KeyUse]
        ) -> ();
        Read request_log::list => requests(
            environment: EnvironmentId, filter: &RequestFilter, before: Option<RequestId>, limit: u32
        ) -> Vec<LoggedRequest>;
        Read request_log::errors => request_errors(
            environment: EnvironmentId, since: Timestamp, most: u32
        ) -> Vec<ErrorGroup>;
        Read request_log::quotes => quote_counts(environment: EnvironmentId, from: Timestamp) -> Vec<QuoteCount>;
        Write request_log::forget => forget_requests(
            environment: EnvironmentId, before: Timestamp, limit: u32
        ) -> u64;
    } and {}
}
