//! The OpenID Connect issuer that operators may sign in with.

use std::time::Duration;

use tollgate_console::ConsoleTokens;
use tollgate_oidc::{Assurance, OidcSettings, is_acceptable_issuer};
use tollgate_vault::Secret;

use super::{File, flag, text};
use crate::failure::Failure;

const ISSUER: &str = "TOLLGATE_OIDC_ISSUER";
const CLIENT_ID: &str = "TOLLGATE_OIDC_CLIENT_ID";
const CLIENT_SECRET: &str = "TOLLGATE_OIDC_CLIENT_SECRET";

const ACR_VALUES: &str = "TOLLGATE_OIDC_ACR_VALUES";
const AMR_VALUES: &str = "TOLLGATE_OIDC_AMR_VALUES";
const MAX_AGE: &str = "TOLLGATE_OIDC_MAX_AGE_SECONDS";
const SSO_ONLY: &str = "TOLLGATE_CONSOLE_SSO_ONLY";
const ADMIN_TOKEN: &str = "TOLLGATE_CONSOLE_ALLOW_ADMIN_TOKEN";

/// What opens the console beside single sign-on.
pub(super) fn console_tokens(file: &File, has_issuer: bool) -> Result<ConsoleTokens, Failure> {
    let sso_only = flag(SSO_ONLY, file.console_sso_only, false)?;
    let admin_token = flag(ADMIN_TOKEN, file.console_allow_admin_token, false)?;
    match (sso_only, admin_token) {
        (true, _) if !has_issuer => Err(Failure::new(format!(
            "{SSO_ONLY} closes the console to everybody without single sign-on: set {ISSUER}, {CLIENT_ID} and {CLIENT_SECRET}, too"
        ))),
        (true, true) => Ok(ConsoleTokens::AdminOnly),
        (true, false) => Ok(ConsoleTokens::None),
        (false, _) => Ok(ConsoleTokens::All),
    }
}

fn assurance(file: &File) -> Result<Assurance, Failure> {
    let words = |name: &str, from_file: &Option<String>| {
        let set = text(name)?.or_else(|| from_file.clone()).unwrap_or_default();
        Ok::<_, Failure>(set.split_whitespace().map(str::to_owned).collect())
    };
    let max_age = match text(MAX_AGE)? {
        Some(text) => Some(text.parse::<u64>().map_err(|_| {
            Failure::new(format!("{MAX_AGE} must be a whole number of seconds, such as 3600"))
        })?),
        None => file.oidc_max_age_seconds,
    };
    Ok(Assurance {
        contexts: words(ACR_VALUES, &file.oidc_acr_values)?,
        methods: words(AMR_VALUES, &file.oidc_amr_values)?,
        max_age: max_age.map(Duration::from_secs),
    })
}

pub(super) fn settings(file: &File) -> Result<Option<OidcSettings>, Failure> {
    let setting = |name: &str, from_file: &Option<String>| {
        let set = text(name)?.or_else(|| from_file.clone());
        Ok::<_, Failure>(set.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
    };
    let issuer = setting(ISSUER, &file.oidc_issuer)?;
    let client_id = setting(CLIENT_ID, &file.oidc_client_id)?;
    let client_secret = setting(CLIENT_SECRET, &file.oidc_client_secret)?.map(Secret::new);
    let (issuer, client_id, client_secret) = match (issuer, client_id, client_secret) {
        (None, None, None) => return Ok(None),
        (Some(issuer), Some(client_id), Some(client_secret)) => (issuer, client_id, client_secret),
        _ => {
            return Err(Failure::new(format!(
                "{ISSUER}, {CLIENT_ID} and {CLIENT_SECRET} belong together; set all three, or none"
            )));
        }
    };
    if !is_acceptable_issuer(&issuer) {
        return Err(Failure::new(format!(
            "{ISSUER} must be an https URL such as https://id.example.com, without a query; plain http only on this machine"
        )));
    }
    Ok(Some(OidcSettings { issuer, client_id, client_secret, assurance: assurance(file)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(issuer: Option<&str>, secret: Option<&str>) -> Result<Option<OidcSettings>, Failure> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        settings(&File {
            oidc_issuer: owned(issuer),
            oidc_client_id: Some("console".to_owned()),
            oidc_client_secret: owned(secret),
            ..File::default()
        })
    }

    #[test]
    fn an_issuer_needs_a_client_and_a_safe_address() {
        let whole = of(Some("https://id.example.com/"), Some("do not print me")).unwrap().unwrap();
        assert_eq!(whole.issuer, "https://id.example.com/", "exactly as the issuer writes itself");
        assert!(!format!("{whole:?}").contains("do not print me"));
        for (issuer, secret) in [(None, None), (Some("https://id.example.com"), None), (None, Some("x"))] {
            assert!(of(issuer, secret).unwrap_err().to_string().contains("all three, or none"));
        }
        let plain = of(Some("http://id.example.com"), Some("do not print me")).unwrap_err().to_string();
        assert!(plain.contains("TOLLGATE_OIDC_ISSUER must be an https URL"), "{plain}");
        assert!(settings(&File::default()).unwrap().is_none());
    }
}
