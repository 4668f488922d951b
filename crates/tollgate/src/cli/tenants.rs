//! `tollgate organizations`, `applications` and `environments`: who there is, and making more.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{fields::Fields, http::segment, moment::moment, output::Style, session::Session, table::Table};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Organizations {
    #[command(subcommand)]
    action: OrganizationAction,
}

#[derive(Debug, Subcommand)]
enum OrganizationAction {
    /// List organizations.
    List,
    /// Create one.
    Create {
        /// The name.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Applications {
    #[command(subcommand)]
    action: ApplicationAction,
}

#[derive(Debug, Subcommand)]
enum ApplicationAction {
    /// List applications, of one organization or all.
    List {
        /// Only applications of this organization.
        #[arg(long, value_name = "ID")]
        organization: Option<String>,
    },
    /// Create one.
    Create {
        /// The name.
        name: String,
        /// The organization it belongs to.
        #[arg(long, value_name = "ID")]
        organization: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Environments {
    #[command(subcommand)]
    action: EnvironmentAction,
}

#[derive(Debug, Subcommand)]
enum EnvironmentAction {
    /// List environments, of one application or all.
    List {
        /// Only environments of this application.
        #[arg(long, value_name = "ID")]
        application: Option<String>,
    },
    /// Create one.
    Create {
        /// 1 to 32 characters a-z and 0-9, such as test or live; part of every key.
        name: String,
        /// The application it belongs to.
        #[arg(long, value_name = "ID")]
        application: String,
    },
}

pub(crate) async fn organizations(session: Session, asked: Organizations) -> Result<(), Failure> {
    let path = "/admin/v1/organizations";
    match asked.action {
        OrganizationAction::List => {
            let list = as_list(&session.all(path).await?);
            session.output.show(&list, |style| table(&list, style, "No organizations yet.", &[]))
        }
        OrganizationAction::Create { name } => {
            let made = session.client.post(path, &json!({ "name": name })).await?;
            created(&session, &made, "organization")
        }
    }
}

pub(crate) async fn applications(session: Session, asked: Applications) -> Result<(), Failure> {
    let below =
        |organization: &str| format!("/admin/v1/organizations/{}/applications", segment(organization));
    match asked.action {
        ApplicationAction::List { organization } => {
            let parents = match &organization {
                Some(id) => vec![json!({ "id": id })],
                None => session.all("/admin/v1/organizations").await?,
            };
            let mut items = Vec::new();
            for parent in parents {
                let found = session.all(&below(parent.text("id"))).await;
                items.extend(found.map_err(|failure| no_such(failure, "organization", parent.text("id")))?);
            }
            let list = as_list(&items);
            let columns = [("ORGANIZATION", "organizationId")];
            session.output.show(&list, |style| table(&list, style, "No applications yet.", &columns))
        }
        ApplicationAction::Create { name, organization } => {
            let made = session.client.post(&below(&organization), &json!({ "name": name })).await;
            let made = made.map_err(|failure| no_such(failure, "organization", &organization))?;
            created(&session, &made, "application")
        }
    }
}

pub(crate) async fn environments(session: Session, asked: Environments) -> Result<(), Failure> {
    let below = |application: &str| format!("/admin/v1/applications/{}/environments", segment(application));
    match asked.action {
        EnvironmentAction::List { application } => {
            let items = match &application {
                Some(id) => {
                    session.all(&below(id)).await.map_err(|failure| no_such(failure, "application", id))?
                }
                None => session.all_environments().await?,
            };
            let list = as_list(&items);
            let columns: &[_] = match application {
                Some(_) => &[("APPLICATION", "applicationId")],
                None => &[("ORGANIZATION", "organizationName"), ("APPLICATION", "applicationName")],
            };
            session.output.show(&list, |style| table(&list, style, "No environments yet.", columns))
        }
        EnvironmentAction::Create { name, application } => {
            let made = session.client.post(&below(&application), &json!({ "name": name })).await;
            let made = made.map_err(|failure| no_such(failure, "application", &application))?;
            created(&session, &made, "environment")
        }
    }
}

fn no_such(failure: Failure, what: &str, id: &str) -> Failure {
    failure.if_missing(|| format!("{what} {id} not found; see `tollgate {what}s list`"))
}

/// All slices at once, in the form of one.
fn as_list(items: &[Value]) -> Value {
    json!({ "items": items, "nextCursor": null })
}

fn created(session: &Session, made: &Value, what: &str) -> Result<(), Failure> {
    session.output.show(made, |style| {
        format!("Created {what} {}  {}", style.strong(made.text("id")), made.text("name"))
    })
}

fn table(list: &Value, style: Style, nothing: &str, columns: &[(&'static str, &str)]) -> String {
    let mut heads = vec!["ID", "NAME"];
    heads.extend(columns.iter().map(|(head, _)| *head));
    heads.push("CREATED");
    let mut table = Table::new(&heads);
    for item in list.list("items") {
        let mut row = vec![item.word("id"), item.word("name")];
        row.extend(columns.iter().map(|(_, field)| item.word(field)));
        row.push(moment(item.text("createdAt")));
        table.row(row.into_iter().map(Into::into));
    }
    table.draw(style, nothing)
}
