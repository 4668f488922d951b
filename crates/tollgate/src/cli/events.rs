//! `tollgate events`: what callers are told, whether they heard it, and telling it again.

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use super::{
    fields::Fields,
    http::{query, segment},
    listen::{self, Listen},
    moment::moment,
    output::{Paint, Style, paint_of},
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Events {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What happened, newest first.
    List {
        /// Only events of this type, such as transaction.succeeded.
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
        /// Only those about this payment.
        #[arg(long)]
        reference: Option<String>,
        /// How many at most.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only those before this one.
        #[arg(long, value_name = "EVENT ID", conflicts_with = "after")]
        before: Option<String>,
        /// Only those after this one, the oldest first.
        #[arg(long, value_name = "EVENT ID")]
        after: Option<String>,
    },
    /// One event: the body receivers get, and what came of each delivery.
    Show {
        /// The event, evt_….
        event: String,
    },
    /// Which event is on its way whereto.
    Deliveries {
        /// Only waiting, delivered or parked ones.
        #[arg(long)]
        state: Option<String>,
        /// Only to this endpoint.
        #[arg(long, value_name = "ID")]
        endpoint: Option<String>,
        /// How many at most.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only those before this one.
        #[arg(long, value_name = "CURSOR")]
        before: Option<String>,
    },
    /// Send an event again, or all of a span of time.
    Resend(ResendArguments),
    /// Follow events as they happen, and forward them to a receiver under development.
    Listen(Listen),
}

#[derive(Debug, Args)]
struct ResendArguments {
    /// The event, evt_….
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    event: Option<String>,
    /// Instead of one event: all from this moment on, such as 2026-11-15T00:00:00Z.
    #[arg(long, value_name = "MOMENT")]
    from: Option<String>,
    /// Up to this moment; now unless given.
    #[arg(long, value_name = "MOMENT", requires = "from")]
    until: Option<String>,
    /// Only what was given up.
    #[arg(long, requires = "from")]
    parked_only: bool,
    /// Where an earlier resend of the same moments stopped.
    #[arg(long, value_name = "EVENT ID", requires = "from")]
    after: Option<String>,
    /// To this endpoint alone, whatever it usually wants.
    #[arg(long, value_name = "ID")]
    endpoint: Option<String>,
}

pub(crate) async fn run(session: Session, events: Events) -> Result<(), Failure> {
    match events.action {
        Action::List { kind, reference, limit, before, after } => {
            let query = query(&[
                ("limit", Some(limit.to_string())),
                ("type", kind),
                ("reference", reference),
                ("before", before),
                ("after", after.clone()),
            ]);
            let list = session.client.get(&session.path(&format!("/events{query}")).await?).await?;
            session.output.show(&list, |style| {
                let option = if after.is_some() { "--after" } else { "--before" };
                event_table(list.list("items"), style) + &more(&list, option)
            })
        }
        Action::Show { event } => {
            let read =
                session.client.get(&session.path(&format!("/events/{}", segment(&event))).await?).await;
            let read = read.map_err(|failure| no_such(failure, &event))?;
            session.output.show(&read, |style| shown(&read, style))
        }
        Action::Deliveries { state, endpoint, limit, before } => {
            let query = query(&[
                ("limit", Some(limit.to_string())),
                ("state", state),
                ("endpointId", endpoint),
                ("before", before),
            ]);
            let list = session.client.get(&session.path(&format!("/deliveries{query}")).await?).await?;
            session.output.show(&list, |style| {
                delivery_table(list.list("items"), style, "There are no deliveries.")
                    + &more(&list, "--before")
            })
        }
        Action::Resend(arguments) => resend(&session, arguments).await,
        Action::Listen(listen) => listen::run(session, listen).await,
    }
}

async fn resend(session: &Session, arguments: ResendArguments) -> Result<(), Failure> {
    let mut body = Map::new();
    let mut give = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    give("endpointId", arguments.endpoint.map(Into::into));
    give("from", arguments.from.map(Into::into));
    give("until", arguments.until.map(Into::into));
    give("after", arguments.after.map(Into::into));
    give("parkedOnly", arguments.parked_only.then_some(true.into()));
    let path = match &arguments.event {
        Some(event) => format!("/events/{}/resend", segment(event)),
        None => "/events/resend".to_owned(),
    };
    let resent = session.client.post(&session.path(&path).await?, &Value::Object(body)).await;
    let resent =
        resent.map_err(|failure| no_such(failure, arguments.event.as_deref().unwrap_or("or endpoint")))?;
    session.output.show(&resent, |_| {
        let count = match resent.number("deliveries") {
            0 => "No endpoint wants it; nothing is sent.".to_owned(),
            1 => "1 delivery is sent again.".to_owned(),
            count => format!("{count} deliveries are sent again."),
        };
        let rest = resent
            .optional_text("nextAfter")
            .map(|event| format!(" There is more: repeat the command with --after {event}"));
        count + &rest.unwrap_or_default()
    })
}

fn no_such(failure: Failure, event: &str) -> Failure {
    failure.if_missing(|| {
        format!("there is no event {event} in this environment, or no such endpoint; `tollgate events list` and `tollgate endpoints list` show those there are")
    })
}

fn event_table(events: &[Value], style: Style) -> String {
    let mut table = Table::new(&["ID", "TYPE", "PAYMENT", "WHEN"]);
    for event in events {
        let kind = event.text("type");
        let status = kind.rsplit('.').next().unwrap_or_default();
        table.row([
            event.word("id").into(),
            Cell::painted(kind, paint_of(status)),
            event.word("serviceReference").into(),
            moment(event.text("timestamp")).into(),
        ]);
    }
    table.draw(style, "There are no events.")
}

fn shown(event: &Value, style: Style) -> String {
    let body = event.field("body").map(|body| format!("{body:#}")).unwrap_or_default();
    format!(
        "{}  {}  {}  {}\n\n{body}\n\n{}",
        style.strong(event.text("id")),
        event.text("type"),
        event.text("serviceReference"),
        moment(event.text("timestamp")),
        delivery_table(event.list("deliveries"), style, "No endpoint wanted it when it happened.")
    )
}

fn delivery_table(deliveries: &[Value], style: Style, nothing: &str) -> String {
    let mut table = Table::new(&["EVENT", "TYPE", "ENDPOINT", "STATE", ">TRIES", "LAST TRY", "NEXT TRY"]);
    for delivery in deliveries {
        let last = delivery.optional_text("/lastTry/at").map_or_else(
            || "-".to_owned(),
            |at| {
                format!(
                    "{}: {} ({} ms)",
                    moment(at),
                    delivery.text("/lastTry/note"),
                    delivery.number("/lastTry/tookMs")
                )
            },
        );
        table.row([
            delivery.word("eventId").into(),
            delivery.word("type").into(),
            delivery.word("endpointId").into(),
            Cell::painted(delivery.word("state"), paint_of(delivery.text("state"))),
            delivery.word("tries").into(),
            Cell::painted(last, Paint::Dim),
            delivery.optional_text("nextTryAt").map_or_else(|| "-".to_owned(), moment).into(),
        ]);
    }
    table.draw(style, nothing)
}
