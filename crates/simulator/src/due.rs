//! What happens by itself: transfers some time after they were accepted, and other objects at a time of their own.

use crate::prelude::*;
use tokio::time::{Duration, Instant};

/// The longest time until a settlement, so that the moment can always be named.
const AFTER_MAX: Duration = Duration::from_hours(24 * 365);
/// The shortest and the longest pause between two checks for what is due. The longest leaves room for a reset.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Ids by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Due(BTreeSet<(Instant, String)>);

impl Due {
    /// Adds an object, if things happen by themselves.
    pub(crate) fn add(&mut self, services: &Services, id: &str) {
        let Some(after) = services.config.ach_settles_after_ms else { return };
        self.0.insert((Instant::now() + Duration::from_millis(after).min(AFTER_MAX), id.to_owned()));
        // Beyond this many, the first belongs to an object that was dropped as the oldest.
        while self.0.len() > services.config.objects_max.saturating_mul(8) {
            self.0.pop_first();
        }
    }

    /// An object whose time has come.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.0.first().filter(|(due, _)| *due <= Instant::now())?;
        self.0.pop_first().map(|(_, id)| id)
    }
}

/// What a provider remembers whose transfers settle by themselves.
pub(crate) trait Settles {
    fn due(&mut self) -> &mut Due;

    fn settle_due(&mut self, services: &Arc<Services>);
}

/// Settles every transfer at its time, until the simulator stops.
pub(crate) async fn settle_forever<P: Provider<State: Settles>>(api: Api<P>, after: Duration) {
    let pause = after.clamp(PAUSES.0, PAUSES.1);
    loop {
        // Whatever is accepted during the pause is due after it, so nothing can be missed for longer than a pause.
        let next = api.state().due().0.first().map(|(due, _)| *due);
        let wake = Instant::now() + pause;
        tokio::select! {
            () = api.services().stopped() => return,
            () = tokio::time::sleep_until(next.map_or(wake, |due| due.min(wake))) => {}
        }
        api.change_and_announce(|state| state.settle_due(api.services())).await;
    }
}

/// What a provider remembers whose objects end at times of their own.
pub(crate) trait EndsByItself {
    fn end_due(&mut self, services: &Arc<Services>);
}

/// Ends every object at its time, until the simulator stops.
pub(crate) async fn end_forever<P: Provider<State: EndsByItself>>(api: Api<P>) {
    let services = api.services();
    let mut pause = PAUSES.1;
    loop {
        tokio::select! {
            () = services.stopped() => return,
            () = tokio::time::sleep(pause) => {}
        }
        let begun = Instant::now();
        api.change_and_announce(|state| state.end_due(services)).await;
        // Everything that is open is looked through, which must not become the provider's main work.
        pause = PAUSES.1.max(begun.elapsed() * 50);
    }
}
