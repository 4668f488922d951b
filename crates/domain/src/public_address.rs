//! Which network addresses belong to the public internet, and which to somebody's own machine or network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges that are nobody's public address, by IANA's registry of special-purpose addresses: first address and length
/// of the prefix.
const NOT_PUBLIC_V4: [([u8; 4], u32); 18] = [
    ([0, 0, 0, 0], 8),        // this network
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by carriers
    ([127, 0, 0, 0], 8),      // loopback
    ([169, 254, 0, 0], 16),   // link-local, where clouds keep their metadata
    ([168, 63, 129, 16], 32), // a cloud's own agent, reached from every machine in it
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 31, 196, 0], 24),  // AS112
    ([192, 88, 99, 0], 24),   // relays of 6to4
    ([192, 168, 0, 0], 16),   // private
    ([192, 175, 48, 0], 24),  // AS112, directly delegated
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, and broadcast
];

/// Within `2000::/3`, which is all that is public to begin with: what leads to an IPv4 address in disguise, or nowhere.
const NOT_PUBLIC_V6: [([u16; 3], u32); 6] = [
    ([0x2001, 0x0000, 0], 23), // protocol assignments: Teredo, benchmarks, AS112, ORCHID
    ([0x2001, 0x0db8, 0], 32), // documentation
    ([0x2002, 0x0000, 0], 16), // 6to4
    ([0x2620, 0x004f, 0x8000], 48), // AS112, directly delegated
    ([0x3fff, 0x0000, 0], 20), // documentation
    ([0x3ffe, 0x0000, 0], 16), // an experiment that ended
];

/// Whether a connection to this address leaves for the public internet. Addresses that carry another one inside
/// (IPv4-mapped, IPv4-compatible, NAT64, 6to4, Teredo) are not public, whatever they carry.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = u128::from(address.to_bits());
    !NOT_PUBLIC_V4
        .iter()
        .any(|(first, length)| same_prefix(bits, u128::from(u32::from_be_bytes(*first)), 32, *length))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = address.to_bits();
    // Loopback, mapped, compatible, NAT64, unique-local, link-local, site-local and multicast all lie outside.
    let is_global = bits >> 125 == 1;
    let is_special = NOT_PUBLIC_V6.iter().any(|([high, middle, low], length)| {
        let first = (u128::from(*high) << 112) | (u128::from(*middle) << 96) | (u128::from(*low) << 80);
        same_prefix(bits, first, 128, *length)
    });
    is_global && !is_special
}

fn same_prefix(one: u128, other: u128, width: u32, length: u32) -> bool {
    let rest = width.saturating_sub(length);
    one >> rest == other >> rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_range_is_told_from_its_neighbours() {
        for (text, expected) in [
            ("0.0.0.0", false),
            ("0.255.255.255", false),
            ("1.0.0.0", true),
            ("1.1.1.1", true),
            ("9.255.255.255", true),
            ("10.0.0.0", false),
            ("10.255.255.255", false),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.64.0.0", false),
            ("100.127.255.255", false),
            ("100.128.0.0", true),
            ("126.255.255.255", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("128.0.0.0", true),
            ("168.63.129.15", true),
            ("168.63.129.16", false),
            ("168.63.129.17", true),
            ("169.253.255.255", true),
            ("169.254.169.254", false),
            ("169.255.0.0", true),
            ("172.15.255.255", true),
            ("172.16.0.0", false),
            ("172.31.255.255", false),
            ("172.32.0.0", true),
            ("192.0.0.8", false),
            ("192.0.1.0", true),
            ("192.0.2.1", false),
            ("192.31.196.1", false),
            ("192.88.99.1", false),
            ("192.167.255.255", true),
            ("192.168.0.1", false),
            ("192.169.0.0", true),
            ("192.175.47.255", true),
            ("192.175.48.42", false),
            ("192.175.49.0", true),
            ("198.17.255.255", true),
            ("198.18.0.0", false),
            ("198.19.255.255", false),
            ("198.20.0.0", true),
            ("198.51.100.7", false),
            ("203.0.113.7", false),
            ("223.255.255.255", true),
            ("224.0.0.1", false),
            ("239.255.255.255", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::8.8.8.8", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", false),
            ("::ffff:0:8.8.8.8", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b:1::1", false),
            ("100::1", false),
            ("1fff::1", false),
            ("2001::1", false),
            ("2001:0:53aa:64c:0:fbff:f5fe:fd4f", false),
            ("2001:2::1", false),
            ("2001:20::1", false),
            ("2001:1ff::1", false),
            ("2001:200::1", true),
            ("2001:db8::1", false),
            ("2001:4860:4860::8888", true),
            ("2002:7f00:1::1", false),
            ("2003::1", true),
            ("2001:4:112::1", false),
            ("2606:4700:4700::1111", true),
            ("2620:4f:7fff::1", true),
            ("2620:4f:8000::42", false),
            ("2620:4f:8001::1", true),
            ("3ffe::1", false),
            ("3fff::1", false),
            ("3fff:1000::1", true),
            ("4000::1", false),
            ("5f00::1", false),
            ("fc00::1", false),
            ("fd12:3456::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        }
    }
}
