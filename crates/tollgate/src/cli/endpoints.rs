//! `tollgate endpoints`: the addresses that are told what happens.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    confirm::Confirm,
    fields::Fields,
    http::segment,
    moment::moment,
    output::{Paint, paint_of},
    session::Session,
    table::{Cell, Table},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Endpoints {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List endpoints and their health.
    List,
    /// Add an endpoint; its signing secret is shown only once.
    Create {
        /// The URL to send events to, such as https://shop.example/events.
        url: String,
        /// Event types, such as transaction.succeeded, separated by commas; default: all.
        #[arg(long, value_delimiter = ',', default_value = "*")]
        events: Vec<String>,
        /// A description.
        #[arg(long)]
        description: Option<String>,
    },
    /// Rotate the signing secret; the new one is shown only once, and both sign during the grace period.
    Rotate {
        /// The endpoint ID.
        id: String,
        /// How long the old secret stays valid.
        #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
        grace_seconds: u64,
    },
    /// Enable a disabled endpoint; use `events resend` for deliveries that failed meanwhile.
    Enable {
        /// The endpoint ID.
        id: String,
    },
    /// Disable an endpoint.
    Disable {
        /// The endpoint ID.
        id: String,
    },
    /// Remove an endpoint and its deliveries; the events remain.
    Remove {
        /// The endpoint ID.
        id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
}

pub(crate) async fn run(session: Session, endpoints: Endpoints) -> Result<(), Failure> {
    let path = session.path("/event-endpoints").await?;
    let one = |id: &str| format!("{path}/{}", segment(id));
    let no_such = |failure: Failure, id: &str| {
        failure.if_missing(|| {
            format!("endpoint {id} not found in this environment; see `tollgate endpoints list`")
        })
    };
    match endpoints.action {
        Action::List => list(&session, &session.client.get(&path).await?),
        Action::Create { url, events, description } => {
            let mut body = json!({ "url": url, "events": events });
            if let (Some(description), Some(fields)) = (description, body.as_object_mut()) {
                fields.insert("description".to_owned(), description.into());
            }
            shown_once(&session, &session.client.post(&path, &body).await?)
        }
        Action::Rotate { id, grace_seconds } => {
            let body = json!({ "graceSeconds": grace_seconds });
            let made = session.client.post(&format!("{}/rotate-secret", one(&id)), &body).await;
            shown_once(&session, &made.map_err(|failure| no_such(failure, &id))?)
        }
        Action::Enable { id } => {
            switch(&session, &one(&id), true).await.map_err(|failure| no_such(failure, &id))
        }
        Action::Disable { id } => {
            switch(&session, &one(&id), false).await.map_err(|failure| no_such(failure, &id))
        }
        Action::Remove { id, confirm } => {
            confirm.ask(&format!("Remove {id}? Its pending deliveries will not be sent."))?;
            let removed = session.client.delete(&one(&id)).await.map_err(|failure| no_such(failure, &id))?;
            session.output.show(&removed, |_| format!("Removed {id}."))
        }
    }
}

async fn switch(session: &Session, path: &str, enabled: bool) -> Result<(), Failure> {
    let changed = session.client.patch(path, &json!({ "enabled": enabled })).await?;
    session.output.show(&changed, |_| {
        format!("{} is {}.", changed.text("id"), if enabled { "enabled" } else { "disabled" })
    })
}

fn list(session: &Session, list: &Value) -> Result<(), Failure> {
    session.output.show(list, |style| {
        let mut table = Table::new(&["ID", "URL", "EVENTS", "=STATE", ">FAILURES", "=CREATED", "NOTE"])
            .leaving_out(&["CREATED", "FAILURES", "NOTE", "EVENTS"]);
        for endpoint in list.list("items") {
            let state = if endpoint.flag("enabled") { "enabled" } else { "disabled" };
            let rests =
                endpoint.optional_text("restsUntil").map(|until| format!("paused until {}", moment(until)));
            let note = endpoint.optional_text("disabledReason").map(str::to_owned).or(rests);
            let note = note.or_else(|| endpoint.optional_text("description").map(str::to_owned));
            table.row([
                endpoint.word("id").into(),
                endpoint.word("url").into(),
                endpoint.joined("events").into(),
                Cell::painted(state, paint_of(state)),
                endpoint.word("failures").into(),
                moment(endpoint.text("createdAt")).into(),
                Cell::painted(note.unwrap_or_else(|| "-".to_owned()), Paint::Dim),
            ]);
        }
        table.draw(style, "No endpoints; add one with `tollgate endpoints create URL`.")
    })
}

fn shown_once(session: &Session, made: &Value) -> Result<(), Failure> {
    session.output.show(made, |style| {
        let secret = style.strong(made.text("secret"));
        format!(
            "{secret}\n\n{} -> {} ({}). Keep the secret now: it is not shown again.",
            made.text("id"),
            made.text("url"),
            made.joined("events")
        )
    })
}
