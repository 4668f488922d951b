//! Whether the service would take work.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use tollgate_engine::Engine;

/// A probe slower than this is a failed one.
const PROBE_LIMIT: Duration = Duration::from_secs(3);
/// However often readiness is asked, the store is probed at most this often.
const PROBE_AGE: Duration = Duration::from_millis(200);

/// The last probe's result, shared by everyone who asks meanwhile.
#[derive(Default)]
pub(crate) struct Readiness {
    last: Mutex<Option<(Instant, Result<(), String>)>>,
}

impl Readiness {
    pub(crate) async fn probe(&self, engine: &Engine) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if let Some((at, result)) = last.as_ref()
            && at.elapsed() < PROBE_AGE
        {
            return result.clone();
        }
        let result = match timeout(PROBE_LIMIT, engine.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the store timed out".to_owned()),
        };
        *last = Some((Instant::now(), result.clone()));
        result
    }
}
