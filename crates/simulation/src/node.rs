//! Nodes: started, asked, killed and started again.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};
use tollgate_engine::{
    DatabaseClock, Engine, Options,
    ports::{Clock, Store},
};
use tollgate_server::{ApiEventBodies, App, Service};
use tollgate_store::sqlite::SqliteStore;
use tollgate_vault::{AdminToken, MasterKey, Secret};

use crate::{
    life::{Life, NodeClock, NodeHost},
    plants::{self, Plant},
    providers::ModelAdapters,
    receivers::ModelCourier,
    store::UnreliableStore,
    world::{World, lock},
};

pub(crate) const ADMIN_TOKEN: &str = "an operator of the simulation";
const MASTER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How often a node looks for work that nobody pokes it about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) poll: Duration,
    pub(crate) follow: Duration,
}

impl Pace {
    /// As in production, or a little slower.
    pub(crate) fn draw(world: &World) -> Self {
        let poll = Duration::from_millis(*world.pick(&[500, 1_000, 2_000]));
        // Without operators there is nothing to follow.
        let has_news = world.profile.operator_actions > 0;
        let follow = if has_news { tollgate_engine::FOLLOW_POLL } else { Duration::from_secs(5) };
        Self { poll, follow }
    }

    /// For stretches in which hardly anything happens.
    pub(crate) fn slow(poll: Duration) -> Self {
        Self { poll, follow: poll * 4 }
    }
}

/// A node whose start nobody waits for anymore does not live on unseen.
struct Starting(Option<Arc<Life>>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(life) = &self.0 {
            life.die("its start was given up");
        }
    }
}

/// An answer, as a caller gets it.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) request_id: String,
    pub(crate) is_replay: bool,
    pub(crate) body: Value,
}

