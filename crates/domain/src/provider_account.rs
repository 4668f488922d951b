//! Which account at a provider a payment was sent to. A payment whose outcome is unknown is never sent to another one.

/// What identifies an account at a provider, as it was configured when a payment was first sent there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderAccount {
    /// The base URL of its API.
    pub address: String,
    /// The account's or location's id, where the configuration names one.
    pub id: Option<String>,
    /// A keyed digest of the credential that was used.
    pub credential: String,
}

/// How the account in the configuration compares with the one a payment was sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountMatch {
    /// Same address, same account, same credential.
    Same,
    /// Only the credential differs: rotated, or another owner's. Only the provider can tell.
    OtherCredential,
    /// The configuration names another account or location.
    OtherAccount,
    /// The configuration leads to another address.
    OtherAddress,
}

impl ProviderAccount {
    /// How `configured` compares with this account.
    pub fn compare(&self, configured: &Self) -> AccountMatch {
        if self.address != configured.address {
            AccountMatch::OtherAddress
        } else if self.id != configured.id {
            AccountMatch::OtherAccount
        } else if self.credential != configured.credential {
            AccountMatch::OtherCredential
        } else {
            AccountMatch::Same
        }
    }

    /// The account in words for an operator.
    pub fn describe(&self) -> String {
        match &self.id {
            Some(id) => format!("{id} at {} (credential {})", self.address, self.credential),
            None => format!("{} (credential {})", self.address, self.credential),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(address: &str, id: Option<&str>, credential: &str) -> ProviderAccount {
        ProviderAccount {
            address: address.to_owned(),
            id: id.map(str::to_owned),
            credential: credential.to_owned(),
        }
    }

    #[test]
    fn the_gravest_difference_is_named() {
        let sent_to = account("https://a", Some("account_1"), "k1");
        for (configured, expected) in [
            (account("https://a", Some("account_1"), "k1"), AccountMatch::Same),
            (account("https://a", Some("account_1"), "k2"), AccountMatch::OtherCredential),
            (account("https://a", Some("account_2"), "k1"), AccountMatch::OtherAccount),
            (account("https://a", None, "k1"), AccountMatch::OtherAccount),
            (account("https://b", Some("account_1"), "k1"), AccountMatch::OtherAddress),
        ] {
            assert_eq!(sent_to.compare(&configured), expected, "{configured:?}");
        }
    }
}
