//! The command line as a client of the admin API.

use std::{env, fs, path::PathBuf, time::Duration};

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tollgate_vault::Secret;

use crate::failure::Failure;

/// An audit of a large database takes a while; nothing takes longer.
const PATIENCE: Duration = Duration::from_mins(5);
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A server and the token for it.
pub(crate) struct AdminClient {
    url: String,
    token: Secret,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl AdminClient {
    /// Finds the server by `TOLLGATE_URL` and `TOLLGATE_ADMIN_TOKEN`, or by the sandbox's notes.
    pub(crate) fn find() -> Result<Self, Failure> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let notes = || {
            let folder =
                set("TOLLGATE_DATA_DIR").map_or_else(|| PathBuf::from("tollgate-data"), PathBuf::from);
            let text = fs::read_to_string(folder.join("sandbox.json")).ok()?;
            serde_json::from_str::<Value>(&text).ok()
        };
        let (url, token) = match (set("TOLLGATE_URL"), set("TOLLGATE_ADMIN_TOKEN")) {
            (Some(url), Some(token)) => (url, token),
            (url, token) => {
                let notes = notes().unwrap_or_default();
                let noted = |name: &str| notes.get(name).and_then(Value::as_str).map(str::to_owned);
                let missing = "there is no server to ask: set TOLLGATE_URL and TOLLGATE_ADMIN_TOKEN, or run this \
                               beside a sandbox's tollgate-data folder";
                let missing = || Failure::new(missing);
                (
                    url.or_else(|| noted("baseUrl")).ok_or_else(missing)?,
                    token.or_else(|| noted("adminToken")).ok_or_else(missing)?,
                )
            }
        };
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::aws_lc_rs::default_provider())
            .map_err(|error| Failure::new(format!("cannot read the system's certificates: {error}")))?
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { url: url.trim_end_matches('/').to_owned(), token: Secret::new(token), client })
    }

    /// The data of a successful answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Failure> {
        let address = format!("{}{path}", self.url);
        let unreachable = |why: String| {
            Failure::new(format!("{} does not answer: {why}; is the server running there?", self.url))
        };
        let request = http::Request::get(&address)
            .header(http::header::AUTHORIZATION, format!("Bearer {}", self.token.expose()))
            .body(Full::default())
            .map_err(|_| Failure::new(format!("{address} is not an address")))?;
        let asking = async {
            let answer =
                self.client.request(request).await.map_err(|error| unreachable(error.to_string()))?;
            let body = Limited::new(answer.into_body(), LARGEST_ANSWER).collect().await;
            body.map(http_body_util::Collected::to_bytes).map_err(|error| unreachable(error.to_string()))
        };
        let waited = tokio::time::timeout(PATIENCE, asking).await;
        let body = waited.map_err(|_| unreachable("it took too long".to_owned()))??;
        let envelope: Value = serde_json::from_slice(&body)
            .map_err(|_| Failure::new(format!("what answers at {} is not tollgate", self.url)))?;
        if envelope.get("success").and_then(Value::as_bool) == Some(true) {
            return Ok(envelope.get("data").cloned().unwrap_or_default());
        }
        let message = envelope.get("message").and_then(Value::as_str).unwrap_or("the server refused");
        Err(Failure::new(message.to_owned()))
    }
}
