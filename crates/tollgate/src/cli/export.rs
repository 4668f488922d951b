//! `tollgate export`: the current configuration as a file that `tollgate apply` takes back.

use clap::Args;

use super::{
    document::{self, Format},
    output,
    session::Session,
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Output format; --json implies JSON.
    #[arg(long, value_enum, default_value = "toml")]
    format: Format,
}

pub(crate) async fn run(session: Session, export: Export) -> Result<(), Failure> {
    let document = session.client.get(&session.path("/config").await?).await?;
    let format = if session.output.json { Format::Json } else { export.format };
    output::print(&document::write(&document, format)?)
}
