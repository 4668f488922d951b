//! `tollgate events`: what callers are notified, whether they heard it, and telling it again.

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
    /// List events, newest first.
    List {
        /// Only events of this type, such as transaction.succeeded.
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
        /// Only events of this payment.
        #[arg(long)]
        reference: Option<String>,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only results before this one.
        #[arg(long, value_name = "EVENT ID", conflicts_with = "after")]
        before: Option<String>,
        /// Only events after this one, oldest first.
        #[arg(long, value_name = "EVENT ID")]
        after: Option<String>,
    },
    /// Show one event with its body and deliveries.
    Show {
        /// The event ID, evt_….
        event: String,
    },
    /// List deliveries to endpoints.
    Deliveries {
        /// Only deliveries in this state: waiting, delivered or parked.
        #[arg(long)]
        state: Option<String>,
        /// Only deliveries to this endpoint.
        #[arg(long, value_name = "ID")]
        endpoint: Option<String>,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only results before this one.
        #[arg(long, value_name = "CURSOR")]
        before: Option<String>,
    },
    /// Resend one event, or all events in a time range.
    Resend(ResendArguments),
    /// Stream events live and forward them to a local receiver.
    Listen(Listen),
}

#[derive(Debug, Args)]
struct ResendArguments {
    /// The event ID, evt_….
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    event: Option<String>,
    /// Instead of one event: all events from this time on, such as 2026-11-15T00:00:00Z.
    #[arg(long, value_name = "MOMENT")]
    from: Option<String>,
    /// Up to this time; default: now.
    #[arg(long, value_name = "MOMENT", requires = "from")]
    until: Option<String>,
    /// Failed deliveries only.
    #[arg(long, requires = "from")]
    parked_only: bool,
    /// Continue where an earlier resend of the same range stopped.
    #[arg(long, value_name = "EVENT ID", requires = "from")]
    after: Option<String>,
    /// Only to this endpoint, whatever it subscribes to.
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
                delivery_table(list.list("items"), style, "No deliveries.") + &more(&list, "--before")
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
            0 if resent.optional_text("nextAfter").is_some() => "Nothing to send so far.".to_owned(),
            0 => "No subscribed endpoint; nothing was sent.".to_owned(),
            1 => "1 delivery queued.".to_owned(),
            count => format!("{count} deliveries queued."),
        };
        let rest = resent
            .optional_text("nextAfter")
            .map(|event| format!(" There are more: repeat the command with --after {event}"));
        count + &rest.unwrap_or_default()
    })
}

fn no_such(failure: Failure, event: &str) -> Failure {
    failure.if_missing(|| {
        format!("event {event} or endpoint not found in this environment; see `tollgate events list` and `tollgate endpoints list`")
    })
}

fn event_table(events: &[Value], style: Style) -> String {
    let mut table = Table::new(&["ID", "TYPE", "=PAYMENT", "=WHEN"]).leaving_out(&["WHEN"]);
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
    table.draw(style, "No events.")
}

fn shown(event: &Value, style: Style) -> String {
    let body = event.field("body").map(|body| format!("{body:#}")).unwrap_or_default();
    format!(
        "{}  {}  {}  {}\n\n{body}\n\n{}",
        style.strong(event.text("id")),
        event.text("type"),
        event.word("serviceReference"),
        moment(event.text("timestamp")),
        delivery_table(event.list("deliveries"), style, "No endpoint was subscribed when it happened.")
    )
}

fn delivery_table(deliveries: &[Value], style: Style, nothing: &str) -> String {
    let heads = ["EVENT", "TYPE", "ENDPOINT", "=STATE", ">TRIES", "LAST ATTEMPT", "=NEXT ATTEMPT"];
    let mut table = Table::new(&heads).leaving_out(&["NEXT ATTEMPT", "TRIES", "ENDPOINT"]);
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
