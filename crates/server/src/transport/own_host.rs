//! Under which names this service is asked for.

use std::net::IpAddr;

/// True if a `Host` header names this machine, an address, or the service's public name. Only a name that its owner can
/// make lead anywhere is foreign: an address cannot be led elsewhere.
pub(crate) fn is_own(host: &str, public_url: &str) -> bool {
    let public = public_url.split_once("://").map_or(public_url, |(_, rest)| rest);
    let public = name(public.split('/').next().unwrap_or_default());
    let host = name(host);
    let is_local = host == "localhost" || host.ends_with(".localhost");
    is_local || host.parse::<IpAddr>().is_ok() || host == public
}

/// Without the port and the brackets of IPv6, in lower case.
fn name(host: &str) -> String {
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_anybody_can_lead_here_is_foreign() {
        for (host, expected) in [
            ("127.0.0.1:8080", true),
            ("[::1]:8080", true),
            ("192.168.1.7", true),
            ("localhost:8080", true),
            ("LOCALHOST", true),
            ("shop.localhost", true),
            ("pay.example.com", true),
            ("pay.example.com:443", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_own(host, "https://pay.example.com/tollgate"), expected, "{host}");
        }
    }
}