impl Answer {
    /// `error.code`, or nothing.
    pub(crate) fn code(&self) -> &str {
        self.text("/error/code")
    }

    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Why there is no answer: the caller's patience ended, or the node did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoAnswer;

/// All nodes there are, over one database.
pub(crate) struct Cluster {
    pub(crate) world: Arc<World>,
    pub(crate) store: Arc<dyn Store>,
    nodes: Vec<Mutex<Option<Running>>>,
    /// How far the clock of each machine is ahead, in milliseconds.
    aheads: Vec<Arc<AtomicI64>>,
}

#[derive(Clone)]
struct Running {
    life: Arc<Life>,
    service: Service,
}

impl Cluster {
    pub(crate) fn new(world: &Arc<World>) -> Arc<Self> {
        let store = SqliteStore::in_memory().unwrap_or_else(|error| panic!("no store in memory: {error}"));
        let count = world.profile.nodes;
        let skew = world.profile.skew;
        let ahead = |_| {
            let drawn = i64::try_from(world.draw(0..2 * skew + 1)).unwrap_or(0);
            Arc::new(AtomicI64::new(drawn - i64::try_from(skew).unwrap_or(0)))
        };
        Arc::new(Self {
            world: Arc::clone(world),
            store: Arc::new(store),
            nodes: (0..count).map(|_| Mutex::new(None)).collect(),
            aheads: (0..count).map(ahead).collect(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Starts a node, and tries again while the store does not let it.
    pub(crate) async fn start(self: &Arc<Self>, index: usize, pace: Pace) {
        loop {
            let life = Life::begin(&self.world, format!("node {index}"), Arc::clone(&self.aheads[index]));
            let (ready, started) = oneshot::channel();
            let (cluster, born) = (Arc::clone(self), Arc::clone(&life));
            life.run(async move {
                let _ = ready.send(cluster.boot(&born, pace).await);
            });
            let mut starting = Starting(Some(Arc::clone(&life)));
            let started = started.await;
            starting.0 = None;
            match started {
                Ok(Ok(service)) => {
                    life.note("started");
                    *lock(&self.nodes[index]) = Some(Running { life, service });
                    return;
                }
                Ok(Err(why)) => life.die(&why),
                Err(_) => {}
            }
            self.world.pause(500..5_000).await;
        }
    }

    async fn boot(&self, life: &Arc<Life>, pace: Pace) -> Result<Service, String> {
        let mut options = Options::at("https://tollgate.example");
        options.allow_other_provider_hosts = true;
        options.resolver.poll = pace.poll;
        options.outbox.poll = pace.poll;
        options.outbox.digest_poll = pace.poll * 2;
        let store: Arc<dyn Store> =
            Arc::new(UnreliableStore { inner: Arc::clone(&self.store), life: Arc::clone(life) });
        let machine = Arc::new(NodeClock(Arc::clone(life)));
        let clock: Arc<dyn Clock> = if self.world.is_planted(Plant::WallClockDecides) {
            machine
        } else {
            let clock = DatabaseClock::start(&*store, machine).await.map_err(|error| error.to_string())?;
            let clock = Arc::new(clock);
            life.run(Arc::clone(&clock).follow(Arc::clone(&store)));
            clock
        };
        let master_key =
            MasterKey::from_weak_setting(&Secret::new(MASTER_KEY)).map_err(|error| error.to_string())?;
        let engine = Engine::start_on(
            Arc::new(NodeHost(Arc::clone(life))),
            store,
            clock,
            &master_key,
            Arc::new(ModelAdapters::new(life)),
            options,
        );
        let engine = engine.await.map_err(|error| error.to_string())?;
        let token =
            AdminToken::from_weak_setting(&Secret::new(ADMIN_TOKEN)).map_err(|error| error.to_string())?;
        let service = Service::new(App::new(engine, token));
        let engine = || Arc::clone(service.engine());
        let (stop, stopped) = watch::channel(false);
        let courier = Arc::new(ModelCourier(Arc::clone(life)));
        life.run(Arc::clone(engine().directory()).follow_every(pace.follow));
        life.run(engine().resolve_until(stopped.clone()));
        life.run(engine().index_until(stopped.clone()));
        life.run(engine().report_circuits_until(stopped.clone()));
        life.run(engine().deliver_until(courier, Arc::new(ApiEventBodies), stopped));
        // Nobody tells a node to stop here: it dies.
        std::mem::forget(stop);
        Ok(service)
    }

    pub(crate) fn kill(&self, index: usize, why: &str) {
        if let Some(running) = lock(&self.nodes[index]).take() {
            running.life.die(why);
        }
    }

    /// The nodes that died by themselves.
    pub(crate) fn dead(&self) -> Vec<usize> {
        let is_dead = |index: &usize| {
            !lock(&self.nodes[*index]).as_ref().is_some_and(|running| running.life.is_alive())
        };
        (0..self.count()).filter(is_dead).collect()
    }

    pub(crate) fn life(&self, index: usize) -> Option<Arc<Life>> {
        lock(&self.nodes[index]).as_ref().map(|running| Arc::clone(&running.life))
    }

    /// What time it is for a node; a dead one has none of its own.
    pub(crate) fn clock_of(&self, index: usize) -> i64 {
        let running = lock(&self.nodes[index]).clone();
        let now = running.map_or_else(|| self.world.clock(0), |it| it.service.engine().clock().now());
        now.unix_millis()
    }

    /// The clock of some machine jumps by hours, or is set right.
    pub(crate) fn jump(&self) {
        let index = self.any_node();
        let hours = *self.world.pick(&[0, 0, 1, 2, 5, -1, -3]);
        let millis = hours * 3_600_000 + i64::try_from(self.world.draw(0..900_000)).unwrap_or(0);
        let millis = if hours == 0 { 0 } else { millis };
        self.world.note(format_args!("node {index}"), format_args!("its clock is {millis} ms ahead"));
        self.aheads[index].store(millis, Ordering::Relaxed);
    }

    /// All clocks are set right.
    pub(crate) fn set_clocks(&self) {
        self.aheads.iter().for_each(|ahead| ahead.store(0, Ordering::Relaxed));
    }

    /// Some node, alive or not; once faults are over, the one there is.
    pub(crate) fn any_node(&self) -> usize {
        let count = if self.world.is_over() { 1 } else { self.count() as u64 };
        usize::try_from(self.world.draw(0..count)).unwrap_or(0)
    }

    /// Sends a request to a node and waits for its answer, but not for ever.
    pub(crate) async fn ask(
        &self,
        index: usize,
        request: Request<Body>,
        patience: Duration,
    ) -> Result<Answer, NoAnswer> {
        let running = lock(&self.nodes[index]).clone().ok_or(NoAnswer)?;
        let (answered, answer) = oneshot::channel();
        let service = running.service;
        let planted = plants::Handler::new(&self.world, &service);
        let task = running.life.run(async move {
            let _ = answered.send(read(planted.answer(PEER, request).await).await);
        });
        let task = task.ok_or(NoAnswer)?;
        let answer = timeout(patience, answer).await;
        // A caller that hangs up ends the request, and only that.
        task.abort();
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) | Err(_) => Err(NoAnswer),
        }
    }
}

async fn read(response: axum::response::Response) -> Answer {
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let header =
        |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Answer {
        status: head.status.as_u16(),
        request_id: header("request-id").to_owned(),
        is_replay: header("idempotent-replayed") == "true",
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    }
}
