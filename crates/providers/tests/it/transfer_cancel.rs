//! Canceling bank transfers: until when each provider can, and that a lost answer never looks like a refusal.

use serde_json::{Value, json};
use tollgate_configuration::Adapter;
use tollgate_domain::Channel;
use tollgate_domain::ach::{AchProviderReport, AchProviderStatus};
use tollgate_engine::ports::CallError;

use crate::increase_support::{self, World, order};
use crate::modern_treasury_support;
use crate::support::hasty;

/// A transfer that its provider can still cancel, the provider's words for it, and the call that cancels it.
struct Rail {
    world: World,
    channel: Channel,
    kind: &'static str,
    operation: &'static str,
    is_sent_by: &'static [&'static str],
}

async fn rails() -> [Rail; 3] {
    let increase = |world, channel, kind, operation| Rail {
        world,
        channel,
        kind,
        operation,
        // Released by whoever had to approve it, it is on its way to the network.
        is_sent_by: &["release"],
    };
    [
        increase(
            increase_support::start(hasty()).await,
            Channel::StandardAch,
            "ach_transfers",
            "ach_transfers.cancel",
        ),
        increase(
            increase_support::start(hasty()).await,
            Channel::Instant,
            "real_time_payments_transfers",
            "real_time_payments_transfers.cancel",
        ),
        Rail {
            world: modern_treasury_support::start(hasty()).await,
            channel: Channel::StandardAch,
            kind: "payment_orders",
            operation: "payment_orders.update",
            is_sent_by: &["release", "send"],
        },
    ]
}

impl Rail {
    async fn drive(&self, transfer: &str, action: &str) {
        let path = format!("{}/{}/{transfer}/{action}", self.world.adapter.as_str(), self.kind);
        self.world.control("POST", &path, json!({})).await;
    }

    async fn waiting(&self) -> String {
        let transfer = self.world.send(&order(self.channel)).await.outcome.unwrap().transfer;
        self.drive(&transfer, "require_approval").await;
        transfer
    }

    async fn cancel(&self, transfer: &str) -> Result<AchProviderReport, CallError> {
        self.world.wire().cancel(&self.world.provider, transfer).await.outcome
    }
}

#[tokio::test]
async fn what_was_not_sent_is_canceled_and_what_was_is_told_as_it_stands() {
    for rail in rails().await {
        let transfer = rail.waiting().await;
        for _ in 0..2 {
            let report = rail.cancel(&transfer).await.unwrap();
            assert_eq!(report.provider_status, AchProviderStatus::Canceled, "{}", rail.kind);
        }
        let sent = rail.waiting().await;
        for action in rail.is_sent_by {
            rail.drive(&sent, action).await;
        }
        let before = rail.world.read(&sent).await.outcome.unwrap();
        assert_eq!(rail.cancel(&sent).await.unwrap(), before, "{}", rail.kind);
        assert_ne!(before.provider_status, AchProviderStatus::Canceled);
        let missing = rail.cancel("ach_transfer_nobodys").await;
        assert!(matches!(missing, Err(CallError::Rejected(_))), "{missing:?}");
    }
}

#[tokio::test]
async fn only_increase_needs_the_transfer_to_wait_for_an_approval() {
    for rail in rails().await {
        let transfer = rail.world.send(&order(rail.channel)).await.outcome.unwrap().transfer;
        let report = rail.cancel(&transfer).await.unwrap();
        let expected = match rail.world.adapter {
            Adapter::Increase => AchProviderStatus::Accepted,
            _ => AchProviderStatus::Canceled,
        };
        assert_eq!(report.provider_status, expected, "{}", rail.kind);
    }
}

#[tokio::test]
async fn a_lost_answer_is_no_refusal() {
    // At the same time: all they do is wait.
    let [one, other, third] = rails().await;
    tokio::join!(lost_answers(&one), lost_answers(&other), lost_answers(&third));
}

async fn lost_answers(rail: &Rail) {
    for (fault, is_done) in [("error_after", true), ("timeout_after", true), ("error_before", false)] {
        let transfer = rail.waiting().await;
        rail.world.fault(rail.operation, fault, 1).await;
        let report = rail.cancel(&transfer).await.unwrap();
        assert_eq!(report.provider_status, AchProviderStatus::Canceled, "{} {fault} once", rail.kind);
        let transfer = rail.waiting().await;
        rail.world.fault(rail.operation, fault, 100).await;
        let lost = rail.cancel(&transfer).await;
        assert!(is_done || matches!(lost, Err(CallError::Unknown(_))), "{} {fault}: {lost:?}", rail.kind);
        assert!(!matches!(lost, Err(CallError::Rejected(_) | CallError::Unsent(_))), "{lost:?}");
        rail.world.control("DELETE", "faults", Value::Null).await;
        let report = rail.cancel(&transfer).await.unwrap();
        assert_eq!(report.provider_status, AchProviderStatus::Canceled, "{} {fault} always", rail.kind);
    }
}
