//! The fault matrix: everything that can go wrong between this service and a provider, at every step, on both adapters.
//!
//! Each cell strikes one step with one fault and then asks what matters: nobody was charged twice, nothing that was
//! given up can still be paid, the books come to agree with the provider within bounded time, and whoever was told to
//! try again succeeds when they do. Cells run side by side; each has a simulator of its own for as long as it runs, so
//! that faults strike whom they are meant for.

mod cell;
mod withdrawal;

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use cell::{Cell, Stage, Times};

use crate::support::{Server, Store, StoreKind, Wire, on_both_stores, wait_agreement};

on_both_stores! {
    every_fault_at_every_step_charges_once_at_most
}

/// Cells that run at once. They wait most of the time.
const STAGES: usize = 26;

fn every_fault_at_every_step_charges_once_at_most(kind: StoreKind) {
    let began = Instant::now();
    let store = Store::new(kind);
    // So many stages at once make each try slow. The deadline leaves time for three, and many cells wait for a lease.
    let start = store.serve().with("TOLLGATE_PROVIDER_TIMEOUT_MS", "2000");
    let start =
        start.with("TOLLGATE_PROVIDER_DEADLINE_MS", "7500").with("TOLLGATE_RESOLVER_LEASE_MS", "15200");
    let server = start.run();
    let mut cells: Vec<_> = Cell::all();
    // What is told by webhooks alone goes the same way in both stores: where it is tried once only, one has all of it.
    if kind == StoreKind::Postgres {
        cells.retain(|cell| cell.wire != Wire::Adyen || cell.times == Times::Once);
    }
    let count = cells.len();
    assert!(count > 150, "the matrix has only {count} cells");
    let queue = Mutex::new(VecDeque::from(cells));
    let (failed, struck_out) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..STAGES {
            scope.spawn(|| {
                let stage = Stage::set(&server);
                loop {
                    let next = queue.lock().unwrap().pop_front();
                    let Some(cell) = next else { break };
                    let began = Instant::now();
                    if catch_unwind(AssertUnwindSafe(|| stage.play(&cell))).is_err() {
                        failed.lock().unwrap().push(cell.to_string());
                        stage.clear();
                    }
                    println!("{:?} {cell}", began.elapsed());
                }
                struck_out.fetch_add(stage.struck_out(), Ordering::Relaxed);
                let audited = catch_unwind(AssertUnwindSafe(|| {
                    wait_agreement(&stage.shop, &stage.simulator, Duration::from_secs(120))
                }));
                if audited.is_err() {
                    failed.lock().unwrap().push("the audit of a stage".to_owned());
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    let struck_out = struck_out.into_inner();
    println!("{count} cells in {:?}, {struck_out} of them struck out", began.elapsed());
    assert!(
        failed.is_empty(),
        "{} of {count} cells failed, as told above:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(struck_out * 10 <= count, "{struck_out} of {count} cells were struck out");
    check_log(&server);
}

/// No fault of a provider's is a fault of ours: nothing panicked, and nobody was answered 5xx other than 503.
fn check_log(server: &Server) {
    let log = server.log();
    let is_bad = |line: &&str| {
        line.contains("panicked") || (line.contains("\"status\":5") && !line.contains("\"status\":503"))
    };
    let bad: Vec<_> = log.lines().filter(is_bad).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
