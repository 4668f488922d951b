//! The addresses events may be sent to, as far as an address by itself can tell.

use std::net::IpAddr;

use tollgate_domain::public_address::is_public;
use url::{Host, Url};

const LONGEST: usize = 2_000;

/// An address that keeps the rules, in its one spelling: `https://0x7f.1` is `https://127.0.0.1/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointUrl(String);

/// Why events are not sent to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    /// It is too long.
    #[error("must be at most {LONGEST} characters")]
    TooLong,
    /// It is no address.
    #[error("must be an absolute URL such as https://shop.example/events")]
    Malformed,
    /// It is not encrypted.
    #[error("must start with https://")]
    NotHttps,
    /// It has a user name or a password in it.
    #[error("must not contain a user name or password; receivers verify deliveries by signature")]
    Credentials,
    /// It has a fragment.
    #[error("must not contain a fragment (#...)")]
    Fragment,
    /// It is this machine or a private network.
    #[error("must be a public address; this server does not send events to private or loopback addresses")]
    NotPublic,
}

impl EndpointUrl {
    /// Checks an address. Names are looked up when something is sent there, not here.
    pub fn parse(text: &str, allow_private: bool) -> Result<Self, InvalidUrl> {
        if text.chars().count() > LONGEST {
            return Err(InvalidUrl::TooLong);
        }
        // A parser forgives spaces and line breaks; whoever wrote them meant something else.
        if text.chars().any(|outbound| outbound.is_control() || outbound.is_whitespace()) {
            return Err(InvalidUrl::Malformed);
        }
        let url = Url::parse(text).map_err(|_| InvalidUrl::Malformed)?;
        match url.scheme() {
            "https" => {}
            "http" if allow_private => {}
            _ => return Err(InvalidUrl::NotHttps),
        }
        let host = url.host().ok_or(InvalidUrl::Malformed)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidUrl::Credentials);
        }
        if url.fragment().is_some() {
            return Err(InvalidUrl::Fragment);
        }
        if !allow_private && !may_be_public(&host) {
            return Err(InvalidUrl::NotPublic);
        }
        if url.as_str().len() > LONGEST {
            return Err(InvalidUrl::TooLong);
        }
        Ok(Self(url.into()))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn may_be_public(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => is_public(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_public(IpAddr::V6(*address)),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            !name.is_empty() && name != "localhost" && !name.ends_with(".localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_by_their_rules() {
        use InvalidUrl::{Credentials, Fragment, Malformed, NotHttps, NotPublic, TooLong};
        let long = format!("https://shop.example/{}", "a".repeat(2_000));
        let grows = format!("https://shop.example/{}", "é".repeat(1_000));
        for (text, public, private) in [
            ("https://shop.example", Ok("https://shop.example/"), Ok("https://shop.example/")),
            (
                "https://shop.example/a?b=c",
                Ok("https://shop.example/a?b=c"),
                Ok("https://shop.example/a?b=c"),
            ),
            ("HTTPS://SHOP.example:443/", Ok("https://shop.example/"), Ok("https://shop.example/")),
            (
                "https://bücher.example/",
                Ok("https://xn--bcher-kva.example/"),
                Ok("https://xn--bcher-kva.example/"),
            ),
            ("https://8.8.8.8:8443/", Ok("https://8.8.8.8:8443/"), Ok("https://8.8.8.8:8443/")),
            ("http://shop.example/", Err(NotHttps), Ok("http://shop.example/")),
            ("http://127.0.0.1:9/x", Err(NotHttps), Ok("http://127.0.0.1:9/x")),
            ("ftp://shop.example/", Err(NotHttps), Err(NotHttps)),
            ("file:///etc/passwd", Err(NotHttps), Err(NotHttps)),
            ("https://user@shop.example/", Err(Credentials), Err(Credentials)),
            ("https://:word@shop.example/", Err(Credentials), Err(Credentials)),
            ("https://shop.example/#top", Err(Fragment), Err(Fragment)),
            ("https://shop.example/#", Err(Fragment), Err(Fragment)),
            ("https://localhost/", Err(NotPublic), Ok("https://localhost/")),
            ("https://LOCALHOST./", Err(NotPublic), Ok("https://localhost./")),
            ("https://a.localhost/", Err(NotPublic), Ok("https://a.localhost/")),
            ("https://127.0.0.1/", Err(NotPublic), Ok("https://127.0.0.1/")),
            ("https://0x7f.1/", Err(NotPublic), Ok("https://127.0.0.1/")),
            ("https://2130706433/", Err(NotPublic), Ok("https://127.0.0.1/")),
            ("https://017700000001/", Err(NotPublic), Ok("https://127.0.0.1/")),
            ("https://[::ffff:10.0.0.1]/", Err(NotPublic), Ok("https://[::ffff:a00:1]/")),
            ("https://169.254.169.254/latest", Err(NotPublic), Ok("https://169.254.169.254/latest")),
            (" https://shop.example/", Err(Malformed), Err(Malformed)),
            ("https://shop.example/a\nb", Err(Malformed), Err(Malformed)),
            ("shop.example/events", Err(Malformed), Err(Malformed)),
            ("https://", Err(Malformed), Err(Malformed)),
            ("", Err(Malformed), Err(Malformed)),
            (long.as_str(), Err(TooLong), Err(TooLong)),
            (grows.as_str(), Err(TooLong), Err(TooLong)),
        ] {
            for (allow_private, expected) in [(false, public), (true, private)] {
                let found = EndpointUrl::parse(text, allow_private);
                assert_eq!(
                    found.as_ref().map(EndpointUrl::as_str),
                    expected.as_ref().map(|url| *url),
                    "{text}"
                );
            }
        }
    }
}
