//! `tollgate rekey`: has a server encrypt everything under the current master key, and says how far it is.

use clap::Args;
use serde_json::{Value, json};

use super::{fields::Fields, session::Session};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Rekey {}

pub(crate) async fn run(session: Session, _: Rekey) -> Result<(), Failure> {
    let mut resealed = 0_u64;
    let unreadable = loop {
        let progress = session.client.post("/admin/v1/rekey", &json!({})).await?;
        resealed = resealed.saturating_add(progress.number("resealed"));
        if progress.get("done").and_then(Value::as_bool) == Some(true) {
            break progress.number("unreadable");
        }
        eprintln!("{resealed} values encrypted under the current key so far");
    };
    let answer = json!({ "resealed": resealed, "unreadable": unreadable });
    session.output.show(&answer, |_| {
        format!(
            "{resealed} values encrypted under the current key. Once `tollgate doctor` agrees, remove \
             TOLLGATE_MASTER_KEY_PREVIOUS from every node.\n"
        )
    })?;
    if unreadable == 0 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{unreadable} values can be decrypted with neither key; the server's log names them"
    )))
}
