//! Who is asking: API keys for the client API, personal tokens and the admin token for the operators'.

use http::{HeaderMap, header};
use tollgate_domain::{people::Identity, tenant::KeyKind};
use tollgate_engine::{KeyRejection, LiveKey, RateLimitExceeded, Snapshot};
use tollgate_vault::{Digest, shape_of_key};

use crate::{
    app::App,
    request::{call_notes, context::RequestContext, origin::check_origin},
    response::{error::ApiError, error_code::ErrorCode},
};

/// What an endpoint asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A secret key; without any credential the answer is 401.
    SecretKey,
    /// A secret key; without any credential the answer is 403.
    Transfer,
    /// Either kind of key, unless the environment demands a secret one for preparations.
    Preparation,
}

impl Access {
    fn demands_secret(self, key: &LiveKey) -> bool {
        match self {
            Self::SecretKey | Self::Transfer => true,
            Self::Preparation => key.environment.configuration.settings.secret_key_for_preparation,
        }
    }
}

const HOW_TO_AUTHENTICATE: &str = "Send your key as `Authorization: Bearer sk_…`.";

/// The key the caller presented, if it opens anything and may do what is asked.
pub(crate) fn authenticate<'s>(
    app: &App,
    snapshot: &'s Snapshot,
    headers: &HeaderMap,
    context: &RequestContext,
    access: Access,
) -> Result<&'s LiveKey, ApiError> {
    tollgate_trace::span!("authenticate").in_scope(|| find_key(app, snapshot, headers, context, access))
}

fn find_key<'s>(
    app: &App,
    snapshot: &'s Snapshot,
    headers: &HeaderMap,
    context: &RequestContext,
    access: Access,
) -> Result<&'s LiveKey, ApiError> {
    let Some(text) = bearer(headers).map_err(|message| refuse(app, context, message))? else {
        if access == Access::Transfer {
            return Err(ApiError::secret_key_required(
                "Bank transfers need a secret key, but no credential was sent. Send it as `Authorization: Bearer sk_…`.",
            ));
        }
        return Err(ApiError::unauthenticated(format!("No credential was sent. {HOW_TO_AUTHENTICATE}")));
    };
    let key = snapshot.authenticate(Digest::of(text), context.at).map_err(|refusal| {
        let message = match (refusal, shape_of_key(text)) {
            (KeyRejection::Expired, _) => {
                "This API key has expired; use the one that replaced it, or have a new one issued.".to_owned()
            }
            (KeyRejection::Unknown, Ok(_)) => "This API key is unknown; it may have been revoked.".to_owned(),
            (KeyRejection::Unknown, Err(fault)) => {
                format!("{}. {HOW_TO_AUTHENTICATE}", capitalized(&fault.to_string()))
            }
        };
        refuse(app, context, message)
    })?;
    let is_strict = key.environment.configuration.settings.strict_fields;
    call_notes::caller(key.environment.environment.id, key.id, is_strict);
    check_origin(app, key, headers)?;
    if !key.scope.allows_address(context.client) {
        return Err(ApiError::new(
            ErrorCode::KeyNotAllowed,
            format!(
                "This key is limited to other IP addresses than {}; call from one of them, or have a key issued for this one.",
                context.client
            ),
        ));
    }
    if access.demands_secret(key) && key.kind != KeyKind::Secret {
        return Err(ApiError::secret_key_required(
            "This endpoint needs a secret key (sk_…), but a publishable key was sent. Call it from your backend.",
        ));
    }
    let (method, path) = context.endpoint;
    if !key.scope.allows_endpoint(method, path) {
        return Err(ApiError::new(
            ErrorCode::KeyNotAllowed,
            format!(
                "This key is limited to other endpoints than {method} {path}; use a key that may call it."
            ),
        ));
    }
    if let Some(rate) = key.environment.configuration.settings.rate_limit_per_second {
        key.meters.limiter.take(rate, rate).map_err(|exhausted| {
            ApiError::rate_limited(
                "Rate limit exceeded for this key; retry after the time in Retry-After.",
                exhausted.retry_after,
            )
        })?;
    }
    key.meters.used(context.at);
    Ok(key)
}

pub(crate) fn identify_operator(
    app: &App,
    headers: &HeaderMap,
    context: &RequestContext,
) -> Result<Identity, ApiError> {
    let Some(text) = bearer(headers).map_err(|message| refuse(app, context, message))? else {
        return Err(ApiError::unauthenticated(
            "No credential was sent. Send your personal token or the admin token as `Authorization: Bearer …`.",
        ));
    };
    let identified = app.engine.identify_operator(&app.admin_token, text);
    identified.map_err(|fault| match app.engine.count_bad_credential(Some(context.client)) {
        Ok(()) => ApiError::unauthenticated(format!("{}.", capitalized(&fault.to_string()))),
        Err(exhausted) => too_many(exhausted),
    })
}

/// A credential that opens nothing: 401, or 429 for whoever keeps sending them.
fn refuse(app: &App, context: &RequestContext, message: String) -> ApiError {
    match app.bad_credentials.take(Some(context.client)) {
        Ok(()) => ApiError::unauthenticated(message),
        Err(exhausted) => too_many(exhausted),
    }
}

pub(crate) fn too_many(exhausted: RateLimitExceeded) -> ApiError {
    ApiError::rate_limited(
        "Too many invalid credentials from this address; check the key or token.",
        exhausted.retry_after,
    )
}

/// The credential, if one was sent; an `Authorization` that is not a bearer credential is a faulty one.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, String> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err("More than one Authorization header was sent; send exactly one.".to_owned());
    }
    if value.is_empty() {
        return Ok(None);
    }
    let text = value.to_str().unwrap_or_default().trim();
    let malformed = || format!("The Authorization header is malformed. {HOW_TO_AUTHENTICATE}");
    let (scheme, credential) = text.split_once(' ').ok_or_else(malformed)?;
    let credential = credential.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !credential.is_empty() {
        Ok(Some(credential))
    } else {
        Err(malformed())
    }
}

fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
