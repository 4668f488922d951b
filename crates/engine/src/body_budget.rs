//! How many bytes of unfinished requests are held in memory at once, whoever sends them.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tollgate_domain::address_range::client_of;

/// What a request may hold without being counted: nearly every payment's body is smaller.
pub const FREE_BODY_BYTES: usize = 4 * 1024;

/// What all strangers together may hold, and one client of them.
const STRANGER_BYTES: usize = 16 * 1024 * 1024;
const STRANGER_CLIENT_BYTES: usize = STRANGER_BYTES / 4;
/// What callers with a secret key and operators may hold together.
const KNOWN_BYTES: usize = 48 * 1024 * 1024;

/// All that is held now.
#[derive(Debug, Default)]
pub struct BodyBudget {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    strangers: usize,
    known: usize,
    clients: HashMap<IpAddr, usize>,
}

/// As much is held as may be; it is free again once other requests have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too much is being received at once; send it again in a moment")]
pub struct NoRoomForBody;

impl NoRoomForBody {
    /// Whether this is why something failed.
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut causes = std::iter::successors(Some(error), |error| error.source()).take(8);
        causes.any(<dyn std::error::Error>::is::<Self>)
    }
}

impl BodyBudget {
    /// Counts what one request from this address holds, with all others of the same client.
    pub fn meter(self: &Arc<Self>, address: IpAddr) -> Arc<BodyMeter> {
        let client = client_of(address);
        Arc::new(BodyMeter { budget: Arc::clone(self), client, request: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn take(&mut self, client: IpAddr, is_known: bool, bytes: usize) -> Result<(), NoRoomForBody> {
        if is_known {
            let held = self.known.saturating_add(bytes);
            self.known = Some(held).filter(|held| *held <= KNOWN_BYTES).ok_or(NoRoomForBody)?;
            return Ok(());
        }
        let (all, own) = (
            self.strangers.saturating_add(bytes),
            self.clients.get(&client).copied().unwrap_or_default().saturating_add(bytes),
        );
        if all > STRANGER_BYTES || own > STRANGER_CLIENT_BYTES {
            return Err(NoRoomForBody);
        }
        self.strangers = all;
        self.clients.insert(client, own);
        Ok(())
    }

    fn give_back(&mut self, client: IpAddr, is_known: bool, bytes: usize) {
        if is_known {
            self.known = self.known.saturating_sub(bytes);
            return;
        }
        self.strangers = self.strangers.saturating_sub(bytes);
        let Some(own) = self.clients.get_mut(&client) else { return };
        *own = own.saturating_sub(bytes);
        if *own == 0 {
            self.clients.remove(&client);
        }
    }
}

/// What one request holds, given back when it ends.
#[derive(Debug)]
pub struct BodyMeter {
    budget: Arc<BodyBudget>,
    client: IpAddr,
    request: Mutex<MeteredRequest>,
}

#[derive(Debug, Default)]
struct MeteredRequest {
    received: usize,
    counted: usize,
    is_known: bool,
    has_ended: bool,
}

impl BodyMeter {
    /// Counts what has arrived.
    pub fn take(&self, bytes: usize) -> Result<(), NoRoomForBody> {
        let mut request = self.request();
        if request.has_ended {
            return Ok(());
        }
        request.received = request.received.saturating_add(bytes);
        let counted = request.received.saturating_sub(FREE_BODY_BYTES);
        let more = counted.saturating_sub(request.counted);
        if more > 0 {
            let taken = self.budget.held().take(self.client, request.is_known, more);
            if taken.is_err() {
                // What still comes is thrown away.
                self.give_back(&mut request);
                return taken;
            }
            request.counted = counted;
        }
        Ok(())
    }

    /// The caller is authenticated: from now on the request counts against the budget of known callers.
    pub fn recognize(&self) {
        let mut request = self.request();
        if request.is_known || request.has_ended {
            return;
        }
        let mut held = self.budget.held();
        held.give_back(self.client, false, request.counted);
        held.known = held.known.saturating_add(request.counted);
        drop(held);
        request.is_known = true;
    }

    /// The request is answered or given up: nothing of it is held anymore.
    pub fn end(&self) {
        self.give_back(&mut self.request());
    }

    fn give_back(&self, request: &mut MeteredRequest) {
        self.budget.held().give_back(self.client, request.is_known, request.counted);
        request.counted = 0;
        request.has_ended = true;
    }

    fn request(&self) -> MutexGuard<'_, MeteredRequest> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 64 * 1024;

    fn address(host: u8) -> IpAddr {
        [192, 0, 2, host].into()
    }

    #[test]
    fn strangers_share_a_budget_and_no_address_has_more_than_a_quarter_of_it() {
        let budget = Arc::new(BodyBudget::default());
        let mut meters = Vec::new();
        for host in 1..=8 {
            let taken = (0..1_000).take_while(|_| {
                let meter = budget.meter(address(host));
                let is_taken = meter.take(PIECE).is_ok();
                meters.push(meter);
                is_taken
            });
            let expected = match host {
                1..=4 => 68,
                5 => 1,
                _ => 0,
            };
            assert_eq!(taken.count(), expected, "address {host}");
        }
        let small = budget.meter(address(9));
        assert_eq!(small.take(FREE_BODY_BYTES), Ok(()), "what is small is never refused");
        assert_eq!(small.take(FREE_BODY_BYTES + 1), Err(NoRoomForBody));
        assert_eq!(small.take(PIECE), Ok(()), "the rest of it is thrown away");
        let known = budget.meter(address(1));
        known.recognize();
        assert_eq!(known.take(16 * 1024 * 1024), Ok(()), "strangers do not take the room of others");
        for meter in &meters {
            meter.end();
        }
        assert_eq!(budget.meter(address(5)).take(PIECE), Ok(()), "what has ended gives its room back");
    }

    #[test]
    fn all_addresses_of_a_subscriber_share_one_clients_room() {
        let budget = Arc::new(BodyBudget::default());
        let of_host = |host: u16| IpAddr::from([0x2001, 0xdb8, 1, 2, 0, 0, 0, host]);
        let meters: Vec<_> = (0..1_000).map(|host| budget.meter(of_host(host))).collect();
        assert_eq!(meters.iter().filter(|meter| meter.take(PIECE).is_ok()).count(), 68);
        let neighbor = budget.meter([0x2001, 0xdb8, 1, 3, 0, 0, 0, 1].into());
        assert_eq!(neighbor.take(PIECE), Ok(()));
    }

    #[test]
    fn what_is_thrown_away_after_the_answer_is_not_counted() {
        let budget = Arc::new(BodyBudget::default());
        let meter = budget.meter(address(1));
        meter.take(PIECE).unwrap();
        meter.end();
        meter.take(usize::MAX).unwrap();
        meter.recognize();
        let held = budget.held();
        assert_eq!((held.strangers, held.known, held.clients.len()), (0, 0, 0));
    }

    #[test]
    fn whoever_is_recognized_late_moves_what_they_hold() {
        let budget = Arc::new(BodyBudget::default());
        let meter = budget.meter(address(1));
        meter.take(PIECE).unwrap();
        meter.recognize();
        assert_eq!(budget.held().strangers, 0);
        assert_eq!(budget.held().known, PIECE - FREE_BODY_BYTES);
        meter.end();
        assert_eq!(budget.held().known, 0);
    }
}
