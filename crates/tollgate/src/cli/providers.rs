//! `tollgate providers`: what is configured, what is missing, where webhooks go.

use clap::Args;

use super::{
    fields::Fields,
    output::paint_of,
    session::Session,
    table::{Cell, Table},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Providers {}

pub(crate) async fn run(session: Session, _: Providers) -> Result<(), Failure> {
    let list = session.client.get(&session.path("/providers").await?).await?;
    session.output.show(&list, |style| {
        let mut table = Table::new(&["NAME", "ADAPTER", "METHOD", "READY", "MISSING", "WEBHOOK ADDRESS"]);
        for provider in list.list("items") {
            let ready = if provider.flag("ready") { "yes" } else { "no" };
            let missing = provider.joined("missing");
            table.row([
                provider.word("name").into(),
                provider.word("adapter").into(),
                provider.word("paymentMethod").into(),
                Cell::painted(ready, paint_of(ready)),
                if missing.is_empty() { "-".into() } else { missing.into() },
                provider.word("webhookUrl").into(),
            ]);
        }
        table.draw(style, "No provider is configured; `tollgate apply FILE` puts a configuration in force.")
    })
}
