//! What is left of bank details once the provider has them: nothing that anybody can read, the master key in hand.

use std::{fs, path::Path, sync::Arc, time::Duration};

use data_encoding::HEXLOWER;
use serde_json::Value;
use tempfile::TempDir;
use tollgate_domain::{ServiceReference, id::TransferId, transaction::Status};
use tollgate_engine::ports::{Store, StoreError};
use tollgate_store::sqlite::{SqliteSettings, SqliteStore};
use tollgate_vault::{MasterKey, Sealer, Secret};

use crate::support::{
    faults::Fault,
    world::{FUNDS, MASTER_KEY, World},
};

const TRANSFERS: usize = 41;

struct OnDisk {
    folder: TempDir,
    world: World,
}

impl OnDisk {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("t.db"), &SqliteSettings::default()).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let world = World::within(&store, 0).await;
        Self { folder, world }
    }
}

/// Lets the engine's clock run ahead. The store works in threads, so that time cannot stand still all along.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn master() -> MasterKey {
    MasterKey::from_setting(&Secret::new(MASTER_KEY)).unwrap()
}

/// Every sealed text in the files, deleted or not.
fn sealed_texts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let starts = bytes.windows(3).enumerate().filter(|(_, window)| *window == b"v1.").map(|(at, _)| at);
        for at in starts {
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            found.push(bytes[at..].iter().take_while(is_part).map(|byte| char::from(*byte)).collect());
        }
    }
    found
}

/// Whatever can be opened of the transfers' bank details, by somebody who has the files, the master key and this code.
fn recovered(folder: &Path, world: &World, transfers: &[TransferId]) -> usize {
    let texts = sealed_texts(folder);
    let wrapping = master().sealer("sealing keys of bank accounts");
    // Keys are sealed for their own name, which stands in what they sealed.
    let mut names: Vec<&str> = texts.iter().filter_map(|text| tollgate_vault::sealed_with(text)).collect();
    names.sort_unstable();
    names.dedup();
    let mut sealers = vec![master().sealer("bank accounts")];
    for name in names {
        let keys = texts.iter().filter_map(|text| wrapping.open(name, text).ok());
        sealers.extend(keys.filter_map(|key| Sealer::of_key(name, &key).ok()));
    }
    let is_recovered = |transfer: &&TransferId| {
        let place = format!("{}/{transfer}/account", world.environment);
        texts.iter().any(|text| {
            // Behind the text stands the next column, so that its end is tried out.
            let lengths = text.len().saturating_sub(40)..=text.len();
            sealers.iter().any(|sealer| {
                lengths
                    .clone()
                    .any(|length| text.get(..length).is_some_and(|text| sealer.open(&place, text).is_ok()))
            })
        })
    };
    transfers.iter().filter(is_recovered).count()
}

