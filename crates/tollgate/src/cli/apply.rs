//! `tollgate apply`: shows what a document would change, asks, and puts it in force.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    admin_client::Versioned,
    confirm::Confirm,
    diff, document,
    fields::Fields,
    output::{self, Style, paint_of, printable},
    provider_test,
    session::Session,
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
    /// Test every provider afterwards, as `tollgate providers test` does.
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
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
    let Plan { version, changes, warnings, waits } = plan(session, &path, document, name).await?;
    let told = |applied: bool, version: u64, tests: &[(String, Value)]| {
        let changes: Vec<_> = changes.iter().map(diff::to_json).collect();
        let mut told = json!({
            "applied": applied, "dryRun": mode.dry_run, "version": version, "changes": changes,
            "warnings": warnings,
        });
        if let (true, Some(fields)) = (mode.check, told.as_object_mut()) {
            fields.insert("providers".to_owned(), tests.iter().cloned().collect());
        }
        told
    };
    if changes.is_empty() {
        let tests = test_providers(session, document, mode).await?;
        session.output.show(&told(false, version, &tests), |style| {
            format!("No changes: version {version} is identical.{}", tests_text(&tests, style))
        })?;
        return provider_test::verdict(&tests);
    }
    let style = session.output.style;
    let lines: Vec<_> = changes.iter().map(|change| diff::line(change, style)).collect();
    let count = if changes.len() == 1 { "1 change".to_owned() } else { format!("{} changes", changes.len()) };
    if !session.output.json {
        let warned = warnings_text(&warnings, style);
        output::print(&format!("{}\n{warned}\n{count} to version {version}.", lines.join("\n")))?;
    }
    if mode.dry_run {
        let told = told(false, version, &[]);
        return session.output.show(&told, |_| "Valid. Nothing was changed.".to_owned());
    }
    if session.output.json && !mode.confirm.yes {
        return Err(Failure::new("--json cannot prompt; pass --yes to apply or --dry-run to preview"));
    }
    let question = "Apply this configuration?";
    mode.confirm.ask(if waits { "Propose this configuration for approval?" } else { question })?;
    let put = session.client.put(&path, document, version).await.map_err(|failure| {
        if failure.code() == Some("version_conflict") {
            return failure.saying("the configuration changed in the meantime and nothing was overwritten; run the command again to see the difference");
        }
        failure
    })?;
    if let Some(approval) = put.field("approvalId").and_then(Value::as_str) {
        let mut proposed = told(false, version, &[]);
        if let Some(fields) = proposed.as_object_mut() {
            fields.insert("approvalId".to_owned(), approval.into());
        }
        return session.output.show(&proposed, |_| {
            format!(
                "Proposed as {approval}; nothing has changed yet.\n\
                 Another person must approve it:\n\
                 tollgate approvals show {approval}\ntollgate approvals approve {approval}"
            )
        });
    }
    let now = put.number("version");
    let tests = test_providers(session, document, mode).await?;
    session.output.show(&told(true, now, &tests), |style| {
        format!("Version {now} applied.{}", tests_text(&tests, style))
    })?;
    provider_test::verdict(&tests)
}

/// What is allowed and probably not meant.
fn warnings_text(warnings: &[Value], style: Style) -> String {
    let lines = warnings.iter().map(|warning| {
        let shown = style.paint(paint_of("warning"), "warning");
        format!("\n{shown}  {} {}\n", warning.text("path"), printable(warning.text("message")))
    });
    lines.collect()
}

async fn test_providers(
    session: &Session,
    document: &Value,
    mode: Mode,
) -> Result<Vec<(String, Value)>, Failure> {
    let mut tests = Vec::new();
    let providers = document.field("providers").and_then(Value::as_object).filter(|_| mode.check);
    for name in providers.into_iter().flat_map(Map::keys) {
        tests.push((name.clone(), provider_test::run(session, name, false).await?));
    }
    Ok(tests)
}

fn tests_text(tests: &[(String, Value)], style: Style) -> String {
    let each = tests.iter().map(|(name, tested)| {
        format!("\n\n{}\n{}", style.strong(name), provider_test::render(tested, style))
    });
    each.collect()
}

/// The current version, what the document would change of it, and what is probably not meant.
struct Plan {
    version: u64,
    changes: Vec<tollgate_configuration::Change>,
    warnings: Vec<Value>,
    /// Whether somebody else has to approve it.
    waits: bool,
}

async fn plan(session: &Session, path: &str, document: &Value, name: &str) -> Result<Plan, Failure> {
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
        let changes = tollgate_configuration::diff(&current, document, replaced);
        let waits = current.field("approvals").is_some_and(|it| it.flag("configuration"));
        return Ok(Plan { version, changes, warnings: checked.list("warnings").to_vec(), waits });
    }
    Err(Failure::new("the configuration keeps changing; try again in a moment"))
}
