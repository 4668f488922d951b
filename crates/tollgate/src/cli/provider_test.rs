//! A provider's live check: run by the server, shown here.

use serde_json::{Value, json};

use super::{
    fields::Fields,
    http::segment,
    output::{Style, paint_of, printable},
    session::Session,
};
use crate::failure::Failure;

/// Has the server check a provider.
pub(super) async fn run(session: &Session, name: &str, register: bool) -> Result<Value, Failure> {
    let path = session.path(&format!("/providers/{}/test", segment(name))).await?;
    let tested = session.client.post(&path, &json!({ "registerWebhook": register })).await;
    tested.map_err(|failure| {
        failure.if_missing(|| format!("no provider {name}; `tollgate providers` lists them"))
    })
}

/// A line for each check, and what to do below those that failed.
pub(super) fn render(tested: &Value, style: Style) -> String {
    let mut text = String::new();
    for check in tested.list("checks") {
        let verdict = if check.flag("ok") { "ok" } else { "failed" };
        let shown = style.paint(paint_of(verdict), &format!("{verdict:<8}"));
        let line = format!("{shown} {:<22} {}\n", check.text("name"), printable(check.text("message")));
        text.push_str(&line);
        if let Some(hint) = check.optional_text("hint") {
            text.extend([format!("{:32}-> {}\n", "", printable(hint))]);
        }
    }
    text
}

/// Fails where a check did.
pub(super) fn verdict(tested: &[(String, Value)]) -> Result<(), Failure> {
    let failed =
        tested.iter().flat_map(|(_, tested)| tested.list("checks")).filter(|check| !check.flag("ok"));
    match failed.count() {
        0 => Ok(()),
        1 => Err(Failure::new("1 check failed; see above")),
        count => Err(Failure::new(format!("{count} checks failed; see above"))),
    }
}
