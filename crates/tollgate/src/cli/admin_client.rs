//! The command line as a client of the admin API.

use std::{net::IpAddr, time::Duration};

use axum::body::Bytes;
use http::{Method, StatusCode, header};
use serde_json::Value;
use tollgate_vault::Secret;

use super::{
    http::{Http, Reply},
    sandbox_file::SandboxFile,
    variable,
};
use crate::failure::Failure;

const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// An audit of a large database takes a while; nothing takes longer.
const LONG_REQUEST_TIMEOUT: Duration = Duration::from_mins(30);
pub(super) const AUDIT: &str = "/admin/v1/audit";
const NO_SERVER: &str = "no server configured: set TOLLGATE_URL and TOLLGATE_ADMIN_TOKEN, or run this where a \
                         sandbox has its tollgate-data folder (TOLLGATE_DATA_DIR names another)";

const ALLOW_PLAIN_HTTP: &str = "TOLLGATE_ALLOW_PLAIN_HTTP";

/// A server and the token for it.
pub(crate) struct AdminClient {
    pub(crate) url: String,
    token: Secret,
    /// Where the token came from, for whoever has to correct it.
    token_from: String,
    pub(crate) http: Http,
}

/// A document and the version it has.
pub(crate) struct Versioned {
    pub(crate) data: Value,
    pub(crate) version: u64,
}

impl AdminClient {
    /// Finds the server by `TOLLGATE_URL` and `TOLLGATE_ADMIN_TOKEN`, or by the sandbox's notes.
    ///
    /// A token out of the notes goes to the sandbox of those notes and to nobody else.
    pub(crate) fn find(sandbox_file: Option<&SandboxFile>) -> Result<Self, Failure> {
        let url = variable("TOLLGATE_URL").map(|url| url.trim_end_matches('/').to_owned());
        let noted = sandbox_file.and_then(SandboxFile::base_url);
        let is_sandbox = url.is_none() || url.as_deref() == noted;
        let (token, token_from) = match (variable("TOLLGATE_ADMIN_TOKEN"), sandbox_file) {
            (Some(token), _) => (Secret::new(token), "TOLLGATE_ADMIN_TOKEN".to_owned()),
            (None, Some(sandbox_file)) if is_sandbox => {
                let token = sandbox_file.admin_token().ok_or_else(|| Failure::new(NO_SERVER))?;
                (token, sandbox_file.path.display().to_string())
            }
            (None, _) => return Err(Failure::new(NO_SERVER)),
        };
        let url = url.or_else(|| noted.map(str::to_owned)).ok_or_else(|| Failure::new(NO_SERVER))?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Failure::new(format!(
                "TOLLGATE_URL is `{url}`; write it like https://pay.example.com"
            )));
        }
        if !is_encrypted_or_local(&url) && variable(ALLOW_PLAIN_HTTP).as_deref() != Some("true") {
            return Err(Failure::new(format!(
                "{url} is another machine, and http would show the admin token to everybody on the way; use an https URL, \
                 or set {ALLOW_PLAIN_HTTP}=true if the network in between is yours"
            )));
        }
        Ok(Self { url, token, token_from, http: Http::new()? })
    }

    pub(crate) fn token_length(&self) -> usize {
        self.token.expose().chars().count()
    }

    /// The data of a successful answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.ask(Method::GET, path, None, &[]).await?.1)
    }

    /// A successful answer word for word.
    pub(crate) async fn get_bytes(&self, path: &str) -> Result<Bytes, Failure> {
        Ok(self.ask(Method::GET, path, None, &[]).await?.0.body)
    }

    /// A successful answer that is no JSON.
    pub(crate) async fn get_text(&self, path: &str) -> Result<String, Failure> {
        let reply = self.send(Method::GET, path, None, &[]).await?;
        if reply.status.is_success() {
            return Ok(String::from_utf8_lossy(&reply.body).into_owned());
        }
        self.data_of(&reply).map(|_| String::new())
    }

    /// A document with its version.
    pub(crate) async fn get_versioned(&self, path: &str) -> Result<Versioned, Failure> {
        let (reply, data) = self.ask(Method::GET, path, None, &[]).await?;
        Ok(Versioned { version: self.version_of(&reply)?, data })
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        Ok(self.ask(Method::POST, path, Some(body), &[]).await?.1)
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        Ok(self.ask(Method::PATCH, path, Some(body), &[]).await?.1)
    }

    /// Puts a document in the place of the version that was read, and of no other.
    pub(crate) async fn put(&self, path: &str, body: &Value, version: u64) -> Result<Value, Failure> {
        let condition = (header::IF_MATCH.as_str(), format!("\"{version}\""));
        Ok(self.ask(Method::PUT, path, Some(body), &[condition]).await?.1)
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.ask(Method::DELETE, path, None, &[]).await?.1)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, String)],
    ) -> Result<(Reply, Value), Failure> {
        let reply = self.send(method, path, body, headers).await?;
        let data = self.data_of(&reply)?;
        Ok((reply, data))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, String)],
    ) -> Result<Reply, Failure> {
        let mut all = vec![("authorization", format!("Bearer {}", self.token.expose()))];
        all.extend(
            variable("TOLLGATE_ACTOR").or_else(|| variable("USER")).map(|who| ("tollgate-actor", who)),
        );
        all.extend_from_slice(headers);
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let url = format!("{}{path}", self.url);
        let is_audit = path.split('?').next() == Some(AUDIT);
        let timeout = if is_audit { LONG_REQUEST_TIMEOUT } else { REQUEST_TIMEOUT };
        self.http.send(method, &url, &all, body, timeout).await.map_err(|why| {
            Failure::new(format!(
                "{} is not responding: {why}; start the server, or set TOLLGATE_URL",
                self.url
            ))
        })
    }

    fn data_of(&self, reply: &Reply) -> Result<Value, Failure> {
        let Ok(envelope) = serde_json::from_slice::<Value>(&reply.body) else {
            return Err(self.not_tollgate());
        };
        match envelope.get("success").and_then(Value::as_bool) {
            Some(true) => Ok(envelope.get("data").cloned().unwrap_or_default()),
            Some(false) if reply.status == StatusCode::UNAUTHORIZED => {
                Err(Failure::answered(401, &envelope).saying(format!(
                    "{} rejected the admin token from {}; set TOLLGATE_ADMIN_TOKEN to the token the server was started with",
                    self.url, self.token_from
                )))
            }
            Some(false) => Err(Failure::answered(reply.status.as_u16(), &envelope)),
            None => Err(self.not_tollgate()),
        }
    }

    fn not_tollgate(&self) -> Failure {
        Failure::new(format!("the server at {} is not tollgate; check TOLLGATE_URL", self.url))
    }

    fn version_of(&self, reply: &Reply) -> Result<u64, Failure> {
        let tag = reply.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
        let version = tag.and_then(|tag| tag.trim_matches('"').parse().ok());
        version.ok_or_else(|| self.not_tollgate())
    }
}

/// Whether what is sent there can be read by nobody else: encrypted, or on this machine.
fn is_encrypted_or_local(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return true };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // What stands before an `@` is a user's name, whatever it looks like.
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_crosses_a_network_only_encrypted() {
        for (url, expected) in [
            ("https://pay.example.com", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost:8080", true),
            ("http://pay.example.com", false),
            ("http://10.0.0.7:8080", false),
            ("http://localhost.example.com", false),
            ("http://localhost@pay.example.com", false),
            ("http://127.0.0.1:80@pay.example.com:80", false),
        ] {
            assert_eq!(is_encrypted_or_local(url), expected, "{url}");
        }
    }
}
