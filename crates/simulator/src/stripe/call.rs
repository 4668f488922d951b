//! One API call: how it is read and authenticated, and how this provider words what all can say.

use super::prelude::*;
use crate::api::{ApiRequest, ReadCall};
use crate::config::StripeKeys;
use data_encoding::BASE64;
use http::Method;
use http::{HeaderMap, HeaderValue};
use subtle::ConstantTimeEq as _;

/// What the browser's key may do.
const BROWSER_OPERATIONS: [&str; 4] = [
    "payment_intents.retrieve",
    "payment_intents.confirm",
    "payment_methods.create",
    "confirmation_tokens.create",
];

/// What the browser's key may not say.
const SERVER_PARAMETERS: [&str; 2] = ["amount_to_confirm", "amount_details"];

/// The account of the keys, a platform.
pub(super) const OWN_ACCOUNT: &str = "acct_1Simulator";
pub(super) const CONNECTED_ACCOUNTS: [&str; 2] = ["acct_1SimulatedShop", "acct_1SimulatedKiosk"];

/// The browser's script has no header for the account.
const BROWSER_ACCOUNT: &str = "_stripe_account";

#[derive(Debug)]
pub(crate) struct Call {
    pub(super) id: String,
    pub(super) params: Params,
    pub(super) from_browser: bool,
    pub(super) is_live: bool,
    pub(super) context: Context,
}

struct Caller {
    key: String,
    from_browser: bool,
    permissions: Permissions,
}

fn authenticate(api: &Api<Stripe>, request: &ApiRequest) -> Answer<Caller> {
    let keys = &api.services().config.stripe;
    let given = request.header(header::AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, rest) = value.split_once(' ')?;
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Some(rest.trim().to_owned()),
            "basic" => {
                let pair = String::from_utf8(BASE64.decode(rest.trim().as_bytes()).ok()?).ok()?;
                pair.split(':').next().map(str::to_owned)
            }
            _ => None,
        }
    });
    let Some(given) = given else {
        return Err(Error::unauthorized(
            "You did not provide an API key. Provide it in the Authorization header, as a Bearer token.",
        ));
    };
    let is = |key: &str| bool::from(key.as_bytes().ct_eq(given.as_bytes()));
    let from_browser = is(&keys.publishable_key);
    let permissions = if is(&keys.secret_key) || is(&live_key(keys)) || from_browser {
        Permissions::default()
    } else {
        api.state().keys.get(&given).cloned().ok_or_else(|| {
            let shown: String = given.chars().take(8).collect();
            Error::unauthorized(format!("Invalid API Key provided: {shown}****"))
        })?
    };
    Ok(Caller { key: given, from_browser, permissions })
}

/// An account has a key for each mode.
fn live_key(keys: &StripeKeys) -> String {
    keys.secret_key.replacen("sk_test_", "sk_live_", 1)
}

fn idempotency_key(request: &ApiRequest) -> Option<&str> {
    request.header("idempotency-key").filter(|_| request.parts.method == Method::POST)
}

/// The connected account that a call is for. A key's own account may be named as well.
fn account(named: Option<&str>) -> Answer<Option<String>> {
    match named {
        None | Some(OWN_ACCOUNT) => Ok(None),
        Some(named) if CONNECTED_ACCOUNTS.contains(&named) => Ok(Some(named.to_owned())),
        Some(other) => Err(no_access(other)),
    }
}

pub(super) fn no_access(account: &str) -> Error {
    let message = format!(
        "The provided key does not have access to account '{account}' (or that account does not exist). \
         Application access may have been revoked."
    );
    Error { status: StatusCode::FORBIDDEN, ..Error::invalid(message) }.code("account_invalid")
}

fn version(request: &ApiRequest) -> &str {
    request.header("stripe-version").unwrap_or(versions::DEFAULT)
}

#[derive(Debug)]
pub(crate) struct Stripe;

impl Provider for Stripe {
    const WIRE: Wire = Wire::Stripe;
    const KEY_KEPT_SECONDS: Option<i64> = Some(24 * 60 * 60);
    type State = State;
    type Call = Call;
    type Error = Error;

