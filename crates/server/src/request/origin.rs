//! Pages in browsers that call the client API: which may, and how a browser is told.

use axum::body::Body;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN,
        VARY,
    },
};
use tollgate_configuration::EnvironmentSettings;
use tollgate_domain::{id::EnvironmentId, key_scope::Endpoint, tenant::KeyKind};
use tollgate_engine::LiveKey;

use crate::{
    app::App,
    response::{error::ApiError, error_code::ErrorCode},
};

const ALLOWED_HEADERS: &str = "authorization, content-type, idempotency-key, x-request-id";
const EXPOSED_HEADERS: &str = "request-id, retry-after, idempotent-replayed, tollgate-warning";
const MAX_SHOWN_ORIGIN: usize = 100;

/// A call from a page of another origin is refused unless its key may be used there: a secret key never may.
pub(crate) fn check_origin(app: &App, key: &LiveKey, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(origin) = foreign_origin(headers, app.engine.public_url()) else { return Ok(()) };
    let shown: String = origin.chars().take(MAX_SHOWN_ORIGIN).collect();
    let message = match key.kind {
        KeyKind::Secret => format!(
            "A secret key must not be used in a browser, and this request comes from a page at {shown}. Call this \
             endpoint from your backend, and rotate the key if a page contains it."
        ),
        KeyKind::Publishable if allows(app, &key.environment.configuration.settings, origin) => return Ok(()),
        KeyKind::Publishable => format!(
            "Pages at {shown} may not call this environment; add the origin to `settings.allowedOrigins` in its \
             configuration."
        ),
    };
    Err(ApiError::new(ErrorCode::OriginNotAllowed, message))
}

/// The origin of the page that sent a request, unless it is one of this service's own.
fn foreign_origin<'h>(headers: &'h HeaderMap, public_url: &str) -> Option<&'h str> {
    let origin = headers.get(ORIGIN)?.to_str().unwrap_or("null");
    let authority =
        |url: &str| url.split_once("://").map(|(_, rest)| rest.split('/').next().map(str::to_owned));
    let page = authority(origin).flatten();
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let public = authority(public_url).flatten();
    let is_own = page.is_some_and(|page| {
        host.is_some_and(|host| host.eq_ignore_ascii_case(&page))
            || public.is_some_and(|public| public.eq_ignore_ascii_case(&page))
    });
    (!is_own).then_some(origin)
}

fn allows(app: &App, settings: &EnvironmentSettings, origin: &str) -> bool {
    settings.allows_origin(origin) || (app.allows_loopback_origins && is_loopback(origin))
}

/// True if the page was loaded from the browser's own machine.
fn is_loopback(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<http::Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_address = || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    host == "localhost" || host.ends_with(".localhost") || is_address()
}

/// A request of a page at another origin to an endpoint that a publishable key opens.
pub(crate) struct CrossOrigin(HeaderValue);

impl CrossOrigin {
    pub(crate) fn of(app: &App, headers: &HeaderMap, path: &str) -> Option<Self> {
        let origin = headers.get(ORIGIN)?;
        let opens = |endpoint: &Endpoint| {
            endpoint.opens_for(KeyKind::Publishable)
                && endpoint.as_str().split_once(' ') == Some(("POST", path))
        };
        Endpoint::ALL.iter().find(|endpoint| opens(endpoint))?;
        foreign_origin(headers, app.engine.public_url()).map(|_| Self(origin.clone()))
    }

    /// The answer to a browser that asks whether a page may make its call. It sends no key, so that nobody knows yet which
    /// environment is meant: one that allows the origin is enough, and the call itself is checked again.
    pub(crate) fn preflight(
        &self,
        app: &App,
        method: &Method,
        headers: &HeaderMap,
    ) -> Option<Response<Body>> {
        let asks = *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !asks || !self.is_allowed(app, None) {
            return None;
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers: [(HeaderName, &'static str); 3] = [
            (ACCESS_CONTROL_ALLOW_METHODS, "POST"),
            (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
            (ACCESS_CONTROL_MAX_AGE, "600"),
        ];
        response.headers_mut().extend(headers.map(|(name, value)| (name, HeaderValue::from_static(value))));
        Some(response)
    }

    /// Lets the page read the answer, if it may. `environment` is the key's, where one is known.
    pub(crate) fn finish(&self, app: &App, environment: Option<EnvironmentId>, headers: &mut HeaderMap) {
        headers.append(VARY, HeaderValue::from_static("origin"));
        if self.is_allowed(app, environment) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.0.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
        }
    }

    fn is_allowed(&self, app: &App, environment: Option<EnvironmentId>) -> bool {
        let Ok(origin) = self.0.to_str() else { return false };
        let snapshot = app.engine.directory().snapshot();
        let allowed = |settings: &EnvironmentSettings| {
            !settings.secret_key_for_preparation && allows(app, settings, origin)
        };
        match environment.map(|id| snapshot.environment(id)) {
            Some(view) => view.is_some_and(|view| allowed(&view.configuration.settings)),
            None => snapshot.any_environment(|view| allowed(&view.configuration.settings)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_this_service_is_at_home() {
        let public = "https://pay.example.com/tollgate";
        for (origin, host, is_foreign) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", false),
            ("http://LOCALHOST:8080", "localhost:8080", false),
            ("https://pay.example.com", "10.0.0.7:8080", false),
            ("https://pay.example.com", "pay.example.com", false),
            ("https://shop.example", "pay.example.com", true),
            ("http://localhost:3000", "localhost:8080", true),
            ("https://pay.example.com.evil.example", "pay.example.com", true),
            ("null", "pay.example.com", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            headers.insert(HOST, HeaderValue::from_static(host));
            assert_eq!(foreign_origin(&headers, public).is_some(), is_foreign, "{origin} at {host}");
        }
        assert_eq!(foreign_origin(&HeaderMap::new(), public), None, "not from a page at all");
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (origin, expected) in [
            ("http://localhost:3000", true),
            ("http://shop.localhost", true),
            ("http://127.0.0.1:5173", true),
            ("http://[::1]:5173", true),
            ("http://localhost.evil.example", false),
            ("https://shop.example", false),
            ("null", false),
        ] {
            assert_eq!(is_loopback(origin), expected, "{origin}");
        }
    }
}
