//! `tollgate apply`: shows what a document would change, asks, and puts it in force.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{
    admin_client::Versioned, confirm::Confirm, diff, document, fields::Fields, output, session::Session,
};
use crate::failure::Failure;

/// Reading and checking are two calls; where somebody's change comes in between, both are made again.
const MAX_ROUNDS: usize = 5;

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The document, TOML or JSON. A masked secret keeps the current one.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    mode: Mode,
}

/// How far to go.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Mode {
    /// Validate on the server and show the difference without changing anything.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    confirm: Confirm,
}

pub(crate) async fn run(session: Session, apply: Apply) -> Result<(), Failure> {
    let document = document::read(&apply.file)?;
    let name = apply.file.display().to_string();
    replace(&session, &document, &name, apply.mode).await
}

/// Replaces the current configuration by a document, called `name` for the reader.
pub(crate) async fn replace(
    session: &Session,
    document: &Value,
    name: &str,
    mode: Mode,
) -> Result<(), Failure> {
    let path = session.path("/config").await?;
    let (version, changes) = plan(session, &path, document, name).await?;
    let told = |applied: bool, version: u64| {
        let changes: Vec<_> = changes.iter().map(diff::to_json).collect();
        json!({ "applied": applied, "dryRun": mode.dry_run, "version": version, "changes": changes })
    };
    if changes.is_empty() {
        return session
            .output
            .show(&told(false, version), |_| format!("No changes: version {version} is identical."));
    }
    let style = session.output.style;
    let lines: Vec<_> = changes.iter().map(|change| diff::line(change, style)).collect();
    let count = if changes.len() == 1 { "1 change".to_owned() } else { format!("{} changes", changes.len()) };
    if !session.output.json {
        output::print(&format!("{}\n\n{count} to version {version}.", lines.join("\n")))?;
    }
    if mode.dry_run {
        return session.output.show(&told(false, version), |_| "Valid. Nothing was changed.".to_owned());
    }
    if session.output.json && !mode.confirm.yes {
        return Err(Failure::new("--json cannot prompt; pass --yes to apply or --dry-run to preview"));
    }
    mode.confirm.ask("Apply this configuration?")?;
    let put = session.client.put(&path, document, version).await.map_err(|failure| {
        if failure.code() == Some("version_conflict") {
            return failure.saying("the configuration changed in the meantime and nothing was overwritten; run the command again to see the difference");
        }
        failure
    })?;
    let now = put.number("version");
    session.output.show(&told(true, now), |_| format!("Version {now} applied."))
}

/// The current version, and what the document would change of it.
async fn plan(
    session: &Session,
    path: &str,
    document: &Value,
    name: &str,
) -> Result<(u64, Vec<tollgate_configuration::Change>), Failure> {
    for _ in 0..MAX_ROUNDS {
        let Versioned { data: current, version } = session.client.get_versioned(path).await?;
        let checked = session.client.post(&format!("{path}/validate"), document).await;
        let checked = checked.map_err(|failure| match failure.errors() {
            0 => failure,
            1 => failure.saying(format!("{name} has an error; nothing was changed")),
            count => failure.saying(format!("{name} has {count} errors; nothing was changed")),
        })?;
        if checked.number("version") != version {
            continue;
        }
        let document = checked.field("document").unwrap_or(&Value::Null);
        let replaced = checked.list("replacedSecrets").iter().filter_map(Value::as_str);
        return Ok((version, tollgate_configuration::diff(&current, document, replaced)));
    }
    Err(Failure::new("the configuration keeps changing; try again in a moment"))
}
