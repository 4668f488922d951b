//! What an issuer publishes about itself.

use http::Uri;
use serde::Deserialize;

use crate::OidcError;

/// The part of the discovery document that is needed here.
#[derive(Debug, Deserialize)]
pub(crate) struct Discovery {
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    pub(crate) jwks_uri: String,
    pub(crate) userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

impl Discovery {
    /// Reads the document of this issuer.
    pub(crate) fn read(bytes: &[u8], issuer: &str) -> Result<Self, OidcError> {
        let document: Self = serde_json::from_slice(bytes).map_err(|_| {
            OidcError::Misconfigured(format!(
                "{} is not a configuration of an OpenID Connect issuer; check TOLLGATE_OIDC_ISSUER",
                location(issuer)
            ))
        })?;
        if document.issuer != issuer {
            let own: String = document.issuer.chars().filter(|c| !c.is_control()).take(200).collect();
            return Err(OidcError::Misconfigured(format!(
                "the issuer calls itself {own}; set TOLLGATE_OIDC_ISSUER to exactly that"
            )));
        }
        let required = [&document.authorization_endpoint, &document.token_endpoint, &document.jwks_uri];
        for endpoint in required.into_iter().chain(&document.userinfo_endpoint) {
            if !is_safe(endpoint) {
                return Err(OidcError::Misconfigured(
                    "the issuer's configuration names an endpoint that is not https".to_owned(),
                ));
            }
        }
        Ok(document)
    }

    /// Whether the client's secret goes into the header, which is what an issuer takes unless it says otherwise.
    pub(crate) fn takes_basic_authentication(&self) -> bool {
        let methods = &self.token_endpoint_auth_methods_supported;
        let has = |wanted: &str| methods.iter().any(|method| method == wanted);
        has("client_secret_basic") || !has("client_secret_post")
    }
}

/// Where an issuer's document is.
pub(crate) fn location(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
}

/// Whether this can be an issuer: an https URL without a query, or a plain one on this machine.
pub fn is_acceptable_issuer(text: &str) -> bool {
    is_safe(text) && !text.contains('?')
}

/// Encrypted, or not leaving this machine.
fn is_safe(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let (Some(authority), Some(host)) = (uri.authority(), uri.host()) else { return false };
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if authority.as_str().contains('@') || text.contains('#') || !is_plain {
        return false;
    }
    match uri.scheme_str() {
        Some("https") => true,
        Some("http") => matches!(host, "localhost" | "127.0.0.1" | "[::1]"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(issuer: &str, token_endpoint: &str) -> String {
        format!(
            r#"{{"issuer":"{issuer}","authorization_endpoint":"https://id.example.com/auth",
                "token_endpoint":"{token_endpoint}","jwks_uri":"https://keys.example.com/","other":1}}"#
        )
    }

    #[test]
    fn an_issuer_is_encrypted_or_local() {
        for (text, expected) in [
            ("https://id.example.com", true),
            ("https://id.example.com/realms/main/", true),
            ("http://localhost:3000", true),
            ("http://127.0.0.1:3000", true),
            ("http://id.example.com", false),
            ("http://localhost.example.com", false),
            ("https://user@id.example.com", false),
            ("https://id.example.com?tenant=1", false),
            ("https://id.example.com#x", false),
            ("id.example.com", false),
            ("ftp://id.example.com", false),
            ("https://id.example.com/\u{7f}", false),
            ("", false),
        ] {
            assert_eq!(is_acceptable_issuer(text), expected, "{text}");
        }
        let expected = "https://a.example/x/.well-known/openid-configuration";
        assert_eq!(location("https://a.example/x/"), expected);
        assert_eq!(location("https://a.example/x"), expected);
    }

    #[test]
    fn a_document_belongs_to_its_issuer_and_leads_to_safe_endpoints() {
        let issuer = "https://id.example.com/";
        let read = |text: &str| Discovery::read(text.as_bytes(), issuer);
        assert!(read(&document(issuer, "https://id.example.com/token")).is_ok());
        let other = read(&document("https://id.example.com", "https://id.example.com/token")).unwrap_err();
        assert!(other.to_string().contains("calls itself https://id.example.com;"), "{other}");
        let plain = read(&document(issuer, "http://id.example.com/token")).unwrap_err();
        assert!(plain.to_string().contains("not https"), "{plain}");
        assert!(read("<html>").is_err());
    }

    #[test]
    fn the_secret_goes_where_the_issuer_takes_it() {
        for (methods, expected) in [
            (vec![], true),
            (vec!["client_secret_post"], false),
            (vec!["client_secret_post", "client_secret_basic"], true),
            (vec!["private_key_jwt"], true),
        ] {
            let mut read = Discovery::read(document("i", "https://a.example").as_bytes(), "i").unwrap();
            read.token_endpoint_auth_methods_supported = methods.iter().map(ToString::to_string).collect();
            assert_eq!(read.takes_basic_authentication(), expected, "{methods:?}");
        }
    }
}
