//! The providers' APIs, over what they share.

use crate::increase::Increase;
use crate::modern_treasury::ModernTreasury;
use crate::prelude::*;
use crate::square::Square;
use crate::stripe::Stripe;

/// A handle on everything in a simulator. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Providers {
    pub(crate) services: Arc<Services>,
    pub(crate) stripe: Api<Stripe>,
    pub(crate) square: Api<Square>,
    pub(crate) increase: Api<Increase>,
    pub(crate) modern_treasury: Api<ModernTreasury>,
}

impl Providers {
    pub(crate) fn new(config: Config) -> Self {
        let services = Arc::new(Services::new(config));
        Self {
            stripe: Api::new(&services),
            square: Api::new(&services),
            increase: Api::new(&services),
            modern_treasury: Api::new(&services),
            services,
        }
    }

    pub(crate) fn reset(&self) {
        self.services.reset();
        self.stripe.reset();
        self.square.reset();
        self.increase.reset();
        self.modern_treasury.reset();
    }
}
