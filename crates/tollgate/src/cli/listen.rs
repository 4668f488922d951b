//! `tollgate events listen`: follows events as they happen and forwards them to a receiver under development, signed as
//! the Standard Webhooks specification says with a secret made for this run.

use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tollgate_domain::event::EventFilter;
use tollgate_vault::SigningSecret;

use super::{
    fields::Fields,
    http::{query, segment},
    moment::moment,
    output::{self, Paint, paint_of},
    session::Session,
};
use crate::{failure::Failure, node::stop_signal};

const POLL_EVERY: Duration = Duration::from_millis(500);
/// How long the receiver may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Before every event there is.
const FROM_THE_START: &str = "evt_00000000000000000000000000";

#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// Forward events to this URL, such as http://localhost:3000/events; default: only print them.
    #[arg(long, value_name = "URL")]
    forward_to: Option<String>,
    /// Event types, such as transaction.succeeded, separated by commas; default: all.
    #[arg(long, value_delimiter = ',', default_value = "*")]
    events: Vec<String>,
}

/// The part of an event's answer that is forwarded, untouched.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    data: Detail<'a>,
}

#[derive(Deserialize)]
struct Detail<'a> {
    #[serde(borrow)]
    body: &'a RawValue,
}

struct Listener {
    session: Session,
    path: String,
    filter: EventFilter,
    forward: Option<(String, SigningSecret)>,
    /// The last event that was handled.
    last: String,
}

pub(crate) async fn run(session: Session, listen: Listen) -> Result<(), Failure> {
    let filter = EventFilter::parse(listen.events.iter().map(String::as_str));
    let filter = filter.map_err(|error| Failure::new(format!("--events {error}")))?;
    let forward = match listen.forward_to {
        Some(url) => Some((checked(url)?, SigningSecret::generate()?)),
        None => None,
    };
    let stop = stop_signal()?;
    let path = session.path("/events").await?;
    let newest = session.client.get(&format!("{path}?limit=1")).await?;
    let last = newest.optional_text("/items/0/id").unwrap_or(FROM_THE_START).to_owned();
    let mut listener = Listener { session, path, filter, forward, last };
    listener.welcome()?;
    tokio::select! {
        ended = listener.follow() => ended,
        () = stop => Ok(()),
    }
}

fn checked(url: String) -> Result<String, Failure> {
    let parsed = url.parse::<http::Uri>().ok();
    let is_address =
        parsed.is_some_and(|uri| uri.host().is_some() && matches!(uri.scheme_str(), Some("http" | "https")));
    if is_address {
        return Ok(url);
    }
    Err(Failure::new(format!("`{url}` is not a URL; use the form http://localhost:3000/events")))
}

impl Listener {
    fn welcome(&self) -> Result<(), Failure> {
        let output = self.session.output;
        let secret = self.forward.as_ref().map(|(_, secret)| secret.expose());
        let url = self.forward.as_ref().map(|(url, _)| url);
        if output.json {
            let secret = secret.as_ref().map(tollgate_vault::Secret::expose);
            return output::print(
                &json!({ "listening": true, "forwardTo": url, "secret": secret }).to_string(),
            );
        }
        output::print(&match (url, &secret) {
            (Some(url), Some(secret)) => format!(
                "Forwarding events to {url}\nSigning secret for this run: {}\nStop with Ctrl-C.",
                output.style.strong(secret.expose())
            ),
            _ => "Waiting for events. Stop with Ctrl-C.".to_owned(),
        })
    }

    /// Until something is wrong that waiting does not mend.
    async fn follow(&mut self) -> Result<(), Failure> {
        let mut is_away = false;
        loop {
            match self.poll().await {
                Ok(()) if is_away => {
                    is_away = false;
                    eprintln!("the server is back");
                }
                // The server said no, and would say so again.
                Err(failure) if failure.code().is_some_and(|code| !is_passing(code)) => return Err(failure),
                Err(failure) if !is_away => {
                    is_away = true;
                    eprintln!("{failure}\nretrying …");
                }
                Ok(()) | Err(_) => {}
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    }

    async fn poll(&mut self) -> Result<(), Failure> {
        loop {
            let query = query(&[("limit", Some("200".to_owned())), ("after", Some(self.last.clone()))]);
            let slice = self.session.client.get(&format!("{}{query}", self.path)).await?;
            for event in slice.list("items") {
                self.print_event(event).await?;
                event.text("id").clone_into(&mut self.last);
            }
            if slice.optional_text("nextCursor").is_none() {
                return Ok(());
            }
        }
    }

    async fn print_event(&self, event: &Value) -> Result<(), Failure> {
        let kind = event.text("type");
        let wanted = match &self.filter {
            EventFilter::All => true,
            EventFilter::Only(_) => self.filter.names().contains(&kind),
        };
        if !wanted {
            return Ok(());
        }
        let delivered = match &self.forward {
            Some((url, secret)) => Some(self.forward(url, secret, event.text("id")).await?),
            None => None,
        };
        let output = self.session.output;
        if output.json {
            return output::print(&json!({ "event": event, "delivery": delivered }).to_string());
        }
        let style = output.style;
        let status = kind.rsplit('.').next().unwrap_or_default();
        let mut line = format!(
            "{}  {}  {}  {}",
            style.dim(&moment(event.text("timestamp"))),
            style.paint(paint_of(status), &format!("{kind:<24}")),
            event.word("serviceReference"),
            style.dim(event.text("id")),
        );
        if let Some(delivered) = delivered {
            let (paint, came) = match delivered.optional_text("error") {
                Some(why) => (Paint::Bad, why.to_owned()),
                None if (200..300).contains(&delivered.number("status")) => {
                    (Paint::Good, delivered.word("status"))
                }
                None => (Paint::Bad, delivered.word("status")),
            };
            let came = style.paint(paint, &came);
            line.extend([format!("  -> {came} in {} ms", delivered.number("tookMs"))]);
        }
        output::print(&line)
    }

    /// Its result: `status` or `error`, and `tookMs`. A receiver that fails is told of, and not tried again.
    async fn forward(&self, url: &str, secret: &SigningSecret, event: &str) -> Result<Value, Failure> {
        let answer = self.session.client.get_bytes(&format!("{}/{}", self.path, segment(event))).await?;
        let envelope: Envelope<'_> = serde_json::from_slice(&answer)
            .map_err(|_| Failure::new(format!("cannot read the response for {event}")))?;
        let body = envelope.data.body.get().as_bytes();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let headers = [
            ("webhook-id", event.to_owned()),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", secret.sign(event, seconds, body)),
            ("user-agent", concat!("tollgate-listen/", env!("CARGO_PKG_VERSION")).to_owned()),
        ];
        let begun = Instant::now();
        let sent =
            self.session.client.http.send(Method::POST, url, &headers, body.to_vec(), REQUEST_TIMEOUT).await;
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(match sent {
            Ok(reply) => json!({ "status": reply.status.as_u16(), "error": null, "tookMs": took }),
            Err(why) => json!({ "status": null, "error": why, "tookMs": took }),
        })
    }
}

/// Whether what the server said may be otherwise in a moment.
fn is_passing(code: &str) -> bool {
    matches!(code, "store_unavailable" | "rate_limited" | "internal")
}