    fn read(api: &Api<Self>, request: &ApiRequest) -> Answer<ReadCall<Call>> {
        let Caller { key: given, from_browser, permissions } = authenticate(api, request)?;
        if from_browser && !BROWSER_OPERATIONS.contains(&request.operation) {
            let message =
                "This API call cannot be made with a publishable API key. Please use a secret API key.";
            return Err(Error { status: StatusCode::FORBIDDEN, ..Error::invalid(message) }
                .code("secret_key_required"));
        }
        let is_live = given.contains("k_live_");
        let key = idempotency_key(request).map(str::to_owned);
        if key.as_ref().is_some_and(|key| key.len() > 255) {
            return Err(Error::invalid("Idempotency keys can have up to 255 characters."));
        }
        let (method, uri) = (&request.parts.method, &request.parts.uri);
        let mut params = if method == Method::GET {
            Params::parse(uri.query().unwrap_or_default().as_bytes())
        } else {
            let kind = request.header("content-type").unwrap_or_default();
            if !request.body.is_empty() && !kind.starts_with("application/x-www-form-urlencoded") {
                let message = "Invalid request (check that your POST content type is \
                    application/x-www-form-urlencoded).";
                return Err(Error::invalid(message));
            }
            Params::parse(&request.body)
        };
        let of_browser = if from_browser { params.take(BROWSER_ACCOUNT) } else { None };
        let account = account(request.header("stripe-account").or(of_browser.as_deref()))?;
        let owner = account.as_deref().unwrap_or(OWN_ACCOUNT);
        permissions.check((&given, owner), (method, request.operation), &params.list("expand"))?;
        versions::check(version(request), request.operation, &params)?;
        if from_browser && let Some(name) = SERVER_PARAMETERS.into_iter().find(|name| params.has(name)) {
            return Err(Error::unknown(name));
        }
        list::check_expand(&params)?;
        let fingerprint = format!("{method} {} {}", uri.path(), params.fingerprint());
        // Each account has keys of its own.
        let claimed =
            key.clone().map(|key| account.iter().fold(key, |key, account| format!("{account}/{key}")));
        let context = Context {
            services: Arc::clone(api.services()),
            now: calendar::unix_seconds(),
            request_id: Some(request.request_id.clone()),
            idempotency_key: key,
            version: version(request).to_owned(),
            account,
        };
        Ok(ReadCall {
            call: Call { id: request.id.clone(), params, from_browser, is_live, context },
            key: claimed,
            fingerprint,
        })
    }

    fn finish(state: &State, call: &Call, answer: &mut Value) {
        list::expand(state, &call.params, answer);
        versions::show_as_of(&call.context.version, answer);
    }

    fn add_headers(request: &ApiRequest, replay_of: Option<&str>, headers: &mut HeaderMap) {
        for (name, value) in [
            ("request-id", Some(request.request_id.as_str())),
            ("stripe-version", Some(version(request))),
            ("idempotency-key", idempotency_key(request)),
            ("idempotent-replayed", replay_of.map(|_| "true")),
            ("original-request", replay_of),
        ] {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        }
    }

    fn server_error(status: StatusCode) -> Error {
        Error::new(status, "api_error", "An unknown error occurred (simulated).")
    }

    fn simulated_refusal(operation: &str, code: Option<&str>) -> Error {
        let message = "Rejected (simulated).";
        if operation == "payment_intents.confirm" {
            let error = Error::new(StatusCode::PAYMENT_REQUIRED, "card_error", message).code("card_declined");
            error.with("decline_code", code.unwrap_or("generic_decline"))
        } else {
            Error::invalid(message).code(code.unwrap_or("parameter_invalid_empty"))
        }
    }

    fn rate_limited() -> Error {
        let message = "Request rate limit exceeded (simulated).";
        Error::new(StatusCode::TOO_MANY_REQUESTS, "invalid_request_error", message).code("rate_limit")
    }

    fn key_reused(key: &str, _: Option<&str>) -> Error {
        let message = format!(
            "Keys for idempotent requests can only be used with the same parameters they were first used with. \
             Try using a key other than '{key}' if you meant to execute a different request."
        );
        Error::new(StatusCode::BAD_REQUEST, "idempotency_error", message)
    }

    fn key_in_use(key: &str) -> Error {
        let message =
            format!("There is currently another in-progress request using this Idempotent Key ({key}).");
        Error::new(StatusCode::CONFLICT, "idempotency_error", message).code("idempotency_key_in_use")
    }
}
