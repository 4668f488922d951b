//! The people who operate the service, and what each of them may do.

use std::sync::Arc;

use crate::{
    audit_log::ActorKind,
    id::{OrganizationId, TokenId, UserId},
    time::Timestamp,
};

/// What a person is trusted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Reads everything but people.
    Viewer,
    /// Also resends events and refunds payments.
    Support,
    /// Also changes configurations, wallets, keys and payments.
    Operator,
    /// Reads, and approves what others have asked for.
    Approver,
    /// Everything, people included.
    Admin,
}

impl Role {
    pub const ALL: [Self; 5] = [Self::Viewer, Self::Support, Self::Operator, Self::Approver, Self::Admin];

    /// The name used in the admin API and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Support => "support",
            Self::Operator => "operator",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether the role includes the permission.
    pub const fn allows(self, permission: Permission) -> bool {
        match permission {
            Permission::Read | Permission::Inspect | Permission::OwnAccount => true,
            Permission::Resend | Permission::Refund | Permission::WriteNotes => {
                matches!(self, Self::Support | Self::Operator | Self::Admin)
            }
            Permission::ManagePayments
            | Permission::Configure
            | Permission::MoveFunds
            | Permission::ManageKeys => matches!(self, Self::Operator | Self::Admin),
            Permission::Approve => matches!(self, Self::Approver | Self::Admin),
            Permission::CreateOrganizations
            | Permission::ManageUsers
            | Permission::RotateMasterKey
            | Permission::ReadAuditLog => {
                matches!(self, Self::Admin)
            }
        }
    }
}

/// What an operation of the admin API or a page of the console asks for. Every one of them names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    Read,
    /// Read what covers every organization at once: the ledger's audit, the state of the installation.
    Inspect,
    /// Send events again, and apply those of providers again.
    Resend,
    Refund,
    /// Put notes on payments.
    WriteNotes,
    /// Capture and void, resolve exceptions, see corrected account numbers.
    ManagePayments,
    /// Applications, environments, their configuration, event endpoints.
    Configure,
    MoveFunds,
    ManageKeys,
    CreateOrganizations,
    ManageUsers,
    RotateMasterKey,
    ReadAuditLog,
    Approve,
    /// See oneself, and make and revoke one's own tokens.
    OwnAccount,
}

impl Permission {
    /// Whether what it opens cannot be cut down to a few organizations.
    const fn covers_all_organizations(self) -> bool {
        matches!(
            self,
            Self::Inspect
                | Self::CreateOrganizations
                | Self::ManageUsers
                | Self::RotateMasterKey
                | Self::ReadAuditLog
        )
    }
}

/// What an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing of a single organization.
    Service,
    /// Something of this organization.
    Organization(OrganizationId),
    /// Something that does not exist.
    Nowhere,
}

/// Why somebody may not do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The role does not include it.
    Role,
    /// It covers every organization, and the role is limited to some.
    Limited,
    /// It belongs to another organization, and must look as if it did not exist.
    Hidden,
}

/// A person's role, and where it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub role: Role,
    /// The only organizations it holds in; `None` for all of them.
    pub organizations: Option<Vec<OrganizationId>>,
}

impl Access {
    /// Decides: the one place where a role meets an operation. The role comes first, so that what does not exist and what
    /// belongs to others are refused alike.
    pub fn check(&self, permission: Permission, place: Place) -> Result<(), Denied> {
        if !self.role.allows(permission) {
            return Err(Denied::Role);
        }
        let Some(own) = &self.organizations else { return Ok(()) };
        match place {
            Place::Service if permission.covers_all_organizations() => Err(Denied::Limited),
            Place::Service => Ok(()),
            Place::Organization(organization) if own.contains(&organization) => Ok(()),
            Place::Organization(_) | Place::Nowhere => Err(Denied::Hidden),
        }
    }
}

/// A person who operates the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub name: String,
    /// In lower case; no two people who were not removed share one.
    pub email: String,
    pub access: Access,
    pub created_at: Timestamp,
    /// From this moment none of their tokens is valid. What they did stays attributed to them.
    pub removed_at: Option<Timestamp>,
    /// Whom the issuer of single sign-on vouched for when they first signed in with it; nobody else signs in as them.
    pub subject: Option<SignOnSubject>,
    /// When they last signed in or used a session of single sign-on, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A person as an OpenID Connect issuer knows them, whatever their address is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOnSubject {
    pub issuer: String,
    /// The issuer's `sub`, which it never gives to anybody else.
    pub subject: String,
}

/// What is kept of a personal token: never the token itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserToken {
    pub id: TokenId,
    pub user: UserId,
    /// What its owner calls it, such as the machine it is on.
    pub name: String,
    /// SHA-256 of the whole token.
    pub digest: [u8; 32],
    pub last_four: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// To the minute.
    pub last_used_at: Option<Timestamp>,
    /// Who else may hold it: whoever issued it has seen it, and so may have whoever may hold the token that was used for that.
    pub issuers: Vec<UserId>,
}

/// Who an operator's request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Whoever holds the server's own admin token, which is for the first user and for emergencies.
    Bootstrap,
    User {
        user: Arc<User>,
        /// The token they presented; none after single sign-on.
        token: Option<TokenId>,
        /// Who else may hold it.
        issuers: Arc<[UserId]>,
    },
}

