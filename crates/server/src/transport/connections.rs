//! Limits of connections, in all and from one address, and which one is closed for a new one.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use prometheus_client::metrics::counter::Counter;
use tokio::{sync::Notify, time::sleep};
use tollgate_domain::address_range::{AddressRange, client_of};

/// The open connections, by the address they come from.
pub(crate) struct Connections {
    most_per_address: usize,
    /// How many may wait for a body at once: each holds what has arrived, and all that is needed to go on.
    most_waiting: usize,
    waiting: AtomicUsize,
    /// Proxies bring the connections of many clients, which are counted in all only.
    proxies: Vec<AddressRange>,
    table: Mutex<Table>,
    /// Connections that were refused or closed for others.
    dropped: Counter,
}

#[derive(Default)]
struct Table {
    next: u64,
    by_address: HashMap<IpAddr, BTreeMap<u64, Arc<OpenConnection>>>,
}

pub(crate) struct OpenConnection {
    number: u64,
    address: IpAddr,
    activity: Activity,
    evicted: Notify,
    connections: Weak<Connections>,
}

/// A connection's place; it is free again once this is dropped.
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    connection: Arc<OpenConnection>,
}

impl Connections {
    pub(crate) fn new(
        most_per_address: usize,
        most_waiting: usize,
        proxies: Vec<AddressRange>,
        dropped: Counter,
    ) -> Arc<Self> {
        let (waiting, table) = (AtomicUsize::new(0), Mutex::default());
        Arc::new(Self { most_per_address, most_waiting, waiting, proxies, table, dropped })
    }

