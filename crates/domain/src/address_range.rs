//! Ranges of IP addresses, as keys and proxies are limited to them, and what counts as one client.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

/// `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`: an address, and how many of its leading bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRange {
    network: IpAddr,
    prefix: u8,
}

/// One client: an IPv4 address, or the network that a single subscriber has of IPv6.
pub fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// The text is no address and no range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an IP address or a range such as 10.0.0.0/8")]
pub struct InvalidAddressRange;

impl AddressRange {
    /// Whether the address is one of the range. An IPv4 address that is written as an IPv6 one is the same address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.network, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or_default();
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or_default();
                network.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl FromStr for AddressRange {
    type Err = InvalidAddressRange;

    fn from_str(text: &str) -> Result<Self, InvalidAddressRange> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let network: IpAddr = address.parse().map_err(|_| InvalidAddressRange)?;
        // Mapped into IPv6, an IPv4 range would be counted in other bits than those it is written in.
        if network.to_canonical() != network {
            return Err(InvalidAddressRange);
        }
        let longest = if network.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
            Some(_) => None,
            None => Some(longest),
        };
        let prefix = prefix.filter(|prefix| *prefix <= longest).ok_or(InvalidAddressRange)?;
        Ok(Self { network, prefix })
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = if self.network.is_ipv4() { 32 } else { 128 };
        if self.prefix == longest {
            return self.network.fmt(f);
        }
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_addresses_and_no_others() {
        for (range, address, expected) in [
            ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("203.0.113.7", "203.0.113.7", true),
            ("203.0.113.7", "203.0.113.8", false),
            ("0.0.0.0/0", "198.51.100.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "2001:db9::1", true),
            ("::1", "::1", true),
        ] {
            let parsed: AddressRange = range.parse().unwrap();
            assert_eq!(parsed.contains(address.parse().unwrap()), expected, "{range} {address}");
            assert_eq!(parsed.to_string(), range);
        }
    }

    #[test]
    fn a_subscriber_of_ipv6_is_one_client() {
        for (address, client) in [
            ("203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"),
        ] {
            assert_eq!(client_of(address.parse().unwrap()).to_string(), client, "{address}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in
            ["", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/", "10.0.0.0/+8", "::ffff:10.0.0.0/104", "a"]
        {
            assert_eq!(text.parse::<AddressRange>(), Err(InvalidAddressRange), "{text}");
        }
    }
}
