//! What the palette offers beside payments and the menu: pages and actions, each with other words people have for it.

use tollgate_domain::people::Permission;

/// A page or an action.
pub(crate) struct Command {
    pub(crate) title: &'static str,
    /// Other words it is found by.
    pub(crate) words: &'static str,
    /// `Action` or `Page`.
    pub(crate) kind: &'static str,
    path: &'static str,
    permission: Permission,
}

const fn action(
    permission: Permission,
    title: &'static str,
    words: &'static str,
    path: &'static str,
) -> Command {
    Command { title, words, kind: "Action", path, permission }
}

const fn page(title: &'static str, words: &'static str, path: &'static str) -> Command {
    Command { title, words, kind: "Page", path, permission: Permission::Read }
}

/// Paths with `/console` or `/docs` before them are the service's; others belong to the environment.
const COMMANDS: [Command; 29] = [
    action(
        Permission::Refund,
        "Refund a payment…",
        "give money back return reimburse",
        "/payments?status=succeeded",
    ),
    action(
        Permission::ManagePayments,
        "Capture a payment…",
        "settle authorized hold",
        "/payments?status=authorized",
    ),
    action(
        Permission::ManagePayments,
        "Void a payment…",
        "release authorized hold",
        "/payments?status=authorized",
    ),
    action(
        Permission::ManagePayments,
        "Cancel a transfer…",
        "stop ach bank",
        "/payments?method=ach&status=pending",
    ),
    action(Permission::Approve, "Approve or deny…", "four eyes decide accept reject", "/approvals"),
    action(Permission::MoveFunds, "Fund a wallet…", "top up deposit add money", "/wallets"),
    action(Permission::MoveFunds, "Withdraw from a wallet…", "take out payout money", "/wallets"),
    action(
        Permission::Configure,
        "Pause provider…",
        "stop disable circuit open outage turn off",
        "/providers",
    ),
    action(Permission::Configure, "Resume provider…", "start enable circuit close turn on", "/providers"),
    action(Permission::Configure, "Add a provider", "new connect acquirer bank psp", "/providers/edit"),
    action(
        Permission::Configure,
        "Add a card rule",
        "new routing route split",
        "/rules/edit?method=web_card",
    ),
    action(
        Permission::Configure,
        "Edit the fee program",
        "surcharge lawful card fees merchant",
        "/fees/program",
    ),
    action(Permission::Configure, "Edit the configuration as JSON", "settings limits document", "/config"),
    action(
        Permission::Configure,
        "Restore a version…",
        "roll back undo revert configuration",
        "/config/history",
    ),
    action(Permission::Configure, "Add a webhook endpoint", "new url subscribe notification", "/endpoints"),
    action(Permission::Resend, "Resend events…", "retry webhook redeliver replay delivery", "/deliveries"),
    action(Permission::ManageKeys, "Issue a key", "new api token secret publishable create", "/keys"),
    action(
        Permission::ManageKeys,
        "Rotate or revoke a key…",
        "api token secret replace delete leaked",
        "/keys",
    ),
    action(Permission::Configure, "Erase a customer…", "gdpr privacy delete forget personal data", "/erase"),
    action(Permission::ManageUsers, "Add a user", "invite member team colleague", "/console/users"),
    action(Permission::ManageUsers, "Remove a user…", "delete member offboard", "/console/users"),
    action(Permission::Read, "Export payments as CSV", "download spreadsheet", "/payments.csv"),
    page("Try a request", "explain route quote simulate test", "/try"),
    page("History of the configuration", "versions changes", "/config/history"),
    page("Event endpoints", "webhooks urls", "/endpoints"),
    page("Deliveries", "webhooks failed attempts", "/deliveries"),
    page("Environments", "switch live test organization application", "/console/environments"),
    page("API reference", "openapi endpoints fields", "/docs"),
    page("Documentation", "help guides manual", "/docs/overview"),
];

impl Command {
    /// Those whose permission is there.
    pub(crate) fn offered(may: impl Fn(Permission) -> bool) -> impl Iterator<Item = &'static Self> {
        COMMANDS.iter().filter(move |command| may(command.permission))
    }

    pub(crate) fn link(&self, base: &str) -> String {
        let is_of_service = ["/console", "/docs"].iter().any(|start| self.path.starts_with(start));
        if is_of_service { self.path.to_owned() } else { format!("{base}{}", self.path) }
    }
}

#[cfg(test)]
mod tests {
    use tollgate_domain::people::Role;

    use super::*;

    fn titles(role: Role) -> Vec<&'static str> {
        Command::offered(|permission| role.allows(permission)).map(|command| command.title).collect()
    }

    #[test]
    fn the_palette_offers_what_the_role_may_do() {
        assert_eq!(titles(Role::Admin).len(), COMMANDS.len());
        let viewer = titles(Role::Viewer);
        assert!(viewer.contains(&"Try a request") && !viewer.contains(&"Refund a payment…"), "{viewer:?}");
        assert!(titles(Role::Support).contains(&"Refund a payment…"));
        assert!(titles(Role::Approver).contains(&"Approve or deny…"));
    }

    #[test]
    fn an_address_is_the_environments_or_the_services() {
        let link =
            |title: &str| COMMANDS.iter().find(|it| it.title == title).map(|it| it.link("/console/env_1"));
        assert_eq!(link("Pause provider…").as_deref(), Some("/console/env_1/providers"));
        assert_eq!(link("Add a user").as_deref(), Some("/console/users"));
    }
}