    /// A place for a connection from this address, if need be that of another one from there without a complete request. `None`
    /// if all of them have one.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionSlot> {
        let address = client_of(peer);
        let mut table = self.table();
        table.next += 1;
        let number = table.next;
        let open_connections = table.by_address.entry(address).or_default();
        let is_proxy = || self.proxies.iter().any(|range| range.contains(peer));
        if open_connections.len() >= self.most_per_address && !is_proxy() {
            self.dropped.inc();
            open_connections.remove(&dispensable(open_connections)?)?.evicted.notify_one();
        }
        let connection = Arc::new(OpenConnection {
            number,
            address,
            activity: Activity::default(),
            evicted: Notify::new(),
            connections: Arc::downgrade(self),
        });
        open_connections.insert(number, Arc::clone(&connection));
        drop(table);
        Some(ConnectionSlot { connections: Arc::clone(self), connection })
    }

    /// Closes a connection without a complete request, of the address that has the most of them. False if there is none.
    pub(crate) fn make_room(&self) -> bool {
        let mut table = self.table();
        let mut addresses: Vec<_> = table
            .by_address
            .iter()
            .map(|(address, open_connections)| (open_connections.len(), *address))
            .collect();
        addresses.sort_unstable_by_key(|(count, _)| Reverse(*count));
        for (_, address) in addresses {
            let Some(open_connections) = table.by_address.get_mut(&address) else { continue };
            if let Some(connection) =
                dispensable(open_connections).and_then(|number| open_connections.remove(&number))
            {
                connection.evicted.notify_one();
                self.dropped.inc();
                return true;
            }
        }
        false
    }

    /// Closes the oldest connection that waits for a body, of the address that has the most of them.
    fn close_waiting(&self) {
        let mut table = self.table();
        let waits = |connection: &&Arc<OpenConnection>| connection.activity.phase() == Phase::Body;
        let most = table
            .by_address
            .values_mut()
            .max_by_key(|open_connections| open_connections.values().filter(waits).count());
        let Some(open_connections) = most else { return };
        let first = open_connections.values().find(waits).map(|connection| connection.number);
        if let Some(connection) = first.and_then(|number| open_connections.remove(&number)) {
            connection.evicted.notify_one();
            self.dropped.inc();
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    pub(crate) fn connection(&self) -> &Arc<OpenConnection> {
        &self.connection
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if self.connection.activity.phase() == Phase::Body {
            self.connections.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        let mut table = self.connections.table();
        let Some(open_connections) = table.by_address.get_mut(&self.connection.address) else { return };
        open_connections.remove(&self.connection.number);
        if open_connections.is_empty() {
            table.by_address.remove(&self.connection.address);
        }
    }
}

impl OpenConnection {
    pub(crate) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// More of a request's body is awaited.
    pub(crate) fn body_awaited(&self) {
        if !self.activity.body_awaited() {
            return;
        }
        let Some(connections) = self.connections.upgrade() else { return };
        if connections.waiting.fetch_add(1, Ordering::Relaxed) >= connections.most_waiting {
            connections.close_waiting();
        }
    }

    /// Some of a request's body has come.
    pub(crate) fn body_came(&self) {
        if self.activity.body_came() {
            self.waits_no_longer();
        }
    }

    pub(crate) fn request_ended(&self) {
        if self.activity.request_ended() == Phase::Body {
            self.waits_no_longer();
        }
    }

    fn waits_no_longer(&self) {
        if let Some(connections) = self.connections.upgrade() {
            connections.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns once the connection's place is wanted for another one.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

/// The one to close first: idle between two requests before one whose request has not arrived entirely, the longest idle
/// before the others, the oldest before the newest.
fn dispensable(open_connections: &BTreeMap<u64, Arc<OpenConnection>>) -> Option<u64> {
    let without_request =
        open_connections.values().filter(|connection| connection.activity.phase() != Phase::Busy);
    without_request
        .map(|connection| (connection.activity.rank(), Reverse(connection.number)))
        .max()
        .map(|(_, number)| number.0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A request's head is awaited or has begun to arrive.
    Head,
    Busy,
    /// A request's body is awaited, and nothing was done for it so far.
    Body,
    /// The last answer is out, and nothing has come since.
    Idle,
}

/// How far a connection has come, to tell an idle one from a busy one. One timer per connection that seldom fires costs a
/// request nothing, unlike one that is set again for each.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Counts the changes of phase; its last two bits are the phase.
    changes: AtomicU64,
    /// For how many looks of the timer nothing has changed.
    unchanged: AtomicU64,
    /// True if an answer is being made, or is not yet written out entirely.
    answering: AtomicBool,
}

impl Activity {
    const PHASES: [Phase; 4] = [Phase::Head, Phase::Busy, Phase::Idle, Phase::Body];

    pub(crate) fn phase(&self) -> Phase {
        phase_of(self.changes.load(Ordering::Relaxed))
    }

    /// The first byte of a request has come.
    pub(crate) fn head_began(&self) {
        self.enter(Phase::Head);
    }

    pub(crate) fn request_began(&self) {
        self.answering.store(true, Ordering::Relaxed);
        self.enter(Phase::Busy);
    }

    /// More of the request's body is awaited. What is left of it after the answer changes nothing: false.
    fn body_awaited(&self) -> bool {
        self.change(Phase::Busy, Phase::Body)
    }

    /// Some of the request's body has come; whether it was awaited.
    fn body_came(&self) -> bool {
        self.change(Phase::Body, Phase::Busy)
    }

    /// True if a request is under way that the caller would have to send again after a loss: one whose body is incomplete can be sent again.
    pub(crate) fn has_request(&self) -> bool {
        match self.phase() {
            Phase::Busy => true,
            Phase::Body => false,
            Phase::Head | Phase::Idle => self.is_answering(),
        }
    }

    /// The answer is made; what the connection was doing.
    fn request_ended(&self) -> Phase {
        self.enter(Phase::Idle)
    }

    /// All that was written so far is out.
    pub(crate) fn flushed(&self) {
        if !matches!(self.phase(), Phase::Busy | Phase::Body) {
            self.answering.store(false, Ordering::Relaxed);
        }
    }

    /// True if what is written belongs to a request's answer.
    pub(crate) fn is_answering(&self) -> bool {
        self.answering.load(Ordering::Relaxed)
    }

    /// Higher for what can better be done without.
    fn rank(&self) -> (bool, u64) {
        (self.phase() == Phase::Idle, self.unchanged.load(Ordering::Relaxed))
    }

    /// Only the connection's own task and the reader of a request's body change it.
    fn enter(&self, phase: Phase) -> Phase {
        let next = |seen| Some(changed(seen, phase));
        let entered = self.changes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        phase_of(entered.unwrap_or_else(|seen| seen))
    }

    fn change(&self, from: Phase, to: Phase) -> bool {
        let next = |seen| (phase_of(seen) == from).then(|| changed(seen, to));
        self.changes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }

    /// Returns once a request's head has not arrived within `head`, or the connection has been idle for `idle`; at the
    /// latest `head` after that.
    pub(crate) async fn stalls(&self, head: Duration, idle: Duration) {
        let mut seen = self.changes.load(Ordering::Relaxed);
        loop {
            sleep(head).await;
            let now = self.changes.load(Ordering::Relaxed);
            let unchanged = if now == seen { self.unchanged.load(Ordering::Relaxed) + 1 } else { 0 };
            self.unchanged.store(unchanged, Ordering::Relaxed);
            seen = now;
            let waited = head.saturating_mul(u32::try_from(unchanged).unwrap_or(u32::MAX));
            let most = match phase_of(now) {
                // Reading a body has a deadline of its own.
                Phase::Busy | Phase::Body => continue,
                Phase::Head => head,
                Phase::Idle => idle,
            };
            if waited >= most {
                return;
            }
        }
    }
}

/// The number after one more change, to this phase.
fn changed(seen: u64, phase: Phase) -> u64 {
    let bits = Activity::PHASES.iter().position(|known| *known == phase).unwrap_or_default();
    ((seen >> 2).wrapping_add(1) << 2) | u64::try_from(bits).unwrap_or_default()
}

fn phase_of(changes: u64) -> Phase {
    let bits = usize::try_from(changes & 3).unwrap_or_default();
    Activity::PHASES.get(bits).copied().unwrap_or(Phase::Head)
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const HEAD: Duration = Duration::from_millis(20);
    const IDLE: Duration = Duration::from_millis(60);
    const LONG: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn a_connection_stalls_while_nothing_comes_and_not_while_it_is_busy() {
        let activity = Activity::default();
        timeout(LONG, activity.stalls(HEAD, LONG * 9)).await.unwrap();
        activity.request_began();
        assert!(timeout(HEAD * 6, activity.stalls(HEAD, IDLE)).await.is_err(), "a request is under way");
        activity.request_ended();
        timeout(LONG, activity.stalls(HEAD, IDLE)).await.unwrap();
        activity.head_began();
        timeout(LONG, activity.stalls(HEAD, LONG * 9)).await.unwrap();
        let requests = async {
            loop {
                activity.request_began();
                activity.request_ended();
                sleep(HEAD / 8).await;
            }
        };
        tokio::select! {
            () = requests => {}
            () = activity.stalls(HEAD, IDLE) => panic!("a connection with requests on it was given up"),
            () = sleep(HEAD * 10) => {}
        }
    }

    #[test]
    fn an_address_has_its_share_and_gives_up_what_it_can_do_without() {
        let connections = Connections::new(3, 100, Vec::new(), Counter::default());
        let one: IpAddr = "192.0.2.1".parse().unwrap();
        let places: Vec<_> = (0..3).map(|_| connections.admit(one).unwrap()).collect();
        for place in &places {
            place.connection().activity().request_began();
        }
        assert!(connections.admit(one).is_none(), "all three have a request under way");
        let other = connections.admit("192.0.2.2".parse().unwrap());
        assert!(other.is_some(), "another address has a share of its own");
        places[1].connection().request_ended();
        let fourth = connections.admit(one).unwrap();
        fourth.connection().activity().request_began();
        assert!(connections.admit(one).is_none(), "the idle one's place is taken");
        drop(places);
        assert!((0..2).all(|_| connections.admit(one).is_some()), "places come back");
    }

    #[test]
    fn a_connection_that_waits_for_its_body_gives_up_its_place() {
        let connections = Connections::new(2, 100, Vec::new(), Counter::default());
        let one: IpAddr = "192.0.2.1".parse().unwrap();
        let places: Vec<_> = (0..2).map(|_| connections.admit(one).unwrap()).collect();
        for place in &places {
            place.connection().activity().request_began();
            place.connection().body_awaited();
        }
        places[1].connection().body_came();
        assert!(
            !places[0].connection().activity().has_request()
                && places[1].connection().activity().has_request()
        );
        let third = connections.admit(one).unwrap();
        third.connection().activity().request_began();
        assert!(connections.admit(one).is_none(), "both have their whole request");
        let connection = places[1].connection();
        connection.request_ended();
        connection.body_awaited();
        assert_eq!(
            connection.activity().phase(),
            Phase::Idle,
            "what is left of a body after the answer changes nothing"
        );
        drop(places);
        assert_eq!(connections.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn of_those_that_wait_for_a_body_the_first_goes_of_whoever_has_most() {
        let connections = Connections::new(10, 3, Vec::new(), Counter::default());
        let admit = |address: &str| connections.admit(address.parse().unwrap()).unwrap();
        let places = ["192.0.2.9", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1"].map(admit);
        let is_open = |place: &ConnectionSlot| {
            let table = connections.table();
            table.by_address[&place.connection().address].contains_key(&place.connection().number)
        };
        for place in &places {
            place.connection().activity().request_began();
            place.connection().body_awaited();
        }
        assert_eq!(places.each_ref().map(is_open), [true, false, false, true, true]);
        drop(places);
        assert_eq!(connections.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn room_is_made_where_most_are_and_idle_ones_go_first() {
        let connections = Connections::new(10, 100, Vec::new(), Counter::default());
        let admit = |address: &str| connections.admit(address.parse().unwrap()).unwrap();
        let alone = admit("192.0.2.9");
        alone.connection().request_ended();
        let places: Vec<_> = (0..3).map(|_| admit("192.0.2.1")).collect();
        places[0].connection().activity().request_began();
        places[2].connection().request_ended();
        let open = |address: &str| {
            let table = connections.table();
            table.by_address[&address.parse::<IpAddr>().unwrap()].keys().copied().collect::<Vec<_>>()
        };
        let numbers: Vec<_> = places.iter().map(|place| place.connection().number).collect();
        assert!(connections.make_room());
        assert_eq!(open("192.0.2.1"), numbers[..2], "the idle one goes before the one that has not begun");
        assert!(connections.make_room());
        assert_eq!((open("192.0.2.1").len(), open("192.0.2.9").len()), (1, 1));
        assert!(connections.make_room(), "the busy one stays");
        assert_eq!((open("192.0.2.1").len(), open("192.0.2.9").len()), (1, 0));
        assert!(!connections.make_room());
    }
}
