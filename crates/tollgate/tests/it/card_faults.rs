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
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use cell::{Cell, Stage};

use crate::support::{Server, Store, StoreKind, on_both_stores, wait_agreement};

on_both_stores! {
    every_fault_at_every_step_charges_once_at_most
}

/// Cells that run at once. They wait most of the time.
const STAGES: usize = 26;

fn every_fault_at_every_step_charges_once_at_most(kind: StoreKind) {
    let began = Instant::now();
    let store = Store::new(kind);
    let server = store.serve().run();
    let cells: Vec<_> = Cell::all();
    let count = cells.len();
    assert!(count > 150, "the matrix has only {count} cells");
    let queue = Mutex::new(VecDeque::from(cells));
    let failed = Mutex::new(Vec::new());
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
    println!("{count} cells in {:?}", began.elapsed());
    assert!(
        failed.is_empty(),
        "{} of {count} cells failed, as told above:\n{}",
        failed.len(),
        failed.join("\n")
    );
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
