//! What stands around every page.

use tollgate_domain::{
    people::{Identity, Permission},
    tenant::Mode,
};
use tollgate_engine::{Area, Check, CheckStatus};

use crate::layout::commands::Command;

/// What stands around every page.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) title: String,
    /// Which entry of the menu is the page's own.
    pub(crate) section: &'static str,
    /// What the links of this environment begin with; empty outside of one.
    pub(crate) base: String,
    pub(crate) place: String,
    /// Whether real money moves here, as far as the environment's name tells.
    pub(crate) mode: Option<Mode>,
    pub(crate) csrf: String,
    pub(crate) actor: String,
    /// Whose page it is, as far as is known.
    pub(crate) identity: Option<Identity>,
    /// What the last form has to say.
    pub(crate) said: Option<String>,
    /// The entry in the audit log of what was done last.
    pub(crate) entry: Option<u64>,
    /// What needs a person in this environment, as the doctor sees it.
    pub(crate) checks: Vec<Check>,
}

/// An entry of the menu.
pub(crate) struct MenuEntry {
    pub(crate) link: String,
    pub(crate) title: &'static str,
    pub(crate) is_here: bool,
    pub(crate) badge: Option<MenuBadge>,
}

/// How much needs a person behind an entry of the menu.
pub(crate) struct MenuBadge {
    pub(crate) count: u32,
    pub(crate) is_problem: bool,
}

/// A section, its page, its name, and what its badge counts.
type Section = (&'static str, &'static str, &'static str, &'static [Area]);

/// The sections by group. The first group needs no name.
const MENU: [(&str, &[Section]); 4] = [
    (
        "",
        &[
            ("overview", "", "Overview", &[]),
            ("payments", "/payments", "Payments", &[]),
            ("approvals", "/approvals", "Approvals", &[Area::Approvals]),
            ("disputes", "/disputes", "Disputes", &[Area::Disputes]),
            ("exceptions", "/exceptions", "Exceptions", &[Area::Exceptions]),
            ("waiting", "/waiting", "Waiting", &[Area::Waiting]),
        ],
    ),
    (
        "Money",
        &[
            ("wallets", "/wallets", "Wallets", &[Area::Wallets]),
            ("statement", "/statement", "Statement", &[]),
            ("fee-report", "/fee-report", "Card fee report", &[]),
        ],
    ),
    (
        "Configuration",
        &[
            ("routing", "/routing", "Routing and fees", &[Area::Routing]),
            ("fees", "/fees", "Card fees by place", &[]),
            ("providers", "/providers", "Providers", &[Area::Providers]),
        ],
    ),
    (
        "Developers",
        &[
            ("events", "/events", "Events", &[Area::Endpoints, Area::Deliveries]),
            ("requests", "/requests", "Requests", &[]),
            ("keys", "/keys", "Keys", &[Area::Keys]),
        ],
    ),
];

/// The page that shows what a check is about.
pub(crate) fn page_of(check: &Check) -> &'static str {
    match check.area {
        None => "",
        Some(Area::Routing) => "/routing",
        Some(Area::Wallets) => "/wallets",
        Some(Area::Approvals) => "/approvals",
        Some(Area::Providers) => "/providers",
        Some(Area::Endpoints) => "/endpoints",
        Some(Area::Deliveries) => "/deliveries?state=parked",
        Some(Area::Disputes) => "/disputes",
        Some(Area::Exceptions) => "/exceptions",
        Some(Area::Waiting) => "/waiting",
        Some(Area::Keys) => "/keys",
    }
}

impl Frame {
    /// The menu with its counts, group by group.
    pub(crate) fn menu(&self) -> Vec<(&'static str, Vec<MenuEntry>)> {
        let entry = |(section, path, title, areas): &Section| MenuEntry {
            link: format!("{}{path}", self.base),
            title,
            is_here: *section == self.section,
            badge: self.badge(areas),
        };
        let groups = MENU.into_iter().map(|(group, sections)| (group, sections.iter().map(entry).collect()));
        let installation = self.may_manage_users().then(|| ("Installation", self.installation()));
        groups.chain(installation).collect()
    }

    fn installation(&self) -> Vec<MenuEntry> {
        let entry = |(section, title)| MenuEntry {
            link: format!("/console/{section}"),
            title,
            is_here: section == self.section,
            badge: None,
        };
        [("users", "Users"), ("audit-log", "Audit log")].map(entry).into()
    }

    /// What the palette offers beside the menu.
    pub(crate) fn commands(&self) -> Vec<&'static Command> {
        Command::offered(|permission| self.may(permission)).collect()
    }

    /// How the page is marked, so that real money is not moved by mistake: a class and a word.
    pub(crate) fn marker(&self) -> Option<(&'static str, &'static str)> {
        Some(match self.mode? {
            Mode::Live => ("live", "Live"),
            Mode::Test => ("test", "Test"),
        })
    }

    /// What does not stand as it should, the worst first.
    pub(crate) fn needs_attention(&self) -> Vec<&Check> {
        let mut checks: Vec<_> = self.checks.iter().filter(|check| check.status > CheckStatus::Ok).collect();
        checks.sort_by_key(|check| std::cmp::Reverse(check.status));
        checks
    }

    fn badge(&self, areas: &[Area]) -> Option<MenuBadge> {
        let is_counted = |check: &&Check| check.area.is_some_and(|area| areas.contains(&area));
        let checks = self.needs_attention().into_iter().filter(is_counted);
        let (count, worst) = checks.fold((0_u32, CheckStatus::Ok), |(count, worst), check| {
            (count.saturating_add(check.count), worst.max(check.status))
        });
        (count > 0).then_some(MenuBadge { count, is_problem: worst == CheckStatus::Problem })
    }
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

    pub(crate) fn may_write_notes(&self) -> bool {
        self.may(Permission::WriteNotes)
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

    pub(crate) fn may_read_audit_log(&self) -> bool {
        self.may(Permission::ReadAuditLog)
    }

    pub(crate) fn may_manage_users(&self) -> bool {
        self.may(Permission::ManageUsers)
    }
}
