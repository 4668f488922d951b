//! `POST /csp-reports/<environment id>/<provider>`: what browsers report of pages with a provider's card fields. Anybody can send such
//! reports, so that they are counted and nothing else: by directive and by the host that was blocked, never by address or page.

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;
use tollgate_domain::id::EnvironmentId;

use crate::{
    app::SharedApp,
    request::{body, location::Location},
    response::{
        error::{ApiError, not_found_here},
        respond::ApiResult,
    },
};

/// Where reports are sent to; the environment and the provider follow.
pub(crate) const PATH: &str = "/csp-reports";
const BODY_LIMIT: usize = 64 * 1024;
/// So many reports of one body are counted.
const REPORTS_MAX: usize = 100;

pub(crate) async fn receive(State(app): State<SharedApp>, request: Request<Body>) -> ApiResult {
    let (mut parts, body) = request.into_parts();
    let location = Location::of(&mut parts, &app).await?;
    let environment: EnvironmentId = location.path("environment")?;
    let provider: String = location.path("provider")?;
    let snapshot = app.engine.directory().snapshot();
    let view = snapshot.environment(environment);
    if view.is_none_or(|view| view.configuration.providers.get(&provider).is_none()) {
        body::skip(&parts.headers, body);
        return Err(not_found_here());
    }
    let body = body::read_raw(&parts.headers, body, BODY_LIMIT).await?;
    let unreadable = || ApiError::malformed("This is no report of a browser.");
    let reports: Value = serde_json::from_slice(&body).map_err(|_| unreadable())?;
    let (page, now) = ((environment, provider), app.engine.clock().now());
    for (directive, blocked) in violations(&reports).take(REPORTS_MAX) {
        app.policy_reports.count(&page, directive, blocked, now);
    }
    let mut response = Response::new(Body::from(r#"{"received":true}"#));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    Ok(response)
}

/// Directive and blocked address of each report, in either of the two forms that browsers send.
fn violations(reports: &Value) -> Box<dyn Iterator<Item = (&str, &str)> + '_> {
    fn text<'a>(report: &'a Value, names: &[&str]) -> &'a str {
        names.iter().find_map(|name| report.get(name)?.as_str()).unwrap_or_default()
    }
    match reports {
        Value::Array(reports) => {
            let of_policy = reports.iter().filter(|report| text(report, &["type"]) == "csp-violation");
            let bodies = of_policy.filter_map(|report| report.get("body"));
            Box::new(bodies.map(|body| (text(body, &["effectiveDirective"]), text(body, &["blockedURL"]))))
        }
        one => Box::new(one.get("csp-report").into_iter().map(|report| {
            (text(report, &["effective-directive", "violated-directive"]), text(report, &["blocked-uri"]))
        })),
    }
}

/// Browsers ask first whether a page of another origin may send its reports.
pub(crate) async fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_reports_are_read() {
        let old =
            json!({"csp-report": {"violated-directive": "script-src-elem 'self'", "blocked-uri": "inline"}});
        assert_eq!(violations(&old).collect::<Vec<_>>(), [("script-src-elem 'self'", "inline")]);
        let new = json!([
            {"type": "deprecation", "body": {"id": "x"}},
            {"type": "csp-violation", "body": {"effectiveDirective": "img-src", "blockedURL": "https://a.example/b?c=d"}},
        ]);
        assert_eq!(violations(&new).collect::<Vec<_>>(), [("img-src", "https://a.example/b?c=d")]);
        assert_eq!(violations(&json!("text")).count(), 0);
    }
}
