//! `tollgate migrate`: brings the database's schema up to date and ends, for servers whose own role may not.

use std::path::PathBuf;

use crate::{
    failure::Failure,
    logging::{self, Activity},
    node,
    sandbox::create_private_dir,
    settings::ServerSettings,
};

pub(crate) async fn run(config: Option<PathBuf>) -> Result<(), Failure> {
    let settings = ServerSettings::load(config.as_deref())?;
    let _log = logging::start(&settings.log, Activity::Hidden, None)?;
    if settings.database.sqlite_path().is_some() {
        create_private_dir(&settings.data_dir)?;
    }
    drop(node::open(&settings.database, None).await?);
    let (version, oldest) = (tollgate_store::schema_version(), tollgate_store::oldest_schema_version());
    println!(
        "The schema of {} is up to date: version {version}. Versions of tollgate that know schema {oldest} or newer may run on it.",
        settings.database
    );
    Ok(())
}
