//! The providers' APIs, over what they share.

use crate::adyen::Adyen;
use crate::archive::{Archive, Row};
use crate::increase::Increase;
use crate::modern_treasury::ModernTreasury;
use crate::prelude::*;
use crate::services::OWNER;
use crate::square::Square;
use crate::stripe::Stripe;
use std::io;
use std::path::Path;

/// A handle on everything in a simulator. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Providers {
    pub(crate) services: Arc<Services>,
    pub(crate) stripe: Api<Stripe>,
    pub(crate) square: Api<Square>,
    pub(crate) increase: Api<Increase>,
    pub(crate) modern_treasury: Api<ModernTreasury>,
    pub(crate) adyen: Api<Adyen>,
}

impl Providers {
    pub(crate) fn new(config: Config, archive: Option<Archive>) -> Self {
        let services = Arc::new(Services::new(config, archive));
        Self {
            stripe: Api::new(&services),
            square: Api::new(&services),
            increase: Api::new(&services),
            modern_treasury: Api::new(&services),
            adyen: Api::new(&services),
            services,
        }
    }

    /// With everything that is in the file, and whatever changes from now on in it.
    pub(crate) fn open(config: Config, path: &Path) -> io::Result<Self> {
        let all = Self::new(config, Some(Archive::open(path)?));
        if let Some(archive) = &all.services.archive {
            archive.read(|row| {
                if let Err(error) = all.restore(row) {
                    tracing::warn!(%error, part = row.part, id = row.id, "an object of the simulator cannot be restored");
                }
            })?;
        }
        all.services.keep_changes();
        all.stripe.resume();
        all.square.resume();
        all.increase.resume();
        all.modern_treasury.resume();
        all.adyen.resume();
        all.rewrite_archive()?;
        Ok(all)
    }

    /// Parts of another version are left out.
    fn restore(&self, row: &Row) -> serde_json::Result<()> {
        let Some((owner, part)) = row.part.split_once('.') else { return Ok(()) };
        if owner == OWNER {
            return self.services.restore(row);
        }
        match Wire::ALL.into_iter().find(|wire| wire.name() == owner) {
            Some(Wire::Stripe) => self.stripe.restore(part, row),
            Some(Wire::Square) => self.square.restore(part, row),
            Some(Wire::Increase) => self.increase.restore(part, row),
            Some(Wire::ModernTreasury) => self.modern_treasury.restore(part, row),
            Some(Wire::Adyen) => self.adyen.restore(part, row),
            None => Ok(()),
        }
    }

    /// Writes the file anew, if there is one, whenever it has grown.
    pub(crate) async fn rewrite_archive_forever(self) {
        let Some(archive) = &self.services.archive else { return };
        loop {
            tokio::select! {
                () = self.services.stopped() => return,
                () = archive.has_grown.notified() => {}
            }
            if let Err(error) = self.rewrite_archive() {
                tracing::error!(%error, "the simulator's file cannot be written anew");
            }
        }
    }

    /// Nothing changes meanwhile: all states are locked, always in this order.
    pub(crate) fn rewrite_archive(&self) -> io::Result<()> {
        let Some(archive) = &self.services.archive else { return Ok(()) };
        let (mut stripe, mut square) = (self.stripe.state(), self.square.state());
        let (mut increase, mut modern_treasury) = (self.increase.state(), self.modern_treasury.state());
        let mut adyen = self.adyen.state();
        archive.rewrite(|lines| {
            self.stripe.write_all(&mut stripe, lines)?;
            self.square.write_all(&mut square, lines)?;
            self.increase.write_all(&mut increase, lines)?;
            self.modern_treasury.write_all(&mut modern_treasury, lines)?;
            self.adyen.write_all(&mut adyen, lines)?;
            self.services.write_all(lines)
        })
    }

    pub(crate) fn reset(&self) {
        self.services.reset();
        self.stripe.reset();
        self.square.reset();
        self.increase.reset();
        self.modern_treasury.reset();
        self.adyen.reset();
        if let Err(error) = self.rewrite_archive() {
            tracing::error!(%error, "the simulator's file cannot be written anew");
        }
    }
}
