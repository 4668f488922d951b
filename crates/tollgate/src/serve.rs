//! `tollgate serve`: production. No demo data, no defaults for secrets.

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
    let master_key = settings.required_master_key()?;
    let admin_token = settings.required_admin_token()?;
    let log = logging::start(&settings.log, Activity::Hidden, settings.collector.as_deref())?;
    if settings.database.sqlite_path().is_some() {
        create_private_dir(&settings.data_dir)?;
    }
    let (listener, address) = node::bind(&settings.listen, "TOLLGATE_LISTEN").await?;
    let listeners = node::listeners(&settings, listener).await?;
    let engine = node::engine(&settings, address, &master_key).await?;
    let mut app = node::app(&settings, engine, admin_token, false)?;
    if settings.first_page {
        app = app.with_mounted("/", tollgate_console::product_page());
    }
    let served = node::serve(listeners, app, settings.limits).await;
    log.finish().await;
    served
}
