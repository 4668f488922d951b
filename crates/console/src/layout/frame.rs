//! What stands around every page.

use tollgate_domain::people::{Identity, Permission};

/// What stands around every page.
pub(crate) struct Frame {
    pub(crate) title: String,
    /// Which entry of the menu is the page's own.
    pub(crate) section: &'static str,
    /// What the links of this environment begin with; empty outside of one.
    pub(crate) base: String,
    pub(crate) place: String,
    pub(crate) csrf: String,
    pub(crate) actor: String,
    /// Whose page it is, as far as is known.
    pub(crate) identity: Option<Identity>,
    /// What the last form has to say.
    pub(crate) said: Option<String>,
}

/// What the page offers. What it does not offer is refused all the same.
impl Frame {
    fn may(&self, permission: Permission) -> bool {
        self.identity.as_ref().is_some_and(|identity| identity.may(permission))
    }

    pub(crate) fn may_resend(&self) -> bool {
        self.may(Permission::Resend)
    }

    pub(crate) fn may_refund(&self) -> bool {
        self.may(Permission::Refund)
    }

    pub(crate) fn may_manage_payments(&self) -> bool {
        self.may(Permission::ManagePayments)
    }

    pub(crate) fn may_configure(&self) -> bool {
        self.may(Permission::Configure)
    }

    pub(crate) fn may_move_funds(&self) -> bool {
        self.may(Permission::MoveFunds)
    }

    pub(crate) fn may_manage_keys(&self) -> bool {
        self.may(Permission::ManageKeys)
    }

    pub(crate) fn may_create_organizations(&self) -> bool {
        self.may(Permission::CreateOrganizations)
    }

    pub(crate) fn may_manage_users(&self) -> bool {
        self.may(Permission::ManageUsers)
    }
}