impl Identity {
    /// The organizations that can be seen; `None` for all of them.
    pub fn organizations(&self) -> Option<&[OrganizationId]> {
        match self {
            Self::Bootstrap => None,
            Self::User { user, .. } => user.access.organizations.as_deref(),
        }
    }

    /// Whether this may be done there.
    pub fn check(&self, permission: Permission, place: Place) -> Result<(), Denied> {
        match self {
            Self::Bootstrap => Ok(()),
            Self::User { user, .. } => user.access.check(permission, place),
        }
    }

    /// Whether this may be done somewhere.
    pub fn may(&self, permission: Permission) -> bool {
        match self {
            Self::Bootstrap => true,
            Self::User { user, .. } => user.access.check(permission, Place::Service).is_ok(),
        }
    }

    /// Everybody it may be: the user, and whoever else may hold their token. Nobody in particular holds the admin token.
    pub fn people(&self) -> Vec<UserId> {
        match self {
            Self::Bootstrap => Vec::new(),
            Self::User { user, issuers, .. } => {
                let others = issuers.iter().copied().filter(|issuer| *issuer != user.id);
                std::iter::once(user.id).chain(others).collect()
            }
        }
    }

    /// The token they presented, if any.
    pub fn token(&self) -> Option<TokenId> {
        match self {
            Self::Bootstrap => None,
            Self::User { token, .. } => *token,
        }
    }

    /// What the audit log knows them as.
    pub fn kind(&self) -> ActorKind {
        match self {
            Self::Bootstrap => ActorKind::Bootstrap,
            Self::User { user, .. } => ActorKind::User(user.id),
        }
    }

    /// How changes are attributed. Whoever holds the admin token may give a name, which nothing proves.
    pub fn actor(&self, given_name: Option<&str>) -> String {
        match self {
            Self::Bootstrap => given_name.unwrap_or("admin").to_owned(),
            Self::User { user, .. } => format!("{} <{}>", user.name, user.email),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERMISSIONS: [Permission; 15] = [
        Permission::Read,
        Permission::Inspect,
        Permission::Resend,
        Permission::Refund,
        Permission::ManagePayments,
        Permission::Configure,
        Permission::MoveFunds,
        Permission::ManageKeys,
        Permission::CreateOrganizations,
        Permission::ManageUsers,
        Permission::RotateMasterKey,
        Permission::ReadAuditLog,
        Permission::Approve,
        Permission::OwnAccount,
        Permission::WriteNotes,
    ];

    fn organization(number: u8) -> OrganizationId {
        OrganizationId::from_bytes([number; 16])
    }

    #[test]
    fn each_role_allows_what_it_is_for() {
        for (role, allowed) in [
            (Role::Viewer, "110000000000010"),
            (Role::Support, "111100000000011"),
            (Role::Operator, "111111110000011"),
            (Role::Approver, "110000000000110"),
            (Role::Admin, "111111111111111"),
        ] {
            let found: String =
                PERMISSIONS.iter().map(|it| if role.allows(*it) { '1' } else { '0' }).collect();
            assert_eq!(found, allowed, "{}", role.as_str());
        }
    }

    #[test]
    fn a_limited_role_holds_in_its_organizations_only() {
        let access = Access { role: Role::Operator, organizations: Some(vec![organization(1)]) };
        for (permission, place, expected) in [
            (Permission::ManageKeys, Place::Organization(organization(1)), Ok(())),
            (Permission::ManageKeys, Place::Organization(organization(2)), Err(Denied::Hidden)),
            (Permission::ManageKeys, Place::Nowhere, Err(Denied::Hidden)),
            (Permission::ManageUsers, Place::Organization(organization(2)), Err(Denied::Role)),
            (Permission::ManageUsers, Place::Nowhere, Err(Denied::Role)),
            (Permission::Read, Place::Service, Ok(())),
            (Permission::Inspect, Place::Service, Err(Denied::Limited)),
        ] {
            assert_eq!(access.check(permission, place), expected, "{permission:?} {place:?}");
        }
        let unlimited = Access { organizations: None, ..access };
        assert_eq!(unlimited.check(Permission::Inspect, Place::Service), Ok(()));
        assert_eq!(unlimited.check(Permission::ManageKeys, Place::Organization(organization(2))), Ok(()));
    }

    #[test]
    fn nobody_takes_the_name_of_a_user() {
        let user = User {
            id: UserId::from_bytes([1; 16]),
            name: "Ada Lovelace".to_owned(),
            email: "ada@example.com".to_owned(),
            access: Access { role: Role::Viewer, organizations: None },
            created_at: Timestamp::from_unix_millis(0),
            removed_at: None,
            subject: None,
            last_used_at: None,
        };
        let ada = Identity::User {
            user: Arc::new(user),
            token: Some(TokenId::from_bytes([2; 16])),
            issuers: Arc::new([]),
        };
        assert_eq!(ada.actor(Some("Grace Hopper")), "Ada Lovelace <ada@example.com>");
        assert_eq!(Identity::Bootstrap.actor(Some("Grace Hopper")), "Grace Hopper");
        assert_eq!(Identity::Bootstrap.actor(None), "admin");
    }
}
