//! `tollgate --help`, with the commands in groups.

use clap::Command;

/// Every command, where a reader would look for it.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run", &["serve", "migrate", "simulator", "generate"]),
    ("Configure", &["apply", "export", "config", "providers"]),
    ("Tenants and keys", &["organizations", "applications", "environments", "keys", "users"]),
    ("Payments", &["payments", "quote", "explain", "wallet", "approvals", "exceptions"]),
    ("Events", &["events", "endpoints"]),
    (
        "Operate",
        &["status", "doctor", "requests", "statement", "audit", "audit-log", "rekey", "erase", "open", "mcp"],
    ),
    ("Try out", &["trigger"]),
    ("Other", &["completions", "version"]),
];

/// The command with its groups in place of clap's one list.
pub(crate) fn grouped(command: Command) -> Command {
    let mut text = String::new();
    for (head, names) in GROUPS {
        text.extend([format!("{head}:\n")]);
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.extend([format!("  {name:<14}  {about}\n")]);
        }
        text.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}\n{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
pub(crate) fn grouped_names() -> Vec<&'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect()
}
