//! Where a request comes from, also behind proxies.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use tollgate_domain::address_range::AddressRange;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// What proxies add to what they pass on.
const FORWARDED: [&str; 4] = [FORWARDED_FOR, "forwarded", "via", "x-real-ip"];

/// The address of whoever sent the request. Proxies add the address they were called from at the end of
/// `X-Forwarded-For`; what one says is believed only if it is trusted itself, so the list is read from its end up to the
/// first address that is not a trusted proxy's. Whatever stands before that may be invented.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|range| range.contains(address));
    if !is_trusted(peer) {
        return peer;
    }
    let mut client = peer;
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    for hop in values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(',')) {
        // Not an address: nothing before it can be believed either.
        let Some(address) = address_of(hop.trim()) else { break };
        client = address;
        if !is_trusted(address) {
            break;
        }
    }
    client
}

/// True if a program on this machine asks, rather than a proxy on this machine on behalf of a client.
pub(crate) fn is_on_this_machine(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> bool {
    let is_proxy = trusted.iter().any(|range| range.contains(peer));
    peer.to_canonical().is_loopback()
        && !is_proxy
        && !FORWARDED.iter().any(|name| headers.contains_key(*name))
}

/// An address; some proxies write the port behind it.
fn address_of(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    let with_port = || hop.parse::<SocketAddr>().map(|address| address.ip());
    bare.parse().or_else(|_| with_port()).ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn client(peer: &str, forwarded: &[&'static str]) -> String {
        let trusted = ["10.0.0.0/8", "::1"].map(|range| range.parse().unwrap());
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn what_a_proxy_passes_on_does_not_come_from_this_machine() {
        let asked = |peer: &str, header: Option<&'static str>, trusted: &[AddressRange]| {
            let headers = header.map(|name| (name.parse().unwrap(), HeaderValue::from_static("x")));
            is_on_this_machine(peer.parse().unwrap(), &headers.into_iter().collect(), trusted)
        };
        assert!(
            asked("127.0.0.1", None, &[]) && asked("::1", None, &[]) && asked("::ffff:127.0.0.1", None, &[])
        );
        assert!(!asked("192.0.2.1", None, &[]));
        assert!(!asked("127.0.0.1", None, &["127.0.0.0/8".parse().unwrap()]), "the address of a proxy");
        for header in FORWARDED {
            assert!(!asked("127.0.0.1", Some(header), &[]), "{header}");
        }
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        assert_eq!(client("203.0.113.9", &["198.51.100.1"]), "203.0.113.9", "anybody can write the header");
        assert_eq!(client("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(
            client("10.0.0.1", &["192.0.2.66, 198.51.100.1"]),
            "198.51.100.1",
            "the first is invented"
        );
        assert_eq!(client("10.0.0.1", &["192.0.2.66", "198.51.100.1, 10.2.0.7"]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["10.0.0.5, 10.2.0.7"]), "10.0.0.5", "from within");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["198.51.100.1, unknown, 10.2.0.7"]), "10.2.0.7");
        assert_eq!(client("10.0.0.1", &["198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(client("::1", &["[2001:db8::7]:443"]), "2001:db8::7");
        assert_eq!(client("::1", &["[2001:db8::7]"]), "2001:db8::7");
    }
}
