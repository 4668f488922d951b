//! `tollgate doctor`: the server's own checks, and those only this machine can make.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, SystemTime},
};

use clap::Args;
use serde_json::{Value, json};

use super::{
    fields::Fields,
    output::{Style, paint_of, printable},
    session::Session,
};
use crate::failure::Failure;

const NOTABLE_SKEW: Duration = Duration::from_secs(5);
/// Shorter tokens can be guessed by whoever has patience.
const STRONG_TOKEN: usize = 32;

#[derive(Debug, Args)]
pub(crate) struct Doctor {}

pub(crate) async fn run(session: Session, _: Doctor) -> Result<(), Failure> {
    let asked_at = SystemTime::now();
    let mut answer = session.client.get("/admin/v1/doctor").await?;
    let answered_at = SystemTime::now();
    let mut checks = answer.list("checks").to_vec();
    checks.extend(local_checks(&session, &answer, asked_at, answered_at));
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("checks".to_owned(), Value::Array(checks));
    }
    session.output.show(&answer, |style| render(&answer, style))?;
    match answer.list("checks").iter().filter(|check| check.text("verdict") == "problem").count() {
        0 => Ok(()),
        1 => Err(Failure::new("1 problem found; see above")),
        count => Err(Failure::new(format!("{count} problems found; see above"))),
    }
}

fn check(name: &str, verdict: &str, finding: impl Into<String>, advice: Option<&str>) -> Value {
    json!({ "name": name, "environmentId": null, "verdict": verdict, "finding": finding.into(), "advice": advice })
}

fn local_checks(
    session: &Session,
    answer: &Value,
    asked_at: SystemTime,
    answered_at: SystemTime,
) -> Vec<Value> {
    let mut checks = vec![clock_check(answer.text("serverTime"), asked_at, answered_at)];
    let (ours, theirs) = (env!("CARGO_PKG_VERSION"), answer.text("version"));
    checks.push(if ours == theirs {
        check("version", "ok", format!("server and CLI are {ours}"), None)
    } else {
        let finding = format!("the server is {theirs}, this CLI is {ours}");
        check("version", "warning", finding, Some("use the same release for both"))
    });
    let url = &session.client.url;
    let is_loopback =
        ["http://127.", "http://localhost", "http://[::1]"].iter().any(|start| url.starts_with(start));
    if url.starts_with("http://") && !is_loopback {
        let advice = "the admin token is sent unencrypted; use https or a tunnel";
        checks.push(check("connection", "problem", format!("{url} is not encrypted"), Some(advice)));
    }
    if session.client.token_length() < STRONG_TOKEN {
        let advice = "make one with `tollgate generate admin-token` and start the server with it";
        let finding = format!("the admin token has {} characters", session.client.token_length());
        checks.push(check("admin token", "warning", finding, Some(advice)));
    }
    if let Some(sandbox_file) = &session.sandbox_file
        && let Ok(file) = fs::metadata(&sandbox_file.path)
        && file.permissions().mode() & 0o077 != 0
    {
        let finding = format!("{} is readable by other users on this machine", sandbox_file.path.display());
        checks.push(check(
            "keys",
            "problem",
            finding,
            Some("run chmod 600 on it: it contains the admin token and keys"),
        ));
    }
    checks
}

/// How far this machine's clock is from the server's; anywhere within the exchange is no difference.
fn clock_check(server_time: &str, asked_at: SystemTime, answered_at: SystemTime) -> Value {
    let Ok(server) = server_time.parse::<jiff::Timestamp>().map(SystemTime::from) else {
        return check("clock", "warning", "the server did not report its time", None);
    };
    let early = asked_at.duration_since(server).unwrap_or_default();
    let late = server.duration_since(answered_at).unwrap_or_default();
    // The server's milliseconds are cut off.
    let apart = early.max(late).saturating_sub(Duration::from_millis(1));
    let finding = format!("this machine's clock and the server's are {} ms apart", apart.as_millis());
    if apart < NOTABLE_SKEW {
        return check("clock", "ok", finding, None);
    }
    let advice = "run a time service on both machines: signatures are rejected when clocks differ by minutes";
    check("clock", "warning", finding, Some(advice))
}

fn render(answer: &Value, style: Style) -> String {
    let mut text = String::new();
    let mut environment = None;
    for check in answer.list("checks") {
        let of = check.optional_text("environmentId");
        if of != environment && of.is_some() {
            text.extend([format!("\n{}\n", style.strong(of.unwrap_or_default()))]);
        } else if of.is_none() && environment.is_some() {
            text.extend([format!("\n{}\n", style.strong("This machine"))]);
        }
        environment = of;
        let verdict = check.text("verdict");
        let shown = style.paint(paint_of(verdict), &format!("{verdict:<8}"));
        text.extend([format!("{shown} {:<12} {}\n", check.text("name"), printable(check.text("finding")))]);
        if let Some(advice) = check.optional_text("advice") {
            text.extend([format!("{:22}-> {}\n", "", printable(advice))]);
        }
    }
    let count =
        |verdict: &str| answer.list("checks").iter().filter(|check| check.text("verdict") == verdict).count();
    text.extend([format!(
        "\n{} ok, {} warnings, {} problems\n",
        count("ok"),
        count("warning"),
        count("problem")
    )]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_within_the_exchange_agree() {
        let second = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for (server, verdict) in [
            ("1970-01-01T00:01:40.000Z", "ok"),
            ("1970-01-01T00:01:43.000Z", "ok"),
            ("1970-01-01T00:01:50.000Z", "warning"),
            ("1970-01-01T00:01:30.000Z", "warning"),
            ("nonsense", "warning"),
        ] {
            assert_eq!(clock_check(server, second(100), second(101)).text("verdict"), verdict, "{server}");
        }
    }
}
