//! `tollgate serve`: production. No demo data, no defaults for secrets.

use std::path::PathBuf;

use crate::{failure::Failure, logging, node, sandbox::create_private_dir, settings::ServerSettings};

pub(crate) async fn run(config: Option<PathBuf>) -> Result<(), Failure> {
    let settings = ServerSettings::load(config.as_deref())?;
    let master_key = settings.required_master_key()?;
    let admin_token = settings.required_admin_token()?;
    let _log = logging::start(&settings.log)?;
    if settings.database.sqlite_path().is_some() {
        create_private_dir(&settings.data_dir)?;
    }
    let (listener, address) = node::bind(&settings.listen).await?;
    let engine = node::engine(&settings, address, &master_key).await?;
    node::serve(listener, address, node::app(&settings, engine, admin_token)?, settings.limits).await
}
