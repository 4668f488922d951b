//! The simulator as its users hold it: its routes, its background work, its end.

use crate::due::{end_forever, settle_forever};
use crate::prelude::*;
use crate::{adyen, control, increase, modern_treasury, square, stripe};
use axum::extract::State;
use axum::middleware;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A new simulator's routes: one prefix for each provider (`/stripe/…`, `/adyen/…`), and `/control/…`.
///
/// Whoever wants to stop the background work makes a [`Simulator`] instead.
pub fn router(config: Config) -> Router {
    Simulator::new(config).router()
}

/// A handle on one simulator. Clones share everything.
///
/// Background work (webhooks, checkout expiry, settlement) starts with [`Simulator::start`] or the first call and ends with
/// [`Simulator::stop`].
#[derive(Debug, Clone)]
pub struct Simulator {
    providers: Providers,
    is_started: Arc<AtomicBool>,
}

impl Simulator {
    /// A simulator with nothing in it.
    pub fn new(config: Config) -> Self {
        Self { providers: Providers::new(config, None), is_started: Arc::default() }
    }

    /// A simulator that keeps its objects in a file, and has those of an earlier one that kept them there. What the control
    /// interface changed, and webhook targets added by calls, go with the process.
    pub fn open(config: Config, path: &Path) -> io::Result<Self> {
        Ok(Self { providers: Providers::open(config, path)?, is_started: Arc::default() })
    }

    /// Starts the background work, where no call has. Within a runtime only.
    pub fn start(&self) {
        if self.is_started.swap(true, Ordering::Relaxed) {
            return;
        }
        let all = self.providers.clone();
        tokio::spawn(all.clone().rewrite_archive_forever());
        let Providers { services, stripe, increase, modern_treasury, adyen, .. } = all;
        for _ in 0..services.config.webhook_workers.clamp(1, 64) {
            tokio::spawn(Arc::clone(&services).deliver_forever());
        }
        tokio::spawn(end_forever(stripe));
        tokio::spawn(end_forever(adyen));
        if let Some(after) = services.config.ach_settles_after_ms {
            let after = Duration::from_millis(after);
            tokio::spawn(settle_forever(increase, after));
            tokio::spawn(settle_forever(modern_treasury, after));
        }
        tokio::spawn(async move { services.resume().await });
    }

    /// Every route: one prefix for each provider (`/stripe/…`, `/adyen/…`), and `/control/…`. With [`Config::only`], that
    /// provider's API at the root, and `/control/…`.
    pub fn router(&self) -> Router {
        let apis = match self.providers.services.config.only {
            Some(wire) => self.api(wire),
            None => Wire::ALL.into_iter().fold(Router::new(), |router, wire| {
                router.nest(&format!("/{}", wire.name()), self.api(wire))
            }),
        };
        apis.nest("/control", self.starting(control::router(self.providers.clone())))
    }

    /// One provider's API.
    fn api(&self, wire: Wire) -> Router {
        self.starting(match wire {
            Wire::Stripe => stripe::router(self.providers.stripe.clone()),
            Wire::Square => square::router(self.providers.square.clone()),
            Wire::Increase => increase::router(self.providers.increase.clone()),
            Wire::ModernTreasury => modern_treasury::router(self.providers.modern_treasury.clone()),
            Wire::Adyen => adyen::router(self.providers.adyen.clone()),
        })
    }

    /// Says where customers reach the router, once the port is known.
    pub fn set_public_url(&self, origin: impl Into<String>) {
        self.providers.services.set_public_url(origin.into());
    }

    /// Adds a place webhooks go to; a target of the same provider and address is replaced. `false`: there are too many.
    pub fn add_webhook_target(&self, target: WebhookTarget) -> bool {
        self.providers.services.add_webhook_target(target)
    }

    /// Forgets everything that happened since the start: objects, keys, faults, webhooks waiting, targets added.
    pub fn reset(&self) {
        self.providers.reset();
    }

    /// Ends the background work and lets go of calls that hang on request. Webhooks still waiting are not sent.
    pub fn stop(&self) {
        self.providers.services.stop();
    }

    /// The routes, with the background work starting at the first call to any of them.
    fn starting(&self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(self.clone(), start))
    }
}

async fn start(State(simulator): State<Simulator>, request: Request, next: Next) -> Response {
    simulator.start();
    next.run(request).await
}
