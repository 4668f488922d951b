//! `tollgate requests`: the client API calls of the last days, and new ones as they come.

use std::{collections::HashSet, time::Duration};

use clap::Args;
use serde_json::Value;

use super::{
    fields::Fields,
    http::query,
    moment::moment,
    output::{Paint, Style, print},
    session::Session,
    table::{Cell, Table, more},
};
use crate::{failure::Failure, node::stop_signal};

const FOLLOW_EVERY: Duration = Duration::from_secs(1);
/// Calls looked at each time. A call is listed by when it began and logged when it ended, so that those before the last one
/// shown are looked at again.
const FOLLOWED: u32 = 200;

#[derive(Debug, Args)]
pub(crate) struct Requests {
    /// Only calls that failed.
    #[arg(long)]
    failed: bool,
    /// Only this error code, such as invalid_body.
    #[arg(long)]
    code: Option<String>,
    /// Only this endpoint, such as /client/v1/payments.
    #[arg(long)]
    endpoint: Option<String>,
    /// Only calls about this payment.
    #[arg(long)]
    reference: Option<String>,
    /// Only calls with this key.
    #[arg(long, value_name = "KEY ID")]
    key: Option<String>,
    /// Only the call with this request ID.
    #[arg(long, value_name = "REQUEST ID")]
    request: Option<String>,
    /// Print new calls as they come, until stopped.
    #[arg(long, short = 'f', conflicts_with = "before")]
    follow: bool,
    /// Maximum number of results.
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Only results before this one.
    #[arg(long, value_name = "REQUEST ID")]
    before: Option<String>,
}

impl Requests {
    async fn path(&self, session: &Session, limit: u32) -> Result<String, Failure> {
        let query = query(&[
            ("limit", Some(limit.to_string())),
            ("failed", self.failed.then(|| "true".to_owned())),
            ("code", self.code.clone()),
            ("endpoint", self.endpoint.clone()),
            ("reference", self.reference.clone()),
            ("keyId", self.key.clone()),
            ("requestId", self.request.clone()),
            ("before", self.before.clone()),
        ]);
        session.path(&format!("/requests{query}")).await
    }
}

pub(crate) async fn run(session: Session, requests: Requests) -> Result<(), Failure> {
    if requests.follow {
        return follow(&session, &requests).await;
    }
    let list = session.client.get(&requests.path(&session, requests.limit).await?).await?;
    session.output.show(&list, |style| {
        let mut table = Table::new(&["WHEN", "=STATUS", "CALL", "ERROR", ">MS", "=REQUEST"])
            .leaving_out(&["MS", "REQUEST"]);
        for request in list.list("items") {
            let status = request.number("status");
            table.row([
                moment(request.text("at")).into(),
                Cell::painted(status.to_string(), paint(status)),
                format!("{} {}", request.text("method"), request.text("path")).into(),
                error(request).into(),
                request.number("durationMs").to_string().into(),
                request.word("requestId").into(),
            ]);
        }
        table.draw(style, "No requests.") + &more(&list, "--before")
    })
}

async fn follow(session: &Session, requests: &Requests) -> Result<(), Failure> {
    let path = requests.path(session, FOLLOWED).await?;
    let mut seen: Option<HashSet<String>> = None;
    let stop = stop_signal()?;
    tokio::pin!(stop);
    loop {
        let list = session.client.get(&path).await?;
        let items = list.list("items");
        // What is there already has happened before anybody followed.
        if let Some(seen) = &seen {
            for request in items.iter().rev().filter(|request| !seen.contains(request.text("requestId"))) {
                let text = if session.output.json {
                    request.to_string()
                } else {
                    line(request, session.output.style)
                };
                print(&text)?;
            }
        }
        seen = Some(items.iter().map(|request| request.text("requestId").to_owned()).collect());
        tokio::select! {
            () = &mut stop => return Ok(()),
            () = tokio::time::sleep(FOLLOW_EVERY) => {}
        }
    }
}

fn line(request: &Value, style: Style) -> String {
    let status = request.number("status");
    let text = format!(
        "{} {} {} {} {} ms {}",
        moment(request.text("at")),
        style.paint(paint(status), &status.to_string()),
        request.word("method"),
        request.word("path"),
        request.number("durationMs"),
        error(request),
    );
    format!("{} {}", text.trim_end(), style.dim(request.text("requestId")))
}

fn error(request: &Value) -> String {
    let (code, fields) = (request.optional_text("code").unwrap_or_default(), request.joined("fields"));
    if fields.is_empty() { code.to_owned() } else { format!("{code} ({fields})").trim_start().to_owned() }
}

fn paint(status: u64) -> Paint {
    match status {
        ..400 => Paint::Good,
        400..500 => Paint::Notice,
        _ => Paint::Bad,
    }
}
