//! `tollgate --help`, with the commands in groups.

use std::io::{self, IsTerminal};

use clap::Command;

use super::output;

/// Lines of help are no longer than this, however wide the terminal is.
const WIDTH_MAX: usize = 100;
/// Where a command's own words begin.
const ABOUT_COLUMN: usize = 18;

/// Every command, where a reader would look for it.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run", &["serve", "migrate", "simulator", "generate"]),
    ("Configure", &["apply", "export", "config", "providers"]),
    ("Tenants and keys", &["organizations", "applications", "environments", "keys", "users"]),
    (
        "Payments",
        &["payments", "quote", "explain", "fees", "wallet", "approvals", "exceptions", "settlement"],
    ),
    ("Events", &["events", "endpoints"]),
    (
        "Operate",
        &["status", "doctor", "requests", "statement", "audit", "audit-log", "rekey", "erase", "open", "mcp"],
    ),
    ("Try out", &["trigger"]),
    ("Other", &["completions", "man", "version"]),
];

/// The command with its groups in place of clap's one list. Lines end where the terminal does.
pub(crate) fn grouped(command: Command) -> Command {
    let width = output::width(io::stdout().is_terminal()).unwrap_or(WIDTH_MAX).min(WIDTH_MAX);
    let mut text = String::new();
    for (head, names) in GROUPS {
        text.extend([format!("{head}:\n")]);
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.extend([format!("  {name:<14}  {}\n", wrapped(&about, ABOUT_COLUMN, width))]);
        }
        text.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}\n{{after-help}}"
    );
    command.help_template(template).term_width(width)
}

/// A text that begins at a column, in lines that end before another.
fn wrapped(text: &str, column: usize, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let length = lines.last().map_or(0, |line| line.chars().count());
        if length > 0 && column + length + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.extend([if line.is_empty() { "" } else { " " }, word]);
        }
    }
    lines.join(&format!("\n{}", " ".repeat(column)))
}

#[cfg(test)]
pub(crate) fn grouped_names() -> Vec<&'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect()
}
