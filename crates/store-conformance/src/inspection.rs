//! What operators look into: the store's own health, and the postings of one payment.

use tollgate_domain::{Currency, ledger::PostingCause, ledger::TransferStep};
use tollgate_engine::ports::{Backlog, Durability, ProviderCheck, ProviderCheckRecord};

use super::{
    Nodes, at,
    outbox_samples::SUCCEEDED,
    samples::{LETTERS, due},
    transfer_samples::{ach, sending_until},
};

pub async fn a_store_knows_itself(nodes: &Nodes) {
    let diagnosis = nodes.one.diagnose(at(0)).await.unwrap();
    assert!(diagnosis.software.contains("SQL"), "{diagnosis:?}");
    assert!(diagnosis.schema_version >= 3, "{diagnosis:?}");
    match &diagnosis.durability {
        Durability::File { journal_mode, synchronous, sync_micros, keeps_deleted } => {
            assert_eq!((journal_mode.as_str(), *synchronous, *keeps_deleted), ("wal", 2, false));
            assert!(sync_micros.len() > 3, "{diagnosis:?}");
        }
        Durability::Server { version_number, synchronous_commit, in_recovery, .. } => {
            assert!(
                *version_number >= 140_000 && !synchronous_commit.is_empty() && !in_recovery,
                "{diagnosis:?}"
            );
        }
    }
    let year_2026 = 1_767_225_600_000;
    let (earlier, later) = (nodes.one.now().await.unwrap(), nodes.two.now().await.unwrap());
    assert!(year_2026 < earlier.unix_millis() && earlier <= later, "{earlier:?} {later:?}");
    // Looking changes nothing: the same again.
    let again = nodes.two.diagnose(at(0)).await.unwrap();
    assert_eq!((again.software, again.backlog), (diagnosis.software, diagnosis.backlog));
}

pub async fn work_that_is_due_is_counted(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10_000, "f").await;
    let backlog = async |now: i64| {
        let found = nodes.two.diagnose(at(now)).await.unwrap().backlog;
        let named = |what: &str| *found.iter().find(|backlog| backlog.what == what).unwrap();
        (named("card payments"), named("transfers"), named("provider events"))
    };
    let none = |what| Backlog { what, due: 0, oldest: None };
    assert_eq!(backlog(9).await, (none("card payments"), none("transfers"), none("provider events")));
    for moment in [30, 10, 20] {
        nodes.payment_with(&nodes.new_order(environment), &due(at(moment))).await;
    }
    let mut transfer = nodes.new_transfer(environment);
    transfer.progress = sending_until(at(15));
    nodes.reserve(&transfer).await;
    let (cards, transfers, _) = backlog(20).await;
    assert_eq!(cards, Backlog { what: "card payments", due: 2, oldest: Some(at(10)) });
    assert_eq!(transfers, Backlog { what: "transfers", due: 1, oldest: Some(at(15)) });
    // What somebody has taken is not due until its time is over.
    nodes.one.claim_payments(at(20), at(100), 10).await.unwrap();
    assert_eq!(backlog(20).await.0, none("card payments"));
    assert_eq!(backlog(100).await.0, Backlog { what: "card payments", due: 3, oldest: Some(at(30)) });
    let first = nodes.append_event(environment, SUCCEEDED).await;
    nodes.append_event(environment, SUCCEEDED).await;
    for (now, due, oldest) in [(at(0), 0, None), (at(10_000), 2, Some(first.at))] {
        let to_index = nodes.two.backlog(now).await.unwrap().pop();
        assert_eq!(to_index, Some(Backlog { what: "events to index", due, oldest }));
    }
}

pub async fn postings_are_found_by_their_payment(nodes: &Nodes) {
    use PostingCause::{Release, Reserve, Reverse, Settle};
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.fund(environment, 10_000, "f").await;
    let [returned, refused, unknown] = [(); 3].map(|()| nodes.new_transfer(environment));
    for new in [&returned, &refused] {
        nodes.reserve(new).await;
    }
    let fee = &returned.order.fee;
    nodes.change_transfer(&returned, &nodes.transfer_step(0, TransferStep::Settle, fee)).await;
    nodes.change_transfer(&returned, &nodes.transfer_step(1, TransferStep::Reverse, fee)).await;
    nodes.change_transfer(&refused, &nodes.transfer_step(0, TransferStep::Release, fee)).await;
    let causes = async |environment, currency, id| {
        let lines = nodes.two.postings_of(environment, currency, ach(id)).await.unwrap();
        let sum: i64 = lines.iter().map(|line| line.amount_minor).sum();
        assert_eq!(sum, 0, "entries balance");
        assert!(lines.iter().all(|line| line.reference == id.to_string()));
        let mut causes: Vec<_> = lines.iter().map(|line| line.cause).collect();
        causes.dedup();
        causes
    };
    let usd = Currency::USD;
    assert_eq!(causes(environment, usd, returned.order.id).await, [Reverse, Settle, Reserve]);
    assert_eq!(causes(environment, usd, refused.order.id).await, [Release, Reserve]);
    assert_eq!(causes(environment, usd, unknown.order.id).await, []);
    assert_eq!(causes(other, usd, returned.order.id).await, [], "another environment's");
    assert_eq!(causes(environment, Currency::parse("EUR").unwrap(), returned.order.id).await, []);
}

pub async fn the_last_check_of_a_provider_stays(nodes: &Nodes) {
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let record = |provider: &str, version, moment, checks: &[ProviderCheck]| ProviderCheckRecord {
        provider: provider.to_owned(),
        config_version: version,
        at: at(moment),
        checks: checks.to_vec(),
    };
    let fault = ProviderCheck::fail("mode", LETTERS, "do this");
    let first = record("b", 1, 10, std::slice::from_ref(&fault));
    assert!(nodes.one.put_provider_check(environment, &first).await.unwrap());
    assert!(nodes.one.put_provider_check(environment, &record("a", 1, 10, &[])).await.unwrap());
    assert_eq!(
        nodes.two.provider_checks(environment).await.unwrap(),
        [record("a", 1, 10, &[]), first.clone()],
        "by name"
    );
    let later = record("b", 2, 20, &[ProviderCheck::pass("mode", "test"), fault]);
    assert!(nodes.two.put_provider_check(environment, &later).await.unwrap());
    assert!(nodes.one.put_provider_check(environment, &first).await.unwrap(), "an older one changes nothing");
    assert_eq!(nodes.two.provider_checks(environment).await.unwrap()[1], later);
    assert!(nodes.one.provider_checks(other).await.unwrap().is_empty());
    let nowhere = tollgate_domain::id::EnvironmentId::from_bytes([9; 16]);
    assert!(!nodes.one.put_provider_check(nowhere, &first).await.unwrap());
}

pub async fn the_account_of_a_credential_is_kept(nodes: &Nodes) {
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    assert_eq!(nodes.one.credential_account(environment, "k1").await.unwrap(), None);
    for (credential, account) in [("k1", "acct_1"), ("k2", "acct_1"), ("k1", "acct_2")] {
        assert!(nodes.one.put_credential_account(environment, credential, account).await.unwrap());
    }
    for credential in ["k1", "k2"] {
        let account = nodes.two.credential_account(environment, credential).await.unwrap();
        assert_eq!(account.as_deref(), Some("acct_1"), "{credential}: the first stays");
    }
    assert_eq!(nodes.two.credential_account(other, "k1").await.unwrap(), None);
    let nowhere = tollgate_domain::id::EnvironmentId::from_bytes([9; 16]);
    assert!(!nodes.one.put_credential_account(nowhere, "k1", "acct_1").await.unwrap());
}
