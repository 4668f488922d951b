//! The command line: the real binary against a real sandbox or server, every command as text and as JSON.

mod approvals;
mod configuration;
mod doctor;
mod erasure;
mod events;
mod fee_report;
mod fees;
mod listening;
mod payments;
mod secrets;
mod statement;
mod tenants;
mod trigger;
mod usage;

use std::time::Duration;

use crate::support::{Parcel, Receiver, wait_until};

/// Where a receiver is reached.
fn url(receiver: &Receiver) -> String {
    format!("http://{}/events", receiver.address)
}

/// Waits for a delivery of this kind, and forgets what has come by then.
#[track_caller]
fn wait_for(receiver: &Receiver, kind: &str) -> Parcel {
    let mut found = None;
    wait_until(kind, Duration::from_secs(120), || {
        found = receiver.parcels().into_iter().find(|parcel| parcel.kind() == kind);
        found.is_some()
    });
    receiver.forget();
    found.unwrap()
}
