//! `GET /admin/v1/environments/<id>/requests`: the client API calls of the last days.

use tollgate_engine::ports::{LoggedRequest, RequestFilter};

use crate::prelude::*;

responses! {
    RequestResponse as LoggedRequest {
        request_id: String,
        at: Moment,
        /// The key it was made with.
        key_id: String,
        method: String,
        path: String,
        /// The operation's path, such as `/client/v1/payments/{reference}`.
        endpoint: String,
        status: u16,
        /// The error's code; null if the call succeeded.
        code: Option<String>,
        /// The names of faulty and unknown fields, never their values.
        fields: Vec<String>,
        duration_ms: u32,
        /// The payment it was about, where one is known.
        service_reference: Option<String>,
    }
}

impl From<LoggedRequest> for RequestResponse {
    fn from(request: LoggedRequest) -> Self {
        Self {
            request_id: request.id.to_string(),
            at: Moment(request.at),
            key_id: request.key.to_string(),
            method: request.method,
            path: request.path,
            endpoint: request.endpoint,
            status: request.status,
            code: request.code,
            fields: request.fields,
            duration_ms: request.took_millis,
            service_reference: request.reference,
        }
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<RequestResponse>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    // Not every database takes a NUL, and no code, path or reference has one.
    let rule = "must not contain NUL";
    let plain = |text: &str| Some(text.to_owned()).filter(|text| !text.contains('\0'));
    let filter = RequestFilter {
        failed: query.value_as("failed", "must be true or false", |text| text.parse().ok()).unwrap_or(false),
        code: query.value_as("code", rule, plain),
        endpoint: query.value_as("endpoint", rule, plain),
        key: query.value("keyId"),
        reference: query.value_as("reference", rule, plain),
        request: query.value("requestId"),
    };
    let (before, limit) = (query.value("before"), query.limit());
    query.finish()?;
    let requests = operator.app.engine.requests(environment, &filter, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(requests, limit, RequestResponse::from, |request| request.id))
}
