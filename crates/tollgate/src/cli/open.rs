//! `tollgate open`: the console page of whatever is named.

use std::{
    io::{IsTerminal, stdout},
    process::{Command, Stdio},
};

use clap::Args;
use serde_json::json;

use super::{http::segment, session::Session};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// A payment (pay_…, ach_…), an event (evt_…), a request (req_…) or a section such as providers; default: the overview.
    what: Option<String>,
    /// Only print the address.
    #[arg(long)]
    print: bool,
}

pub(crate) async fn run(session: Session, open: Open) -> Result<(), Failure> {
    let environment = session.environment().await?;
    let page = page(open.what.as_deref().unwrap_or_default());
    let url = format!("{}/console/{}{page}", session.client.url, segment(&environment));
    session.output.show(&json!({ "url": url }), |_| format!("{url}\n"))?;
    if stdout().is_terminal() && !open.print && !session.output.json {
        show(&url);
    }
    Ok(())
}

/// The page below the environment's.
fn page(what: &str) -> String {
    let named = |prefix: &str| what.starts_with(prefix);
    match what {
        "" | "overview" => String::new(),
        _ if named("pay_") || named("ach_") => format!("/payments/{}", segment(what)),
        _ if named("evt_") => format!("/events/{}", segment(what)),
        _ if named("req_") => format!("/requests?q={}", segment(what)),
        _ => format!("/{}", segment(what)),
    }
}

/// In a browser, where there is one: the address is printed anyway.
fn show(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quietly = Command::new(opener).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    drop(quietly);
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn everything_has_its_page() {
        for (what, expected) in [
            ("", ""),
            ("pay_1", "/payments/pay_1"),
            ("ach_1", "/payments/ach_1"),
            ("evt_1", "/events/evt_1"),
            ("req_1", "/requests?q=req_1"),
            ("providers", "/providers"),
            ("../x", "/..%2Fx"),
        ] {
            assert_eq!(page(what), expected);
        }
    }
}
