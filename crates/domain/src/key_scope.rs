//! What a key is limited to: some endpoints of the client API, and calls from some addresses.

use std::net::IpAddr;

use crate::{address_range::AddressRange, tenant::KeyKind};

/// An endpoint of the client API, by method and path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint(&'static str);

impl Endpoint {
    /// Every endpoint that takes a key.
    pub const ALL: [Self; 19] = [
        Self("POST /client/v1/fees/quote"),
        Self("POST /client/v1/payments"),
        Self("GET /client/v1/payments/{reference}"),
        Self("POST /client/v1/payments/component"),
        Self("POST /client/v1/payments/component/{reference}/card"),
        Self("POST /client/v1/payments/component/{reference}/confirm"),
        Self("POST /client/v1/payments/component/{reference}/switch"),
        Self("POST /client/v1/ach/customer-tokens"),
        Self("POST /client/v1/ach/transfers/preview"),
        Self("POST /client/v1/ach/transfers"),
        Self("POST /client/v1/ach/transfers/{reference}/cancel"),
        Self("GET /client/v1/wallet"),
        Self("GET /client/v1/transactions"),
        Self("GET /client/v1/transactions/{reference}"),
        Self("POST /client/v1/transactions/{reference}/capture"),
        Self("POST /client/v1/transactions/{reference}/void"),
        Self("POST /client/v1/transactions/{reference}/refunds"),
        Self("GET /client/v1/transactions/{reference}/refunds"),
        Self("GET /client/v1/refunds/{refund}"),
    ];

    /// `POST /client/v1/payments`, as the API reference writes it.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|endpoint| endpoint.0 == text)
    }

    /// Whether a key of this kind can open it at all.
    pub fn opens_for(self, kind: KeyKind) -> bool {
        kind == KeyKind::Secret
            || matches!(self.0, "POST /client/v1/payments" | "POST /client/v1/payments/component")
    }

    fn is(self, method: &str, path: &str) -> bool {
        self.0.split_once(' ') == Some((method, path))
    }
}

/// What a key is limited to; by default, nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyScope {
    /// The only endpoints it may call; `None` is every one that its kind opens.
    pub endpoints: Option<Vec<Endpoint>>,
    /// The only addresses it may be used from; `None` is any.
    pub addresses: Option<Vec<AddressRange>>,
}

impl KeyScope {
    /// Whether the key may call this endpoint, named by its method and the path of the API reference.
    pub fn allows_endpoint(&self, method: &str, path: &str) -> bool {
        let endpoints = self.endpoints.as_ref();
        endpoints.is_none_or(|allowed| allowed.iter().any(|endpoint| endpoint.is(method, path)))
    }

    /// Whether the key may be used from this address.
    pub fn allows_address(&self, address: IpAddr) -> bool {
        self.addresses.as_ref().is_none_or(|allowed| allowed.iter().any(|range| range.contains(address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_allows_what_it_lists_and_nothing_else() {
        let open = KeyScope::default();
        assert!(open.allows_endpoint("GET", "/client/v1/wallet"));
        assert!(open.allows_address([203, 0, 113, 7].into()));
        let scope = KeyScope {
            endpoints: Some(vec![
                Endpoint::parse("GET /client/v1/transactions/{reference}/refunds").unwrap(),
            ]),
            addresses: Some(vec!["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()]),
        };
        let refunds = "/client/v1/transactions/{reference}/refunds";
        assert!(scope.allows_endpoint("GET", refunds));
        assert!(!scope.allows_endpoint("POST", refunds), "reading refunds is not refunding");
        assert!(!scope.allows_endpoint("GET", "/client/v1/wallet"));
        assert!(scope.allows_address([10, 1, 2, 3].into()));
        assert!(!scope.allows_address([203, 0, 113, 7].into()));
        // A list that has become empty opens nothing.
        let nothing = KeyScope { endpoints: Some(Vec::new()), addresses: Some(Vec::new()) };
        assert!(!nothing.allows_endpoint("GET", "/client/v1/wallet"));
        assert!(!nothing.allows_address([10, 1, 2, 3].into()));
    }
}