#[tokio::test]
async fn bank_details_cannot_be_recovered_from_the_files_once_their_keys_are_destroyed() {
    let OnDisk { folder, world } = OnDisk::new().await;
    let mut transfers = Vec::new();
    for number in 0..TRANSFERS {
        let made = world.send(&format!("payout number {number}"), 1_000).await.unwrap().transfer;
        assert_eq!(made.progress.sealed_account, None, "the provider has it");
        transfers.push(made.order.id);
    }
    // The attack works as long as the key is there: deleted rows are still in the write-ahead log.
    assert_eq!(recovered(folder.path(), &world, &transfers), TRANSFERS);
    pass(Duration::from_mins(5)).await;
    world.engine().destroy_account_keys().await.unwrap();
    assert_eq!(recovered(folder.path(), &world, &transfers), TRANSFERS, "the key is still in use");
    pass(Duration::from_mins(25)).await;
    world.engine().destroy_account_keys().await.unwrap();
    assert_eq!(recovered(folder.path(), &world, &transfers), 0);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_kept_for_as_long_as_a_transfer_needs_it() {
    let world = World::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    let waiting = world.send("a caller's key", 10_000).await.unwrap().transfer;
    world.faults.disarm();
    tokio::time::sleep(Duration::from_hours(2)).await;
    world.send("another caller's key", 10_000).await.unwrap();
    world.engine().destroy_account_keys().await.unwrap();
    // Another process opens what this one sealed, and sends it.
    world.restart().await;
    world.resolve().await;
    let reference = ServiceReference::Ach(waiting.order.id);
    assert_eq!(world.status(reference).await, Some(Status::Processing));
    assert_eq!(world.providers.records().transfers.len(), 2);
    tokio::time::sleep(Duration::from_hours(2)).await;
    world.engine().destroy_account_keys().await.unwrap();
    assert!(world.store.sealing_keys_in_use().await.unwrap().is_empty());
}

/// A database server that crashes forgets the keys; a node that still runs puts its own back.
#[tokio::test]
async fn a_key_that_the_database_lost_is_put_back() {
    let OnDisk { folder, world } = OnDisk::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
    world.faults.disarm();
    lose_keys(&folder);
    world.engine().destroy_account_keys().await.unwrap();
    world.restart().await;
    pass(Duration::from_mins(2)).await;
    world.resolve().await;
    assert_eq!(world.status(ServiceReference::Ach(made.order.id)).await, Some(Status::Processing));
}

/// Lost together with every node that had them: what was never sent cannot be sent anymore, and its funds come back.
#[tokio::test]
async fn a_transfer_whose_key_is_lost_for_good_fails_and_its_funds_are_available_again() {
    let OnDisk { folder, world } = OnDisk::new().await;
    world.faults.arm(Fault::ProviderUnknown { done: false }, 1);
    let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
    world.faults.disarm();
    lose_keys(&folder);
    world.restart().await;
    pass(Duration::from_mins(2)).await;
    world.resolve().await;
    let reference = ServiceReference::Ach(made.order.id);
    assert_eq!(world.status(reference).await, Some(Status::Pending), "a node may still put the key back");
    pass(Duration::from_hours(2)).await;
    world.resolve().await;
    assert_eq!(world.status(reference).await, Some(Status::Pending), "the provider is asked once more");
    pass(Duration::from_mins(1)).await;
    world.resolve().await;
    assert_eq!(world.status(reference).await, Some(Status::Failed));
    let failed = world.transfer(made.order.id).await.unwrap();
    assert_eq!(failed.state.failure.unwrap().code, "bank_details_lost");
    let usd = tollgate_domain::Currency::USD;
    let balances = world.store.balances(world.environment, usd).await.unwrap().unwrap();
    assert_eq!((balances.available.get(), balances.reserved.get()), (FUNDS, 0));
    assert!(world.providers.records().transfers.is_empty());
}

fn lose_keys(folder: &TempDir) {
    let database = rusqlite::Connection::open(folder.path().join("t.db")).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    assert_eq!(database.execute("DELETE FROM sealing_keys", []).unwrap(), 1);
}

/// Without the key's place in the store nothing is sealed, so that nothing is reserved that another node could not send.
#[tokio::test(start_paused = true)]
async fn nothing_is_reserved_under_a_key_that_is_not_stored() {
    let world = World::new().await;
    world.faults.arm(Fault::StoreGone, 1);
    let refused = world.send("a caller's key", 10_000).await;
    world.faults.disarm();
    assert!(
        matches!(&refused, Err(tollgate_engine::TransferError::Store(StoreError::Unavailable(_)))),
        "{refused:?}"
    );
    assert!(world.providers.records().transfers.is_empty());
}

/// One right guess would be enough to confirm an account number of which the last digits are known.
#[tokio::test(start_paused = true)]
async fn the_stored_fingerprints_confirm_no_guess_of_an_account_number() {
    let world = World::new().await;
    let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
    let kept: Value = serde_json::from_str(&made.fingerprints).unwrap();
    let kept: Vec<&str> = kept.as_object().unwrap().values().map(|digest| digest.as_str().unwrap()).collect();
    let (environment, digester) = (world.environment.to_bytes(), master().digester("transfer requests"));
    let (routing, account) = ("021000021", "000123456789");
    for (name, value) in [
        ("accountNumber", account.to_owned()),
        ("routingNumber", routing.to_owned()),
        ("bankAccount", format!("{routing}/{account}")),
        ("bankAccount", account.to_owned()),
    ] {
        let digest = digester.digest(&[&environment, name.as_bytes(), value.as_bytes()]);
        let guess = HEXLOWER.encode(&digest[..12]);
        assert!(!kept.contains(&guess.as_str()), "{name} was found by trying");
    }
}

/// Fingerprints of an earlier release, whose digests of the two numbers were removed.
#[tokio::test]
async fn a_transfer_of_an_earlier_release_is_replayed_and_compared_by_the_last_four_digits() {
    let OnDisk { folder, world } = OnDisk::new().await;
    let made = world.send("a caller's key", 10_000).await.unwrap().transfer;
    let (environment, digester) = (world.environment.to_bytes(), master().digester("transfer requests"));
    let digest = |name: &str, value: &str| {
        let digest = digester.digest(&[&environment, name.as_bytes(), value.as_bytes()]);
        HEXLOWER.encode(&digest[..12])
    };
    let request = crate::support::requests::transfer_request(&world, "a caller's key", 10_000);
    let customer = "8:customer15:ada@example.com3:Ada8:Lovelace0:2:{}";
    let kept = serde_json::json!({
        "accountName": digest("accountName", "Ada Lovelace"),
        "amountMinor": digest("amountMinor", "10000"),
        "bankAccountType": digest("bankAccountType", "checking"),
        "bankName": digest("bankName", "A Bank"),
        "currency": digest("currency", "USD"),
        "customerToken": digest("customerToken", customer),
        "description": digest("description", ""),
        "metadata": digest("metadata", "{}"),
        "remittanceData": digest("remittanceData", ""),
    });
    let database = rusqlite::Connection::open(folder.path().join("t.db")).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    database.execute("UPDATE transfers SET fingerprints = ?1", [kept.to_string()]).unwrap();
    let (engine, view) = (world.engine(), world.view());
    let again = engine.create_transfer(&view, request, "req_again").await.unwrap();
    assert!(again.replayed && again.transfer.order.id == made.order.id);
    let mut other = crate::support::requests::transfer_request(&world, "a caller's key", 10_000);
    other.bank.account.account_number = Secret::new("000123450000");
    let conflict = engine.create_transfer(&view, other, "req_other").await.unwrap_err();
    assert_eq!(conflict.to_string(), "the key was used for a request with different: bankAccount");
}
